// `tutti synth`: one algorithm or all of them for a collective on a topology. Every schedule is
// verified, bounded and replayed.
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/cli/replay_files.hpp"
#include "experiments/driver/records/json.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/studies/in_file.hpp"
#include "experiments/driver/studies/runs/display.hpp"
#include "experiments/driver/studies/runs/json.hpp"
#include "experiments/driver/studies/runs/over_nccl.hpp"
#include "experiments/driver/studies/runs/runner.hpp"
#include "experiments/driver/studies/runs/study.hpp"
#include "experiments/driver/studies/runs/table.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>

namespace tutti {

namespace {

/// One for each size and algorithm. What can be refused without a synthesis is refused here.
std::vector<Case> cases_of(const SynthArguments& arguments, const Experiment& experiment) {
  std::string left_out;
  std::vector<Case> cases =
      experiment.all<RunStudy>().front()->matrices.front().cases(experiment.topologies, &left_out);
  if (!left_out.empty()) print_message("--size: " + left_out);
  if (cases.size() > 1 && !arguments.output.empty())
    throw InputError("-o takes one schedule: name one algorithm and one size");
  const bool threads_given =
      arguments.line.texts.contains("--threads") && !arguments.line.texts.at("--threads").empty();
  for (Case& c : cases) {
    c.schedule_file = arguments.output;
    // One synthesis has all processors; several at once have one each.
    if (!threads_given && cases.size() == 1)
      c.options.threads = static_cast<unsigned>(default_jobs());
  }
  require_drawable(arguments, cases.front());
  require_outputs(inputs_of(arguments.topology, arguments.line),
                  {arguments.output, arguments.trace, arguments.draw.file, arguments.draw_steps,
                   arguments.histogram, arguments.explore});
  return cases;
}

std::vector<Evaluation> evaluate_all(const std::vector<Case>& cases,
                                     const SynthArguments& arguments, bool& interrupted) {
  require_sound(cases);
  Interrupts interrupts;
  const std::string label(cases.size() == 1 ? cases.front().algorithm.name : "synth");
  std::vector<Evaluation> evaluations = evaluated_over_nccl(cases, [&](std::span<const Case> all) {
    RunDisplay display(label, all.size(), arguments.progress);
    return run_cases(all, parse_jobs(arguments.jobs), display.watcher(interrupts));
  });
  interrupted = interrupts.count() > 0;
  return evaluations;
}

} // namespace

int synth_command(const SynthArguments& arguments) {
  const Experiment experiment =
      experiment_of(RunStudy::kind, arguments.topology, parse_seed(arguments.seed),
                    RunStudy::options_of_command(), arguments.line);
  require_columns(arguments.tables, experiment.studies);
  std::vector<Case> cases = cases_of(arguments, experiment);
  const std::unique_ptr<ScratchFolder> records = record_for(arguments, cases);
  bool interrupted = false;
  const std::vector<Evaluation> evaluations =
      about_topology(arguments.topology, experiment.topologies.front().label,
                     [&] { return evaluate_all(cases, arguments, interrupted); });
  if (arguments.json)
    print_text(answer_json("synth", run_rows_json(evaluations, LinkDetail::none)));
  else
    print_tables(report_text(evaluations, table_form(arguments.tables)));
  const bool is_drawn =
      write_replay_files(arguments, experiment.topologies.front(), cases, evaluations, interrupted);
  int code = is_drawn ? 0 : 1;
  code = std::max(code, report_problems(problems_of(evaluations)));
  if (!arguments.output.empty() && !evaluations.front().verified) {
    print_message(fmt::format("{}: not written, there is no correct schedule", arguments.output));
    code = 1;
  } else {
    code = std::max(code, report_problems(nothing_made(evaluations)));
  }
  return interrupted ? interrupted_exit_code : code;
}

} // namespace tutti
