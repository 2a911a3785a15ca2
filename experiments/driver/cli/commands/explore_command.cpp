// `tutti explore`: schedules that are in files, on one page, beside each other.
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/cli/replay_files.hpp"
#include "experiments/driver/figures/explorer.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/studies/runs/attempt.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"
#include "experiments/driver/terminal/stage_display.hpp"
#include "sim/files/schedule_file.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

namespace tutti {

int explore_command(const ExploreArguments& arguments) {
  require_page_name(arguments.output);
  std::vector<std::string> inputs = arguments.files;
  inputs.push_back(arguments.topology);
  require_outputs(inputs, {arguments.output});
  LabelledTopology network{"", arguments.topology, make_topology_and_report(arguments.topology)};
  network.label = network.topology.name();
  std::vector<ScheduleFile> schedules; // cases point to their texts
  std::vector<Case> cases;
  for (const std::string& file : arguments.files)
    schedules.push_back(read_schedule(file, network.topology));
  for (const ScheduleFile& schedule : schedules) {
    Case c = given_case(network.topology, schedule);
    c.disciplines = {schedule.time_model.discipline};
    c.engine =
        &find_engine(schedule.time_model.discipline == Discipline::fifo ? "native" : "simgrid");
    cases.push_back(std::move(c));
  }
  ReplayFiles files;
  files.explore = arguments.output;
  const std::unique_ptr<ScratchFolder> records = record_for(files, cases);
  std::vector<Evaluation> evaluations;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    StageDisplay display(arguments.files[i]);
    cases[i].options.stage = display.watch();
    Attempt given = given_attempt(network.topology, schedules[i],
                                  watch_of(cases[i].options.stage, "verification"));
    if (!given.usable()) {
      display.erase();
      print_message(fmt::format("{}: fault: {}", arguments.files[i], given.verdict.fault->text));
      return 1;
    }
    evaluations.push_back(evaluate_given(cases[i], std::move(given)));
    cases[i].options.stage = {}; // of a display that is gone
  }
  const bool is_written = write_replay_files(files, network, cases, evaluations);
  if (is_written) print_message(fmt::format("written: {}", arguments.output));
  return is_written ? report_problems(problems_of(evaluations)) : 1;
}

} // namespace tutti
