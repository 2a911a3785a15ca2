// `tutti jobs`: several collectives on one network at once, and what each costs the others.
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/cli/output.hpp"
#include "experiments/driver/cli/stage_display.hpp"
#include "experiments/driver/figures/gnuplot.hpp"
#include "experiments/driver/records/csv.hpp"
#include "experiments/driver/studies/in_file.hpp"
#include "experiments/driver/studies/jobs/figure.hpp"
#include "experiments/driver/studies/jobs/json.hpp"
#include "experiments/driver/studies/jobs/records.hpp"
#include "experiments/driver/studies/jobs/study.hpp"
#include "experiments/driver/studies/jobs/table.hpp"
#include "experiments/driver/studies/runs/json.hpp"
#include "sim/files/files.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>

namespace tutti {

namespace {

std::vector<std::string> write_files(const std::string& folder, const JobStudyEvaluation& study) {
  std::vector<std::string> files{folder + "/jobs.csv"};
  write_file(files.front(), csv_text(csv_rows(job_records({&study, 1}))));
  if (!has_schedule(study)) return files;
  if (!gnuplot_found()) {
    print_message("no figure: gnuplot isn't installed");
    return files;
  }
  files.push_back(folder + "/jobs.svg");
  draw(job_figure(study), files.back());
  return files;
}

/// Also that no plan could be made.
std::vector<std::string> all_problems(const JobStudyEvaluation& study) {
  std::vector<std::string> problems = problems_of(study);
  for (std::string& problem : nothing_made(study)) problems.push_back(std::move(problem));
  return problems;
}

} // namespace

int jobs_command(const JobsArguments& arguments) {
  const Topology topology = make_topology(arguments.topology);
  const std::uint64_t seed = parse_seed(arguments.seed);
  JobStudy study = read_job_file(arguments.file, topology, seed);
  in_file(arguments.file, [&] { require_sound(study, topology); });
  if (arguments.out) require_writable(*arguments.out + "/jobs.csv");
  Interrupts interrupts;
  InterruptibleWork work(interrupts, "jobs on " + topology.name(), false);
  work.watch(study.options);
  const JobStudyEvaluation evaluation =
      in_file(arguments.file, [&] { return evaluate_jobs(study, topology.name(), topology); });
  work.finish();
  if (arguments.json)
    print_text(json_text(jobs_json(evaluation)));
  else
    print_tables(jobs_text(evaluation, table_form(arguments.tables)));
  return conclude(
      {.interrupted = interrupts.count() > 0,
       .json = arguments.json,
       .folder = arguments.out,
       .write_files = [&](const std::string& folder) { return write_files(folder, evaluation); },
       .problems = all_problems(evaluation)});
}

} // namespace tutti
