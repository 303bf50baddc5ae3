// SPDX-License-Identifier: Apache-2.0
#include "profiles/parse.h"

#include "tests/unit/profiles/files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <unistd.h>

namespace gradstorm::profiles {
namespace {

std::string resolved(const Profile& profile, std::string_view key) {
    for (const auto& [name, value] : profile.resolved) {
        if (name == key) {
            return value;
        }
    }
    return "no such key";
}

TEST(Parse, ReadsEveryPartOfAProfile) {
    const std::string text = R"(format = 1
[run]
seed = 7
iterations = 3
stall_timeout = "2s"
check = "last"
[cluster]
nodes = 2
gpus_per_node = 2
rails = 2
[[job]]
name = "a"
dtype = "bfloat16"
overlap = true
calls = [
  {op = "all_reduce", bytes = "1MiB", gap = "50us", group = [0, 2]},
  {op = "broadcast", elements = 10, dtype = "float32", root = 3},
  {op = "send_receive", sweep = {from = "8B", to = "1KiB", factor = 4}, from = 1, to = 3},
]
[library]
chunk = "64KiB"
[transport]
timeout = "1500us"
line_rate = "100Gb/s"
capture = "a.pcapng"
capture_port = 3
[[fault]]
port = 1
drop = "0.5%"
delay = "1us"
rate = "1Gb/s"
[dut]
kmin = "150KB"
buffer.alpha = 8
)";
    const auto profile = parse_profile("a.toml", text);
    ASSERT_TRUE(profile) << to_string(profile.error());
    EXPECT_EQ(profile->path, "a.toml");
    EXPECT_EQ(profile->text, text);
    EXPECT_EQ(profile->run.seed, 7U);
    EXPECT_EQ(profile->run.stall_timeout, std::chrono::seconds{2});
    EXPECT_EQ(profile->run.check, "last");
    EXPECT_EQ(profile->cluster.ranks(), 4U);
    ASSERT_EQ(profile->jobs.size(), 1U);
    const JobSettings& job = profile->jobs[0];
    EXPECT_TRUE(job.overlap);
    ASSERT_EQ(job.calls.size(), 3U);
    EXPECT_EQ(job.calls[0].bytes, Bytes{1U << 20U});
    EXPECT_EQ(job.calls[0].dtype, "bfloat16");
    EXPECT_EQ(job.calls[0].gap, std::chrono::microseconds{50});
    EXPECT_EQ(job.calls[0].group, (std::vector<std::uint32_t>{0, 2}));
    EXPECT_EQ(job.calls[1].elements, 10U);
    EXPECT_EQ(job.calls[1].dtype, "float32");
    EXPECT_EQ(job.calls[1].root, 3U);
    ASSERT_TRUE(job.calls[2].sweep);
    EXPECT_EQ(job.calls[2].sweep->to, Bytes{1024});
    EXPECT_EQ(job.calls[2].sweep->factor, 4U);
    EXPECT_EQ(job.calls[2].from, 1U);
    EXPECT_EQ(job.calls[2].to, 3U);
    EXPECT_EQ(profile->library.chunk, Bytes{65'536});
    EXPECT_EQ(profile->transport.timeout, std::chrono::microseconds{1500});
    EXPECT_EQ(gigabits(profile->transport.line_rate), 100.0);
    EXPECT_EQ(profile->transport.capture, "a.pcapng");
    ASSERT_EQ(profile->faults.size(), 1U);
    EXPECT_EQ(profile->faults[0].port, 1U);
    EXPECT_FALSE(profile->faults[0].all_ports);
    EXPECT_EQ(profile->faults[0].drop, 0.005);
    EXPECT_EQ(profile->faults[0].delay, std::chrono::microseconds{1});
    EXPECT_EQ(gigabits(profile->faults[0].rate), 1.0);
    EXPECT_EQ(profile->dut, (KeyValues{{"kmin", "150KB"}, {"buffer.alpha", "8"}}));
    EXPECT_EQ(resolved(*profile, "run.repetitions"), "5");
    EXPECT_EQ(resolved(*profile, "job.0.calls.0.dtype"), "bfloat16");
    EXPECT_EQ(resolved(*profile, "job.0.calls.2.sweep.from"), "8B");
    EXPECT_EQ(resolved(*profile, "transport.fabric"), "embedded");
    EXPECT_EQ(resolved(*profile, "fault.0.all_ports"), "false");
    EXPECT_EQ(resolved(*profile, "transport.line_rate"), "100Gb/s");
}

TEST(Parse, DesignProfilesAreValid) {
    const std::filesystem::path folder = GRADSTORM_SHARED_DATA "/../design/profiles";
    if (!std::filesystem::exists(folder)) {
        GTEST_SKIP() << "the design profiles are not beside this checkout";
    }
    EXPECT_EQ(toml_files(folder).size(), 3U);
    for (const auto& file : toml_files(folder)) {
        const auto profile = load_profile(file.string());
        EXPECT_TRUE(profile) << to_string(profile.error());
    }
}

TEST(Parse, CostDoesNotGrowWithWhatIsDescribed) {
    // 10^17 iterations of 2^53 bytes on 10^9 ranks in 64-byte messages: nothing of it may be expanded.
    const auto profile = parse_profile("p", R"(format = 1
[run]
iterations = 30000000
repetitions = 4294967295
[cluster]
nodes = 1048576
gpus_per_node = 1024
[[job]]
name = "a"
calls = [{op = "all_to_all", sweep = {from = "8B", to = "8PiB"}}, {op = "all_reduce", elements = 1125899906842624}]
[library]
chunk = "64B"
)");
    ASSERT_TRUE(profile) << to_string(profile.error());
    EXPECT_EQ(profile->jobs[0].calls.size(), 2U);
    EXPECT_TRUE(profile->jobs[0].calls[0].group.empty());
    EXPECT_LT(profile->resolved.size(), 200U);
}

TEST(Parse, TraceNeedsNoJob) {
    ParseOptions options;
    options.needs_traffic = false;
    const auto profile = parse_profile("trace", "format = 1\n", options);
    ASSERT_TRUE(profile) << to_string(profile.error());
    EXPECT_TRUE(profile->jobs.empty());
}

TEST(Parse, UnreadableFilesAreNamed) {
    const auto missing = load_profile("/nowhere/a.toml");
    ASSERT_FALSE(missing);
    EXPECT_EQ(to_string(missing.error()), "/nowhere/a.toml: there is no such file");
    const auto folder = load_profile("/tmp");
    ASSERT_FALSE(folder);
    EXPECT_EQ(to_string(folder.error()), "/tmp: is a directory, not a file");
    const auto endless = load_profile("/dev/zero");
    ASSERT_FALSE(endless);
    EXPECT_EQ(to_string(endless.error()), "/dev/zero: is larger than 16 MiB: this is no profile");
}

/// Seeded mutations of real profiles: whatever the bytes, the answer is a profile or mistakes of one line each.
TEST(Parse, SurvivesMutatedText) {
    std::vector<std::string> seeds;
    for (const auto& file : toml_files(GRADSTORM_TEST_DATA "/profiles/broken")) {
        seeds.push_back(text_of_file(file));
    }
    std::mt19937_64 random{20'260'102};
    const std::string bytes = "[]{}=\".,#\n-_0129azT \x01\xc3\xff";
    for (int i = 0; i < 3000; ++i) {
        std::string text = seeds[random() % seeds.size()];
        for (std::uint64_t edits = random() % 4 + 1; edits > 0 && !text.empty(); --edits) {
            const std::size_t at = random() % text.size();
            switch (random() % 3) {
                case 0: text[at] = bytes[random() % bytes.size()]; break;
                case 1: text.erase(at, random() % 8); break;
                default: text.insert(at, text.substr(random() % text.size(), random() % 24)); break;
            }
        }
        const auto profile = parse_profile("p", text);
        if (!profile) {
            ASSERT_FALSE(profile.error().empty());
            for (const Diagnostic& mistake : profile.error()) {
                ASSERT_EQ(mistake.message.find('\n'), std::string::npos) << text;
            }
        }
    }
}

TEST(Parse, RefusesKeysOfEndlesslyManyParts) {
    std::string key = "a";
    for (int i = 0; i < 100'000; ++i) key += i % 2 == 0 ? ".a" : " . \"a\"";
    for (const std::string& text :
         {"[dut]\n" + key + " = 1\n", "\n[" + key + "]\n", "\nx = { y = \"\"\"z\"\"\"\"\", " + key + " = 1 }\n"}) {
        const auto profile = parse_profile("p", text);
        ASSERT_FALSE(profile);
        EXPECT_TRUE(to_string(profile.error()).starts_with("p:2:")) << to_string(profile.error()).substr(0, 200);
    }
    std::string nested;
    for (int i = 0; i < 255; ++i) nested += "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a = { b = 1, ";
    EXPECT_FALSE(parse_profile("p", nested));
    EXPECT_FALSE(parse_profile("p", nested + std::string(255 * 3, '}')));
}

TEST(Parse, CountsNoDotsOfTextAndComments) {
    const std::string dots(100, '.');
    const auto profile = parse_profile(
        "p", "# " + dots +
                 "\nformat = 1\n[[job]]\nname = \"a\"\ncalls = [{op = \"all_reduce\", bytes = \"1MiB\"}]\n[dut]\na = "
                 "\"\\\"" +
                 dots + "\"\nb = '" + dots + "'\nc = \"\"\"\n\"" + dots + "\"\"\"\nd = [" +
                 "0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7]\n");
    EXPECT_TRUE(profile) << to_string(profile.error());
}

TEST(Load, PrefersTheCatalogToAFolderOfTheSameName) {
    const auto before = std::filesystem::current_path();
    const auto folder = std::filesystem::temp_directory_path() / ("gradstorm-load-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder / "allgather-4");
    std::filesystem::current_path(folder);
    const auto profile = load_profile("allgather-4");
    const auto named = load_profile("./allgather-4");
    std::filesystem::current_path(before);
    std::filesystem::remove_all(folder);
    EXPECT_TRUE(profile) << to_string(profile.error());
    EXPECT_FALSE(named);
}

}  // namespace
}  // namespace gradstorm::profiles
