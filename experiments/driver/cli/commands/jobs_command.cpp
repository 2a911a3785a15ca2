// `tutti jobs`: several collectives on one network at once, and what each costs the others.
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/outside/outside.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/studies/experiment.hpp"
#include "experiments/driver/studies/in_file.hpp"
#include "experiments/driver/studies/jobs/study.hpp"
#include "experiments/driver/terminal/stage_display.hpp"
#include "topologies/list.hpp"

namespace tutti {

int jobs_command(const JobsArguments& arguments) {
  const Topology topology = make_topology_and_report(arguments.topology);
  const std::uint64_t seed = parse_seed(arguments.seed);
  JobStudy study =
      read_job_file(arguments.file, topology, seed, program_gate(arguments.allow_programs, true));
  if (arguments.transport)
    study.transport =
        of_option("--transport", [&] { return parse_transport(*arguments.transport); });
  study.explores = !arguments.explore.empty();
  in_file(arguments.file, [&] { require_sound(study, topology); });
  require_columns(arguments.tables, std::vector<AnyStudy>{study});
  require_drawable(arguments.draw);
  require_page_name(arguments.explore);
  require_outputs({arguments.topology, arguments.file}, {arguments.draw.file, arguments.explore});
  require_writable(arguments.out, "jobs.csv");
  Interrupts interrupts;
  InterruptibleWork work(interrupts, "jobs on " + topology.name(), false);
  work.watch(study.options);
  const JobStudyEvaluation evaluation =
      in_file(arguments.file, [&] { return evaluate_jobs(study, topology.name(), topology); });
  work.finish();
  return conclude(result_of(evaluation, topology), "jobs", arguments, interrupts.count() > 0);
}

} // namespace tutti
