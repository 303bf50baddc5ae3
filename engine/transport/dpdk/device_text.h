// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>

/// The text that names an Ethernet device: a driver of DPDK with arguments ("net_memif,role=server,socket=/run/x.sock")
/// or a PCI address.
namespace gradstorm::transport::dpdk {

[[nodiscard]] bool is_virtual(const std::string& device);
[[nodiscard]] bool is_memif_client(const std::string& device);

/// With what a user means who leaves it out: sizes that hold a frame of any path MTU, a socket in the file system.
[[nodiscard]] std::string with_default_arguments(std::string device);

/// Error: invalid_input (memif slots that are too small for a frame).
[[nodiscard]] Result<void> refuse_small_slots(const std::string& device);

/// A memif server that was killed leaves its socket, and DPDK does not listen on one that exists.
/// Error: device (somebody listens there, or it is no socket).
[[nodiscard]] Result<void> make_way_for_server(const std::string& device);

/// The MTU to configure for frames of `path_mtu`, given what the device says it can: its largest MTU, and its longest
/// frame. Drivers with slots carry what fits a slot, whatever they say.
/// Error: device (frames of the path MTU are too long for it).
[[nodiscard]] Result<std::uint16_t> mtu_for(const std::string& device, std::uint32_t path_mtu, std::uint32_t max_mtu,
                                            std::uint32_t max_frame);

/// Device text of a shared-memory link between two processes of one host. The server has to be there first; open() of
/// the client waits for that. Frames of any RoCE path MTU travel in one piece.
[[nodiscard]] std::string memif_device(const std::string& socket, bool server);

/// Device text of a kernel interface (root or CAP_NET_RAW). For path MTU 4096 its MTU has to be 4,200 at least.
[[nodiscard]] std::string af_packet_device(const std::string& interface);

}  // namespace gradstorm::transport::dpdk
