// SPDX-License-Identifier: Apache-2.0
#include "profiles/parse.h"
#include "tests/unit/profiles/files.h"

#include <gtest/gtest.h>

#include <cctype>

namespace gradstorm::profiles {
namespace {

/// Each file of tests/data/profiles/broken against the exact list of its messages in the .expected file beside it.
class BrokenProfile : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(BrokenProfile, IsRefusedWithAllItsMistakes) {
    const auto& file = GetParam();
    const auto profile = parse_profile(file.filename().string(), text_of_file(file));
    ASSERT_FALSE(profile);
    auto expected = file;
    EXPECT_EQ(to_string(profile.error()) + "\n", text_of_file(expected.replace_extension(".expected")));
}

TEST_P(BrokenProfile, SaysSoInOneLowerCaseLineEach) {
    const auto profile = parse_profile("p", text_of_file(GetParam()));
    ASSERT_FALSE(profile);
    for (const Diagnostic& mistake : profile.error()) {
        EXPECT_EQ(mistake.message.find('\n'), std::string::npos);
        EXPECT_NE(mistake.message.back(), '.');
        EXPECT_GE(mistake.line, 1U);
        EXPECT_GE(mistake.column, 1U);
    }
}

INSTANTIATE_TEST_SUITE_P(Data, BrokenProfile, testing::ValuesIn(toml_files(GRADSTORM_TEST_DATA "/profiles/broken")),
                         [](const auto& file) {
                             std::string name = file.param.stem().string();
                             for (char& c : name) {
                                 c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
                             }
                             return name;
                         });

TEST(BrokenProfiles, AreMany) { EXPECT_GE(toml_files(GRADSTORM_TEST_DATA "/profiles/broken").size(), 30U); }

}  // namespace
}  // namespace gradstorm::profiles
