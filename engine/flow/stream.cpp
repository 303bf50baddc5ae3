// SPDX-License-Identifier: Apache-2.0
#include "engine/flow/stream.h"

#include "engine/wire/byte_order.h"
#include "engine/wire/icrc.h"
#include "engine/wire/line_rate.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace gradstorm::flow {
namespace {

using wire::TemplateKind;

constexpr std::uint32_t kPsnMask = 0xFF'FFFF;
constexpr std::uint32_t kLargestMessage = 1U << 31U;
constexpr std::size_t kLowAddress = 3;  // bytes of an address that change often

/// Of the places that differ between queue pairs, header bytes between them and the payload.
template <TemplateKind K>
struct Identity {
    static constexpr std::size_t kExtension = wire::Layout<K>::kExtension;
    static constexpr std::size_t kQpnPlace = kExtension + 4;
    static constexpr std::size_t kPortPlace = wire::HeaderDeltas::source_port_place(kExtension);
};

Result<void> check(const StreamSettings& settings) {
    const auto refuse = [](std::string why) { return failure(ErrorCode::invalid_input, "flow: " + std::move(why)); };
    if (settings.queue_pairs.empty()) return refuse("no queue pairs");
    const std::uint32_t mtu = settings.path_mtu;
    if (!std::has_single_bit(mtu) || mtu < 256 || mtu > wire::kMaxPathMtu) {
        return refuse(fmt::format("path mtu {} is not one of 256, 512, 1024, 2048, 4096", mtu));
    }
    if (settings.message_bytes == 0 || settings.message_bytes > kLargestMessage) {
        return refuse(fmt::format("messages of {} bytes, a message has 1 byte to 2 GiB", settings.message_bytes));
    }
    if (settings.message_bytes > settings.remote_length) {
        return refuse(fmt::format("messages of {} bytes do not fit the {} bytes they go to", settings.message_bytes,
                                  settings.remote_length));
    }
    if (settings.turn_frames == 0) return refuse("turns of no frames");
    return {};
}

}  // namespace

Result<Stream> Stream::create(const StreamSettings& settings, const wire::FrameChecksum& checksum) {
    if (auto valid = check(settings); !valid) return tl::unexpected(valid.error());
    return Stream(settings, checksum);
}

Stream::Stream(const StreamSettings& settings, const wire::FrameChecksum& checksum)
    : settings_(settings), turn_left_(settings.turn_frames) {
    constexpr std::array<TemplateKind, kParts> kKinds{TemplateKind::write_only, TemplateKind::write_first,
                                                      TemplateKind::write_middle, TemplateKind::write_last};
    const std::uint32_t mtu = settings.path_mtu;
    frames_ = static_cast<std::uint32_t>(wire::packet_count(settings.message_bytes, mtu));
    const std::uint32_t last = settings.message_bytes - (frames_ - 1) * mtu;
    wire::FrameHeaders headers = settings.headers;
    headers.bth.destination_qpn = 0;
    headers.udp.source_port = 0;
    const auto full = std::make_shared<const wire::HeaderDeltas>(mtu);
    const auto rest = last == mtu ? full : std::make_shared<const wire::HeaderDeltas>(last + wire::pad_count(last));
    for (std::size_t i = 0; i < kParts; ++i) {
        const bool ends = kKinds[i] == TemplateKind::write_only || kKinds[i] == TemplateKind::write_last;
        const std::uint32_t payload = ends ? last : mtu;
        PartTemplate& part = parts_[i];
        part.header.make(kKinds[i], headers, payload, checksum);
        part.header.set_message(kKinds[i], settings.remote_key, settings.message_bytes, checksum);
        part.deltas = ends ? rest : full;
        part.pad = checksum.gathered() ? 0 : wire::pad_count(payload);
        part.icrc_place = part.header.end() + checksum.icrc_place(payload + wire::pad_count(payload));
    }
    for (const StreamQueuePair& pair : settings.queue_pairs) {
        pairs_.push_back({.address = settings.remote_address,
                          .qpn = pair.qpn,
                          .psn = pair.first_psn & kPsnMask,
                          .source_port = pair.source_port});
        number(pairs_.back());
        identify(pairs_.back());
        locate(pairs_.back());
    }
}

/// Calls with each part that the messages have, and its kind.
template <class Visit>
[[gnu::always_inline]] inline void Stream::for_each_part(Visit&& visit) const {
    if (frames_ == 1) {
        visit.template operator()<TemplateKind::write_only>(Part::only);
        return;
    }
    visit.template operator()<TemplateKind::write_first>(Part::first);
    visit.template operator()<TemplateKind::write_middle>(Part::middle);
    visit.template operator()<TemplateKind::write_last>(Part::last);
}

void Stream::number(QueuePair& pair) const {
    for_each_part([&]<TemplateKind K>(Part part) {
        const auto index = static_cast<std::size_t>(part);
        pair.number[index] = parts_[index].deltas->template field<Identity<K>::kQpnPlace, 3>(pair.qpn);
    });
}

inline void Stream::identify(QueuePair& pair) const {
    for_each_part([&]<TemplateKind K>(Part part) {
        const auto index = static_cast<std::size_t>(part);
        pair.identity[index] =
            pair.number[index] ^ parts_[index].deltas->template field<Identity<K>::kPortPlace, 2>(pair.source_port);
    });
}

void Stream::locate(QueuePair& pair) const {
    const Part part = frames_ == 1 ? Part::only : Part::first;
    pair.high_address = parts_[static_cast<std::size_t>(part)].deltas->field<8 + kLowAddress, 8 - kLowAddress>(
        pair.address >> (8 * kLowAddress));
}

void Stream::begin_message(QueuePair& pair) {
    pair.sent = 0;
    const std::uint64_t before = pair.address;
    pair.address += settings_.message_bytes;
    const std::uint64_t end = settings_.remote_address + settings_.remote_length;
    if (end - pair.address < settings_.message_bytes) pair.address = settings_.remote_address;
    if ((pair.address ^ before) >> (8 * kLowAddress) != 0) locate(pair);
    if (settings_.source_port_step == 0) return;
    pair.source_port = static_cast<std::uint16_t>(pair.source_port + settings_.source_port_step);
    identify(pair);
}

void Stream::build(std::span<wire::Frame> frames) {
    std::size_t built = 0;
    while (built < frames.size()) {
        const std::size_t some = std::min<std::size_t>(frames.size() - built, turn_left_);
        take_turn(pairs_[turn_], frames.subspan(built, some));
        built += some;
        turn_left_ -= static_cast<std::uint32_t>(some);
        if (turn_left_ > 0) continue;
        turn_left_ = settings_.turn_frames;
        if (++turn_ == pairs_.size()) turn_ = 0;
    }
}

void Stream::take_turn(QueuePair& pair, std::span<wire::Frame> frames) {
    for (wire::Frame& frame : frames) {
        const Part part = part_of(pair.sent);
        switch (part) {
            case Part::middle: build_part<Part::middle>(pair, frame); break;
            case Part::only: build_part<Part::only>(pair, frame); break;
            case Part::first: build_part<Part::first>(pair, frame); break;
            case Part::last: build_part<Part::last>(pair, frame); break;
        }
        ++pair.sent;
        pair.psn = (pair.psn + 1) & kPsnMask;
        if (part == Part::only || part == Part::last) begin_message(pair);
    }
}

template <Stream::Part P>
void Stream::build_part(const QueuePair& pair, wire::Frame& frame) const {
    constexpr TemplateKind kKind = P == Part::only    ? TemplateKind::write_only
                                   : P == Part::first ? TemplateKind::write_first
                                   : P == Part::last  ? TemplateKind::write_last
                                                      : TemplateKind::write_middle;
    const PartTemplate& part = parts_[static_cast<std::size_t>(P)];
    part.header.fill<kKind>(frame, {.psn_word = pair.psn, .address = pair.address});
    std::uint32_t icrc = part.header.icrc ^ pair.identity[static_cast<std::size_t>(P)] ^
                         part.deltas->field<Identity<kKind>::kExtension, 3>(pair.psn);
    if constexpr (P == Part::only || P == Part::first) {
        icrc ^= pair.high_address ^ part.deltas->field<8, kLowAddress>(pair.address);
    }
    std::byte* payload = frame.buffer + part.header.end();
    wire::store_big<std::uint32_t>(payload - Identity<kKind>::kQpnPlace - 4, pair.qpn);
    wire::store_big<std::uint16_t>(payload - Identity<kKind>::kPortPlace - 2, pair.source_port);
    if constexpr (P == Part::only || P == Part::last) {
        for (std::size_t i = 1; i <= part.pad; ++i) frame.buffer[part.icrc_place - i] = std::byte{0};
    }
    wire::put_icrc(frame.buffer + part.icrc_place, icrc);
}

std::uint16_t Stream::next_length() const {
    return parts_[static_cast<std::size_t>(part_of(pairs_[turn_].sent))].header.frame_length;
}

}  // namespace gradstorm::flow
