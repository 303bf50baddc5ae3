// SPDX-License-Identifier: Apache-2.0
#include "engine/transport/dpdk/device_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gradstorm::transport::dpdk {
namespace {

TEST(DeviceText, TheMtuHoldsAFrameOfThePathMtu) {
    EXPECT_EQ(mtu_for("0000:3b:00.0", 4096, 9'600, 9'618), 4'200U);
    EXPECT_EQ(mtu_for("0000:3b:00.0", 4096, 65'535, 0xFFFF'FFFFU), 4'200U);
    EXPECT_EQ(mtu_for("0000:3b:00.0", 1024, 1'500, 1'518), 1'128U);
}

TEST(DeviceText, ADeviceForShorterFramesIsRefusedWithItsLargestMtu) {
    const auto by_mtu = mtu_for("0000:3b:00.0", 4096, 2'048, 9'618);
    ASSERT_FALSE(by_mtu);
    EXPECT_THAT(by_mtu.error().message, testing::HasSubstr("path mtu 4096 takes an mtu of 4200, its largest is 2048"));
    const auto by_frame = mtu_for("0000:3b:00.0", 2048, 65'535, 1'518);
    ASSERT_FALSE(by_frame);
    EXPECT_THAT(by_frame.error().message, testing::HasSubstr("its largest is 1500"));
}

TEST(DeviceText, DriversWithSlotsCarryMoreThanTheySay) {
    EXPECT_EQ(mtu_for(memif_device("/run/x.sock", true), 4096, 65'535, 1'518), 1'500U);
    EXPECT_EQ(mtu_for(af_packet_device("eth0"), 4096, 65'535, 1'518), 1'500U);
}

}  // namespace
}  // namespace gradstorm::transport::dpdk
