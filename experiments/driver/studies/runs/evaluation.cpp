// The order is fixed: synthesize, verify, then replay with bounds, and each step believes only what
// the one before has checked. A time below a lower bound can't be a good result: it is reported as
// our own defect, with the bound's certificate.
#include "experiments/driver/studies/runs/evaluation.hpp"

#include "experiments/driver/cache/schedule_cache.hpp"
#include "experiments/driver/figures/trace.hpp"
#include "experiments/driver/studies/noise/request.hpp"
#include "experiments/driver/studies/refusals.hpp"
#include "experiments/driver/studies/runs/busy_links.hpp"
#include "experiments/driver/studies/runs/noisy_replay.hpp"
#include "experiments/driver/studies/runs/with_transport.hpp"
#include "runtime/lowering/schedule_messages.hpp"
#include "sim/engines/agreement.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/files/schedule_file.hpp"
#include "sim/relays.hpp"
#include "sim/sends.hpp"
#include "sim/transport/constants.hpp"
#include "sim/verify.hpp"
#include "sim/work_limit.hpp"
#include "synth/bounds/late_start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace tutti {

double ShownBound::gap(Time completion, Time rounding) const {
  if (time.ps <= 0) return std::numeric_limits<double>::quiet_NaN();
  if (completion < time && completion + rounding >= time) return 1;
  return static_cast<double>(completion.ps) / static_cast<double>(time.ps);
}

double Replay::max_utilisation() const {
  const std::vector<double> all = utilisation(report);
  return all.empty() ? 0 : *std::max_element(all.begin(), all.end());
}

double Replay::mean_utilisation() const {
  const std::vector<double> all = utilisation(report);
  if (all.empty()) return 0;
  return std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
}

std::string TraceParts::file(std::size_t replay) const {
  return fmt::format("{}/{}", folder, first_process + replay);
}

std::string TraceParts::left_out_of(const std::string& file) { return file + ".left_out"; }

std::string replay_problem(const Replay& replay) {
  if (replay.report.agreement && !replay.report.agreement->holds)
    return disagreement(*replay.report.agreement);
  const ShownBound& bound = replay.bound_at_chunks; // the higher one
  if (replay.report.completion + replay.rounding >= bound.time) return {};
  return fmt::format("{} {} says {}, below the lower bound {} ({}): a defect of Tutti",
                     replay.report.engine, discipline_text(replay.report.model),
                     to_text(replay.report.completion), to_text(bound.time), bound.certificate);
}

void require_discipline(const EngineRow& engine, Discipline discipline) {
  if (discipline != Discipline::fluid || engine.knows_fluid) return;
  std::string able;
  for (const EngineRow& row : engines())
    if (row.knows_fluid) able += fmt::format("{}{}", able.empty() ? "" : ", ", row.name);
  throw InputError(
      fmt::format("engine {} knows no fluid sharing (engines that do: {})", engine.name, able));
}

void require_network_model(NetworkModel model, std::span<const Discipline> disciplines) {
  if (model == NetworkModel::ideal) return;
  if (std::ranges::find(disciplines, Discipline::fluid) == disciplines.end())
    throw InputError(fmt::format(
        "network model {} is of fluid, which nothing is replayed under: discipline fluid",
        to_text(model)));
}

namespace {

ShownBound shown(const Bound& bound) {
  return {bound.time, std::string(to_text(bound.kind)), bound.certificate};
}

struct BoundPair {
  ShownBound any, at_chunks;
};

// Two bounds, never mixed up: of any schedule of this collective, to which the gap is measured, and
// of schedules of exactly these chunks.
BoundPair bounds_for(const Topology& topology, const Collective& collective, const TimeModel& model,
                     BoundEffort effort) {
  if (can_beat_links(model)) {
    const ShownBound none{
        Time{}, "none",
        fmt::format("none: SimGrid's {} can be faster than the links are", to_text(model.network))};
    return {none, none};
  }
  const Bounds bounds = all_bounds(topology, collective, model, effort);
  return {shown(bounds.best()), shown(bounds.best_at_chunks())};
}

/// The same where members start late: no schedule is faster than the last of them.
BoundPair raised_by(std::span<const Time> starts, BoundPair bounds, const Topology& topology,
                    const Collective& collective, const TimeModel& model) {
  if (std::ranges::all_of(starts, [](Time start) { return start == Time{}; })) return bounds;
  if (can_beat_links(model)) return bounds;
  const auto raise = [&](ShownBound& bound, Chunking chunking) {
    const Bound late = late_start_bound(topology, collective, model, starts, chunking);
    if (late.time > bound.time) bound = shown(late);
  };
  raise(bounds.any, Chunking::any);
  raise(bounds.at_chunks, Chunking::any);
  raise(bounds.at_chunks, Chunking::given);
  return bounds;
}

// Times replay and bound apart: a bound may cost more than the replay, and each is reported.
Replay bounded_replay(const EngineRow& engine, const Topology& topology,
                      const Collective& collective, const std::function<Report()>& run,
                      const std::function<BoundPair()>& bound) {
  Replay result;
  const double start = cpu_seconds();
  result.report = run();
  const double replayed = cpu_seconds();
  BoundPair bounds = bound();
  result.replay_seconds = replayed - start;
  result.bound_seconds = cpu_seconds() - replayed;
  result.bound = std::move(bounds.any);
  result.bound_at_chunks = std::move(bounds.at_chunks);
  if (result.report.model.discipline == Discipline::fifo)
    result.rounding = rounding_of(engine, topology, collective, result.bound_at_chunks.time);
  else // rounded to a picosecond, once
    result.rounding = Time{1};
  result.algbw = algbw(collective, result.report.completion);
  result.busbw = busbw(collective, result.report.completion);
  return result;
}

} // namespace

Replay replay(const Topology& topology, const Collective& collective, const Schedule& schedule,
              const TimeModel& model, const EngineRow& engine, const RunOptions& options,
              BoundEffort bound) {
  require_discipline(engine, model.discipline);
  return bounded_replay(
      engine, topology, collective,
      [&] { return engine.run(topology, collective, schedule, model, options); },
      [&] {
        const TimeModel under = bounding_model(model, schedule);
        return raised_by(options.starts, bounds_for(topology, collective, under, bound), topology,
                         collective, under);
      });
}

namespace {

TimeModel model_with(const Case& c, Discipline discipline) {
  TimeModel model = c.options.model;
  model.discipline = discipline;
  return model;
}

} // namespace

Attempt attempt(const Case& c) {
  SynthesisOptions options = c.options;
  options.model = model_with(c, c.disciplines.front());
  ScheduleCache cache(c.cache);
  std::optional<Topology> planned; // algorithms know how long a step takes
  if (c.transport) planned = with_latencies(*c.topology, *c.transport);
  CollectiveRequest collective = c.collective;
  if (!c.change.planned_for.empty()) collective.texts = {c.change.planned_for};
  return attempt_in_chunks(
      c.algorithm, planned ? *planned : *c.topology,
      [&](std::uint32_t chunks_per_shard) {
        return make_collective(*c.topology, collective, chunks_per_shard);
      },
      c.chunks, options, cache, Wanted::everything);
}

Interval interval_of(Time predicted, Time slowest) {
  const double low = predicted.seconds() * (predicted.seconds() / slowest.seconds());
  return {time_of_seconds(low), slowest};
}

namespace {

void add_note(Evaluation& result, const std::string& text) {
  result.note += result.note.empty() ? text : "; " + text;
}

/// A compact schedule becomes a list. Errors: InputError where it is too long for any.
void make_list(const Topology& topology, Attempt& made) {
  if (!made.outcome.compact) return;
  made.outcome.schedule = schedule_of(topology, made.collective, made.outcome);
  made.outcome.compact.reset();
}

/// Whether its replays look at each transfer.
bool needs_list(const Case& c, std::span<const Time> starts) {
  return !starts.empty() || c.transport || !c.trace.folder.empty() || c.noise.is_drawn() ||
         !std::ranges::all_of(c.disciplines, [&](Discipline discipline) {
           return takes_compact(*c.engine, discipline);
         });
}

/// Another case's, where that had the same chunks.
BoundPair bounds_for(const Case& c, const Collective& collective, const TimeModel& model) {
  const std::uint32_t chunks = collective.parts.front().chunks_per_shard;
  for (const KnownBounds& known : c.known_bounds)
    if (known.model == model && known.chunks_per_shard == chunks)
      return {known.any, known.at_chunks};
  return bounds_for(*c.topology, collective, model, c.bound);
}

Replay replay(const Case& c, const Attempt& made, Discipline discipline, const ReplayInput& on,
              std::span<const Time> starts) {
  const TimeModel model = model_with(c, discipline);
  RunOptions options;
  options.starts = on.starts;
  options.record_hops = !c.trace.folder.empty();
  options.threads = c.options.threads;
  options.watch = watch_of(c.options.stage,
                           fmt::format("replay on {}, {}", c.engine->name, discipline_text(model)));
  const auto run = [&] {
    return on.schedule != nullptr
               ? c.engine->run(*on.topology, made.collective, *on.schedule, model, options)
               : c.engine->run_compact(*on.topology, made.collective, *made.outcome.compact, model,
                                       options.watch, options.threads);
  };
  Replay one = bounded_replay(*c.engine, *c.topology, made.collective, run, [&] {
    const TimeModel under = on.schedule != nullptr ? bounding_model(model, *on.schedule) : model;
    return raised_by(starts, bounds_for(c, made.collective, under), *c.topology, made.collective,
                     under);
  });
  one.transport = on.transport;
  if (on.by) one.report.links = without_lanes(*on.by, one.report.links, c.topology->link_count());
  return one;
}

/// When it ends with other constants of its transport.
Time time_under(const Case& c, const Attempt& made, const ReplayInput& on,
                std::span<const Time> starts, const TimeModel& model, Transport transport) {
  Case other = c;
  other.transport = std::make_shared<const Transport>(std::move(transport));
  const std::vector<ReplayInput> all = with_transport(other, made, starts);
  const auto same = std::ranges::find(all, on.transport, &ReplayInput::transport); // protocol
  assert(same != all.end());
  RunOptions options;
  options.starts = same->starts;
  options.watch = watch_of(c.options.stage, "replay with other constants of the transport");
  return c.engine->run(*same->topology, made.collective, *same->schedule, model, options)
      .completion;
}

/// Replays it at its transport's slowest, where that is known, and at the slow end of each of its
/// uncertainties, where that is asked for.
void add_interval(const Case& c, const Attempt& made, const ReplayInput& on,
                  std::span<const Time> starts, Replay& one) {
  if (!knows_intervals(*c.transport)) return;
  const std::string& npus = c.topology->parts().npu_model;
  const Transport whole = with_stand_ins(*c.transport, *c.topology);
  const auto time = [&](Transport transport) {
    return time_under(c, made, on, starts, one.report.model, std::move(transport));
  };
  one.interval = interval_of(one.report.completion, time(at_its_slowest(whole, npus)));
  one.interval->low = std::max(one.interval->low, one.bound_at_chunks.time);
  if (!c.sensitivities) return;
  std::vector<std::size_t> rules = on.by->rules;
  for (std::size_t r = c.transport->rules.size(); r < whole.rules.size(); ++r) rules.push_back(r);
  constexpr double deviations = 1.645; // to the end of an interval that holds 90 %
  for (const Uncertainty& of : uncertainties_of(whole, npus, rules)) {
    const Time slow = time(at_slow_end(whole, npus, of));
    if (slow == one.report.completion) continue;
    one.sensitivities.push_back(
        {of.name, std::log(slow.seconds() / one.report.completion.seconds()) / deviations});
  }
}

/// Replays it again under noise, where that is asked for. False if that was interrupted.
bool add_noise(const Case& c, const Attempt& made, const ReplayInput& on, Replay& one,
               Evaluation& result) {
  if (!c.noise.is_drawn()) return true;
  const double begin = cpu_seconds();
  bool is_over = true;
  try {
    add_noisy_replays(
        {*on.topology, made.collective, *on.schedule, one.report.model, *c.engine, on.starts},
        c.noise, c.options.threads, c.options.stage, one, result.problem);
  } catch (const Stopped&) { // the replay without noise stands
    add_note(result, ended_text(c.options, "its draws"));
    is_over = false;
  }
  one.replay_seconds += cpu_seconds() - begin;
  return is_over;
}

/// What the algorithm itself has proven is no part of the bounds: other algorithms, a replay of the
/// same schedule and the library would show another gap. It is noted where it says more.
void compare_with_proof(const Outcome& outcome, const Replay& replay, Evaluation& result) {
  if (!outcome.bound || can_beat_links(replay.report.model)) return;
  const Time proven = *outcome.bound;
  constexpr double much = 1.001;
  if (static_cast<double>(proven.ps) > much * static_cast<double>(replay.bound.time.ps))
    add_note(result, "proves that no schedule takes less than " + short_text(proven));
  if (result.problem.empty() && replay.report.completion + replay.rounding < proven)
    result.problem =
        fmt::format("{} {} says {}, below what the algorithm proves, {}: a defect of Tutti",
                    replay.report.engine, discipline_text(replay.report.model),
                    to_text(replay.report.completion), to_text(proven));
}

/// Writes the trace of the replay with this number and drops its hops, which nothing else needs.
void write_trace_part(const Case& c, const Attempt& made, const ReplayInput& on, std::size_t number,
                      Report& report) {
  if (c.trace.folder.empty()) return;
  const std::string part = c.trace.file(number);
  std::string missing;
  write_file(part, [&](std::ostream& out) {
    TraceEvents events(out);
    missing =
        write_run(events, c.trace.first_process + static_cast<std::uint32_t>(number),
                  {trace_name(c.algorithm.name, made.collective.size(), report.model.discipline),
                   on.topology, &made.collective, on.schedule, &report});
  });
  if (!missing.empty()) write_file(TraceParts::left_out_of(part), missing);
  report.hops = {};
}

// The median of an even number is the earlier of the two in the middle.
std::optional<AttemptSpread> spread_of(std::vector<Time> attempts) {
  if (attempts.size() < 2) return std::nullopt;
  std::sort(attempts.begin(), attempts.end());
  return AttemptSpread{attempts.size(), attempts.front(), attempts[(attempts.size() - 1) / 2],
                       attempts.back()};
}

// The trace is written and its hops are dropped at once: those of several replays of a large
// network wouldn't fit into memory together.
void replay_under_models(const Case& c, Attempt& made, Evaluation& result) {
  const std::vector<Time> starts = parse_starts(*c.topology, made.collective, c.noise.starts);
  if (const std::string late = late_text(*c.topology, starts); !late.empty())
    add_note(result, late);
  try {
    if (needs_list(c, starts)) make_list(*c.topology, made);
  } catch (const InputError& error) {
    add_note(result, error.what());
    return;
  }
  if (c.transport && c.algorithm.imitates && !made.outcome.library)
    add_note(result, "several collectives at once have no channels: the transport is applied as to "
                     "a schedule of no library");
  const std::vector<ReplayInput> networks = with_transport(c, made, starts);
  if (c.transport)
    if (const std::string parts = stand_ins(*c.transport, *c.topology); !parts.empty())
      add_note(result, fmt::format("transport {} takes {}", c.transport->name, parts));
  for (const Discipline discipline : c.disciplines) {
    std::size_t best = 0;
    std::optional<Replay> fastest;
    for (std::size_t i = 0; i < networks.size(); ++i) {
      Replay each = replay(c, made, discipline, networks[i], starts);
      if (fastest && fastest->report.completion <= each.report.completion) continue;
      fastest = std::move(each);
      best = i;
    }
    Replay one = std::move(*fastest);
    if (networks[best].by) add_interval(c, made, networks[best], starts, one);
    if (discipline == c.disciplines.front()) compare_with_proof(made.outcome, one, result);
    write_trace_part(c, made, networks[best], result.replays.size(), one.report);
    one.report.chunk_done.clear();
    if (result.problem.empty()) result.problem = replay_problem(one);
    const bool is_over = add_noise(c, made, networks[best], one, result);
    result.replay_seconds += one.replay_seconds;
    result.bound_seconds += one.bound_seconds;
    result.replays.push_back(std::move(one));
    if (!is_over) break;
  }
  if (result.replays.empty()) return;
  const Report& first = result.replays.front().report;
  result.hottest_link = hottest_link(*c.topology, first);
  result.bottleneck = bottleneck(*c.topology, first);
  if (const std::string idle = idle_parallel_links(*c.topology, first); !idle.empty())
    add_note(result, idle);
  std::vector<Time> times = times_of_other_seeds(c, made);
  if (times.empty()) return;
  times.push_back(first.completion);
  result.attempts = spread_of(std::move(times));
}

/// Changes the schedule as the case says, and verifies it again. What can't be changed so becomes
/// unsupported: it is no defect of the algorithm, which made another schedule.
void change(const Case& c, Attempt& made) {
  Outcome& outcome = made.outcome;
  const bool has_other_sizes = !c.change.planned_for.empty();
  if (!made.usable() || !(c.change.relays_send || c.change.drops_dependencies || has_other_sizes))
    return;
  const auto refuse = [&](const std::string& why) {
    outcome.schedule.reset();
    outcome.compact.reset();
    outcome.status = Status::unsupported;
    outcome.note = why;
  };
  const double start = cpu_seconds();
  try {
    if (has_other_sizes) { // of the same chunks: the verdict holds
      made.collective =
          with_sizes_of(made.collective, make_collective(*c.topology, c.collective, 1));
      outcome.planned.reset();
      outcome.planned_on.clear();
      outcome.bound.reset();
      outcome.note += (outcome.note.empty() ? "" : "; ") + ("planned for " + c.change.planned_for);
    }
    if (!c.change.relays_send && !c.change.drops_dependencies) return;
    make_list(*c.topology, made);
    if (c.change.drops_dependencies) outcome.schedule->clear_dependencies();
    if (!c.change.relays_send) return;
    outcome.schedule = relayed(*c.topology, *outcome.schedule);
  } catch (const InputError& error) {
    refuse(error.what());
    return;
  }
  try {
    made.verdict = verify(*c.topology, made.collective, *outcome.schedule,
                          watch_of(c.options.stage, "verification with relays that send"));
  } catch (const Stopped&) {
    refuse(ended_text(c.options, "the verification of its schedule"));
    outcome.status = Status::timed_out;
    return;
  }
  made.verify_seconds += cpu_seconds() - start;
  if (made.verdict.fault) refuse("with relays that send: " + made.verdict.fault->text);
  outcome.planned.reset(); // it is of another schedule
  outcome.planned_on.clear();
}

// Moves the schedule into what is written.
void write(const Case& c, Attempt& made) {
  ScheduleFile file{c.topology->name(),
                    std::string(c.algorithm.name),
                    model_with(c, c.disciplines.front()),
                    std::move(made.collective),
                    made.outcome.schedule ? std::move(*made.outcome.schedule)
                                          : Schedule(c.topology->link_count()),
                    std::move(made.outcome.compact)};
  write_schedule(c.schedule_file, *c.topology, file);
}

/// With stages that end with its limit. Errors: InputError for what can't be evaluated so.
Case within_limit(Case c) {
  c.options.stage = stages_within_limit(c.options);
  for (const Discipline discipline : c.disciplines) require_discipline(*c.engine, discipline);
  require_transport(c);
  if (!c.change.planned_for.empty() && !c.schedule_file.empty())
    throw InputError("what is planned for another collective is no schedule for a file");
  return c;
}

Evaluation evaluation_of(const Case& c, Attempt made) {
  Evaluation result;
  change(c, made);
  result.synthesis_seconds = made.synthesis_seconds;
  result.verify_seconds = made.verify_seconds;
  result.run = c.run;
  result.topology = c.topology_label;
  result.collective = c.collective.text();
  result.algorithm = c.algorithm.name;
  result.size = made.collective.size();
  result.npus = c.topology->npu_count();
  result.chunks_per_shard = made.collective.parts.front().chunks_per_shard;
  result.chose_chunks = made.chose_chunks;
  result.chunks = made.collective.chunks.size();
  result.status = made.outcome.status;
  result.note = made.outcome.note;
  result.routing = made.outcome.routing;
  result.planned = made.outcome.planned;
  result.planned_on = made.outcome.planned_on;
  result.facts = made.outcome.facts;
  result.attempts = spread_of(made.outcome.attempts);
  result.problem = verdict_problem(made);
  if (c.change.relays_send && made.usable()) result.problem.clear(); // relays get data twice
  if (made.has_schedule()) {
    result.transfers = made.transfers();
    result.redundant = made.verdict.redundant;
    result.verified = made.verdict.correct();
    if (result.verified && made.outcome.schedule && !made.outcome.library)
      result.no_runtime = runtime::lowering_refusal(*c.topology, *made.outcome.schedule);
  }
  if (result.verified) {
    try {
      replay_under_models(c, made, result);
    } catch (const Stopped&) {
      add_note(result, ended_text(c.options, "its replay"));
      if (c.options.limit_seconds > 0) result.status = Status::timed_out;
    }
    if (!c.schedule_file.empty()) write(c, made);
  }
  result.peak_rss_bytes = peak_rss_bytes();
  return result;
}

} // namespace

Evaluation evaluate(const Case& given) {
  const Case c = within_limit(given);
  return evaluation_of(c, attempt(c));
}

Evaluation evaluate_given(const Case& given, Attempt made) {
  return evaluation_of(within_limit(given), std::move(made));
}

Case given_case(const Topology& topology, const ScheduleFile& file) {
  Case c;
  c.topology_label = topology.name();
  c.topology = &topology;
  c.collective = {{collective_text(topology, file.collective)}, file.collective.size()};
  c.algorithm.name = file.algorithm;
  c.options.model = file.time_model;
  return c;
}

std::vector<std::string> problems_of(std::span<const Evaluation> evaluations) {
  std::vector<std::string> problems;
  for (const Evaluation& e : evaluations)
    if (!e.problem.empty())
      problems.push_back(fmt::format("{} on {}, {} {}: {}", e.algorithm, e.topology, e.collective,
                                     to_text(e.size), e.problem));
  return problems;
}

std::vector<std::string> nothing_made(std::span<const Evaluation> evaluations) {
  return nothing_of(no_schedule, evaluations, [](const Evaluation& e) { return e.verified; });
}

} // namespace tutti
