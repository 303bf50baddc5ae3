// SPDX-License-Identifier: Apache-2.0
// Any bytes as a capture file: packets or an error that names the file, in memory that the file cannot blow up.
#include "engine/wire/capture_reader.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>

using gradstorm::wire::CaptureReader;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(data[i]);
    auto reader = CaptureReader::read(std::make_unique<std::istringstream>(std::move(text)), "fuzz.pcap");
    if (!reader) return reader.error().message.find("fuzz.pcap") == std::string::npos ? std::abort(), 0 : 0;
    std::size_t bytes = 0;
    for (;;) {
        const auto packet = reader->next();
        if (!packet || !*packet) break;
        // Reading every byte lets a sanitizer see a span that is too long.
        std::uint32_t sum = 0;
        for (const auto byte : (*packet)->bytes) sum += std::to_integer<std::uint32_t>(byte);
        bytes += (*packet)->bytes.size() + (sum == 0xFFFF'FFFF ? 1 : 0);
        if (bytes > size) std::abort();
    }
    return 0;
}
