// Small problems in epochs, made by hand or at random.
#pragma once

#include "sim/random.hpp"
#include "synth/teccl/problem.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace tutti::testing {

/// Sends {epoch, lane, chunk}.
inline EpochPlan epoch_plan(const std::vector<std::array<std::uint32_t, 3>>& sends) {
  EpochPlan plan;
  for (const auto& [epoch, lane, chunk] : sends)
    plan.push_back({Epoch{epoch}, LaneId{lane}, ChunkId{chunk}});
  return plan;
}

/// Nodes that store and copy.
inline EpochProblem epoch_nodes(std::uint32_t count) {
  EpochProblem problem;
  EpochNetwork& network = problem.network;
  network.epoch = Time{1};
  network.stores.assign(count, true);
  network.copies.assign(count, true);
  network.out_lanes.resize(count);
  network.in_lanes.resize(count);
  return problem;
}

inline void add_epoch_limit(EpochNetwork& network, EpochLimit limit) {
  for (const LaneUse& use : limit.uses) {
    std::vector<LimitId>& of = network.limits_of[use.lane.value];
    const LimitId which{static_cast<std::uint32_t>(network.limits.size())};
    if (of.empty() || of.back() != which) of.push_back(which);
  }
  network.limits.push_back(std::move(limit));
}

/// With a limit of its own: `most` in any `window` epochs.
inline std::uint32_t add_epoch_lane(EpochNetwork& network, std::uint32_t from, std::uint32_t to,
                                    std::uint32_t delay, std::uint32_t window,
                                    std::uint32_t most = 1) {
  const auto lane = static_cast<std::uint32_t>(network.lanes.size());
  network.lanes.push_back({from, to, {LinkId{lane}}, delay});
  network.out_lanes[from].emplace_back(lane);
  network.in_lanes[to].emplace_back(lane);
  network.limits_of.emplace_back();
  add_epoch_limit(network, {"lane", {{LaneId{lane}, 0}}, window, most});
  return lane;
}

/// A lane each way.
inline void add_both(EpochNetwork& network, std::uint32_t a, std::uint32_t b, std::uint32_t delay,
                     std::uint32_t window, std::uint32_t most = 1) {
  add_epoch_lane(network, a, b, delay, window, most);
  add_epoch_lane(network, b, a, delay, window, most);
}

/// Each of the first `members` nodes has `chunks` that all others of them want.
inline void add_gathered_chunks(EpochProblem& problem, std::uint32_t members,
                                std::uint32_t chunks) {
  for (std::uint32_t n = 0; n < members; ++n)
    for (std::uint32_t i = 0; i < chunks; ++i) {
      TimedChunk& chunk = problem.chunks.emplace_back();
      chunk.sources = {n};
      for (std::uint32_t m = 0; m < members; ++m)
        if (m != n) chunk.destinations.push_back(m);
    }
}

/// A DGX-1's pairs of GPUs with two NVLinks, and with one.
using EpochPairs = std::array<std::array<std::uint32_t, 2>, 8>;
inline constexpr EpochPairs two_links{
    {{0, 1}, {0, 4}, {1, 3}, {2, 3}, {2, 6}, {4, 5}, {5, 7}, {6, 7}}};
inline constexpr EpochPairs one_link{
    {{0, 2}, {0, 3}, {1, 2}, {1, 5}, {3, 7}, {4, 6}, {4, 7}, {5, 6}}};

/// All-Gather there, 25 kB a chunk, epochs of 0.5 us: 0.7 us of latency are two epochs, a
/// transmission one or two.
inline EpochProblem dgx1_problem(std::uint32_t chunks) {
  EpochProblem problem = epoch_nodes(8);
  for (const auto& [a, b] : two_links) add_both(problem.network, a, b, 3, 1);
  for (const auto& [a, b] : one_link) add_both(problem.network, a, b, 4, 2);
  add_gathered_chunks(problem, 8, chunks);
  return problem;
}

/// A few nodes on a circle, with switches of either kind, slow and late lanes, limits that lanes
/// share at different times, and limited buffers. Switches are of one kind.
inline EpochProblem random_epochs(Random& random) {
  const auto below = [&](std::uint64_t bound) {
    return static_cast<std::uint32_t>(random.below(bound));
  };
  const std::uint32_t members = 2 + below(3), switches = below(4);
  EpochProblem problem = epoch_nodes(members + switches);
  EpochNetwork& network = problem.network;
  const bool copies = below(2) == 0;
  std::vector<std::uint32_t> circle;
  for (std::uint32_t n = 0; n < network.node_count(); ++n) {
    circle.push_back(n);
    if (n < members) continue;
    network.stores[n] = false;
    network.copies[n] = copies;
  }
  random.shuffle(circle);
  const auto add = [&](std::uint32_t from, std::uint32_t to) {
    const std::uint32_t delay = from < members ? 1 + below(2) : below(2);
    const std::uint32_t window = 1 + below(3);
    add_epoch_lane(network, from, to, delay, window, 1 + below(4) / 3);
  };
  for (std::uint32_t i = 0; i < circle.size(); ++i) add(circle[i], circle[(i + 1) % circle.size()]);
  for (std::uint32_t extra = below(4) + 2 * switches; extra > 0; --extra) {
    const std::uint32_t from = below(network.node_count()), to = below(network.node_count());
    if (from != to) add(from, to);
  }
  if (below(2) == 0) {
    EpochLimit shared{"shared", {}, 1 + below(2), 1 + below(2)};
    for (std::uint32_t l = 0; l < network.lanes.size(); ++l)
      for (std::uint32_t times = below(3); times > 0; --times)
        if (below(2) == 0) shared.uses.push_back({LaneId{l}, below(3) / 2});
    if (!shared.uses.empty()) add_epoch_limit(network, std::move(shared));
  }
  for (std::uint32_t chunks = 1 + below(3); chunks > 0; --chunks) {
    TimedChunk chunk;
    const std::uint32_t source = below(members);
    for (std::uint32_t n = 0; n < members; ++n)
      if (n == source || below(6) == 0)
        chunk.sources.push_back(n);
      else if (below(3) > 0)
        chunk.destinations.push_back(n);
    for (std::uint32_t alike = 1 + below(4) / 3; alike > 0; --alike)
      problem.chunks.push_back(chunk);
  }
  if (below(3) == 0) problem.buffer_limit = below(3);
  return problem;
}

/// Members on a circle, all alike: lanes to those so many places on, or through a switch, and what
/// shares a limit, turn with them. All-Gather.
inline EpochProblem random_circle(Random& random) {
  const auto below = [&](std::uint64_t bound) {
    return static_cast<std::uint32_t>(random.below(bound));
  };
  const std::uint32_t members = 3 + below(2), star = below(2);
  EpochProblem problem = epoch_nodes(members + star);
  EpochNetwork& network = problem.network;
  for (std::uint32_t kinds = 1 + below(2); kinds > 0; --kinds) {
    const std::uint32_t on = 1 + below(members - 1), delay = 1 + below(2), window = 1 + below(3);
    for (std::uint32_t n = 0; n < members; ++n)
      add_epoch_lane(network, n, (n + on) % members, delay, window);
  }
  if (star > 0) {
    network.stores[members] = false;
    network.copies[members] = below(2) == 0;
    const std::uint32_t out = below(2), window = 1 + below(2);
    for (std::uint32_t n = 0; n < members; ++n) add_epoch_lane(network, n, members, 1, 1);
    for (std::uint32_t n = 0; n < members; ++n) add_epoch_lane(network, members, n, out, window);
  }
  if (below(2) == 0) {
    const std::uint32_t next = 1 + below(members - 1), offset = below(2), window = 1 + below(2);
    for (std::uint32_t n = 0; n < members; ++n) {
      EpochLimit shared{
          "shared", {{LaneId{n}, 0}, {LaneId{(n + next) % members}, offset}}, window, 1};
      std::ranges::sort(shared.uses, {}, &LaneUse::lane);
      add_epoch_limit(network, std::move(shared));
    }
  }
  add_gathered_chunks(problem, members, 1);
  if (below(2) == 0) problem.buffer_limit = below(3);
  return problem;
}

} // namespace tutti::testing
