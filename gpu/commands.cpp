// The table of tutti-gpu's commands. A new command is a row here and a function.
#include "gpu/commands.hpp"

#include "gpu/nccl.hpp"
#include "runtime/executor.hpp"
#include "sim/error.hpp"
#include "sim/files/standard_files.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace tutti::gpu {

namespace {

constexpr std::string_view rows_options =
    "      --out ROWS      the file that rows are appended to\n"
    "      --pack PACK     the pack that the rows belong to\n";

constexpr std::array<Command, 6> rows{{
    {"list", "[PACK]", "lists the tests and figures, or the runs of a pack", "", list_command},
    {"ticks", "[NAME ...] [--pack PACK --out ROWS]",
     "facts about the GPUs and times of basic operations; NAME: how a figure's name begins",
     rows_options, ticks_command},
    {"test", "[NAME ...] [--pack PACK --out ROWS]",
     "runs the GPU tests, each in a process of its own (a single one in this process)",
     rows_options, test_command},
    {"run", "PACK --out ROWS [FILE or CASE ...]",
     "runs a pack, or the files and cases whose names begin as given; ends at a hang or failure",
     "      --out ROWS      the file that rows are appended to\n", run_command},
    {"nccl", "PACK --out ROWS",
     "times NCCL, where it is installed, on the collectives and sizes of the pack's peers",
     "      --out ROWS      the file that rows are appended to\n", nccl_command},
    {"day", "PACK --out DIR [--step NAME,...] [--again] [--limit TIME] [--list]",
     "all of the above in steps with time limits; run again, it continues where it stopped",
     "      --out DIR       where rows, what was said and the report go; for one pack\n"
     "      --step NAME,... only these steps, even if they are done\n"
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
         "\nExit code: 0 fine, 1 a test, run or step failed, 2 bad input, no usable GPU or lost "
         "output, 130 interrupted.\n"
         "To judge the rows: tutti run EXPERIMENT --measured ROWS\n";
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
