// A search per source (or per destination, for contributions) gives exact times, but dense networks
// make them dear. Any subset of searches is still a bound, so they stop at a number of links; a
// last search, against the links from the worst destination, looks at the sources that were left
// out.

#include "synth/bounds/latency_path.hpp"

#include "sim/error.hpp"
#include "synth/bounds/least_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>

namespace tutti::bounds {

namespace {

void consider(SlowestPath& worst, std::int64_t time, const ChunkClass& c, NodeId from, NodeId to) {
  if (time > worst.time) worst = {time, &c, from, to};
}

/// The largest chunks first. Dense networks have short paths and dear searches: stop after this
/// many links were looked at, since fewer searches are still a bound.
constexpr std::uint64_t search_limit = 10'000'000;

std::uint64_t affordable_searches(const Problem& problem) {
  return 1 + problem.within(search_limit) / (1 + problem.topology.link_count());
}

/// Where not every source's search can be afforded: from any only source to the node that was found
/// to be farthest, in one search for each of the largest sizes.
void consider_other_sources(const Problem& problem, SlowestPath& worst) {
  LeastTimes times(problem.topology, problem.model, Direction::to_sources);
  const NodeId to = worst.to;
  Bytes size{-1}; // of the last search
  int sizes = 4;
  for (const ChunkClass& c : problem.classes) {
    const auto& held = problem.collective.sets[c.sources];
    const auto& wanted = problem.collective.sets[c.destinations];
    if (c.reduces || (held.size() != 1 && !c.by_pairs) ||
        !std::binary_search(wanted.begin(), wanted.end(), to))
      continue;
    if (c.smallest != size) {
      if (sizes-- == 0) return;
      times.set_size(size = c.smallest);
      times.search(std::span(&to, 1));
    }
    for (const NodeId from : held) consider(worst, times.complete(from), c, from, to);
  }
}

/// A chunk that doesn't reduce: from the nearest source to the farthest of those who want it.
SlowestPath slowest_copy(const Problem& problem, std::uint64_t searches) {
  SlowestPath worst;
  LeastTimes times(problem.topology, problem.model, Direction::from_sources);
  const ChunkClass* searched = nullptr;
  Bytes size{-1}; // of the last search
  for (const ChunkClass& c : problem.classes) {
    const auto& held = problem.collective.sets[c.sources];
    const auto& wanted = problem.collective.sets[c.destinations];
    if (c.reduces || wanted.empty()) continue;
    if (c.smallest != size) times.set_size(size = c.smallest);
    const std::size_t each = c.by_pairs ? 1 : held.size(); // sources that hold it together
    for (std::size_t i = 0; i < held.size(); i += each) {
      const std::span<const NodeId> from(&held[i], each);
      if (c.by_pairs || searched == nullptr || searched->smallest != c.smallest ||
          searched->sources != c.sources) {
        if (searches-- == 0) {
          consider_other_sources(problem, worst);
          return worst;
        }
        times.search(from);
        searched = &c;
      }
      for (const NodeId node : wanted)
        consider(worst, times.complete(node), c, each == 1 ? from[0] : NodeId{}, node);
    }
  }
  return worst;
}

/// A chunk that reduces: from the farthest contributor to each of those who want it.
SlowestPath slowest_contribution(const Problem& problem, std::uint64_t searches) {
  SlowestPath worst;
  LeastTimes times(problem.topology, problem.model, Direction::to_sources);
  Bytes size{-1}; // of the last search
  for (const ChunkClass& c : problem.classes) {
    if (!c.reduces) continue;
    if (c.smallest != size) times.set_size(size = c.smallest);
    for (const NodeId destination : problem.collective.sets[c.destinations]) {
      if (searches-- == 0) return worst;
      times.search(std::span(&destination, 1));
      for (const NodeId node : problem.collective.sets[c.sources])
        consider(worst, times.complete(node), c, node, destination);
    }
  }
  return worst;
}

/// Whether some chunk is wanted where it isn't.
bool has_to_move(const Problem& problem) {
  return std::ranges::any_of(problem.classes, [&](const ChunkClass& c) {
    const auto& held = problem.collective.sets[c.sources];
    const auto& wanted = problem.collective.sets[c.destinations];
    if (c.by_pairs) return held.size() > 1 || held != wanted;
    if (c.reduces) return !wanted.empty() && held != wanted;
    return !std::ranges::includes(held, wanted);
  });
}

} // namespace

Bound path_bound(const Problem& problem, const SlowestPath& path) {
  if (path.time >= never) throw InputError(too_long);
  const ChunkClass& c = *path.chunk_class;
  const std::string what = c.smallest == Bytes{0} ? "the first byte"
                           : c.by_pairs
                               ? fmt::format("a chunk ({})", to_text(c.size))
                               : fmt::format("chunk {} ({})", c.first.value, to_text(c.size));
  return {Time{path.time},
          BoundKind::latency_path,
          fmt::format("latency path of {} from {} to {}: at least {}", what,
                      path.from.valid() ? problem.name(path.from) : "its nearest holder",
                      problem.name(path.to), short_text(Time{path.time})),
          {},
          {.source = path.from, .destination = path.to}};
}

PathsFrom::PathsFrom(const Problem& problem)
    : problem_(problem), times_(problem.topology, problem.model, Direction::from_sources),
      searches_(affordable_searches(problem)), classes_of_(problem.collective.sets.size()),
      sets_of_(problem.topology.node_count()) {
  for (const ChunkClass& c : problem.classes)
    if (c.reduces || c.by_pairs || problem.collective.sets[c.sources].size() == 1)
      classes_of_[c.sources].push_back(&c);
  for (SetId set = 0; set < classes_of_.size(); ++set)
    if (!classes_of_[set].empty())
      for (const NodeId node : problem.collective.sets[set]) sets_of_[node.value].push_back(set);
}

SlowestPath PathsFrom::slowest(NodeId from) {
  SlowestPath worst;
  Bytes searched{-1};
  for (const SetId set : sets_of_[from.value])
    for (const ChunkClass* c : classes_of_[set]) {
      if (c->smallest != searched) {
        if (searches_ == 0) return worst;
        --searches_;
        if (c->smallest != size_) times_.set_size(size_ = c->smallest);
        times_.search(std::span(&from, 1));
        searched = c->smallest;
      }
      for (const NodeId node : problem_.collective.sets[c->destinations])
        consider(worst, times_.complete(node), *c, from, node);
    }
  return worst;
}

Bound latency_path(const Problem& problem, WorstCuts& ends) {
  const std::uint64_t searches = affordable_searches(problem);
  const SlowestPath copy = slowest_copy(problem, searches);
  const SlowestPath contribution = slowest_contribution(problem, searches);
  const SlowestPath& path = contribution.time > copy.time ? contribution : copy;
  if (path.chunk_class == nullptr)
    return {Time{0},
            BoundKind::latency_path,
            has_to_move(problem) ? "what has to move crosses links without latency"
                                 : "nothing has to move",
            {}};
  Bound bound = path_bound(problem, path);
  const auto cut_off = [&](NodeId node, bool inside) {
    if (!node.valid()) return;
    ends.offer(Time{path.time}, [&] {
      NodeSet set(problem.topology.node_count(), !inside);
      set[node.value] = inside;
      return set;
    });
  };
  cut_off(path.to, true);
  cut_off(path.from, false);
  return bound;
}

} // namespace tutti::bounds
