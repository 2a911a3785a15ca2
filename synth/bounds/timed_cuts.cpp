// Why: a plain cut lets all its links carry from the first moment to the last, which is far from
// true where latency counts. Idea: two searches tell how far each set of sources is from the cut,
// and each set of destinations behind it; every pair of thresholds leaves some data with later and
// earlier margins. Theorem, proof and source: timed_cuts.hpp.

#include "synth/bounds/timed_cuts.hpp"

#include "synth/bounds/least_times.hpp"
#include "synth/bounds/link_capacity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>

namespace tutti::bounds {

namespace {

constexpr std::size_t most_values = 8; ///< of `from` and of `until`
constexpr std::size_t most_visits = 4'000'000;

/// How far away a source and a destination are, in ps.
using Distances = std::pair<std::int64_t, std::int64_t>;
/// What must cross.
using DemandByDistance = std::map<Distances, Demand>;

class TimedCut {
public:
  TimedCut(const Problem& problem, const NodeSet& inside)
      : problem_(problem), inside_(inside), to_tails_(distances(Direction::to_sources)),
        from_heads_(distances(Direction::from_sources)) {
    const Topology& topology = problem.topology;
    std::vector<NodeId> tails, heads;
    for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
      const Link& link = topology.link(LinkId{l});
      if (inside[link.from.value] || !inside[link.to.value]) continue;
      across_.emplace_back(l);
      tails.push_back(link.from);
      heads.push_back(link.to);
    }
    if (across_.empty()) return;
    to_tails_.search(tails);
    from_heads_.search(heads);
    classify();
  }

  struct Best {
    Time time;
    std::int64_t from = 0, until = 0;
    Demand demand;
  };
  [[nodiscard]] Best best() const {
    Best best;
    const std::vector<std::int64_t> froms = values(&Distances::first),
                                    untils = values(&Distances::second);
    for (const std::int64_t from : froms)
      for (const std::int64_t until : untils) {
        Demand demand;
        for (const auto& [key, some] : demands_)
          if (key.first >= from && key.second >= until) demand.add(some);
        if (demand.chunks == 0) continue;
        const Time time = time_of(from, until, demand);
        if (time > best.time) best = {time, from, until, demand};
      }
    return best;
  }
  [[nodiscard]] std::span<const LinkId> across() const { return across_; }

private:
  /// By latencies alone.
  [[nodiscard]] LeastTimes distances(Direction direction) const {
    LeastTimes times(problem_.topology, problem_.model, direction);
    times.set_size(Bytes{0});
    return times;
  }

  void classify() {
    const std::vector<std::vector<NodeId>>& sets = problem_.collective.sets;
    struct Ends { // of a set, in ps
      bool some_inside = false, some_outside = false;
      std::int64_t nearest = never, farthest = 0; // outside: to U
      std::int64_t deepest = 0;                   // inside: from H
    };
    std::vector<Ends> ends(sets.size());
    std::vector<bool> used(sets.size());
    for (const ChunkClass& c : problem_.classes) used[c.sources] = used[c.destinations] = true;
    for (std::size_t s = 0; s < sets.size(); ++s) {
      if (!used[s]) continue;
      Ends& e = ends[s];
      for (const NodeId node : sets[s]) {
        if (inside_[node.value]) {
          e.some_inside = true;
          e.deepest = std::max(e.deepest, from_heads_.pass(node));
        } else {
          e.some_outside = true;
          e.nearest = std::min(e.nearest, to_tails_.pass(node));
          e.farthest = std::max(e.farthest, to_tails_.pass(node));
        }
      }
    }
    const auto counts = [&](SetId set, bool inside, const LeastTimes& from) {
      std::map<std::int64_t, std::int64_t> nodes; // at each distance
      for (const NodeId node : sets[set])
        if (inside_[node.value] == inside) ++nodes[from.pass(node)];
      return nodes;
    };
    for (const ChunkClass& c : problem_.classes) {
      if (c.by_pairs) {
        for (const auto& [from, sources] : counts(c.sources, false, to_tails_))
          for (const auto& [to, sinks] : counts(c.destinations, true, from_heads_))
            demands_[{from, to}].add(c, sources * sinks);
        continue;
      }
      const Ends &held = ends[c.sources], &wanted = ends[c.destinations];
      if (!wanted.some_inside || !held.some_outside || (!c.reduces && held.some_inside)) continue;
      demands_[{c.reduces ? held.farthest : held.nearest, wanted.deepest}].add(c);
    }
  }

  [[nodiscard]] std::vector<std::int64_t> values(std::int64_t Distances::*which) const {
    std::vector<std::int64_t> all;
    for (const auto& [at, demand] : demands_) all.push_back(at.*which);
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    if (all.size() <= most_values) return all;
    std::vector<std::int64_t> some;
    for (std::size_t i = 0; i < most_values; ++i)
      some.push_back(all[i * (all.size() - 1) / (most_values - 1)]);
    return some;
  }

  [[nodiscard]] Time time_of(std::int64_t from, std::int64_t until, const Demand& demand) const {
    Margins margins = problem_.margins;
    for (const LinkId id : across_) {
      const Link& link = problem_.topology.link(id);
      std::int64_t &entry = margins.entry[link.from.value], &exit = margins.exit[link.to.value];
      entry = std::max(entry, from);
      exit = std::max(exit, until);
    }
    return least_time(problem_.topology, problem_.model, margins, across_, demand);
  }

  const Problem& problem_;
  const NodeSet& inside_;
  LeastTimes to_tails_, from_heads_;
  std::vector<LinkId> across_;
  DemandByDistance demands_;
};

std::string over_time(const TimedCut::Best& best) {
  std::string text;
  if (best.from > 0) text += fmt::format(" from {} on", short_text(Time{best.from}));
  if (best.until > 0)
    text += fmt::format("{} until {} before the end", text.empty() ? "" : ",",
                        short_text(Time{best.until}));
  return text;
}

} // namespace

std::optional<Bound> timed_cut(const Problem& problem, const std::vector<WorstCuts>& worst) {
  std::optional<Bound> best;
  if (problem.model.discipline == Discipline::fluid) return best;
  std::size_t members = problem.classes.size();
  for (const std::vector<NodeId>& set : problem.collective.sets) members += set.size();
  const std::size_t each = problem.topology.node_count() + problem.topology.link_count() + members;
  std::size_t visits = 0;
  for (const NodeSet& inside : distinct_sets(worst)) {
    if (visits > problem.within(most_visits)) break;
    const TimedCut cut(problem, inside);
    const TimedCut::Best found = cut.best();
    visits += each + cut.across().size() * most_values * most_values;
    if (found.time.ps == 0 || (best && found.time <= best->time)) continue;
    NamedCut name = named(problem, inside, false);
    best = Bound{found.time,
                 BoundKind::timed_cut,
                 fmt::format("{}{}: {}", name.text, over_time(found),
                             describe(problem.topology, cut.across(), found.demand)),
                 std::move(name.nodes),
                 {.inside = inside, .from = Time{found.from}, .until = Time{found.until}}};
  }
  return best;
}

} // namespace tutti::bounds
