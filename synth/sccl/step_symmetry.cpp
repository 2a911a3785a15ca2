#include "synth/sccl/step_symmetry.hpp"

#include "synth/solvers/semiregular.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace tutti {

namespace {

/// Nodes, lanes, limits and chunks as vertices of one graph, in this order.
struct Blocks {
  std::uint32_t lanes, limits, chunks, end;
  explicit Blocks(const StepProblem& problem)
      : lanes(problem.network.node_count()),
        limits(lanes + static_cast<std::uint32_t>(problem.network.lanes.size())),
        chunks(limits + static_cast<std::uint32_t>(problem.network.limits.size())),
        end(chunks + static_cast<std::uint32_t>(problem.chunks.size())) {}
};

ColouredGraph graph_of(const StepProblem& problem) {
  const StepNetwork& network = problem.network;
  const Blocks at(problem);
  enum Colour : std::uint32_t { node, lane, chunk, limit }; // limits by their width, from there on
  ColouredGraph graph;
  graph.colours.resize(at.end, node);
  for (std::uint32_t l = 0; l < network.lanes.size(); ++l) {
    graph.colours[at.lanes + l] = lane;
    graph.arcs.emplace_back(network.lanes[l].from, at.lanes + l);
    graph.arcs.emplace_back(at.lanes + l, network.lanes[l].to);
  }
  std::map<Ratio, std::uint32_t> widths;
  for (const LaneLimit& each : network.limits) widths.emplace(each.per_round, 0);
  std::uint32_t next = limit;
  for (auto& [width, colour] : widths) colour = next++;
  for (std::uint32_t i = 0; i < network.limits.size(); ++i) {
    graph.colours[at.limits + i] = widths.at(network.limits[i].per_round);
    for (const std::uint32_t l : network.limits[i].lanes)
      graph.arcs.emplace_back(at.lanes + l, at.limits + i);
  }
  for (std::uint32_t c = 0; c < problem.chunks.size(); ++c) {
    graph.colours[at.chunks + c] = chunk;
    for (const std::uint32_t n : problem.chunks[c].holders)
      graph.arcs.emplace_back(n, at.chunks + c);
    for (const std::uint32_t n : problem.chunks[c].wanters)
      graph.arcs.emplace_back(at.chunks + c, n);
  }
  return graph;
}

Permutation block(const Permutation& whole, std::uint32_t begin, std::uint32_t end) {
  Permutation part(whole.begin() + begin, whole.begin() + end);
  for (std::uint32_t& image : part) image -= begin;
  return part;
}

StepAutomorphism split(const Permutation& whole, const Blocks& at) {
  return {block(whole, 0, at.lanes), block(whole, at.lanes, at.limits),
          block(whole, at.limits, at.chunks), block(whole, at.chunks, at.end)};
}

/// The graph knows a lane that stands in a limit twice only once.
bool keeps_limits(const StepNetwork& network, const StepAutomorphism& automorphism) {
  std::vector<std::uint32_t> image;
  for (std::uint32_t i = 0; i < network.limits.size(); ++i) {
    image.clear();
    for (const std::uint32_t l : network.limits[i].lanes) image.push_back(automorphism.lanes[l]);
    std::ranges::sort(image);
    if (image != network.limits[automorphism.limits[i]].lanes) return false;
  }
  return true;
}

/// Translations do, which leave links most evenly used; other groups of their order may not.
bool commutes(const std::vector<Permutation>& group) {
  return std::ranges::all_of(group, [&](const Permutation& a) {
    return std::ranges::all_of(group,
                               [&](const Permutation& b) { return a[b.front()] == b[a.front()]; });
  });
}

std::vector<std::uint32_t> wanted_chunks(const StepProblem& problem) {
  std::vector<std::uint32_t> wanted;
  for (std::uint32_t c = 0; c < problem.chunks.size(); ++c)
    if (!problem.chunks[c].wanters.empty()) wanted.push_back(c);
  return wanted;
}

/// Automorphisms as permutations of what must move: lanes, then the chunks that are wanted; of a
/// unicast problem, where there can be as many as pairs of nodes, the nodes, with which they move.
class Movements {
public:
  explicit Movements(const StepProblem& problem)
      : problem_(problem), lanes_(static_cast<std::uint32_t>(problem.network.lanes.size())),
        by_nodes_(problem.is_unicast()), wanted_(wanted_chunks(problem)),
        place_(problem.chunks.size()) {
    for (std::uint32_t i = 0; i < wanted_.size(); ++i) {
      place_[wanted_[i]] = lanes_ + i;
      if (by_nodes_) chunks_between_[problem.chunks[wanted_[i]]].push_back(wanted_[i]);
    }
    for (std::uint32_t i = 0; i < problem.network.limits.size(); ++i)
      limit_of_[{problem.network.limits[i].per_round, problem.network.limits[i].lanes}] = i;
  }

  [[nodiscard]] std::size_t points() const {
    return lanes_ + (by_nodes_ ? problem_.network.node_count() : wanted_.size());
  }

  [[nodiscard]] Permutation of(const StepAutomorphism& automorphism) const {
    Permutation move = automorphism.lanes;
    if (by_nodes_)
      for (const std::uint32_t image : automorphism.nodes) move.push_back(lanes_ + image);
    else
      for (const std::uint32_t c : wanted_) move.push_back(place_[automorphism.chunks[c]]);
    return move;
  }

  /// All that follows from a movement; what nobody wants is never sent and stays.
  [[nodiscard]] StepAutomorphism whole(const Permutation& move) const {
    const StepNetwork& network = problem_.network;
    StepAutomorphism all;
    all.lanes.assign(move.begin(), move.begin() + lanes_);
    all.nodes.resize(network.node_count());
    std::iota(all.nodes.begin(), all.nodes.end(), 0U); // those without lanes
    for (std::uint32_t l = 0; l < lanes_; ++l) {
      all.nodes[network.lanes[l].from] = network.lanes[move[l]].from;
      all.nodes[network.lanes[l].to] = network.lanes[move[l]].to;
    }
    for (const LaneLimit& limit : network.limits)
      all.limits.push_back(limit_of_.at({limit.per_round, images(limit.lanes, move)}));
    all.chunks.resize(problem_.chunks.size());
    std::iota(all.chunks.begin(), all.chunks.end(), 0U);
    if (by_nodes_)
      move_chunks(all);
    else
      for (std::uint32_t i = 0; i < wanted_.size(); ++i)
        all.chunks[wanted_[i]] = wanted_[move[lanes_ + i] - lanes_];
    return all;
  }

  /// Whether no element but the first, the identity, leaves a wanted chunk where it is.
  [[nodiscard]] bool free_on_chunks(const StepSymmetry& symmetry) const {
    return std::all_of(symmetry.begin() + 1, symmetry.end(), [&](const StepAutomorphism& one) {
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

  /// Of several chunks with the same ends, the first goes to the first, and so on.
  void move_chunks(StepAutomorphism& all) const {
    for (const auto& [ends, chunks] : chunks_between_) {
      const std::vector<std::uint32_t>& to =
          chunks_between_.at({images(ends.holders, all.nodes), images(ends.wanters, all.nodes)});
      for (std::size_t i = 0; i < chunks.size(); ++i) all.chunks[chunks[i]] = to[i];
    }
  }

  const StepProblem& problem_;
  std::uint32_t lanes_;
  bool by_nodes_;
  std::vector<std::uint32_t> wanted_, place_; // place_[chunk]: its point
  std::map<StepChunk, std::vector<std::uint32_t>> chunks_between_;
  std::map<std::pair<Ratio, std::vector<std::uint32_t>>, std::uint32_t> limit_of_;
};

} // namespace

std::vector<StepAutomorphism> automorphisms(const StepProblem& problem) {
  const Blocks at(problem);
  std::vector<StepAutomorphism> generators;
  for (const Permutation& whole : automorphism_generators(graph_of(problem))) {
    StepAutomorphism one = split(whole, at);
    if (keeps_limits(problem.network, one)) generators.push_back(std::move(one));
  }
  return generators;
}

std::vector<StepSymmetry> free_symmetries(const StepProblem& problem,
                                          std::span<const StepAutomorphism> generators,
                                          std::size_t most) {
  constexpr std::size_t most_elements = 4096, choice = 4;
  const Movements movements(problem);
  std::vector<Permutation> moves;
  for (const StepAutomorphism& generator : generators) moves.push_back(movements.of(generator));
  std::vector<std::vector<Permutation>> groups =
      semiregular_subgroups(moves, movements.points(), most_elements, choice * most);
  std::ranges::stable_sort(groups, {}, [](const auto& group) {
    return std::pair(std::numeric_limits<std::size_t>::max() - group.size(), !commutes(group));
  });
  std::vector<StepSymmetry> symmetries;
  for (std::size_t g = 0; g < groups.size() && symmetries.size() < most; ++g) {
    StepSymmetry symmetry;
    for (const Permutation& element : groups[g]) symmetry.push_back(movements.whole(element));
    if (movements.free_on_chunks(symmetry)) symmetries.push_back(std::move(symmetry));
  }
  return symmetries;
}

std::vector<std::uint32_t> representatives(const StepProblem& problem,
                                           const StepSymmetry& symmetry) {
  std::vector<std::uint32_t> found;
  for (const std::uint32_t c : wanted_chunks(problem))
    if (std::ranges::all_of(symmetry, [&](const auto& one) { return one.chunks[c] >= c; }))
      found.push_back(c);
  return found;
}

} // namespace tutti
