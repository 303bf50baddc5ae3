// SPDX-License-Identifier: Apache-2.0
// Any bytes as a journal: decoded and assembled without a crash, and what was handed out encodes to what was read.
#include "engine/events/record_codec.h"
#include "engine/events/run_record.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace gradstorm::events;
    const auto bytes = std::as_bytes(std::span{data, size});
    RunAssembler assembler;
    std::string again;
    std::string record;
    const auto take = [&](const auto& item) {
        static_cast<void>(assembler.add(item));
        encode(item, record);
        again += record;
    };
    const auto decoded = decode(bytes, false, take, take);
    if (!decoded || decoded->consumed > size) std::abort();
    if (again.size() != decoded->consumed || std::memcmp(again.data(), data, again.size()) != 0) std::abort();
    static_cast<void>(decode(bytes, true, [](const Event&) {}, [](const Chunk&) {}));
    return 0;
}
