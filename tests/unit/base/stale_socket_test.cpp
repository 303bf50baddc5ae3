// SPDX-License-Identifier: Apache-2.0
#include "base/stale_socket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

namespace gradstorm {
namespace {

using testing::HasSubstr;

class StaleSocket : public testing::Test {
protected:
    void SetUp() override {
        directory_ = testing::TempDir() + "gradstorm-stale-" + std::to_string(getpid());
        std::filesystem::create_directory(directory_);
        path_ = directory_ / "a.sock";
    }
    void TearDown() override { std::filesystem::remove_all(directory_); }

    [[nodiscard]] int listener(int type) const {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, path_.c_str(), sizeof address.sun_path - 1);
        const int descriptor = socket(AF_UNIX, type | SOCK_NONBLOCK, 0);
        EXPECT_EQ(bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
        EXPECT_EQ(listen(descriptor, 1), 0);
        return descriptor;
    }

    std::filesystem::path directory_;
    std::filesystem::path path_;
};

TEST_F(StaleSocket, NothingThereIsFine) { EXPECT_TRUE(remove_stale_socket(path_)); }

TEST_F(StaleSocket, ALiveOneOfAnyTypeStays) {
    for (const int type : {SOCK_STREAM, SOCK_SEQPACKET}) {
        const int descriptor = listener(type);
        const auto removed = remove_stale_socket(path_);
        ASSERT_FALSE(removed);
        EXPECT_THAT(removed.error().message, HasSubstr(path_.string() + ": another run or program listens there"));
        EXPECT_TRUE(std::filesystem::exists(path_));
        EXPECT_EQ(accept(descriptor, nullptr, nullptr), -1) << "it saw a connection";
        close(descriptor);
        ASSERT_TRUE(remove_stale_socket(path_)) << "nobody listens any more";
        EXPECT_FALSE(std::filesystem::exists(path_));
    }
}

TEST_F(StaleSocket, AFileThatIsNoSocketStays) {
    std::ofstream(path_) << "precious";
    const auto removed = remove_stale_socket(path_);
    ASSERT_FALSE(removed);
    EXPECT_THAT(removed.error().message, HasSubstr("a file that is no socket is there"));
    EXPECT_TRUE(std::filesystem::exists(path_));
}

}  // namespace
}  // namespace gradstorm
