// SPDX-License-Identifier: Apache-2.0
#include "engine/app/commands.h"
#include "engine/app/subject.h"
#include "engine/app/terminal.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>

namespace gradstorm::app {

namespace {

std::string milliseconds(Nanoseconds time) { return fmt::format("{:.3f}", static_cast<double>(time.count()) / 1e6); }

std::string header_text(const Subject& subject) {
    const profiles::TransportSettings& transport = subject.profile.transport;
    const std::string line_rate = transport.line_rate.value > 0
                                      ? fmt::format("{:g} Gb/s a port", gigabits(transport.line_rate))
                                      : std::string{"unknown, so there are no ideal times (transport.line_rate)"};
    return fmt::format(
        "profile        {}\nranks          {}\npath MTU       {}\nline rate      {}\nschedule       {}\n",
        subject.profile.path, subject.plan.ranks, transport.path_mtu, line_rate, subject.plan.schedule_hash);
}

std::string call_line(const plan::CallPlan& call) {
    return fmt::format("{:<22} {:<14} {:<9} {:>12} {:>9} {:>8} {:>14} {:>14} {:>11}\n", call.label,
                       measure::to_string(call.call.kind), call.algorithm, call.call.bytes.value,
                       call.largest.messages_sent, call.largest.steps, call.largest.bytes_sent.value,
                       call.wire_bytes_per_rank.value, call.ideal ? milliseconds(call.ideal->total()) : "N/A");
}

std::string measurement_text(const plan::MeasurementPlan& measurement) {
    std::string text;
    for (const plan::CallPlan& call : measurement.calls) text += call_line(call);
    text += fmt::format("{:<22} an iteration sends {} payload bytes a rank, declared compute {} ms\n",
                        measurement.label, measurement.sent_per_rank.value, milliseconds(measurement.declared_compute));
    if (!measurement.calls.empty() && measurement.calls.front().ideal) {
        text += fmt::format("{:<22} {}\n", "", measurement.calls.front().ideal->bound);
    }
    return text;
}

std::string plan_text(const Subject& subject) {
    std::string text = header_text(subject);
    text += fmt::format("\n{:<22} {:<14} {:<9} {:>12} {:>9} {:>8} {:>14} {:>14} {:>11}\n", "call", "collective",
                        "algorithm", "bytes", "messages", "steps", "sent a rank", "wire a rank", "ideal (ms)");
    for (const plan::MeasurementPlan& measurement : subject.plan.measurements) text += measurement_text(measurement);
    return text;
}

nlohmann::ordered_json call_json(const plan::CallPlan& call) {
    nlohmann::ordered_json json{{"label", call.label},
                                {"collective", measure::to_string(call.call.kind)},
                                {"algorithm", call.algorithm},
                                {"ranks", call.call.ranks},
                                {"bytes", call.call.bytes.value},
                                {"messages_per_rank", call.largest.messages_sent},
                                {"steps", call.largest.steps},
                                {"payload_bytes_per_rank", call.largest.bytes_sent.value},
                                {"payload_bytes_total", call.total_sent.value},
                                {"wire_bytes_per_rank", call.wire_bytes_per_rank.value},
                                {"ideal_ns", nullptr},
                                {"ideal_bound", nullptr}};
    if (call.ideal) {
        json["ideal_ns"] = call.ideal->total().count();
        json["ideal_bound"] = call.ideal->bound;
    }
    return json;
}

std::string plan_json(const Subject& subject) {
    nlohmann::ordered_json json{{"format", "gradstorm-plan-1"},
                                {"profile", subject.profile.path},
                                {"ranks", subject.plan.ranks},
                                {"path_mtu", subject.profile.transport.path_mtu},
                                {"schedule_hash", subject.plan.schedule_hash},
                                {"measurements", nlohmann::ordered_json::array()}};
    for (const plan::MeasurementPlan& measurement : subject.plan.measurements) {
        nlohmann::ordered_json entry{{"label", measurement.label},
                                     {"payload_bytes_per_rank", measurement.sent_per_rank.value},
                                     {"declared_compute_ns", measurement.declared_compute.count()},
                                     {"calls", nlohmann::ordered_json::array()}};
        for (const plan::CallPlan& call : measurement.calls) entry["calls"].push_back(call_json(call));
        json["measurements"].push_back(std::move(entry));
    }
    return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

int execute(const PlanCommand& command) {
    const auto subject = load_subject(command.subject);
    if (!subject) return refuse(subject.error());
    for (const std::string& warning : subject->workload.warnings) complain("warning: " + warning);
    return write_output(command.json ? plan_json(*subject) : plan_text(*subject));
}

}  // namespace gradstorm::app
