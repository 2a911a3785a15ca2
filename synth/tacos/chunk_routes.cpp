#include "synth/tacos/chunk_routes.hpp"

#include <algorithm>
#include <utility>

namespace tutti {

void ChunkRoutes::set(ChunkId chunk, std::span<const LinkId> links, std::size_t reductions) {
  Route& route = routes_[chunk.value];
  live_ += links.size() - route.count;
  if (links.size() > route.count) {
    route.begin = pool_.size();
    pool_.resize(pool_.size() + links.size());
  }
  std::ranges::copy(links, pool_.begin() + static_cast<std::ptrdiff_t>(route.begin));
  route.count = static_cast<std::uint32_t>(links.size());
  route.reductions = static_cast<std::uint32_t>(reductions);
  if (pool_.size() > 2 * live_ + 1024) compact();
}

void ChunkRoutes::compact() {
  std::vector<LinkId> kept;
  kept.reserve(live_);
  for (std::uint32_t c = 0; c < routes_.size(); ++c) {
    const std::span<const LinkId> own = links(ChunkId{c});
    routes_[c].begin = kept.size();
    kept.insert(kept.end(), own.begin(), own.end());
  }
  pool_ = std::move(kept);
}

Schedule ChunkRoutes::schedule(const Topology& topology, std::span<const ChunkId> order) const {
  Schedule made(topology.link_count());
  made.reserve(live_);
  for (const ChunkId chunk : order) {
    const std::span<const LinkId> all = links(chunk);
    for (std::size_t begin = 0; begin < all.size();) {
      std::size_t end = begin + 1;
      const auto goes_on = [&] {
        const NodeId at = topology.link(all[end - 1]).to;
        return end < all.size() && !topology.node(at).can.store &&
               topology.link(all[end]).from == at;
      };
      while (goes_on()) ++end;
      const Op op = begin < routes_[chunk.value].reductions ? Op::reduce : Op::copy;
      made.push({chunk, made.paths().intern(all.subspan(begin, end - begin)), op, false});
      begin = end;
    }
  }
  return made;
}

} // namespace tutti
