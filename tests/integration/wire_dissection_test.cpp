// SPDX-License-Identifier: Apache-2.0
// Outside judges of our frames: tshark must dissect each as what it is, scapy must find the same ICRC. Both are tools
// of the tests only; without them the tests say so and are skipped.
#include "engine/wire/capture_writer.h"
#include "engine/wire/icrc.h"
#include "tests/unit/wire/sample_frames.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace gradstorm::wire {
namespace {

struct Sample {
    FrameHeaders headers;
    std::size_t payload = 0;
    std::vector<std::byte> bytes;
};

struct CommandResult {
    int exit_code = -1;
    std::string output;
};

CommandResult run(const std::string& command) {
    CommandResult result;
    FILE* pipe = ::popen(command.c_str(), "r");
    if (pipe == nullptr) return result;
    std::array<char, 4096> chunk{};
    for (std::size_t got = 0; (got = std::fread(chunk.data(), 1, chunk.size(), pipe)) > 0;) {
        result.output.append(chunk.data(), got);
    }
    const int status = ::pclose(pipe);
    if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
    return result;
}

/// Frames of every opcode, payload shape, IP version, with and without a VLAN tag, in a capture file.
class WireDissection : public testing::Test {
protected:
    void SetUp() override {
        std::mt19937_64 random{4791};
        for (const auto opcode : test::kOpcodes) {
            for (const std::size_t payload : {0U, 1U, 2U, 3U, 64U, 1021U, 4096U}) {
                if (payload != 0 && !has_payload(opcode)) continue;
                for (const bool ipv4 : {true, false}) {
                    for (const bool vlan : {false, true}) add(random, opcode, payload, ipv4, vlan);
                }
            }
        }
        write();
    }
    void TearDown() override { std::filesystem::remove(path_); }

    void add(std::mt19937_64& random, Opcode opcode, std::size_t payload, bool ipv4, bool vlan) {
        auto headers = test::random_headers(random, opcode, ipv4, vlan);
        // Unicast addresses and a port of the dynamic range, as a dissector expects; a known fault of some is to take
        // the service from the source port.
        headers.ethernet.source.octets[0] = headers.ethernet.destination.octets[0] = 0x02;
        headers.udp.source_port = static_cast<std::uint16_t>(0xC000U | headers.udp.source_port);
        samples_.push_back({headers, payload, test::make_frame(random, headers, payload)});
    }

    void write() {
        const std::vector<std::string> names{"gradstorm0"};
        auto writer = CaptureWriter::create(path_, names, Nanoseconds{1'800'000'000'000'000'000});
        ASSERT_TRUE(writer) << writer.error().message;
        std::int64_t time = 0;
        for (const auto& sample : samples_) {
            ASSERT_TRUE(writer->write({.time = Instant{Nanoseconds{++time}},
                                       .direction = CaptureDirection::sent,
                                       .original_length = static_cast<std::uint32_t>(sample.bytes.size()),
                                       .bytes = sample.bytes}));
        }
        ASSERT_TRUE(writer->close());
    }

    std::filesystem::path path_ =
        std::filesystem::path{testing::TempDir()} /
        (std::string{"wire_"} + testing::UnitTest::GetInstance()->current_test_info()->name() + ".pcapng");
    std::vector<Sample> samples_;
};

/// Numbers in decimal whatever base they were printed in, times in nanoseconds; addresses as they are.
std::string normalised(const std::string& text) {
    constexpr std::size_t kSeconds = 10;
    if (text.size() == kSeconds + 10 && text[kSeconds] == '.') {
        return text.substr(0, kSeconds) + text.substr(kSeconds + 1);
    }
    char* end = nullptr;
    const auto number = std::strtoull(text.c_str(), &end, 0);
    return !text.empty() && *end == '\0' ? std::to_string(number) : text;
}

/// tshark prints immediate data as bytes.
std::string hexadecimal(std::uint32_t value) {
    std::array<char, 9> text{};
    std::snprintf(text.data(), text.size(), "%08x", value);
    return text.data();
}

/// A field of tshark's as it should be; empty where the frame has no such header.
std::string field(bool present, std::uint64_t value) { return present ? std::to_string(value) : std::string{}; }

std::vector<std::string> expected_fields(const Sample& sample, std::size_t number) {
    const auto& h = sample.headers;
    const Opcode opcode = h.bth.opcode;
    const bool v4 = h.ip.is_v4();
    return {std::to_string(1'800'000'000'000'000'000 + static_cast<std::int64_t>(number)),
            std::to_string(sample.bytes.size()),
            field(h.ethernet.vlan.has_value(), h.ethernet.vlan ? h.ethernet.vlan->id : 0),
            v4 ? to_string(h.ip.source) : std::string{}, v4 ? std::string{} : to_string(h.ip.destination),
            field(v4, h.ip.dscp), field(v4, 1),  // what tshark calls a good IPv4 checksum
            field(!v4, h.ip.flow_label), std::to_string(static_cast<unsigned>(opcode)),
            std::to_string(pad_count(sample.payload)), std::to_string(h.bth.destination_qpn),
            std::to_string(h.bth.ack_request ? 1 : 0), std::to_string(h.bth.psn),
            field(has_reth(opcode), h.reth.virtual_address), field(has_reth(opcode), h.reth.remote_key),
            field(has_reth(opcode), h.reth.length), field(has_aeth(opcode), h.aeth.syndrome),
            field(has_aeth(opcode), h.aeth.msn),
            has_immediate(opcode) ? normalised(hexadecimal(h.immediate)) : std::string{},
            // tshark 4.0 has no name for a CNP and shows what is behind its BTH as one field.
            field(opcode != Opcode::congestion_notification,
                  load_big<std::uint32_t>(&sample.bytes[sample.bytes.size() - kIcrcSize]))};
}

/// What travels on InfiniBand guesses from the first payload bytes; ours are random, and would sometimes be taken.
const std::string kNoUpperProtocols =
    "--disable-protocol rpcordma --disable-protocol smc --disable-protocol smb_direct --disable-protocol nvme-rdma"
    " --disable-protocol lnet --disable-protocol iser --disable-protocol infiniband_sdp --disable-protocol fcoib"
    " --disable-protocol infiniband.eoib --disable-heuristic eth_over_ib";

constexpr const char* kTsharkFields =
    " -e frame.time_epoch -e frame.len -e vlan.id -e ip.src -e ipv6.dst -e ip.dsfield.dscp -e ip.checksum.status"
    " -e ipv6.flow -e infiniband.bth.opcode -e infiniband.bth.padcnt -e infiniband.bth.destqp -e infiniband.bth.a"
    " -e infiniband.bth.psn -e infiniband.reth.va -e infiniband.reth.r_key -e infiniband.reth.dmalen"
    " -e infiniband.aeth.syndrome -e infiniband.aeth.msn -e infiniband.immdt -e infiniband.invariant.crc";

std::vector<std::string> split(const std::string& line, char separator) {
    std::vector<std::string> parts;
    std::string rest = line;
    for (auto at = rest.find(separator); at != std::string::npos; at = rest.find(separator)) {
        parts.push_back(normalised(rest.substr(0, at)));
        rest.erase(0, at + 1);
    }
    parts.push_back(normalised(rest));
    return parts;
}

TEST_F(WireDissection, TsharkSeesEveryFrameAsWhatItIs) {
    if (run("tshark --version 2>/dev/null").exit_code != 0) GTEST_SKIP() << "no tshark on this system";
    const auto dissected = run("tshark -n " + kNoUpperProtocols + " -o ip.check_checksum:TRUE -r '" + path_.string() +
                               "' -T fields -E separator=/t -E occurrence=f" + kTsharkFields + " 2>/dev/null");
    ASSERT_EQ(dissected.exit_code, 0);
    std::istringstream lines{dissected.output};
    std::size_t number = 0;
    for (std::string line; std::getline(lines, line); ++number) {
        ASSERT_LT(number, samples_.size());
        const auto& sample = samples_[number];
        EXPECT_EQ(split(line, '\t'), expected_fields(sample, number + 1))
            << to_string(sample.headers.bth.opcode) << ", payload " << sample.payload;
    }
    EXPECT_EQ(number, samples_.size());
}

/// Debian's scapy belongs to the system's interpreter, which need not be the first in the path.
std::optional<std::string> python_with_scapy() {
    for (const std::string python : {"python3", "/usr/bin/python3"}) {
        if (run(python + " -c 'import scapy.contrib.roce' 2>/dev/null").exit_code == 0) return python;
    }
    return std::nullopt;
}

TEST_F(WireDissection, ScapyFindsTheSameIcrc) {
    const auto python = python_with_scapy();
    if (!python) GTEST_SKIP() << "no python3 with scapy on this system";
    const auto command =
        *python + " '" GRADSTORM_INTEGRATION_SOURCE "/wire_scapy_icrc.py' '" + path_.string() + "' 2>&1";
    const auto judged = run(command);
    EXPECT_EQ(judged.exit_code, 0) << judged.output;
    const auto half = std::to_string(samples_.size() / 2);
    EXPECT_EQ(judged.output.substr(0, judged.output.find('\n')), half + " IPv4 and " + half + " IPv6 frames, 0 wrong");

    // The judge itself is judged: one flipped payload bit must be seen.
    samples_.resize(8);
    samples_.back().bytes[samples_.back().bytes.size() - kIcrcSize - 1] ^= std::byte{0x10};
    write();
    const auto spoiled = run(command);
    EXPECT_EQ(spoiled.exit_code, 1);
    EXPECT_NE(spoiled.output.find("1 wrong"), std::string::npos) << spoiled.output;
}

}  // namespace
}  // namespace gradstorm::wire
