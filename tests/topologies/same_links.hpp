// Whether two networks are one in which links may have been added in another order.
#pragma once

#include "sim/topology.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tutti {

inline bool have_same_links(const Topology& a, const Topology& b) {
  const auto sorted = [](const Topology& topology) {
    TopologyParts parts = topology.parts();
    std::ranges::sort(parts.links, {}, [](const Link& link) {
      return std::tuple(link.from, link.to, link.bandwidth, link.latency, link.dimension);
    });
    return Topology(std::move(parts));
  };
  return look_alike(sorted(a), sorted(b), true);
}

} // namespace tutti
