// A problem becomes a coloured graph whose vertices are nodes, lanes, limits, chunks and uses of
// limits; bliss finds generators of its automorphisms. Groups that act freely are subgroups of the
// group that these generate, found as semiregular permutation groups on the points that must move.
#include "synth/timed/symmetry.hpp"

#include "synth/symmetry/semiregular.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace tutti {

namespace {

std::uint32_t count_of(const auto& values) { return static_cast<std::uint32_t>(values.size()); }

/// Nodes, lanes, limits, chunks and the uses of a kind above 0 as vertices of one graph, in this
/// order.
struct TrafficBlocks {
  std::uint32_t lanes, limits, chunks, uses;
  explicit TrafficBlocks(const ChunkTraffic& traffic)
      : lanes(count_of(traffic.node_kinds)), limits(lanes + count_of(traffic.lanes)),
        chunks(limits + count_of(traffic.limits)), uses(chunks + count_of(traffic.chunks)) {}
};

/// A colour for each kind of node, lane, chunk, limit and use, in this order.
struct TrafficColours {
  std::uint32_t lanes = 1, chunk = 0, limits = 0, uses = 0;
  explicit TrafficColours(const ChunkTraffic& traffic) {
    for (const std::uint32_t kind : traffic.node_kinds) lanes = std::max(lanes, kind + 1);
    chunk = lanes + 1;
    for (const ChunkTraffic::Lane& lane : traffic.lanes)
      chunk = std::max(chunk, lanes + lane.kind + 1);
    limits = uses = chunk + 1;
    for (const ChunkTraffic::Limit& limit : traffic.limits)
      uses = std::max(uses, limits + limit.kind + 1);
  }
};

void add_uses(ColouredGraph& graph, const ChunkTraffic& traffic, const TrafficBlocks& at,
              const TrafficColours& colours) {
  for (std::uint32_t i = 0; i < traffic.limits.size(); ++i)
    for (const ChunkTraffic::Use& use : traffic.limits[i].uses) {
      std::uint32_t from = at.lanes + use.lane;
      if (use.kind > 0) {
        graph.arcs.emplace_back(from, count_of(graph.colours));
        from = count_of(graph.colours);
        graph.colours.push_back(colours.uses + use.kind - 1);
      }
      graph.arcs.emplace_back(from, at.limits + i);
    }
}

ColouredGraph graph_of(const ChunkTraffic& traffic) {
  const TrafficBlocks at(traffic);
  const TrafficColours colours(traffic);
  ColouredGraph graph;
  graph.colours = traffic.node_kinds;
  graph.colours.resize(at.uses);
  for (std::uint32_t l = 0; l < traffic.lanes.size(); ++l) {
    graph.colours[at.lanes + l] = colours.lanes + traffic.lanes[l].kind;
    graph.arcs.emplace_back(traffic.lanes[l].from, at.lanes + l);
    graph.arcs.emplace_back(at.lanes + l, traffic.lanes[l].to);
  }
  for (std::uint32_t i = 0; i < traffic.limits.size(); ++i)
    graph.colours[at.limits + i] = colours.limits + traffic.limits[i].kind;
  add_uses(graph, traffic, at, colours);
  for (std::uint32_t c = 0; c < traffic.chunks.size(); ++c) {
    graph.colours[at.chunks + c] = colours.chunk;
    for (const std::uint32_t n : traffic.chunks[c].sources)
      graph.arcs.emplace_back(n, at.chunks + c);
    for (const std::uint32_t n : traffic.chunks[c].destinations)
      graph.arcs.emplace_back(at.chunks + c, n);
  }
  return graph;
}

Permutation taken_from(const Permutation& whole, std::uint32_t begin, std::uint32_t end) {
  Permutation part(whole.begin() + begin, whole.begin() + end);
  for (std::uint32_t& image : part) image -= begin;
  return part;
}

ChunkAutomorphism split(const Permutation& whole, const TrafficBlocks& at) {
  return {taken_from(whole, 0, at.lanes), taken_from(whole, at.lanes, at.limits),
          taken_from(whole, at.limits, at.chunks), taken_from(whole, at.chunks, at.uses)};
}

ChunkTraffic::Limit image_of(const ChunkTraffic::Limit& limit, const Permutation& lanes) {
  ChunkTraffic::Limit moved = limit;
  for (ChunkTraffic::Use& use : moved.uses) use.lane = lanes[use.lane];
  std::ranges::sort(moved.uses);
  return moved;
}

/// The graph knows a lane that stands in a limit twice only once.
bool keeps_limits(const ChunkTraffic& traffic, const ChunkAutomorphism& automorphism) {
  for (std::uint32_t i = 0; i < traffic.limits.size(); ++i)
    if (image_of(traffic.limits[i], automorphism.lanes) != traffic.limits[automorphism.limits[i]])
      return false;
  return true;
}

/// Translations are abelian, which use links most evenly; other groups of their order may not be.
bool is_abelian(const std::vector<Permutation>& group) {
  return std::ranges::all_of(group, [&](const Permutation& a) {
    return std::ranges::all_of(group,
                               [&](const Permutation& b) { return a[b.front()] == b[a.front()]; });
  });
}

/// Automorphisms as permutations of what must move: lanes, then the demanded chunks; of a
/// unicast problem, where there can be as many as pairs of nodes, the nodes, with which they move.
class ChunkMovements {
public:
  explicit ChunkMovements(const ChunkTraffic& traffic)
      : traffic_(traffic), lanes_(count_of(traffic.lanes)), by_nodes_(is_unicast(traffic.chunks)),
        place_(by_nodes_ ? traffic.node_kinds.size() : traffic.chunks.size()) {
    for (std::uint32_t c = 0; c < traffic.chunks.size(); ++c) {
      if (traffic.chunks[c].destinations.empty()) continue;
      wanted_.push_back(c);
      if (by_nodes_) chunks_between_[traffic.chunks[c]].push_back(c);
    }
    const std::vector<std::uint32_t>& moving = by_nodes_ ? traffic.moving_nodes : wanted_;
    for (std::uint32_t i = 0; i < moving.size(); ++i) place_[moving[i]] = lanes_ + i;
    for (std::uint32_t i = 0; i < traffic.limits.size(); ++i) limit_of_[traffic.limits[i]] = i;
  }

  [[nodiscard]] std::size_t points() const {
    return lanes_ + (by_nodes_ ? traffic_.moving_nodes.size() : wanted_.size());
  }

  [[nodiscard]] Permutation of(const ChunkAutomorphism& automorphism) const {
    Permutation move = automorphism.lanes;
    if (by_nodes_)
      for (const std::uint32_t n : traffic_.moving_nodes)
        move.push_back(place_[automorphism.nodes[n]]);
    else
      for (const std::uint32_t c : wanted_) move.push_back(place_[automorphism.chunks[c]]);
    return move;
  }

  /// All that follows from a movement; a chunk without destinations is never sent and stays fixed.
  [[nodiscard]] ChunkAutomorphism whole(const Permutation& move) const {
    ChunkAutomorphism all;
    all.lanes.assign(move.begin(), move.begin() + lanes_);
    all.nodes.resize(traffic_.node_kinds.size());
    std::iota(all.nodes.begin(), all.nodes.end(), 0U); // those without lanes
    for (std::uint32_t l = 0; l < lanes_; ++l) {
      all.nodes[traffic_.lanes[l].from] = traffic_.lanes[move[l]].from;
      all.nodes[traffic_.lanes[l].to] = traffic_.lanes[move[l]].to;
    }
    for (const ChunkTraffic::Limit& limit : traffic_.limits)
      all.limits.push_back(limit_of_.at(image_of(limit, all.lanes)));
    all.chunks.resize(traffic_.chunks.size());
    std::iota(all.chunks.begin(), all.chunks.end(), 0U);
    if (by_nodes_)
      move_chunks(all);
    else
      for (std::uint32_t i = 0; i < wanted_.size(); ++i)
        all.chunks[wanted_[i]] = wanted_[move[lanes_ + i] - lanes_];
    return all;
  }

  /// Whether no element but the first, the identity, fixes a demanded chunk.
  [[nodiscard]] bool free_on_chunks(const ChunkSymmetry& symmetry) const {
    return std::all_of(symmetry.begin() + 1, symmetry.end(), [&](const ChunkAutomorphism& one) {
      return std::ranges::all_of(wanted_, [&](std::uint32_t c) { return one.chunks[c] != c; });
    });
  }

private:
  [[nodiscard]] static std::vector<std::uint32_t> images(const std::vector<std::uint32_t>& points,
                                                         const Permutation& move) {
    std::vector<std::uint32_t> moved;
    for (const std::uint32_t point : points) moved.push_back(move[point]);
    std::ranges::sort(moved);
    return moved;
  }

  /// Moves chunks as their ends move: of several with the same ends the first goes to the first,
  /// and so on.
  void move_chunks(ChunkAutomorphism& all) const {
    for (const auto& [ends, chunks] : chunks_between_) {
      const std::vector<std::uint32_t>& to = chunks_between_.at(
          {images(ends.sources, all.nodes), images(ends.destinations, all.nodes)});
      for (std::size_t i = 0; i < chunks.size(); ++i) all.chunks[chunks[i]] = to[i];
    }
  }

  const ChunkTraffic& traffic_;
  std::uint32_t lanes_;
  bool by_nodes_;
  std::vector<std::uint32_t> wanted_, place_; // place_[chunk, or node]: its point
  std::map<TimedChunk, std::vector<std::uint32_t>> chunks_between_;
  std::map<ChunkTraffic::Limit, std::uint32_t> limit_of_;
};

Permutation identity_on(std::size_t points) {
  Permutation all(points);
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

} // namespace

ChunkTraffic traffic_of(const LaneNetwork& network, std::span<const TimedChunk> chunks) {
  ChunkTraffic traffic;
  for (const Lane& lane : network.lanes) traffic.lanes.push_back({lane.from, lane.to, lane.delay});
  traffic.chunks.assign(chunks.begin(), chunks.end());
  return traffic;
}

std::vector<ChunkAutomorphism> automorphisms(const ChunkTraffic& traffic) {
  const TrafficBlocks at(traffic);
  std::vector<ChunkAutomorphism> generators;
  for (const Permutation& whole : automorphism_generators(graph_of(traffic))) {
    ChunkAutomorphism one = split(whole, at);
    if (keeps_limits(traffic, one)) generators.push_back(std::move(one));
  }
  return generators;
}

std::vector<ChunkSymmetry> free_symmetries(const ChunkTraffic& traffic,
                                           std::span<const ChunkAutomorphism> generators,
                                           std::size_t most, const WorkLimit& limit) {
  constexpr std::size_t most_elements = 4096, choice = 4;
  const ChunkMovements movements(traffic);
  std::vector<Permutation> moves;
  for (const ChunkAutomorphism& generator : generators) moves.push_back(movements.of(generator));
  std::vector<std::vector<Permutation>> groups =
      semiregular_subgroups(moves, movements.points(), most_elements, choice * most, limit);
  std::ranges::stable_sort(groups, {}, [](const auto& group) {
    return std::pair(std::numeric_limits<std::size_t>::max() - group.size(), !is_abelian(group));
  });
  std::vector<ChunkSymmetry> symmetries;
  for (std::size_t g = 0; g < groups.size() && symmetries.size() < most; ++g) {
    ChunkSymmetry symmetry;
    for (const Permutation& element : groups[g]) symmetry.push_back(movements.whole(element));
    if (movements.free_on_chunks(symmetry)) symmetries.push_back(std::move(symmetry));
  }
  return symmetries;
}

ChunkSymmetry no_symmetry(std::size_t nodes, std::size_t lanes, std::size_t limits,
                          std::size_t chunks) {
  return {{identity_on(nodes), identity_on(lanes), identity_on(limits), identity_on(chunks)}};
}

ChunkOrbits::ChunkOrbits(const ChunkSymmetry& symmetry, const std::vector<bool>& wanted)
    : roles_(wanted.size()) {
  for (std::uint32_t c = 0; c < wanted.size(); ++c)
    if (wanted[c] &&
        std::ranges::all_of(symmetry, [&](const auto& one) { return one.chunks[c] >= c; }))
      chosen_.push_back(c);
  for (std::uint32_t c = 0; c < wanted.size(); ++c) {
    if (!wanted[c]) continue;
    for (const ChunkAutomorphism& one : symmetry) {
      const auto found = std::ranges::lower_bound(chosen_, one.chunks[c]);
      if (found == chosen_.end() || *found != one.chunks[c]) continue;
      roles_[c] = {static_cast<std::uint32_t>(found - chosen_.begin()), &one};
      break;
    }
  }
}

} // namespace tutti
