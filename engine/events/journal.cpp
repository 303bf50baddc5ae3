// SPDX-License-Identifier: Apache-2.0
#include "engine/events/journal.h"

#include "engine/events/record_codec.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace gradstorm::events {
namespace {

constexpr std::size_t kReadBlock = std::size_t{1} << 20U;

tl::unexpected<Error> io_failure(const char* what, const std::filesystem::path& path, int error) {
    return failure(ErrorCode::store, std::string{"cannot "} + what + " journal " + path.string() + ": " +
                                         std::generic_category().message(error) + " (errno " + std::to_string(error) +
                                         ")");
}

/// Owns a file descriptor.
class Descriptor {
public:
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    [[nodiscard]] int get() const { return fd_; }

private:
    int fd_;
};

/// Sets or looks for a lock on the whole file that belongs to its descriptor and goes with it. Where a file system
/// knows no locks, none is set and none is found.
struct flock whole_file(int fd, int command, int type) {
    struct flock lock{};
    lock.l_type = static_cast<short>(type);
    lock.l_whence = SEEK_SET;
    if (::fcntl(fd, command, &lock) != 0) lock.l_type = F_UNLCK;
    return lock;
}

}  // namespace

struct JournalWriter::State {
    State(std::filesystem::path where, int fd) : path(std::move(where)), file(fd) {}

    /// One record, one write(2). After a write that failed or was cut short the file ends where it ended before, so
    /// that a later record does not follow half a one.
    Result<void> write_record() {
        ssize_t written = 0;
        do {
            written = ::write(file.get(), buffer.data(), buffer.size());
        } while (written < 0 && errno == EINTR);
        if (written == static_cast<ssize_t>(buffer.size())) {
            size += buffer.size();
            return {};
        }
        const int error = written < 0 ? errno : ENOSPC;
        if (::ftruncate(file.get(), static_cast<off_t>(size)) != 0) return io_failure("cut back", path, errno);
        return io_failure("write", path, error);
    }

    std::filesystem::path path;
    Descriptor file;
    std::string buffer;
    std::uint64_t size = 0;
};

JournalWriter::JournalWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
JournalWriter::JournalWriter(JournalWriter&&) noexcept = default;
JournalWriter& JournalWriter::operator=(JournalWriter&&) noexcept = default;
JournalWriter::~JournalWriter() = default;

Result<JournalWriter> JournalWriter::create(const std::filesystem::path& path) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd < 0) return io_failure("create", path, errno);
    JournalWriter writer{std::make_unique<State>(path, fd)};
    whole_file(fd, F_OFD_SETLK, F_WRLCK);
    encode_format(writer.state_->buffer);
    if (auto written = writer.state_->write_record(); !written) return tl::unexpected(written.error());
    return writer;
}

Result<void> JournalWriter::append(const Event& event) {
    encode(event, state_->buffer);
    return state_->write_record();
}

Result<void> JournalWriter::append(const Chunk& chunk) {
    encode(chunk, state_->buffer);
    return state_->write_record();
}

const std::filesystem::path& JournalWriter::path() const { return state_->path; }

bool has_writer(const std::filesystem::path& path) {
    const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    return file.get() >= 0 && whole_file(file.get(), F_OFD_GETLK, F_RDLCK).l_type != F_UNLCK;
}

Result<ReadOutcome> read_journal(const std::filesystem::path& path, std::uint64_t offset,
                                 const std::function<void(const Event&)>& on_event,
                                 const std::function<void(const Chunk&)>& on_chunk) {
    const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (file.get() < 0) return io_failure("open", path, errno);
    ReadOutcome outcome;
    outcome.next_offset = offset;
    std::vector<std::byte> bytes;  // those behind next_offset that were read
    for (;;) {
        const std::size_t held = bytes.size();
        bytes.resize(held + kReadBlock);
        const ssize_t got =
            ::pread(file.get(), bytes.data() + held, kReadBlock, static_cast<off_t>(outcome.next_offset + held));
        if (got < 0 && errno != EINTR) return io_failure("read", path, errno);
        bytes.resize(held + static_cast<std::size_t>(got < 0 ? 0 : got));
        if (got < 0) continue;
        if (got == 0) break;
        auto decoded = decode(bytes, outcome.next_offset == 0, on_event, on_chunk);
        if (!decoded) return failure(decoded.error().code, path.string() + ": " + decoded.error().message);
        outcome.records += decoded->records;
        outcome.next_offset += decoded->consumed;
        bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(decoded->consumed));
        if (!decoded->damage.empty()) {
            outcome.damage = path.string() + ": record at byte " + std::to_string(outcome.next_offset) +
                             " cannot be read: " + decoded->damage;
            break;
        }
    }
    outcome.torn = !bytes.empty();
    return outcome;
}

std::string to_json_line(const Event& event) {
    std::string line =
        "{\"time_ns\":" + std::to_string(event.time.time_since_epoch().count()) + ",\"event\":\"" + event.kind + '"';
    if (event.json.size() > 2) line.append(",").append(event.json, 1, event.json.size() - 2);
    return line + "}";
}

}  // namespace gradstorm::events
