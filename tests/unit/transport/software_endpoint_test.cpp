// SPDX-License-Identifier: Apache-2.0
#include "engine/transport/dpdk/software_endpoint.h"

#include "engine/wire/capture_reader.h"
#include "engine/wire/frame_codec.h"
#include "engine/wire/icrc.h"
#include "engine/wire/synthetic_payload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace gradstorm::transport::dpdk {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kSeed = 3;
constexpr std::uint64_t kBytes = 1U << 20U;

roce::SoftwareHcaConfig config_of(std::uint32_t hca, wire::PayloadMode payload = wire::PayloadMode::synthetic) {
    return {.addresses = {wire::emulated_hca_address(hca)}, .payload = payload, .payload_seed = kSeed};
}

std::unique_ptr<EmbeddedFabric> make_fabric(std::span<const std::byte> payload) {
    auto made = EmbeddedFabric::create({.workers = 2, .payload = payload});
    EXPECT_TRUE(made.has_value());
    return std::move(*made);
}

/// Two endpoints on a fabric of gathered frames, one queue pair, stepped by turns in virtual time.
class GatheredEndpoints : public testing::Test {
protected:
    void open(const PortStackOptions& options) {
        for (std::uint32_t i = 0; i < 2; ++i) {
            auto made = make_fabric_endpoint(*fabric_, i, config_of(i), options);
            ASSERT_TRUE(made) << made.error().message;
            ends_[i] = std::move(*made);
            regions_[i] = *ends_[i].endpoint->register_memory(0x1000'0000, kBytes);
            ASSERT_TRUE(ends_[i].endpoint->create_queue_pair({.path_mtu = 1024}));
        }
        for (std::uint32_t i = 0; i < 2; ++i) {
            ASSERT_TRUE(ends_[i].endpoint->connect(0, ends_[1 - i].endpoint->address_of(0)));
        }
    }

    /// Posts one request of each size, and steps until all have completed.
    void transfer(Opcode opcode, const std::vector<std::uint32_t>& sizes) {
        std::size_t completed = 0;
        std::size_t posted = 0;
        for (int rounds = 0; completed < sizes.size() && rounds < 2'000'000; ++rounds) {
            if (posted < sizes.size()) {
                const WorkRequest request{.local_address = regions_[0].address,
                                          .remote_address = regions_[1].address,
                                          .length = sizes[posted],
                                          .local_key = regions_[0].local_key,
                                          .remote_key = regions_[1].remote_key,
                                          .opcode = opcode};
                posted += ends_[0].endpoint->post({&request, 1});
            }
            now_ += Nanoseconds{1000};
            for (SoftwareEndpoint& end : ends_) end.endpoint->step(now_);
            std::array<Completion, 16> done;
            for (const Completion& c : std::span{done}.first(ends_[0].endpoint->poll(done))) {
                ASSERT_EQ(c.status, CompletionStatus::success);
                ++completed;
            }
        }
        ASSERT_EQ(completed, sizes.size());
    }

    wire::SyntheticPayload payload_ = wire::synthetic_payload(kSeed);
    std::unique_ptr<EmbeddedFabric> fabric_ = make_fabric(payload_);
    std::array<SoftwareEndpoint, 2> ends_;
    std::array<MemoryRegion, 2> regions_;
    Instant now_{};
};

TEST_F(GatheredEndpoints, CarryEverySizeAndAreCapturedAsOnTheWire) {
    open({.capture_frames = 4096});
    transfer(Opcode::write, {0, 1, 2, 3, 5, 1023, 1024, 1025, 4096, 10'001});
    transfer(Opcode::read, {0, 7, 1024, 5000});

    const auto path = std::filesystem::path(testing::TempDir()) / "gathered.pcapng";
    const std::array<std::string, 1> interfaces{"port"};
    auto writer = wire::CaptureWriter::create(path, interfaces, Nanoseconds{});
    ASSERT_TRUE(writer);
    ASSERT_TRUE(ends_[0].drain_capture(*writer));
    ASSERT_TRUE(writer->close());
    auto reader = wire::CaptureReader::open(path);
    ASSERT_TRUE(reader);
    std::set<std::size_t> payload_sizes;
    for (auto packet = reader->next(); packet && *packet; packet = reader->next()) {
        const auto frame = wire::decode((*packet)->bytes);
        ASSERT_TRUE(frame) << wire::to_string(frame.error());
        EXPECT_TRUE(wire::verify_icrc((*packet)->bytes));
        EXPECT_TRUE(std::equal(frame->payload.begin(), frame->payload.end(), payload_.begin()));
        payload_sizes.insert(frame->payload.size());
    }
    EXPECT_EQ(payload_sizes, (std::set<std::size_t>{0, 1, 2, 3, 5, 7, 785, 904, 1023, 1024}));
    EXPECT_EQ(ends_[0].capture_lost(), 0U);
}

TEST_F(GatheredEndpoints, DescribeTheirQueuePairs) {
    open({});
    EXPECT_THAT(ends_[0].endpoint->describe(0), testing::StartsWith("qp 0 198.18."));
}

TEST_F(GatheredEndpoints, RecoverFromWhatANetworkDoesToFrames) {
    open({.impair_all = {.drop = 0.01, .duplicate = 0.01, .reorder = 0.01, .corrupt = 0.02, .mark = 0.01}});
    transfer(Opcode::write, std::vector<std::uint32_t>(200, 9'999));
    transfer(Opcode::read, std::vector<std::uint32_t>(50, 4'097));
    for (std::uint32_t i = 0; i < 2; ++i) {
        const fabric::ImpairmentCounters done = ends_[i].impairments();
        const HcaCounters peer = ends_[1 - i].endpoint->counters(0);
        EXPECT_GT(done.corrupted, 0U);
        EXPECT_GT(done.duplicated, 0U);
        // All but those in the 3 of its 44 bytes that the ICRC leaves out: UDP checksum and a reserved byte of the BTH.
        EXPECT_GT(peer.rx_icrc_errors + peer.rx_discarded_frames, done.corrupted * 3 / 4);
        EXPECT_GT(peer.rx_duplicate_frames, 0U);
    }
}

TEST(SoftwareEndpoint, RefusesRealPayloadOnAFabricMadeForAConstantOne) {
    const wire::SyntheticPayload payload = wire::synthetic_payload(kSeed);
    const auto fabric = make_fabric(payload);
    const auto made = make_fabric_endpoint(*fabric, 0, config_of(0, wire::PayloadMode::memory));
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().message, HasSubstr("constant payload"));
}

}  // namespace
}  // namespace gradstorm::transport::dpdk
