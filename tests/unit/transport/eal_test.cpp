// SPDX-License-Identifier: Apache-2.0
#include "engine/transport/dpdk/eal.h"

#include "engine/transport/dpdk/embedded_fabric.h"
#include "engine/transport/dpdk/packet_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <pthread.h>
#include <sched.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace gradstorm::transport::dpdk {
namespace {

using testing::HasSubstr;

TEST(Eal, ASecondStartThatTheFirstCoversSucceeds) {
    EXPECT_TRUE(eal_started());
    EXPECT_TRUE(start_eal({.memory_mb = 64}));
}

TEST(Eal, ASecondStartThatNeedsMoreSaysWhy) {
    const auto again = start_eal({.memory_mb = 193});
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, ErrorCode::device);
    EXPECT_THAT(again.error().message, HasSubstr("runs with 192 MB in this process already"));
}

TEST(Eal, RefusesNonsense) {
    EXPECT_EQ(start_eal({.memory_mb = 0}).error().code, ErrorCode::invalid_input);
    const auto bad = start_eal({.memory_mb = 1, .pci = {"eth0"}});
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.error().code, ErrorCode::invalid_input);
    EXPECT_THAT(bad.error().message, HasSubstr("'eth0' is no PCI address"));
}

TEST(Eal, LeavesTheCallersAffinityAlone) {
    cpu_set_t here;
    cpu_set_t of_process;
    ASSERT_EQ(pthread_getaffinity_np(pthread_self(), sizeof here, &here), 0);
    ASSERT_EQ(sched_getaffinity(getppid(), sizeof of_process, &of_process), 0);
    EXPECT_TRUE(CPU_EQUAL(&here, &of_process));
}

TEST(Eal, LeavesNoDirectoryBehind) {
    const std::string name = "gradstorm-" + std::to_string(getpid());
    const char* runtime = std::getenv("XDG_RUNTIME_DIR");
    std::vector<std::filesystem::path> places = {"/var/run", std::filesystem::temp_directory_path()};
    if (runtime != nullptr) places.emplace_back(runtime);
    for (const auto& place : places) EXPECT_FALSE(std::filesystem::exists(place / "dpdk" / name)) << place;
}

TEST(Eal, APoolThatDoesNotFitIsAnErrorOfOneLine) {
    const auto pool = PacketPool::create(200'000);
    ASSERT_FALSE(pool);
    EXPECT_EQ(pool.error().code, ErrorCode::device);
    EXPECT_THAT(pool.error().message, HasSubstr("cannot make 200000 packet buffers"));
    EXPECT_EQ(pool.error().message.find('\n'), std::string::npos);
}

TEST(Eal, APoolGivesItsMemoryBack) {
    for (int i = 0; i < 50; ++i) {
        const auto pool = PacketPool::create(20'000);
        ASSERT_TRUE(pool) << i << ": " << pool.error().message;
    }
}

TEST(FirstReason, TakesTheFirstLineWithoutPrefixesAndFullStop) {
    EXPECT_EQ(first_reason("EAL: Cannot init memory.\nEAL: more\n"), "cannot init memory");
    EXPECT_EQ(first_reason("memif_connect(): net_memif: Failed to connect socket: /x\n"),
              "failed to connect socket: /x");
    EXPECT_EQ(first_reason("IOMMU is off"), "IOMMU is off");
    EXPECT_EQ(first_reason(""), "");
}

}  // namespace
}  // namespace gradstorm::transport::dpdk
