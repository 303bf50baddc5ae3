// SPDX-License-Identifier: Apache-2.0
#include "engine/events/record_codec.h"

#include <optional>
#include <string_view>
#include <utility>
#include <zlib.h>

namespace gradstorm::events {
namespace {

constexpr std::string_view kMagic = "gradstorm journal";
constexpr std::uint32_t kChunkKinds = 3;

template <class T>
void put(std::string& out, T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i)
        out.push_back(static_cast<char>(static_cast<unsigned char>(value >> (8 * i) & 0xffU)));
}

/// Takes little-endian integers and texts off the front of a body; `ok` turns false when the body is too short.
class Cutter {
public:
    explicit Cutter(std::span<const std::byte> bytes) : bytes_(bytes) {}

    template <class T>
    T integer() {
        T value = 0;
        const auto part = take(sizeof(T));
        for (std::size_t i = 0; i < part.size(); ++i)
            value = static_cast<T>(value | static_cast<T>(std::to_integer<T>(part[i]) << (8 * i)));
        return value;
    }
    std::string text(std::size_t length) {
        const auto part = take(length);
        std::string out(part.size(), '\0');
        for (std::size_t i = 0; i < part.size(); ++i) out[i] = std::to_integer<char>(part[i]);
        return out;
    }
    [[nodiscard]] std::size_t left() const { return bytes_.size(); }
    [[nodiscard]] bool ok() const { return ok_; }

private:
    std::span<const std::byte> take(std::size_t length) {
        if (length > bytes_.size()) {
            ok_ = false;
            return {};
        }
        const auto part = bytes_.first(length);
        bytes_ = bytes_.subspan(length);
        return part;
    }

    std::span<const std::byte> bytes_;
    bool ok_ = true;
};

/// Over type and body: everything behind the checksum itself.
std::uint32_t checksum(std::span<const std::byte> covered) {
    return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(covered.data()), covered.size()));
}

void begin_record(std::string& out, RecordType type) {
    out.assign(kRecordHeader - 4, '\0');
    put(out, static_cast<std::uint32_t>(type));
}

void end_record(std::string& out) {
    std::string front;
    put(front, static_cast<std::uint32_t>(out.size() - kRecordHeader));
    put(front, checksum(std::as_bytes(std::span{out}).subspan(8)));
    out.replace(0, front.size(), front);
}

std::optional<Event> cut_event(std::span<const std::byte> body) {
    Cutter cut{body};
    Event event;
    event.time = Instant{Nanoseconds{static_cast<std::int64_t>(cut.integer<std::uint64_t>())}};
    const auto kind_length = cut.integer<std::uint32_t>();
    event.kind = cut.text(kind_length);
    event.json = cut.text(cut.left());
    if (!cut.ok() || event.kind.empty()) return std::nullopt;
    return event;
}

std::optional<Chunk> cut_chunk(std::span<const std::byte> body) {
    Cutter cut{body};
    const auto kind = cut.integer<std::uint32_t>();
    Chunk chunk;
    chunk.kind = static_cast<ChunkKind>(kind);
    chunk.measurement = cut.integer<std::uint32_t>();
    chunk.call = cut.integer<std::uint32_t>();
    chunk.repetition = cut.integer<std::uint32_t>();
    if (!cut.ok() || kind >= kChunkKinds || cut.left() % 8 != 0) return std::nullopt;
    chunk.values.reserve(cut.left() / 8);
    while (cut.left() != 0) chunk.values.push_back(cut.integer<std::uint64_t>());
    return chunk;
}

/// One record's place in the bytes; empty when the bytes end before it does.
struct Framed {
    std::uint32_t type = 0;
    std::span<const std::byte> body;
    std::string damage;
};

std::optional<Framed> next_record(std::span<const std::byte> bytes) {
    if (bytes.size() < kRecordHeader) return std::nullopt;
    Cutter cut{bytes};
    const std::size_t length = cut.integer<std::uint32_t>();
    const auto expected = cut.integer<std::uint32_t>();
    Framed framed;
    framed.type = cut.integer<std::uint32_t>();
    if (length > kMaxRecordBody) {
        framed.damage = "its length is impossible";
        return framed;
    }
    if (cut.left() < length) return std::nullopt;
    framed.body = bytes.subspan(kRecordHeader, length);
    if (checksum(bytes.subspan(8, length + 4)) != expected) framed.damage = "its checksum is wrong";
    return framed;
}

/// Empty: the record was handed out. Else what is wrong with it.
std::string hand_out(const Framed& record, const std::function<void(const Event&)>& on_event,
                     const std::function<void(const Chunk&)>& on_chunk) {
    switch (static_cast<RecordType>(record.type)) {
        case RecordType::event:
            if (const auto event = cut_event(record.body)) {
                on_event(*event);
                return {};
            }
            return "its event is malformed";
        case RecordType::chunk:
            if (const auto chunk = cut_chunk(record.body)) {
                on_chunk(*chunk);
                return {};
            }
            return "its chunk is malformed";
        case RecordType::format: break;
    }
    return "its type " + std::to_string(record.type) + " is unknown here";
}

Result<void> check_format(const Framed& record) {
    Cutter cut{record.body};
    const bool ours = record.damage.empty() && record.type == static_cast<std::uint32_t>(RecordType::format) &&
                      cut.text(kMagic.size()) == kMagic;
    const auto version = cut.integer<std::uint32_t>();
    if (!ours || !cut.ok()) return failure(ErrorCode::store, "not a gradstorm journal");
    if (version > kFormatVersion)
        return failure(ErrorCode::store, "journal format " + std::to_string(version) +
                                             " is newer than this version understands (" +
                                             std::to_string(kFormatVersion) + "), read it with a newer gradstorm");
    return {};
}

}  // namespace

void encode_format(std::string& out) {
    begin_record(out, RecordType::format);
    out.append(kMagic);
    put(out, kFormatVersion);
    end_record(out);
}

void encode(const Event& event, std::string& out) {
    begin_record(out, RecordType::event);
    put(out, static_cast<std::uint64_t>(event.time.time_since_epoch().count()));
    put(out, static_cast<std::uint32_t>(event.kind.size()));
    out.append(event.kind).append(event.json);
    end_record(out);
}

void encode(const Chunk& chunk, std::string& out) {
    begin_record(out, RecordType::chunk);
    put(out, static_cast<std::uint32_t>(chunk.kind));
    put(out, chunk.measurement);
    put(out, chunk.call);
    put(out, chunk.repetition);
    for (const std::uint64_t value : chunk.values) put(out, value);
    end_record(out);
}

Result<Decoded> decode(std::span<const std::byte> bytes, bool at_start,
                       const std::function<void(const Event&)>& on_event,
                       const std::function<void(const Chunk&)>& on_chunk) {
    Decoded decoded;
    while (const auto record = next_record(bytes.subspan(decoded.consumed))) {
        if (at_start && decoded.records == 0) {
            if (auto good = check_format(*record); !good) return tl::unexpected(good.error());
        } else {
            decoded.damage = record->damage.empty() ? hand_out(*record, on_event, on_chunk) : record->damage;
            if (!decoded.damage.empty()) break;
        }
        decoded.consumed += kRecordHeader + record->body.size();
        ++decoded.records;
    }
    return decoded;
}

}  // namespace gradstorm::events
