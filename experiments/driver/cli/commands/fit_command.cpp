// `tutti fit`: a transport whose constants are those of a machine that has measured.
#include "experiments/driver/cli/commands.hpp"
#include "sim/files/files.hpp"

#include <string>
#include <vector>

namespace tutti {

int fit_command(const FitArguments& arguments) {
  std::vector<std::string> outputs;
  if (!arguments.output.empty()) outputs.push_back(arguments.output);
  if (arguments.out)
    for (const char* file : {"fits.csv", "fit_rows.csv", "fit_constants.csv", "results.json"})
      outputs.push_back(*arguments.out + "/" + file);
  require_outputs(inputs_of(arguments.topology, arguments.line), outputs);
  return run_study_line("fit", arguments, [&](StudyResult& result) {
    if (!arguments.output.empty() && !result.texts.empty())
      write_file(arguments.output, result.texts.front().text);
  });
}

} // namespace tutti
