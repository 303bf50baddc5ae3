// SPDX-License-Identifier: Apache-2.0
#include "engine/roce/hca_state.h"

namespace gradstorm::roce {

using transport::CompletionKind;
using transport::CompletionStatus;

void HcaState::fail(QueuePairIndex index, CompletionStatus status) {
    QueuePair& pair = pairs[index];
    if (pair.failed) return;
    pair.failed = true;
    pair.failure = status;
    RequesterState& requester = requesters[index];
    CompletionStatus next = pair.failure;
    for (; requester.head != requester.tail; ++requester.head) {
        const transport::WorkRequest& request = requester.entries[requester.head & requester.mask].request;
        completions.push({.id = request.id, .queue_pair = index, .kind = CompletionKind::sent, .status = next});
        next = CompletionStatus::flushed;
    }
    requester.cursor = requester.tail;
    requester.offset = 0;
    // Where the requester stood stays for describe(); nothing is in flight any more.
    requester.high = requester.next = requester.unacknowledged;
    requester.posted = requester.unacknowledged;
    requester.waiting = false;
    requester.deadline = kNoDeadline;
    for (; !pair.receives.empty(); pair.receives.pop()) {
        completions.push({.id = pair.receives.front().id,
                          .queue_pair = index,
                          .kind = CompletionKind::received,
                          .status = CompletionStatus::flushed});
    }
    while (!pair.read_jobs.empty()) pair.read_jobs.pop();
    ResponderState& responder = responders[index];
    responder.message = ResponderState::Message::closed;
    // A peer whose request was refused still has to learn why; any other has nothing more to hear from us.
    responder.nak_outstanding = status == CompletionStatus::flushed;
    responder.owed &= responder.nak_outstanding ? Owed::kNak : std::uint8_t{0};
}

}  // namespace gradstorm::roce
