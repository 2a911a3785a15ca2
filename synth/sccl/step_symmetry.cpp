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
  // What must move stands first: lanes, then wanted chunks, or nodes where flows stand for chunks.
  // The rest follows from these: limits and nodes from the lanes, what nobody wants is never sent.
  std::vector<std::uint32_t> wanted;
  if (!problem.is_unicast()) wanted = wanted_chunks(problem);
  std::vector<std::uint32_t> place(problem.chunks.size());
  const auto lanes = static_cast<std::uint32_t>(problem.network.lanes.size());
  for (std::uint32_t i = 0; i < wanted.size(); ++i) place[wanted[i]] = lanes + i;
  std::vector<Permutation> moves;
  for (const StepAutomorphism& generator : generators) {
    Permutation move = generator.lanes;
    for (const std::uint32_t c : wanted) move.push_back(place[generator.chunks[c]]);
    if (wanted.empty())
      for (const std::uint32_t image : generator.nodes) move.push_back(lanes + image);
    moves.push_back(std::move(move));
  }
  std::map<std::pair<Ratio, std::vector<std::uint32_t>>, std::uint32_t> limit_of;
  for (std::uint32_t i = 0; i < problem.network.limits.size(); ++i)
    limit_of[{problem.network.limits[i].per_round, problem.network.limits[i].lanes}] = i;
  const auto expand = [&](const Permutation& move) {
    StepAutomorphism whole;
    whole.lanes.assign(move.begin(), move.begin() + lanes);
    whole.nodes.resize(problem.network.node_count());
    std::iota(whole.nodes.begin(), whole.nodes.end(), 0U); // those without lanes
    for (std::uint32_t l = 0; l < lanes; ++l) {
      whole.nodes[problem.network.lanes[l].from] = problem.network.lanes[move[l]].from;
      whole.nodes[problem.network.lanes[l].to] = problem.network.lanes[move[l]].to;
    }
    for (const LaneLimit& limit : problem.network.limits) {
      std::vector<std::uint32_t> image;
      for (const std::uint32_t l : limit.lanes) image.push_back(move[l]);
      std::ranges::sort(image);
      whole.limits.push_back(limit_of.at({limit.per_round, std::move(image)}));
    }
    whole.chunks.resize(problem.chunks.size());
    std::iota(whole.chunks.begin(), whole.chunks.end(), 0U);
    for (std::uint32_t i = 0; i < wanted.size(); ++i)
      whole.chunks[wanted[i]] = wanted[move[lanes + i] - lanes];
    return whole;
  };
  std::vector<StepSymmetry> symmetries;
  std::vector<std::vector<Permutation>> groups = semiregular_subgroups(
      moves, moves.empty() ? 0 : moves.front().size(), most_elements, choice * most);
  std::ranges::stable_sort(groups, {}, [](const auto& group) {
    return std::pair(std::numeric_limits<std::size_t>::max() - group.size(), !commutes(group));
  });
  if (groups.size() > most) groups.resize(most);
  for (const auto& group : groups) {
    StepSymmetry symmetry;
    for (const Permutation& element : group) symmetry.push_back(expand(element));
    symmetries.push_back(std::move(symmetry));
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
