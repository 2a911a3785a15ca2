// Every algorithm that may make a collective does, on the network of the group alone, and a replay
// on the native engine says how long each schedule takes there. Which of them an iteration uses is
// decided elsewhere (plan_choice.hpp): alone, they are only compared by numbers of chunks.
#include "workloads/planning/collectives.hpp"

#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "workloads/planning/transported_plans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tutti {

namespace {

/// Shards of fewer bytes stay whole where nobody says otherwise.
constexpr std::int64_t least_to_choose = 1024;

} // namespace

/// How a collective is to be made for an algorithm.
struct CollectivePlanner::Cut {
  CollectiveSpec spec;                 ///< with one chunk per shard
  std::optional<std::uint32_t> chunks; ///< as WorkloadSynthesis::synthesize() takes it
};

CollectivePlanner::CollectivePlanner(const PlanningOptions& options,
                                     const WorkloadSynthesis& synthesis)
    : options_(options), synthesis_(synthesis) {
  for (const auto& [kind, row] : options.by_collective) (void)parse_collective_kind(kind);
}

std::vector<AlgorithmRow> CollectivePlanner::candidates(CollectiveKind kind) const {
  if (kind == CollectiveKind::all_to_all_v) kind = CollectiveKind::all_to_all; // asked for as such
  for (const auto& [name, row] : options_.by_collective)
    if (parse_collective_kind(name) == kind) return {row};
  return options_.algorithms;
}

std::vector<PlannedCollective> CollectivePlanner::by_each(const Topology& network,
                                                          const CollectiveSpec& spec,
                                                          const std::string& what) {
  const std::vector<AlgorithmRow> rows = candidates(spec.kind);
  if (rows.empty()) throw InputError(fmt::format("{}: no algorithm is given for it", what));
  std::vector<PlannedCollective> plans;
  std::string notes;
  Status status = Status::infeasible;
  for (const AlgorithmRow& row : rows) {
    Refusal refusal;
    std::optional<PlannedCollective> best;
    for (const Cut& cut : cuts_for(row, spec)) {
      std::optional<PlannedCollective> next = made(row, network, cut, what, refusal);
      if (next && (!best || is_better(variant_of(*next), variant_of(*best))))
        best = std::move(next);
    }
    if (best) {
      plans.push_back(std::move(*best));
      continue;
    }
    notes += fmt::format("{}{}: {}", notes.empty() ? "" : "; ", row.name, refusal.note);
    if (refusal.status == Status::out_of_memory || status == Status::infeasible)
      status = refusal.status;
  }
  if (plans.empty())
    throw CannotPlan(
        fmt::format("{} can't be planned ({}); by_collective can name another "
                    "algorithm for {}",
                    what, notes,
                    spec.kind == CollectiveKind::all_to_all_v ? "all_to_all" : to_text(spec.kind)),
        status);
  return plans;
}

PlanVariant variant_of(const PlannedCollective& planned) {
  return {planned.plan.algorithm, planned.alone, planned.busy};
}

/// Buffers too small for that many chunks have fewer; those too small for any are padded.
std::vector<CollectivePlanner::Cut> CollectivePlanner::cuts_for(const AlgorithmRow& row,
                                                                const CollectiveSpec& spec) const {
  const std::int64_t shards = static_cast<std::int64_t>(block_count(spec.kind, spec.group.size())),
                     least = shards * row.chunk_multiple;
  Cut cut{spec, std::nullopt};
  cut.spec.size.count = std::max(spec.size.count, least);
  if (options_.chunks.empty()) {
    if (spec.size.count / shards < least_to_choose) cut.chunks = 1;
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
                                                         Refusal& refusal) {
  SynthesizedCollective made;
  try {
    made = synthesis_.synthesize(row, network, cut.spec, cut.chunks);
  } catch (const InputError& error) { // other candidates may do
    refusal = {Status::unsupported, error.what()};
    return std::nullopt;
  }
  synthesis_seconds_ += made.seconds;
  if (!made.warning.empty()) warning_ = made.warning;
  if (!made.problem.empty() && problem_.empty())
    problem_ = fmt::format("{}: {}: {}", row.name, what, made.problem);
  if (!made.schedule) {
    refusal = {made.status, made.note};
    return std::nullopt;
  }
  RunOptions run;
  run.watch = watch_of(options_.options.stage, fmt::format("replay of {} by {}", what, row.name));
  CommunicationPlan plan{std::move(made.collective), std::move(*made.schedule),
                         std::string(row.name), std::move(made.library)};
  const PlanTimes times =
      timed(network, plan, false, options_.transport.get(), options_.options.model, run);
  return PlannedCollective{std::move(plan), times.alone, times.busy, made.was_remembered};
}

} // namespace tutti
