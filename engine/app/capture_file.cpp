// SPDX-License-Identifier: Apache-2.0
#include "engine/app/capture_file.h"

#include <fmt/format.h>

#include <array>
#include <chrono>

namespace gradstorm::app {

Result<CaptureFile> CaptureFile::open(const profiles::Profile& profile, const std::optional<CaptureTap>& tap) {
    CaptureFile capture;
    if (!profile.transport.capture || !tap) return capture;
    const std::array<std::string, 1> names{tap->what};
    const auto origin = std::chrono::duration_cast<Nanoseconds>(std::chrono::system_clock::now().time_since_epoch());
    auto writer = wire::CaptureWriter::create(*profile.transport.capture, names, origin);
    if (!writer) return tl::unexpected(writer.error());
    capture.tap_ = tap;
    capture.writer_.emplace(std::move(*writer));
    return capture;
}

void CaptureFile::drain() {
    if (!writer_ || failure_) return;
    if (const auto drained = tap_->drain(*writer_); !drained) failure_ = drained.error();
}

std::string CaptureFile::close() {
    if (!writer_) return {};
    drain();
    if (auto closed = writer_->close(); !closed && !failure_) failure_ = closed.error();
    if (failure_) return fmt::format("the capture is not whole: {}", failure_->message);
    const std::uint64_t lost = tap_->lost();
    if (lost == 0) return {};
    return fmt::format("the capture lacks {} frames: they came faster than they could be written", lost);
}

}  // namespace gradstorm::app
