// What each command takes on its command line. CLI11 fills the plain structs of commands.hpp.
#pragma once

#include "experiments/driver/cli/commands.hpp"

namespace CLI {
class App;
}

namespace tutti {

void add_options(CLI::App& app, RunArguments& arguments);
void add_options(CLI::App& app, SynthArguments& arguments);
void add_options(CLI::App& app, FrontierArguments& arguments);
void add_options(CLI::App& app, JobsArguments& arguments);
void add_options(CLI::App& app, FailuresArguments& arguments);
void add_options(CLI::App& app, TrainArguments& arguments);
void add_options(CLI::App& app, UpdateArguments& arguments);
void add_options(CLI::App& app, VerifyArguments& arguments);
void add_options(CLI::App& app, ReplayArguments& arguments);
void add_options(CLI::App& app, ExecArguments& arguments);
void add_options(CLI::App& app, ProfileArguments& arguments);
void add_options(CLI::App& app, LowerArguments& arguments);
void add_options(CLI::App& app, ImportArguments& arguments);
void add_options(CLI::App& app, BoundArguments& arguments);
void add_options(CLI::App& app, SweepArguments& arguments);
void add_options(CLI::App& app, ListArguments& arguments);
void add_options(CLI::App& app, ShowArguments& arguments);
void add_options(CLI::App& app, CompletionArguments& arguments);
void add_options(CLI::App& app, ManArguments& arguments);

} // namespace tutti
