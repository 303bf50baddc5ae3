// SPDX-License-Identifier: Apache-2.0
// What is refused before a run, and how it is said.
#include "tests/unit/roce/rig.h"

namespace gradstorm::roce::test {
namespace {

TEST(Control, RefusesBadAttributesNamingThem) {
    Rig rig;
    auto& hca = rig.side(0).hca;
    const std::pair<QueuePairAttributes, const char*> cases[] = {
        {{.hca = 1}, "hca 1 does not exist"},
        {{.send_depth = 0}, "send depth 0"},
        {{.receive_depth = 1U << 20U}, "receive depth"},
        {{.path_mtu = 1500}, "path mtu 1500"},
        {{.path_mtu = 128}, "path mtu 128"},
        {{.path_mtu = 8192}, "path mtu 8192"},
        {{.window_frames = 0}, "window of 0"},
        {{.timeout = Nanoseconds{0}}, "timeout"},
        {{.initial_psn = 1U << 24U}, "24 bits"},
    };
    for (const auto& [attributes, text] : cases) {
        const auto result = hca.create_queue_pair(attributes);
        ASSERT_FALSE(result) << text;
        EXPECT_NE(result.error().message.find(text), std::string::npos) << result.error().message;
    }
    EXPECT_FALSE(hca.register_memory(0x1000, 0));
    EXPECT_FALSE(hca.register_memory(~std::uint64_t{0}, 2));
}

TEST(Control, RefusesAPeerThatDoesNotFitNamingBothEnds) {
    Rig rig;
    Rig six({.ipv6 = true});
    auto& hca = rig.side(0).hca;
    const QueuePairIndex qp = *hca.create_queue_pair({.path_mtu = 1024});
    const QueuePairIndex large = *rig.side(1).hca.create_queue_pair({.path_mtu = 4096});
    const QueuePairIndex other = *six.side(1).hca.create_queue_pair({.path_mtu = 1024});
    const auto mtu = hca.connect(qp, rig.side(1).hca.address_of(large));
    ASSERT_FALSE(mtu);
    for (const char* part : {"198.18.", "path mtu 1024 here and 4096 there"}) {
        EXPECT_NE(mtu.error().message.find(part), std::string::npos) << mtu.error().message;
    }
    const auto family = hca.connect(qp, six.side(1).hca.address_of(other));
    ASSERT_FALSE(family);
    EXPECT_NE(family.error().message.find("IPv6"), std::string::npos) << family.error().message;
    const QueuePairIndex good = *rig.side(1).hca.create_queue_pair({.path_mtu = 1024});
    EXPECT_TRUE(hca.connect(qp, rig.side(1).hca.address_of(good)));
    EXPECT_FALSE(hca.connect(qp, rig.side(1).hca.address_of(good))) << "twice";
}

TEST(Control, QueuePairNumbersNameTheHcaAndAreNeverZeroOrOne) {
    Rig rig;
    fabric::HeapFabric fabric({.ports = 1});
    SoftwareHcaConfig config;
    for (std::uint32_t i = 0; i < 5; ++i) config.addresses.push_back(wire::emulated_hca_address(i));
    SoftwareHca<fabric::HeapPort> hca(config, fabric.port(0));
    ASSERT_EQ(hca.hca_count(), 5U);
    for (std::uint32_t i = 0; i < 10; ++i) {
        const QueuePairIndex qp = *hca.create_queue_pair({.hca = i % 5});
        EXPECT_EQ(qp, i);
        const auto address = hca.address_of(qp);
        EXPECT_EQ(address.qpn >> 21U, i % 5);
        EXPECT_GE(address.qpn, 2U);
        EXPECT_LT(address.qpn, 1U << 24U);
        EXPECT_EQ(address.hca, config.addresses[i % 5]);
    }
}

TEST(Control, WhatIsPostedBeforeConnectingIsSentAfterwards) {
    Rig rig;
    const QueuePairIndex a = *rig.side(0).hca.create_queue_pair({});
    const QueuePairIndex b = *rig.side(1).hca.create_queue_pair({});
    ASSERT_TRUE(rig.post(rig.write(a, 1, 0, 5000)));
    rig.run_until_quiet();
    ASSERT_TRUE(rig.side(0).hca.connect(a, rig.side(1).hca.address_of(b)));
    ASSERT_TRUE(rig.side(1).hca.connect(b, rig.side(0).hca.address_of(a)));
    rig.run_until_quiet();
    EXPECT_EQ(rig.side(0).completions.size(), 1U);
    EXPECT_TRUE(rig.equal(0, 5000));
}

}  // namespace
}  // namespace gradstorm::roce::test
