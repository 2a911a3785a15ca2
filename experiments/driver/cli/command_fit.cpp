// `tutti fit`: a transport whose constants are those of a machine that has measured.
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/studies/fits/study.hpp"
#include "sim/files/files.hpp"

namespace tutti {

int fit_command(const FitArguments& arguments) {
  if (!arguments.output.empty()) require_writable(arguments.output);
  return run_study_line("fit", FitStudy::kind, FitStudy::options_of_command(), arguments,
                        [&](StudyResult& result) {
                          if (!arguments.output.empty() && !result.texts.empty())
                            write_file(arguments.output, result.texts.front().text);
                        });
}

} // namespace tutti
