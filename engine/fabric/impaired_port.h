// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/splitmix64.h"
#include "base/time.h"
#include "engine/fabric/delay_queue.h"
#include "engine/fabric/forwarding_table.h"
#include "engine/fabric/impaired_source.h"
#include "engine/fabric/impairment.h"
#include "engine/wire/address.h"
#include "engine/wire/frame.h"
#include "engine/wire/frame_port.h"
#include "engine/wire/gathered_frame.h"
#include "engine/wire/headers.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace gradstorm::fabric {

struct ImpairedPortOptions {
    std::uint64_t seed = 1;
    /// Frames that may wait for their time; beyond it send() takes no more. Their buffers are missing in the pool.
    std::size_t held_frames = 4096;
    /// Corrupt headers and ICRC only: for pools whose constant payload must survive.
    bool spare_payload = false;
    /// The inner port's frames are gathered (wire/gathered_frame.h): no payload to corrupt.
    bool gathered = false;
};

/// A FramePort in front of another that does to the frames sent through it what bad networks do: drop, duplicate,
/// reorder, corrupt, delay, slow down, mark. By source MAC (an emulated HCA) or for all; by seeded chance, or exactly
/// by script. The same seed, frames and times give the same faults.
///
/// A frame is lost only where a drop was drawn, scripted and counted. Time moves by advance() alone. Unowned: the inner
/// port must outlive this one. One worker's, like the port behind it.
template <wire::FramePort P>
class ImpairedPort {
public:
    ImpairedPort(P& inner, const ImpairedPortOptions& options)
        : inner_(&inner), options_(options), held_(options.held_frames) {
        sources_.emplace_back(Impairment{}, options.seed);
    }

    // --- control, before or between frames

    /// For every source that has no impairment of its own.
    void impair_all(const Impairment& impairment) { sources_.front().set(impairment); }

    /// For the frames of this source MAC.
    void impair(const wire::MacAddress& source, const Impairment& impairment) {
        const auto known = by_mac_.find(source);
        if (known != ForwardingTable::kNoPort) {
            sources_[known].set(impairment);
            return;
        }
        std::uint64_t seed = options_.seed;
        for (const std::uint8_t octet : source.octets) seed = splitmix64(seed ^ octet);
        by_mac_.insert(source, static_cast<ForwardingTable::Port>(sources_.size()));
        sources_.emplace_back(impairment, seed);
    }

    void script(ScriptedFault fault) { script_.push_back(std::move(fault)); }

    [[nodiscard]] ImpairmentCounters counters() const {
        ImpairmentCounters sum;
        for (const ImpairedSource& source : sources_) sum += source.counters;
        return sum;
    }
    /// Of a source with an impairment of its own; otherwise of all the others together.
    [[nodiscard]] const ImpairmentCounters& counters(const wire::MacAddress& source) const {
        const auto known = by_mac_.find(source);
        return sources_[known == ForwardingTable::kNoPort ? 0 : known].counters;
    }
    [[nodiscard]] std::size_t held() const { return held_.size(); }

    // --- wire::FramePort

    std::size_t allocate(std::span<wire::Frame> out) { return inner_->allocate(out); }
    std::size_t receive(std::span<wire::Frame> out) { return inner_->receive(out); }
    void free(std::span<const wire::Frame> frames) { inner_->free(frames); }
    [[nodiscard]] std::size_t room() const { return std::min(inner_->room(), held_.room()); }

    std::size_t send(std::span<const wire::Frame> frames) {
        release_due();
        const std::size_t taken = std::min(frames.size(), room());
        room_for_copies_ = held_.room() - taken;
        for (const wire::Frame& frame : frames.first(taken)) take(frame);
        flush_burst();
        return taken;
    }

    Instant advance(Instant now) {
        now_ = std::max(now_, now);
        const Instant inner_deadline = inner_->advance(now);
        if (release_due()) return now_;  // what moved may have given others work at this very instant
        // Frames that are due but found no room leave when the inner port moves on: its deadline, not theirs.
        const Instant next = held_.next();
        return next > now_ ? std::min(inner_deadline, next) : inner_deadline;
    }
    void mark_deliveries()
        requires wire::MarksDeliveries<P>
    {
        inner_->mark_deliveries();
    }
    [[nodiscard]] bool deliveries_passed()
        requires wire::MarksDeliveries<P>
    {
        return inner_->deliveries_passed();
    }

private:
    static constexpr std::size_t kBurst = 64;

    ImpairedSource& source_of(const wire::Frame& frame) {
        if (sources_.size() == 1 || frame.length < wire::kEthernetSize) return sources_.front();
        wire::MacAddress mac;
        std::memcpy(mac.octets.data(), frame.data() + mac.octets.size(), mac.octets.size());
        const auto known = by_mac_.find(mac);
        return sources_[known == ForwardingTable::kNoPort ? 0 : known];
    }

    void take(const wire::Frame& frame) {
        ImpairedSource& source = source_of(frame);
        ++source.counters.frames;
        const Verdict verdict = judge(source, frame);
        if (verdict.drop) {
            ++source.counters.dropped;
            inner_->free({&frame, 1});
            return;
        }
        if (verdict.mark && mark_congestion(frame)) ++source.counters.marked;
        if (verdict.duplicate) duplicate(source, frame);
        if (verdict.corrupt && frame.length > wire::kEthernetSize) {
            ++source.counters.corrupted;
            const bool spare = options_.spare_payload || options_.gathered;
            flip_bit(frame, in_buffer(frame, scripted_bit_ ? *scripted_bit_ : source.corrupt_bit(frame, spare)));
        }
        Instant departure = source.departure(now_, frame.length) + verdict.extra_delay;
        if (verdict.reorder) {
            ++source.counters.reordered;
            departure += std::max(source.impairment().reorder_delay, Nanoseconds{1});
        }
        dispatch(source, frame, departure);
    }

    Verdict judge(ImpairedSource& source, const wire::Frame& frame) {
        Verdict verdict = source.draw();
        scripted_bit_.reset();
        for (ScriptedFault& rule : script_) {
            if (rule.matches && !rule.matches(frame)) continue;
            const std::uint64_t number = rule.seen++;
            if (number < rule.first || number - rule.first >= rule.count) continue;
            switch (rule.fault) {
                case Fault::drop: verdict.drop = true; break;
                case Fault::duplicate: verdict.duplicate = true; break;
                case Fault::mark: verdict.mark = true; break;
                case Fault::delay: verdict.extra_delay += rule.delay; break;
                case Fault::corrupt:
                    verdict.corrupt = true;
                    scripted_bit_ = std::min<std::size_t>(rule.bit, std::size_t{frame.length} * 8 - 1);
                    break;
            }
        }
        return verdict;
    }

    /// Where a bit of the frame lies in its buffer; one of a payload that is not there: in the ICRC.
    std::size_t in_buffer(const wire::Frame& frame, std::size_t bit) const {
        if (!options_.gathered) return bit;
        const std::size_t icrc = 8 * (std::size_t{frame.length} - wire::kIcrcSize);
        const std::size_t kept = 8 * (wire::gathered_size(frame) - wire::kIcrcSize);
        return bit < kept ? bit : kept + (bit >= icrc ? bit - icrc : 0);
    }

    // Made before the original may be corrupted; leaves right behind it.
    void duplicate(ImpairedSource& source, const wire::Frame& frame) {
        wire::Frame copy;
        if (room_for_copies_ == 0 || inner_->allocate({&copy, 1}) != 1) {
            ++source.counters.not_duplicated;
            return;
        }
        copy.offset = frame.offset;
        copy.length = frame.length;
        copy.headers = frame.headers;
        std::memcpy(copy.data(), frame.data(), options_.gathered ? wire::gathered_size(frame) : frame.length);
        ++source.counters.duplicated;
        --room_for_copies_;
        copy_ = copy;
    }

    void dispatch(ImpairedSource& source, const wire::Frame& frame, Instant departure) {
        if (departure > now_) {
            ++source.counters.held;
            held_.push(frame, departure);
        } else {
            burst_[burst_size_++] = frame;
            if (burst_size_ == kBurst) flush_burst();
        }
        if (copy_) held_.push(*std::exchange(copy_, std::nullopt), departure);
    }

    void flush_burst() {
        const std::span<const wire::Frame> burst{burst_.data(), std::exchange(burst_size_, 0)};
        if (burst.empty()) return;
        const std::size_t sent = inner_->send(burst);
        for (const wire::Frame& frame : burst.subspan(sent)) held_.push(frame, now_);
    }

    bool release_due() {
        bool moved = false;
        while (!held_.empty() && held_.next() <= now_) {
            const wire::Frame frame = held_.front();
            if (inner_->send({&frame, 1}) == 0) break;
            held_.pop();
            moved = true;
        }
        return moved;
    }

    P* inner_;
    ImpairedPortOptions options_;
    Instant now_{};
    ForwardingTable by_mac_;               // source MAC -> index in sources_
    std::vector<ImpairedSource> sources_;  // the first is for all that have none of their own
    std::vector<ScriptedFault> script_;
    DelayQueue held_;
    std::array<wire::Frame, kBurst> burst_{};
    std::size_t burst_size_ = 0;
    std::optional<std::size_t> scripted_bit_;
    std::optional<wire::Frame> copy_;  // of the frame in hand
    std::size_t room_for_copies_ = 0;  // places of held_ that no frame of this send() may need
};

}  // namespace gradstorm::fabric
