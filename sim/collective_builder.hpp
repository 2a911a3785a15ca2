// What the readers of collective and schedule files build collectives with: custom ones chunk by
// chunk, and several at once part by part.
#pragma once

#include "sim/collective.hpp"
#include "sim/topology.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace tutti {

/// Collects a custom collective.
class CustomCollectiveBuilder {
public:
  explicit CustomCollectiveBuilder(const Topology& topology) : topology_(topology) {}

  /// Equal sets share an id. Errors: InputError for an empty set, one with a node that isn't an
  /// NPU, or that is named twice.
  SetId add_set(std::vector<NodeId> nodes);

  /// Pre: both sets come from add_set. Errors: InputError for a chunk below one byte, or a total
  /// that overflows.
  void add_chunk(const Chunk& chunk);

  /// One part whose size is the sum of its chunks and whose group is everyone who holds or wants
  /// one. Errors: InputError without chunks.
  [[nodiscard]] Collective build() const;

private:
  const Topology& topology_;
  Collective made_;
  Bytes size_;
  std::map<std::vector<NodeId>, SetId> set_ids_;
};

/// Collects the parts of a collective. `most` limits them all together, so that a few bytes
/// of a file ("chunks_per_shard": 1000000000) can't ask for gigabytes.
class CollectiveBuilder {
public:
  CollectiveBuilder(const Topology& topology, std::uint64_t most)
      : topology_(topology), chunks_left_(most) {}

  /// Errors: InputError of make_collective, for too many chunks, or a total that overflows.
  void add(const CollectiveSpec& spec);
  void add(Collective part);
  /// All parts at once. Errors: InputError without parts.
  [[nodiscard]] Collective build() const;

private:
  const Topology& topology_;
  std::uint64_t chunks_left_;
  Bytes size_;
  std::vector<Collective> parts_;
};

} // namespace tutti
