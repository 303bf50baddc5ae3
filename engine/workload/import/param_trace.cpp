// SPDX-License-Identifier: Apache-2.0
#include "engine/workload/import/param_trace.h"

#include "engine/workload/call_builder.h"
#include "engine/workload/import/param_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

namespace gradstorm::workload {

namespace {

using measure::CollectiveKind;
using nlohmann::json;

/// The versions that exist, by PARAM's own reader. The attributes of communication came with 1.1.0.
constexpr std::array<std::string_view, 6> kSchemas{"1.0.1",
                                                   "1.0.2-chakra.0.0.4",
                                                   "1.0.3-chakra.0.0.4",
                                                   "1.0.4-chakra.0.0.4",
                                                   "1.1.0-chakra.0.0.4",
                                                   "1.1.1-chakra.0.0.4"};

constexpr std::string_view kCommunication = "record_param_comms";
constexpr std::string_view kGroups = "## process_group:init ##";
constexpr std::string_view kStep = "ProfilerStep";

/// Sizes of groups beyond this are taken for damage.

/// A mistake in the trace, without the path.
tl::unexpected<Error> mistake(std::string message) { return failure(ErrorCode::invalid_input, std::move(message)); }

const json* member(const json& object, std::string_view key) {
    if (!object.is_object()) return nullptr;
    const auto found = object.find(key);
    return found == object.end() ? nullptr : &*found;
}

std::string text_of(const json* value) {
    return value != nullptr && value->is_string() ? value->get<std::string>() : std::string{};
}

std::optional<std::uint64_t> count_of(const json* value) {
    if (value == nullptr || !value->is_number_integer()) return std::nullopt;
    if (!value->is_number_unsigned() && value->get<std::int64_t>() < 0) return std::nullopt;
    return value->get<std::uint64_t>();
}

/// A name that some writers print as a number.
std::string name_of(const json* value) {
    if (const auto number = count_of(value)) return fmt::format("{}", *number);
    return text_of(value);
}

/// Drops every node that says nothing about communication while the text is read: a trace holds hundreds of thousands.
json parse_relevant(std::string_view text, std::uint64_t& nodes) {
    constexpr int kDepthOfNode = 2;  // nodes are in an array in the outermost object
    const auto keep = [&nodes](int depth, json::parse_event_t event, json& value) {
        if (event != json::parse_event_t::object_end || depth != kDepthOfNode) return true;
        ++nodes;
        const std::string name = text_of(member(value, "name"));
        return name == kCommunication || name == kGroups || name.starts_with(kStep);
    };
    return json::parse(text.begin(), text.end(), keep);
}

/// "syntax error ..." of the library's message, and where it is.
std::string syntax_mistake(const std::string& path, std::string_view text, const json::parse_error& error) {
    const std::size_t end = std::min(text.size(), error.byte == 0 ? 0 : error.byte - 1);
    const std::string_view before = text.substr(0, end);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t newline = before.rfind('\n');
    const std::size_t column = newline == std::string_view::npos ? end + 1 : end - newline;
    return fmt::format("{}:{}:{}: no JSON, the file is cut or no trace", path, line, column);
}

class Reader {
public:
    explicit Reader(RecordedTrace& trace) : trace_(trace) {}

    Result<void> read(const json& nodes) {
        for (const json& node : nodes) {
            const std::string name = text_of(member(node, "name"));
            if (name == kCommunication) continue;  // groups first, wherever they stand
            auto fine = name == kGroups ? read_groups(node) : read_step(node);
            if (!fine) return fine;
        }
        for (const json& node : nodes) {
            if (text_of(member(node, "name")) != kCommunication) continue;
            if (auto fine = read_call(node); !fine) return fine;
        }
        std::sort(trace_.step_nodes.begin(), trace_.step_nodes.end());
        std::stable_sort(trace_.calls.begin(), trace_.calls.end(),
                         [](const TraceCall& a, const TraceCall& b) { return a.node < b.node; });
        warn();
        return {};
    }

private:
    static Result<std::uint64_t> id_of(const json& node) {
        const auto id = count_of(member(node, "id"));
        if (!id) return mistake(fmt::format("a node \"{}\" has no id", text_of(member(node, "name"))));
        return *id;
    }

    /// The recorded arguments of a node: under inputs.values, or, in the oldest schema, under inputs.
    static const json* values_of(const json& node) {
        const json* inputs = member(node, "inputs");
        if (inputs != nullptr && inputs->is_object()) inputs = member(*inputs, "values");
        return inputs != nullptr && inputs->is_array() ? inputs : nullptr;
    }

    static const json* attribute(const json& node, std::string_view name) {
        const json* attributes = member(node, "attrs");
        if (attributes == nullptr || !attributes->is_array()) return nullptr;
        for (const json& candidate : *attributes) {
            if (text_of(member(candidate, "name")) == name) return member(candidate, "value");
        }
        return nullptr;
    }

    Result<void> read_step(const json& node) {
        auto id = id_of(node);
        if (!id) return tl::unexpected(id.error());
        trace_.step_nodes.push_back(*id);
        return {};
    }

    /// The list of process groups is JSON in a string argument.
    Result<void> read_groups(const json& node) {
        const auto id = id_of(node);
        if (!id) return tl::unexpected(id.error());
        const json* values = values_of(node);
        const std::string list = values != nullptr && !values->empty() ? text_of(&values->front()) : std::string{};
        const json groups = json::parse(list, nullptr, false);
        if (!groups.is_array())
            return mistake(fmt::format("node {}: its list of process groups is no JSON array", *id));
        for (const json& group : groups) {
            if (auto fine = add_group(*id, group); !fine) return fine;
        }
        return {};
    }

    Result<void> add_group(std::uint64_t node, const json& group) {
        const std::string name = name_of(member(group, "pg_name"));
        const json* ranks = member(group, "ranks");
        if (name.empty() || ranks == nullptr || !ranks->is_array()) {
            return mistake(fmt::format("node {}: a process group without pg_name or ranks", node));
        }
        std::vector<std::uint32_t> members;
        for (const json& rank : *ranks) {
            const auto number = count_of(&rank);
            if (!number || *number >= kMostRanks) {
                return mistake(fmt::format("node {}: process group {}: {} is no rank", node, name,
                                           rank.is_number() ? rank.dump() : rank.type_name()));
            }
            members.push_back(static_cast<std::uint32_t>(*number));
        }
        if (members.empty()) {  // means: all ranks
            const auto size = count_of(member(group, "group_size"));
            if (!size || *size == 0 || *size > kMostRanks) {
                return mistake(fmt::format("node {}: process group {} has neither ranks nor a group_size", node, name));
            }
            members.resize(*size);
            std::iota(members.begin(), members.end(), 0U);
        }
        define_group(name, std::move(members));
        return {};
    }

    std::size_t define_group(const std::string& name, std::vector<std::uint32_t> members) {
        const std::uint32_t last = *std::max_element(members.begin(), members.end());
        trace_.ranks = std::max(trace_.ranks, last + 1);
        const auto [place, is_new] = group_index_.emplace(name, trace_.groups.size());
        if (is_new) {
            trace_.groups.push_back({name, std::move(members)});
        } else {
            trace_.groups[place->second].ranks = std::move(members);
        }
        return place->second;
    }

    Result<std::uint64_t> required_count(std::uint64_t id, const json& node, std::string_view name) const {
        const auto value = count_of(attribute(node, name));
        if (!value) return missing(id, name);
        return *value;
    }

    [[nodiscard]] tl::unexpected<Error> missing(std::uint64_t id, std::string_view name) const {
        return mistake(
            fmt::format("node {}: {} without a valid attribute {} (schema {}), record the trace with a newer "
                        "PyTorch",
                        id, kCommunication, name, trace_.schema));
    }

    Result<void> read_call(const json& node) {
        const auto id = id_of(node);
        if (!id) return tl::unexpected(id.error());
        const std::string name = text_of(attribute(node, "collective_name"));
        if (name.empty()) return missing(*id, "collective_name");
        if (std::find(kNoTraffic.begin(), kNoTraffic.end(), name) != kNoTraffic.end()) return {};
        const auto known = std::find_if(kCollectives.begin(), kCollectives.end(),
                                        [&](const KnownCollective& collective) { return collective.name == name; });
        if (known == kCollectives.end()) {
            return failure(ErrorCode::unsupported,
                           fmt::format("node {}: collective \"{}\" cannot be replayed by this version", *id, name));
        }
        TraceCall call;
        call.node = *id;
        call.kind = known->kind;
        if (auto fine = read_group(node, call); !fine) return fine;
        const std::size_t group_size = trace_.groups[call.group].ranks.size();
        if (group_size < 2) {
            ++lonely_;
            return {};
        }
        if (auto fine = read_size(node, *known, call); !fine) return fine;
        if (call.kind == CollectiveKind::broadcast) {
            if (auto fine = read_root(node, name, call); !fine) return fine;
        }
        if (has_uneven_splits(node, group_size)) ++uneven_;
        trace_.calls.push_back(call);
        return {};
    }

    Result<void> read_size(const json& node, const KnownCollective& known, TraceCall& call) {
        const std::string type_name = text_of(attribute(node, "dtype"));
        if (type_name.empty()) return missing(call.node, "dtype");
        const auto type =
            std::find_if(kTypes.begin(), kTypes.end(), [&](const KnownType& t) { return t.name == type_name; });
        if (type == kTypes.end()) {
            return failure(
                ErrorCode::unsupported,
                fmt::format("node {}: element type \"{}\" cannot be replayed by this version", call.node, type_name));
        }
        const auto input = required_count(call.node, node, "in_msg_nelems");
        const auto output = required_count(call.node, node, "out_msg_nelems");
        if (!input) return tl::unexpected(input.error());
        if (!output) return tl::unexpected(output.error());
        const std::uint64_t elements = known.size == SizeOf::input ? *input : *output;
        const std::uint64_t element = measure::size_of(type->type);
        if (elements > std::numeric_limits<std::uint64_t>::max() / element) {
            return mistake(
                fmt::format("node {}: {} elements of {}: more bytes than 2^64", call.node, elements, type_name));
        }
        call.type = type->type;
        call.bytes = Bytes{elements * element};
        return {};
    }

    /// By the list of process groups; a group that is not in it by its first rank and stride.
    Result<void> read_group(const json& node, TraceCall& call) {
        const std::string name = name_of(attribute(node, "pg_name"));
        if (name.empty()) return missing(call.node, "pg_name");
        const auto size = required_count(call.node, node, "pg_size");
        if (!size) return tl::unexpected(size.error());
        if (const auto found = group_index_.find(name); found != group_index_.end()) {
            call.group = found->second;
            const std::size_t members = trace_.groups[call.group].ranks.size();
            if (members == *size) return {};
            return mistake(
                fmt::format("node {}: pg_size {}, but process group {} has {} ranks", call.node, *size, name, members));
        }
        const auto start = count_of(attribute(node, "global_rank_start"));
        const auto stride = count_of(attribute(node, "global_rank_stride"));
        if (!start || !stride || *stride == 0 || *size == 0 || *size > kMostRanks || *start >= kMostRanks ||
            *stride > kMostRanks || *start + *stride * (*size - 1) >= kMostRanks) {
            return mistake(
                fmt::format("node {}: the ranks of process group {} are nowhere in the trace", call.node, name));
        }
        std::vector<std::uint32_t> members(*size);
        for (std::uint64_t i = 0; i < *size; ++i) members[i] = static_cast<std::uint32_t>(*start + i * *stride);
        call.group = define_group(name, std::move(members));
        return {};
    }

    /// The root is the argument in front of the collective's name; it is a rank of the group.
    Result<void> read_root(const json& node, const std::string& name, TraceCall& call) {
        const json* values = values_of(node);
        if (values == nullptr) {
            ++rootless_;
            return {};
        }
        const auto at = std::find_if(values->begin(), values->end(), [&](const json& value) {
            return value.is_string() && value.get_ref<const std::string&>() == name;
        });
        const auto root = at == values->begin() || at == values->end() ? std::nullopt : count_of(&*(at - 1));
        if (!root) {
            ++rootless_;
            return {};
        }
        const std::size_t size = trace_.groups[call.group].ranks.size();
        if (*root >= size) {
            return mistake(fmt::format("node {}: root {} of a group of {} ranks", call.node, *root, size));
        }
        call.root = static_cast<std::uint32_t>(*root);
        return {};
    }

    /// Split sizes are recorded as text: "[]" for even ones, else "[3, 5]".
    static bool has_uneven_splits(const json& node, std::size_t group_size) {
        for (const std::string_view attribute_name : {"in_split_size", "out_split_size"}) {
            const json splits = json::parse(text_of(attribute(node, attribute_name)), nullptr, false);
            if (!splits.is_array() || splits.empty()) continue;
            const bool even = std::all_of(splits.begin(), splits.end(),
                                          [&](const json& s) { return s.is_number() && s == splits[0]; });
            if (!even || splits.size() != group_size) return true;
        }
        return false;
    }

    void warn() {
        if (lonely_ > 0) {
            trace_.warnings.push_back(
                fmt::format("{} calls on groups of one rank move nothing and are left out", lonely_));
        }
        if (uneven_ > 0) {
            trace_.warnings.push_back(
                fmt::format("{} calls have uneven split sizes, which are replayed as even ones", uneven_));
        }
        if (rootless_ > 0) {
            trace_.warnings.push_back(
                fmt::format("{} broadcasts do not name their root, rank 0 of their group is taken", rootless_));
        }
    }

    RecordedTrace& trace_;
    std::map<std::string, std::size_t> group_index_;
    std::uint64_t lonely_ = 0;
    std::uint64_t uneven_ = 0;
    std::uint64_t rootless_ = 0;
};

/// Names in messages come from the file: a message stays one line whatever they hold.
std::string one_line(std::string message) {
    for (char& c : message) {
        if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
    }
    return message;
}

Result<RecordedTrace> read(const json& document, std::uint64_t nodes) {
    RecordedTrace trace;
    trace.nodes = nodes;
    trace.schema = text_of(member(document, "schema"));
    if (trace.schema.empty()) {
        return mistake("no schema version in the outermost object, this is no PyTorch execution trace");
    }
    if (std::find(kSchemas.begin(), kSchemas.end(), trace.schema) == kSchemas.end()) {
        return failure(ErrorCode::unsupported,
                       fmt::format("schema \"{}\" is unknown, known are {}", trace.schema, fmt::join(kSchemas, ", ")));
    }
    const json* list = member(document, "nodes");
    if (list == nullptr || !list->is_array()) return mistake("no array \"nodes\" in the outermost object");
    if (auto fine = Reader(trace).read(*list); !fine) return tl::unexpected(fine.error());
    return trace;
}

}  // namespace

Result<RecordedTrace> read_param_trace(const std::string& path, std::string_view text) {
    try {
        std::uint64_t nodes = 0;
        const json document = parse_relevant(text, nodes);
        auto trace = read(document, nodes);
        if (!trace) return failure(trace.error().code, fmt::format("{}: {}", path, one_line(trace.error().message)));
        return trace;
    } catch (const json::parse_error& error) {
        return failure(ErrorCode::invalid_input, syntax_mistake(path, text, error));
    } catch (const json::exception& error) {
        return failure(ErrorCode::invalid_input, fmt::format("{}: {}", path, one_line(error.what())));
    }
}

}  // namespace gradstorm::workload
