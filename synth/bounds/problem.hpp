// What all kinds of bounds look at.
#pragma once

#include "sim/collective.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"
#include "synth/bounds/bounds.hpp"
#include "synth/bounds/capacity.hpp"
#include "synth/bounds/demand.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::bounds {

struct Problem {
  const Topology& topology;
  const Collective& collective;
  const TimeModel& model;
  std::vector<ChunkClass> classes;
  Margins margins;
  BoundEffort effort = BoundEffort::quick;

  /// The limit to what may be looked at under this effort: all of `limit`, or a quarter.
  [[nodiscard]] std::uint64_t within(std::uint64_t limit) const {
    return effort == BoundEffort::full ? limit : limit / 4;
  }

  [[nodiscard]] const std::string& name(NodeId node) const { return topology.node(node).name; }
};

} // namespace tutti::bounds
