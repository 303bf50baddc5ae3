// SPDX-License-Identifier: Apache-2.0
#include "profiles/schema.h"

#include "profiles/parse.h"
#include "tests/unit/profiles/files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <set>

namespace gradstorm::profiles::schema {
namespace {

TEST(Schema, KeysOfATableStandTogetherAndDiffer) {
    std::set<std::string> seen;
    std::set<std::string_view> closed;
    std::string_view open;
    for (const Key& key : keys()) {
        EXPECT_TRUE(seen.insert(table_of(key)).second) << table_of(key);
        if (key.table != open) {
            EXPECT_TRUE(closed.insert(open).second || open.empty());
            EXPECT_EQ(closed.count(key.table), 0U) << key.table;
            open = key.table;
        }
        EXPECT_FALSE(key.help.empty()) << table_of(key);
        EXPECT_NE(key.help.back(), '.') << table_of(key);
        EXPECT_LE(key.min, key.max) << table_of(key);
        EXPECT_FALSE(key.required && !key.fallback.empty()) << table_of(key);
    }
}

TEST(Schema, EveryTableIsReachedFromTheTop) {
    for (const Key& key : keys()) {
        if (key.table.empty()) {
            continue;
        }
        const std::size_t dot = key.table.rfind('.');
        const Key* parent = dot == std::string_view::npos ? find("", key.table)
                                                          : find(key.table.substr(0, dot), key.table.substr(dot + 1));
        ASSERT_NE(parent, nullptr) << key.table;
        EXPECT_TRUE(parent->type == Type::table || parent->type == Type::tables);
    }
}

TEST(Schema, JsonHoldsEveryKey) {
    const auto json = nlohmann::json::parse(schema_json());
    EXPECT_EQ(json.at("format"), kFormat);
    std::size_t count = 0;
    for (const auto& table : json.at("tables")) {
        for (const auto& key : table.at("keys")) {
            EXPECT_NE(find(table.at("table").get<std::string>(), key.at("name").get<std::string>()), nullptr);
            ++count;
        }
    }
    EXPECT_EQ(count, keys().size());
}

TEST(Schema, ReferencePageIsWhatTheTableSays) {
    const std::string path = GRADSTORM_TEST_DATA "/../../docs/profile-reference.md";
    if (std::getenv("GRADSTORM_REGENERATE") != nullptr) {
        std::ofstream(path, std::ios::binary) << reference_markdown();
    }
    EXPECT_EQ(text_of_file(path), reference_markdown())
        << "run this test once with GRADSTORM_REGENERATE=1 and commit docs/profile-reference.md";
}

std::string profile_with(const Key& key, const std::string& value) {
    return fmt::format("format = 1\n[{}]\n{} = {}\n", key.table, key.name, value);
}

bool names_the_key(const tl::expected<Profile, Diagnostics>& profile, const Key& key, std::uint32_t line) {
    if (profile) {
        return false;
    }
    for (const Diagnostic& mistake : profile.error()) {
        if (mistake.line == line && mistake.message.find(fmt::format("'{}' ", key.name)) == 0) {
            return true;
        }
    }
    return false;
}

/// Every integer of the single tables with 0, 1, max, max+1, 2^63-1, negative and empty: inside the range it is never
/// refused for its range, outside it is refused at its place.
TEST(Schema, EveryIntegerKeepsItsRange) {
    ParseOptions options;
    options.needs_traffic = false;
    std::size_t tested = 0;
    for (const Key& key : keys()) {
        const bool single = find("", key.table) != nullptr && find("", key.table)->type == Type::table;
        if (key.type != Type::integer || !single || !key.choices.empty()) {
            continue;
        }
        ++tested;
        for (const std::uint64_t value :
             {std::uint64_t{0}, std::uint64_t{1}, key.min, key.max, std::min(key.max + 1, kNoLimit), kNoLimit}) {
            const auto profile = parse_profile("p", profile_with(key, fmt::format("{}", value)), options);
            const std::string refusal =
                fmt::format("'{}' must be from {} to {}, not {}", key.name, key.min, key.max, value);
            const std::string text = profile ? "" : to_string(profile.error());
            const bool inside = value >= key.min && value <= key.max;
            EXPECT_EQ(text.find("p:3:") != std::string::npos && text.find(refusal) != std::string::npos, !inside)
                << table_of(key) << " = " << value << ": " << text;
        }
        for (const char* value : {"-1", "-9223372036854775808", "\"\"", "1.5", "true", "[]", "{}", "1979-05-27"}) {
            EXPECT_TRUE(names_the_key(parse_profile("p", profile_with(key, value), options), key, 3))
                << table_of(key) << " = " << value;
        }
        EXPECT_FALSE(parse_profile("p", profile_with(key, ""), options));
    }
    EXPECT_GE(tested, 15U);
}

/// The defaults of the struct and those of the table are the same.
TEST(Schema, DefaultsAreThoseOfTheStruct) {
    ParseOptions options;
    options.needs_traffic = false;
    const auto profile = parse_profile("p", "format = 1\n[[fault]]\ndrop = \"0%\"\n", options);
    ASSERT_TRUE(profile) << to_string(profile.error());
    const RunSettings run;
    EXPECT_EQ(profile->run.seed, run.seed);
    EXPECT_EQ(profile->run.repetitions, run.repetitions);
    EXPECT_EQ(profile->run.warmup, run.warmup);
    EXPECT_EQ(profile->run.iterations, run.iterations);
    EXPECT_EQ(profile->run.stall_timeout, run.stall_timeout);
    EXPECT_EQ(profile->run.check, run.check);
    const ClusterSettings cluster;
    EXPECT_EQ(profile->cluster.nodes, cluster.nodes);
    EXPECT_EQ(profile->cluster.gpus_per_node, cluster.gpus_per_node);
    EXPECT_EQ(profile->cluster.rails, cluster.rails);
    EXPECT_EQ(profile->cluster.nvlink_domain, cluster.nvlink_domain);
    const LibrarySettings library;
    EXPECT_EQ(profile->library.algorithm, library.algorithm);
    EXPECT_EQ(profile->library.protocol, library.protocol);
    EXPECT_EQ(profile->library.channels, library.channels);
    EXPECT_EQ(profile->library.chunk, library.chunk);
    EXPECT_EQ(profile->library.fidelity, library.fidelity);
    EXPECT_EQ(profile->library.slots, library.slots);
    const TransportSettings transport;
    EXPECT_EQ(profile->transport.engine, transport.engine);
    EXPECT_EQ(profile->transport.fabric, transport.fabric);
    EXPECT_EQ(profile->transport.payload, transport.payload);
    EXPECT_EQ(profile->transport.memory, transport.memory);
    EXPECT_EQ(profile->transport.path_mtu, transport.path_mtu);
    EXPECT_EQ(profile->transport.workers, transport.workers);
    EXPECT_EQ(profile->transport.idle, transport.idle);
    EXPECT_EQ(profile->transport.send_depth, transport.send_depth);
    EXPECT_EQ(profile->transport.receive_depth, transport.receive_depth);
    EXPECT_EQ(profile->transport.window_frames, transport.window_frames);
    EXPECT_EQ(profile->transport.timeout, transport.timeout);
    EXPECT_EQ(profile->transport.retry_limit, transport.retry_limit);
    EXPECT_EQ(profile->transport.dscp, transport.dscp);
    EXPECT_EQ(profile->transport.line_rate, transport.line_rate);
    EXPECT_EQ(profile->transport.capture, transport.capture);
    EXPECT_EQ(profile->transport.capture_port, transport.capture_port);
    EXPECT_TRUE(profile->faults.at(0).all_ports);
    EXPECT_EQ(profile->faults.at(0).rate, FaultSettings{}.rate);
}

}  // namespace
}  // namespace gradstorm::profiles::schema
