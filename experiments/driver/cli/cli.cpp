// One row per command: name, description, function. CLI11 parses; what it would say about unknown
// commands and options is said here instead, with the nearest known names. Exit codes are decided
// in one place, command_line(): 2 is the user's mistake, 1 a failed check or a defect of ours.
#include "experiments/driver/cli/cli.hpp"

#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/cli/completion.hpp"
#include "experiments/driver/cli/man_page.hpp"
#include "experiments/driver/cli/options.hpp"
#include "experiments/driver/pool/interrupts.hpp"
#include "experiments/driver/pool/process_memory.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/records/provenance.hpp"
#include "experiments/driver/studies/not_built.hpp"
#include "experiments/driver/studies/row_schema.hpp"
#include "sim/error.hpp"
#include "sim/files/standard_files.hpp"
#include "sim/text.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace tutti {

namespace {

struct Command {
  CLI::App* app = nullptr;
  std::function<int()> run;
};

template <typename Arguments, typename Function>
Command command_of(CLI::App& app, const std::string& name, const std::string& description,
                   const Function& function) {
  CLI::App* sub = app.add_subcommand(name, description);
  sub->allow_extras(); // unknown options are reported by require_known, with a hint
  const auto arguments = std::make_shared<Arguments>();
  add_options(*sub, *arguments);
  return {sub, [function, arguments] {
            if constexpr (requires { arguments->tables; }) {
              const TableForm form = table_form(arguments->tables);
              const int code = function(*arguments);
              if (code != 0) return code; // and a reason: columns may be missing because of it
              try {
                require_known_columns(form); // which are known when all tables are written
              } catch (const InputError& error) {
                flush_standard_output();
                print_message(error.what());
                return 2;
              }
              return code;
            } else {
              return function(*arguments);
            }
          }};
}

template <typename Arguments>
Command command(CLI::App& app, const std::string& name, const std::string& description,
                int (*function)(const Arguments&)) {
  return command_of<Arguments>(app, name, description, function);
}

std::vector<Command> add_commands(CLI::App& app, char** argv, const sweep::SweepEngine& mpi) {
  return {
      command(app, "run", "an experiment: tables, figures, paper-vs-ours verdicts", run_command),
      command(app, "paper", "a paper's figures and tables beside ours, as a page", paper_command),
      command(app, "synth", "make, verify, bound and replay schedules", synth_command),
      command(app, "frontier", "SCCL's Pareto-optimal algorithms between latency and bandwidth",
              frontier_command),
      command(app, "jobs", "several jobs on one network, and what each costs the others",
              jobs_command),
      command(app, "failures", "a collective through failures: what each policy makes of it",
              failures_command),
      command(app, "train", "iterations of training: what a schedule is worth in time",
              train_command),
      command(app, "verify", "check the schedule in a file", verify_command),
      command(app, "replay", "simulate the schedule in a file", replay_command),
      command(app, "explore", "a page for a browser that plays schedules in files",
              explore_command),
      command(app, "exec", "run schedules with real data on CPU threads or GPUs, and check it",
              exec_command),
      command(app, "profile", "measure latency and bandwidth of every link", profile_command),
      command(app, "lower", "a schedule as a program for each rank, and as MSCCL XML",
              lower_command),
      command(app, "import", "a program in MSCCL XML as a schedule, verified and replayed",
              import_command),
      command(app, "bound", "lower bounds on the collective time", bound_command),
      command(app, "compare", "what a machine has measured beside what is predicted",
              compare_command),
      command(app, "predict", "what a machine should reach: every collective at every size",
              predict_command),
      command(app, "fit", "a transport's constants from what a machine has measured", fit_command),
      command_of<SweepArguments>(app, "sweep",
                                 "thousands of points of a parameter space, and what they say",
                                 [&mpi, argv](const SweepArguments& arguments) {
                                   if (arguments.engine == "mpi" && !mpi)
                                     sweep::become_mpi_program(argv);
                                   return sweep_command(arguments, mpi);
                                 }),
      command(app, "check-algorithm",
              "an algorithm of your own on small networks: what is wrong, and gaps beside ours",
              check_algorithm_command),
      command(app, "list", joined(listed_kinds(), ", "), list_command),
      command(app, "show", "what a topology looks like", show_command),
      command(app, "lint", "what is odd in a network: faults that its file shows", lint_command),
      command(app, "sketch", "communication sketches for a network, for synthesis by taccl",
              sketch_command),
      command(app, "convert", "a network as a file, by the ending of its name", convert_command),
      command(app, "completion", "what a shell needs to complete commands", completion_command),
      command_of<ManArguments>(
          app, "man", "man pages, in roff", [&app](const ManArguments& arguments) {
            print_text(arguments.schema      ? row_schema()
                       : arguments.reference ? reference_page(app)
                                             : man_page(app, arguments.command));
            return 0;
          })};
}

const Command* parsed_command(const std::vector<Command>& commands) {
  const auto found = std::find_if(commands.begin(), commands.end(),
                                  [](const Command& c) { return c.app->parsed(); });
  return found == commands.end() ? nullptr : &*found;
}

// " (algorithms, topologies, ...)": what an argument without a name may be, where it is missing.
std::string meaning_of_missing(const Command& command, const std::string& message) {
  const std::string name = message.substr(0, message.find(' '));
  const CLI::Option* option = command.app->get_option_no_throw(name);
  if (name.starts_with('-') || option == nullptr || option->get_description().empty()) return "";
  return fmt::format(" ({})", option->get_description());
}

// No option means anything by an empty text: an unset variable of a shell's, mostly.
void require_texts(const Command& command) {
  for (const CLI::Option* option : command.app->get_options())
    for (const std::string& text : option->results())
      if (text.empty()) throw InputError(option->get_name() + ": the text is empty");
}

// Errors: InputError for an option or argument that the command doesn't have.
void require_known(const Command& command) {
  const std::vector<std::string> extras = command.app->remaining();
  if (extras.empty()) return;
  const auto option = std::find_if(extras.begin(), extras.end(),
                                   [](const std::string& extra) { return extra.starts_with('-'); });
  if (option == extras.end())
    throw InputError(
        fmt::format("{}: unexpected argument \"{}\"", command.app->get_name(), extras.front()));
  std::vector<std::string> known;
  for (const CLI::Option* each : command.app->get_options())
    for (const std::string& name : each->get_lnames()) known.push_back("--" + name);
  throw InputError(unknown_name(fmt::format("option of tutti {}", command.app->get_name()),
                                option->substr(0, option->find('=')), known));
}

void require_known_command(int argc, char** argv, const std::vector<Command>& commands) {
  if (argc < 2) throw InputError("name a command; `tutti --help` lists them");
  const std::string first = argv[1];
  std::vector<std::string> known;
  for (const Command& command : commands) known.push_back(command.app->get_name());
  if (std::find(known.begin(), known.end(), first) != known.end()) return;
  if (first == "--help" || first == "-h" || first == "--version") return;
  throw InputError(unknown_name(first.starts_with('-') ? "option" : "command", first, known));
}

// CLI11 lists what an option excludes in the order of addresses, which differs between builds.
class HelpFormatter : public CLI::Formatter {
public:
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text = CLI::Formatter::make_option_opts(option);
    const std::string head = "Excludes: ";
    const std::size_t at = text.find(head);
    if (at == std::string::npos) return text;
    std::vector<std::string> names;
    for (const std::string_view name : split(std::string_view(text).substr(at + head.size()), ' '))
      names.emplace_back(name);
    std::ranges::sort(names);
    return text.substr(0, at + head.size()) + joined(names, " ");
  }
};

// The command is looked for first: CLI11 would report a misspelt one as a missing one.
int parse_and_run(int argc, char** argv, const sweep::SweepEngine& mpi) {
  CLI::App app("Tutti: synthesizes collective-communication algorithms and replays them on a "
               "congestion-aware simulator.",
               "tutti");
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_version_flag("--version", "tutti " + tutti_version());
  app.require_subcommand(1);
  app.footer(
      "Exit code: 0 fine, 1 an expectation or check failed, 2 bad input, 130 interrupted (Ctrl-C "
      "ends a synthesis with the best so far; a second one stops at once).");
  const std::vector<Command> commands = add_commands(app, argv, mpi);
  if (argc > 1 && std::string_view(argv[1]) == "--complete") { // asked by completion_script()
    const std::vector<std::string> words(argv + 2, argv + argc);
    try {
      for (const std::string& word : completions(app, words)) print_text(word + "\n");
    } catch (const NotBuilt&) { // whoever types a command doesn't wait for a build
    }
    return 0;
  }
  require_known_command(argc, argv, commands);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error); // --help, --version
    const Command* command = parsed_command(commands);
    if (command == nullptr) throw InputError(error.what());
    require_known(*command); // an unknown option explains best why another one is missing
    throw InputError(fmt::format("{}: {}{}; see `tutti {} --help`", command->app->get_name(),
                                 error.what(), meaning_of_missing(*command, error.what()),
                                 command->app->get_name()));
  }
  const Command* command = parsed_command(commands);
  require_known(*command);
  require_texts(*command);
  return command->run();
}

} // namespace

int command_line(int argc, char** argv, const sweep::SweepEngine& mpi) {
  guard_standard_files();
  limit_memory_by_default();
  try {
    const int code = parse_and_run(argc, argv, mpi);
    flush_standard_output();
    return code;
  } catch (const InputError& error) {
    print_message(error.what());
    return 2;
  } catch (const NotBuilt& missing) {
    build_and_start_again(missing, argv);
    print_message(missing.text());
    return 2;
  } catch (const Interrupted&) {
    return interrupted_exit_code;
  } catch (const std::bad_alloc& error) {
    print_message(memory_text(error));
  } catch (const std::system_error& error) { // no thread, no descriptor to be had
    print_message(fmt::format("the system refuses: {}", error.what()));
  } catch (const std::exception& error) {
    print_message(fmt::format("a defect of Tutti: {}", error.what()));
  }
  return 1;
}

} // namespace tutti
