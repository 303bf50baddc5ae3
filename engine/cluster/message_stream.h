// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gradstorm::cluster {

enum class MessageKind : std::uint8_t {
    hello = 1,    ///< number: node; name: number of nodes; body: who ("pid 123, host")
    put = 2,      ///< one node's blob of an exchange; name: phase
    all = 3,      ///< number: whose blob; name: phase; from node 0
    gone = 4,     ///< the run is over; body: why
    goodbye = 5,  ///< an orderly end: what follows is no loss
    alive = 6,    ///< nothing else to say for a while
};

struct Message {
    MessageKind kind = MessageKind::hello;
    std::uint32_t number = 0;
    std::string name;
    std::string body;
};

/// Whole messages over a connected, non-blocking stream socket, which it owns. A message is {magic, kind, number,
/// length of name, length of body}, name, body; integers little-endian. Messages to send wait in memory while the
/// socket is full.
class MessageStream {
public:
    explicit MessageStream(int descriptor) : descriptor_(descriptor) {}
    MessageStream(MessageStream&& other) noexcept;
    MessageStream& operator=(MessageStream&& other) noexcept;
    MessageStream(const MessageStream&) = delete;
    MessageStream& operator=(const MessageStream&) = delete;
    ~MessageStream();

    void send(const Message& message);
    /// Writes what the socket takes.
    void flush();
    [[nodiscard]] bool flushed() const { return out_.empty(); }
    /// The next whole message, if it is there. Empty: nothing yet, or the stream has ended: see ended().
    [[nodiscard]] std::optional<Message> receive();
    /// Why the stream is over: "closed", or what was wrong; empty while it is alive.
    [[nodiscard]] const std::string& ended() const { return ended_; }

private:
    void read_available();

    int descriptor_ = -1;
    std::string in_;
    std::string out_;
    std::string ended_;
};

}  // namespace gradstorm::cluster
