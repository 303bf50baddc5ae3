// SPDX-License-Identifier: Apache-2.0
#include "engine/app/command_line.h"

#include "engine/app/terminal.h"
#include "engine/app/version.h"
#include "profiles/diagnostics.h"
#include "profiles/quantity.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>

namespace gradstorm::app {

namespace {

constexpr const char* kExamples = R"(
Examples:
  gradstorm selftest                                   does it work here? no hardware needed
  gradstorm run resnet50-ddp-2                         the gradient sync of a real training job, on two ranks
  gradstorm run allreduce-sweep-8 --format nccl-tests  a size sweep, as nccl-tests prints it
  gradstorm run my.toml --set run.iterations=100 --dut kmin=150KB
  gradstorm run trace.json                             replay a PyTorch execution trace
  gradstorm plan my.toml                               bytes, steps and ideal times; touches no hardware
  gradstorm list                                       stored runs
  gradstorm show 12 --format json                      one of them

Exit codes: 0 pass, 1 a criterion failed, 2 invalid, interrupted or not measured, 3 device, peer or store error,
            4 bad profile, option or input file.
)";

const std::map<std::string, OutputFormat> kFormats{
    {"table", OutputFormat::table}, {"nccl-tests", OutputFormat::nccl_tests}, {"json", OutputFormat::json}};

void add_format(CLI::App* app, OutputFormat& format) {
    app->add_option("--format", format, "output on standard output: table, nccl-tests or json")
        ->transform(CLI::CheckedTransformer(kFormats).description(""))
        ->type_name("FORMAT");
}

void add_subject_adjustments(CLI::App* app, SubjectOptions& subject) {
    app->add_option("--set", subject.set, "set one profile key, e.g. run.iterations=10; may be given often")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
    app->add_option("--testbed", subject.testbed, "file whose [[port]] and [bind] replace those of the profile")
        ->type_name("FILE");
    app->add_option("--dut", subject.dut, "record one setting of the device under test; may be given often")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
    app->add_option("--dut-file", subject.dut_file, "file of KEY=VALUE lines for the record")->type_name("FILE");
}

void add_subject(CLI::App* app, SubjectOptions& subject, const std::string& what) {
    app->add_option("subject", subject.subject, what)->required()->type_name("PROFILE|TRACE");
    add_subject_adjustments(app, subject);
}

/// Everything the parser can fill in; the command that was named decides which part counts.
struct Parsed {
    RunCommand run;
    std::string stop_timeout;
    PlanCommand plan;
    std::vector<std::string> validate_paths;
    SubjectOptions validate_adjustments;
    ProfileShowCommand profile_show;
    ProfileSchemaCommand profile_schema;
    ListCommand list;
    ShowCommand show;
    ReplaySeedCommand replay_seed;
};

struct Grammar {
    CLI::App app{"gradstorm: traffic generator for AI training fabrics", "gradstorm"};
    CLI::App* run = nullptr;
    CLI::App* plan = nullptr;
    CLI::App* profile = nullptr;
    CLI::App* validate = nullptr;
    CLI::App* profile_list = nullptr;
    CLI::App* profile_show = nullptr;
    CLI::App* profile_schema = nullptr;
    CLI::App* selftest = nullptr;
    CLI::App* list = nullptr;
    CLI::App* show = nullptr;
    CLI::App* replay_seed = nullptr;
};

void define_run(Grammar& grammar, Parsed& parsed) {
    grammar.run = grammar.app.add_subcommand("run", "replay a profile or a trace, measure it, print and store the run");
    add_subject(grammar.run, parsed.run.subject, "profile file, catalog name, or execution trace (.json, .json.gz)");
    grammar.run->add_option("--store", parsed.run.store, "run store (default: gradstorm/runs.db in the data folder)")
        ->type_name("FILE");
    grammar.run->add_flag("--no-store", parsed.run.no_store, "keep no record of the run");
    add_format(grammar.run, parsed.run.format);
    grammar.run
        ->add_option("--events", parsed.run.events, "write events as JSON lines to FILE, or to standard output (-)")
        ->type_name("FILE|-");
    grammar.run->add_option("--node", parsed.run.node, "which node of the cluster this process is")->type_name("N");
    grammar.run->add_option("--rendezvous", parsed.run.rendezvous, "where the processes of the run meet: unix:PATH")
        ->type_name("ADDRESS");
    grammar.run->add_option("--stop-timeout", parsed.stop_timeout, "after a stop request, abort after this time (10s)")
        ->type_name("TIME");
}

void define_profile(Grammar& grammar, Parsed& parsed) {
    grammar.profile = grammar.app.add_subcommand("profile", "check and look at profiles");
    grammar.profile->require_subcommand(1);
    grammar.validate = grammar.profile->add_subcommand("validate", "report every mistake as file:line:column: message");
    grammar.validate->add_option("profile", parsed.validate_paths, "profile files or catalog names")
        ->required()
        ->type_name("PROFILE");
    add_subject_adjustments(grammar.validate, parsed.validate_adjustments);
    grammar.profile_list = grammar.profile->add_subcommand("list", "the profiles that come with gradstorm");
    grammar.profile_show = grammar.profile->add_subcommand("show", "print a profile of the catalog");
    grammar.profile_show->add_option("name", parsed.profile_show.name, "catalog name")->required()->type_name("NAME");
    grammar.profile_schema = grammar.profile->add_subcommand("schema", "every key: type, unit, range, default, help");
    grammar.profile_schema->add_flag("--json", parsed.profile_schema.json, "as one JSON document");
}

void define(Grammar& grammar, Parsed& parsed) {
    CLI::App& app = grammar.app;
    app.set_version_flag("--version", version_text());
    app.set_help_flag("--help,-h", "print this help");
    app.footer(kExamples);
    app.require_subcommand(1);
    app.option_defaults()->always_capture_default(false);
    define_run(grammar, parsed);
    grammar.plan = app.add_subcommand("plan", "what a run would do: bytes, steps, ideal times; touches no hardware");
    add_subject(grammar.plan, parsed.plan.subject, "profile file, catalog name, or execution trace");
    grammar.plan->add_flag("--json", parsed.plan.json, "as one JSON document");
    define_profile(grammar, parsed);
    grammar.selftest = app.add_subcommand("selftest", "prove in under 30 s that this installation works; no hardware");
    grammar.list = app.add_subcommand("list", "the stored runs");
    grammar.list->add_option("--store", parsed.list.store, "run store")->type_name("FILE");
    grammar.list->add_flag("--json", parsed.list.json, "as one JSON document");
    grammar.show = app.add_subcommand("show", "print a stored run");
    grammar.show->add_option("run", parsed.show.run, "number, or the first digits of the uuid")
        ->required()
        ->type_name("RUN");
    grammar.show->add_option("--store", parsed.show.store, "run store")->type_name("FILE");
    add_format(grammar.show, parsed.show.format);
    grammar.replay_seed =
        app.add_subcommand("replay-seed", "run a profile in virtual time with this seed: the same bytes every time");
    grammar.replay_seed->add_option("seed", parsed.replay_seed.seed, "seed")->required()->type_name("N");
    grammar.replay_seed->add_option("profile", parsed.replay_seed.subject.subject, "profile file or catalog name")
        ->default_str("loss-1pct")
        ->type_name("PROFILE");
    add_subject_adjustments(grammar.replay_seed, parsed.replay_seed.subject);
    grammar.replay_seed->add_option("--journal", parsed.replay_seed.journal, "keep the journal in FILE")
        ->type_name("FILE");
}

std::vector<std::string> option_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
        names.push_back(sub->get_name());
    }
    return names;
}

/// The innermost command that was named.
const CLI::App& named_command(const CLI::App& app) {
    const CLI::App* current = &app;
    for (auto subs = current->get_subcommands(); !subs.empty(); subs = current->get_subcommands())
        current = subs.front();
    return *current;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& names) {
    const std::vector<std::string_view> candidates(names.begin(), names.end());
    const std::string_view nearest = profiles::nearest_name(word, candidates);
    return nearest.empty() ? std::string{} : "; did you mean '" + std::string(nearest) + "'?";
}

/// Our own words for what the parser did not take: it would print several words in reverse order and suggest nothing.
std::string describe_extras(const CLI::App& app) {
    const CLI::App& command = named_command(app);
    const std::vector<std::string> extras = app.remaining(true);
    const auto option =
        std::find_if(extras.begin(), extras.end(), [](const auto& extra) { return extra.starts_with("--"); });
    const std::string word = option != extras.end() ? *option : extras.empty() ? std::string{} : extras.front();
    const std::string where = &command == &app ? std::string{} : " for '" + command.get_name() + "'";
    if (word.starts_with("-")) {
        const std::string name = word.substr(0, word.find('='));
        return "unknown option '" + name + "'" + where + did_you_mean(name, option_names(command));
    }
    if (!command.get_subcommands([](const CLI::App*) { return true; }).empty()) {
        return "unknown command '" + word + "'" + did_you_mean(word, command_names(command));
    }
    return "unexpected argument '" + word + "'" + where;
}

std::string describe(const CLI::App& app, const CLI::ParseError& error) {
    const bool no_command = app.get_subcommands().empty();
    const bool extras = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
    if (extras || (no_command && !app.remaining(true).empty())) return describe_extras(app);
    std::string text = error.what();
    if (no_command && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) text = "a command is missing";
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

tl::unexpected<CommandLineEnd> wrong(const std::string& text) {
    return tl::unexpected(CommandLineEnd{kExitBadInput, {}, "gradstorm: " + text + "; see 'gradstorm --help'\n"});
}

tl::expected<Command, CommandLineEnd> chosen_command(const Grammar& grammar, Parsed& parsed) {
    if (grammar.run->parsed()) {
        if (!parsed.stop_timeout.empty()) {
            const auto time = profiles::parse_quantity(parsed.stop_timeout, profiles::Dimension::duration);
            if (!time) return wrong("--stop-timeout: " + time.error().message);
            parsed.run.stop_timeout = Nanoseconds{*time};
        }
        if (parsed.run.events == "-" && grammar.run->count("--format") > 0) {
            return wrong("--events - fills standard output, so --format cannot use it too; give --events a file");
        }
        if (parsed.run.no_store && parsed.run.store) return wrong("--store and --no-store contradict each other");
        if (parsed.run.node > 0 && !parsed.run.rendezvous) return wrong("--node needs --rendezvous unix:PATH");
        return parsed.run;
    }
    if (grammar.plan->parsed()) return parsed.plan;
    if (grammar.validate->parsed()) {
        ProfileValidateCommand command;
        for (const std::string& path : parsed.validate_paths) {
            command.subjects.push_back(parsed.validate_adjustments);
            command.subjects.back().subject = path;
        }
        return command;
    }
    if (grammar.profile_list->parsed()) return ProfileListCommand{};
    if (grammar.profile_show->parsed()) return parsed.profile_show;
    if (grammar.profile_schema->parsed()) return parsed.profile_schema;
    if (grammar.selftest->parsed()) return SelftestCommand{};
    if (grammar.list->parsed()) return parsed.list;
    if (grammar.show->parsed()) return parsed.show;
    if (parsed.replay_seed.subject.subject.empty()) parsed.replay_seed.subject.subject = "loss-1pct";
    return parsed.replay_seed;
}

}  // namespace

tl::expected<Command, CommandLineEnd> parse_command_line(int argc, const char* const* argv) {
    Grammar grammar;
    Parsed parsed;
    define(grammar, parsed);
    try {
        grammar.app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        return tl::unexpected(CommandLineEnd{0, named_command(grammar.app).help(), {}});
    } catch (const CLI::CallForVersion&) {
        return tl::unexpected(CommandLineEnd{0, version_text() + "\n", {}});
    } catch (const CLI::ParseError& error) {
        return wrong(describe(grammar.app, error));
    }
    return chosen_command(grammar, parsed);
}

}  // namespace gradstorm::app
