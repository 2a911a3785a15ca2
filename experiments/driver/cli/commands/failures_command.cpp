// `tutti failures`: a collective through failures, under every policy, and what each of them costs.
#include "experiments/driver/cli/commands.hpp"

namespace tutti {

int failures_command(const FailuresArguments& arguments) {
  return run_study_line("failures", arguments);
}

} // namespace tutti
