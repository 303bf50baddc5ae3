// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/collective/schedule.h"

#include <memory>

/// The algorithms behind make_schedule(), one file each. The call must be valid.
namespace gradstorm::collective {

[[nodiscard]] std::unique_ptr<const Schedule> ring_all_reduce(const Call& call);
[[nodiscard]] std::unique_ptr<const Schedule> ring_reduce_scatter(const Call& call);
[[nodiscard]] std::unique_ptr<const Schedule> ring_all_gather(const Call& call);
[[nodiscard]] std::unique_ptr<const Schedule> ring_broadcast(const Call& call);
[[nodiscard]] std::unique_ptr<const Schedule> pairwise_all_to_all(const Call& call);
[[nodiscard]] std::unique_ptr<const Schedule> direct_send_receive(const Call& call);
[[nodiscard]] std::unique_ptr<const Schedule> ring_barrier(const Call& call);

}  // namespace gradstorm::collective
