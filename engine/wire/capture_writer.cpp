// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/capture_writer.h"

#include "engine/wire/byte_order.h"

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace gradstorm::wire {
namespace {

using namespace capture_format;

constexpr std::size_t kFlushSize = std::size_t{1} << 18U;

/// Appends one pcapng block to a buffer: the length is patched when the block ends.
class Block {
public:
    Block(std::vector<std::byte>& out, std::uint32_t type) : out_(out), start_(out.size()) {
        put(type);
        put<std::uint32_t>(0);
    }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    ~Block() {
        const auto length = static_cast<std::uint32_t>(out_.size() - start_ + sizeof(std::uint32_t));
        store_little(&out_[start_ + sizeof(std::uint32_t)], length);
        put(length);
    }

    template <std::unsigned_integral T>
    void put(T value) {
        out_.resize(out_.size() + sizeof(T));
        store_little(&out_[out_.size() - sizeof(T)], value);
    }
    /// Bytes, then zeros up to a multiple of 4.
    void put(std::span<const std::byte> bytes) {
        out_.insert(out_.end(), bytes.begin(), bytes.end());
        out_.resize(out_.size() + (4 - bytes.size() % 4) % 4);
    }
    void put_option(std::uint16_t code, std::span<const std::byte> value) {
        put(code);
        put(static_cast<std::uint16_t>(value.size()));
        put(value);
    }
    void end_options() { put<std::uint32_t>(kOptionEnd); }

private:
    std::vector<std::byte>& out_;
    std::size_t start_;
};

std::span<const std::byte> as_bytes(std::string_view text) { return std::as_bytes(std::span{text}); }

Error write_error(const std::filesystem::path& path, std::string_view what, int number) {
    return {ErrorCode::device, fmt::format("cannot {} the capture file {}: {}", what, path.string(),
                                           std::generic_category().message(number))};
}

}  // namespace

CaptureWriter::CaptureWriter(std::filesystem::path path, int file, Nanoseconds origin)
    : path_(std::move(path)), file_(file), origin_(origin) {
    pending_.reserve(kFlushSize + kFlushSize / 4);
}

CaptureWriter::CaptureWriter(CaptureWriter&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, -1)),
      origin_(other.origin_),
      interfaces_(other.interfaces_),
      pending_(std::move(other.pending_)),
      size_(other.size_) {}

CaptureWriter& CaptureWriter::operator=(CaptureWriter&& other) noexcept {
    if (this != &other) {
        static_cast<void>(close());
        path_ = std::move(other.path_);
        file_ = std::exchange(other.file_, -1);
        origin_ = other.origin_;
        interfaces_ = other.interfaces_;
        pending_ = std::move(other.pending_);
        size_ = other.size_;
    }
    return *this;
}

CaptureWriter::~CaptureWriter() { static_cast<void>(close()); }

Result<CaptureWriter> CaptureWriter::create(const std::filesystem::path& path, std::span<const std::string> interfaces,
                                            Nanoseconds origin) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) return tl::unexpected{write_error(path, "create", errno)};
    CaptureWriter writer{path, file, origin};
    writer.append_section();
    for (const auto& name : interfaces) writer.append_interface(name);
    if (auto flushed = writer.flush(); !flushed) return tl::unexpected{flushed.error()};
    return writer;
}

void CaptureWriter::append_section() {
    Block block{pending_, kSectionHeaderBlock};
    block.put(kByteOrderMagic);
    block.put<std::uint16_t>(1);  // version 1.0
    block.put<std::uint16_t>(0);
    block.put(~std::uint64_t{0});  // section length: not known
    block.put_option(kOptionUserApplication, as_bytes("gradstorm"));
    block.end_options();
}

void CaptureWriter::append_interface(const std::string& name) {
    constexpr std::byte kNanoseconds[]{std::byte{9}};  // 10^-9 s
    Block block{pending_, kInterfaceBlock};
    block.put(static_cast<std::uint16_t>(kLinkTypeEthernet));
    block.put<std::uint16_t>(0);
    block.put<std::uint32_t>(0);  // no limit of captured bytes
    block.put_option(kOptionInterfaceName, as_bytes(name));
    block.put_option(kOptionTimeResolution, kNanoseconds);
    block.end_options();
    ++interfaces_;
}

Result<void> CaptureWriter::write(const Packet& packet) {
    if (packet.interface >= interfaces_) {
        return failure(ErrorCode::invalid_input, fmt::format("capture file {} has {} interfaces, no number {}",
                                                             path_.string(), interfaces_, packet.interface));
    }
    const auto time = static_cast<std::uint64_t>((origin_ + packet.time.time_since_epoch()).count());
    {
        Block block{pending_, kEnhancedPacketBlock};
        block.put(packet.interface);
        block.put(static_cast<std::uint32_t>(time >> 32U));
        block.put(static_cast<std::uint32_t>(time));
        block.put(static_cast<std::uint32_t>(packet.bytes.size()));
        block.put(packet.original_length);
        block.put(packet.bytes);
        if (packet.direction != CaptureDirection::unknown) {
            std::byte flags[4];
            store_little(flags, std::uint32_t{static_cast<std::uint8_t>(packet.direction)});
            block.put_option(kOptionPacketFlags, flags);
            block.end_options();
        }
    }
    return pending_.size() < kFlushSize ? Result<void>{} : flush();
}

Result<void> CaptureWriter::flush() {
    if (file_ < 0) return failure(ErrorCode::device, fmt::format("capture file {} is closed", path_.string()));
    std::size_t done = 0;
    int failed = 0;
    while (done < pending_.size() && failed == 0) {
        const auto written = ::write(file_, pending_.data() + done, pending_.size() - done);
        if (written >= 0) {
            done += static_cast<std::size_t>(written);
        } else if (errno != EINTR) {
            failed = errno;
        }
    }
    pending_.clear();
    if (failed == 0) {
        size_ += done;
        return {};
    }
    // Readers take a block cut short for damage. A pipe or a device cannot be cut back and needs no cutting.
    if (::ftruncate(file_, static_cast<off_t>(size_)) == 0) ::lseek(file_, static_cast<off_t>(size_), SEEK_SET);
    return tl::unexpected{write_error(path_, "write to", failed)};
}

Result<void> CaptureWriter::close() {
    if (file_ < 0) return {};
    auto flushed = flush();
    const int closed = ::close(std::exchange(file_, -1));
    if (flushed && closed != 0) return tl::unexpected{write_error(path_, "close", errno)};
    return flushed;
}

}  // namespace gradstorm::wire
