// Why: `tutti bound` and [[bounds]] answer for networks whose collectives are too large for
// schedules. One that is asked for by name alone is made for bounds; all others are listed.

#include "experiments/driver/requests/outline_request.hpp"

namespace tutti {

bounds::Outline make_outline(const Topology& topology, const CollectiveRequest& request,
                             std::uint32_t chunks_per_shard) {
  if (request.texts.size() != 1 || is_collective_file(request.texts.front()))
    return bounds::outline(make_collective(topology, request, chunks_per_shard));
  return bounds::outline(topology, named_spec(request.texts.front(), request, chunks_per_shard));
}

std::uint64_t chunk_count(const Collective& collective) {
  std::uint64_t count = 0;
  for (const CollectivePart& part : collective.parts) count += part.chunk_count;
  return count;
}

} // namespace tutti
