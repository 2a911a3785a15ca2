// Jobs that share a network become one collective of several parts (merge) with one schedule:
// either their own schedules interleaved, each made as if alone, or one made for all together. A
// job's slowdown is its time among the others over its time alone, by the same algorithm and from
// its own start; the mean is geometric, since slowdowns are ratios.
#include "experiments/driver/studies/jobs/study.hpp"

#include "experiments/driver/requests/collective_request.hpp"
#include "experiments/driver/studies/refusals.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"
#include "experiments/driver/studies/runs/with_transport.hpp"
#include "sim/engines/agreement.hpp"
#include "sim/error.hpp"
#include "sim/sends.hpp"
#include "sim/transforms.hpp"
#include "sim/verify.hpp"
#include "synth/bounds/bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tutti {

namespace {

/// What is simulated: one job, or all at once.
struct Work {
  Collective collective;
  Schedule schedule;
  std::vector<JobTiming> timings;            // per part
  std::uint32_t chunks = 1;                  // per shard, of jobs that name none
  std::optional<LibraryChoice> library = {}; // of one job
};

Collective collective_of(const Job& job, const Topology& topology, std::uint32_t chunks_per_shard) {
  try {
    return make_collective(topology, {{job.collective}, job.size}, chunks_per_shard);
  } catch (const InputError& error) {
    throw InputError(fmt::format("job \"{}\": {}", job.name, error.what()));
  }
}

Time first_start(std::span<const Job> jobs) {
  return std::ranges::min_element(jobs, {}, [](const Job& job) { return job.timing.start; })
      ->timing.start;
}

class Planned {
public:
  Planned(const JobStudy& study, const JobPlan& plan, const Topology& topology)
      : study_(study), plan_(plan), topology_(topology) {}

  PlanEvaluation evaluate() {
    result_.plan = to_text(plan_);
    try {
      evaluate_all();
    } catch (const Stopped&) {
      result_.jobs.clear();
      result_.status = Status::timed_out;
      result_.note = "interrupted";
    }
    return std::move(result_);
  }

private:
  void evaluate_all() {
    std::vector<Work> alone;
    for (const Job& job : study_.jobs) {
      std::optional<Work> work = made_alone(job);
      if (!work) return;
      alone.push_back(std::move(*work));
    }
    if (plan_.together) result_.synthesis_seconds = 0; // those alone are only to compare with
    const std::optional<Work> all = plan_.together ? made_together() : at_once(alone);
    if (!all || !is_correct(*all, "all jobs")) return;
    replay_together(alone, *all);
  }

  std::optional<Work> made_alone(const Job& job) {
    const AlgorithmRow& row = job.algorithm && !plan_.together ? *job.algorithm : plan_.algorithm;
    const auto make = [&](std::uint32_t chunks_per_shard) {
      return collective_of(job, topology_, chunks_per_shard);
    };
    return made(row, make, job.chunks, {&job, 1}, job.name);
  }

  // Jobs that say how they are cut stay so; the others share what is chosen for all.
  std::optional<Work> made_together() {
    const std::uint32_t own = plan_.algorithm.chunk_multiple;
    const auto make = [&](std::uint32_t chunks_per_shard) {
      std::vector<Collective> collectives;
      for (const Job& job : study_.jobs)
        collectives.push_back(
            collective_of(job, topology_, job.chunks ? *job.chunks * own : chunks_per_shard));
      return merge(collectives);
    };
    const bool all_say =
        std::ranges::all_of(study_.jobs, [](const Job& j) { return j.chunks.has_value(); });
    const auto chunks = all_say ? std::optional<std::uint32_t>(1) : std::nullopt;
    return made(plan_.algorithm, make, chunks, study_.jobs, "all jobs");
  }

  // Nothing where there is no schedule, with a note, or no correct one, with a problem.
  std::optional<Work> made(const AlgorithmRow& row, const CollectiveMaker& make,
                           std::optional<std::uint32_t> chunks, std::span<const Job> jobs,
                           const std::string& what) {
    ScheduleCache none("");
    std::optional<Topology> planned; // algorithms know how long a step takes
    if (study_.transport) planned = with_latencies(topology_, *study_.transport);
    Attempt made = attempt_in_chunks(row, planned ? *planned : topology_, make, chunks,
                                     options_for(row, study_.options), none, Wanted::everything);
    result_.synthesis_seconds += made.synthesis_seconds;
    std::optional<Schedule> schedule = schedule_of(topology_, made.collective, made.outcome);
    if (!schedule) {
      const std::string& note = made.outcome.note;
      if (made.outcome.failed) add_problem(fmt::format("{}: {}", what, note));
      result_.status = made.outcome.status;
      result_.note =
          fmt::format("{}: {}", what, note.empty() ? to_text(made.outcome.status) : note);
      return std::nullopt;
    }
    if (const std::string problem = verdict_problem(made); !problem.empty())
      add_problem(fmt::format("{}: {}", what, problem));
    if (!made.verdict.correct()) return std::nullopt;
    return Work{std::move(made.collective), std::move(*schedule), timings_of(jobs), made.chunks,
                std::move(made.outcome.library)};
  }

  /// Per part.
  [[nodiscard]] std::vector<JobTiming> timings_of(std::span<const Job> jobs) const {
    std::vector<JobTiming> timings;
    for (const Job& job : jobs)
      timings.insert(timings.end(), collective_of(job, topology_, 1).parts.size(), job.timing);
    return timings;
  }

  /// Every schedule as it was made, none knowing of the others.
  std::optional<Work> at_once(std::span<const Work> alone) const {
    std::vector<Collective> collectives;
    std::vector<Schedule> schedules;
    std::vector<std::uint32_t> first_chunks;
    std::vector<JobTiming> timings;
    std::uint32_t chunks = 0;
    for (const Work& work : alone) {
      collectives.push_back(work.collective);
      schedules.push_back(work.schedule);
      first_chunks.push_back(chunks);
      timings.insert(timings.end(), work.timings.begin(), work.timings.end());
      chunks += static_cast<std::uint32_t>(work.collective.chunks.size());
    }
    std::optional<LibraryChoice> library = alone.front().library; // where all are of one protocol
    for (const Work& work : alone)
      if (!library || !work.library || work.library->protocol != library->protocol)
        library.reset();
      else
        library->channels = std::max(library->channels, work.library->channels);
    return Work{merge(collectives), interleaved(schedules, first_chunks), std::move(timings), 1,
                std::move(library)};
  }

  bool is_correct(const Work& work, const std::string& what) {
    const Verdict verdict = verify(topology_, work.collective, work.schedule,
                                   watch_of(study_.options.stage, "verification of " + what));
    if (const std::string problem = verdict_problem(verdict, plan_.algorithm.imitates);
        !problem.empty())
      add_problem(fmt::format("{}: {}", what, problem));
    return verdict.correct();
  }

  void add_problem(const std::string& text) {
    if (result_.problem.empty()) result_.problem = text;
  }

  /// On every engine; all must give the same.
  Report replayed(const Work& work, const std::string& what, bool records = false) {
    const double start = cpu_seconds();
    RunOptions options;
    options.record_deliveries = options.record_hops = records;
    std::vector<JobTiming> timings = work.timings;
    std::optional<SlowedNetwork> slow;
    if (study_.transport) {
      slow = slowed_network(topology_, work.collective, work.schedule, work.library,
                            *study_.transport, study_.options.model);
      for (JobTiming& timing : timings) timing.start += slow->launch;
    }
    options.jobs = timings;
    const Topology& topology = slow ? slow->topology : topology_;
    std::optional<Report> first;
    for (const EngineRow* engine : study_.engines) {
      options.watch =
          watch_of(study_.options.stage, fmt::format("replay of {} on {}", what, engine->name));
      Report report =
          engine->run(topology, work.collective, work.schedule, study_.options.model, options);
      if (!first) {
        first = std::move(report);
        continue;
      }
      const EngineAgreement agreement = judged_agreement(
          topology, work.collective, work.schedule, study_.options.model, options, *first, report);
      if (!agreement.holds) add_problem(fmt::format("{}: {}", what, disagreement(agreement)));
      if (result_.remark.empty() && agreement.depends_on_rounding)
        result_.remark = fmt::format("{}: {}", what, remark(agreement));
    }
    result_.replay_seconds += cpu_seconds() - start;
    return std::move(*first);
  }

  // A job is done when the last of its chunks is: its parts of the common collective stand in the
  // order of the jobs.
  void replay_together(std::span<const Work> alone, const Work& all) {
    constexpr std::size_t most_explored = 100'000;
    const bool explores =
        study_.explores && !study_.transport && all.schedule.size() <= most_explored;
    const Report together = replayed(all, "all jobs", explores);
    const Time start = first_start(study_.jobs);
    result_.makespan = together.completion - start;
    result_.links = together.links;
    result_.bound = bound_of(all);
    if (result_.makespan + rounding(all, result_.bound) < result_.bound)
      add_problem(fmt::format("all jobs take {}, below their bound {}", to_text(result_.makespan),
                              to_text(result_.bound)));
    auto done = together.chunk_done.begin();
    auto part = all.collective.parts.begin();
    double logarithms = 0;
    for (std::size_t j = 0; j < alone.size(); ++j) {
      auto end = done;
      for (std::size_t p = 0; p < alone[j].collective.parts.size(); ++p)
        end += (part++)->chunk_count; // planned together, a job may be cut otherwise
      result_.jobs.push_back(result_of(study_.jobs[j], alone[j], *std::max_element(done, end)));
      if (!study_.jobs[j].chunks && plan_.together) result_.jobs.back().chunks = all.chunks;
      logarithms += std::log(result_.jobs.back().slowdown());
      done = end;
    }
    result_.mean_slowdown = std::exp(logarithms / static_cast<double>(alone.size()));
    if (explores) result_.explored = explored(all, together);
  }

  [[nodiscard]] ExploredRun explored(const Work& all, const Report& together) const {
    ExploredRun run{.label = fmt::format("{} jobs by {}", study_.jobs.size(), result_.plan),
                    .facts = {{"makespan", short_text(result_.makespan)},
                              {"mean slowdown", fmt::format("{:.3f}x", result_.mean_slowdown)}},
                    .topology = &topology_,
                    .collective = all.collective,
                    .schedule = all.schedule,
                    .report = together,
                    .bound = result_.bound,
                    .bound_kind = "all jobs together"};
    for (std::size_t j = 0; j < study_.jobs.size(); ++j) {
      const Job& job = study_.jobs[j];
      const JobResult& of = result_.jobs[j];
      run.facts.emplace_back(
          job.name, fmt::format("{}, {} alone", short_text(of.in_company), short_text(of.alone)));
      run.moments.push_back({job.timing.start, job.name + " begins"});
      run.moments.push_back({job.timing.start + of.in_company, job.name + " ends"});
    }
    std::ranges::stable_sort(run.moments, {}, &ExploredMoment::at);
    return run;
  }

  JobResult result_of(const Job& job, const Work& alone, Time done) {
    JobResult result;
    result.alone = replayed(alone, job.name).completion - job.timing.start;
    result.in_company = done - job.timing.start;
    result.chunks = job.chunks.value_or(alone.chunks);
    result.bound = bound_of(alone);
    result.algbw = algbw(alone.collective, result.in_company);
    for (const Time time : {result.alone, result.in_company})
      if (time + rounding(alone, result.bound) < result.bound)
        add_problem(fmt::format("job \"{}\" takes {}, below its bound {}", job.name, to_text(time),
                                to_text(result.bound)));
    return result;
  }

  /// By how much the first engine may say less than a bound.
  [[nodiscard]] Time bound_of(const Work& work) const {
    return lower_bound(topology_, work.collective,
                       bounding_model(study_.options.model, work.schedule))
        .time;
  }
  [[nodiscard]] Time rounding(const Work& work, Time bound) const {
    return rounding_of(*study_.engines.front(), topology_, work.collective, bound);
  }

  const JobStudy& study_;
  const JobPlan& plan_;
  const Topology& topology_;
  PlanEvaluation result_;
};

} // namespace

std::string to_text(const JobPlan& plan) {
  return fmt::format("{}{}", plan.algorithm.name, plan.together ? ", together" : "");
}

namespace {

PlanEvaluation without_plan(const JobPlan& plan, Status status, const std::string& note) {
  PlanEvaluation result;
  result.plan = to_text(plan);
  result.status = status;
  result.note = note;
  return result;
}

} // namespace

double JobResult::slowdown() const {
  if (alone.ps == 0) return 1;
  return static_cast<double>(in_company.ps) / static_cast<double>(alone.ps);
}

JobStudyEvaluation evaluate_jobs(const JobStudy& study, const std::string& topology_label,
                                 const Topology& topology) {
  Refusals refusals;
  JobStudyEvaluation evaluation = evaluate_jobs(study, topology_label, topology, refusals);
  refusals.require_some();
  return evaluation;
}

JobStudyEvaluation evaluate_jobs(const JobStudy& study, const std::string& topology_label,
                                 const Topology& topology, Refusals& refusals) {
  JobStudyEvaluation result;
  result.label = study.label;
  result.topology = topology_label;
  result.npus = topology.npu_count();
  for (const EngineRow* engine : study.engines) result.engines.emplace_back(engine->name);
  result.model = study.options.model;
  result.jobs = study.jobs;
  for (const JobPlan& plan : study.plans) {
    if (is_cancelled(study.options)) break;
    result.plans.push_back(refusals.row(
        [&] { return Planned(study, plan, topology).evaluate(); },
        [&](Status status, const std::string& note) { return without_plan(plan, status, note); }));
  }
  return result;
}

void require_sound(const JobStudy& study, const Topology& topology) {
  for (const Job& job : study.jobs) (void)collective_of(job, topology, 1);
  Case as_run;
  as_run.transport = study.transport;
  as_run.options.model = study.options.model;
  require_transport(as_run);
}

} // namespace tutti
