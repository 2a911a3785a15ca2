// The bounds that prices of flows prove, without the others.
#pragma once

#include "synth/bounds/bounds.hpp"

#include <vector>

namespace tutti::testing {

/// Those of prices alone.
inline std::vector<Bound> flow_bounds(const Topology& topology, const Collective& collective,
                                      const TimeModel& model, Chunking chunking) {
  std::vector<Bound> bounds =
      lower_bounds(topology, collective, model, chunking, BoundEffort::full);
  std::erase_if(bounds, [](const Bound& bound) { return bound.kind != BoundKind::flow_prices; });
  return bounds;
}

} // namespace tutti::testing
