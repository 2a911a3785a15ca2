// Sketches for a machine that nobody has drawn one for, from what its network shows: which NPUs
// make up a machine, who shares a NIC, where switches are (the examples of Shah et al. 2023, sec.
// 3.1 and 7.1, as rules).
#pragma once

#include "sim/topology.hpp"
#include "synth/taccl/sketch.hpp"

#include <string>
#include <vector>

namespace tutti {

struct SketchProposal {
  Sketch sketch;
  std::string why; ///< what for, in a sentence
};

/// How many equal machines of consecutive ranks make up the network: the finest division in which
/// each NPU is connected to others of its machine better than to those of others; 1 where there is
/// none.
[[nodiscard]] std::uint32_t machines_of(const Topology& network);

/// At least one for so many machines, those for large data first. Where NPUs of different machines
/// reach each other only through other NPUs, none of several machines fits; one machine does.
/// Cost: as logical_topology(), for each.
[[nodiscard]] std::vector<SketchProposal> sketch_proposals(const Topology& network,
                                                           std::uint32_t machines);

} // namespace tutti
