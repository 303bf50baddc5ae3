// SPDX-License-Identifier: Apache-2.0
// What a requester does when acknowledgements and READ responses come, or do not come in time.
#include "engine/roce/local_memory.h"
#include "engine/roce/psn.h"
#include "engine/roce/requester.h"
#include "engine/wire/aeth.h"

#include <algorithm>
#include <cstring>

namespace gradstorm::roce {

using transport::WorkRequest;

void Requester::acknowledged(QueuePairIndex index, std::uint32_t wire_psn, std::uint8_t syndrome) {
    const RequesterState& r = state_.requesters[index];
    if (r.unacknowledged == r.high) return;
    const std::uint32_t psn = extend_psn(wire_psn, r.unacknowledged);
    if (wire::ack_kind(syndrome) != wire::AckKind::ack) {
        if (count_distance(psn, r.unacknowledged) >= 0 && count_distance(psn, r.high) < 0)
            negative(index, psn, syndrome);
        return;
    }
    if (count_distance(psn, r.unacknowledged) < 0 || count_distance(psn, r.high) >= 0) return;  // old, or never sent
    if (acknowledge_up_to(index, psn + 1)) progressed(index);
}

/// Everything in front of `target` arrived, but for READs, which their responses alone complete. Returns whether that
/// was news.
bool Requester::acknowledge_up_to(QueuePairIndex index, std::uint32_t target) {
    RequesterState& r = state_.requesters[index];
    const std::uint32_t before = r.unacknowledged;
    bool response_lost = false;
    while (r.head != r.tail && count_distance(target, r.unacknowledged) > 0) {
        const SendEntry& entry = r.entries[r.head & r.mask];
        const std::uint32_t end = entry.first_psn + entry.frames;
        if (entry.request.opcode == transport::Opcode::read) {
            response_lost = count_distance(target, entry.first_psn) > 0;
            break;
        }
        if (count_distance(target, end) < 0) {
            r.unacknowledged = target;
            break;
        }
        r.unacknowledged = end;
        complete_head(index);
    }
    if (response_lost) lost_read_response(index);
    return r.unacknowledged != before;
}

void Requester::complete_head(QueuePairIndex index) {
    RequesterState& r = state_.requesters[index];
    const WorkRequest& request = r.entries[r.head & r.mask].request;
    if (request.signalled) {
        state_.completions.push({.id = request.id, .queue_pair = index});
    } else {
        state_.completions.release();
    }
    if (r.cursor == r.head) {  // acknowledged while it was being sent again
        ++r.cursor;
        r.offset = 0;
    }
    ++r.head;
}

/// Something new was acknowledged: timers and counts start anew, and there may be more to send.
void Requester::progressed(QueuePairIndex index) {
    RequesterState& r = state_.requesters[index];
    QueuePair& pair = state_.pairs[index];
    pair.retries = 0;
    pair.rnr_retries = 0;
    pair.read_gap_noted = false;
    r.waiting = false;
    if (count_distance(r.next, r.unacknowledged) < 0) place_cursor(index, r.unacknowledged);
    if (r.unacknowledged == r.high) {
        r.deadline = kNoDeadline;
    } else {
        state_.set_deadline(index, state_.now + pair.timeout);
    }
    if (can_send(index)) state_.make_ready(index);
}

/// The next frame to be sent is that of `psn`, which is not acknowledged.
void Requester::place_cursor(QueuePairIndex index, std::uint32_t psn) {
    RequesterState& r = state_.requesters[index];
    QueuePair& pair = state_.pairs[index];
    r.next = psn;
    r.cursor = r.head;
    r.offset = 0;
    pair.reads_in_flight = 0;
    for (; r.cursor != r.tail; ++r.cursor) {
        const SendEntry& entry = r.entries[r.cursor & r.mask];
        const std::uint32_t frames_in = psn - entry.first_psn;
        if (frames_in < entry.frames) {
            r.offset = frames_in << pair.path_mtu_shift;
            if (r.offset > 0 && entry.request.opcode == transport::Opcode::read) ++pair.reads_in_flight;
            return;
        }
        if (entry.request.opcode == transport::Opcode::read) ++pair.reads_in_flight;
    }
}

/// Sends again from `psn` on, asking for an acknowledgement at once.
void Requester::go_back(QueuePairIndex index, std::uint32_t psn) {
    RequesterState& r = state_.requesters[index];
    place_cursor(index, psn);
    r.since_request = r.ack_interval;
    state_.set_deadline(index, next_timeout(index));
    state_.make_ready(index);
}

Instant Requester::next_timeout(QueuePairIndex index) const {
    constexpr std::uint32_t kMostDoublings = 6;
    const QueuePair& pair = state_.pairs[index];
    return state_.now + pair.timeout * (1U << std::min<std::uint32_t>(pair.retries, kMostDoublings));
}

void Requester::retry_from(QueuePairIndex index, std::uint32_t psn) {
    QueuePair& pair = state_.pairs[index];
    if (pair.retries == pair.attributes.retry_limit) {
        state_.fail(index, transport::CompletionStatus::retry_exceeded);
        return;
    }
    ++pair.retries;
    go_back(index, psn);
}

void Requester::lost_read_response(QueuePairIndex index) {
    QueuePair& pair = state_.pairs[index];
    if (pair.read_gap_noted) return;
    retry_from(index, state_.requesters[index].unacknowledged);
    pair.read_gap_noted = true;
}

void Requester::negative(QueuePairIndex index, std::uint32_t psn, std::uint8_t syndrome) {
    using transport::CompletionStatus;
    QueuePair& pair = state_.pairs[index];
    const wire::AckKind kind = wire::ack_kind(syndrome);
    if (kind == wire::AckKind::reserved) return;
    if (acknowledge_up_to(index, psn)) progressed(index);
    if (pair.failed) return;
    // Responses in front of it are missing: that went back already, and further.
    const bool behind_reads = state_.requesters[index].unacknowledged != psn;
    if (kind == wire::AckKind::rnr_nak) {
        ++pair.counters->rnr_nak_received;
        if (!behind_reads) receiver_not_ready(index, psn, wire::syndrome_value(syndrome));
        return;
    }
    switch (wire::nak_code(syndrome)) {
        case wire::NakCode::psn_sequence_error:
            ++pair.counters->nak_sequence_received;
            if (!behind_reads) retry_from(index, psn);
            break;
        case wire::NakCode::remote_access_error: state_.fail(index, CompletionStatus::remote_access_error); break;
        case wire::NakCode::remote_operational_error:
            state_.fail(index, CompletionStatus::remote_operational_error);
            break;
        default: state_.fail(index, CompletionStatus::remote_invalid_request); break;
    }
}

void Requester::receiver_not_ready(QueuePairIndex index, std::uint32_t psn, std::uint8_t timer_code) {
    constexpr std::uint8_t kForEver = 7;
    QueuePair& pair = state_.pairs[index];
    if (pair.attributes.rnr_retry_limit != kForEver) {
        if (pair.rnr_retries == pair.attributes.rnr_retry_limit) {
            state_.fail(index, transport::CompletionStatus::rnr_retry_exceeded);
            return;
        }
        ++pair.rnr_retries;
    }
    go_back(index, psn);
    state_.requesters[index].waiting = true;
    state_.set_deadline(index, state_.now + wire::rnr_timer(timer_code));
}

void Requester::alarm(QueuePairIndex index, Instant until) {
    RequesterState& r = state_.requesters[index];
    QueuePair& pair = state_.pairs[index];
    if (r.deadline == kNoDeadline) return;
    if (r.deadline > until) {
        state_.timers.arm(index, r.deadline);
        return;
    }
    r.deadline = kNoDeadline;
    if (r.waiting) {
        r.waiting = false;
        if (r.cursor != r.tail) state_.make_ready(index);
        return;
    }
    if (r.next == r.unacknowledged) {  // gone back already, but the port had no room yet: the answer is not late
        state_.set_deadline(index, next_timeout(index));
        return;
    }
    ++pair.counters->timeouts;
    retry_from(index, r.unacknowledged);
}

void Requester::read_response(QueuePairIndex index, const wire::DecodedFrame& frame) {
    RequesterState& r = state_.requesters[index];
    QueuePair& pair = state_.pairs[index];
    if (r.unacknowledged == r.high) return;
    const std::uint32_t psn = extend_psn(frame.headers.bth.psn, r.unacknowledged);
    if (count_distance(psn, r.unacknowledged) < 0 || count_distance(psn, r.high) >= 0) {
        ++pair.counters->rx_duplicate_frames;
        return;
    }
    bool progress = acknowledge_up_to(index, psn);
    if (pair.failed || r.head == r.tail) return;
    const SendEntry& entry = r.entries[r.head & r.mask];
    if (entry.request.opcode != transport::Opcode::read || psn != r.unacknowledged) {
        ++pair.counters->rx_out_of_order_frames;
        if (entry.request.opcode == transport::Opcode::read) lost_read_response(index);
        if (progress && !pair.failed) progressed(index);
        return;
    }
    const std::uint32_t offset = (psn - entry.first_psn) << pair.path_mtu_shift;
    const std::uint32_t length = std::min(entry.request.length - offset, pair.path_mtu);
    if (frame.payload.size() != length) {
        ++pair.counters->rx_discarded_frames;
        if (progress) progressed(index);
        return;
    }
    if (length > 0 && state_.checksum.mode() == wire::PayloadMode::memory) {
        std::memcpy(memory_at(entry.request.local_address + offset), frame.payload.data(), length);
    }
    pair.counters->rx_payload_bytes += length;
    ++r.unacknowledged;
    if (r.unacknowledged == entry.first_psn + entry.frames) {
        if (pair.reads_in_flight > 0) --pair.reads_in_flight;
        complete_head(index);
    }
    progressed(index);
}

}  // namespace gradstorm::roce
