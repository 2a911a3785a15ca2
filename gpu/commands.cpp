// The table of tutti-gpu's commands. A new command is a row here and a function.
#include "gpu/commands.hpp"

#include "gpu/day/day.hpp"
#include "gpu/nccl.hpp"
#include "runtime/executor.hpp"
#include "sim/error.hpp"

#include <array>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace tutti::gpu {

namespace {

constexpr std::array<Command, 6> rows{{
    {"list", "[PACK]", "the tests and figures there are; of a pack, its runs", list_command},
    {"ticks", "[NAME ...] [--pack PACK --out ROWS]",
     "what the GPUs are, and what their simplest operations take; names may be beginnings",
     ticks_command},
    {"test", "[NAME ...] [--pack PACK --out ROWS]",
     "whether GPUs do what is asked of them: each test in a process of its own, one alone in this",
     test_command},
    {"run", "PACK --out ROWS [FILE or CASE ...]",
     "runs of a pack, all or those whose files or cases begin so, until one hangs or fails",
     run_command},
    {"nccl", "PACK --out ROWS",
     "NCCL's own times of what the pack's cases of peers move, where it is installed",
     nccl_command},
    {"day", "PACK --out DIR [--step NAME,...] [--again] [--limit SECONDS] [--list]",
     "all of it, in steps that end in time; the same command goes on where it was ended",
     day_command},
}};

std::string help_text() {
  std::string text =
      "tutti-gpu: executes what `tutti run EXPERIMENT --pack PACK` packed, on GPUs\n";
  for (const Command& command : rows)
    text += "\n  tutti-gpu " + std::string(command.name) + " " + std::string(command.synopsis) +
            "\n      " + std::string(command.help) + "\n";
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

} // namespace

std::span<const Command> commands() { return rows; }

int tutti_gpu(std::span<const std::string> arguments) {
  try {
    if (arguments.empty() || arguments[0] == "--help" || arguments[0] == "-h") {
      (void)std::fputs(help_text().c_str(), arguments.empty() ? stderr : stdout);
      return arguments.empty() ? 2 : 0;
    }
    return find_command(arguments[0]).run(arguments.subspan(1));
  } catch (const InputError& error) {
    (void)std::fprintf(stderr, "error: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    (void)std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}

} // namespace tutti::gpu
