// SPDX-License-Identifier: Apache-2.0
#include "engine/workload/import/gunzip.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <zlib.h>

namespace gradstorm::workload {

namespace {

/// zlib's inflate stream, ended when it goes out of scope.
class Inflater {
public:
    Inflater() { ready_ = inflateInit2(&stream_, 16 + MAX_WBITS) == Z_OK; }  // 16: expects a gzip header
    Inflater(const Inflater&) = delete;
    Inflater& operator=(const Inflater&) = delete;
    ~Inflater() {
        if (ready_) inflateEnd(&stream_);
    }
    [[nodiscard]] bool ready() const { return ready_; }
    z_stream& stream() { return stream_; }

private:
    z_stream stream_{};
    bool ready_ = false;
};

}  // namespace

Result<std::string> gunzip(std::string_view bytes, std::size_t limit) {
    if (bytes.size() > std::numeric_limits<uInt>::max()) {
        return failure(ErrorCode::unsupported,
                       fmt::format("gzip file of {} bytes is too large, unpack it", bytes.size()));
    }
    Inflater inflater;
    if (!inflater.ready()) return failure(ErrorCode::device, "no memory to unpack gzip");
    z_stream& stream = inflater.stream();
    stream.next_in = reinterpret_cast<z_const Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    std::string content;
    std::array<Bytef, 1U << 16U> block{};
    for (;;) {
        stream.next_out = block.data();
        stream.avail_out = static_cast<uInt>(block.size());
        const int status = inflate(&stream, Z_NO_FLUSH);
        const std::size_t produced = block.size() - stream.avail_out;
        if (content.size() + produced > limit) {
            return failure(ErrorCode::unsupported, fmt::format("gzip content is larger than {} bytes", limit));
        }
        content.append(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(produced));
        if (status == Z_STREAM_END) {
            if (stream.avail_in == 0) return content;
            inflateReset(&stream);  // another member follows
            continue;
        }
        if (status == Z_BUF_ERROR || (status == Z_OK && produced == 0 && stream.avail_in == 0)) {
            return failure(ErrorCode::invalid_input, "gzip file ends too early, copy it again");
        }
        if (status != Z_OK) {
            return failure(ErrorCode::invalid_input,
                           fmt::format("gzip file is damaged: {}", stream.msg == nullptr ? "zlib" : stream.msg));
        }
    }
}

}  // namespace gradstorm::workload
