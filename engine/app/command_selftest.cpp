// SPDX-License-Identifier: Apache-2.0
// selftest: does this installation work? Every part of a run once, without hardware, in well under 30 s.
#include "engine/app/commands.h"
#include "engine/app/run_execution.h"
#include "engine/app/stop_request.h"
#include "engine/app/terminal.h"
#include "engine/app/virtual_run.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <unistd.h>

namespace gradstorm::app {

namespace {

/// A folder that goes away with the object.
class ScratchFolder {
public:
    ScratchFolder() {
        std::error_code unusable;
        const std::filesystem::path temporary = std::filesystem::temp_directory_path(unusable);
        if (unusable) return;
        std::string pattern = (temporary / "gradstorm-selftest-XXXXXX").string();
        if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
    }
    ~ScratchFolder() {
        std::error_code ignored;
        if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

/// Empty when all is well, otherwise what is wrong.
using Verdict = std::string;

Verdict verdict_on(const measure::RunResult& run) {
    if (run.outcome != measure::Outcome::pass) {
        return fmt::format("{}: {}", measure::to_string(run.outcome), run.reason);
    }
    for (const measure::MeasurementResult& measurement : run.measurements) {
        for (const measure::CallResult& call : measurement.calls) {
            if (!call.wrong_elements) return call.label + ": the result was not checked";
        }
    }
    return run.measurements.empty() ? "nothing was measured" : "";
}

Verdict run_with_loss() {
    const auto subject = load_subject(
        {.subject = "selftest-mixed-4", .set = {"fault.0.drop=1%"}, .testbed = {}, .dut = {}, .dut_file = {}});
    if (!subject) return subject.error();
    const auto run = run_in_virtual_time(*subject, {});
    if (!run) return run.error().message;
    if (const Verdict verdict = verdict_on(run->result); !verdict.empty()) return verdict;
    std::uint64_t retransmitted = 0;
    for (const measure::PortResult& port : run->result.ports) retransmitted += port.retransmitted_frames;
    return retransmitted > 0 ? "" : "frames were dropped, but none was sent again";
}

Verdict run_embedded(const std::string& profile, const std::filesystem::path& folder) {
    const auto subject = load_subject({.subject = profile, .set = {}, .testbed = {}, .dut = {}, .dut_file = {}});
    if (!subject) return subject.error();
    RunRequest request;
    request.subject = &*subject;
    request.record.store = folder / "runs.db";
    request.stop = &StopSignals::count();
    const auto run = run_in_real_time(request);
    if (!run) return run.error().message;
    if (const Verdict verdict = verdict_on(run->result); !verdict.empty()) return verdict;
    return run->stored_as.empty() ? "the run was not stored" : "";
}

struct Check {
    const char* name;
    std::function<Verdict(const std::filesystem::path& scratch)> run;
};

}  // namespace

int execute(const SelftestCommand& /*command*/) {
    const StopSignals signals;  // who is interrupted tidies up, too
    const ScratchFolder scratch;
    if (scratch.path().empty()) {
        complain("no scratch folder could be made: the temporary folder (TMPDIR) must exist and be writable");
        return kExitInfrastructure;
    }
    const std::array<Check, 3> checks{{
        {"all collectives, virtual time, 1 % loss, sums verified", [](const auto&) { return run_with_loss(); }},
        {"all-reduce, packet engine, embedded fabric, sums verified, stored",
         [](const auto& folder) { return run_embedded("selftest-allreduce-4", folder); }},
        {"all collectives, packet engine, embedded fabric, verified, stored",
         [](const auto& folder) { return run_embedded("selftest-mixed-4", folder); }},
    }};
    int failed = 0;
    for (const Check& check : checks) {
        const auto begin = std::chrono::steady_clock::now();
        const Verdict verdict = check.run(scratch.path());
        // A run that could not be recorded stopped itself: that is a failed check.
        if (StopSignals::count() > 0 && !verdict.starts_with(measure::to_string(measure::Outcome::error))) {
            complain("interrupted");
            return kExitInvalid;
        }
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        const std::string line = verdict.empty()
                                     ? fmt::format("ok      {:5.1f} s  {}\n", seconds, check.name)
                                     : fmt::format("FAILED  {:5.1f} s  {}: {}\n", seconds, check.name, verdict);
        if (write_output(line) != 0) return kExitInfrastructure;
        failed += verdict.empty() ? 0 : 1;
    }
    return failed == 0 ? 0 : kExitInfrastructure;
}

}  // namespace gradstorm::app
