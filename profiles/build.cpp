// SPDX-License-Identifier: Apache-2.0
#include "profiles/build.h"

#include "profiles/consistency.h"

#include <fmt/format.h>

namespace gradstorm::profiles {
namespace {

/// The schema's range of the key keeps the value below 2^32.
std::uint32_t count(const Section& section, std::string_view key) {
    return static_cast<std::uint32_t>(section.number(key));
}

Bytes bytes(const Section& section, std::string_view key) { return {section.number(key)}; }

Nanoseconds duration(const Section& section, std::string_view key) {
    return Nanoseconds{static_cast<Nanoseconds::rep>(section.number(key))};
}

BitsPerSecond rate(const Section& section, std::string_view key) { return {static_cast<double>(section.number(key))}; }

double share(const Section& section, std::string_view key) {
    return static_cast<double>(section.number(key)) / static_cast<double>(kPartsPerBillion);
}

RunSettings build_run(const Section& run) {
    return {.seed = run.number("seed"),
            .repetitions = count(run, "repetitions"),
            .warmup = count(run, "warmup"),
            .iterations = count(run, "iterations"),
            .stall_timeout = duration(run, "stall_timeout"),
            .check = run.text("check")};
}

ClusterSettings build_cluster(const Section& cluster) {
    return {.nodes = count(cluster, "nodes"),
            .gpus_per_node = count(cluster, "gpus_per_node"),
            .rails = count(cluster, "rails"),
            .nvlink_domain = count(cluster, "nvlink_domain")};
}

CallSettings build_call(const Section& call) {
    CallSettings settings;
    settings.op = call.text("op");
    settings.dtype = call.text("dtype");
    settings.root = count(call, "root");
    settings.gap = duration(call, "gap");
    if (call.holds("elements")) {
        settings.elements = call.number("elements");
    }
    if (call.holds("bytes")) {
        settings.bytes = bytes(call, "bytes");
    }
    for (const Section& sweep : call.branch("sweep").sections) {
        settings.sweep = SizeSweep{bytes(sweep, "from"), bytes(sweep, "to"), count(sweep, "factor")};
    }
    for (const std::uint64_t rank : call.get<Integers>("group")) {
        settings.group.push_back(static_cast<std::uint32_t>(rank));
    }
    if (call.holds("from")) {
        settings.from = count(call, "from");
    }
    if (call.holds("to")) {
        settings.to = count(call, "to");
    }
    return settings;
}

JobSettings build_job(const Section& job) {
    JobSettings settings;
    settings.name = job.text("name");
    settings.dtype = job.text("dtype");
    settings.overlap = job.get<bool>("overlap");
    settings.model = job.text("model");
    for (const Section& call : job.branch("calls").sections) {
        settings.calls.push_back(build_call(call));
    }
    return settings;
}

LibrarySettings build_library(const Section& library) {
    return {.name = library.text("name"),
            .algorithm = library.text("algorithm"),
            .protocol = library.text("protocol"),
            .channels = count(library, "channels"),
            .chunk = bytes(library, "chunk"),
            .fidelity = library.text("fidelity"),
            .slots = count(library, "slots")};
}

TransportSettings build_transport(const Section& transport) {
    TransportSettings settings{.engine = transport.text("engine"),
                               .fabric = transport.text("fabric"),
                               .payload = transport.text("payload"),
                               .memory = transport.text("memory"),
                               .path_mtu = count(transport, "path_mtu"),
                               .workers = count(transport, "workers"),
                               .idle = transport.text("idle"),
                               .send_depth = count(transport, "send_depth"),
                               .receive_depth = count(transport, "receive_depth"),
                               .window_frames = count(transport, "window_frames"),
                               .timeout = duration(transport, "timeout"),
                               .retry_limit = count(transport, "retry_limit"),
                               .dscp = count(transport, "dscp"),
                               .step_latency = duration(transport, "step_latency"),
                               .line_rate = rate(transport, "line_rate"),
                               .capture = {},
                               .capture_port = count(transport, "capture_port")};
    if (transport.holds("capture")) {
        settings.capture = transport.text("capture");
    }
    return settings;
}

PortSettings build_port(const Section& port) {
    return {.name = port.text("name"),
            .device = port.text("device"),
            .address = port.text("address"),
            .mac = port.text("mac"),
            .node = count(port, "node")};
}

FaultSettings build_fault(const Section& fault) {
    return {.port = count(fault, "port"),
            .all_ports = fault.get<bool>("all_ports"),
            .drop = share(fault, "drop"),
            .duplicate = share(fault, "duplicate"),
            .reorder = share(fault, "reorder"),
            .corrupt = share(fault, "corrupt"),
            .ce_mark = share(fault, "ce_mark"),
            .delay = duration(fault, "delay"),
            .rate = rate(fault, "rate")};
}

void resolve(const Section& section, const std::string& prefix, KeyValues& resolved) {
    for (const Setting& setting : section.settings()) {
        resolved.emplace_back(prefix + std::string{setting.key->name}, to_text(setting));
    }
    for (const Branch& branch : section.branches()) {
        for (const Section& nested : branch.sections) {
            resolve(nested, nested.path() + ".", resolved);
        }
    }
}

}  // namespace

void settle_defaults(Section& root) {
    for (Section& transport : root.branch("transport").sections) {
        const bool ports = root.branch("port").given || transport.text("engine") == "verbs";
        if (!transport.holds("fabric")) {
            transport.settle("fabric", ports ? "ports" : "embedded");
        }
    }
    for (Section& fault : root.branch("fault").sections) {
        if (!fault.holds("all_ports")) {
            fault.settle("all_ports", !fault.given("port"));
        }
    }
    for (Section& job : root.branch("job").sections) {
        for (Section& call : job.branch("calls").sections) {
            // A job whose dtype was refused must not make its calls be judged by the default.
            if (!call.holds("dtype") && job.sound("dtype")) {
                call.settle("dtype", job.text("dtype"));
            }
        }
    }
}

Profile build_profile(const Section& root) {
    Profile profile;
    profile.run = build_run(only(root, "run"));
    profile.cluster = build_cluster(only(root, "cluster"));
    for (const Section& job : root.branch("job").sections) {
        profile.jobs.push_back(build_job(job));
    }
    profile.flows = root.branch("flow").sections.size();
    profile.criteria = root.branch("criterion").sections.size();
    profile.library = build_library(only(root, "library"));
    profile.transport = build_transport(only(root, "transport"));
    for (const Section& port : root.branch("port").sections) {
        profile.ports.push_back(build_port(port));
    }
    for (const Section& fault : root.branch("fault").sections) {
        profile.faults.push_back(build_fault(fault));
    }
    profile.dut = root.free_keys();
    resolve(root, "", profile.resolved);
    return profile;
}

}  // namespace gradstorm::profiles
