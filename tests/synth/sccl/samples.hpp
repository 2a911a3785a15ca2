// Small step problems built by hand, for tests that must not depend on what reads topologies.
#pragma once

#include "synth/sccl/problem.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tutti::samples {

/// Sends {chunk, lane, step}.
inline std::vector<StepSend> step_sends(const std::vector<std::array<std::uint32_t, 3>>& sends) {
  std::vector<StepSend> all;
  for (const auto& [chunk, lane, step] : sends)
    all.push_back({ChunkId{chunk}, LaneId{lane}, Step{step}});
  return all;
}

/// Lanes `from > to`, each of one link, ascending; a limit of its own for each, one chunk a round.
inline StepNetwork lanes(std::uint32_t nodes,
                         const std::vector<std::pair<std::uint32_t, std::uint32_t>>& ends) {
  StepNetwork network;
  for (std::uint32_t n = 0; n < nodes; ++n) network.nodes.emplace_back(n);
  for (const auto& [from, to] : ends) {
    const auto lane = static_cast<std::uint32_t>(network.lanes.size());
    network.lanes.push_back({from, to, {LinkId{lane}}});
    network.limits.push_back(
        {"npu" + std::to_string(from) + ">npu" + std::to_string(to), {LaneId{lane}}, 1});
  }
  network.index_lanes(nodes);
  return network;
}

/// Lanes 0 > 1, 1 > 0, 1 > 2, 2 > 1, ...
inline StepNetwork line_lanes(std::uint32_t nodes) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ends;
  for (std::uint32_t n = 0; n < nodes; ++n) {
    if (n > 0) ends.emplace_back(n, n - 1);
    if (n + 1 < nodes) ends.emplace_back(n, n + 1);
  }
  return lanes(nodes, ends);
}

/// Both ways round; of two nodes, one lane each way.
inline StepNetwork ring_lanes(std::uint32_t nodes) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ends;
  for (std::uint32_t n = 0; n < nodes; ++n) {
    const std::uint32_t before = (n + nodes - 1) % nodes, after = (n + 1) % nodes;
    ends.emplace_back(n, std::min(before, after));
    if (before != after) ends.emplace_back(n, std::max(before, after));
  }
  return lanes(nodes, ends);
}

inline StepNetwork full_lanes(std::uint32_t nodes) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ends;
  for (std::uint32_t from = 0; from < nodes; ++from)
    for (std::uint32_t to = 0; to < nodes; ++to)
      if (from != to) ends.emplace_back(from, to);
  return lanes(nodes, ends);
}

inline std::vector<std::uint32_t> all_nodes_but(std::uint32_t nodes, std::uint32_t without) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t n = 0; n < nodes; ++n)
    if (n != without) found.push_back(n);
  return found;
}

/// Chunk i is node i's, for everyone.
inline StepProblem all_gather(StepNetwork network) {
  const std::uint32_t nodes = network.node_count();
  StepProblem problem{std::move(network), {}};
  for (std::uint32_t n = 0; n < nodes; ++n)
    problem.chunks.push_back({{n}, all_nodes_but(nodes, n)});
  return problem;
}

/// One chunk, of node 0, for everyone.
inline StepProblem broadcast(StepNetwork network) {
  const std::uint32_t nodes = network.node_count();
  return {std::move(network), {{{0}, all_nodes_but(nodes, 0)}}};
}

/// One chunk of each other node, for node 0.
inline StepProblem gather(StepNetwork network) {
  const std::uint32_t nodes = network.node_count();
  StepProblem problem{std::move(network), {}};
  for (std::uint32_t n = 1; n < nodes; ++n) problem.chunks.push_back({{n}, {0}});
  return problem;
}

/// One chunk of node 0 for each other.
inline StepProblem scatter(StepNetwork network) {
  const std::uint32_t nodes = network.node_count();
  StepProblem problem{std::move(network), {}};
  for (std::uint32_t n = 1; n < nodes; ++n) problem.chunks.push_back({{0}, {n}});
  return problem;
}

/// One chunk of each node for each other.
inline StepProblem all_to_all(StepNetwork network) {
  const std::uint32_t nodes = network.node_count();
  StepProblem problem{std::move(network), {}};
  for (std::uint32_t from = 0; from < nodes; ++from)
    for (const std::uint32_t to : all_nodes_but(nodes, from))
      problem.chunks.push_back({{from}, {to}});
  return problem;
}

} // namespace tutti::samples
