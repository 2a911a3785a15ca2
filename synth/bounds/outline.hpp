// A collective as bounds see it. An All-to-All over 8,192 NPUs has 67 million chunks: a list of
// them takes a gigabyte, and bounds need none, since all pairs ask for the same.
#pragma once

#include "sim/collective.hpp"
#include "sim/topology.hpp"
#include "synth/bounds/demand.hpp"

#include <cstddef>
#include <vector>

namespace tutti::bounds {

/// Beyond, an All-to-All isn't listed: no kind of bound would look at its chunks one by one.
inline constexpr std::size_t most_listed = 4'000'000;

struct Outline {
  Collective collective;           ///< without chunks where they aren't listed
  std::vector<ChunkClass> classes; ///< of all of them
};

/// The outline of a collective with its list of chunks. Cost: as chunk_classes().
[[nodiscard]] Outline outline(Collective collective);

/// The outline of make_collective(topology, spec), without a list where it is an All-to-All of more
/// than `listed` chunks. Cost: then O(members log members), for each chunk of a shard. Errors: as
/// there; also where not all members of one that isn't listed reach each other.
[[nodiscard]] Outline outline(const Topology& topology, const CollectiveSpec& spec,
                              std::size_t listed = most_listed);

} // namespace tutti::bounds
