// SPDX-License-Identifier: Apache-2.0
#include "engine/fabric/constant_payload.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace gradstorm::fabric {
namespace {

TEST(ConstantPayload, IsWholeAgainAfterAFrameOfAnyLength) {
    std::vector<std::byte> payload(wire::kMaxPathMtu);
    for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<std::byte>(i * 31 + 1);
    const ConstantPayload constant(payload);
    alignas(64) std::array<std::byte, wire::kFrameBufferSize> buffer{};
    constant.fill(buffer.data());
    for (std::uint16_t length = 0; length <= wire::kMaxPathMtu; ++length) {
        const std::size_t pad = (4U - length % 4U) % 4U;
        std::byte* end = buffer.data() + wire::kPayloadAnchor + length;
        for (std::size_t i = 0; i < pad; ++i) end[i] = std::byte{0};
        for (std::size_t i = 0; i < wire::kIcrcSize; ++i) end[pad + i] = std::byte{0xA5};
        const auto size = static_cast<std::uint16_t>(54 + length + pad + wire::kIcrcSize);
        constant.restore({buffer.data(), wire::kPayloadAnchor - 54, size, 0});
        ASSERT_TRUE(std::equal(payload.begin(), payload.end(), buffer.data() + wire::kPayloadAnchor)) << length;
    }
}

TEST(ConstantPayload, LeavesAFrameThatWasNeverBuiltAlone) {
    std::vector<std::byte> payload(1024, std::byte{7});
    const ConstantPayload constant(payload);
    alignas(64) std::array<std::byte, wire::kFrameBufferSize> buffer{};
    constant.fill(buffer.data());
    constant.restore({buffer.data(), wire::kPayloadAnchor, 0, 0});
    constant.restore({buffer.data(), 0, 14, 0});
    constant.restore({buffer.data(), 100, 4000, 0});  // ends behind the payload
    EXPECT_TRUE(std::equal(payload.begin(), payload.end(), buffer.data() + wire::kPayloadAnchor));
}

TEST(ConstantPayload, EmptyTouchesNothing) {
    const ConstantPayload none;
    none.fill(nullptr);
    none.restore({nullptr, 0, 0, 0});
}

}  // namespace
}  // namespace gradstorm::fabric
