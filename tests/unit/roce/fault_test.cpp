// SPDX-License-Identifier: Apache-2.0
// Bad networks: whatever is lost, doubled, reordered, corrupted or late, every message arrives exactly once and memory
// is equal, or the queue pair fails with a named reason.
#include "tests/unit/roce/rig.h"

#include <random>

namespace gradstorm::roce::test {
namespace {

struct FaultCase {
    const char* name;
    fabric::Impairment impairment;
};

std::ostream& operator<<(std::ostream& out, const FaultCase& fault) { return out << fault.name; }

class Faults : public testing::TestWithParam<FaultCase> {};

/// Messages of both directions, all opcodes and odd sizes; 4 queue pairs.
class MixedTraffic {
public:
    MixedTraffic(Rig& rig, std::uint32_t path_mtu, std::uint64_t seed) : rig_(rig), random_(seed), mtu_(path_mtu) {
        for (std::uint32_t i = 0; i < kPairs; ++i) {
            QueuePairAttributes attributes{.send_depth = 1U << (2 * i),
                                           .receive_depth = 16,
                                           .path_mtu = path_mtu,
                                           .window_frames = 64U << i,
                                           .timeout = Nanoseconds{200'000},
                                           .retry_limit = 15};
            attributes.initial_psn = i == 0 ? 0xFF'FFF0 : static_cast<std::uint32_t>(random_()) & 0xFF'FFFFU;
            rig.connect(attributes);
        }
    }

    /// `count` messages a queue pair, as fast as queues allow; true when every one was completed.
    bool run(std::uint32_t count) {
        std::uint32_t posted[kPairs] = {};
        return rig_.run_until(
            [&] {
                for (std::uint32_t qp = 0; qp < kPairs; ++qp) {
                    while (receives_[qp] < count && rig_.post_receive(1, receive(qp))) ++receives_[qp];
                    while (posted[qp] < count && rig_.post(message(qp, posted[qp]))) ++posted[qp];
                }
                return rig_.side(0).completions.size() == std::size_t{kPairs} * count;
            },
            std::chrono::seconds{60});
    }

    /// Everything completed with success, in order, and the receiver saw each message that it had to, once.
    void verify(std::uint32_t count) {
        std::uint64_t next[kPairs] = {};
        for (const Completion& completion : rig_.side(0).completions) {
            EXPECT_EQ(completion.status, CompletionStatus::success) << rig_.side(0).hca.describe(completion.queue_pair);
            EXPECT_EQ(completion.id, next[completion.queue_pair]++);
        }
        for (std::uint32_t qp = 0; qp < kPairs; ++qp) EXPECT_EQ(next[qp], count);
        std::vector<Expected> expected[kPairs];
        for (const Posted& p : posted_) {
            if (p.request.opcode != Opcode::write && p.request.opcode != Opcode::read) {
                expected[p.request.queue_pair].push_back(
                    {p.request.length, p.request.opcode == Opcode::send ? 0 : p.request.immediate});
            }
        }
        std::size_t seen[kPairs] = {};
        for (const Completion& completion : rig_.side(1).completions) {
            auto& at = seen[completion.queue_pair];
            ASSERT_LT(at, expected[completion.queue_pair].size());
            const Expected& want = expected[completion.queue_pair][at++];
            EXPECT_EQ(completion.length, want.length);
            EXPECT_EQ(completion.immediate, want.immediate);
        }
        for (std::uint32_t qp = 0; qp < kPairs; ++qp) EXPECT_EQ(seen[qp], expected[qp].size());
        check_memory();
    }

private:
    static constexpr std::uint32_t kPairs = 4;
    // Each queue pair has its quarter of memory: writes and reads to fresh places, sends into receives of one size.
    static constexpr std::size_t kShare = Rig::kMemory / kPairs;
    static constexpr std::uint32_t kSendRoom = 3000;

    struct Expected {
        std::uint32_t length;
        std::uint32_t immediate;
    };
    struct Posted {
        WorkRequest request;
        std::size_t landing;  // offset in the receiver's memory; the sender's for a READ
    };

    ReceiveRequest receive(std::uint32_t qp) {
        // Landing places of sends are the last third of a share.
        const std::size_t slot = kShare / 3 * 2 + std::size_t{receives_[qp]} * kSendRoom;
        return {.id = receives_[qp],
                .local_address = rig_.side(1).at(qp * kShare + slot),
                .length = kSendRoom,
                .local_key = rig_.side(1).region.local_key,
                .queue_pair = qp};
    }

    std::uint32_t random_length(std::uint32_t most) {
        const std::uint32_t sizes[] = {0, 1, 3, 4, mtu_ - 1, mtu_, mtu_ + 1, 3 * mtu_, 5 * mtu_ + 7};
        const std::size_t kind = random_() % 12;
        const std::uint32_t length = kind < 9 ? sizes[kind] : static_cast<std::uint32_t>(random_() % (8 * mtu_));
        return std::min(length, most);
    }

    WorkRequest message(std::uint32_t qp, std::uint32_t number) {
        if (pending_[qp] && pending_number_[qp] == number) return *pending_[qp];  // was refused: the same again
        constexpr Opcode kinds[] = {Opcode::write, Opcode::write_with_immediate, Opcode::send,
                                    Opcode::send_with_immediate, Opcode::read};
        const Opcode opcode = kinds[random_() % 5];
        const bool send = opcode == Opcode::send || opcode == Opcode::send_with_immediate;
        const std::uint32_t length = random_length(send ? kSendRoom : 9 * mtu_);
        std::size_t place = qp * kShare + used_[qp];
        if (used_[qp] + length > kShare / 3 * 2) place = qp * kShare + (used_[qp] = 0);
        used_[qp] += length;
        WorkRequest request = rig_.write(qp, number, place, length, opcode);
        pending_[qp] = request;
        pending_number_[qp] = number;
        const bool takes_receive = opcode != Opcode::write && opcode != Opcode::read;
        std::size_t landing = place;
        if (takes_receive) {
            if (send) landing = qp * kShare + kShare / 3 * 2 + std::size_t{consumed_[qp]} * kSendRoom;
            ++consumed_[qp];
        }
        posted_.push_back({request, landing});
        return request;
    }

    void check_memory() {
        for (const Posted& p : posted_) {
            const auto source = static_cast<std::size_t>(p.request.local_address - rig_.side(0).at(0));
            ASSERT_EQ(std::memcmp(rig_.side(0).memory.data() + source, rig_.side(1).memory.data() + p.landing,
                                  p.request.length),
                      0)
                << "message " << p.request.id << " of qp " << p.request.queue_pair << ", opcode "
                << static_cast<int>(p.request.opcode) << ", " << p.request.length << " bytes";
        }
    }

    Rig& rig_;
    std::mt19937_64 random_;
    std::uint32_t mtu_;
    std::vector<Posted> posted_;
    std::optional<WorkRequest> pending_[kPairs];
    std::uint32_t pending_number_[kPairs] = {};
    std::uint32_t receives_[kPairs] = {};
    std::uint32_t consumed_[kPairs] = {};
    std::size_t used_[kPairs] = {};
};

TEST_P(Faults, EveryMessageArrivesExactlyOnceOnEveryMtu) {
    std::uint64_t seed = 1;
    for (const std::uint32_t mtu : {256U, 512U, 1024U, 2048U, 4096U}) {
        SCOPED_TRACE(mtu);
        Rig rig({.seed = ++seed, .impairment = GetParam().impairment});
        MixedTraffic traffic(rig, mtu, seed);
        // So many that no place is used twice, and sends fit their third of memory.
        const std::uint32_t count = mtu == 4096 ? 30 : 60;
        ASSERT_TRUE(traffic.run(count)) << rig.side(0).hca.describe(0);
        traffic.verify(count);
        for (std::size_t side = 0; side < 2; ++side) {
            EXPECT_EQ(rig.side(side).port.wrong_icrc, 0U);
        }
    }
}

constexpr FaultCase kFaultCases[] = {
    {"none", {}},
    {"drop 1 %", {.drop = 0.01}},
    {"drop 5 %", {.drop = 0.05}},
    {"duplicate 5 %", {.duplicate = 0.05}},
    {"reorder 5 %", {.reorder = 0.05, .reorder_delay = Nanoseconds{3'000}}},
    {"corrupt 5 %", {.corrupt = 0.05}},
    {"mark 5 %", {.mark = 0.05}},
    {"everything", {.drop = 0.02, .duplicate = 0.02, .reorder = 0.02, .corrupt = 0.02, .mark = 0.02}},
    {"reorder far", {.duplicate = 0.02, .reorder = 0.02, .reorder_delay = Nanoseconds{150'000}}},
};
INSTANTIATE_TEST_SUITE_P(All, Faults, testing::ValuesIn(kFaultCases), [](const auto& instance) {
    std::string name;
    for (const char c : std::string{instance.param.name}) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
    }
    return name;
});

}  // namespace
}  // namespace gradstorm::roce::test
