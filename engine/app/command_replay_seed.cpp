// SPDX-License-Identifier: Apache-2.0
#include "engine/app/commands.h"
#include "engine/app/result_text.h"
#include "engine/app/terminal.h"
#include "engine/app/virtual_run.h"

#include <fmt/format.h>

namespace gradstorm::app {

int execute(const ReplaySeedCommand& command) {
    SubjectOptions options = command.subject;
    options.set.push_back(fmt::format("run.seed={}", command.seed));
    const auto subject = load_subject(options);
    if (!subject) return refuse(subject.error());
    if (const auto able = supported(subject->profile); !able) return fail(able.error());
    RecorderOptions record;
    if (command.journal) record.journal = *command.journal;
    const auto run = run_in_virtual_time(*subject, record);
    if (!run) return fail(run.error());
    complain(remarks_text(run->result));
    return write_output(result_text(run->result, OutputFormat::table), run->exit_code);
}

}  // namespace gradstorm::app
