// What the checker of bounds (check.hpp) knows of networks and collectives, in its own words: what
// has to move, how long its head and its tail are in flight, what links can carry.
#pragma once

#include "sim/collective.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"

#include <algorithm>
#include <cstdint>
#include <queue>
#include <span>
#include <vector>

namespace tutti::bounds::checking {

__extension__ typedef __int128 Wide;

/// Stands for all longer times: two of them and a latency still fit.
inline constexpr std::int64_t unreachable = INT64_MAX / 4;

/// Chunks that move.
struct Load {
  Wide chunks = 0, bytes = 0;
  Bytes smallest{INT64_MAX}; ///< 0: they may be cut at will
  Bytes largest{0};

  void add(const Load& other, std::int64_t times = 1);
};

/// All chunks that start at the same nodes and are wanted by the same nodes.
struct Shipment {
  SetId sources = 0, destinations = 0;
  bool reduces = false;
  Load load;
};

/// The shipments of these chunks of the collective. Where they may be cut (`whole` is false), those
/// of one shipment are a single chunk, of which any part may move alone.
[[nodiscard]] std::vector<Shipment> shipments(const Collective& collective, ChunkId first,
                                              std::uint32_t count, bool whole);

/// The nodes of these sets, ascending and each once: [set] tells which.
[[nodiscard]] std::vector<NodeId> members(const Collective& collective,
                                          const std::vector<bool>& sets);

enum class Sense : std::uint8_t { along, against };

/// The least sum of costs [link] from a start to each node, along the links or against them, or
/// `unreachable`; no path leads on from a node that isn't a start unless `leads_on(node)`. Bellman
/// and Ford's method. Pre: 0 <= costs <= 2 * unreachable.
template <typename LeadsOn>
std::vector<std::int64_t> least_sums(const Topology& topology, std::span<const NodeId> starts,
                                     const std::vector<std::int64_t>& costs, Sense sense,
                                     LeadsOn leads_on) {
  std::vector<std::int64_t> sums(topology.node_count(), unreachable);
  std::vector<bool> waits(topology.node_count()), is_start(topology.node_count());
  std::queue<NodeId> changed;
  for (const NodeId start : starts) {
    sums[start.value] = 0;
    is_start[start.value] = waits[start.value] = true;
    changed.push(start);
  }
  while (!changed.empty()) {
    const NodeId node = changed.front();
    changed.pop();
    waits[node.value] = false;
    if (!is_start[node.value] && !leads_on(node)) continue;
    for (const LinkId id :
         sense == Sense::along ? topology.out_links(node) : topology.in_links(node)) {
      const NodeId next = sense == Sense::along ? topology.link(id).to : topology.link(id).from;
      const std::int64_t sum = sums[node.value] + costs[id.value];
      if (sum >= sums[next.value]) continue;
      sums[next.value] = sum;
      if (!waits[next.value]) changed.push(next);
      waits[next.value] = true;
    }
  }
  return sums;
}

/// A chunk of `size` occupies the link for so long, at least: in fluid sharing rounded down.
[[nodiscard]] std::int64_t occupied(const Topology& topology, const TimeModel& model, LinkId link,
                                    Bytes size);
/// Does nothing leave this node before all of it is there? Where it can store, unless the run cuts
/// through everywhere; never in fluid sharing, which uses all links of a path at once.
[[nodiscard]] bool completes(const Topology& topology, const TimeModel& model, NodeId node);

/// [link]: the first byte of a chunk of `size` can go on from its end so much later than it could
/// from its beginning.
[[nodiscard]] std::vector<std::int64_t> head_costs(const Topology& topology, const TimeModel& model,
                                                   Bytes size);
/// [link]: the last byte is at its end so much later than it was at its beginning.
[[nodiscard]] std::vector<std::int64_t> tail_costs(const Topology& topology, const TimeModel& model,
                                                   Bytes size);

/// A link with what nothing of a load can use of the time: it is at the link's beginning after
/// `entry` at the earliest; what has arrived has another `exit` to go, at least.
struct Crossing {
  LinkId link;
  std::int64_t entry = 0, exit = 0;
};

enum class Counted : std::uint8_t { chunks, bytes }; ///< bytes: times ps_per_s
/// The most of a load's chunks, or of its bytes, that can cross by `time`.
[[nodiscard]] Wide carried(Counted what, const Load& load, const Topology& topology,
                           const TimeModel& model, std::span<const Crossing> crossings,
                           std::int64_t time);
/// Is the load more than that, in bytes or (on FIFO, of chunks that move whole) in chunks?
[[nodiscard]] bool exceeds(const Load& load, const Topology& topology, const TimeModel& model,
                           std::span<const Crossing> crossings, std::int64_t time);

/// What these links carry together, in bytes/s.
[[nodiscard]] Wide joint_bandwidth(const Topology& topology, std::span<const LinkId> links);

} // namespace tutti::bounds::checking
