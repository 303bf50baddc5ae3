// SPDX-License-Identifier: Apache-2.0
#include "engine/cluster/message_stream.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <string>
#include <unistd.h>

namespace gradstorm::cluster {
namespace {

struct Pair {
    Pair() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0); }
    std::array<int, 2> ends{};
};

TEST(MessageStream, CarriesMessagesOfAnySizeInOrder) {
    Pair pair;
    MessageStream a(pair.ends[0]);
    MessageStream b(pair.ends[1]);
    const std::string large(3'000'000, 'x');  // far more than a socket buffer
    a.send({MessageKind::put, 7, "phase", large});
    a.send({MessageKind::gone, 0, "", ""});
    std::optional<Message> first;
    while (!first) {
        first = b.receive();
        a.flush();
    }
    EXPECT_EQ(first->kind, MessageKind::put);
    EXPECT_EQ(first->number, 7U);
    EXPECT_EQ(first->name, "phase");
    EXPECT_EQ(first->body, large);
    const auto second = b.receive();
    ASSERT_TRUE(second.has_value());
    EXPECT_EQ(second->kind, MessageKind::gone);
    EXPECT_FALSE(b.receive().has_value());
    EXPECT_TRUE(b.ended().empty());
}

TEST(MessageStream, WhatWasSaidBeforeTheEndIsHeard) {
    Pair pair;
    MessageStream b(pair.ends[1]);
    {
        MessageStream a(pair.ends[0]);
        a.send({MessageKind::gone, 0, "", "last word"});
    }
    const auto message = b.receive();
    ASSERT_TRUE(message.has_value());
    EXPECT_EQ(message->body, "last word");
    EXPECT_FALSE(b.receive().has_value());
    EXPECT_EQ(b.ended(), "closed");
}

TEST(MessageStream, StrangersAreNotUnderstood) {
    Pair pair;
    MessageStream b(pair.ends[1]);
    const std::string http = "GET / HTTP/1.1\r\nHost: example\r\n\r\n";
    ASSERT_EQ(write(pair.ends[0], http.data(), http.size()), static_cast<ssize_t>(http.size()));
    EXPECT_FALSE(b.receive().has_value());
    EXPECT_EQ(b.ended(), "it does not speak this version's protocol");
    close(pair.ends[0]);
}

}  // namespace
}  // namespace gradstorm::cluster
