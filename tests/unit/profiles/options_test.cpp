// SPDX-License-Identifier: Apache-2.0
#include "profiles/catalog.h"
#include "profiles/parse.h"
#include "tests/unit/profiles/files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace gradstorm::profiles {
namespace {

constexpr std::string_view kProfile = R"(format = 1
[[job]]
name = "a"
calls = [{op = "all_reduce", bytes = "1MiB"}]
[dut]
kmin = "1KB"
kmax = "2KB"
)";

tl::expected<Profile, Diagnostics> with_sets(std::vector<std::string> overrides) {
    ParseOptions options;
    options.overrides = std::move(overrides);
    return parse_profile("p", kProfile, options);
}

std::string mistakes_of(std::vector<std::string> overrides) {
    const auto profile = with_sets(std::move(overrides));
    return profile ? "valid" : to_string(profile.error());
}

TEST(Set, ChangesAndAddsValues) {
    const auto profile =
        with_sets({"run.iterations=3", "run.iterations=4", "job.0.calls.0.bytes=2MiB", "job.0.dtype=bfloat16",
                   "job.0.calls.0.group=[0, 1]", "transport.timeout=2ms", "transport.payload='memory'",
                   "fault.0.drop=1%", "job.0.overlap=true", "library.name=nccl 2.30", "dut.kmin=5",
                   "job.0.calls.1={op=\"all_gather\",bytes=\"8B\"}"});
    ASSERT_TRUE(profile) << to_string(profile.error());
    EXPECT_EQ(profile->run.iterations, 4U);
    EXPECT_EQ(profile->jobs[0].calls[0].bytes, Bytes{2U << 20U});
    EXPECT_EQ(profile->jobs[0].calls[0].dtype, "bfloat16");
    EXPECT_EQ(profile->jobs[0].calls[0].group.size(), 2U);
    EXPECT_EQ(profile->jobs[0].calls.at(1).op, "all_gather");
    EXPECT_EQ(profile->transport.timeout, std::chrono::milliseconds{2});
    EXPECT_EQ(profile->transport.payload, "memory");
    EXPECT_EQ(profile->faults.at(0).drop, 0.01);
    EXPECT_TRUE(profile->jobs[0].overlap);
    EXPECT_EQ(profile->library.name, "nccl 2.30");
    EXPECT_EQ(profile->dut[0].second, "5");
    EXPECT_EQ(profile->text, kProfile);  // the text stays the truth
}

TEST(Set, MistakesNameTheOption) {
    EXPECT_EQ(mistakes_of({"run.itertions=3"}),
              "--set run.itertions=3: unknown key 'itertions' in [run]; did you mean 'iterations'?");
    EXPECT_EQ(mistakes_of({"iterations=3"}),
              "--set iterations=3: unknown key 'iterations'; 'iterations' is a key of [run]");
    EXPECT_EQ(mistakes_of({"library.channels=65"}),
              "--set library.channels=65: 'channels' must be from 1 to 64, not 65");
    EXPECT_EQ(mistakes_of({"run.iterations="}),
              "--set run.iterations=: 'iterations' must be an integer from 1 to 30000000, not the text \"\"");
    EXPECT_EQ(mistakes_of({"transport.timeout=5"}),
              "--set transport.timeout=5: 'timeout' is \"5\" without a unit; add ns, us, ms, s, min or h");
    EXPECT_EQ(mistakes_of({"job.2.dtype=int32"}),
              "--set job.2.dtype=int32: there is no entry 2 in 'job', which has 1 (they count from 0)");
    EXPECT_EQ(mistakes_of({"job.dtype=int32"}),
              "--set job.dtype=int32: 'job' is a list: name the entry by its number from 0, as in job.0");
    EXPECT_EQ(mistakes_of({"run.seed.x=1"}), "--set run.seed.x=1: 'seed' is a value and holds no key 'x'");
    EXPECT_EQ(mistakes_of({"run.seed"}), "--set run.seed: write --set KEY=VALUE, such as --set run.iterations=10");
    EXPECT_EQ(mistakes_of({"dut=1"}), "--set dut=1: name the key: dut.KEY=VALUE");
    EXPECT_EQ(mistakes_of({"run.seed=1\nwarmup = 2"}).substr(0, 14), "--set run.seed");
}

TEST(Set, SeveralMistakesComeInTheirOrder) {
    EXPECT_EQ(mistakes_of({"run.warmup=-1", "run.iterations=0"}),
              "--set run.warmup=-1: 'warmup' must be from 0 to 30000000, not -1\n"
              "--set run.iterations=0: 'iterations' must be from 1 to 30000000, not 0");
}

TEST(Testbed, ReplacesTheWhere) {
    const TemporaryFile testbed("testbed.toml", R"(format = 1
[[port]]
name = "lab"
device = "0000:3b:00.0"
address = "198.18.0.10/24"
[bind]
rule = "per_node"
)");
    ParseOptions options;
    options.testbed = testbed.path();
    const std::string text =
        std::string{kProfile} + "[[port]]\nname = \"mine\"\ndevice = \"d\"\naddress = \"fd00::1/64\"\n";
    const auto profile = parse_profile("p", text, options);
    ASSERT_TRUE(profile) << to_string(profile.error());
    ASSERT_EQ(profile->ports.size(), 1U);
    EXPECT_EQ(profile->ports[0].name, "lab");
    EXPECT_EQ(profile->transport.fabric, "ports");
}

TEST(Testbed, GivesEveryCatalogProfileItsPorts) {
    std::string ports = "[bind]\nrule = \"per_node\"\n";
    for (int i = 1; i <= 8; ++i) {
        ports +=
            fmt::format("[[port]]\nname = \"lab{0}\"\ndevice = \"0000:3b:00.{0}\"\naddress = \"198.18.0.{0}/24\"\n", i);
    }
    const TemporaryFile testbed("ports.toml", ports);
    ParseOptions options;
    options.testbed = testbed.path();
    for (const CatalogEntry& entry : catalog()) {
        // Faults are injected by the embedded fabric only.
        if (entry.text.find("[[fault]]") != std::string_view::npos) continue;
        const auto profile = load_profile(std::string{entry.name}, options);
        ASSERT_TRUE(profile) << entry.name << ": " << to_string(profile.error());
        EXPECT_EQ(profile->transport.fabric, "ports") << entry.name;
    }
}

TEST(Testbed, HoldsNothingElse) {
    const TemporaryFile testbed(
        "testbed.toml", "[run]\nseed = 1\n[[port]]\nnmae = \"x\"\ndevice = \"d\"\naddress = \"198.18.0.1/24\"\n");
    ParseOptions options;
    options.testbed = testbed.path();
    const auto profile = parse_profile("p", kProfile, options);
    ASSERT_FALSE(profile);
    EXPECT_EQ(to_string(profile.error()),
              testbed.path() + ":1:2: a testbed file holds [[port]] and [bind] only, not 'run'\n" + testbed.path() +
                  ":4:1: unknown key 'nmae' in port.0; did you mean 'name'?");
    options.testbed = "/nowhere.toml";
    ASSERT_FALSE(parse_profile("p", kProfile, options));
}

TEST(Dut, HoldsAKeyOnce) {
    const TemporaryFile file("dut-format.toml", "format = 1\nkmax = \"3KB\"\n");
    const std::string text =
        "format = 1\n[[job]]\nname = \"a\"\ncalls = [{op = \"all_reduce\", bytes = \"1MiB\"}]\n"
        "[dut]\nswitch = {firmware = \"4.1\"}\n";
    ParseOptions options;
    options.dut_file = file.path();
    options.overrides = {"dut.switch.firmware=4.2"};
    const auto profile = parse_profile("p", text, options);
    ASSERT_TRUE(profile) << to_string(profile.error());
    EXPECT_EQ(profile->dut, (KeyValues{{"switch.firmware", "4.2"}, {"kmax", "3KB"}}));
}

TEST(Dut, OptionsWinOverFileAndProfile) {
    const TemporaryFile file("dut.toml", "kmax = \"3KB\"\npfc.xoff = 80\nkmin = \"0KB\"\n");
    ParseOptions options;
    options.dut_file = file.path();
    options.dut = {"kmin=9KB", "note=a=b"};
    const auto profile = parse_profile("p", kProfile, options);
    ASSERT_TRUE(profile) << to_string(profile.error());
    EXPECT_EQ(profile->dut, (KeyValues{{"kmin", "9KB"}, {"kmax", "3KB"}, {"pfc.xoff", "80"}, {"note", "a=b"}}));
    options.dut = {"kmin", "=3"};
    const auto wrong = parse_profile("p", kProfile, options);
    ASSERT_FALSE(wrong);
    EXPECT_EQ(to_string(wrong.error()),
              "--dut kmin: write --dut KEY=VALUE, such as --dut kmin=150KB\n"
              "--dut =3: write --dut KEY=VALUE, such as --dut kmin=150KB");
}

TEST(Dut, FileMayHoldTheTable) {
    const TemporaryFile file("dut2.toml", "[dut]\nkmax = \"3KB\"\n");
    ParseOptions options;
    options.dut_file = file.path();
    const auto profile = parse_profile("p", kProfile, options);
    ASSERT_TRUE(profile) << to_string(profile.error());
    EXPECT_EQ(profile->dut[1].second, "3KB");
}

}  // namespace
}  // namespace gradstorm::profiles
