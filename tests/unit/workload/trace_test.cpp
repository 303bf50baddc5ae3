// SPDX-License-Identifier: Apache-2.0
#include "engine/workload/import/trace.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>
#include <zlib.h>

namespace gradstorm::workload {
namespace {

using measure::CollectiveKind;
using measure::DataType;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// --- traces made here

/// The JSON text of one `record_param_comms` node.
struct CallNode {
    std::uint64_t id = 0;
    std::string name = "allreduce";
    std::string dtype = "Float";
    std::uint64_t input = 100;
    std::uint64_t output = 100;
    std::string group = "0";
    std::uint64_t size = 2;
    std::string root = "0";
    std::string splits = "[]";
    std::string dropped = {};  ///< an attribute left out

    [[nodiscard]] std::string text() const {
        std::vector<std::string> attributes;
        const auto add = [&](const std::string& attribute, const std::string& value) {
            if (attribute != dropped)
                attributes.push_back(fmt::format(R"({{"name":"{}","value":{}}})", attribute, value));
        };
        add("collective_name", fmt::format("\"{}\"", name));
        add("dtype", fmt::format("\"{}\"", dtype));
        add("in_msg_nelems", fmt::format("{}", input));
        add("out_msg_nelems", fmt::format("{}", output));
        add("in_split_size", fmt::format("\"{}\"", splits));
        add("global_rank_start", "0");
        add("global_rank_stride", "1");
        add("pg_name", fmt::format("\"{}\"", group));
        add("pg_size", fmt::format("{}", size));
        return fmt::format(
            R"({{"id":{},"name":"record_param_comms","ctrl_deps":1,"inputs":{{"values":[[],7,["{}",""],{},"{}"]}},"attrs":[{}]}})",
            id, group, root, name, fmt::join(attributes, ","));
    }
};

std::string step_node(std::uint64_t id) {
    return fmt::format(R"({{"id":{0},"name":"ProfilerStep#{0}","ctrl_deps":1,"inputs":{{"values":[]}},"attrs":[]}})",
                       id);
}

std::string groups_node(const std::string& groups) {
    std::string escaped;
    for (const char c : groups) escaped += c == '"' ? std::string{"\\\""} : std::string{c};
    return fmt::format(R"({{"id":4,"name":"## process_group:init ##","inputs":{{"values":["{}"]}},"attrs":[]}})",
                       escaped);
}

const std::string kPair = groups_node(R"([{"pg_name":"0","ranks":[],"group_size":2}])");

std::string trace_of(const std::vector<std::string>& nodes, const std::string& schema = "1.1.0-chakra.0.0.4") {
    return fmt::format("{{\"schema\":\"{}\",\"pid\":1,\n\"nodes\":[{}]}}", schema, fmt::join(nodes, ",\n"));
}

std::string error_of(const std::string& text) {
    auto trace = import_trace("t.json", text);
    return trace ? "accepted" : trace.error().message;
}

ImportedTrace imported(const std::string& text) {
    auto trace = import_trace("t.json", text);
    EXPECT_TRUE(trace) << trace.error().message;
    return trace ? *trace : ImportedTrace{};
}

std::vector<std::uint64_t> bytes_of(const ImportedTrace& trace, CollectiveKind kind) {
    std::vector<std::uint64_t> bytes;
    for (const TraceCall& call : trace.calls) {
        if (call.kind == kind) bytes.push_back(call.bytes.value);
    }
    return bytes;
}

std::string gzip(const std::string& text) {
    z_stream stream{};
    EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    std::string input = text;
    std::string packed(text.size() + 1000, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(input.data());
    stream.avail_in = static_cast<uInt>(input.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
}

// --- recorded traces

std::string shared_file(const std::string& name) {
    std::ifstream file(std::string{GRADSTORM_SHARED_DATA "/workloads/param-et/"} + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST(RecordedTrace, OfResNet50GivesItsFiveBucketsAndTwoBroadcasts) {
    const std::string text = shared_file("param-resnet_2gpu_comms_excerpt.json");
    if (text.empty()) GTEST_SKIP() << "the recorded ResNet-50 trace is not beside this checkout";
    const ImportedTrace trace = imported(text);
    EXPECT_EQ(trace.schema, "1.1.0-chakra.0.0.4");
    EXPECT_EQ(trace.ranks, 2U);
    EXPECT_EQ(trace.recorded_iterations, 3U);
    ASSERT_EQ(trace.calls.size(), 7U);
    EXPECT_THAT(bytes_of(trace, CollectiveKind::all_reduce),
                ElementsAre(8'196'000U, 31'502'336U, 26'255'360U, 26'550'272U, 9'724'160U));
    EXPECT_THAT(bytes_of(trace, CollectiveKind::broadcast), ElementsAre(212'480U, 424U));
    EXPECT_EQ(trace.calls[0].type, DataType::float32);
    EXPECT_EQ(trace.calls[1].type, DataType::int64);
    EXPECT_EQ(trace.calls[0].root, 0U);
    EXPECT_THAT(trace.groups.at(trace.calls[0].group).ranks, ElementsAre(0U, 1U));
    // All three iterations are equal: the only loss is that of the times.
    ASSERT_EQ(trace.warnings.size(), 1U);
    EXPECT_THAT(trace.warnings[0], HasSubstr("without compute gaps"));

    profiles::Profile settings;
    settings.library.channels = 2;
    const auto workload = workload_from_trace(trace, settings);
    ASSERT_TRUE(workload) << workload.error().message;
    EXPECT_EQ(workload->ranks, 2U);
    EXPECT_EQ(workload->warnings, trace.warnings);
    std::uint64_t sent = 0;  // collectives.md, section 10: the strongest test without a cluster
    for (const PlannedCall& planned : workload->measurements.at(0).jobs.at(0).calls) {
        EXPECT_EQ(planned.call.channels, 2U);
        sent += (*collective::make_schedule(planned.call))->totals(0).bytes_sent.value;
    }
    EXPECT_EQ(sent, 102'228'128U + 212'480U + 424U);
}

TEST(RecordedTrace, WithoutCommunicationWarnsAndSaysSo) {
    const std::string text = shared_file("param-linear_et.json.gz");
    if (text.empty()) GTEST_SKIP() << "the recorded trace of a linear model is not beside this checkout";
    const ImportedTrace trace = imported(text);
    EXPECT_EQ(trace.schema, "1.0.1");
    EXPECT_THAT(trace.calls, IsEmpty());
    EXPECT_THAT(trace.warnings,
                ElementsAre("t.json: no communication in the 931 nodes of the trace (schema 1.0.1), there "
                            "is nothing to replay"));
    const auto workload = workload_from_trace(trace, {});
    ASSERT_TRUE(workload);
    EXPECT_THAT(workload->measurements, IsEmpty());
    EXPECT_EQ(workload->warnings.size(), 1U);
}

// --- what is read from a node

TEST(Trace, TakesSizesAsNcclTestsDefinesThem) {
    const ImportedTrace trace = imported(trace_of(
        {kPair, CallNode{.id = 10, .name = "_allgather_base", .dtype = "BFloat16", .input = 50, .output = 100}.text(),
         CallNode{.id = 11, .name = "reduce_scatter", .dtype = "Half", .input = 100, .output = 50}.text(),
         CallNode{.id = 12, .name = "all_to_all", .dtype = "Double", .input = 8, .output = 8}.text(),
         CallNode{.id = 13, .name = "broadcast", .dtype = "Byte", .input = 7, .output = 7, .root = "1"}.text()}));
    ASSERT_EQ(trace.calls.size(), 4U);
    EXPECT_EQ(trace.calls[0].bytes, Bytes{200});
    EXPECT_EQ(trace.calls[0].type, DataType::bfloat16);
    EXPECT_EQ(trace.calls[1].bytes, Bytes{200});
    EXPECT_EQ(trace.calls[2].bytes, Bytes{64});
    EXPECT_EQ(trace.calls[3].bytes, Bytes{7});
    EXPECT_EQ(trace.calls[3].root, 1U);
}

TEST(Trace, SkipsWaitAndBarrierAndOrdersByNode) {
    const ImportedTrace trace = imported(trace_of(
        {CallNode{.id = 30, .input = 3}.text(), kPair, CallNode{.id = 12, .name = "wait", .dropped = "pg_name"}.text(),
         CallNode{.id = 13, .name = "barrier"}.text(), CallNode{.id = 20, .input = 2}.text(), step_node(5)}));
    EXPECT_THAT(bytes_of(trace, CollectiveKind::all_reduce), ElementsAre(8U, 12U));
}

TEST(Trace, ResolvesGroupsByListOrByStride) {
    const std::string groups =
        groups_node(R"([{"pg_name":"0","ranks":[],"group_size":8},{"pg_name":"tp","ranks":[2,3]}])");
    const ImportedTrace trace =
        imported(trace_of({groups, CallNode{.id = 10, .size = 8}.text(), CallNode{.id = 11, .group = "tp"}.text(),
                           CallNode{.id = 12, .group = "unlisted", .size = 3}.text()}));
    EXPECT_EQ(trace.ranks, 8U);
    EXPECT_THAT(trace.groups.at(trace.calls.at(1).group).ranks, ElementsAre(2U, 3U));
    EXPECT_THAT(trace.groups.at(trace.calls.at(2).group).ranks, ElementsAre(0U, 1U, 2U));
    EXPECT_THAT(trace.warnings, Contains(HasSubstr("calls of groups without that rank are unknown")));
    const auto workload = workload_from_trace(trace, {});
    ASSERT_TRUE(workload) << workload.error().message;
    EXPECT_THAT(workload->measurements.at(0).jobs.at(0).calls.at(1).group, ElementsAre(2U, 3U));
}

TEST(Trace, ReportsWhatItCouldNotKeep) {
    const ImportedTrace trace =
        imported(trace_of({groups_node(R"([{"pg_name":"0","ranks":[],"group_size":2},{"pg_name":"1","ranks":[0]}])"),
                           CallNode{.id = 10, .group = "1", .size = 1}.text(),
                           CallNode{.id = 11, .name = "all_to_allv", .splits = "[90, 10]"}.text(),
                           CallNode{.id = 12, .name = "broadcast", .root = "-1"}.text()}));
    EXPECT_EQ(trace.calls.size(), 2U);
    EXPECT_THAT(trace.warnings, Contains(HasSubstr("1 calls on groups of one rank")));
    EXPECT_THAT(trace.warnings, Contains(HasSubstr("1 calls have uneven split sizes")));
    EXPECT_THAT(trace.warnings, Contains(HasSubstr("1 broadcasts do not name their root")));
}

TEST(Trace, UnpacksGzip) {
    const std::string packed = gzip(trace_of({kPair, CallNode{.id = 10}.text()}));
    EXPECT_EQ(imported(packed).calls.size(), 1U);
    EXPECT_EQ(error_of(packed.substr(0, packed.size() / 2)), "t.json: gzip file ends too early, copy it again");
    std::string damaged = packed;
    damaged[packed.size() / 2] = static_cast<char>(damaged[packed.size() / 2] ^ 0x55);
    EXPECT_THAT(error_of(damaged), HasSubstr("t.json: gzip file is damaged"));
}

TEST(Trace, UnpacksEveryGzipMember) {
    const std::string text = trace_of({kPair, CallNode{.id = 10}.text()});
    const std::string first = gzip(text.substr(0, 40));
    const std::string second = gzip(text.substr(40));
    EXPECT_EQ(imported(first + second).calls.size(), 1U);
    EXPECT_EQ(error_of(first + second.substr(0, second.size() / 2)), "t.json: gzip file ends too early, copy it again");
    EXPECT_THAT(error_of(gzip(text) + "rest"), HasSubstr("t.json: gzip file is damaged"));
}

TEST(Trace, IsToldFromAProfile) {
    EXPECT_TRUE(looks_like_trace("\n {\"schema\""));
    EXPECT_TRUE(looks_like_trace("\x1f\x8b\x08"));
    EXPECT_FALSE(looks_like_trace("format = 1\n"));
    EXPECT_FALSE(looks_like_trace("[run]"));
    EXPECT_FALSE(looks_like_trace(""));
}

// --- iterations

TEST(TraceIterations, TakesTheFirstFullOneAndNamesThoseThatDiffer) {
    const ImportedTrace trace = imported(trace_of(
        {kPair, CallNode{.id = 5, .input = 99}.text(),                                                 // set-up
         step_node(10), CallNode{.id = 11, .input = 2}.text(),                                         // cut off
         step_node(20), CallNode{.id = 21, .input = 1}.text(), CallNode{.id = 22, .input = 2}.text(),  // full
         step_node(30), CallNode{.id = 31, .input = 1}.text(), CallNode{.id = 32, .input = 2}.text(),  // equal
         step_node(40), CallNode{.id = 41, .input = 1}.text(), CallNode{.id = 42, .input = 3}.text(),  // differs
         step_node(50)}));
    EXPECT_EQ(trace.recorded_iterations, 4U);
    EXPECT_THAT(bytes_of(trace, CollectiveKind::all_reduce), ElementsAre(4U, 8U));
    EXPECT_THAT(
        trace.warnings,
        Contains("t.json: 2 of the 4 recorded iterations differ from number 2 (node 21 on), which is replayed"));
    EXPECT_THAT(trace.warnings, Contains(HasSubstr("1 calls before the first step marker")));
}

TEST(TraceIterations, WithoutMarkersAreFoundByRepetition) {
    std::vector<std::string> nodes{kPair};
    for (std::uint64_t id = 10; id < 22; ++id) nodes.push_back(CallNode{.id = id, .input = 1 + id % 3}.text());
    const ImportedTrace repeated = imported(trace_of(nodes));
    EXPECT_EQ(repeated.calls.size(), 3U);
    EXPECT_EQ(repeated.recorded_iterations, 4U);
    EXPECT_THAT(repeated.warnings, Contains(HasSubstr("its 4 equal repetitions of 3 calls")));

    nodes.push_back(CallNode{.id = 99, .input = 77}.text());
    const ImportedTrace single = imported(trace_of(nodes));
    EXPECT_EQ(single.calls.size(), 13U);
    EXPECT_EQ(single.recorded_iterations, 1U);
    EXPECT_THAT(single.warnings, Contains(HasSubstr("all are one iteration")));
}

TEST(TraceIterations, ThatAreEqualGiveNoWarningAboutThem) {
    const ImportedTrace trace =
        imported(trace_of({kPair, step_node(1), CallNode{.id = 2}.text(), step_node(3), CallNode{.id = 4}.text()}));
    EXPECT_EQ(trace.recorded_iterations, 2U);
    EXPECT_THAT(trace.warnings, Not(Contains(HasSubstr("iterations"))));
}

// --- broken input

TEST(BrokenTrace, IsNamedWithItsPlace) {
    EXPECT_EQ(error_of("{\"schema\": \"1.1.0-chakra.0.0.4\",\n \"nodes\": [}"),
              "t.json:2:12: no JSON, the file is cut or no trace");
    EXPECT_EQ(error_of(""), "t.json:1:1: no JSON, the file is cut or no trace");
    EXPECT_THAT(error_of("[]"), HasSubstr("no schema version"));
    EXPECT_THAT(error_of("{\"schema\": \"1.0.1\"}"), HasSubstr("no array \"nodes\""));
    EXPECT_EQ(error_of(trace_of({}, "9.9")),
              "t.json: schema \"9.9\" is unknown, known are 1.0.1, 1.0.2-chakra.0.0.4, 1.0.3-chakra.0.0.4, "
              "1.0.4-chakra.0.0.4, 1.1.0-chakra.0.0.4, 1.1.1-chakra.0.0.4");
}

TEST(BrokenTrace, NestedWithoutEndIsRefused) {
    const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
    EXPECT_EQ(error_of(trace_of({groups_node(R"([{"pg_name":"0","ranks":)" + deep + "}]"), CallNode{.id = 10}.text()})),
              "t.json: node 4: process group 0: array is no rank");
    const ImportedTrace trace =
        imported(trace_of({kPair, CallNode{.id = 10, .splits = "[" + deep + "," + deep + "]"}.text()}));
    EXPECT_THAT(trace.warnings, Contains(HasSubstr("1 calls have uneven split sizes")));
}

TEST(BrokenTrace, OfMissingAttributesNamesTheNode) {
    for (const std::string name :
         {"collective_name", "dtype", "in_msg_nelems", "out_msg_nelems", "pg_name", "pg_size"}) {
        EXPECT_THAT(error_of(trace_of({kPair, CallNode{.id = 17, .dropped = name}.text()})),
                    HasSubstr(fmt::format("t.json: node 17: record_param_comms without a valid attribute {}", name)));
    }
    EXPECT_THAT(error_of(trace_of({R"({"name":"record_param_comms"})"})), HasSubstr("has no id"));
    EXPECT_THAT(error_of(trace_of({R"({"id":5,"name":"record_param_comms","inputs":[],"parent":1})"}, "1.0.1")),
                HasSubstr("node 5: record_param_comms without a valid attribute collective_name (schema 1.0.1)"));
}

TEST(BrokenTrace, OfUnknownNamesIsRefused) {
    EXPECT_THAT(error_of(trace_of({kPair, CallNode{.id = 9, .name = "send"}.text()})),
                HasSubstr("node 9: collective \"send\" cannot be replayed"));
    EXPECT_THAT(error_of(trace_of({kPair, CallNode{.id = 9, .name = "two\\nlines"}.text()})),
                HasSubstr("\"two?lines\""));
    EXPECT_THAT(error_of(trace_of({kPair, CallNode{.id = 9, .dtype = "ComplexFloat"}.text()})),
                HasSubstr("element type \"ComplexFloat\""));
}

TEST(BrokenTrace, OfImpossibleNumbersIsRefused) {
    EXPECT_THAT(error_of(trace_of({kPair, CallNode{.id = 9, .size = 3}.text()})),
                HasSubstr("node 9: pg_size 3, but process group 0 has 2 ranks"));
    EXPECT_THAT(error_of(trace_of({kPair, CallNode{.id = 9, .name = "broadcast", .root = "2"}.text()})),
                HasSubstr("node 9: root 2 of a group of 2 ranks"));
    EXPECT_THAT(error_of(trace_of({kPair, CallNode{.id = 9, .input = 1ULL << 63U}.text()})),
                HasSubstr("more bytes than 2^64"));
    EXPECT_THAT(error_of(trace_of({CallNode{.id = 9, .size = 1ULL << 40U}.text()})),
                HasSubstr("are nowhere in the trace"));
    EXPECT_THAT(error_of(trace_of({groups_node(R"([{"pg_name":"0","ranks":[-1]}])")})), HasSubstr("-1 is no rank"));
    EXPECT_THAT(error_of(trace_of({groups_node(R"([{"pg_name":"0","ranks":[]}])")})), HasSubstr("neither ranks nor"));
    EXPECT_THAT(error_of(trace_of({groups_node("oops")})), HasSubstr("node 4: its list of process groups is no JSON"));
}

}  // namespace
}  // namespace gradstorm::workload
