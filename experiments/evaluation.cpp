#include "experiments/evaluation.hpp"

#include "sim/bounds.hpp"
#include "sim/error.hpp"
#include "sim/schedule_file.hpp"
#include "sim/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <numeric>

#include <sys/resource.h>

namespace tutti {

std::int64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024; // Linux counts in KiB
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double Replay::gap() const {
  if (bound.ps <= 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(report.completion.ps) / static_cast<double>(bound.ps);
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

std::string bound_problem(const Replay& replay) {
  if (replay.report.completion >= replay.bound) return {};
  return fmt::format("{} {} says {}, below the lower bound {} ({}): a defect of Tutti",
                     replay.report.engine, to_text(replay.report.model.discipline),
                     to_text(replay.report.completion), to_text(replay.bound),
                     replay.bound_certificate);
}

void require_discipline(const EngineRow& engine, Discipline discipline) {
  if (discipline != Discipline::fluid || engine.knows_fluid) return;
  std::string able;
  for (const EngineRow& row : engines())
    if (row.knows_fluid) able += fmt::format("{}{}", able.empty() ? "" : ", ", row.name);
  throw InputError(
      fmt::format("engine {} knows no fluid sharing (engines that do: {})", engine.name, able));
}

std::string hottest_link(const Topology& topology, const Report& report) {
  if (report.links.empty()) return {};
  const auto less_busy = [](const LinkUse& a, const LinkUse& b) { return a.busy < b.busy; };
  const auto hottest = std::max_element(report.links.begin(), report.links.end(), less_busy);
  const auto as_hot = std::count_if(report.links.begin(), report.links.end(),
                                    [&](const LinkUse& use) { return use.busy == hottest->busy; });
  const LinkId id{static_cast<std::uint32_t>(hottest - report.links.begin())};
  const Link& link = topology.link(id);
  const std::string name =
      fmt::format("{}>{}", topology.node(link.from).name, topology.node(link.to).name);
  return as_hot == 1 ? name : fmt::format("{} +{}", name, as_hot - 1);
}

Replay replay(const Topology& topology, const Collective& collective, const Schedule& schedule,
              const TimeModel& model, const EngineRow& engine, const RunOptions& options) {
  require_discipline(engine, model.discipline);
  Replay result;
  result.report = engine.run(topology, collective, schedule, model, options);
  const Bound bound = lower_bound(topology, collective, model);
  result.bound = bound.time;
  result.bound_kind = to_text(bound.kind);
  result.bound_certificate = bound.certificate;
  result.algbw = algbw(collective, result.report.completion);
  result.busbw = busbw(collective, result.report.completion);
  return result;
}

namespace {

constexpr std::uint32_t most_chunks_tried = 64; // by `--chunks auto`

TimeModel model_with(const Case& c, Discipline discipline) {
  TimeModel model = c.options.model;
  model.discipline = discipline;
  return model;
}

// One synthesis with a given number of chunks per shard.
struct Attempt {
  Collective collective;
  Outcome outcome;
  Verdict verdict;
  [[nodiscard]] bool usable() const { return outcome.schedule && verdict.correct(); }
};

Attempt attempt(const Case& c, std::uint32_t chunks, Evaluation& costs) {
  Attempt made;
  made.collective = make_collective(*c.topology, c.collective, chunks * c.algorithm.pieces);
  SynthesisOptions options = c.options;
  options.model = model_with(c, c.disciplines.front());
  const double start = cpu_seconds();
  made.outcome = synthesize(c.algorithm, *c.topology, made.collective, options);
  const double synthesized = cpu_seconds();
  costs.synthesis_seconds += synthesized - start;
  if (made.outcome.schedule)
    made.verdict = verify(*c.topology, made.collective, *made.outcome.schedule);
  costs.verify_seconds += cpu_seconds() - synthesized;
  return made;
}

bool is_fixed(const CollectiveRequest& request) { // the number of chunks can't be chosen
  return std::all_of(request.texts.begin(), request.texts.end(), is_collective_file);
}

// More chunks pipeline better, fewer pay latency less often: tries 1, 2, 4, ... 64.
Attempt best_attempt(const Case& c, Evaluation& costs) {
  Attempt best = attempt(c, 1, costs);
  if (!best.usable() || is_fixed(c.collective)) return best;
  const auto time = [&c](const Attempt& a) {
    return run_native(*c.topology, a.collective, *a.outcome.schedule,
                      model_with(c, Discipline::fifo))
        .completion;
  };
  Time least = time(best);
  for (std::uint32_t chunks = 2; chunks <= most_chunks_tried; chunks *= 2) {
    Attempt next;
    try {
      next = attempt(c, chunks, costs);
    } catch (const InputError&) {
      break; // parts below one byte: more chunks won't do either
    }
    if (!next.outcome.schedule) continue;     // out of time
    if (!next.verdict.correct()) return next; // a fault must show, with however many chunks
    const Time needed = time(next);
    if (needed >= least) continue;
    least = needed;
    best = std::move(next);
  }
  return best;
}

// What our own algorithms must not do.
std::string verdict_problem(const Attempt& made) {
  if (!made.outcome.schedule) return {};
  if (made.verdict.fault) return "fault: " + made.verdict.fault->text;
  if (made.verdict.redundant > 0)
    return fmt::format("redundant copies: {}", made.verdict.redundant);
  return {};
}

void replay_all(const Case& c, const Attempt& made, Evaluation& result) {
  for (const Discipline discipline : c.disciplines) {
    Replay one = replay(*c.topology, made.collective, *made.outcome.schedule,
                        model_with(c, discipline), *c.engine);
    if (discipline == c.disciplines.front() && made.outcome.bound &&
        *made.outcome.bound > one.bound) {
      one.bound = *made.outcome.bound;
      one.bound_kind = "algorithm";
      one.bound_certificate = fmt::format("proved by {}", c.algorithm.name);
    }
    one.report.chunk_done.clear();
    if (result.problem.empty()) result.problem = bound_problem(one);
    result.replays.push_back(std::move(one));
  }
  result.hottest_link = hottest_link(*c.topology, result.replays.front().report);
}

} // namespace

Evaluation evaluate(const Case& c) {
  for (const Discipline discipline : c.disciplines) require_discipline(*c.engine, discipline);
  Evaluation result;
  const Attempt made = c.chunks ? attempt(c, *c.chunks, result) : best_attempt(c, result);
  result.run = c.run;
  result.topology = c.topology_label;
  result.collective = c.collective.text();
  result.algorithm = c.algorithm.name;
  result.size = made.collective.size();
  result.npus = c.topology->npu_count();
  result.chunks_per_shard = made.collective.parts.front().pieces;
  result.chunks = made.collective.chunks.size();
  result.status = made.outcome.status;
  result.note = made.outcome.note;
  result.routing = made.outcome.routing;
  result.problem = verdict_problem(made);
  if (made.outcome.schedule) {
    result.transfers = made.outcome.schedule->size();
    result.redundant = made.verdict.redundant;
    result.verified = made.verdict.correct();
  }
  if (result.verified) {
    replay_all(c, made, result);
    if (!c.schedule_file.empty())
      write_schedule(c.schedule_file, *c.topology,
                     {c.topology->name(), std::string(c.algorithm.name),
                      model_with(c, c.disciplines.front()), made.collective,
                      *made.outcome.schedule});
  }
  result.peak_rss_bytes = peak_rss_bytes();
  return result;
}

} // namespace tutti
