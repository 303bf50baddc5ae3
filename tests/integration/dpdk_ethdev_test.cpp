// SPDX-License-Identifier: Apache-2.0
// Two processes over devices of DPDK: shared memory (memif), and kernel interfaces in two network namespaces.
#include "engine/transport/dpdk/device_text.h"
#include "engine/transport/dpdk/ethdev_port.h"
#include "engine/transport/dpdk/software_endpoint.h"
#include "tests/integration/dpdk_processes.h"
#include "tests/integration/dpdk_stream.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sched.h>

namespace gradstorm::test {
namespace {

using namespace std::chrono_literals;
using transport::dpdk::EthdevOptions;
using transport::dpdk::EthdevPort;

/// One end: opens the device, connects, and sends or receives a verified stream of 16 MB.
std::string stream_over(const std::string& device, bool sender, Channel& channel) {
    auto port = EthdevPort::open({.device = device});
    if (!port) return port.error().message;
    EthdevPort& opened = **port;
    if (auto link = opened.wait_for_link(5s); !link) return link.error().message;
    roce::SoftwareHcaConfig config;
    config.addresses = {wire::emulated_hca_address(sender ? 0 : 1)};
    config.payload = wire::PayloadMode::memory;
    auto endpoint = transport::dpdk::make_ethdev_endpoint(std::move(*port), config);
    if (!endpoint) return endpoint.error().message;
    WriteStream stream(*endpoint->endpoint);
    StreamPeer mine;
    if (auto problem = stream.open(mine, sender ? 0xFF'FFF0 : 77); !problem.empty()) return problem;
    if (auto problem = stream.connect(channel.exchange(sender, mine)); !problem.empty()) return problem;
    channel.exchange(sender, 1);  // both are connected: frames may come
    if (auto problem = sender ? stream.send() : stream.receive(); !problem.empty()) return problem;
    if (!sender) stream.linger(50ms);
    const auto counters = opened.counters();
    if (counters.too_long != 0 || counters.joined != 0) return "frames came in pieces or too long";
    channel.exchange(sender, 2);
    return {};
}

class Memif : public testing::Test {
protected:
    void SetUp() override {
        directory_ = testing::TempDir() + "gradstorm-memif-" + std::to_string(getpid());
        std::filesystem::create_directory(directory_);
        socket_ = directory_ / "link.sock";
    }
    void TearDown() override { std::filesystem::remove_all(directory_); }

    std::string device(bool server) const { return transport::dpdk::memif_device(socket_, server); }

    std::filesystem::path directory_;
    std::filesystem::path socket_;
};

TEST_F(Memif, TwoProcessesStreamVerifiedMemory) {
    Channel channel;
    ChildProcess server([&] { return stream_over(device(true), false, channel); });
    ChildProcess client([&] { return stream_over(device(false), true, channel); });
    EXPECT_EQ(client.wait(), 0);
    EXPECT_EQ(server.wait(), 0);
}

TEST_F(Memif, AClientThatComesFirstWaitsForItsServer) {
    Channel channel;
    ChildProcess client([&] { return stream_over(device(false), true, channel); });
    std::this_thread::sleep_for(600ms);
    ChildProcess server([&] { return stream_over(device(true), false, channel); });
    EXPECT_EQ(client.wait(), 0);
    EXPECT_EQ(server.wait(), 0);
}

TEST_F(Memif, AClientWithoutServerGivesUpInTimeAndSaysSo) {
    ChildProcess client([&]() -> std::string {
        const auto port = EthdevPort::open({.device = device(false), .connect = 200ms});
        if (port) return "opened without a server";
        if (port.error().code != ErrorCode::timeout) return "wrong code: " + port.error().message;
        const bool says = port.error().message.find("no server listens after 200 ms") != std::string::npos;
        return says ? "" : port.error().message;
    });
    EXPECT_EQ(client.wait(10s), 0);
}

TEST_F(Memif, AServerTakesOverTheSocketOfAKilledOne) {
    {
        ChildProcess killed([&]() -> std::string {
            const auto port = EthdevPort::open({.device = device(true)});
            std::this_thread::sleep_for(20s);
            return port ? "" : port.error().message;
        });
        for (int i = 0; i < 1000 && !std::filesystem::exists(socket_); ++i) std::this_thread::sleep_for(10ms);
    }
    ASSERT_TRUE(std::filesystem::exists(socket_));
    Channel channel;
    ChildProcess server([&] { return stream_over(device(true), false, channel); });
    ChildProcess client([&] { return stream_over(device(false), true, channel); });
    EXPECT_EQ(client.wait(), 0);
    EXPECT_EQ(server.wait(), 0);
}

TEST_F(Memif, ASecondServerDoesNotTakeTheSocketOfALiveOne) {
    Channel channel;
    ChildProcess first([&]() -> std::string {
        const auto port = EthdevPort::open({.device = device(true)});
        channel.exchange(true, 1);
        channel.exchange(true, 2);
        return port ? "" : port.error().message;
    });
    channel.exchange(false, 1);
    ChildProcess second([&]() -> std::string {
        const auto port = EthdevPort::open({.device = device(true)});
        if (port) return "took the socket of another";
        const bool says = port.error().message.find(socket_.string() + ": another run") != std::string::npos;
        return says ? "" : port.error().message;
    });
    EXPECT_EQ(second.wait(), 0);
    EXPECT_TRUE(std::filesystem::exists(socket_));
    channel.exchange(false, 2);
    EXPECT_EQ(first.wait(), 0);
}

TEST_F(Memif, TheLinkGoesDownWhenThePeerIsKilled) {
    Channel channel;
    ChildProcess client([&]() -> std::string {
        auto port = EthdevPort::open({.device = device(false)});
        if (!port) return port.error().message;
        // Also what brings back a client that a server not yet started turned away.
        if (auto link = (*port)->wait_for_link(5s); !link) return link.error().message;
        std::this_thread::sleep_for(20s);
        return "was not killed";
    });
    ChildProcess server([&]() -> std::string {
        auto port = EthdevPort::open({.device = device(true)});
        if (!port) return port.error().message;
        if (auto link = (*port)->wait_for_link(5s); !link) return link.error().message;
        channel.exchange(true, 1);
        for (int i = 0; i < 2000 && (*port)->link_up(); ++i) std::this_thread::sleep_for(1ms);
        if ((*port)->link_up()) return "the link is still up";
        // Sending into the void: taken until the waiting queue is full, never a crash or a lost buffer.
        for (int i = 0; i < 1000; ++i) {
            wire::Frame frame;
            if ((*port)->allocate({&frame, 1}) == 0) break;
            frame.length = 64;
            if ((*port)->send({&frame, 1}) == 0) (*port)->free({&frame, 1});
        }
        return (*port)->room() == 0 ? "" : "a dead link still takes frames";
    });
    channel.exchange(false, 1);
    kill(client.pid(), SIGKILL);
    EXPECT_EQ(server.wait(10s), 0);
}

TEST(Device, AnUnknownOneIsAnErrorOfOneLine) {
    ChildProcess child([]() -> std::string {
        for (const char* device : {"net_nonsense,a=b", "eth0", "0000:ff:1f.7", "net_memif,role=king"}) {
            const auto port = EthdevPort::open({.device = device});
            if (port) return std::string("opened ") + device;
            const std::string& message = port.error().message;
            if (message.find(device) == std::string::npos) return "does not name the device: " + message;
            if (message.find('\n') != std::string::npos) return "more than one line: " + message;
            const bool no_driver = message.find("dpdk has no driver of that name") != std::string::npos;
            if (no_driver != (message.find("net_nonsense") != std::string::npos)) return "wrong reason: " + message;
        }
        return {};
    });
    EXPECT_EQ(child.wait(), 0);
}

/// A network namespace of its own for the calling process; the text says why not.
std::string enter_new_network() { return unshare(CLONE_NEWNET) == 0 ? "" : std::strerror(errno); }

TEST(Device, OneWhoseFramesAreTooShortForThePathMtuIsRefused) {
    if (geteuid() != 0) GTEST_SKIP() << "a tap interface needs root";
    ChildProcess child([]() -> std::string {
        if (!enter_new_network().empty() || !std::filesystem::exists("/dev/net/tun")) return {};  // cannot tell here
        const auto port = EthdevPort::open({.device = "net_tap"});
        if (port) return "opened";
        const bool says = port.error().message.find("path mtu 4096 takes an mtu of 4200") != std::string::npos;
        return says ? "" : port.error().message;
    });
    EXPECT_EQ(child.wait(), 0);
}

TEST(AfPacket, TwoNamespacesJoinedByVethStreamVerifiedMemory) {
    if (geteuid() != 0) GTEST_SKIP() << "network namespaces and packet sockets need root";
    {
        ChildProcess probe([] { return enter_new_network(); });
        if (probe.wait() != 0) GTEST_SKIP() << "this kernel or container gives no network namespaces";
    }
    Channel channel;
    Channel ready_a;
    Channel ready_b;
    const auto end = [&](bool sender, Channel& ready) -> std::string {
        if (auto problem = enter_new_network(); !problem.empty()) return problem;
        ready.exchange(false, 1);  // the namespace is there
        ready.exchange(false, 2);  // and the interface in it
        if (std::system("ip link set gs0 up") != 0) return "cannot set the interface up";
        return stream_over(transport::dpdk::af_packet_device("gs0"), sender, channel);
    };
    ChildProcess a([&] { return end(true, ready_a); });
    ChildProcess b([&] { return end(false, ready_b); });
    ready_a.exchange(true, 1);
    ready_b.exchange(true, 1);
    const std::string command = "ip link add gs0 netns " + std::to_string(a.pid()) +
                                " mtu 9000 type veth peer name gs0 netns " + std::to_string(b.pid()) + " mtu 9000";
    if (std::system(command.c_str()) != 0) GTEST_SKIP() << "no veth interfaces: " << command;
    ready_a.exchange(true, 2);
    ready_b.exchange(true, 2);
    EXPECT_EQ(a.wait(), 0);
    EXPECT_EQ(b.wait(), 0);
}

}  // namespace
}  // namespace gradstorm::test
