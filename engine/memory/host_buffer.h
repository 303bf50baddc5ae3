// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "base/units.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace gradstorm::memory {

/// Zeroed, page-aligned host memory for buffers of ranks, every page already there, so that no worker meets a page
/// fault. Transparent huge pages are asked for, never required.
class HostBuffer {
public:
    HostBuffer() = default;
    /// Fails (device) when the kernel has not that much memory, naming the amount.
    [[nodiscard]] static Result<HostBuffer> allocate(Bytes size);
    HostBuffer(HostBuffer&& other) noexcept;
    HostBuffer& operator=(HostBuffer&& other) noexcept;
    HostBuffer(const HostBuffer&) = delete;
    HostBuffer& operator=(const HostBuffer&) = delete;
    ~HostBuffer();

    [[nodiscard]] std::byte* data() const { return data_; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(data_); }
    [[nodiscard]] std::span<std::byte> bytes() const { return {data_, size_}; }

private:
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace gradstorm::memory
