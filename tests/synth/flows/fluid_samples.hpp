// Fluid schedules made by hand, each known to be optimal, for tests that must not depend on what
// makes them.
#pragma once

#include "sim/collective_builder.hpp"
#include "sim/random.hpp"
#include "sim/topology.hpp"
#include "synth/flows/fluid/fluid.hpp"
#include "tests/samples.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tutti::samples {

/// Nodes that data passes on one hop, the first and last included.
using Walk = std::vector<std::uint32_t>;

inline FlowTree tree_of_walks(const Topology& topology, const std::vector<Walk>& walks,
                              std::uint32_t root, std::size_t combining = 0) {
  FlowTree tree;
  tree.root = root;
  tree.combining = static_cast<std::uint32_t>(combining);
  for (const Walk& walk : walks) {
    std::vector<std::uint32_t> links;
    for (std::size_t i = 1; i < walk.size(); ++i)
      links.push_back(link_between(topology, walk[i - 1], walk[i]).value);
    tree.add_hop(links);
  }
  return tree;
}

struct FluidSample {
  Topology topology;
  Collective collective;
  FlowProblem problem;
  std::vector<FlowTree> trees;

  FluidSample(Topology network, Collective what)
      : topology(std::move(network)), collective(std::move(what)),
        problem(flow_problem(topology, collective)) {}

  /// To the demand of this kind whose first source or, to combine, first sink is `node`.
  void add(FlowKind kind, std::uint32_t node, double share, const std::vector<Walk>& walks,
           std::size_t combining = 0) {
    FlowTree tree = tree_of_walks(topology, walks, node, combining);
    tree.share = share;
    for (tree.demand = 0; tree.demand < problem.demands.size(); ++tree.demand) {
      const FlowDemand& demand = problem.demands[tree.demand];
      if (demand.kind != kind) continue;
      if (kind == FlowKind::both) break;
      if ((kind == FlowKind::combine ? problem.sinks(demand) : problem.sources(demand)).front() ==
          node)
        break;
    }
    if (tree.demand == problem.demands.size()) throw std::logic_error("no such demand");
    trees.push_back(std::move(tree));
  }
  void sort() { std::ranges::stable_sort(trees, {}, &FlowTree::demand); }
};

inline Collective collective_on(const Topology& topology, CollectiveKind kind, std::int64_t bytes,
                                std::uint32_t chunks_per_shard, std::vector<NodeId> group = {}) {
  CollectiveSpec spec;
  spec.kind = kind;
  spec.size = Bytes{bytes};
  spec.chunks_per_shard = chunks_per_shard;
  spec.group = std::move(group);
  return make_collective(topology, spec);
}

/// Hops out of `from` all around a ring of n, `step` (1 or n - 1) at a time.
inline std::vector<Walk> around(std::uint32_t n, std::uint32_t from, std::uint32_t step) {
  std::vector<Walk> walks;
  for (std::uint32_t i = 0, at = from; i + 1 < n; ++i, at = (at + step) % n)
    walks.push_back({at, (at + step) % n});
  return walks;
}

/// The same walks inverted, in an order in which data can come together.
inline std::vector<Walk> inverted_walks(std::vector<Walk> walks) {
  std::ranges::reverse(walks);
  for (Walk& walk : walks) std::ranges::reverse(walk);
  return walks;
}

inline std::vector<Walk> joined(std::vector<Walk> first, const std::vector<Walk>& then) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

/// One tree for every kind of collective but those with a root and All-to-All.
inline void add_trees(FluidSample& sample, CollectiveKind kind, std::uint32_t root, double share,
                      std::size_t members, const std::vector<Walk>& out) {
  if (kind == CollectiveKind::all_gather)
    sample.add(FlowKind::spread, root, share, out);
  else if (kind == CollectiveKind::reduce_scatter)
    sample.add(FlowKind::combine, root, share, inverted_walks(out), out.size());
  else
    sample.add(FlowKind::both, root, share / static_cast<double>(members),
               joined(inverted_walks(out), out), out.size());
}

/// Half of everything goes around each way.
inline FluidSample on_ring(std::uint32_t n, CollectiveKind kind, std::int64_t bytes,
                           std::uint32_t chunks_per_shard) {
  FluidSample sample(ring(n), collective_on(ring(n), kind, bytes, chunks_per_shard));
  for (std::uint32_t i = 0; i < n; ++i)
    for (const std::uint32_t step : {1U, n - 1})
      add_trees(sample, kind, i, 0.5, n, around(n, i, step));
  sample.sort();
  return sample;
}

/// side x side; links to the right, left, below, above of each node, in this order.
inline Topology torus(std::uint32_t side) {
  TopologyParts parts = npus("torus", side * side);
  for (std::uint32_t r = 0; r < side; ++r)
    for (std::uint32_t c = 0; c < side; ++c)
      for (const auto& [dr, dc] : {std::pair{0U, 1U}, {0U, side - 1}, {1U, 0U}, {side - 1, 0U}})
        parts.add_link(link(r * side + c, (r + dr) % side * side + (c + dc) % side));
  return Topology(std::move(parts));
}

/// Four trees for each node: along one dimension, then from everywhere there along the other, in
/// each of the four directions turned by a quarter.
inline FluidSample on_torus(std::uint32_t side, CollectiveKind kind, std::int64_t bytes,
                            std::uint32_t chunks_per_shard) {
  FluidSample sample(torus(side), collective_on(torus(side), kind, bytes, chunks_per_shard));
  const std::uint32_t back = side - 1;
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> right_angle{
      {0, 1}, {1, 0}, {0, back}, {back, 0}};
  for (std::uint32_t node = 0; node < side * side; ++node)
    for (std::size_t turn = 0; turn < 4; ++turn) {
      const auto moved = [&](std::uint32_t at, std::size_t direction) {
        const auto& [dr, dc] = right_angle[direction % 4];
        return (at / side + dr) % side * side + (at % side + dc) % side;
      };
      const auto chain = [&](std::uint32_t from, std::size_t direction) {
        std::vector<Walk> walks;
        for (std::uint32_t i = 1, at = from; i < side; ++i, at = moved(at, direction))
          walks.push_back({at, moved(at, direction)});
        return walks;
      };
      std::vector<Walk> out = chain(node, turn);
      std::vector<Walk> columns = chain(node, turn + 1);
      for (std::uint32_t i = 1, at = moved(node, turn); i < side; ++i, at = moved(at, turn))
        columns = joined(columns, chain(at, turn + 1));
      add_trees(sample, kind, node, 0.25, std::size_t{side} * side, joined(out, columns));
    }
  sample.sort();
  return sample;
}

/// Everyone sends directly to everyone else, through the hub.
inline FluidSample on_star(std::uint32_t n, CollectiveKind kind, std::int64_t bytes,
                           std::uint32_t chunks_per_shard) {
  FluidSample sample(star(n), collective_on(star(n), kind, bytes, chunks_per_shard));
  for (std::uint32_t i = 0; i < n; ++i) {
    std::vector<Walk> out;
    for (std::uint32_t to = 0; to < n; ++to)
      if (to != i) out.push_back({i, n, to});
    if (kind == CollectiveKind::all_to_all)
      sample.add(FlowKind::paths, i, 1, out);
    else
      add_trees(sample, kind, i, 1, n, out);
  }
  sample.sort();
  return sample;
}

/// All-to-All around a ring by shortest paths; to the opposite node half each way.
inline FluidSample exchange_on_ring(std::uint32_t n, std::int64_t bytes,
                                    std::uint32_t chunks_per_shard) {
  FluidSample sample(ring(n),
                     collective_on(ring(n), CollectiveKind::all_to_all, bytes, chunks_per_shard));
  for (std::uint32_t i = 0; i < n; ++i)
    for (const bool opposite_by_right : {true, false}) {
      std::vector<Walk> walks;
      for (std::uint32_t distance = 1; distance < n; ++distance) {
        const bool right = 2 * distance == n ? opposite_by_right : 2 * distance < n;
        Walk walk{i};
        for (std::uint32_t at = i; at != (i + distance) % n;)
          walk.push_back(at = (at + (right ? 1 : n - 1)) % n);
        walks.push_back(walk);
      }
      sample.add(FlowKind::paths, i, 0.5, walks);
    }
  sample.sort();
  return sample;
}

/// npu0 broadcasts along a line.
inline FluidSample on_line(std::uint32_t n, std::int64_t bytes, std::uint32_t chunks_per_shard) {
  FluidSample sample(mesh(1, static_cast<int>(n)),
                     collective_on(mesh(1, static_cast<int>(n)), CollectiveKind::broadcast, bytes,
                                   chunks_per_shard));
  std::vector<Walk> walks;
  for (std::uint32_t i = 0; i + 1 < n; ++i) walks.push_back({i, i + 1});
  sample.add(FlowKind::spread, 0, 1, walks);
  return sample;
}

/// n NPUs and a memory that copies, all on one switch. Each NPU's shard crosses its link to the
/// memory once and is copied there, instead of crossing it for every other NPU: half of a shard to
/// others directly in turn would be no faster, since what limits is what each NPU receives.
inline FluidSample through_memory(std::uint32_t n, std::int64_t bytes,
                                  std::uint32_t chunks_per_shard) {
  TopologyParts parts = npus("memory", n);
  const NodeId hub = parts.add_node({"hub", NodeKind::switching, {false, false, false}, {}});
  const NodeId memory = parts.add_node({"memory", NodeKind::memory, {true, true, false}, {}});
  for (std::uint32_t i = 0; i < n; ++i) parts.add_duplex(link(i, hub.value));
  Link wide = link(hub.value, memory.value);
  wide.bandwidth.bytes_per_second *= n;
  parts.add_duplex(wide);
  const Topology topology(std::move(parts));
  FluidSample sample(topology,
                     collective_on(topology, CollectiveKind::all_gather, bytes, chunks_per_shard));
  for (std::uint32_t i = 0; i < n; ++i) {
    std::vector<Walk> walks{{i, n, n + 1}};
    for (std::uint32_t to = 0; to < n; ++to)
      if (to != i) walks.push_back({n + 1, n, to});
    sample.add(FlowKind::spread, i, 1, walks);
  }
  sample.sort();
  return sample;
}

/// One tree of random hops over single links between 3 or 4 NPUs with random abilities, for a
/// demand of one chunk or several. Hops mostly continue what the earlier ones did, so that some
/// trees are right.
inline FluidSample random_tree(Random& random, std::uint32_t chunks) {
  const auto nodes = static_cast<std::uint32_t>(3 + random.below(2));
  const auto kind =
      std::vector{FlowKind::spread, FlowKind::combine, FlowKind::both}[random.below(3)];
  TopologyParts parts = npus("random", nodes);
  for (Node& node : parts.nodes) node.can = {true, random.below(3) > 0, random.below(3) > 0};
  for (std::uint32_t a = 0; a < nodes; ++a)
    for (std::uint32_t b = 0; b < nodes; ++b)
      if (a != b) parts.add_link(link(a, b));
  const Topology topology(std::move(parts));

  std::vector<NodeId> all, some; // some: all but npu0, or all
  for (std::uint32_t n = 0; n < nodes; ++n) all.emplace_back(n);
  some.assign(all.begin() + static_cast<std::ptrdiff_t>(random.below(2)), all.end());
  CustomCollectiveBuilder builder(topology);
  const bool reduces = kind != FlowKind::spread;
  // Who doesn't contribute may pass on what all others did.
  std::vector<NodeId> contributors = all;
  random.shuffle(contributors);
  contributors.resize(nodes - random.below(nodes - 1));
  const SetId held = builder.add_set(reduces ? contributors : std::vector{NodeId{0}});
  const SetId wanted = builder.add_set(kind == FlowKind::combine ? std::vector{NodeId{0}} : some);
  for (std::uint32_t c = 0; c < chunks; ++c) builder.add_chunk({Bytes{1}, held, wanted, reduces});

  FluidSample sample(topology, builder.build());
  FlowTree& tree = sample.trees.emplace_back();
  tree.share = 1;
  tree.root = kind == FlowKind::both ? static_cast<std::uint32_t>(random.below(nodes)) : 0;
  const std::size_t fewest = contributors.size() - 1;
  tree.combining = reduces ? static_cast<std::uint32_t>(fewest + random.below(nodes - fewest)) : 0;
  const std::uint32_t spreading =
      kind == FlowKind::combine ? 0 : nodes - 2 + static_cast<std::uint32_t>(random.below(3));
  std::vector<bool> left(nodes), reached(nodes);
  reached[tree.root] = true;
  for (std::uint32_t h = 0; h < tree.combining + spreading; ++h) {
    std::uint32_t over = 0;
    FlowNetwork::Link ends{};
    for (int attempt = random.below(8) == 0 ? 49 : 0; attempt < 50; ++attempt) {
      over = static_cast<std::uint32_t>(random.below(topology.link_count()));
      ends = sample.problem.network.links[over];
      if (h < tree.combining ? !left[ends.from] && !left[ends.to] && ends.from != tree.root
                             : reached[ends.from] && !reached[ends.to])
        break;
    }
    if (h < tree.combining)
      left[ends.from] = true;
    else
      reached[ends.to] = true;
    tree.add_hop(std::vector{over});
  }
  return sample;
}

} // namespace tutti::samples
