// SPDX-License-Identifier: Apache-2.0
#include "engine/app/run_execution.h"

#include "base/digest.h"
#include "engine/app/capture_file.h"
#include "engine/app/environment.h"
#include "engine/app/port_accounts.h"
#include "engine/app/progress.h"
#include "engine/app/recording_observer.h"
#include "engine/app/terminal.h"
#include "engine/app/unhonoured.h"
#include "engine/app/version.h"
#include "engine/measure/clock.h"
#include "engine/replay/real_driver.h"

#include <fmt/format.h>

#include <algorithm>

namespace gradstorm::app {

namespace {

replay::Checking checking_of(const std::string& check) {
    if (check == "none") return replay::Checking::none;
    return check == "last" ? replay::Checking::last : replay::Checking::all;
}

std::optional<replay::IdlePolicy> idle_policy_of(const std::string& idle) {
    if (idle == "spin") return replay::IdlePolicy::spin;
    if (idle == "yield") return replay::IdlePolicy::yield;
    if (idle == "wait") return replay::IdlePolicy::wait;
    return std::nullopt;
}

/// A UUID that says nothing of host and time: from what the run is made of.
std::string virtual_uuid(const std::string& schedule_hash, std::uint64_t seed) {
    const std::string digits = sha256_hex(fmt::format("{} {}", schedule_hash, seed));
    return fmt::format("{}-{}-{}-{}-{}", digits.substr(0, 8), digits.substr(8, 4), digits.substr(12, 4),
                       digits.substr(16, 4), digits.substr(20, 12));
}

/// Where every rank of the run is: those of this process as composed; of the others only the node counts.
std::vector<replay::RankPlace> rank_places(const Subject& subject, const Composition& composition,
                                           std::uint32_t nodes) {
    std::vector<replay::RankPlace> places(subject.plan.ranks);
    for (std::uint32_t rank = 0; rank < places.size() && nodes > 1; ++rank) {
        places[rank].node = rank / subject.profile.cluster.gpus_per_node;
    }
    for (const Placement& placement : composition.placements) {
        places[placement.rank].worker = placement.worker;
        places[placement.rank].hca = placement.hca;
    }
    return places;
}

void add_worker_disclosure(Composition& composition, const replay::RealDriver& driver) {
    composition.disclosures.push_back(
        fmt::format("{} workers on {} cores, idle policy {}", composition.endpoints.size(), replay::usable_cores(),
                    replay::to_string(driver.idle_policy(static_cast<std::uint32_t>(composition.endpoints.size())))));
}

std::vector<transport::Endpoint*> endpoints_of(const Composition& composition) {
    std::vector<transport::Endpoint*> endpoints;
    endpoints.reserve(composition.endpoints.size());
    for (const auto& endpoint : composition.endpoints) endpoints.push_back(endpoint.get());
    return endpoints;
}

/// A thread hangs in them, so they may not go before the process does.
void leave(std::unique_ptr<replay::RealDriver> driver, std::unique_ptr<replay::Session> session,
           Composition composition) {
    auto kept = std::make_unique<Composition>(std::move(composition));
    (void)driver.release();
    (void)session.release();
    (void)kept.release();
}

}  // namespace

replay::SessionOptions session_options(const profiles::Profile& profile) {
    const profiles::TransportSettings& transport = profile.transport;
    replay::SessionOptions options;
    options.payload = transport.payload == "memory" ? replay::Payload::memory : replay::Payload::synthetic;
    options.checking = checking_of(profile.run.check);
    options.seed = profile.run.seed;
    options.repetitions = profile.run.repetitions;
    options.warmup = profile.run.warmup;
    options.iterations = profile.run.iterations;
    options.slots = profile.library.slots;
    options.stall_timeout = profile.run.stall_timeout;
    options.queue_pair.send_depth = transport.send_depth;
    options.queue_pair.receive_depth = transport.receive_depth;
    options.queue_pair.path_mtu = transport.path_mtu;
    options.queue_pair.window_frames = transport.window_frames;
    options.queue_pair.timeout = transport.timeout;
    options.queue_pair.retry_limit = static_cast<std::uint8_t>(transport.retry_limit);
    options.queue_pair.dscp = static_cast<std::uint8_t>(transport.dscp);
    return options;
}

measure::RunResult announced_run(const Subject& subject, bool virtual_time) {
    const profiles::Profile& profile = subject.profile;
    measure::RunResult run;
    run.uuid = virtual_time ? virtual_uuid(subject.plan.schedule_hash, profile.run.seed) : new_uuid();
    if (!virtual_time) run.started_utc = utc_now();
    run.profile_name = profile.path;
    run.profile_text = profile.text;
    run.profile_sha256 = sha256_hex(profile.text);
    run.schedule_hash = subject.plan.schedule_hash;
    run.version = version_number();
    run.seed = profile.run.seed;
    run.ranks = subject.plan.ranks;
    run.path_mtu = profile.transport.path_mtu;
    run.ipv6 = assumptions_of(profile).ipv6;
    run.payload = profile.transport.payload;
    run.fidelity = profile.library.fidelity;
    if (profile.transport.line_rate.value > 0) run.line_rate_bits_per_s = profile.transport.line_rate.value;
    run.settings = profile.resolved;
    if (!virtual_time) run.environment = host_environment();
    run.dut = profile.dut;
    return run;
}

void record_warnings(RunRecorder& recorder, const Subject& subject, bool virtual_time, Instant time) {
    std::vector<std::string> warnings = subject.workload.warnings;
    for (std::string& line : unhonoured_settings(subject.profile, virtual_time)) warnings.push_back(std::move(line));
    for (const std::string& warning : warnings) {
        recorder.record(events::message(time, events::kind::kWarning, warning));
    }
}

std::pair<measure::Outcome, std::string> judged(const replay::SessionReport& report, bool network_is_emulated) {
    const std::string& verdict = report.self_check.verdict;
    if (report.outcome != measure::Outcome::pass || network_is_emulated || verdict == "ok") {
        return {report.outcome, report.reason};
    }
    return {measure::Outcome::invalid, "the generator bound the run, not the network: " + verdict};
}

void record_report(RunRecorder& recorder, const replay::SessionReport& report, bool network_is_emulated, Instant end) {
    recorder.record(events::counters(end, report.ports));
    recorder.record(events::rank_results(end, report.ranks));
    recorder.record(events::self_check(end, report.self_check));
    const auto [outcome, reason] = judged(report, network_is_emulated);
    recorder.finish(end, outcome, reason);
}

Result<FinishedRun> run_in_real_time(const RunRequest& request) {
    const Subject& subject = *request.subject;
    cluster::LocalRendezvous alone;
    cluster::Rendezvous& rendezvous = request.rendezvous != nullptr ? *request.rendezvous : alone;
    const std::optional<std::uint32_t> node =
        request.rendezvous != nullptr ? std::optional{rendezvous.node()} : std::nullopt;
    auto composition = compose(subject.profile, subject.plan.ranks, node);
    if (!composition) return tl::unexpected(composition.error());
    auto capture = CaptureFile::open(subject.profile, composition->capture);
    if (!capture) return tl::unexpected(capture.error());

    auto owned_driver = std::make_unique<replay::RealDriver>(
        measure::TscClock::calibrate(),
        replay::RealDriverOptions{.idle = idle_policy_of(subject.profile.transport.idle),
                                  .bind = rendezvous.nodes() == 1});
    replay::RealDriver& driver = *owned_driver;
    replay::SessionOptions options = session_options(subject.profile);
    options.ranks = rank_places(subject, *composition, rendezvous.nodes());
    options.stop = request.stop;
    options.stop_timeout = request.stop_timeout;

    add_worker_disclosure(*composition, driver);
    measure::RunResult announced = announced_run(subject, false);
    announced.engine = composition->engine;
    announced.disclosures = composition->disclosures;
    if (rendezvous.nodes() > 1) {
        announced.disclosures.push_back(fmt::format(
            "node {} of {}: times, counters and checks are those of this node's ranks; the other nodes have their own",
            rendezvous.node(), rendezvous.nodes()));
    }
    auto recorder = RunRecorder::begin(request.record, announced);
    if (!recorder) return tl::unexpected(recorder.error());
    record_warnings(**recorder, subject, false, driver.now());

    ProgressDisplay progress(request.show_progress);
    bool told_to_stop = false;
    RecordingObserver observer(**recorder, subject.plan, progress, [&] {
        capture->drain();
        if (!(*recorder)->failure() || told_to_stop || request.stop == nullptr) return;
        told_to_stop = true;
        request.stop->fetch_add(1, std::memory_order_relaxed);
    });
    auto session = replay::Session::create(options, {.workload = &subject.workload,
                                                     .endpoints = endpoints_of(*composition),
                                                     .rendezvous = &rendezvous,
                                                     .driver = &driver,
                                                     .observer = &observer});
    if (!session) {
        rendezvous.abandon(session.error().message);
        (*recorder)->finish(driver.now(), measure::Outcome::error, session.error().message);
    } else {
        replay::SessionReport report = (*session)->run();
        add_port_statistics(report.self_check, composition->ports);
        for (const std::string& line : fault_accounts(composition->ports)) {
            (*recorder)->record(events::message(driver.now(), events::kind::kFault, line));
        }
        if (const std::string lost = capture->close(); !lost.empty()) {
            (*recorder)->record(events::message(driver.now(), events::kind::kWarning, lost));
        }
        record_report(**recorder, report, composition->network_is_emulated, driver.now());
    }
    progress.clear();
    if (driver.hung()) leave(std::move(owned_driver), std::move(*session), std::move(*composition));
    const measure::RunResult& result = (*recorder)->result();
    return FinishedRun{.result = result,
                       .exit_code = session ? measure::exit_code(result.outcome) : exit_code_of(session.error().code),
                       .stored_as = (*recorder)->stored_as(),
                       .notice = (*recorder)->notice()};
}

}  // namespace gradstorm::app
