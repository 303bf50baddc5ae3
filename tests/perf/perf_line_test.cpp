// SPDX-License-Identifier: Apache-2.0
#include "tests/perf/perf_line.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gradstorm::perf {
namespace {

TEST(PerfLine, IsTheMedianOfTheRatiosNotTheRatioOfTheMedians) {
    // Medians: ours 4, anchor 10; ratios 0.1, 0.2, 1, 0.04, 5: median 0.2.
    const std::vector<Round> rounds{{1, 10}, {2, 10}, {30, 30}, {4, 100}, {5, 1}};
    EXPECT_EQ(perf_line("some-figure", "Mpps", rounds), "PERF some-figure 4 Mpps 10 0.20");
}

TEST(PerfLine, OneSlowRoundChangesNothing) {
    const std::vector<Round> rounds{{20, 10}, {20, 10}, {0.1, 10}, {20, 10}, {20, 10}};
    EXPECT_EQ(perf_line("f", "Gb/s", rounds), "PERF f 20 Gb/s 10 2.00");
}

TEST(PerfLine, FewerThanFiveRoundsOrAZeroRateAreNoFigure) {
    EXPECT_EQ(perf_line("f", "M/s", {{1, 1}, {1, 1}, {1, 1}, {1, 1}}), "");
    EXPECT_EQ(perf_line("f", "M/s", {{1, 1}, {1, 1}, {0, 1}, {1, 1}, {1, 1}}), "");
    EXPECT_EQ(perf_line("f", "M/s", {{1, 1}, {1, 1}, {1, 0}, {1, 1}, {1, 1}}), "");
}

TEST(PerfLine, TheMedianOfAnEvenCountIsTheMeanOfTheMiddleTwo) { EXPECT_DOUBLE_EQ(median({4, 1, 3, 2}), 2.5); }

TEST(Interleave, MeasuresTheAnchorOnBothSidesOfEachRound) {
    std::string order;
    double anchor = 0;
    const auto rounds = interleave(
        5,
        [&] {
            order += 'o';
            return 7.0;
        },
        [&] {
            order += 'a';
            return anchor += 2;
        });
    EXPECT_EQ(order, "aoaaoaaoaaoaaoa");
    ASSERT_EQ(rounds.size(), 5U);
    EXPECT_EQ(rounds[0], (Round{7.0, 3.0}));   // anchors 2 and 4
    EXPECT_EQ(rounds[4], (Round{7.0, 19.0}));  // anchors 18 and 20
}

TEST(Run, RefusesANameThatIsNoFigure) {
    char program[] = "benchmark";
    char name[] = "nothing-like-it";
    char* arguments[] = {program, name};
    EXPECT_EQ(run(2, arguments, {}), 4);
}

TEST(Run, FailsWhenAFigureCouldNotBeMeasured) {
    char program[] = "benchmark";
    char* arguments[] = {program};
    EXPECT_EQ(run(1, arguments, {{"f", "M/s", [] { return std::vector<Round>{}; }}}), 1);
    EXPECT_EQ(run(1, arguments, {{"f", "M/s", [] { return std::vector<Round>(5, Round{1, 1}); }}}), 0);
}

}  // namespace
}  // namespace gradstorm::perf
