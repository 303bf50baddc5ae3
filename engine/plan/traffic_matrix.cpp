// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/plan.h"

#include <fmt/format.h>

namespace gradstorm::plan {

Result<TrafficMatrix> traffic_matrix(const workload::Measurement& measurement, std::uint32_t ranks) {
    if (ranks > kMaxMatrixRanks) {
        return failure(ErrorCode::unsupported,
                       fmt::format("a traffic matrix of {} ranks is too large to be of use, it is "
                                   "made for up to {}",
                                   ranks, kMaxMatrixRanks));
    }
    TrafficMatrix matrix{ranks, std::vector<std::uint64_t>(std::size_t{ranks} * ranks)};
    for (const workload::JobIteration& job : measurement.jobs) {
        for (const workload::PlannedCall& planned : job.calls) {
            // Channels and chunks move the same bytes between the same ranks: one message a peer and step is enough.
            collective::Call call = planned.call;
            call.channels = 1;
            call.fidelity = collective::Fidelity::bytes;
            auto schedule = collective::make_schedule(call);
            if (!schedule) return tl::unexpected(schedule.error());
            for (std::uint32_t rank = 0; rank < call.ranks; ++rank) {
                const auto sends = (*schedule)->cursor(rank, 0, collective::Role::send);
                const std::size_t row = std::size_t{planned.group.at(rank)} * ranks;
                for (collective::Op op; sends->next(op);) matrix.bytes.at(row + planned.group.at(op.peer)) += op.length;
            }
        }
    }
    return matrix;
}

}  // namespace gradstorm::plan
