// `tutti failures`: a collective through failures, under every policy, and what each of them costs.
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/studies/failures/study.hpp"

namespace tutti {

int failures_command(const FailuresArguments& arguments) {
  return run_study_line("failures", FailureStudy::kind, FailureStudy::options_of_command(),
                        arguments);
}

} // namespace tutti
