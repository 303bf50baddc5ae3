// SPDX-License-Identifier: Apache-2.0
#include "engine/memory/host_buffer.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace gradstorm::memory {

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20U;

/// Writes one byte a page: MAP_POPULATE would do so before madvise() could ask for huge pages.
void touch_pages(std::byte* data, std::size_t size) {
    constexpr std::size_t kPage = 4096;
    for (std::size_t offset = 0; offset < size; offset += kPage) {
        *static_cast<volatile std::byte*>(data + offset) = std::byte{0};
    }
}

}  // namespace

Result<HostBuffer> HostBuffer::allocate(Bytes size) {
    HostBuffer buffer;
    if (size.value == 0) return buffer;
    void* memory = mmap(nullptr, size.value, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return failure(ErrorCode::device,
                       fmt::format("cannot get {} bytes of host memory: {}; use fewer ranks, smaller calls or "
                                   "transport.payload = \"synthetic\"",
                                   size.value, std::strerror(errno)));
    }
    buffer.data_ = static_cast<std::byte*>(memory);
    buffer.size_ = size.value;
    if (size.value >= kHugePage) (void)madvise(memory, size.value, MADV_HUGEPAGE);  // a wish: refusing is no fault
    touch_pages(buffer.data_, buffer.size_);
    return buffer;
}

HostBuffer::HostBuffer(HostBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

HostBuffer& HostBuffer::operator=(HostBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
}

HostBuffer::~HostBuffer() {
    if (data_ != nullptr) munmap(data_, size_);
}

}  // namespace gradstorm::memory
