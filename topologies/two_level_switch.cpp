// `two_level_switch:AxB`: B boxes of A NPUs. Every NPU has two ports: one to the switch of its box
// (dimension 0), one to the switch that joins the NPUs of equal index of all boxes (dimension 1).
// The "2D Switch" of TACOS (Won et al. 2024, Fig. 16: 8x4, [300, 25] GB/s, similar to DGX). A tree
// of switches is fat_tree; several NPUs on one NIC are multi_rail.
#include "topologies/families.hpp"
#include "topologies/product.hpp"

namespace tutti::topologies {

Topology two_level_switch(const TopologySpec& spec) {
  return product(spec, {Wiring::crossbar, Wiring::crossbar});
}

} // namespace tutti::topologies
