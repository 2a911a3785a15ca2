// A sweep has no evaluation of its own: a point is an experiment with exactly one case, evaluated
// as `tutti run` would, and its numbers are picked from that record. What goes wrong is a status of
// this point with words, for the others are to be simulated all the same.
#include "experiments/driver/sweep/store/point_results.hpp"

#include "experiments/driver/pool/runner.hpp"
#include "experiments/driver/studies/failures/evaluation.hpp"
#include "experiments/driver/studies/runs/attempt.hpp"
#include "experiments/driver/studies/training/evaluation.hpp"
#include "sim/error.hpp"
#include "sim/work_limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <new>
#include <optional>
#include <utility>

namespace tutti::sweep {

namespace {

constexpr std::array<std::pair<PointStatus, std::string_view>, 9> status_names{
    {{PointStatus::pending, "pending"},
     {PointStatus::running, "running"},
     {PointStatus::done, "done"},
     {PointStatus::infeasible, "infeasible"},
     {PointStatus::refused, "refused"},
     {PointStatus::timed_out, "timed_out"},
     {PointStatus::out_of_memory, "out_of_memory"},
     {PointStatus::crashed, "crashed"},
     {PointStatus::defect, "defect"}}};

double seconds_of(Time time) {
  return static_cast<double>(time.ps) / static_cast<double>(ps_per_s);
}

// Errors: InputError where there are more or fewer than one.
template <typename Items> const auto& only_one(const Items& items, const char* what) {
  if (items.size() != 1)
    throw InputError(fmt::format("a point is one case; this has {} {}", items.size(), what));
  return items.front();
}

// Of a synthesis whose schedule isn't there, or can't be replayed.
PointStatus without_answer(Status status) {
  if (status == Status::out_of_memory) return PointStatus::out_of_memory;
  return status == Status::timed_out ? PointStatus::timed_out : PointStatus::infeasible;
}

// A schedule that doesn't verify has no time, however good its numbers look.
PointResults of_problem(PointResults results, const std::string& problem) {
  results.status = PointStatus::defect;
  results.message = problem;
  return results;
}

void add(const Replay& replay, std::map<std::string, double>& numbers) {
  numbers["time_s"] = seconds_of(replay.report.completion);
  numbers["bound_s"] = seconds_of(replay.bound.time);
  if (replay.bound.time.ps > 0) numbers["gap"] = replay.gap();
  numbers["algbw_bytes_per_s"] = replay.algbw;
  numbers["busbw_bytes_per_s"] = replay.busbw;
  numbers["max_utilisation"] = replay.max_utilisation();
  numbers["mean_utilisation"] = replay.mean_utilisation();
}

PointResults run_results(const Experiment& experiment, const std::string& cache) {
  const std::vector<Case> cases =
      only_one(experiment.all<RunStudy>(), "studies of [[runs]]")->cases(experiment.topologies);
  Case c = only_one(cases, "cases of [[runs]]");
  (void)only_one(c.disciplines, "disciplines");
  c.cache = cache;
  require_sound(std::span(&c, 1));
  const Evaluation e = evaluate(c);
  PointResults results;
  results.message = e.note;
  results.synthesis_seconds = e.synthesis_seconds;
  if (!e.problem.empty()) return of_problem(std::move(results), e.problem);
  results.status = PointStatus::done; // also the best that a limit allowed; its note says so
  if (e.replays.empty()) {
    results.status = without_answer(e.status);
    return results;
  }
  add(e.replays.front(), results.numbers);
  results.numbers["transfers"] = static_cast<double>(e.transfers);
  results.numbers["chunks_per_shard"] = e.chunks_per_shard;
  return results;
}

PointResults failure_results(const Experiment& experiment) {
  const std::vector<FailureCase> cases =
      only_one(experiment.all<FailureStudy>(), "studies of [[failures]]")
          ->cases(experiment.topologies);
  const FailureCase& c = only_one(cases, "algorithms");
  (void)only_one(c.policies, "policies");
  require_sound(c);
  const FailureEvaluation e = evaluate_failures(c);
  PointResults results;
  results.message = e.note;
  if (!e.problem.empty()) return of_problem(std::move(results), e.problem);
  if (!e.verified) {
    results.status = without_answer(e.status);
    return results;
  }
  results.status = PointStatus::done;
  const ScenarioEvaluation& scenario = only_one(e.scenarios, "combinations of events");
  const PolicyEvaluation& policy = scenario.policies.front();
  const std::optional<double> slowdown = e.slowdown(policy);
  std::map<std::string, double>& numbers = results.numbers;
  numbers["undisturbed_s"] = seconds_of(e.undisturbed.report.completion);
  numbers["complete"] = slowdown ? 1 : 0;
  if (slowdown) {
    numbers["time_s"] = seconds_of(policy.recovery.completion);
    numbers["slowdown"] = *slowdown;
  }
  numbers["goodput_lost"] = e.goodput_lost(policy);
  numbers["in_vain_bytes"] = static_cast<double>(policy.recovery.in_vain.count);
  return results;
}

void add(const TrainingRun& run, std::map<std::string, double>& numbers) {
  using Kind = TrainingMetric::Kind;
  constexpr double per_second = 1e-12; // of picoseconds
  static constexpr std::array<std::pair<const char*, std::pair<Kind, double>>, 9> figures{
      {{"exposed_s", {Kind::exposed, per_second}},
       {"exposed_fraction", {Kind::exposed_fraction, 1}},
       {"bubble_fraction", {Kind::bubble_fraction, 1}},
       {"waiting_fraction", {Kind::waiting_fraction, 1}},
       {"compute_fraction", {Kind::compute_fraction, 1}},
       {"hidden_fraction", {Kind::hidden_fraction, 1}},
       {"utilisation", {Kind::utilisation, 1}},
       {"items_per_s", {Kind::throughput, 1}},
       {"memory_bytes", {Kind::memory, 1}}}};
  numbers["time_s"] = seconds_of(run.iteration_time());
  numbers["bound_s"] = seconds_of(run.bound);
  for (const auto& [name, figure] : figures)
    if (const auto value = value_of(run, {figure.first, {}}))
      numbers[name] = *value * figure.second;
}

PointResults training_results(const Experiment& experiment, const std::string& cache) {
  TrainingStudy study = *only_one(experiment.all<TrainingStudy>(), "studies of [[training]]");
  (void)only_one(study.variants, "variants");
  (void)only_one(study.plans, "algorithms");
  study.cache = cache;
  const std::vector<TrainingNetwork> networks = study.own(experiment.topologies);
  require_sound(study, networks);
  const TrainingEvaluation e = evaluate_training(study, networks);
  if (e.runs.size() > 2) // undisturbed, and what disturbs it
    throw InputError(fmt::format("a point is one case; this has {} conditions", e.runs.size()));
  const TrainingRun& run = e.runs.back();
  PointResults results;
  results.message = run.note;
  results.synthesis_seconds = run.planning_seconds;
  const std::vector<std::string> problems = problems_of(e);
  if (!problems.empty()) return of_problem(std::move(results), problems.front());
  results.status = run.report ? PointStatus::done : without_answer(run.status);
  if (run.report) add(run, results.numbers);
  return results;
}

PointResults results_of(const ExperimentTemplate& experiment, const ValueOf& value_of,
                        std::uint64_t seed, const std::string& cache) {
  try {
    const Experiment made = experiment.experiment(value_of, seed);
    switch (experiment.kind()) {
    case PointKind::run: return run_results(made, cache);
    case PointKind::failures: return failure_results(made);
    case PointKind::training: break;
    }
    return training_results(made, cache);
  } catch (const InputError& error) {
    PointResults results;
    results.status = PointStatus::refused;
    results.message = error.what();
    return results;
  } catch (const std::bad_alloc&) {
    throw; // whoever limits memory has more to say about it
  } catch (const std::exception& error) {
    return of_problem({}, error.what());
  }
}

} // namespace

std::string_view to_text(PointStatus status) {
  return std::find_if(status_names.begin(), status_names.end(),
                      [status](const auto& row) { return row.first == status; })
      ->second;
}

PointStatus parse_status(std::string_view text) {
  std::vector<std::string> known;
  for (const auto& [status, name] : status_names) {
    if (name == text) return status;
    known.emplace_back(name);
  }
  throw InputError(unknown_name("status", text, known));
}

std::vector<ResultColumn> result_columns(PointKind kind) {
  switch (kind) {
  case PointKind::run:
    return {{"time_s", Unit::seconds},
            {"bound_s", Unit::seconds},
            {"gap"},
            {"algbw_bytes_per_s", Unit::bytes_per_second},
            {"busbw_bytes_per_s", Unit::bytes_per_second},
            {"max_utilisation"},
            {"mean_utilisation"},
            {"transfers"},
            {"chunks_per_shard"}};
  case PointKind::failures:
    return {{"time_s", Unit::seconds}, {"undisturbed_s", Unit::seconds}, {"slowdown"},
            {"goodput_lost"},          {"in_vain_bytes", Unit::bytes},   {"complete"}};
  case PointKind::training: break;
  }
  return {{"time_s", Unit::seconds}, {"bound_s", Unit::seconds},   {"exposed_s", Unit::seconds},
          {"exposed_fraction"},      {"bubble_fraction"},          {"waiting_fraction"},
          {"compute_fraction"},      {"hidden_fraction"},          {"utilisation"},
          {"items_per_s"},           {"memory_bytes", Unit::bytes}};
}

PointResults evaluate_point(const ExperimentTemplate& experiment, const ValueOf& value_of,
                            std::uint64_t seed, const std::string& cache) {
  const double start = cpu_seconds();
  PointResults results = results_of(experiment, value_of, seed, cache);
  results.cpu_seconds = cpu_seconds() - start;
  results.peak_bytes = peak_rss_bytes();
  return results;
}

} // namespace tutti::sweep
