// SPDX-License-Identifier: Apache-2.0
#include "tests/perf/testpmd_anchor.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace gradstorm::perf {

double testpmd_txonly_mpps(std::size_t frame_bytes) {
    // testpmd takes --txpkts only behind the --mbuf-size that it fits.
    const std::string command = fmt::format(
        "timeout --signal=INT 3.5 dpdk-testpmd --no-huge -m 256 --no-shconf --no-pci --vdev=net_null0 -l 0,1 "
        "--file-prefix=gradstorm_anchor -- --mbuf-size=4480 --forward-mode=txonly --txpkts={} --burst=32 "
        "--stats-period=1 --total-num-mbufs=4096 --auto-start 2>&1 </dev/null",
        frame_bytes);
    const std::unique_ptr<FILE, int (*)(FILE*)> output(popen(command.c_str(), "r"), pclose);
    if (!output) throw std::runtime_error("cannot start dpdk-testpmd");
    constexpr std::string_view kRate = "Tx-pps:";
    std::array<char, 512> line{};
    double rate = 0;
    bool refused = false;
    while (std::fgets(line.data(), line.size(), output.get()) != nullptr) {
        const std::string_view text = line.data();
        refused = refused || text.find("give up") != std::string_view::npos;  // and would send short frames
        if (const std::size_t at = text.find(kRate); at != std::string_view::npos) {
            rate = std::atof(line.data() + at + kRate.size()) / 1e6;  // the last one is of the second second
        }
    }
    if (refused || rate <= 0) throw std::runtime_error("dpdk-testpmd (package dpdk) gave no rate");
    return rate;
}

}  // namespace gradstorm::perf
