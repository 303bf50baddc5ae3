// SPDX-License-Identifier: Apache-2.0
#include "engine/transport/dpdk/eal.h"

#include "engine/memory/available.h"

#include <fmt/format.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_log.h>
#include <rte_version.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

namespace gradstorm::transport::dpdk {
namespace {

/// What DPDK logs lands in this memory for as long as the process lives; EalLog marks its own part.
struct LogMemory {
    char* text = nullptr;
    std::size_t size = 0;
    FILE* stream = nullptr;
};

// open_memstream() writes through the pointers it is given, so they lie where they stay.
LogMemory& log_memory() {
    static LogMemory memory;
    if (memory.stream == nullptr) {
        memory.stream = open_memstream(&memory.text, &memory.size);
        if (memory.stream != nullptr) rte_openlog_stream(memory.stream);
    }
    return memory;
}

struct Started {
    bool done = false;
    EalOptions options;
};

Started& started() {
    static Started state;
    return state;
}

bool is_pci_address(const std::string& text) {
    unsigned domain, bus, device, function;
    char rest;
    const int full = std::sscanf(text.c_str(), "%x:%x:%x.%x%c", &domain, &bus, &device, &function, &rest);
    const int brief = std::sscanf(text.c_str(), "%x:%x.%x%c", &bus, &device, &function, &rest);
    return full == 4 || brief == 3;
}

Result<void> validate(const EalOptions& options) {
    if (options.memory_mb == 0) return failure(ErrorCode::invalid_input, "dpdk: no memory asked for");
    for (const std::string& address : options.pci) {
        if (!is_pci_address(address)) {
            return failure(ErrorCode::invalid_input,
                           fmt::format("dpdk: '{}' is no PCI address, write it like 0000:3b:00.0", address));
        }
    }
    const Started& state = started();
    if (state.done) {
        const auto& had = state.options;
        const bool covered =
            options.memory_mb <= had.memory_mb && std::ranges::all_of(options.pci, [&](const std::string& address) {
                return std::ranges::find(had.pci, address) != had.pci.end();
            });
        if (covered) return {};
        return failure(ErrorCode::device, fmt::format("dpdk: runs with {} MB in this process already and cannot be "
                                                      "started again for {} MB or other devices",
                                                      had.memory_mb, options.memory_mb));
    }
    const std::optional<Bytes> available = memory::available_memory();
    if (available && options.memory_mb > available->value >> 20U) {
        return failure(ErrorCode::device, fmt::format("dpdk: needs {} MB of memory, {} MB are free: use fewer workers "
                                                      "or packet buffers",
                                                      options.memory_mb, available->value >> 20U));
    }
    return {};
}

std::size_t first_cpu(const cpu_set_t& set) {
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &set)) return cpu;
    }
    return 0;
}

std::vector<std::string> arguments(const EalOptions& options, std::size_t cpu) {
    std::vector<std::string> list = {"gradstorm",
                                     "--no-huge",
                                     "--no-shconf",
                                     "--no-telemetry",
                                     "-m",
                                     std::to_string(options.memory_mb),
                                     "--lcores",
                                     fmt::format("0@{}", cpu),
                                     "--log-level=lib.eal:error",
                                     "--file-prefix",
                                     fmt::format("gradstorm-{}", getpid())};
    if (options.pci.empty()) list.emplace_back("--no-pci");
    for (const std::string& address : options.pci) {
        list.emplace_back("-a");
        list.push_back(address);
    }
    return list;
}

int initialise(const EalOptions& options, std::size_t cpu) {
    static std::vector<std::string> kept;  // DPDK keeps pointers to its arguments
    kept = arguments(options, cpu);
    std::vector<char*> pointers;
    pointers.reserve(kept.size() + 1);
    for (std::string& argument : kept) pointers.push_back(argument.data());
    const int count = static_cast<int>(pointers.size());
    pointers.push_back(nullptr);
    return rte_eal_init(count, pointers.data());
}

/// Nothing is kept there without shared configuration and telemetry; removed at once, it cannot stay behind a kill.
void remove_runtime_directory() {
    const char* directory = rte_eal_get_runtime_dir();
    if (directory == nullptr || *directory == '\0') return;
    std::error_code ignored;
    std::filesystem::remove_all(directory, ignored);
}

}  // namespace

Result<void> start_eal(const EalOptions& options) {
    if (auto valid = validate(options); !valid) return valid;
    if (started().done) return {};

    cpu_set_t affinity;
    CPU_ZERO(&affinity);
    pthread_getaffinity_np(pthread_self(), sizeof affinity, &affinity);
    const EalLog log;
    const int initialised = initialise(options, first_cpu(affinity));
    const int reason = rte_errno;
    pthread_setaffinity_np(pthread_self(), sizeof affinity, &affinity);
    if (initialised < 0) {
        return failure(ErrorCode::device, fmt::format("dpdk: cannot start with {} MB of memory: {}{}",
                                                      options.memory_mb, rte_strerror(reason), log.reason()));
    }
    remove_runtime_directory();
    started() = {true, options};
    return {};
}

bool eal_started() { return started().done; }

std::string dpdk_version() { return rte_version(); }

EalLog::EalLog() {
    // Overwritten from the start: at most one operation's text is ever kept.
    if (FILE* stream = log_memory().stream; stream != nullptr) std::fseek(stream, 0, SEEK_SET);
}

void register_worker_thread() {
    struct Registration {
        bool done = rte_lcore_id() == LCORE_ID_ANY && rte_thread_register() == 0;
        Registration() = default;
        Registration(const Registration&) = delete;
        Registration& operator=(const Registration&) = delete;
        ~Registration() {
            if (done) rte_thread_unregister();
        }
    };
    static thread_local Registration registration;
    static_cast<void>(registration);
}

std::string EalLog::reason() const {
    LogMemory& memory = log_memory();
    if (memory.stream == nullptr) return {};
    std::fflush(memory.stream);
    const auto written = std::ftell(memory.stream);
    if (written <= 0 || memory.text == nullptr) return {};
    const std::string first = first_reason({memory.text, static_cast<std::size_t>(written)});
    return first.empty() ? first : ": " + first;
}

std::string first_reason(std::string_view log) {
    std::string_view line = log.substr(0, log.find('\n'));
    // "EAL: Cannot ...", "memif_connect_client(): net_memif: Failed ...": the prefixes name DPDK's parts, not ours.
    for (auto colon = line.find(": "); colon != std::string_view::npos; colon = line.find(": ")) {
        const std::string_view prefix = line.substr(0, colon);
        if (prefix.find(' ') != std::string_view::npos) break;
        line.remove_prefix(colon + 2);
    }
    std::string text;
    for (const char c : line) text += std::iscntrl(static_cast<unsigned char>(c)) != 0 ? ' ' : c;
    while (!text.empty() && (text.back() == ' ' || text.back() == '.' || text.back() == '!')) text.pop_back();
    if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])) != 0) {
        text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
    }
    return text;
}

}  // namespace gradstorm::transport::dpdk
