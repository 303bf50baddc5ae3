// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "engine/app/compose.h"
#include "engine/wire/capture_writer.h"
#include "profiles/profile.h"

#include <optional>
#include <string>

namespace gradstorm::app {

/// The capture that a profile asks for, fed from the tap while the run goes on; does nothing where none was asked for.
/// From the control thread. A disk that fills up ends the capture, not the run.
class CaptureFile {
public:
    [[nodiscard]] static Result<CaptureFile> open(const profiles::Profile& profile,
                                                  const std::optional<CaptureTap>& tap);

    void drain();
    /// Takes what is left and closes the file. A line about frames that are missing from it, or empty.
    [[nodiscard]] std::string close();

private:
    std::optional<CaptureTap> tap_;
    std::optional<wire::CaptureWriter> writer_;
    std::optional<Error> failure_;
};

}  // namespace gradstorm::app
