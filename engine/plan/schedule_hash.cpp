// SPDX-License-Identifier: Apache-2.0
//
// The hash is taken over one text, a line for each thing it covers, so that two hashes that differ can be explained by
// comparing two texts.
#include "base/digest.h"
#include "engine/plan/plan.h"

#include <fmt/format.h>

#include <iterator>

namespace gradstorm::plan {

namespace {

/// "0-3,8,10-11": a group of 131,072 ranks is no longer than one of two.
void append_ranks(std::string& text, const std::vector<std::uint32_t>& ranks) {
    for (std::size_t i = 0; i < ranks.size();) {
        std::size_t last = i;
        while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
        if (i > 0) text += ',';
        text += last == i ? fmt::format("{}", ranks[i]) : fmt::format("{}-{}", ranks[i], ranks[last]);
        i = last + 1;
    }
}

void append_run(std::string& text, const profiles::RunSettings& run) {
    fmt::format_to(std::back_inserter(text), "seed {} repetitions={} warmup={} iterations={}\n", run.seed,
                   run.repetitions, run.warmup, run.iterations);
}

void append_call(std::string& text, const workload::PlannedCall& planned) {
    const collective::Call& call = planned.call;
    const bool by_bytes = call.fidelity == collective::Fidelity::bytes;
    // A chunk has no meaning at fidelity bytes: it must not tell two equal schedules apart.
    fmt::format_to(std::back_inserter(text),
                   "call {} {} ranks={} bytes={} root={} from={} to={} channels={} fidelity={} chunk={} gap={} group=",
                   measure::to_string(call.kind), measure::to_string(call.type), call.ranks, call.bytes.value,
                   call.root, call.from, call.to, call.channels, by_bytes ? "bytes" : "messages",
                   by_bytes ? 0 : call.chunk.value, planned.gap.count());
    append_ranks(text, planned.group);
    text += '\n';
}

}  // namespace

std::string schedule_hash(const workload::Workload& workload, const Assumptions& assumptions,
                          const profiles::Profile& profile) {
    std::string text = fmt::format("gradstorm schedule generator {}\nranks {}\n", kGeneratorVersion, workload.ranks);
    append_run(text, profile.run);
    fmt::format_to(std::back_inserter(text), "path_mtu {} ipv{} dscp={} payload={} slots={}\n", assumptions.path_mtu,
                   assumptions.ipv6 ? 6 : 4, profile.transport.dscp, profile.transport.payload, profile.library.slots);
    for (const workload::Measurement& measurement : workload.measurements) {
        text += "measurement\n";
        for (const workload::JobIteration& job : measurement.jobs) {
            fmt::format_to(std::back_inserter(text), "job overlap={}\n", job.overlap);
            for (const workload::PlannedCall& planned : job.calls) append_call(text, planned);
        }
    }
    return sha256_hex(text);
}

}  // namespace gradstorm::plan
