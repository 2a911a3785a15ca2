// What all kinds of bounds look at.
#pragma once

#include "sim/collective.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"
#include "synth/bounds/capacity.hpp"
#include "synth/bounds/demand.hpp"

#include <string>
#include <vector>

namespace tutti::bounds {

struct Problem {
  const Topology& topology;
  const Collective& collective;
  const TimeModel& model;
  std::vector<ChunkClass> classes;
  Margins margins;

  [[nodiscard]] const std::string& name(NodeId node) const { return topology.node(node).name; }
};

} // namespace tutti::bounds
