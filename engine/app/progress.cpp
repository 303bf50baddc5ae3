// SPDX-License-Identifier: Apache-2.0
#include "engine/app/progress.h"

#include "engine/app/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cstdio>
#include <unistd.h>

namespace gradstorm::app {

namespace {

constexpr auto kTerminalPeriod = std::chrono::milliseconds{100};
constexpr auto kPlainPeriod = std::chrono::seconds{5};
constexpr std::size_t kBarWidth = 30;

std::size_t terminal_columns() {
    winsize size{};
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
    return size.ws_col;
}

}  // namespace

ProgressDisplay::ProgressDisplay(bool enabled)
    : enabled_(enabled),
      terminal_(isatty(STDERR_FILENO) != 0),
      started_(std::chrono::steady_clock::now()),
      next_draw_(started_ + (terminal_ ? std::chrono::milliseconds{300} : std::chrono::milliseconds{kPlainPeriod})) {}

ProgressDisplay::~ProgressDisplay() { clear(); }

void ProgressDisplay::update(double share, const std::string& what) {
    if (!enabled_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_draw_) return;
    next_draw_ =
        now + (terminal_ ? std::chrono::milliseconds{kTerminalPeriod} : std::chrono::milliseconds{kPlainPeriod});
    if (terminal_) {
        write_error(fmt::format("\r\x1b[K{}", bar(share, what)));
        drawn_ = true;
    } else {
        write_error(fmt::format("gradstorm: {:.0f} % done, {}\n", share * 100.0, what));
    }
}

void ProgressDisplay::clear() {
    if (!drawn_) return;
    write_error("\r\x1b[K");
    drawn_ = false;
}

std::string ProgressDisplay::bar(double share, const std::string& what) const {
    const auto filled = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(kBarWidth));
    const auto elapsed =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - started_).count();
    std::string line = fmt::format("[{:#<{}}{:.<{}}] {:3.0f} %  {} s  {}", "", filled, "", kBarWidth - filled,
                                   share * 100.0, elapsed, what);
    if (line.size() >= terminal_columns()) line.resize(terminal_columns() - 1);
    return line;
}

}  // namespace gradstorm::app
