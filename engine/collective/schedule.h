// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "base/units.h"
#include "engine/measure/data_type.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// Schedules: what each rank of a collective does, as a few in-order streams of fixed-size ops.
///
/// A schedule is never materialised: a ring over 131,072 ranks has 3.4 x 10^10 steps. Each stream of each rank is a
/// cursor that makes its next op from O(1) state.
namespace gradstorm::collective {

enum class OpKind : std::uint8_t {
    send,     ///< one message to `peer`
    receive,  ///< one message from `peer`; completes when all of its bytes are in their place
    reduce,   ///< to[to_offset..] = from[from_offset..] + slot: the sum of an own buffer and the landed message
    copy,     ///< to[to_offset..] = from[from_offset..]
};

/// The buffers of a rank that ops name. Offsets of `slot` are 0: the executor knows which landing slot is meant, since
/// messages land in the slots of their connection in turn, and reduce and copy empty them in the same turn.
enum class Place : std::uint8_t {
    source,  ///< the caller's input; never written
    result,  ///< the caller's output
    work,    ///< partial sums that are nobody's output (reduce-scatter)
    slot,    ///< a landing slot of the connection the message came on
    none,    ///< no buffer: zero-length messages
};

/// "Stream `stream` of the same rank has completed at least `completed` ops of this call." completed == 0: nothing to
/// wait for.
struct Dependency {
    std::uint32_t stream = 0;
    std::uint64_t completed = 0;
};

/// One step of a stream. Ranks are group-local (0 <= peer < n). A message's landing place is known to both of its ends,
/// because both run the same schedule: `to` and `to_offset` of a send are those in the peer's buffers, and equal those
/// of the receive it meets.
///
/// Dependencies of a receive must hold before its landing place may be granted to the sender; those of the other kinds
/// before the op may start.
struct Op {
    OpKind kind = OpKind::send;
    Place from = Place::none;  ///< send, copy, reduce: the own buffer that is read
    Place to = Place::none;    ///< receive, copy, reduce: the own buffer that is written; send: the peer's
    std::uint32_t peer = 0;
    std::uint32_t step = 0;  ///< of the algorithm, from 0: for messages to people
    std::uint64_t from_offset = 0;
    std::uint64_t to_offset = 0;
    std::uint64_t length = 0;  ///< bytes; 0 is a real, empty message
    std::array<Dependency, 2> after{};
};

/// One in-order stream of one rank. Resumable, O(1) state, cheap to copy through clone().
class Cursor {
public:
    virtual ~Cursor() = default;
    /// Writes the next ops to `out` and returns how many; fewer than there is room for only at the end of the stream.
    virtual std::size_t next(std::span<Op> out) = 0;
    /// Writes the next op and returns true, or returns false at the end of the stream.
    bool next(Op& op) { return next(std::span<Op>(&op, 1)) == 1; }
    /// Goes back to the first op: the same call again, without making a new cursor.
    virtual void restart() = 0;
    [[nodiscard]] virtual std::unique_ptr<Cursor> clone() const = 0;
};

/// What a stream is for. The streams of a rank are numbered channel-major in this order: stream = channel * 3 + role.
/// `local` holds reduce and copy. A stream without ops is simply at its end.
enum class Role : std::uint8_t { send = 0, receive = 1, local = 2 };
inline constexpr std::uint32_t kRoles = 3;
[[nodiscard]] constexpr std::uint32_t stream_index(std::uint32_t channel, Role role) {
    return channel * kRoles + static_cast<std::uint32_t>(role);
}

/// How finely a schedule copies what a collective library does (docs/architecture.md, section 7).
enum class Fidelity : std::uint8_t { bytes, messages };

/// One collective, resolved: everything a schedule depends on. `bytes` is S as nccl-tests defines it: the buffer of
/// all_reduce, broadcast and send_receive; the total over all n ranks of reduce_scatter, all_gather and all_to_all.
struct Call {
    measure::CollectiveKind kind = measure::CollectiveKind::all_reduce;
    measure::DataType type = measure::DataType::float32;
    std::uint32_t ranks = 2;  ///< n >= 2
    Bytes bytes{};            ///< a multiple of the element size
    std::uint32_t root = 0;   ///< broadcast
    std::uint32_t from = 0;   ///< send_receive of one pair: from != to
    std::uint32_t to = 0;
    std::uint32_t channels = 1;
    Bytes chunk{1U << 20U};  ///< largest message at fidelity `messages`; ignored at `bytes`
    Fidelity fidelity = Fidelity::messages;
};

/// Totals of one rank in one call, in closed form; proved equal to its cursors for n <= 33.
struct Totals {
    std::uint64_t messages_sent = 0;
    std::uint64_t messages_received = 0;
    Bytes bytes_sent{};
    Bytes bytes_received{};
    Bytes bytes_reduced{};
    Bytes largest_message{};
    std::uint64_t steps = 0;  ///< dependent steps of the whole call: the latency term
    friend bool operator==(const Totals&, const Totals&) = default;
};

/// How many messages of one length.
struct MessageCount {
    std::uint64_t length = 0;  ///< bytes
    std::uint64_t count = 0;
    friend bool operator==(const MessageCount&, const MessageCount&) = default;
};

/// The schedule of one call: a factory of cursors. Immutable, shared by all ranks and threads.
class Schedule {
public:
    virtual ~Schedule() = default;
    [[nodiscard]] virtual const Call& call() const = 0;
    [[nodiscard]] virtual std::unique_ptr<Cursor> cursor(std::uint32_t rank, std::uint32_t channel,
                                                         Role role) const = 0;
    [[nodiscard]] virtual Totals totals(std::uint32_t rank) const = 0;
    /// Ranks with equal totals and message counts follow each other: the first rank of each such class, ascending, from
    /// 0. A few a channel, whatever the number of ranks.
    [[nodiscard]] virtual std::vector<std::uint32_t> class_starts() const = 0;
    /// What `rank` sends, by ascending length; in closed form too: a few lengths a channel.
    [[nodiscard]] virtual std::vector<MessageCount> messages(std::uint32_t rank) const = 0;
    /// The ranks that `rank` sends to on `channel`, ascending; the connections a session has to make.
    [[nodiscard]] virtual std::vector<std::uint32_t> peers(std::uint32_t rank, std::uint32_t channel) const = 0;
    /// "ring", "pairwise", ...
    [[nodiscard]] virtual std::string algorithm() const = 0;
};

/// Chooses the algorithm for the call and refuses what cannot be: n < 2, a root outside the group, bytes that are no
/// whole number of elements.
[[nodiscard]] Result<std::unique_ptr<const Schedule>> make_schedule(const Call& call);

/// Neighbouring ranks that do the same amount of work.
struct RankClass {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    Totals totals;  ///< of each of them
};

/// The closed-form summary of a schedule: cheap for any number of ranks. The counts of the classes add up to all ranks.
[[nodiscard]] std::vector<RankClass> rank_classes(const Schedule& schedule);

/// Bytes of the buffers that a rank needs for the call, by place. (Slots: Totals::largest_message each.)
struct BufferSizes {
    Bytes source{};
    Bytes result{};
    Bytes work{};
};
[[nodiscard]] BufferSizes buffer_sizes(const Call& call, std::uint32_t rank);

}  // namespace gradstorm::collective
