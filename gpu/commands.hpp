// The command `tutti-gpu`: what measures and checks on a machine that has a GPU and nothing else of
// Tutti. Packs come from `tutti run EXPERIMENT --pack`, rows go back to `tutti run --measured`.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tutti::gpu {

struct Command {
  std::string_view name, synopsis, help;
  std::string_view options; ///< what each is, in lines of 6 blanks; may be empty
  /// The exit code: 0, or 1 where something isn't as it should be. Errors: InputError.
  int (*run)(std::span<const std::string> arguments) = nullptr;
};
[[nodiscard]] std::span<const Command> commands();

/// All of the command: 0, 1, or 2 for input or a machine that can't be used, in words on stderr.
[[nodiscard]] int tutti_gpu(std::span<const std::string> arguments);

int list_command(std::span<const std::string> arguments);
int test_command(std::span<const std::string> arguments);
int ticks_command(std::span<const std::string> arguments);
int run_command(std::span<const std::string> arguments);
/// Steps with time limits, each in processes of its own, that leave DIR/NN_step.csv, their rows,
/// and DIR/NN_step.txt, what was said. One that is done for the same pack isn't run again, unless
/// it is asked for. DIR/report.md and DIR/measured.csv say what all steps have found so far.
/// 0: all done or left out; 1: a step failed; 2: results can't be written; 130: interrupted.
int day_command(std::span<const std::string> arguments);

} // namespace tutti::gpu
