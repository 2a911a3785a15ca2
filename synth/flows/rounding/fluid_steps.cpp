// Each path becomes steps with a depth and a rank once, whatever the number of chunks on it; the
// list is the chunks' steps sorted by time and rank, where a chunk's k-th step comes k strides
// after its first. A radix sort keeps that linear for millions of transfers. Steps only propose an
// order: under a FIFO model list scheduling improves it. In an All-to-All whose symmetry takes each
// NPU to any other only one NPU's chunks are given paths and times, and all others' are their
// images.

#include "synth/flows/rounding/fluid_steps.hpp"

#include "sim/engines/engine.hpp"
#include "sim/limit_watch.hpp"
#include "sim/transforms.hpp"
#include "synth/flows/fluid/orbits.hpp"
#include "synth/flows/rounding/chunk_paths.hpp"
#include "synth/inversion.hpp"
#include "synth/scheduling/kept_order.hpp"
#include "synth/scheduling/list_scheduling.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tutti {

namespace {

/// A hop of a path, as every chunk takes it.
struct Step {
  PathId path;
  std::uint32_t depth = 0; // steps after the chunk's first
  std::uint32_t rank = 0;  // lower ones first
  Op op = Op::copy;
};

/// Transfers whose data has more links to cross come first, since more wait for these; of equal
/// ones a node serves first the one after itself by number, so that not all send to the same one.
std::uint32_t rank_of(std::uint32_t links_to_go, std::uint32_t from, std::uint32_t to,
                      std::uint32_t nodes) {
  constexpr std::uint32_t most = 0xfff;
  const std::uint32_t urgency = most - std::min(links_to_go, most);
  return urgency << 20 | std::min((to + nodes - from) % nodes, 0xfffffU);
}

/// Turns paths into steps, one after another.
class PathSteps {
public:
  PathSteps(const FlowProblem& problem, std::span<const FlowTree> trees, PathTable& paths)
      : problem_(problem), trees_(trees), paths_(paths), ready_(problem.network.node_count()),
        busy_(ready_), to_go_(ready_), holds_(ready_) {}

  /// In an order in which they can be taken, by depth.
  [[nodiscard]] std::vector<Step> of(const ChunkPath& path) {
    const FlowTree& tree = trees_[path.tree];
    std::vector<Step> steps;
    if (path.hop != ChunkPath::all) {
      const std::span<const std::uint32_t> links = tree.hop(path.hop);
      const Hop hop = hop_over(links);
      return {{path_over(links), 0, rank(hop, hop.links), Op::copy}};
    }
    hops_.clear();
    for (std::size_t h = 0; h < tree.hop_count(); ++h) hops_.push_back(hop_over(tree.hop(h)));
    set_depths(tree);
    set_ranks(tree);
    std::vector<std::uint32_t> order(hops_.size());
    for (std::uint32_t h = 0; h < order.size(); ++h) order[h] = h;
    std::ranges::sort(
        order, {}, [&](std::uint32_t h) { return std::tuple(hops_[h].depth, hops_[h].rank, h); });
    mark_sources(tree);
    for (const std::uint32_t h : order) {
      const Op op = h < tree.combining && holds_[hops_[h].to] ? Op::reduce : Op::copy;
      holds_[hops_[h].to] = 1;
      steps.push_back({path_over(tree.hop(h)), hops_[h].depth, hops_[h].rank, op});
    }
    return steps;
  }

private:
  struct Hop {
    std::uint32_t from, to, links;
    std::uint32_t depth = 0, rank = 0;
  };

  [[nodiscard]] Hop hop_over(std::span<const std::uint32_t> links) const {
    return {problem_.network.links[links.front()].from, problem_.network.links[links.back()].to,
            static_cast<std::uint32_t>(links.size())};
  }

  [[nodiscard]] PathId path_over(std::span<const std::uint32_t> links) {
    if (links.size() == 1) return PathId{links.front()};
    ids_.clear();
    for (const std::uint32_t link : links) ids_.emplace_back(link);
    return paths_.intern(ids_);
  }

  [[nodiscard]] std::uint32_t rank(const Hop& hop, std::uint32_t links_to_go) const {
    return rank_of(links_to_go, hop.from, hop.to, problem_.network.node_count());
  }

  /// As early as possible. What a node that can't copy gets again comes after it has sent.
  void set_depths(const FlowTree& tree) {
    std::ranges::fill(ready_, 0);
    std::ranges::fill(busy_, 0);
    std::uint32_t together = 0; // when all has come together
    for (std::size_t h = 0; h < tree.combining; ++h) {
      Hop& hop = hops_[h];
      hop.depth = ready_[hop.from];
      ready_[hop.to] = std::max(ready_[hop.to], hop.depth + 1);
      together = std::max(together, hop.depth + 1);
    }
    std::ranges::fill(ready_, together);
    for (std::size_t h = tree.combining; h < hops_.size(); ++h) {
      Hop& hop = hops_[h];
      hop.depth = std::max(ready_[hop.from], busy_[hop.to]);
      ready_[hop.to] = hop.depth + 1;
      busy_[hop.from] = std::max(busy_[hop.from], hop.depth + 1);
    }
  }

  /// By the links that data still has to cross, of all in its path the most.
  void set_ranks(const FlowTree& tree) {
    std::ranges::fill(to_go_, 0);
    for (std::size_t h = hops_.size(); h-- > tree.combining;) set_rank(hops_[h]);
    for (std::size_t h = tree.combining; h-- > 0;) set_rank(hops_[h]);
  }

  void set_rank(Hop& hop) {
    const std::uint32_t links = to_go_[hop.to] + hop.links;
    hop.rank = rank(hop, links);
    to_go_[hop.from] = std::max(to_go_[hop.from], links);
  }

  void mark_sources(const FlowTree& tree) {
    std::ranges::fill(holds_, 0);
    for (const std::uint32_t node : problem_.sources(problem_.demands[tree.demand]))
      holds_[node] = 1;
  }

  const FlowProblem& problem_;
  std::span<const FlowTree> trees_;
  PathTable& paths_;
  std::vector<Hop> hops_;
  std::vector<LinkId> ids_;
  std::vector<std::uint32_t> ready_, busy_, to_go_, holds_; // [node]
};

/// One transfer and its place in the list: time, then rank.
struct Entry {
  std::uint64_t key;
  std::uint32_t chunk, step;
};

/// By key; of equal ones the given order. Least significant digits first: O(entries) for each digit
/// in which keys differ.
void sort_by_key(std::vector<Entry>& entries) {
  constexpr int digit_bits = 16;
  if (entries.size() >> digit_bits == 0) {
    std::ranges::stable_sort(entries, {}, &Entry::key);
    return;
  }
  std::vector<Entry> sorted(entries.size());
  std::vector<std::size_t> begin;
  for (int shift = 0; shift < 64; shift += digit_bits) {
    const auto digit = [&](const Entry& entry) { return entry.key >> shift & 0xffff; };
    begin.assign((std::size_t{1} << digit_bits) + 1, 0);
    for (const Entry& entry : entries) ++begin[digit(entry) + 1];
    if (std::ranges::count(begin, entries.size()) > 0) continue; // all the same
    for (std::size_t d = 1; d < begin.size(); ++d) begin[d] += begin[d - 1];
    for (const Entry& entry : entries) sorted[begin[digit(entry)]++] = entry;
    entries.swap(sorted);
  }
}

/// The steps of all paths that chunks take.
struct StepTable {
  std::vector<std::size_t> begins; // [path], and one past the last
  std::vector<Step> steps;

  [[nodiscard]] std::size_t begin(std::uint32_t path) const { return begins[path]; }
  [[nodiscard]] std::size_t end(std::uint32_t path) const { return begins[path + std::size_t{1}]; }
};

StepTable step_table(const FlowProblem& problem, std::span<const FlowTree> trees,
                     const ChunkPaths& assigned, PathTable& paths, const WorkLimit& limit) {
  std::vector<bool> used(assigned.paths.size());
  for (const ChunkTurn& turn : assigned.turns) used[turn.path] = true;
  PathSteps path_steps(problem, trees, paths);
  StepTable table;
  LimitWatch watch(limit);
  for (std::size_t w = 0; w < assigned.paths.size(); ++w) {
    watch.require();
    table.begins.push_back(table.steps.size());
    if (!used[w]) continue;
    const std::vector<Step> steps = path_steps.of(assigned.paths[w]);
    table.steps.insert(table.steps.end(), steps.begin(), steps.end());
  }
  table.begins.push_back(table.steps.size());
  return table;
}

/// When steps are taken: from 0 to the most turns of all demands the first ones of all chunks, for
/// each chunk one after another. A demand of few, large chunks takes longer for each step.
class Timeline {
public:
  Timeline(const ChunkPaths& assigned, const StepTable& table) {
    std::uint32_t deepest = 0;
    for (const ChunkTurn& turn : assigned.turns)
      turns_ = std::max(turns_, static_cast<double>(turn.turns));
    for (const Step& step : table.steps) deepest = std::max(deepest, step.depth);
    unit_ = std::min(256.0, 4294967295.0 / (turns_ * (deepest + 2.0)));
  }

  [[nodiscard]] std::uint32_t time(const ChunkTurn& turn, const Step& step) const {
    const double start = turns_ * turn.turn / turn.turns, stride = turns_ / turn.most_turns;
    return static_cast<std::uint32_t>(std::llround((start + step.depth * stride) * unit_));
  }

private:
  double turns_ = 1, unit_ = 1;
};

std::vector<Entry> entries_of(const ChunkPaths& assigned, const StepTable& table) {
  std::size_t count = 0;
  for (const ChunkTurn& turn : assigned.turns)
    count += table.end(turn.path) - table.begin(turn.path);
  std::vector<Entry> entries;
  entries.reserve(count);
  const Timeline timeline(assigned, table);
  for (const ChunkTurn& turn : assigned.turns)
    for (std::size_t i = table.begin(turn.path); i < table.end(turn.path); ++i) {
      const std::uint64_t time = timeline.time(turn, table.steps[i]);
      entries.push_back(
          {time << 32 | table.steps[i].rank, turn.chunk.value, static_cast<std::uint32_t>(i)});
    }
  return entries;
}

bool only_combines(const FlowProblem& problem) {
  return std::ranges::all_of(
      problem.demands, [](const FlowDemand& demand) { return demand.kind == FlowKind::combine; });
}

bool all_stored(const Topology& topology, const Schedule& schedule) {
  const PathTable& paths = schedule.paths();
  for (std::size_t i = 0; i < schedule.size(); ++i)
    if (!topology.node(topology.link(paths.last(schedule.path_of(i))).to).can.store) return false;
  return true;
}

/// Whether the symmetry makes of one member's chunks those of all others, and these are so many
/// that few are left over when loads are to be even.
bool is_mirrored(const Collective& collective, const FlowProblem& problem,
                 std::span<const FlowAutomorphism> symmetry) {
  constexpr std::size_t least_members = 64;
  if (symmetry.size() < least_members || collective.parts.size() != 1) return false;
  const CollectivePart& part = collective.parts.front();
  const std::size_t members = part.group.size();
  return part.kind == CollectiveKind::all_to_all && symmetry.size() == members &&
         problem.demands.size() == members &&
         collective.chunks.size() == members * members * part.chunks_per_shard;
}

/// What the first demand of each orbit moves, over resources that are orbits: what crosses one is
/// all that its images put on each of them.
FlowProblem of_first_demands(const FlowProblem& problem,
                             std::span<const FlowAutomorphism> symmetry) {
  const FlowOrbits orbits = flow_orbits(problem, symmetry);
  FlowProblem first = problem;
  first.network.resources.clear();
  for (std::size_t o = 0; o < orbits.size.size(); ++o)
    first.network.resources.push_back(
        {std::max<std::int64_t>(1, std::llround(orbits.bandwidth[o] * orbits.size[o] /
                                                static_cast<double>(symmetry.size()))),
         {}});
  for (std::vector<std::uint32_t>& resources : first.network.resources_of)
    for (std::uint32_t& resource : resources) resource = orbits.of_resource[resource];
  std::vector<bool> is_first(problem.demands.size());
  for (const Representative& one : orbits.representatives) is_first[one.demand] = true;
  for (std::uint32_t& demand : first.demand_of)
    if (demand != FlowProblem::none && !is_first[demand]) demand = FlowProblem::none;
  return first;
}

/// Chunks whose paths load the same resources follow each other at an even pace, so that all
/// resources are loaded evenly. `first`: as of of_first_demands().
ChunkPaths paths_of_first(const Collective& collective, const FlowProblem& first,
                          std::span<const FlowTree> trees, const WorkLimit& limit) {
  ChunkPaths assigned = chunk_paths(collective, first, trees, limit);
  std::map<std::vector<std::uint32_t>, std::vector<std::size_t>> alike; // by resources: turns
  for (std::size_t t = 0; t < assigned.turns.size(); ++t) {
    std::vector<std::uint32_t> loaded;
    for (const std::uint32_t link : assigned.paths[assigned.turns[t].path].links(trees))
      std::ranges::copy(first.network.resources_of[link], std::back_inserter(loaded));
    std::ranges::sort(loaded);
    alike[std::move(loaded)].push_back(t);
  }
  for (const auto& [loaded, turns] : alike)
    for (std::uint32_t k = 0; k < turns.size(); ++k) {
      assigned.turns[turns[k]].turn = 2 * k + 1; // amid its share of the time
      assigned.turns[turns[k]].turns = 2 * static_cast<std::uint32_t>(turns.size());
    }
  return assigned;
}

/// Images of chunks and paths. Pre: is_mirrored().
class Images {
public:
  Images(const Collective& collective, PathTable& paths)
      : collective_(collective), paths_(paths), part_(collective.parts.front()) {
    for (std::uint32_t r = 0; r < part_.group.size(); ++r) rank_[part_.group[r].value] = r;
  }

  [[nodiscard]] Transfer of(const Transfer& transfer, const FlowAutomorphism& one) {
    links_.clear();
    for (const LinkId link : paths_.links(transfer.path))
      links_.emplace_back(one.links[link.value]);
    const ChunkId chunk = transfer.chunk;
    const std::size_t from = rank(one, collective_.sources(chunk)),
                      to = rank(one, collective_.destinations(chunk)),
                      pair = from * part_.group.size() + to;
    const std::uint32_t each = part_.chunks_per_shard;
    return {ChunkId{static_cast<std::uint32_t>(pair * each + chunk.value % each)},
            paths_.intern(links_), transfer.op, false};
  }

private:
  [[nodiscard]] std::size_t rank(const FlowAutomorphism& one, std::span<const NodeId> only) const {
    return rank_.at(one.nodes[only.front().value]);
  }

  const Collective& collective_;
  PathTable& paths_;
  const CollectivePart& part_;
  std::unordered_map<std::uint32_t, std::uint32_t> rank_; // by node
  std::vector<LinkId> links_;
};

} // namespace

Schedule stepped(const Topology& topology, const Collective& collective, const FlowProblem& problem,
                 std::span<const FlowTree> trees, const WorkLimit& limit,
                 std::span<const FlowAutomorphism> symmetry) {
  if (!is_mirrored(collective, problem, symmetry)) symmetry = {};
  Schedule schedule(topology.link_count());
  const ChunkPaths assigned =
      symmetry.empty()
          ? chunk_paths(collective, problem, trees, limit)
          : paths_of_first(collective, of_first_demands(problem, symmetry), trees, limit);
  const StepTable table = step_table(problem, trees, assigned, schedule.paths(), limit);
  std::vector<Entry> entries = entries_of(assigned, table);
  sort_by_key(entries);
  limit.require();
  schedule.reserve(entries.size() * std::max<std::size_t>(1, symmetry.size()));
  std::optional<Images> images;
  if (!symmetry.empty()) images.emplace(collective, schedule.paths());
  LimitWatch watch(limit);
  for (const Entry& entry : entries) {
    const Step& step = table.steps[entry.step];
    const Transfer transfer{ChunkId{entry.chunk}, step.path, step.op, false};
    if (!images) schedule.push(transfer);
    watch.require();
    for (const FlowAutomorphism& one : symmetry) schedule.push(images->of(transfer, one));
  }
  return schedule;
}

PlannedSteps planned_steps(const Topology& topology, const Collective& collective,
                           const FlowProblem& problem, std::span<const FlowTree> trees,
                           const TimeModel& model, const WorkLimit& limit,
                           std::span<const FlowAutomorphism> symmetry) {
  constexpr std::size_t most_unequal = 50'000; // beyond, an even pace is good enough
  PlannedSteps best{stepped(topology, collective, problem, trees, limit, symmetry), std::nullopt};
  const Schedule by_step = best.schedule;
  if (model.discipline != Discipline::fifo || !all_stored(topology, by_step)) return best;
  const bool is_all_even =
      by_step.size() > most_unequal && is_mirrored(collective, problem, symmetry);
  const unsigned effort = is_all_even                  ? 0
                          : by_step.size() > 1'000'000 ? 1
                                                       : 3; // the given order is looked at, too
  const ListSchedulingOptions options{.effort = effort, .is_even = true};
  try {
    Timed forwards = list_scheduled(topology, collective, by_step, model, options, limit);
    best = {std::move(forwards.schedule), forwards.planned, forwards.is_queued};
    if (!only_combines(problem)) return best;
    const Timed spreading =
        list_scheduled(reversed(topology), inverted(collective),
                       inverted(topology, by_step, Op::copy), model, options, limit);
    KeptOrder reduction =
        with_kept_plan(topology, collective, inverted(topology, spreading.schedule, Op::reduce),
                       model, nullptr, {}, limit);
    if (reduction.completion >= forwards.makespan) return best;
    const bool is_queued = spreading.is_queued || !reduction.is_kept;
    best = {std::move(reduction.schedule), is_queued ? reduction.completion : spreading.planned,
            is_queued};
  } catch (const LimitReached&) { // the best so far
  }
  return best;
}

} // namespace tutti
