// SPDX-License-Identifier: Apache-2.0
#include "profiles/consistency.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

namespace gradstorm::profiles {
namespace {

using Names = std::set<std::string, std::less<>>;

Names names_of(const Section& root, std::string_view table) {
    Names names;
    for (const Section& section : root.branch(table).sections) {
        names.insert(section.text("name"));
    }
    return names;
}

std::string unknown_name(std::string_view what, const std::string& name, const Names& known) {
    const std::vector<std::string_view> candidates(known.begin(), known.end());
    const auto nearest = nearest_name(name, candidates);
    const std::string hint = nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
    return fmt::format("there is no [[{}]] named '{}'{}", what, name, hint);
}

/// "198.18.0.10/24" or "fd00::1/64".
bool is_address_with_prefix(const std::string& text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string::npos) {
        return false;
    }
    const std::string address = text.substr(0, slash);
    unsigned prefix = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + slash + 1, end, prefix);
    if (error != std::errc{} || stop != end) {
        return false;
    }
    std::array<unsigned char, 16> bytes{};
    if (inet_pton(AF_INET, address.c_str(), bytes.data()) == 1) {
        return prefix <= 32;
    }
    return inet_pton(AF_INET6, address.c_str(), bytes.data()) == 1 && prefix <= 128;
}

/// "02:00:00:00:00:01", of one station: the lowest bit of the first byte marks groups.
bool is_station_mac(std::string_view text) {
    if (text.size() != 17) {
        return false;
    }
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool hex = std::string_view{"0123456789abcdefABCDEF"}.find(text[i]) != std::string_view::npos;
        if (i % 3 == 2 ? text[i] != ':' : !hex) {
            return false;
        }
    }
    return std::string_view{"02468aceACE"}.find(text[1]) != std::string_view::npos;
}

void check_flow(const Section& flow, const Names& ports, const Names& started, Diagnostics& mistakes) {
    const std::string to = flow.text("to");
    if (flow.given("to") && flow.sound("to") && ports.count(to) == 0) {
        report(flow, "to", unknown_name("port", to, ports), mistakes);
    }
    if (flow.given("from") && flow.sound("from")) {
        const auto senders = flow.get<Texts>("from");
        if (senders.empty()) {
            report(flow, "from", "'from' must name at least one [[port]]", mistakes);
        }
        for (const std::string& from : senders) {
            if (ports.count(from) == 0) {
                report(flow, "from", unknown_name("port", from, ports), mistakes);
            }
            if (from == to) {
                report(flow, "to", fmt::format("port '{}' cannot send to itself", to), mistakes);
            }
        }
    }
    const std::string name = flow.text("name");
    if (!name.empty() && started.count(name) == 0) {
        report(flow, "name", fmt::format("flow '{}' is in no [[phase]] and would never run", name), mistakes);
    }
}

void check_phase(const Section& phase, const Names& flows, const Names& earlier, Diagnostics& mistakes) {
    if (phase.given("flows") && phase.sound("flows")) {
        const auto started = phase.get<Texts>("flows");
        if (started.empty()) {
            report(phase, "flows", "'flows' must name at least one [[flow]]", mistakes);
        }
        for (const std::string& flow : started) {
            if (flows.count(flow) == 0) {
                report(phase, "flows", unknown_name("flow", flow, flows), mistakes);
            }
        }
    }
    if (phase.given("baseline") && phase.sound("baseline") && earlier.count(phase.text("baseline")) == 0) {
        report(phase, "baseline", fmt::format("no [[phase]] before this one has the name '{}'", phase.text("baseline")),
               mistakes);
    }
}

Dimension dimension_of_metric(std::string_view metric) {
    if (metric == "completion_time") {
        return Dimension::duration;
    }
    return metric == "goodput" || metric == "algbw" || metric == "busbw" ? Dimension::rate : Dimension::share;
}

void check_limits(const Section& criterion, Diagnostics& mistakes) {
    if (!criterion.given("min") && !criterion.given("max")) {
        mistakes.push_back(
            mistake_at(criterion.place(), fmt::format("{} limits nothing: give min or max", criterion.path())));
    }
    if (!criterion.given("metric") || !criterion.sound("metric")) {
        return;
    }
    const Dimension dimension = dimension_of_metric(criterion.text("metric"));
    std::array<std::optional<std::uint64_t>, 2> bounds;
    for (std::size_t i = 0; i < bounds.size(); ++i) {
        const std::string_view key = i == 0 ? "min" : "max";
        if (!criterion.given(key) || !criterion.sound(key)) {
            continue;
        }
        const auto bound = parse_quantity(criterion.text(key), dimension);
        if (bound) {
            bounds[i] = *bound;
        } else {
            report(criterion, key,
                   fmt::format("{} is a {}: write '{}' with {}", criterion.text("metric"), to_string(dimension), key,
                               unit_list(dimension)),
                   mistakes);
        }
    }
    if (bounds[0] && bounds[1] && *bounds[0] > *bounds[1]) {
        report(criterion, "max", "'max' is below 'min': nothing can pass", mistakes);
    }
}

}  // namespace

void check_ports(const Section& root, Diagnostics& mistakes) {
    check_names_differ(root, "port", mistakes);
    const Section& cluster = only(root, "cluster");
    Names addresses;
    for (const Section& port : root.branch("port").sections) {
        const std::string address = port.text("address");
        if (port.sound("address") && port.given("address")) {
            if (!is_address_with_prefix(address)) {
                report(port, "address",
                       fmt::format("'{}' is no IP address with prefix length, such as 198.18.0.10/24", address),
                       mistakes);
            } else if (!addresses.insert(address.substr(0, address.find('/'))).second) {
                report(port, "address", fmt::format("another [[port]] has the address {}", address), mistakes);
            }
        }
        if (port.given("mac") && port.sound("mac") && !is_station_mac(port.text("mac"))) {
            report(port, "mac",
                   fmt::format("'{}' is no MAC address of one station, such as 02:00:00:00:00:01", port.text("mac")),
                   mistakes);
        }
        if (port.given("node") && cluster.sound("nodes") && port.number("node") >= cluster.number("nodes")) {
            report(port, "node",
                   fmt::format("'node' must be below {}, the number of nodes, not {}", cluster.number("nodes"),
                               port.number("node")),
                   mistakes);
        }
    }
}

void check_flows(const Section& root, Diagnostics& mistakes) {
    check_names_differ(root, "flow", mistakes);
    check_names_differ(root, "phase", mistakes);
    const Names ports = names_of(root, "port");
    const Names flows = names_of(root, "flow");
    Names started;
    Names earlier;
    for (const Section& phase : root.branch("phase").sections) {
        check_phase(phase, flows, earlier, mistakes);
        earlier.insert(phase.text("name"));
        for (std::string& flow : phase.get<Texts>("flows")) {
            started.insert(std::move(flow));
        }
    }
    for (const Section& flow : root.branch("flow").sections) {
        check_flow(flow, ports, started, mistakes);
    }
}

void check_criteria(const Section& root, Diagnostics& mistakes) {
    const Names phases = names_of(root, "phase");
    for (const Section& criterion : root.branch("criterion").sections) {
        check_limits(criterion, mistakes);
        if (criterion.given("phase") && criterion.sound("phase") && phases.count(criterion.text("phase")) == 0) {
            report(criterion, "phase", unknown_name("phase", criterion.text("phase"), phases), mistakes);
        }
    }
}

}  // namespace gradstorm::profiles
