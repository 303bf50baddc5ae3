// SPDX-License-Identifier: Apache-2.0
#include "profiles/catalog.h"

#include "profiles/parse.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

namespace gradstorm::profiles {
namespace {

TEST(Catalog, EveryProfileIsValidAndExplained) {
    EXPECT_GE(catalog().size(), 10U);
    for (const CatalogEntry& entry : catalog()) {
        const auto profile = load_profile(std::string{entry.name});
        EXPECT_TRUE(profile) << to_string(profile.error());
        EXPECT_FALSE(entry.summary.empty()) << entry.name;
        EXPECT_NE(entry.text.find("# Stresses:"), std::string_view::npos) << entry.name;
        EXPECT_NE(entry.text.find("# Numbers:"), std::string_view::npos) << entry.name;
        EXPECT_EQ(profile->path, "catalog:" + std::string{entry.name});
        EXPECT_EQ(profile->text, entry.text);
    }
}

TEST(Catalog, FindsByNameOnly) {
    ASSERT_TRUE(find_in_catalog("resnet50-ddp-2"));
    EXPECT_EQ(find_in_catalog("resnet50-ddp-2")->name, "resnet50-ddp-2");
    EXPECT_FALSE(find_in_catalog("resnet50-ddp-2.toml"));
    const auto near = load_profile("resnet50-ddp2");
    ASSERT_FALSE(near);
    EXPECT_EQ(to_string(near.error()),
              "resnet50-ddp2: there is no such file and no profile of that name in the catalog; did you mean "
              "'resnet50-ddp-2'?");
}

/// Elements of the parameters of ResNet-50 (He et al. 2016, with the stride in the 3x3 convolutions), in the order in
/// which the usual implementation registers them.
std::vector<std::uint64_t> resnet50_parameters() {
    std::vector<std::uint64_t> sizes;
    const auto convolution = [&](std::uint64_t in, std::uint64_t out, std::uint64_t kernel) {
        sizes.push_back(in * out * kernel * kernel);
        sizes.push_back(out);  // batch norm: weight and bias
        sizes.push_back(out);
    };
    convolution(3, 64, 7);
    std::uint64_t in = 64;
    constexpr std::array<std::uint64_t, 4> kBlocks{3, 4, 6, 3};
    for (std::size_t stage = 0; stage < kBlocks.size(); ++stage) {
        const std::uint64_t width = std::uint64_t{64} << stage;
        for (std::uint64_t block = 0; block < kBlocks[stage]; ++block) {
            convolution(in, width, 1);
            convolution(width, width, 3);
            convolution(width, 4 * width, 1);
            if (block == 0) {
                convolution(in, 4 * width, 1);  // the shortcut
            }
            in = 4 * width;
        }
    }
    sizes.push_back(in * 1000);  // fully connected: weight and bias
    sizes.push_back(1000);
    return sizes;
}

/// PyTorch DDP: reverse order, first bucket 1 MiB, others 25 MiB; a bucket closes when it reaches its limit.
std::vector<std::uint64_t> ddp_buckets(const std::vector<std::uint64_t>& parameters) {
    constexpr std::uint64_t kMiB = 1U << 20U;
    std::vector<std::uint64_t> buckets;
    std::uint64_t open = 0;
    for (auto elements = parameters.rbegin(); elements != parameters.rend(); ++elements) {
        open += *elements;
        if (open * 4 >= (buckets.empty() ? kMiB : 25 * kMiB)) {
            buckets.push_back(open);
            open = 0;
        }
    }
    if (open > 0) {
        buckets.push_back(open);
    }
    return buckets;
}

TEST(Catalog, ResNetBucketsFollowFromTheParameterShapes) {
    const auto parameters = resnet50_parameters();
    EXPECT_EQ(parameters.size(), 161U);
    EXPECT_EQ(std::accumulate(parameters.begin(), parameters.end(), std::uint64_t{0}), 25'557'032U);
    const auto buckets = ddp_buckets(parameters);
    EXPECT_EQ(buckets, (std::vector<std::uint64_t>{2'049'000, 7'875'584, 6'563'840, 6'637'568, 2'431'040}));

    const auto profile = load_profile("resnet50-ddp-2");
    ASSERT_TRUE(profile);
    ASSERT_EQ(profile->jobs.size(), 1U);
    ASSERT_EQ(profile->jobs[0].calls.size(), buckets.size());
    for (std::size_t i = 0; i < buckets.size(); ++i) {
        EXPECT_EQ(profile->jobs[0].calls[i].elements, buckets[i]);
        EXPECT_EQ(profile->jobs[0].calls[i].op, "all_reduce");
        EXPECT_EQ(profile->jobs[0].calls[i].dtype, "float32");
    }
}

}  // namespace
}  // namespace gradstorm::profiles
