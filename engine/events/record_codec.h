// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "engine/events/journal.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

/// The bytes of a journal's records (docs/events.md, "Records"). No files here: journal.h has those.
namespace gradstorm::events {

/// What record types hold. Part of the format.
enum class RecordType : std::uint32_t { format = 1, event = 2, chunk = 3 };

/// Bytes before a record's body: length of the body, CRC-32, type; each a little-endian 32-bit word.
inline constexpr std::size_t kRecordHeader = 12;
/// A longer body is no record of ours: memory stays bounded whatever a damaged length says.
inline constexpr std::size_t kMaxRecordBody = std::size_t{1} << 28U;

/// Each encode() replaces `out` by one whole record.
void encode_format(std::string& out);
void encode(const Event& event, std::string& out);
void encode(const Chunk& chunk, std::string& out);

struct Decoded {
    std::size_t consumed = 0;   ///< bytes of the whole records that were handed out
    std::uint64_t records = 0;  ///< the format record counts
    std::string damage;         ///< why decoding cannot go on behind `consumed`; empty: more bytes may help
};

/// Decodes the whole records at the front of `bytes`. `at_start`: the bytes begin with the journal's format record; it
/// fails for something that is no journal, or one of a newer format, named.
[[nodiscard]] Result<Decoded> decode(std::span<const std::byte> bytes, bool at_start,
                                     const std::function<void(const Event&)>& on_event,
                                     const std::function<void(const Chunk&)>& on_chunk);

}  // namespace gradstorm::events
