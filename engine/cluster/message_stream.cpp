// SPDX-License-Identifier: Apache-2.0
#include "engine/cluster/message_stream.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <unistd.h>
#include <utility>

namespace gradstorm::cluster {

namespace {

constexpr std::uint32_t kMagic = 0x31525347;  // "GSR1": a change of the format changes the digit
constexpr std::size_t kHeaderSize = 20;
constexpr std::uint32_t kLargestBody = 1U << 30U;

void put_32(std::string& to, std::uint32_t value) {
    for (unsigned shift = 0; shift < 32; shift += 8) to.push_back(static_cast<char>((value >> shift) & 0xFFU));
}

std::uint32_t get_32(const char* from) {
    std::uint32_t value = 0;
    for (unsigned i = 0; i < 4; ++i) value |= std::uint32_t{static_cast<unsigned char>(from[i])} << (8 * i);
    return value;
}

}  // namespace

MessageStream::MessageStream(MessageStream&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      in_(std::move(other.in_)),
      out_(std::move(other.out_)),
      ended_(std::move(other.ended_)) {}

MessageStream& MessageStream::operator=(MessageStream&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(in_, other.in_);
    std::swap(out_, other.out_);
    std::swap(ended_, other.ended_);
    return *this;
}

MessageStream::~MessageStream() {
    if (descriptor_ >= 0) close(descriptor_);
}

void MessageStream::send(const Message& message) {
    put_32(out_, kMagic);
    put_32(out_, static_cast<std::uint32_t>(message.kind));
    put_32(out_, message.number);
    put_32(out_, static_cast<std::uint32_t>(message.name.size()));
    put_32(out_, static_cast<std::uint32_t>(message.body.size()));
    out_ += message.name;
    out_ += message.body;
    flush();
}

void MessageStream::flush() {
    while (!out_.empty() && ended_.empty()) {
        const ssize_t written = ::send(descriptor_, out_.data(), out_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) {
            // A reset shows here first; what the peer said before it is still to be read: reading names the end.
            if (errno != EAGAIN && errno != EWOULDBLOCK) out_.clear();
            return;
        }
        out_.erase(0, static_cast<std::size_t>(written));
    }
}

void MessageStream::read_available() {
    std::array<char, 65536> buffer;
    while (ended_.empty()) {
        const ssize_t count = recv(descriptor_, buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (count <= 0) {
            ended_ = count == 0 ? "closed" : std::strerror(errno);
            return;
        }
        in_.append(buffer.data(), static_cast<std::size_t>(count));
    }
}

std::optional<Message> MessageStream::receive() {
    read_available();
    if (in_.size() < kHeaderSize) return std::nullopt;
    const std::uint32_t name = get_32(in_.data() + 12);
    const std::uint32_t body = get_32(in_.data() + 16);
    if (get_32(in_.data()) != kMagic || name > kLargestBody || body > kLargestBody) {
        ended_ = "it does not speak this version's protocol";
        in_.clear();
        return std::nullopt;
    }
    const std::size_t size = kHeaderSize + name + body;
    if (in_.size() < size) return std::nullopt;
    Message message;
    message.kind = static_cast<MessageKind>(get_32(in_.data() + 4));
    message.number = get_32(in_.data() + 8);
    message.name = in_.substr(kHeaderSize, name);
    message.body = in_.substr(kHeaderSize + name, body);
    in_.erase(0, size);
    return message;
}

}  // namespace gradstorm::cluster
