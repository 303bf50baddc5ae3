// SPDX-License-Identifier: Apache-2.0
#include "engine/transport/queue_pair.h"

#include "engine/transport/endpoint.h"

namespace gradstorm::transport {

std::string_view to_string(CompletionStatus status) {
    switch (status) {
        case CompletionStatus::success: return "success";
        case CompletionStatus::local_protection_error: return "local protection error";
        case CompletionStatus::remote_access_error: return "remote access error";
        case CompletionStatus::remote_invalid_request: return "remote invalid request";
        case CompletionStatus::remote_operational_error: return "remote operational error";
        case CompletionStatus::retry_exceeded: return "retry exceeded";
        case CompletionStatus::rnr_retry_exceeded: return "receiver-not-ready retry exceeded";
        case CompletionStatus::flushed: return "flushed";
    }
    return "unknown";
}

namespace {

/// The one list of the counters, for sum and difference.
template <class Apply>
void for_each_counter(HcaCounters& a, const HcaCounters& b, Apply apply) {
    apply(a.tx_data_frames, b.tx_data_frames);
    apply(a.tx_clear_to_send_frames, b.tx_clear_to_send_frames);
    apply(a.tx_ack_frames, b.tx_ack_frames);
    apply(a.tx_retransmitted_frames, b.tx_retransmitted_frames);
    apply(a.tx_cnp_frames, b.tx_cnp_frames);
    apply(a.tx_wire_bytes, b.tx_wire_bytes);
    apply(a.tx_data_wire_bytes, b.tx_data_wire_bytes);
    apply(a.tx_payload_bytes, b.tx_payload_bytes);
    apply(a.rx_frames, b.rx_frames);
    apply(a.rx_wire_bytes, b.rx_wire_bytes);
    apply(a.rx_payload_bytes, b.rx_payload_bytes);
    apply(a.rx_ecn_marked_frames, b.rx_ecn_marked_frames);
    apply(a.rx_cnp_frames, b.rx_cnp_frames);
    apply(a.rx_duplicate_frames, b.rx_duplicate_frames);
    apply(a.rx_out_of_order_frames, b.rx_out_of_order_frames);
    apply(a.rx_icrc_errors, b.rx_icrc_errors);
    apply(a.rx_discarded_frames, b.rx_discarded_frames);
    apply(a.nak_sequence_received, b.nak_sequence_received);
    apply(a.rnr_nak_received, b.rnr_nak_received);
    apply(a.timeouts, b.timeouts);
}

}  // namespace

HcaCounters& HcaCounters::operator+=(const HcaCounters& other) {
    for_each_counter(*this, other, [](std::uint64_t& mine, std::uint64_t theirs) { mine += theirs; });
    return *this;
}

HcaCounters operator-(HcaCounters a, const HcaCounters& b) {
    for_each_counter(a, b, [](std::uint64_t& mine, std::uint64_t theirs) { mine -= theirs; });
    return a;
}

}  // namespace gradstorm::transport
