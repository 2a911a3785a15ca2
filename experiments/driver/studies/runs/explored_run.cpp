// An experiment keeps no schedules: they would take longer to write than to make. What its page
// plays is planned again, where that is cheap; an algorithm that gives another schedule then, as
// one that is cut short by a clock may, isn't played.
#include "experiments/driver/studies/runs/explored_run.hpp"

#include "experiments/driver/records/percentage.hpp"
#include "experiments/driver/studies/noise/request.hpp"
#include "experiments/driver/studies/runs/recorded_run.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "synth/bounds/bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <set>
#include <string>
#include <utility>

namespace tutti {

namespace {

/// What tables say of a run.
std::vector<std::pair<std::string, std::string>> facts_of(const Evaluation& e) {
  const Replay& first = e.replays.front();
  std::vector<std::pair<std::string, std::string>> facts{
      {"collective", e.collective + " " + to_text(e.size)},
      {"algorithm", e.algorithm},
      {"status", std::string(to_text(e.status))},
      {"NPUs", std::to_string(e.npus)},
      {"chunks per shard", std::to_string(e.chunks_per_shard)},
      {"transfers", std::to_string(e.transfers)},
      {"time", short_text(first.report.completion)},
      {"bound", short_text(first.bound.time) + " by " + first.bound.kind},
      {"gap", fmt::format("{:.3f}x", first.gap())},
      {"gap at chunks", fmt::format("{:.3f}x", first.gap_at_chunks())},
      {"algbw", fmt::format("{:.4g} GB/s", first.algbw / 1e9)},
      {"busbw", fmt::format("{:.4g} GB/s", first.busbw / 1e9)},
      {"links busy", percent_text(first.mean_utilisation()) + " in the mean, " +
                         percent_text(first.max_utilisation()) + " at most"},
      {"hottest link", e.hottest_link},
      {"engine", first.report.engine + ", " + std::string(to_text(first.report.model.discipline))}};
  if (!e.note.empty()) facts.emplace_back("note", e.note);
  return facts;
}

/// [i]: a case; the fastest on each network first, then by their order.
std::vector<std::size_t> in_order_of_interest(std::span<const Case> cases,
                                              std::span<const Evaluation> evaluations) {
  std::vector<std::size_t> fastest, others(cases.size());
  std::iota(others.begin(), others.end(), std::size_t{0});
  std::erase_if(others, [&](std::size_t i) {
    return cases[i].transport || cases[i].algorithm.outside || cases[i].noise.is_drawn() ||
           !evaluations[i].is_complete();
  });
  std::ranges::stable_sort(
      others, {}, [&](std::size_t i) { return evaluations[i].replays.front().report.completion; });
  std::set<const Topology*> seen;
  std::erase_if(others, [&](std::size_t i) {
    const bool is_first = seen.insert(cases[i].topology).second;
    if (is_first) fastest.push_back(i);
    return is_first;
  });
  std::ranges::sort(fastest);
  std::ranges::sort(others);
  fastest.insert(fastest.end(), others.begin(), others.end());
  return fastest;
}

} // namespace

ExploredRun explored_run(const Case& c, const Evaluation& e) {
  RecordedRun run = record_run(c, e);
  const Topology& topology = *c.topology;
  const ShownBound& shown = e.replays.front().bound;
  const Bound bound = all_bounds(topology, run.collective, run.report.model, c.bound,
                                 parse_starts(topology, run.collective, c.noise.starts))
                          .best();
  return {.label = fmt::format("{}, {} {}", e.algorithm, e.collective, to_text(e.size)),
          .facts = facts_of(e),
          .topology = &topology,
          .collective = std::move(run.collective),
          .schedule = std::move(run.schedule),
          .report = std::move(run.report),
          .bound = shown.time,
          .bound_kind = shown.kind,
          .inside = bound.time == shown.time ? bound.inside : std::vector<NodeId>{}};
}

std::vector<ExploredRun> explored_runs(std::span<const Case> cases,
                                       std::span<const Evaluation> evaluations,
                                       std::span<const std::size_t> rows) {
  constexpr std::size_t most_runs = 12, most_hops = 60'000;
  constexpr double most_seconds = 3;
  std::vector<ExploredRun> runs;
  std::size_t hops = 0;
  double seconds = 0;
  const ScratchFolder folder;
  for (const std::size_t i : in_order_of_interest(cases, evaluations)) {
    const Evaluation& e = evaluations[i];
    const double takes = e.synthesis_seconds + 2 * (e.replay_seconds + e.bound_seconds);
    const std::uint64_t crossings = e.replays.front().report.link_transfers;
    if (runs.size() == most_runs || hops + crossings > most_hops || seconds + takes > most_seconds)
      continue;
    Case c = cases[i];
    c.schedule_file = folder.path() + "/schedule";
    try {
      if (evaluate(c).replays.empty()) continue;
      ExploredRun run = explored_run(c, e);
      if (cases[i].topology_label != c.topology->name()) run.label += " on " + c.topology_label;
      run.row = rows[i];
      runs.push_back(std::move(run));
      hops += crossings;
      seconds += takes;
    } catch (const InputError&) { // another schedule, or one that is no list: it isn't played
    }
  }
  return runs;
}

} // namespace tutti
