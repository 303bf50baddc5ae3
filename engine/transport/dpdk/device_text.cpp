// SPDX-License-Identifier: Apache-2.0
#include "engine/transport/dpdk/device_text.h"

#include "base/stale_socket.h"
#include "engine/wire/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace gradstorm::transport::dpdk {
namespace {

/// Headers and ICRC at most: IPv6 40, UDP 8, BTH 12, RETH 16, immediate 4, ICRC 4; rounded up generously, so that path
/// MTU 4096 takes the well-known 4,200.
constexpr std::uint32_t kHeadersAtMost = 104;
constexpr std::uint32_t kEthernetOverhead = 18;  // header and FCS: of a frame's length, not of its MTU

std::string argument(const std::string& device, const std::string& key) {
    const auto begin = device.find("," + key + "=");
    if (begin == std::string::npos) return {};
    const auto value = begin + key.size() + 2;
    return device.substr(value, device.find(',', value) - value);
}

struct DefaultArgument {
    const char* driver;
    const char* key;
    const char* value;
};

/// Slots that hold a frame of path MTU 4096 in one piece; a socket in the file system, whose directory says who may
/// connect (DPDK's default, an abstract one, is open to every user of the host).
constexpr std::array kDefaultArguments{
    DefaultArgument{"net_memif", "socket-abstract", "no"}, DefaultArgument{"net_memif", "bsize", "8192"},
    DefaultArgument{"net_memif", "rsize", "10"},           DefaultArgument{"net_af_packet", "framesz", "8192"},
    DefaultArgument{"net_af_packet", "blocksz", "65536"},  DefaultArgument{"net_af_packet", "framecnt", "1024"},
    DefaultArgument{"net_af_packet", "qdisc_bypass", "1"}};

}  // namespace

bool is_virtual(const std::string& device) { return device.starts_with("net_") || device.starts_with("eth_"); }

bool is_memif_client(const std::string& device) {
    return device.starts_with("net_memif") && argument(device, "role") == "client";
}

std::string with_default_arguments(std::string device) {
    for (const DefaultArgument& missing : kDefaultArguments) {
        if (!device.starts_with(missing.driver) || !argument(device, missing.key).empty()) continue;
        device += fmt::format(",{}={}", missing.key, missing.value);
    }
    return device;
}

/// DPDK 22.11's memif counts free slots wrong when a frame takes several and the ring is nearly full: frames are then
/// overwritten and delivered again and again.
Result<void> refuse_small_slots(const std::string& device) {
    if (!device.starts_with("net_memif")) return {};
    const std::string text = argument(device, "bsize");
    const long bytes = std::strtol(text.c_str(), nullptr, 10);
    if (bytes >= static_cast<long>(wire::kFrameBufferSize)) return {};
    return failure(ErrorCode::invalid_input,
                   fmt::format("device '{}': bsize {} cannot hold a frame in one piece, and memif corrupts frames in "
                               "pieces: leave bsize out or give at least {}",
                               device, text, wire::kFrameBufferSize));
}

Result<void> make_way_for_server(const std::string& device) {
    if (!device.starts_with("net_memif") || argument(device, "role") != "server") return {};
    auto way = remove_stale_socket(argument(device, "socket"));
    if (!way) return failure(way.error().code, fmt::format("device '{}': {}", device, way.error().message));
    return {};
}

Result<std::uint16_t> mtu_for(const std::string& device, std::uint32_t path_mtu, std::uint32_t max_mtu,
                              std::uint32_t max_frame) {
    const std::uint32_t needed = path_mtu + kHeadersAtMost;
    const std::uint32_t most = std::min(max_mtu, max_frame - kEthernetOverhead);
    const bool has_slots = device.starts_with("net_memif") || device.starts_with("net_af_packet");
    if (needed > most && !has_slots) {
        return failure(ErrorCode::device,
                       fmt::format("device '{}': path mtu {} takes an mtu of {}, its largest is {}: use a smaller "
                                   "path mtu, or another device",
                                   device, path_mtu, needed, most));
    }
    return static_cast<std::uint16_t>(std::min(needed, most));
}

std::string memif_device(const std::string& socket, bool server) {
    return fmt::format("net_memif,role={},socket={}", server ? "server" : "client", socket);
}

std::string af_packet_device(const std::string& interface) { return fmt::format("net_af_packet,iface={}", interface); }

}  // namespace gradstorm::transport::dpdk
