// Two levels: a chunk for another server goes over its own server's links to the GPU on the
// destination's rail, and along that rail it arrives. So a server's traffic for a GPU enters by
// that GPU's NIC alone, whatever the others do. Chunks that stay in their server go directly.
// Source: PXN of NCCL 2.12 (NVIDIA, "Doubling all2all Performance with NVIDIA Collective
// Communication Library 2.12", 2022), an All-to-All baseline of FAST (arXiv 2505.09764).
// Cost: O(chunks log chunks); at most two transfers a chunk.

#include "algorithms/list.hpp"
#include "algorithms/server_rails.hpp"

#include <algorithm>
#include <utility>

namespace tutti {

Outcome two_level(const Topology& topology, const Collective& collective,
                  const SynthesisOptions& options) {
  const ServerRails rails = find_server_rails(topology, collective.parts.front().group);
  if (!rails.obstacle.empty()) return unsupported(rails.obstacle);
  Unicast unicast = find_unicast(topology, collective);
  if (!unicast.obstacle.empty()) return unsupported(std::move(unicast.obstacle));
  RoutedSchedule schedule(topology, collective, options);
  std::ranges::stable_sort(unicast.chunks, {}, [&](const UnicastChunk& c) {
    return std::pair(rotation(c.from, c.to, schedule.size()), c.from);
  });
  for (const UnicastChunk& c : unicast.chunks) {
    const Rank relay = rails.server[c.from] == rails.server[c.to]
                           ? c.to
                           : rails.at(rails.server[c.from], rails.rail[c.to]);
    const bool stops = relay != ServerRails::nobody && relay != c.from && relay != c.to;
    if (stops) schedule.send_chunk(c.from, relay, c.chunk, Op::copy);
    schedule.send_chunk(stops ? relay : c.from, c.to, c.chunk, Op::copy);
  }
  return std::move(schedule).outcome();
}

} // namespace tutti
