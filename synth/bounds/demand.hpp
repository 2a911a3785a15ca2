// What a collective forces through a node, across a cut and through the network as a whole, however
// its chunks are routed. Chunks are summed up in classes first: an All-to-All over 512 NPUs has a
// quarter of a million chunks, an All-Gather a million pairs of chunk and node.
#pragma once

#include "sim/collective.hpp"
#include "sim/topology.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// What a bound takes for granted of how the data is cut.
enum class Chunking : std::uint8_t {
  any,   ///< nothing: it holds for chunks of any number and sizes
  given, ///< these chunks, each of which moves whole
};

namespace bounds {

__extension__ typedef __int128 int128;

/// Chunks of one size that start at the same nodes and are wanted by the same nodes; or, by pairs,
/// chunks that each source has for each destination alone (what it has for itself stays).
struct ChunkClass {
  Bytes size;     ///< of each
  Bytes smallest; ///< what moves on at once: the chunk or, where it may be cut at will, 0
  bool reduces = false, by_pairs = false;
  SetId sources = 0, destinations = 0;
  ChunkId first;           ///< the first of them
  std::int64_t chunks = 0; ///< by pairs: of each pair
};

/// By falling size, then first copied chunks, then by set ids. None is by pairs. Cost: O(chunks log
/// chunks), or O(chunks) where they lie so.
[[nodiscard]] std::vector<ChunkClass> chunk_classes(const Collective& collective);

/// What starts at the same nodes and is wanted by the same nodes is one chunk, which may be cut as
/// finely as one likes. In the same order. Cost: as above.
[[nodiscard]] std::vector<ChunkClass> cut_at_will(std::vector<ChunkClass> classes);

/// Who holds or wants any of them, ascending. Cost: O(classes + set sizes + nodes).
[[nodiscard]] std::vector<NodeId> members(const Topology& topology, const Collective& collective,
                                          std::span<const ChunkClass> classes);

/// Chunks that must pass; each passes whole, unless `smallest` says that it may be cut.
struct Demand {
  std::int64_t chunks = 0;
  int128 bytes = 0;
  Bytes smallest{INT64_MAX}; ///< nothing less moves on at once; 0: they may be cut at will
  Bytes largest{0};          ///< nor larger

  void add(const ChunkClass& chunk_class, std::int64_t times = 1);
  void add(const Demand& other);
  void remove(const ChunkClass& chunk_class); ///< leaves smallest and largest as they are
};

struct NodeDemands {
  std::vector<Demand> in, out; ///< [node]: what must enter it, what must leave it
};

/// In: chunks that the node wants and doesn't have complete at the start. Out: chunks that only
/// this node holds, or that it contributes to, and that someone else wants. Cost: O(classes * log +
/// sum of set sizes), plus the smaller set of each class that doesn't reduce. Sets of classes by
/// pairs may have a node several times (quotient(), in partition.hpp): it counts as often.
[[nodiscard]] NodeDemands node_demands(const Collective& collective,
                                       std::span<const ChunkClass> classes,
                                       std::uint32_t node_count);

/// What must cross from the nodes inside to the others (unless `leaves`: in the other direction).
/// Cost: O(classes + sum of set sizes).
[[nodiscard]] Demand demand_across(const Collective& collective,
                                   std::span<const ChunkClass> classes,
                                   const std::vector<bool>& inside, bool leaves);

/// Deliveries at nodes that copy, reduce, hold or want something (the others only pass on, once,
/// what such a node sent). A chunk held complete by H and wanted by W: one per node of W \ H.
///
/// A chunk that reduces, contributors C, destinations D: follow the list until the first delivery
/// that makes a destination x complete. Until then, deliveries join every contributor to x, so as
/// edges they connect C + {x}: at least |C + {x}| - 1 of them. Afterwards every other destination
/// still needs one of its own. The least over x is |C| + |D| - 2 where some destination
/// contributes, else |C| + |D| - 1.
/// All of these bring data to a destination in the end, so the exit margins of capacity.hpp apply.
[[nodiscard]] Demand deliveries(const Collective& collective, std::span<const ChunkClass> classes);

} // namespace bounds

} // namespace tutti
