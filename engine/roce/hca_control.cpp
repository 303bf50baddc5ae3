// SPDX-License-Identifier: Apache-2.0
// The control half of HcaCore: what happens before a run, and error reports.
#include "engine/roce/hca_core.h"
#include "engine/roce/psn.h"
#include "engine/wire/aeth.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <string_view>

namespace gradstorm::roce {
namespace {

constexpr std::uint32_t kAckInterval = 64;

std::string name(const transport::QueuePairAddress& end) {
    return fmt::format("{} qpn 0x{:06x}", wire::to_string(end.hca.ip), end.qpn);
}

Result<void> check(const transport::QueuePairAttributes& attributes, std::size_t hca_count) {
    const auto refuse = [](std::string why) {
        return failure(ErrorCode::invalid_input, "cannot create queue pair: " + std::move(why));
    };
    if (attributes.hca >= hca_count) {
        return refuse(fmt::format("hca {} does not exist, the endpoint has {}", attributes.hca, hca_count));
    }
    const std::uint32_t mtu = attributes.path_mtu;
    if (!std::has_single_bit(mtu) || mtu < 256 || mtu > wire::kMaxPathMtu) {
        return refuse(fmt::format("path mtu {} is not one of 256, 512, 1024, 2048, 4096", mtu));
    }
    if (attributes.send_depth == 0 || attributes.send_depth > 32768) {
        return refuse(fmt::format("send depth {} is not in 1 .. 32768", attributes.send_depth));
    }
    if (attributes.receive_depth > 32768) {
        return refuse(fmt::format("receive depth {} is above 32768", attributes.receive_depth));
    }
    if (attributes.window_frames == 0 || attributes.window_frames > 32768) {
        return refuse(fmt::format("window of {} frames is not in 1 .. 32768", attributes.window_frames));
    }
    if (attributes.timeout <= Nanoseconds{0}) return refuse("the timeout is not positive");
    if (attributes.initial_psn > kPsnMask) {
        return refuse(fmt::format("initial psn 0x{:x} has more than 24 bits", attributes.initial_psn));
    }
    return {};
}

/// Why a queue pair failed.
std::string reason_of(const QueuePair& pair, const ResponderState& responder) {
    if (pair.failure != transport::CompletionStatus::flushed) return std::string(transport::to_string(pair.failure));
    const auto what = [&] {
        switch (wire::nak_code(responder.nak_syndrome)) {
            case wire::NakCode::remote_access_error: return "its key, bounds or access are wrong";
            case wire::NakCode::remote_operational_error: return "the receive posted for it is wrong";
            default: return "it is not valid";
        }
    };
    return fmt::format("refused a request of the peer, {}", what());
}

std::string_view causes_of(transport::CompletionStatus status) {
    using enum transport::CompletionStatus;
    switch (status) {
        case retry_exceeded:
            return "; usual causes: the peer is gone, its path drops frames, or path mtu and addresses do not fit";
        case rnr_retry_exceeded:
            return "; usual causes: the peer posts too few receives, or does not poll its completions";
        case remote_access_error:
        case remote_invalid_request:
        case flushed: return "; usual cause: the ends run different profiles or versions";
        default: return "";
    }
}

}  // namespace

HcaCore::HcaCore(const SoftwareHcaConfig& config) : state_(config), requester_(state_), responder_(state_) {
    if (config.gathered) scratch_.resize(wire::kFrameBufferSize);
    const std::size_t hcas = std::max<std::size_t>(1, config.addresses.size());
    slot_bits_ = 24U - static_cast<std::uint32_t>(std::bit_width(hcas - 1));
    slot_mask_ = (1U << slot_bits_) - 1;
}

Result<transport::MemoryRegion> HcaCore::register_memory(std::uint64_t address, std::uint64_t length) {
    if (length == 0 || length - 1 > std::numeric_limits<std::uint64_t>::max() - address) {
        return failure(ErrorCode::invalid_input,
                       fmt::format("cannot register memory at 0x{:x}: a length of {} bytes is {}", address, length,
                                   length == 0 ? "empty" : "beyond the address space"));
    }
    if (state_.regions.size() >= 1U << 24U) {
        return failure(ErrorCode::device, "cannot register memory: all 2^24 keys are in use, register larger ranges");
    }
    return state_.regions.add(address, length);
}

Result<QueuePairIndex> HcaCore::create_queue_pair(const transport::QueuePairAttributes& attributes) {
    if (auto valid = check(attributes, hca_count()); !valid) return tl::unexpected(valid.error());
    const auto index = static_cast<QueuePairIndex>(state_.pairs.size());
    if (index + kFirstSlot > slot_mask_) {
        return failure(ErrorCode::device, fmt::format("cannot create queue pair {}: the 24 bits of a queue pair number "
                                                      "leave {} slots beside {} hcas, use fewer of either",
                                                      index, slot_mask_ + 1 - kFirstSlot, hca_count()));
    }
    QueuePair& pair = state_.pairs.emplace_back();
    pair.attributes = attributes;
    pair.local = {.hca = state_.config.addresses[attributes.hca],
                  .qpn = attributes.hca << slot_bits_ | (index + kFirstSlot),
                  .initial_psn = attributes.initial_psn,
                  .path_mtu = attributes.path_mtu};
    pair.counters = &state_.counters[attributes.hca];
    pair.deltas = &state_.checksum.prepare(attributes.path_mtu);
    pair.empty_deltas = &state_.checksum.prepare(0);
    pair.path_mtu = attributes.path_mtu;
    pair.path_mtu_shift = static_cast<std::uint32_t>(std::countr_zero(attributes.path_mtu));
    pair.timeout = attributes.timeout;
    pair.send_depth = attributes.send_depth;
    pair.receive_depth = attributes.receive_depth;
    pair.receives.reserve(attributes.receive_depth);
    pair.read_jobs.reserve(kMaxReads);
    pair.entries.resize(std::bit_ceil(attributes.send_depth));

    RequesterState& requester = state_.requesters.emplace_back();
    requester.entries = pair.entries.data();
    requester.mask = static_cast<std::uint32_t>(pair.entries.size() - 1);
    requester.unacknowledged = requester.next = requester.high = requester.posted = attributes.initial_psn;
    requester.window = static_cast<std::uint16_t>(attributes.window_frames);
    requester.ack_interval =
        static_cast<std::uint16_t>(std::clamp(attributes.window_frames / 4, std::uint32_t{1}, kAckInterval));

    ResponderState& responder = state_.responders.emplace_back();
    responder.deltas = pair.deltas;
    responder.counters = pair.counters;
    responder.path_mtu = static_cast<std::uint16_t>(attributes.path_mtu);

    state_.completions.grow(std::size_t{attributes.send_depth} + attributes.receive_depth);
    state_.timers.resize(state_.pairs.size());
    state_.ready.reserve(state_.pairs.size());
    state_.owing.reserve(state_.pairs.size());
    return index;
}

Result<void> HcaCore::connect(QueuePairIndex index, const transport::QueuePairAddress& peer) {
    QueuePair& pair = state_.pairs[index];
    const auto refuse = [&](const std::string& why) {
        return failure(ErrorCode::invalid_input,
                       fmt::format("cannot connect {} to {}: {}", name(pair.local), name(peer), why));
    };
    if (pair.connected) return refuse("it is connected already to " + name(pair.peer));
    if (peer.path_mtu != pair.local.path_mtu) {
        return refuse(
            fmt::format("path mtu {} here and {} there, set both ends alike", pair.local.path_mtu, peer.path_mtu));
    }
    if (peer.hca.ip.is_v4() != pair.local.hca.ip.is_v4()) return refuse("one end is IPv4 and the other IPv6");
    if (peer.qpn < kFirstSlot || peer.qpn > wire::k24BitMask)
        return refuse("the peer's queue pair number is not valid");
    if (peer.initial_psn > kPsnMask) return refuse("the peer's initial psn has more than 24 bits");
    pair.peer = peer;
    pair.headers.ethernet = {.destination = peer.hca.mac, .source = pair.local.hca.mac, .vlan = {}};
    pair.headers.ip.source = pair.local.hca.ip;
    pair.headers.ip.destination = peer.hca.ip;
    pair.headers.ip.dscp = pair.attributes.dscp;
    pair.headers.ip.ecn = pair.attributes.ecn_capable ? wire::Ecn::capable_0 : wire::Ecn::not_capable;
    pair.headers.udp.source_port = pair.attributes.udp_source_port;
    pair.headers.bth.destination_qpn = peer.qpn;
    state_.responders[index].expected_psn = peer.initial_psn;
    for (std::size_t shape = 0; shape < wire::kTemplateKinds; ++shape) {
        pair.templates[shape].make(static_cast<wire::TemplateKind>(shape), pair.headers, pair.path_mtu,
                                   state_.checksum);
    }
    pair.connected = true;
    if (requester_.can_send(index)) state_.make_ready(index);
    return {};
}

std::string HcaCore::describe(QueuePairIndex index) const {
    const QueuePair& pair = state_.pairs[index];
    const RequesterState& requester = state_.requesters[index];
    const ResponderState& responder = state_.responders[index];
    std::string text =
        fmt::format("qp {} {} -> {}: ", index, name(pair.local), pair.connected ? name(pair.peer) : "nobody");
    if (pair.failed) {
        text += reason_of(pair, responder);
    } else {
        text += fmt::format("{}, sent to psn {}", pair.connected ? "connected" : "not connected",
                            requester.high & kPsnMask);
    }
    text +=
        fmt::format(", acknowledged to psn {}, expects psn {}, retries {} of {}", requester.unacknowledged & kPsnMask,
                    responder.expected_psn, pair.retries, pair.attributes.retry_limit);
    if (pair.failed) return text + std::string(causes_of(pair.failure));
    return text +
           fmt::format(", {} sends and {} receives posted", requester.tail - requester.head, pair.receives.size());
}

}  // namespace gradstorm::roce
