// What each command takes on its command line. CLI11 fills the plain structs of commands.hpp.
#pragma once

#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/studies/keys.hpp"

#include <span>
#include <string_view>

namespace CLI {
class App;
}

namespace tutti {

void add_options(CLI::App& app, RunArguments& arguments);
void add_options(CLI::App& app, PaperArguments& arguments);
void add_options(CLI::App& app, SynthArguments& arguments);
void add_options(CLI::App& app, FrontierArguments& arguments);
void add_options(CLI::App& app, JobsArguments& arguments);
void add_options(CLI::App& app, FailuresArguments& arguments);
void add_options(CLI::App& app, TrainArguments& arguments);
void add_options(CLI::App& app, ConvertArguments& arguments);
void add_options(CLI::App& app, VerifyArguments& arguments);
void add_options(CLI::App& app, ReplayArguments& arguments);
void add_options(CLI::App& app, ExecArguments& arguments);
void add_options(CLI::App& app, ProfileArguments& arguments);
void add_options(CLI::App& app, LowerArguments& arguments);
void add_options(CLI::App& app, ImportArguments& arguments);
void add_options(CLI::App& app, BoundArguments& arguments);
void add_options(CLI::App& app, CompareArguments& arguments);
void add_options(CLI::App& app, PredictArguments& arguments);
void add_options(CLI::App& app, FitArguments& arguments);
void add_options(CLI::App& app, SweepArguments& arguments);
void add_options(CLI::App& app, ListArguments& arguments);
void add_options(CLI::App& app, ShowArguments& arguments);
void add_options(CLI::App& app, CheckAlgorithmArguments& arguments);
void add_options(CLI::App& app, LintArguments& arguments);
void add_options(CLI::App& app, SketchArguments& arguments);
void add_options(CLI::App& app, CompletionArguments& arguments);
void add_options(CLI::App& app, ManArguments& arguments);

/// A command whose options are keys of a table in experiments.
struct StudyCommand {
  std::string_view name, kind; ///< "synth" of [[runs]]
  std::vector<StudyOption> options;
};
[[nodiscard]] std::vector<StudyCommand> study_commands();
/// Those of `tutti exec` that `tutti profile` takes, too.
[[nodiscard]] std::vector<StudyOption> profile_options();

} // namespace tutti
