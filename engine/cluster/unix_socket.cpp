// SPDX-License-Identifier: Apache-2.0
#include "engine/cluster/unix_socket.h"

#include "base/stale_socket.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <unistd.h>

namespace gradstorm::cluster {

namespace {

tl::unexpected<Error> socket_failure(const std::filesystem::path& path, std::string_view what, int error) {
    return failure(ErrorCode::device, fmt::format("cannot {} {}: {}", what, path.string(), std::strerror(error)));
}

Result<sockaddr_un> address_of(const std::filesystem::path& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string text = path.string();
    if (text.empty() || text.size() >= sizeof address.sun_path) {
        return failure(ErrorCode::invalid_input,
                       fmt::format("the socket path \"{}\" has {} bytes, it takes 1 to {}: choose a shorter directory",
                                   text, text.size(), sizeof address.sun_path - 1));
    }
    std::memcpy(address.sun_path, text.c_str(), text.size() + 1);
    return address;
}

const sockaddr* generic(const sockaddr_un& address) { return reinterpret_cast<const sockaddr*>(&address); }

Result<int> open_socket(const std::filesystem::path& path) {
    const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return socket_failure(path, "make a socket for", errno);
    return descriptor;
}

}  // namespace

Result<int> listen_at(const std::filesystem::path& path) {
    const auto address = address_of(path);
    if (!address) return tl::unexpected(address.error());
    if (auto way = remove_stale_socket(path); !way) return tl::unexpected(way.error());
    auto descriptor = open_socket(path);
    if (!descriptor) return descriptor;
    if (bind(*descriptor, generic(*address), sizeof *address) != 0 || listen(*descriptor, SOMAXCONN) != 0) {
        const int error = errno;
        close(*descriptor);
        return socket_failure(path, "listen on", error);
    }
    return descriptor;
}

Result<std::optional<int>> accept_from(int listener) {
    const int descriptor = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor >= 0) return descriptor;
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR || errno == ECONNABORTED) return std::nullopt;
    return failure(ErrorCode::device, fmt::format("cannot accept a connection: {}", std::strerror(errno)));
}

Result<std::optional<int>> connect_to(const std::filesystem::path& path) {
    const auto address = address_of(path);
    if (!address) return tl::unexpected(address.error());
    const auto descriptor = open_socket(path);
    if (!descriptor) return tl::unexpected(descriptor.error());
    if (connect(*descriptor, generic(*address), sizeof *address) == 0) return *descriptor;
    const int error = errno;
    close(*descriptor);
    if (error == ENOENT || error == ECONNREFUSED || error == EAGAIN || error == EINTR) return std::nullopt;
    return socket_failure(path, "connect to", error);
}

}  // namespace gradstorm::cluster
