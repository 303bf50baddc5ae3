// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/collective/schedule.h"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

/// The buffers of the symbolic executor.
namespace gradstorm::collective {

/// Ends a symbolic run; caught by run_symbolically().
struct Fault : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Element {
    enum class State : std::uint8_t { unset, being_written, valid };
    State state = State::unset;
    std::uint64_t label = 0;         ///< which element it is
    std::uint64_t contributors = 0;  ///< bit r: rank r's share is in it
    std::int64_t number = 0;
    friend bool operator==(const Element&, const Element&) = default;
};
using Elements = std::vector<Element>;

/// What rank `rank` puts into element `label`.
[[nodiscard]] inline Element contribution(std::uint64_t rank, std::uint64_t label) {
    const auto number = static_cast<std::int64_t>((rank * 7919 + label * 104'729 + 13) % 1009) - 504;
    return {Element::State::valid, label, 1ULL << rank, number};
}

[[nodiscard]] inline Element sum(const Element& a, const Element& b) {
    if (a.label != b.label) throw Fault("sum of different elements");
    if ((a.contributors & b.contributors) != 0) throw Fault("a contribution added twice");
    return {Element::State::valid, a.label, a.contributors | b.contributors, a.number + b.number};
}

/// A range of elements of one buffer of one rank.
struct Region {
    Place place = Place::none;
    std::uint64_t begin = 0;
    std::uint64_t count = 0;
    [[nodiscard]] bool overlaps(const Region& other) const {
        return place == other.place && count > 0 && other.count > 0 && begin < other.begin + other.count &&
               other.begin < begin + count;
    }
};

/// The buffers of one rank, with who reads them.
class RankMemory {
public:
    RankMemory(const Call& call, std::uint32_t rank);

    /// The elements of a region that a send or local op reads from now until end_read().
    Elements begin_read(const Region& region);
    void end_read(const Region& region);
    /// From now until end_write() the region's content is undefined.
    void begin_write(const Region& region);
    void end_write(const Region& region, const Elements& content);

    [[nodiscard]] const Elements& result() const { return result_; }
    [[nodiscard]] const Elements& source() const { return source_; }

private:
    Elements& buffer(const Region& region);

    Elements source_;
    Elements result_;
    Elements work_;
    std::vector<Region> readers_;
};

/// What the source of a rank holds at the start, and what its result must hold at the end.
[[nodiscard]] Elements initial_source(const Call& call, std::uint32_t rank);
[[nodiscard]] Elements expected_result(const Call& call, std::uint32_t rank);

}  // namespace gradstorm::collective
