// SPDX-License-Identifier: Apache-2.0
#include "base/stale_socket.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <unistd.h>

namespace gradstorm {
namespace {

/// What connecting a datagram socket says: 0 or an error number. A listener is of another type, so it is found but sees
/// no connection: one that comes and goes at once would end a memif server of DPDK 22.11.
int knock(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) return ENAMETOOLONG;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    const int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return errno;
    const bool answered = connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    const int error = answered ? 0 : errno;
    close(descriptor);
    return error;
}

}  // namespace

Result<void> remove_stale_socket(const std::filesystem::path& path) {
    const auto refuse = [&](std::string_view why) {
        return failure(ErrorCode::device, fmt::format("cannot listen on {}: {}", path.string(), why));
    };
    std::error_code error;
    const auto status = std::filesystem::symlink_status(path, error);
    if (!std::filesystem::exists(status)) return {};
    if (!std::filesystem::is_socket(status)) return refuse("a file that is no socket is there, choose another path");
    switch (const int answer = knock(path.string())) {
        case 0:
        case EPROTOTYPE:  // said of a socket that is open only
            return refuse("another run or program listens there: end it, or choose another path");
        case ENOENT: return {};
        case ECONNREFUSED: break;
        default: return refuse(fmt::format("cannot tell whether anybody does already: {}", std::strerror(answer)));
    }
    if (std::filesystem::remove(path, error); error) {
        return refuse("the socket left there cannot be removed: " + error.message());
    }
    return {};
}

}  // namespace gradstorm
