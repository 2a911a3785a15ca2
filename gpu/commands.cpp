// The table of tutti-gpu's commands. A new command is a row here and a function.
#include "gpu/commands.hpp"

#include "gpu/day/day.hpp"
#include "gpu/nccl.hpp"
#include "runtime/executor.hpp"
#include "sim/error.hpp"
#include "sim/standard_files.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace tutti::gpu {

namespace {

constexpr std::string_view rows_options =
    "      --out ROWS      a file of rows, begun or gone on with\n"
    "      --pack PACK     the pack that the rows belong to\n";

constexpr std::array<Command, 6> rows{{
    {"list", "[PACK]", "the tests and figures there are; of a pack, its runs", "", list_command},
    {"ticks", "[NAME ...] [--pack PACK --out ROWS]",
     "what the GPUs are, and what their simplest operations take; names may be beginnings",
     rows_options, ticks_command},
    {"test", "[NAME ...] [--pack PACK --out ROWS]",
     "whether GPUs do what is asked of them: each test in a process of its own, one alone in this",
     rows_options, test_command},
    {"run", "PACK --out ROWS [FILE or CASE ...]",
     "runs of a pack, all or those whose files or cases begin so, until one hangs or fails",
     "      --out ROWS      a file of rows, begun or gone on with\n", run_command},
    {"nccl", "PACK --out ROWS",
     "NCCL's own times of what the pack's cases of peers move, where it is installed",
     "      --out ROWS      a file of rows, begun or gone on with\n", nccl_command},
    {"day", "PACK --out DIR [--step NAME,...] [--again] [--limit TIME] [--list]",
     "all of it, in steps that end in time; the same command goes on where it was ended",
     "      --out DIR       where rows, what was said and the report go; for one pack\n"
     "      --step NAME,... these steps alone, even if they are done\n"
     "      --again         all steps, even those that are done\n"
     "      --limit TIME    the most for each step: 90s, 500ms; default: its own, 5 minutes at "
     "most\n"
     "      --list          the steps, what each expects, and what it means if not\n",
     day_command},
}};

std::string help_of(const Command& command) {
  return "\n  tutti-gpu " + std::string(command.name) + " " + std::string(command.synopsis) +
         "\n      " + std::string(command.help) + "\n" + std::string(command.options);
}

std::string help_text() {
  std::string text =
      "tutti-gpu: executes what `tutti run EXPERIMENT --pack PACK` packed, on GPUs\n";
  for (const Command& command : rows) text += help_of(command);
  return text +
         "\nExit code: 0, 1 where something isn't as it should be, 2 for bad input or no GPU.\n" +
         "The rows go back: tutti run EXPERIMENT --measured ROWS\n";
}

const Command& find_command(const std::string& name) {
  std::vector<std::string> known;
  for (const Command& command : rows) {
    if (command.name == name) return command;
    known.emplace_back(command.name);
  }
  throw InputError(unknown_name("command", name, known));
}

bool asks_for_help(const std::string& word) { return word == "--help" || word == "-h"; }

int perform(std::span<const std::string> arguments) {
  if (arguments.empty() || asks_for_help(arguments[0])) {
    (void)std::fputs(help_text().c_str(), arguments.empty() ? stderr : stdout);
    return arguments.empty() ? 2 : 0;
  }
  const Command& command = find_command(arguments[0]);
  if (std::ranges::none_of(arguments, asks_for_help)) return command.run(arguments.subspan(1));
  (void)std::fputs(help_of(command).c_str() + 1, stdout);
  return 0;
}

} // namespace

std::span<const Command> commands() { return rows; }

int tutti_gpu(std::span<const std::string> arguments) {
  guard_standard_files();
  try {
    const int code = perform(arguments);
    flush_standard_output(); // which may be a file on a full disk
    return code;
  } catch (const InputError& error) {
    (void)std::fprintf(stderr, "error: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    (void)std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}

} // namespace tutti::gpu
