// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "engine/wire/frame_checksum.h"
#include "engine/wire/header_deltas.h"
#include "engine/wire/header_template.h"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace gradstorm::flow {

/// One of the queue pairs that a stream's frames are addressed to.
struct StreamQueuePair {
    std::uint32_t qpn = 0;  ///< of the receiver
    std::uint32_t first_psn = 0;
    std::uint16_t source_port = 0;  ///< UDP
};

struct StreamSettings {
    wire::FrameHeaders headers;  ///< addresses, VLAN, DSCP, P_Key; the rest is the stream's
    std::uint32_t path_mtu = 4096;
    std::uint32_t message_bytes = 4096;  ///< 1 byte to 2 GiB
    std::vector<StreamQueuePair> queue_pairs;
    std::uint16_t source_port_step = 0;  ///< what each message of a queue pair adds to its source port, modulo 2^16
    std::uint32_t remote_key = 0;
    std::uint64_t remote_address = 0;
    std::uint64_t remote_length = std::uint64_t{1} << 30U;  ///< where messages go, one behind the other, then again
    std::uint32_t turn_frames = 16;                         ///< of a queue pair before the next one's turn
};

/// The frames of RDMA WRITEs, sent once and never again: no acknowledgement is asked for or expected. Messages of each
/// queue pair follow each other, queue pairs take turns. Synthetic payload: buffers hold it (frame_port.h), or frames
/// are gathered.
///
/// A frame costs the copy of a prepared header and a table look-up for each byte that differs in it; what differs
/// between queue pairs is looked up once a message. One thread; build() allocates nothing.
class Stream {
public:
    /// Errors: invalid_input (no queue pairs, sizes that no frame has). `checksum` must outlive the stream.
    [[nodiscard]] static Result<Stream> create(const StreamSettings& settings, const wire::FrameChecksum& checksum);

    /// Builds the next frames, in as many buffers of a port.
    void build(std::span<wire::Frame> frames);

    /// Length on the wire's layer 2 without FCS of the frame that is next.
    [[nodiscard]] std::uint16_t next_length() const;

private:
    /// The frames of a message by their place in it.
    enum class Part : std::uint8_t { only, first, middle, last };
    static constexpr std::size_t kParts = 4;

    /// What the frames of one part have in common, and the deltas for their payload.
    struct PartTemplate {
        wire::HeaderTemplate header;
        std::shared_ptr<const wire::HeaderDeltas> deltas;
        std::size_t icrc_place = 0;  ///< in the buffer
        std::size_t pad = 0;
    };

    struct QueuePair {
        std::uint64_t address = 0;  ///< of the message
        std::uint32_t qpn = 0;
        std::uint32_t psn = 0;
        std::uint32_t sent = 0;  ///< frames of the message
        std::uint16_t source_port = 0;
        // What is looked up less often than once a frame: deltas, by part.
        std::array<std::uint32_t, kParts> number{};    ///< of the QPN
        std::array<std::uint32_t, kParts> identity{};  ///< of the QPN and the source port
        std::uint32_t high_address = 0;                ///< of the address without its low bytes
    };

    Stream(const StreamSettings& settings, const wire::FrameChecksum& checksum);

    [[nodiscard]] Part part_of(std::uint32_t sent) const {
        if (frames_ == 1) return Part::only;
        return sent == 0 ? Part::first : sent + 1 == frames_ ? Part::last : Part::middle;
    }
    void take_turn(QueuePair& pair, std::span<wire::Frame> frames);
    template <Part P>
    void build_part(const QueuePair& pair, wire::Frame& frame) const;
    template <class Visit>
    void for_each_part(Visit&& visit) const;
    void begin_message(QueuePair& pair);
    void number(QueuePair& pair) const;
    void identify(QueuePair& pair) const;
    void locate(QueuePair& pair) const;

    StreamSettings settings_;
    std::uint32_t frames_ = 1;  ///< of a message
    std::array<PartTemplate, kParts> parts_;
    std::vector<QueuePair> pairs_;
    std::size_t turn_ = 0;         ///< whose it is
    std::uint32_t turn_left_ = 0;  ///< frames of it
};

}  // namespace gradstorm::flow
