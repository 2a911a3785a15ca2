#include "synth/teccl/epoch_flow_orbits.hpp"

#include "synth/solvers/automorphisms.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace tutti {

namespace {

/// Colours of what is a vertex of the graph; those that carry a number take `first_free` and more.
enum MoveColour : std::uint32_t { move_demand, move_relay_node, move_store_node, first_free };

/// Numbers colours by what they stand for.
template <typename Key> class MoveColours {
public:
  MoveColours(const std::set<Key>& keys, std::uint32_t& next) {
    for (const Key& key : keys) colour_.emplace(key, next++);
  }
  [[nodiscard]] std::uint32_t of(const Key& key) const { return colour_.at(key); }

private:
  std::map<Key, std::uint32_t> colour_;
};

/// Chunks for each pair, where every source sends the same to every other source and nothing else:
/// then nothing of the demands needs to stand in the graph but who takes part.
std::optional<std::size_t> among_all(std::span<const EpochSource> sources) {
  std::optional<std::size_t> each;
  for (const EpochSource& source : sources) {
    if (source.demands.size() + 1 != sources.size()) return std::nullopt;
    auto other = sources.begin();
    for (const EpochDemand& demand : source.demands) {
      if (other->node == source.node) ++other;
      if (other->node != demand.wanter) return std::nullopt;
      if (each.value_or(demand.chunks.size()) != demand.chunks.size()) return std::nullopt;
      each = demand.chunks.size();
      ++other;
    }
  }
  return each;
}

class MoveGraph {
public:
  MoveGraph(const EpochNetwork& network, std::span<const EpochSource> sources) {
    for (std::uint32_t n = 0; n < network.node_count; ++n)
      add_vertex(network.stores[n] ? move_store_node : move_relay_node);
    std::uint32_t next = first_free;
    add_lanes(network, next);
    add_limits(network, next);
    add_demands(sources, next);
  }

  [[nodiscard]] const ColouredGraph& graph() const { return graph_; }

private:
  std::uint32_t add_vertex(std::uint32_t colour) {
    graph_.colours.push_back(colour);
    return static_cast<std::uint32_t>(graph_.colours.size() - 1);
  }

  void add_lanes(const EpochNetwork& network, std::uint32_t& next) {
    std::set<std::uint32_t> delays;
    for (const EpochLane& lane : network.lanes) delays.insert(lane.delay);
    const MoveColours<std::uint32_t> colours(delays, next);
    first_lane_ = static_cast<std::uint32_t>(graph_.colours.size());
    for (const EpochLane& lane : network.lanes) {
      const std::uint32_t vertex = add_vertex(colours.of(lane.delay));
      graph_.arcs.emplace_back(lane.from, vertex);
      graph_.arcs.emplace_back(vertex, lane.to);
    }
  }

  void add_limits(const EpochNetwork& network, std::uint32_t& next) {
    std::set<std::pair<std::uint32_t, std::uint32_t>> widths;
    std::set<std::uint32_t> offsets;
    for (const EpochLimit& limit : network.limits) {
      widths.emplace(limit.window, limit.most);
      for (const LaneUse& use : limit.uses) offsets.insert(use.offset);
    }
    const MoveColours<std::pair<std::uint32_t, std::uint32_t>> colours(widths, next);
    const MoveColours<std::uint32_t> offset_colours(offsets, next);
    const auto first = static_cast<std::uint32_t>(graph_.colours.size());
    for (const EpochLimit& limit : network.limits)
      add_vertex(colours.of({limit.window, limit.most}));
    for (std::uint32_t i = 0; i < network.limits.size(); ++i) {
      std::optional<LaneUse> before;
      for (const LaneUse& use : network.limits[i].uses) {
        const bool is_plain = use.offset == 0 && (!before || before->lane != use.lane);
        before = use;
        std::uint32_t from = first_lane_ + use.lane;
        if (!is_plain) { // arcs have neither weights nor parallels
          const std::uint32_t between = add_vertex(offset_colours.of(use.offset));
          graph_.arcs.emplace_back(from, between);
          from = between;
        }
        graph_.arcs.emplace_back(from, first + i);
      }
    }
  }

  void add_demands(std::span<const EpochSource> sources, std::uint32_t& next) {
    if (among_all(sources)) {
      const std::uint32_t everyone = add_vertex(move_demand);
      for (const EpochSource& source : sources) graph_.arcs.emplace_back(source.node, everyone);
      return;
    }
    std::set<std::size_t> sizes;
    for (const EpochSource& source : sources)
      for (const EpochDemand& demand : source.demands) sizes.insert(demand.chunks.size());
    const MoveColours<std::size_t> colours(sizes, next);
    for (const EpochSource& source : sources)
      for (const EpochDemand& demand : source.demands) {
        const std::uint32_t vertex = add_vertex(colours.of(demand.chunks.size()));
        graph_.arcs.emplace_back(source.node, vertex);
        graph_.arcs.emplace_back(vertex, demand.wanter);
      }
  }

  ColouredGraph graph_;
  std::uint32_t first_lane_ = 0;
};

Permutation section(const Permutation& whole, std::size_t begin, std::size_t count) {
  Permutation part(whole.begin() + static_cast<std::ptrdiff_t>(begin),
                   whole.begin() + static_cast<std::ptrdiff_t>(begin + count));
  for (std::uint32_t& image : part) image -= static_cast<std::uint32_t>(begin);
  return part;
}

/// Orbits of pairs of a source and another point, `points` for each source.
std::vector<std::uint32_t> pair_orbits(std::span<const EpochSource> sources,
                                       std::span<const EpochMove> moves,
                                       Permutation EpochMove::*other, std::size_t points,
                                       std::size_t node_count) {
  const auto not_one = static_cast<std::uint32_t>(sources.size());
  std::vector<std::uint32_t> index(node_count, not_one);
  for (std::uint32_t s = 0; s < sources.size(); ++s) index[sources[s].node] = s;
  std::vector<Permutation> of_pairs;
  for (const EpochMove& move : moves) {
    Permutation& pairs = of_pairs.emplace_back();
    pairs.reserve(sources.size() * points);
    for (const EpochSource& source : sources) {
      const std::size_t image = index[move.nodes[source.node]];
      assert(image != not_one);
      for (const std::uint32_t to : move.*other)
        pairs.push_back(static_cast<std::uint32_t>(image * points + to));
    }
  }
  return orbits(of_pairs, sources.size() * points);
}

std::vector<std::uint32_t> single_orbits(std::span<const EpochMove> moves,
                                         Permutation EpochMove::*which, std::size_t points) {
  std::vector<Permutation> permutations;
  for (const EpochMove& move : moves) permutations.push_back(move.*which);
  return orbits(permutations, points);
}

} // namespace

std::vector<EpochSource> epoch_sources(const EpochProblem& problem) {
  std::map<std::uint32_t, std::map<std::uint32_t, std::vector<std::uint32_t>>> chunks_between;
  for (std::uint32_t c = 0; c < problem.chunks.size(); ++c) {
    const EpochChunk& chunk = problem.chunks[c];
    if (chunk.wanters.empty()) continue;
    assert(chunk.holders.size() == 1 && chunk.wanters.size() == 1);
    chunks_between[chunk.holders.front()][chunk.wanters.front()].push_back(c);
  }
  std::vector<EpochSource> sources;
  for (auto& [node, by_wanter] : chunks_between) {
    EpochSource& source = sources.emplace_back();
    source.node = node;
    for (auto& [wanter, chunks] : by_wanter) source.demands.push_back({wanter, std::move(chunks)});
  }
  return sources;
}

std::vector<EpochMove> epoch_moves(const EpochNetwork& network,
                                   std::span<const EpochSource> sources) {
  const MoveGraph graph(network, sources);
  std::vector<EpochMove> moves;
  const std::size_t lanes = network.node_count, limits = lanes + network.lanes.size();
  for (const Permutation& whole :
       automorphism_generators(graph.graph(), AutomorphismSearch::by_parts))
    moves.push_back({section(whole, 0, lanes), section(whole, lanes, network.lanes.size()),
                     section(whole, limits, network.limits.size())});
  return moves;
}

EpochFlowOrbits epoch_flow_orbits(const EpochNetwork& network, std::span<const EpochSource> sources,
                                  std::span<const EpochMove> moves) {
  return {pair_orbits(sources, moves, &EpochMove::lanes, network.lanes.size(), network.node_count),
          pair_orbits(sources, moves, &EpochMove::nodes, network.node_count, network.node_count),
          single_orbits(moves, &EpochMove::nodes, network.node_count),
          single_orbits(moves, &EpochMove::limits, network.limits.size())};
}

} // namespace tutti
