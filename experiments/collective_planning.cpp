#include "experiments/collective_planning.hpp"

#include "experiments/attempt.hpp"
#include "experiments/registry.hpp"
#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tutti {

namespace {

/// Shards of fewer bytes aren't left to an algorithm to cut as it likes.
constexpr std::int64_t least_to_choose = 1024;

/// Shards of a buffer.
std::int64_t shard_count(const CollectiveSpec& spec) {
  const auto n = static_cast<std::int64_t>(spec.group.size());
  if (spec.kind == CollectiveKind::broadcast || spec.kind == CollectiveKind::reduce) return 1;
  return spec.kind == CollectiveKind::all_to_all ? n * n : n;
}

} // namespace

/// How a collective is to be made for an algorithm.
struct CollectivePlanner::Cut {
  CollectiveSpec spec;      ///< with one piece
  std::uint32_t chunks = 1; ///< per shard, times the algorithm's pieces
  SynthesisOptions options;
};

CollectivePlanner::CollectivePlanner(const PlanningOptions& options)
    : options_(options), goes_by_names_(tutti::goes_by_names(options.options)),
      cache_(options.cache) {
  std::vector<AlgorithmRow> rows = options.algorithms;
  for (const auto& [kind, row] : options.by_collective) {
    (void)parse_collective_kind(kind);
    rows.push_back(row);
  }
  require_known_settings(rows, options.options);
}

std::vector<AlgorithmRow> CollectivePlanner::candidates(CollectiveKind kind) const {
  const auto chosen = options_.by_collective.find(std::string(to_text(kind)));
  if (chosen != options_.by_collective.end()) return {chosen->second};
  return options_.algorithms;
}

PlannedCollective CollectivePlanner::fastest(const Topology& network, const CollectiveSpec& spec,
                                             const std::string& what) {
  const std::vector<AlgorithmRow> rows = candidates(spec.kind);
  if (rows.empty()) throw InputError(fmt::format("{}: no algorithm is given for it", what));
  std::optional<PlannedCollective> best;
  std::string notes;
  for (const AlgorithmRow& row : rows) {
    std::string note;
    bool is_made = false;
    for (const Cut& cut : cuts_for(row, spec)) {
      std::optional<PlannedCollective> next = made(row, network, cut, what, note);
      is_made = is_made || next;
      if (next && (!best || next->alone < best->alone)) best = std::move(next);
    }
    if (!is_made) notes += fmt::format("{}{}: {}", notes.empty() ? "" : "; ", row.name, note);
  }
  if (!best)
    throw InputError(fmt::format("{} can't be planned ({}); by_collective can name another "
                                 "algorithm for {}",
                                 what, notes, to_text(spec.kind)));
  return std::move(*best);
}

/// Buffers too small for that many chunks have fewer; those too small for any are padded.
std::vector<CollectivePlanner::Cut> CollectivePlanner::cuts_for(const AlgorithmRow& row,
                                                                const CollectiveSpec& spec) const {
  const std::int64_t shards = shard_count(spec), least = shards * row.pieces;
  Cut cut{spec, 1, options_for(row, options_.options)};
  cut.spec.size.count = std::max(spec.size.count, least);
  if (options_.chunks.empty()) {
    cut.options.choose_pieces = row.chooses_pieces && spec.size.count / shards >= least_to_choose;
    return {cut};
  }
  std::vector<Cut> cuts;
  for (const std::uint32_t chunks : options_.chunks) {
    cut.chunks =
        static_cast<std::uint32_t>(std::clamp<std::int64_t>(spec.size.count / least, 1, chunks));
    if (cuts.empty() || cut.chunks != cuts.back().chunks) cuts.push_back(cut);
  }
  return cuts;
}

/// What one algorithm makes of it, or made of it earlier; else why it doesn't.
std::optional<PlannedCollective> CollectivePlanner::made(const AlgorithmRow& row,
                                                         const Topology& network, const Cut& cut,
                                                         const std::string& what,
                                                         std::string& note) {
  const auto make = [&](std::uint32_t pieces) {
    CollectiveSpec spec = cut.spec;
    spec.pieces = pieces;
    return make_collective(network, spec);
  };
  Attempt made = attempt(row, network, make, cut.chunks, cut.options, cache_, Wanted::schedule);
  if (!made.was_remembered) synthesis_seconds_ += made.synthesis_seconds;
  if (const std::string problem = verdict_problem(made); !problem.empty() && problem_.empty())
    problem_ = fmt::format("{}: {}: {}", row.name, what, problem);
  if (!made.usable()) {
    note = made.has_schedule() ? made.verdict.fault->text : made.outcome.note;
    if (note.empty()) note = to_text(made.outcome.status);
    return std::nullopt;
  }
  if (made.outcome.compact)
    made.outcome.schedule = expanded(network, made.collective, *made.outcome.compact);
  RunOptions run;
  run.watch = watch_of(cut.options.stage, fmt::format("replay of {} by {}", what, row.name));
  const Time alone =
      run_native(network, made.collective, *made.outcome.schedule, options_.options.model, run)
          .completion;
  return PlannedCollective{
      {std::move(made.collective), std::move(*made.outcome.schedule), std::string(row.name)},
      alone,
      made.was_remembered};
}

} // namespace tutti
