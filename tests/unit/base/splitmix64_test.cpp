// SPDX-License-Identifier: Apache-2.0
#include "base/splitmix64.h"

#include <gtest/gtest.h>

namespace gradstorm {
namespace {

// The first outputs of the authors' generator for these seeds (Vigna's splitmix64.c).
TEST(SplitMix64, DrawsAsItsAuthorsDo) {
    SplitMix64 zero(0);
    EXPECT_EQ(zero(), 0xE220'A839'7B1D'CDAFU);
    EXPECT_EQ(zero(), 0x6E78'9E6A'A1B9'65F4U);
    EXPECT_EQ(zero(), 0x06C4'5D18'8009'454FU);
    SplitMix64 other(1'234'567);
    EXPECT_EQ(other(), 6'457'827'717'110'365'317U);
    EXPECT_EQ(other(), 3'203'168'211'198'807'973U);
}

TEST(SplitMix64, IsTheHashOfACounter) {
    SplitMix64 draw(7);
    EXPECT_EQ(draw(), splitmix64(7));
    EXPECT_EQ(draw(), splitmix64(7 + kSplitMixStep));
}

}  // namespace
}  // namespace gradstorm
