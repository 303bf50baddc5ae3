// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/time.h"
#include "base/units.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// A profile, parsed and validated: what to send ([[job]], [[flow]], [[phase]]), how ([library], [transport]) and where
/// ([[port]], [bind]). The text stays the truth; these are its values with all defaults filled in. Names that another
/// folder gives a meaning (ops, data types, algorithms) are checked by the schema table and kept as text here.
namespace gradstorm::profiles {

struct RunSettings {
    std::uint64_t seed = 1;
    std::uint32_t repetitions = 5;
    std::uint32_t warmup = 5;       ///< iterations, before each measurement
    std::uint32_t iterations = 50;  ///< of each repetition
    Nanoseconds stall_timeout{std::chrono::seconds{5}};
    std::string check = "all";  ///< memory payload: "all" iterations, "last" of each repetition, or "none"
};

struct ClusterSettings {
    std::uint32_t nodes = 2;
    std::uint32_t gpus_per_node = 1;
    std::uint32_t rails = 1;
    std::uint32_t nvlink_domain = 1;
    [[nodiscard]] std::uint32_t ranks() const { return nodes * gpus_per_node; }
};

/// Sizes from..to, each `factor` times the one before.
struct SizeSweep {
    Bytes from{};
    Bytes to{};
    std::uint32_t factor = 2;
};

struct CallSettings {
    std::string op;                         ///< "all_reduce", ...
    std::optional<std::uint64_t> elements;  ///< exactly one of elements, bytes and sweep is set
    std::optional<Bytes> bytes;
    std::optional<SizeSweep> sweep;
    std::string dtype;                 ///< the job's where the call names none
    std::vector<std::uint32_t> group;  ///< ranks; empty: all
    std::uint32_t root = 0;
    std::optional<std::uint32_t> from;  ///< send_receive of one pair
    std::optional<std::uint32_t> to;
    Nanoseconds gap{0};
};

struct JobSettings {
    std::string name;
    std::string dtype = "float32";
    bool overlap = false;
    std::string model;  ///< empty: the calls are listed
    std::vector<CallSettings> calls;
};

struct LibrarySettings {
    std::string name;
    std::string algorithm = "auto";  ///< "auto", "ring"
    std::string protocol = "auto";
    std::uint32_t channels = 1;
    Bytes chunk{1U << 20U};
    std::string fidelity = "messages";  ///< "bytes", "messages", "nccl"
    std::uint32_t slots = 8;            ///< landing slots of a connection
};

struct TransportSettings {
    std::string engine = "dpdk";        ///< "dpdk", "verbs"
    std::string fabric = "embedded";    ///< "embedded", "ports"
    std::string payload = "synthetic";  ///< "synthetic", "memory"
    std::string memory = "host";
    std::uint32_t path_mtu = 4096;
    std::uint32_t workers = 0;  ///< 0: as many as cores allow, at most one a rank
    std::string idle = "auto";  ///< "auto", "spin", "yield", "wait"
    std::uint32_t send_depth = 128;
    std::uint32_t receive_depth = 512;
    std::uint32_t window_frames = 512;
    Nanoseconds timeout{std::chrono::milliseconds{1}};
    std::uint32_t retry_limit = 7;
    std::uint32_t dscp = 26;
    Nanoseconds step_latency{};          ///< alpha of ideal times; 0: not given
    BitsPerSecond line_rate{};           ///< of an emulated port, for ceilings; 0: unknown, ceilings are not given
    std::optional<std::string> capture;  ///< pcapng file for the frames of port `capture_port`
    std::uint32_t capture_port = 0;
};

struct PortSettings {
    std::string name;
    std::string device;   ///< "0000:3b:00.0", or a virtual device: "net_memif,...", "net_af_packet,iface=..."
    std::string address;  ///< "198.18.0.10/24"
    std::string mac;      ///< empty: the device's own, or a locally administered one
    std::uint32_t node = 0;
};

/// A fault to inject at one port of the embedded fabric.
struct FaultSettings {
    std::uint32_t port = 0;  ///< rank whose port it is; `all_ports` overrides
    bool all_ports = true;
    double drop = 0;  ///< probability for each frame, 0..1
    double duplicate = 0;
    double reorder = 0;
    double corrupt = 0;
    double ce_mark = 0;
    Nanoseconds delay{0};
    BitsPerSecond rate{};  ///< 0: not slowed
};

using KeyValues = std::vector<std::pair<std::string, std::string>>;

struct Profile {
    std::string path;  ///< as given by the user, or "catalog:NAME"
    std::string text;  ///< as read, byte for byte
    RunSettings run;
    ClusterSettings cluster;
    std::vector<JobSettings> jobs;
    std::size_t flows = 0;     ///< [[flow]] tables: valid, not replayed by this version
    std::size_t criteria = 0;  ///< [[criterion]] tables: valid, not judged by this version
    LibrarySettings library;
    TransportSettings transport;
    std::vector<PortSettings> ports;
    std::vector<FaultSettings> faults;
    KeyValues dut;       ///< [dut]: free keys, what was set on the device under test
    KeyValues resolved;  ///< every key of the schema with its value in force, "run.seed" = "1", in schema order
};

}  // namespace gradstorm::profiles
