// The undisturbed run is made first: fractions of it say when events happen, and all slowdowns are
// over it. Recovery itself is recover() in sim/repair; here it is run on every engine, whose
// histories must agree to the picosecond, and put into words. A lost delivery is a result under a
// policy that only reports; a time that differs from engine to engine is a defect.
#include "experiments/driver/studies/failures/evaluation.hpp"

#include "experiments/driver/pool/process_memory.hpp"
#include "experiments/driver/studies/failures/failure_texts.hpp"
#include "experiments/driver/studies/failures/noisy_recovery.hpp"
#include "experiments/driver/studies/noise/request.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/runs/with_transport.hpp"
#include "sim/engines/agreement.hpp"
#include "sim/error.hpp"
#include "sim/text.hpp"
#include "sim/verify.hpp"
#include "synth/bounds/bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <set>
#include <stdexcept>
#include <utility>

namespace tutti {

namespace {

bool plans_custom(const AlgorithmRow& row) {
  return std::find(row.collectives.begin(), row.collectives.end(), CollectiveKind::custom) !=
         row.collectives.end();
}

// With the chunks per shard that are given, else one.
Collective collective_of(const FailureCase& c) {
  return make_collective(*c.topology, c.collective,
                         c.chunks.value_or(1) * c.algorithm.chunk_multiple);
}

// For recover(), which asks for a plan of what is left on the network that is left. Where a planner
// isn't made for that, TACOS plans it, which takes anything; where it finds no way either, the
// policy goes on without a new plan.
Planner planner_by(AlgorithmRow row, const SynthesisOptions& planning) {
  return [row = std::move(row), &planning](const Topology& network, const Collective& collective) {
    Outcome outcome = synthesize(row, network, collective, options_for(row, planning));
    outcome.schedule = schedule_of(network, collective, outcome);
    outcome.compact.reset();
    return outcome;
  };
}

} // namespace

Reaction reaction_of(const FailureCase& c, Policy policy, const SynthesisOptions& planning) {
  Reaction reaction{policy, c.detection, c.decision, planner_by(c.planner, planning)};
  if (c.planner.name != fallback_planner)
    reaction.fallback = planner_by(find_algorithm(fallback_planner), planning);
  return reaction;
}

AlgorithmRow default_planner(const AlgorithmRow& algorithm) {
  return plans_custom(algorithm) ? algorithm : find_algorithm(fallback_planner);
}

void require_sound(const FailureCase& c) {
  const Collective collective = collective_of(c);
  if (!plans_custom(c.planner))
    throw InputError(fmt::format("planner {}: it plans no custom collectives, which is what is "
                                 "left after a failure",
                                 c.planner.name));
  for (const Scenario& scenario : scenarios_of(c.events, c.options.seed))
    (void)planned_events(*c.topology, c.events, scenario);
  (void)parse_starts(*c.topology, collective, c.noise.starts);
  Case as_run;
  as_run.transport = c.transport;
  as_run.options.model = c.options.model;
  require_transport(as_run);
}

std::size_t PolicyEvaluation::decisions_in_force() const {
  return static_cast<std::size_t>(
      std::count_if(recovery.decisions.begin(), recovery.decisions.end(),
                    [](const Decision& decision) { return decision.in_force; }));
}

std::size_t PolicyEvaluation::handed_over() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(recovery.decisions, &Decision::by_fallback));
}

std::optional<double> FailureEvaluation::over_undisturbed(Time time) const {
  const Time undisturbed_time = undisturbed.report.completion;
  if (undisturbed_time.ps <= 0) return std::nullopt;
  return static_cast<double>(time.ps) / static_cast<double>(undisturbed_time.ps);
}

std::optional<double> FailureEvaluation::slowdown(const PolicyEvaluation& policy) const {
  if (!policy.recovery.complete()) return std::nullopt;
  return over_undisturbed(policy.recovery.completion);
}

std::string FailureEvaluation::planner_of(std::size_t decisions, std::size_t handed_over) const {
  if (handed_over == 0) return planner;
  if (handed_over == decisions) return std::string(fallback_planner);
  return fmt::format("{}+{}", planner, fallback_planner);
}

double FailureEvaluation::goodput_lost(const PolicyEvaluation& policy) const {
  const auto slower = slowdown(policy);
  return slower && *slower > 0 ? 1 - 1 / *slower : 1;
}

namespace {

std::vector<ProgressPoint> thinned(std::vector<ProgressPoint> progress) {
  constexpr std::size_t most = 200; // a picture shows little more
  const std::size_t step = progress.size() / most + 1;
  if (step == 1) return progress;
  std::vector<ProgressPoint> kept;
  for (std::size_t i = 0; i < progress.size(); i += step) kept.push_back(progress[i]);
  if ((progress.size() - 1) % step != 0) kept.push_back(progress.back());
  return kept;
}

/// What two engines say of one recovery: its end, what is left out, decisions, and each delivery
/// that is in place.
EngineAgreement agreement_of(const Recovery& one, const Recovery& other, const Rounding& rounding) {
  HistoryComparison comparison(rounding);
  comparison.times(one.completion, other.completion, [] { return "the collective time"; });
  comparison.same(one.ending == other.ending, [] { return "how it ends"; });
  comparison.same(one.in_vain == other.in_vain, [] { return "what was carried in vain"; });
  comparison.same(one.missing == other.missing && one.lost == other.lost,
                  [] { return "what is missing or lost"; });
  comparison.same(one.decisions.size() == other.decisions.size() &&
                      one.progress.size() == other.progress.size(),
                  [] { return "how much happens"; });
  for (std::size_t d = 0; d < std::min(one.decisions.size(), other.decisions.size()); ++d) {
    const Decision &a = one.decisions[d], &b = other.decisions[d];
    const auto name = [d] { return fmt::format("decision {}", d); };
    comparison.times(a.at, b.at, name);
    comparison.times(a.begin, b.begin, name);
    comparison.same(a.in_force == b.in_force, name);
  }
  for (std::size_t i = 0; i < std::min(one.progress.size(), other.progress.size()); ++i) {
    const auto name = [i] { return fmt::format("delivery {} that is in place", i); };
    comparison.times(one.progress[i].at, other.progress[i].at, name);
    comparison.same(one.progress[i].in_place == other.progress[i].in_place, name);
  }
  return comparison.result();
}

Rounding changing_rounding(const Topology& topology, const Collective& collective) {
  Rounding rounding(topology, collective);
  rounding.make_changing();
  return rounding;
}

// To the picosecond.
std::string exact_ending(const Recovery& recovery) {
  return fmt::format("{} at {}", to_text(recovery.ending), to_text(recovery.completion));
}

struct History {
  Recovery recovery;   ///< on the first engine
  std::string problem; ///< the first that is wrong on any engine, or in which two differ
  std::string remark;  ///< on how the engines agree; mostly empty
};

// One case with its schedule, to be sent through events.
class Runs {
public:
  Runs(const FailureCase& c, const Collective& collective, const Schedule& schedule,
       const RecoverFunction& function)
      : case_(c), collective_(collective), schedule_(schedule), function_(function),
        starts_(parse_starts(*c.topology, collective, c.noise.starts)) {
    if (c.launch == Time{}) return;
    starts_.resize(c.topology->node_count());
    for (std::uint32_t npu = 0; npu < c.topology->npu_count(); ++npu) starts_[npu] += c.launch;
  }

  [[nodiscard]] std::span<const Time> starts() const { return starts_; }
  /// Whether a page plays the undisturbed run and those of the first scenario.
  [[nodiscard]] bool explores() const {
    constexpr std::size_t most_transfers = 100'000;
    return case_.explores && schedule_.size() <= most_transfers;
  }

  [[nodiscard]] History recovered(Policy policy, std::span<const NetworkEvent> events,
                                  bool is_played) const {
    std::vector<Recovery> by_engine;
    Reaction reaction = reaction_of(case_, policy, case_.options);
    reaction.starts = starts_;
    reaction.record_hops = is_played;
    for (const EngineRow* engine : case_.engines) {
      reaction.beaten_bound = [engine](const Topology& network, const Collective& collective,
                                       const TimeModel& model, Time time) {
        return beaten_bound(network, collective, model,
                            time + rounding_of(*engine, network, collective, time));
      };
      reaction.watch =
          watch_of(case_.options.stage, fmt::format("{} on {}", to_text(policy), engine->name));
      by_engine.push_back(function_(*engine, *case_.topology, collective_, schedule_,
                                    case_.options.model, events, reaction));
    }
    History history;
    reaction.beaten_bound = {};
    for (const Recovery& recovery : by_engine)
      if (history.problem.empty()) history.problem = recovery.problem;
    for (std::size_t e = 1; e < by_engine.size() && history.problem.empty(); ++e)
      compare(by_engine[0], by_engine[e], *case_.engines[e], reaction, events, history);
    history.recovery = std::move(by_engine.front());
    return history;
  }

  [[nodiscard]] PolicyEvaluation evaluated(Recovery recovery, std::span<const NetworkEvent> events,
                                           bool is_played) const {
    constexpr std::size_t most_npus_named = 8;
    PolicyEvaluation made;
    made.stuck = stuck_texts(*case_.topology, recovery.stuck, events);
    made.missing = missing_text(*case_.topology, collective_, recovery, most_npus_named);
    std::set<NodeId> npus;
    for (const ChunkAt& missing : recovery.missing) npus.insert(missing.npu);
    made.missing_npus = npus.size();
    for (const Decision& decision : recovery.decisions)
      made.planning_seconds += decision.planning_seconds;
    made.recovery = std::move(recovery);
    if (!is_played) {
      made.recovery.segments.clear();
      made.recovery.deliveries.clear();
      made.recovery.hops.clear();
    }
    if (scenarios_of(case_.events, 1).size() > 1 && !is_played)
      made.recovery.links.clear(); // none is drawn
    made.recovery.progress = thinned(std::move(made.recovery.progress));
    return made;
  }

  /// Adds the draws of what was evaluated. `problem`: the first of a draw that is wrong.
  void add_noise(const ShownBound& bound, std::span<const NetworkEvent> events,
                 PolicyEvaluation& made, std::string& problem) const {
    add_noisy_recoveries({case_, collective_, schedule_, starts_, bound.time, function_}, events,
                         made.recovery, made.noises, problem);
  }

private:
  /// Adds to the history in what the first engine and this one differ.
  void compare(const Recovery& first, const Recovery& other, const EngineRow& engine,
               const Reaction& reaction, std::span<const NetworkEvent> events,
               History& history) const {
    const Rounding rounding = changing_rounding(*case_.topology, collective_);
    const EngineAgreement agreement =
        judged_agreement(agreement_of(first, other, rounding), rounding, first.completion,
                         [&](const TimeVariation& variation) {
                           return agree_in(variation, engine, reaction, events);
                         });
    history.remark = remark(agreement);
    if (agreement.holds) return;
    history.problem =
        fmt::format("the engines disagree: {} says {}, {} says {}: {}", case_.engines.front()->name,
                    exact_ending(first), engine.name, exact_ending(other), disagreement(agreement));
  }

  /// Whether the first engine and this one agree under other times.
  [[nodiscard]] bool agree_in(const TimeVariation& variation, const EngineRow& engine,
                              Reaction reaction, std::span<const NetworkEvent> events) const {
    const Topology network = variation.of(*case_.topology);
    const Collective work = variation.of(collective_);
    const std::vector<NetworkEvent> changes = variation.of(events);
    const std::vector<Time> starts = variation.of(starts_);
    reaction.starts = starts;
    reaction.detection = variation.of(reaction.detection);
    reaction.decision = variation.of(reaction.decision);
    const auto run = [&](const EngineRow& on) {
      return function_(on, network, work, schedule_, case_.options.model, changes, reaction);
    };
    const Recovery first = run(*case_.engines.front()), other = run(engine);
    return first.problem.empty() && other.problem.empty() &&
           agreement_of(first, other, changing_rounding(network, work)).holds;
  }

  const FailureCase& case_;
  const Collective& collective_;
  const Schedule& schedule_;
  const RecoverFunction& function_;
  std::vector<Time> starts_; // per node, or empty
};

// Keeps the first problem of all.
void add_problem(FailureEvaluation& result, const std::string& where, const std::string& problem) {
  if (!problem.empty() && result.problem.empty()) result.problem = where + problem;
}

void add_history(FailureEvaluation& result, const std::string& where, const History& history) {
  add_problem(result, where, history.problem);
  if (!history.remark.empty() && result.remark.empty()) result.remark = where + history.remark;
}

// Only written instants can be: a fraction is of the undisturbed run, which some policy may beat.
// Where nobody is left to receive anything, or nothing to be received, there is no end to be after.
void require_before_end(const Topology& topology, std::span<const PlannedEvent> planned,
                        const ScenarioEvaluation& scenario) {
  Time end;
  for (const PolicyEvaluation& policy : scenario.policies) {
    const Ending ending = policy.recovery.ending;
    if (ending == Ending::no_destination || ending == Ending::nothing_left) return;
    end = std::max(end, policy.recovery.completion);
  }
  for (const PlannedEvent& event : planned)
    if (!event.at.millionths && event.at.instant > end)
      throw InputError(fmt::format("{}{} at {} is after the end: the last policy's run has ended "
                                   "at {}",
                                   event.place, to_text(event.what, topology),
                                   to_text(event.at.instant), to_text(end)));
}

void run_scenario(const FailureCase& c, const Runs& runs, const Scenario& scenario,
                  const PolicyFinished& finished, FailureEvaluation& result) {
  const std::vector<PlannedEvent> planned = planned_events(*c.topology, c.events, scenario);
  ScenarioEvaluation made{scenario,
                          timed_events(*c.topology, planned, result.undisturbed.report.completion),
                          {},
                          {},
                          {}};
  made.cuts = network_cuts(*c.topology, made.events);
  for (const NetworkEvent& event : made.events)
    made.event_texts.push_back(to_text(event, *c.topology));
  for (const Policy policy : c.policies) {
    if (is_cancelled(c.options)) return;
    const bool is_played = runs.explores() && result.scenarios.empty();
    History history = runs.recovered(policy, made.events, is_played);
    add_history(result, fmt::format("{}, {}: ", to_text(scenario), to_text(policy)), history);
    made.policies.push_back(runs.evaluated(std::move(history.recovery), made.events, is_played));
    if (finished) finished(made, made.policies.back());
  }
  require_before_end(*c.topology, planned, made);
  result.scenarios.push_back(std::move(made));
}

// When all else is there: draws take far longer, and whoever interrupts them keeps the rest.
void add_draws(const FailureCase& c, const Runs& runs, FailureEvaluation& result) {
  if (!c.noise.is_drawn()) return;
  for (ScenarioEvaluation& scenario : result.scenarios)
    for (PolicyEvaluation& policy : scenario.policies) {
      if (is_cancelled(c.options)) return;
      std::string problem;
      runs.add_noise(result.undisturbed.bound, scenario.events, policy, problem);
      add_problem(result,
                  fmt::format("{}, {}, in a draw: ", to_text(scenario.scenario),
                              to_text(policy.recovery.policy)),
                  problem);
    }
}

// Once by a plain replay and once by recover() without events: the same run by two routes through
// the code, which must end at the same picosecond.
void run_undisturbed(const FailureCase& c, const Collective& collective, const Schedule& schedule,
                     const Runs& runs, FailureEvaluation& result) {
  RunOptions run;
  run.starts = runs.starts();
  run.watch = watch_of(c.options.stage, fmt::format("replay on {}", c.engines.front()->name));
  result.undisturbed =
      replay(*c.topology, collective, schedule, c.options.model, *c.engines.front(), run);
  result.undisturbed.report.chunk_done.clear();
  add_problem(result, "undisturbed: ", replay_problem(result.undisturbed));
  History history = runs.recovered(Policy::report, {}, runs.explores());
  add_history(result, "undisturbed: ", history);
  if (history.recovery.completion != result.undisturbed.report.completion)
    add_problem(result, "undisturbed: ",
                fmt::format("{} says {} without events, and {} with none of them",
                            c.engines.front()->name, to_text(result.undisturbed.report.completion),
                            to_text(history.recovery.completion)));
  result.wanted = history.recovery.wanted;
  result.progress = thinned(history.recovery.progress);
  if (runs.explores()) result.explored = std::move(history.recovery);
}

// As many chunks per shard as `tutti synth` takes.
Attempt made_undisturbed(const FailureCase& c) {
  ScheduleCache none("");
  std::optional<Topology> planned; // algorithms know how long a step takes
  if (c.transport) planned = with_latencies(*c.topology, *c.transport);
  return attempt_in_chunks(
      c.algorithm, planned ? *planned : *c.topology,
      [&c](std::uint32_t chunks_per_shard) {
        return make_collective(*c.topology, c.collective, chunks_per_shard);
      },
      c.chunks, options_for(c.algorithm, c.options), none, Wanted::everything);
}

void run_all(const FailureCase& c, const PolicyFinished& finished, const RecoverFunction& function,
             FailureEvaluation& result) {
  Attempt made = made_undisturbed(c);
  const Collective& collective = made.collective;
  result.status = made.outcome.status;
  result.note = made.outcome.note;
  result.chunks_per_shard = collective.parts.front().chunks_per_shard;
  result.chose_chunks = made.chose_chunks;
  const std::optional<Schedule> schedule = schedule_of(*c.topology, collective, made.outcome);
  add_problem(result, "", verdict_problem(made));
  if (!schedule) return;
  result.verified = made.verdict.correct();
  if (!result.verified) return;
  FailureCase on = c;
  std::optional<SlowedNetwork> slow;
  if (c.transport) {
    slow = slowed_network(*c.topology, collective, *schedule, made.outcome.library, *c.transport,
                          c.options.model);
    on.topology = &slow->topology;
    on.launch = slow->launch;
  }
  const Runs runs(on, collective, *schedule, function);
  result.note = late_text(*c.topology, parse_starts(*c.topology, collective, c.noise.starts));
  if (slow) result.note += (result.note.empty() ? "transport " : "; transport ") + slow->transport;
  run_undisturbed(on, collective, *schedule, runs, result);
  for (const Scenario& scenario : scenarios_of(on.events, on.options.seed)) {
    if (is_cancelled(on.options)) return;
    run_scenario(on, runs, scenario, finished, result);
  }
  add_draws(on, runs, result);
}

FailureEvaluation heading_of(const FailureCase& c) {
  FailureEvaluation result;
  result.label = c.label;
  result.topology = c.topology_label;
  result.collective = c.collective.text();
  result.algorithm = c.algorithm.name;
  result.planner = c.planner.name;
  result.npus = c.topology->npu_count();
  result.size = size_of(*c.topology, c.collective);
  result.chunks_per_shard = c.chunks.value_or(1) * c.algorithm.chunk_multiple;
  for (const EngineRow* engine : c.engines) result.engines.emplace_back(engine->name);
  result.model = c.options.model;
  result.detection = c.detection;
  result.decision = c.decision;
  result.policies = c.policies;
  return result;
}

} // namespace

FailureEvaluation evaluate_failures(const FailureCase& c, const PolicyFinished& finished,
                                    const RecoverFunction& function) {
  require_sound(c);
  FailureEvaluation result = heading_of(c);
  result.size = collective_of(c).size();
  const double start = cpu_seconds();
  try {
    run_all(c, finished, function, result);
  } catch (const InputError&) {
    throw;
  } catch (const Stopped&) { // what is finished by then stands; the note follows
  } catch (const std::bad_alloc& error) {
    result.status = Status::out_of_memory;
    result.note = memory_text(error);
  } catch (const std::runtime_error& error) { // an engine gave up
    add_problem(result, "", error.what());
  }
  if (is_cancelled(c.options)) result.note = "interrupted";
  result.seconds = cpu_seconds() - start;
  return result;
}

FailureEvaluation without_failures(const FailureCase& c, Status status, const std::string& note) {
  FailureEvaluation result = heading_of(c);
  result.status = status;
  result.note = note;
  return result;
}

namespace {

// Those of one number of failed links under one policy.
std::vector<const PolicyEvaluation*>
runs_of(const FailureEvaluation& e, std::optional<std::size_t> failed_links, std::size_t policy) {
  std::vector<const PolicyEvaluation*> runs;
  for (const ScenarioEvaluation& scenario : e.scenarios)
    if (scenario.scenario.failed_links == failed_links && policy < scenario.policies.size())
      runs.push_back(&scenario.policies[policy]);
  return runs;
}

template <typename Value> Value median(std::vector<Value> values) {
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) / 2];
}

PolicySummary summary_of(const FailureEvaluation& e, std::optional<std::size_t> failed_links,
                         std::size_t policy) {
  constexpr Time never{INT64_MAX};
  PolicySummary summary;
  summary.failed_links = failed_links;
  summary.policy = e.policies[policy];
  std::vector<Time> times;
  std::vector<double> losses;
  std::vector<Bytes> in_vain;
  for (const PolicyEvaluation* run : runs_of(e, failed_links, policy)) {
    ++summary.runs;
    if (run->recovery.complete()) ++summary.complete;
    summary.only = run->recovery.ending;
    times.push_back(run->recovery.complete() ? run->recovery.completion : never);
    losses.push_back(e.goodput_lost(*run));
    in_vain.push_back(run->recovery.in_vain);
    summary.decisions += run->recovery.decisions.size();
    summary.in_force += run->decisions_in_force();
    summary.planning_seconds += run->planning_seconds;
    summary.handed_over += run->handed_over();
    summary.missing_npus = std::max(summary.missing_npus, run->missing_npus);
  }
  if (summary.runs != 1) summary.only.reset();
  if (summary.runs == 0) return summary;
  if (const Time time = median(times); time != never) summary.time = time;
  summary.goodput_lost = median(losses);
  summary.in_vain = median(in_vain);
  return summary;
}

} // namespace

std::vector<PolicySummary> summaries_of(const FailureEvaluation& e) {
  std::vector<std::optional<std::size_t>> counts; // in the order of the scenarios
  for (const ScenarioEvaluation& scenario : e.scenarios)
    if (std::find(counts.begin(), counts.end(), scenario.scenario.failed_links) == counts.end())
      counts.push_back(scenario.scenario.failed_links);
  std::vector<PolicySummary> summaries;
  for (const auto& count : counts)
    for (std::size_t p = 0; p < e.policies.size(); ++p)
      summaries.push_back(summary_of(e, count, p));
  return summaries;
}

} // namespace tutti
