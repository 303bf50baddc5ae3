// SPDX-License-Identifier: Apache-2.0
#include "engine/roce/responder.h"

#include <algorithm>

namespace gradstorm::roce {

using transport::CompletionStatus;
using Message = ResponderState::Message;

namespace {

ReadJob read_job(const wire::FrameHeaders& headers, const QueuePair& pair) {
    const wire::Reth& reth = headers.reth;
    const auto frames = static_cast<std::uint32_t>(wire::packet_count(reth.length, pair.path_mtu));
    return {.address = reth.virtual_address,
            .length = reth.length,
            .psn = headers.bth.psn,
            .last_psn = (headers.bth.psn + frames - 1) & kPsnMask};
}

}  // namespace

bool Responder::post_receive(const transport::ReceiveRequest& request) {
    QueuePair& pair = state_.pairs[request.queue_pair];
    if (pair.receives.size() == pair.receive_depth || state_.completions.full()) return false;
    state_.completions.reserve();
    if (pair.failed) {
        state_.completions.push({.id = request.id,
                                 .queue_pair = request.queue_pair,
                                 .kind = transport::CompletionKind::received,
                                 .status = CompletionStatus::flushed});
        return true;
    }
    pair.receives.push(request);
    return true;
}

void Responder::request(QueuePairIndex index, const wire::DecodedFrame& decoded, const wire::Frame& frame) {
    ResponderState& r = state_.responders[index];
    const std::int32_t ahead = psn_distance(decoded.headers.bth.psn, r.expected_psn);
    if (state_.pairs[index].failed) {
        // The NAK that ended the queue pair may have been lost: say it again when the request comes again.
        if (ahead == 0 && r.nak_outstanding) state_.owe(index, Owed::kNak);
        return;
    }
    if (ahead < 0) {
        duplicate(index, decoded);
    } else if (ahead > 0) {
        out_of_order(index);
    } else if (const Verdict verdict = execute(index, decoded); verdict == Verdict::accepted) {
        r.counters->rx_payload_bytes += decoded.payload.size();
        advance(index, wire::is_last(decoded.headers.bth.opcode), decoded.headers.bth.ack_request);
        learn(index, decoded, frame);
    } else {
        refuse(index, verdict);
    }
}

Responder::Verdict Responder::execute(QueuePairIndex index, const wire::DecodedFrame& decoded) {
    const wire::Opcode opcode = decoded.headers.bth.opcode;
    const ResponderState& r = state_.responders[index];
    const std::size_t length = decoded.payload.size();
    const Message kind = wire::is_send(opcode) ? Message::send : Message::write;
    if (r.message != (wire::is_first(opcode) ? Message::none : kind)) return Verdict::invalid;
    // FIRST and MIDDLE are full; LAST is not empty; ONLY may be anything up to the path MTU.
    if (wire::is_last(opcode) ? length > r.path_mtu : length != r.path_mtu) return Verdict::invalid;
    if (!wire::is_first(opcode) && length == 0) return Verdict::invalid;
    if (opcode == wire::Opcode::read_request) return execute_read(index, decoded);
    return kind == Message::send ? execute_send(index, decoded) : execute_write(index, decoded);
}

Responder::Verdict Responder::execute_write(QueuePairIndex index, const wire::DecodedFrame& decoded) {
    const wire::FrameHeaders& headers = decoded.headers;
    const wire::Opcode opcode = headers.bth.opcode;
    ResponderState& r = state_.responders[index];
    const auto length = static_cast<std::uint32_t>(decoded.payload.size());
    const bool starts = wire::is_first(opcode);
    const bool ends = wire::is_last(opcode);
    const std::uint32_t remaining = starts ? headers.reth.length : r.remaining;
    if (ends ? length != remaining : length >= remaining) return Verdict::invalid;
    if (starts && remaining > 0 &&
        !state_.regions.remote_allowed(headers.reth.remote_key, headers.reth.virtual_address, remaining)) {
        return Verdict::access_error;
    }
    if (wire::has_immediate(opcode) && state_.pairs[index].receives.empty()) return Verdict::not_ready;
    if (starts) {
        r.address = headers.reth.virtual_address;
        r.remaining = remaining;
        r.received = 0;
    }
    place(r, decoded.payload.data(), length);
    if (wire::has_immediate(opcode)) complete_receive(index, r.received, &headers.immediate, CompletionStatus::success);
    r.message = ends ? Message::none : Message::write;
    return Verdict::accepted;
}

Responder::Verdict Responder::execute_send(QueuePairIndex index, const wire::DecodedFrame& decoded) {
    const wire::FrameHeaders& headers = decoded.headers;
    ResponderState& r = state_.responders[index];
    const auto length = static_cast<std::uint32_t>(decoded.payload.size());
    const QueuePair& pair = state_.pairs[index];
    if (wire::is_first(headers.bth.opcode)) {
        if (pair.receives.empty()) return Verdict::not_ready;
        const transport::ReceiveRequest& receive = pair.receives.front();
        if (receive.length > 0 &&
            !state_.regions.local_allowed(receive.local_key, receive.local_address, receive.length)) {
            complete_receive(index, 0, nullptr, CompletionStatus::local_protection_error);
            return Verdict::operational_error;
        }
        r.address = receive.local_address;
        r.remaining = receive.length;
        r.received = 0;
    }
    if (length > r.remaining) {
        complete_receive(index, 0, nullptr, CompletionStatus::local_protection_error);
        return Verdict::invalid;
    }
    place(r, decoded.payload.data(), length);
    const bool ends = wire::is_last(headers.bth.opcode);
    if (ends) {
        complete_receive(index, r.received, wire::has_immediate(headers.bth.opcode) ? &headers.immediate : nullptr,
                         CompletionStatus::success);
    }
    r.message = ends ? Message::none : Message::send;
    return Verdict::accepted;
}

Responder::Verdict Responder::execute_read(QueuePairIndex index, const wire::DecodedFrame& decoded) {
    const wire::Reth& reth = decoded.headers.reth;
    QueuePair& pair = state_.pairs[index];
    if (reth.length > 0 && !state_.regions.remote_allowed(reth.remote_key, reth.virtual_address, reth.length)) {
        return Verdict::access_error;
    }
    if (pair.read_jobs.size() == kMaxReads) return Verdict::invalid;
    const ReadJob job = read_job(decoded.headers, pair);
    pair.read_jobs.push(job);
    // The response takes one PSN a frame; advance() adds the last of them.
    state_.responders[index].expected_psn = job.last_psn;
    state_.make_ready(index);
    return Verdict::accepted;
}

void Responder::refuse(QueuePairIndex index, Verdict verdict) {
    ResponderState& r = state_.responders[index];
    r.nak_outstanding = true;
    state_.owe(index, Owed::kNak);
    switch (verdict) {
        case Verdict::not_ready:
            r.nak_syndrome = wire::rnr_nak_syndrome(wire::rnr_timer_code(state_.pairs[index].attributes.rnr_timer));
            return;  // the queue pair lives on
        case Verdict::access_error: r.nak_syndrome = wire::nak_syndrome(wire::NakCode::remote_access_error); break;
        case Verdict::operational_error:
            r.nak_syndrome = wire::nak_syndrome(wire::NakCode::remote_operational_error);
            break;
        default: r.nak_syndrome = wire::nak_syndrome(wire::NakCode::invalid_request); break;
    }
    state_.fail(index, CompletionStatus::flushed);
}

void Responder::duplicate(QueuePairIndex index, const wire::DecodedFrame& decoded) {
    ResponderState& r = state_.responders[index];
    QueuePair& pair = state_.pairs[index];
    ++r.counters->rx_duplicate_frames;
    const wire::FrameHeaders& headers = decoded.headers;
    if (headers.bth.opcode != wire::Opcode::read_request) {
        state_.owe(index, Owed::kAck);
        return;
    }
    const wire::Reth& reth = headers.reth;
    if (reth.length > 0 && !state_.regions.remote_allowed(reth.remote_key, reth.virtual_address, reth.length)) return;
    // The requester went back, maybe into the middle of a READ: what it asked for from there on it asks for again.
    while (!pair.read_jobs.empty() &&
           psn_distance(pair.read_jobs[pair.read_jobs.size() - 1].last_psn, headers.bth.psn) >= 0) {
        pair.read_jobs.pop_back();
    }
    if (pair.read_jobs.size() == kMaxReads) return;
    pair.read_jobs.push(read_job(headers, pair));
    pair.read_jobs[pair.read_jobs.size() - 1].repeated = true;
    state_.make_ready(index);
}

void Responder::out_of_order(QueuePairIndex index) {
    ResponderState& r = state_.responders[index];
    ++r.counters->rx_out_of_order_frames;
    if (r.nak_outstanding) return;
    r.nak_outstanding = true;
    r.nak_syndrome = wire::nak_syndrome(wire::NakCode::psn_sequence_error);
    state_.owe(index, Owed::kNak);
}

void Responder::congestion_marked(QueuePairIndex index) {
    ResponderState& r = state_.responders[index];
    if (state_.now < r.next_cnp || state_.pairs[index].failed) return;
    r.next_cnp = state_.now + state_.config.cnp_interval;
    state_.owe(index, Owed::kCnp);
}

/// Remembers the headers of a full WRITE or a credit, so that accept() knows the next one.
void Responder::learn(QueuePairIndex index, const wire::DecodedFrame& decoded, const wire::Frame& frame) {
    QueuePair& pair = state_.pairs[index];
    const wire::FrameHeaders& headers = decoded.headers;
    const std::size_t length = decoded.payload.size();
    const bool full = length == pair.path_mtu;
    const bool marked = headers.ip.ecn == wire::Ecn::congestion_experienced;
    if (!headers.ip.is_v4() || headers.ethernet.vlan || decoded.length != frame.length || marked) return;
    const auto remember = [&]<wire::TemplateKind S>() {
        const std::byte* payload = frame.data() + wire::ExpectedHeader::kPayloadOffset<S>;
        pair.expected[static_cast<std::size_t>(S)].learn<S>(frame.data(), frame.length,
                                                            state_.checksum.payload_part(payload, length),
                                                            full ? *pair.deltas : *pair.empty_deltas);
    };
    switch (headers.bth.opcode) {
        case wire::Opcode::write_first: remember.template operator()<wire::TemplateKind::write_first>(); break;
        case wire::Opcode::write_middle: remember.template operator()<wire::TemplateKind::write_middle>(); break;
        case wire::Opcode::write_last:
            if (full) remember.template operator()<wire::TemplateKind::write_last>();
            break;
        case wire::Opcode::write_last_immediate:
            if (full) remember.template operator()<wire::TemplateKind::write_last_immediate>();
            break;
        case wire::Opcode::write_only:
            if (full) remember.template operator()<wire::TemplateKind::write_only>();
            break;
        case wire::Opcode::write_only_immediate:
            if (full) remember.template operator()<wire::TemplateKind::write_only_immediate>();
            if (length == 0) remember.template operator()<wire::TemplateKind::credit>();
            break;
        default: break;
    }
}

}  // namespace gradstorm::roce
