// SPDX-License-Identifier: Apache-2.0
#include "profiles/consistency.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace gradstorm::profiles {

const Section& only(const Section& root, std::string_view table) {
    static const Section none{"", {}};
    const auto& sections = root.branch(table).sections;
    return sections.empty() ? none : sections.front();
}

void report(const Section& section, std::string_view key, std::string message, Diagnostics& mistakes) {
    mistakes.push_back(mistake_at(section.setting(key).place, std::move(message)));
}

std::optional<std::uint64_t> sound_ranks(const Section& root) {
    const Section& cluster = only(root, "cluster");
    if (root.branch("cluster").faulty || !cluster.sound("nodes") || !cluster.sound("gpus_per_node")) {
        return std::nullopt;
    }
    return cluster.number("nodes") * cluster.number("gpus_per_node");
}

void check_names_differ(const Section& root, std::string_view table, Diagnostics& mistakes) {
    std::set<std::string> seen;
    for (const Section& section : root.branch(table).sections) {
        const std::string name = section.text("name");
        if (!name.empty() && !seen.insert(name).second) {
            report(section, "name", fmt::format("another [[{}]] has the name '{}'", table, name), mistakes);
        }
    }
}

void check_cluster(const Section& root, Diagnostics& mistakes) {
    const Section& cluster = only(root, "cluster");
    const auto ranks = sound_ranks(root);
    if (!ranks) {
        return;
    }
    if (*ranks < 2 && root.branch("flow").sections.empty()) {
        report(cluster, cluster.given("nodes") ? "nodes" : "gpus_per_node",
               fmt::format("nodes x gpus_per_node is {}: a collective needs at least 2 ranks", *ranks), mistakes);
    }
    if (cluster.sound("rails") && cluster.number("gpus_per_node") % cluster.number("rails") != 0) {
        report(cluster, "rails",
               fmt::format("{} gpus_per_node cannot be spread evenly over {} rails", cluster.number("gpus_per_node"),
                           cluster.number("rails")),
               mistakes);
    }
    if (cluster.sound("nvlink_domain") && cluster.number("nvlink_domain") > *ranks) {
        report(cluster, "nvlink_domain", fmt::format("'nvlink_domain' must not exceed the {} ranks", *ranks), mistakes);
    }
}

void check_transport(const Section& root, Diagnostics& mistakes) {
    const Section& transport = only(root, "transport");
    const auto ranks = sound_ranks(root);
    const bool verbs = transport.text("engine") == "verbs";
    const bool embedded = transport.text("fabric") == "embedded";
    const auto complain = [&](std::string_view key, std::string message) {
        report(transport, key, std::move(message), mistakes);
    };
    if (verbs && transport.given("fabric") && embedded) {
        complain("fabric", "the embedded fabric needs engine 'dpdk': verbs drives real HCAs");
    } else if (transport.given("fabric") && embedded && root.branch("port").given) {
        complain("fabric", "the embedded fabric uses no [[port]]; remove them, or set fabric to 'ports'");
    } else if (transport.given("fabric") && transport.sound("fabric") && !embedded && !verbs &&
               !root.branch("port").given) {
        complain("fabric", "fabric 'ports' needs at least one [[port]], here or in a file given by --testbed");
    }
    if (verbs && transport.sound("retry_limit") && transport.number("retry_limit") > 7) {
        complain("retry_limit", "HCAs retry at most 7 times: their counter has 3 bits");
    }
    if (transport.given("gpudirect") && transport.sound("memory") && transport.text("memory") != "cuda") {
        complain("gpudirect", "'gpudirect' has a meaning with memory 'cuda' only");
    }
    if (verbs && transport.given("capture")) {
        complain("capture", "frames of real HCAs cannot be captured; engine 'dpdk' can");
    }
    if (transport.given("capture_port") && !transport.given("capture")) {
        complain("capture_port", "'capture_port' has no meaning without 'capture'");
    }
    if (!ranks) {
        return;
    }
    if (transport.given("capture_port") && transport.number("capture_port") >= *ranks) {
        complain("capture_port", fmt::format("'capture_port' must be below {}, the number of ranks, not {}", *ranks,
                                             transport.number("capture_port")));
    }
    if (transport.given("workers") && transport.number("workers") > *ranks) {
        complain("workers",
                 fmt::format("{} workers for {} ranks: at most one a rank", transport.number("workers"), *ranks));
    }
}

void check_faults(const Section& root, Diagnostics& mistakes) {
    const Section& transport = only(root, "transport");
    const auto ranks = sound_ranks(root);
    const bool judged = transport.sound("fabric") && transport.sound("engine");
    const bool embedded = transport.text("fabric") == "embedded" && transport.text("engine") != "verbs";
    for (const Section& fault : root.branch("fault").sections) {
        if (judged && !embedded) {
            mistakes.push_back(mistake_at(fault.place(),
                                          "faults can be injected into the embedded fabric only, not with "
                                          "fabric 'ports' or engine 'verbs'"));
        }
        if (fault.given("all_ports") && fault.sound("all_ports")) {
            if (fault.get<bool>("all_ports") && fault.given("port")) {
                report(fault, "all_ports", "'all_ports' and 'port' exclude each other", mistakes);
            } else if (!fault.get<bool>("all_ports") && !fault.given("port")) {
                report(fault, "all_ports", "without 'all_ports', 'port' must name a rank", mistakes);
            }
        }
        if (ranks && fault.given("port") && fault.number("port") >= *ranks) {
            report(fault, "port",
                   fmt::format("'port' must be below {}, the number of ranks, not {}", *ranks, fault.number("port")),
                   mistakes);
        }
        constexpr std::array<std::string_view, 7> kEffects{"drop",    "duplicate", "reorder", "corrupt",
                                                           "ce_mark", "delay",     "rate"};
        const bool acts =
            std::any_of(kEffects.begin(), kEffects.end(), [&](std::string_view effect) { return fault.given(effect); });
        if (!acts) {
            mistakes.push_back(mistake_at(fault.place(), fmt::format("{} does nothing: give at least one of {}",
                                                                     fault.path(), fmt::join(kEffects, ", "))));
        }
    }
}

}  // namespace gradstorm::profiles
