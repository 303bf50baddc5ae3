// SPDX-License-Identifier: Apache-2.0
#include "engine/transport/dpdk/eal.h"

#include <gtest/gtest.h>

#include <cstdio>

// DPDK's environment starts once in a process, and ctest gives each test its own.
int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    if (testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
    const auto started = gradstorm::transport::dpdk::start_eal({.memory_mb = 192});
    if (!started) {
        std::fprintf(stderr, "%s\n", started.error().message.c_str());
        return 1;
    }
    return RUN_ALL_TESTS();
}
