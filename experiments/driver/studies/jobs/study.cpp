// The same body is read from an experiment and from a file of its own; only label and topology,
// which a command line gives otherwise, differ.
#include "experiments/driver/studies/jobs/study.hpp"

#include "experiments/driver/records/file_stem.hpp"
#include "experiments/driver/studies/experiment.hpp"
#include "experiments/driver/studies/experiment_values.hpp"
#include "experiments/driver/studies/jobs/columns.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/terminal/stage_display.hpp"
#include "sim/error.hpp"
#include "sim/files/gzip.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace tutti {

namespace {

constexpr std::size_t most_jobs = 4096; // more is a slip

std::vector<AlgorithmRow> algorithms_at(ConfigTable& table, const std::string& key) {
  const auto value = table.find(key);
  if (!value) return {};
  std::vector<AlgorithmRow> rows = algorithms_of(*value);
  if (key != "together") return rows;
  for (const AlgorithmRow& row : rows)
    if (!row.joint)
      throw value->error(
          fmt::format("{} plans one collective at a time, not several together", row.name));
  return rows;
}

std::vector<JobPlan> read_plans(ConfigTable& table) {
  std::vector<JobPlan> plans;
  for (AlgorithmRow& row : algorithms_at(table, "algorithms")) plans.push_back({row, false});
  for (AlgorithmRow& row : algorithms_at(table, "together")) plans.push_back({row, true});
  if (plans.empty()) throw table.error("needs a key \"algorithms\" or \"together\"");
  return plans;
}

// Some algorithm has each setting; each takes its own.
void require_settings(ConfigTable& table, const JobStudy& study) {
  const auto settings = table.find("settings");
  if (!settings) return;
  std::vector<AlgorithmRow> rows;
  for (const JobPlan& plan : study.plans) rows.push_back(plan.algorithm);
  for (const Job& job : study.jobs)
    if (job.algorithm) rows.push_back(*job.algorithm);
  settings->located([&] { require_known_settings(rows, study.options); });
}

Job read_job(ConfigTable table, std::span<const Job> others, const Topology& topology,
             const std::string& source_name) {
  Job job;
  const ConfigValue name = table.at("name");
  job.name = name.string();
  if (std::ranges::find(others, job.name, &Job::name) != others.end())
    throw name.error(fmt::format("there is a job \"{}\" already", job.name));
  const ConfigValue collective = table.at("collective");
  job.collective = collective_beside(collective.string(), source_name);
  if (is_collective_file(job.collective)) {
    if (const auto size = table.find("size"))
      throw size->error("the size of a collective from a file is in the file");
    job.size = collective.located([&] { return read_collective(job.collective, topology); }).size();
  } else {
    (void)parsed(collective, parse_collective);
    job.size = table.find("size")
                   ? parsed_at(table, "size", "1GiB", parse_bytes)
                   : size_of(topology, {{job.collective}, usual_size({job.collective})});
  }
  const auto chunks = table.find("chunks");
  job.chunks = chunks ? chunks_of(*chunks) : std::nullopt;
  job.timing.start = parsed_at(table, "start", "0s", parse_time);
  if (const auto priority = table.find("priority"))
    job.timing.priority =
        static_cast<std::uint8_t>(priority->integer(0, JobTiming::highest_priority));
  if (const auto algorithm = table.find("algorithm")) job.algorithm = algorithm_of(*algorithm);
  table.finish();
  return job;
}

void read_body(ConfigTable& table, const Topology& topology, std::uint64_t seed,
               const std::string& source_name, JobStudy& study) {
  study.options = options_of(table, seed, source_name);
  study.plans = read_plans(table);
  study.engines = parsed_at(table, "engine", "both", parse_engines);
  study.transport = parsed_at(table, "transport", "ideal", parse_transport);
  for (ConfigTable& row : table.tables("job")) {
    if (study.jobs.size() == most_jobs) throw row.error("more jobs than 4096");
    study.jobs.push_back(read_job(row, study.jobs, topology, source_name));
  }
  if (study.jobs.empty()) throw table.error("needs at least one job");
  require_settings(table, study);
  table.finish();
}

} // namespace

JobStudy JobStudy::read(ConfigTable table, const Experiment& experiment,
                        const std::string& source_name, std::span<const JobStudy> others) {
  JobStudy study;
  study.label = label_at(table, others);
  study.topology = topology_at(table, experiment.topologies);
  read_body(table, experiment.topologies[study.topology].topology, experiment.seed, source_name,
            study);
  return study;
}

JobStudy read_job_file(const std::string& file, const Topology& topology, std::uint64_t seed,
                       ProgramGate gate) {
  ConfigTable table = parse_config(read_input_file(file), file, std::move(gate));
  table.allow_only({"algorithms", "together", "engine", "settings", "link_busy", "forwarding",
                    "transport", "limit", "job"});
  JobStudy study;
  read_body(table, topology, seed, file, study);
  return study;
}

void require_sound(const JobStudy& study, Networks networks) {
  require_sound(study, networks[study.topology].topology);
}

std::size_t JobStudy::case_count() const { return plans.size(); }

std::vector<RecordFile> JobStudy::files() { return {{"jobs", job_records({}), true}}; }

std::vector<std::string> JobStudy::table_columns() const { return job_table_columns(); }

std::vector<std::string> problems_of(const JobStudyEvaluation& study) {
  std::vector<std::string> problems;
  for (const PlanEvaluation& plan : study.plans)
    if (!plan.problem.empty())
      problems.push_back(
          fmt::format("jobs on {}, {}: {}", study.topology, plan.plan, plan.problem));
  return problems;
}

namespace {

bool has_schedule(const PlanEvaluation& plan) { return !plan.jobs.empty(); }

/// Row in job_records() of the job that is slowed down most, where there is only one plan.
std::optional<std::size_t> slowest_job(const JobStudyEvaluation& made) {
  if (made.plans.size() != 1 || !has_schedule(made.plans.front())) return std::nullopt;
  const std::vector<JobResult>& jobs = made.plans.front().jobs;
  const auto slowest = std::ranges::max_element(jobs, {}, &JobResult::slowdown);
  return static_cast<std::size_t>(slowest - jobs.begin());
}

} // namespace

StudyResult result_of(JobStudyEvaluation evaluation, const Topology& topology) {
  const auto made = std::make_shared<const JobStudyEvaluation>(std::move(evaluation));
  StudyResult result;
  result.files = {{"jobs", job_records(*made)}};
  result.kind = JobStudy::kind;
  result.details = [made] { return job_details(*made); };
  result.story = [made](const TableForm& form) { return jobs_text(*made, form); };
  result.figures = [made] {
    std::vector<NamedFigure> figures;
    if (std::ranges::any_of(made->plans, has_schedule))
      figures.push_back({file_stem("jobs", made->label), job_figure(*made)});
    return figures;
  };
  result.network_uses = [made, &topology] { return network_uses(*made, topology); };
  result.plays = [made] {
    std::vector<ExploredRun> runs;
    for (const PlanEvaluation& plan : made->plans)
      if (plan.explored) runs.push_back(*plan.explored);
    return runs;
  };
  result.point = slowest_job(*made);
  for (const PlanEvaluation& plan : made->plans)
    if (!has_schedule(plan) && !result.unanswered) result.unanswered = {plan.status, plan.note};
  result.defects = problems_of(*made);
  result.nothing_made = nothing_of(no_schedule, made->plans, has_schedule);
  return result;
}

StudyResult run_study(const JobStudy& study, const StudyRun& how) {
  const LabelledTopology& network = how.networks[study.topology];
  JobStudy watched = study;
  InterruptibleWork work(how.interrupts, study.label, how.progress);
  work.watch(watched.options);
  watched.explores = how.explores;
  return result_of(evaluate_jobs(watched, network.label, network.topology, how.refusals),
                   network.topology);
}

} // namespace tutti
