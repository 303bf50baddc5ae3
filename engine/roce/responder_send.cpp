// SPDX-License-Identifier: Apache-2.0
// What a responder sends: acknowledgements, congestion notifications, READ responses.
#include "engine/roce/responder.h"
#include "engine/wire/icrc.h"

#include <algorithm>

namespace gradstorm::roce {

std::size_t Responder::settle(std::span<wire::Frame> frames) {
    std::size_t built = 0;
    while (built < frames.size() && !state_.owing.empty()) {
        const QueuePairIndex index = state_.owing.front();
        ResponderState& r = state_.responders[index];
        if ((r.owed & Owed::kCnp) != 0) {
            r.owed &= static_cast<std::uint8_t>(~Owed::kCnp);
            build_cnp(index, frames[built++]);
            continue;
        }
        state_.owing.pop();
        r.in_owing_list = false;
        // An acknowledgement says that all in front of it is done, so READ responses go first: take_turn() owes it
        // anew.
        if (r.owed != 0 && !has_read_jobs(index)) build_ack(index, frames[built++]);
    }
    return built;
}

void Responder::build_ack(QueuePairIndex index, wire::Frame& frame) {
    ResponderState& r = state_.responders[index];
    const QueuePair& pair = state_.pairs[index];
    const bool negative = (r.owed & Owed::kNak) != 0;  // a NAK acknowledges all in front of it as well
    r.owed = 0;
    const std::uint32_t psn = negative ? r.expected_psn : (r.expected_psn - 1) & kPsnMask;
    const std::uint32_t syndrome = negative ? r.nak_syndrome : wire::ack_syndrome();
    const wire::HeaderTemplate& header = pair.templates[static_cast<std::size_t>(wire::TemplateKind::acknowledge)];
    const std::uint32_t icrc = header.stamp<wire::TemplateKind::acknowledge>(
        frame, *pair.empty_deltas, {.psn_word = psn, .tail = syndrome << 24U | r.message_sequence});
    wire::put_icrc(frame.buffer + header.end(), icrc);
    ++r.counters->tx_ack_frames;
    r.counters->tx_wire_bytes += wire::line_bytes(frame.length);
}

void Responder::build_cnp(QueuePairIndex index, wire::Frame& frame) {
    QueuePair& pair = state_.pairs[index];
    wire::FrameHeaders headers = pair.headers;
    headers.bth.opcode = wire::Opcode::congestion_notification;
    headers.bth.becn = true;
    headers.ip.dscp = state_.config.cnp_dscp;
    headers.ip.ecn = wire::Ecn::not_capable;
    state_.checksum.begin(frame, headers, 0);
    state_.checksum.seal(frame, wire::kPayloadAnchor - std::size_t{frame.offset}, 0);
    ++pair.counters->tx_cnp_frames;
    pair.counters->tx_wire_bytes += wire::line_bytes(frame.length);
}

std::size_t Responder::take_turn(QueuePairIndex index, std::span<wire::Frame> frames) {
    QueuePair& pair = state_.pairs[index];
    std::size_t built = 0;
    while (built < frames.size() && !pair.read_jobs.empty()) {
        ReadJob& job = pair.read_jobs.front();
        build_read_response(index, job, frames[built++]);
        if (job.done) pair.read_jobs.pop();
    }
    if (pair.read_jobs.empty() && state_.responders[index].owed != 0) state_.owe(index, 0);
    return built;
}

void Responder::build_read_response(QueuePairIndex index, ReadJob& job, wire::Frame& frame) {
    using enum wire::Opcode;
    QueuePair& pair = state_.pairs[index];
    const std::uint32_t payload = std::min(job.length - job.sent, pair.path_mtu);
    const bool first = job.sent == 0;
    const bool last = job.sent + payload == job.length;
    wire::FrameHeaders headers = pair.headers;
    headers.bth.opcode =
        first ? (last ? read_response_only : read_response_first) : (last ? read_response_last : read_response_middle);
    headers.bth.psn = job.psn;
    headers.aeth = {.syndrome = wire::ack_syndrome(), .msn = state_.responders[index].message_sequence};
    state_.checksum.begin(frame, headers, payload);
    if (payload > 0 && state_.checksum.mode() == wire::PayloadMode::memory) {
        std::memcpy(frame.buffer + wire::kPayloadAnchor, memory_at(job.address + job.sent), payload);
    }
    state_.checksum.seal(frame, wire::kPayloadAnchor - std::size_t{frame.offset}, payload);
    transport::HcaCounters& counters = *pair.counters;
    counters.tx_wire_bytes += wire::line_bytes(frame.length);
    if (job.repeated) {
        ++counters.tx_retransmitted_frames;
    } else {
        ++counters.tx_data_frames;
        counters.tx_data_wire_bytes += wire::line_bytes(frame.length);
        counters.tx_payload_bytes += payload;
    }
    job.sent += payload;
    job.psn = (job.psn + 1) & kPsnMask;
    job.done = last;
}

}  // namespace gradstorm::roce
