// `tutti exec`: schedules run with real data, every element checked, beside what the engines
// predict.
#include "experiments/driver/cli/commands.hpp"

namespace tutti {

int exec_command(const ExecArguments& arguments) {
  const auto as_nccl_tests = [&](StudyResult& result) {
    if (arguments.nccl_tests)
      result.story = [text = result.texts.front().text](const TableForm&) { return text; };
  };
  return run_study_line("exec", arguments, as_nccl_tests);
}

} // namespace tutti
