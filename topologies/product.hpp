// Cartesian products: NPUs on an n-dimensional grid, where each dimension has a wiring of its own.
// NPU id = x0 + n0 * (x1 + n1 * (x2 + ...)): dimension 0 varies fastest. Two NPUs are wired
// together in dimension d if they differ in coordinate d only.
//
//   4x3, line x ring:   8---9--10--11        0-1-2-3 are a line (dimension 0),
//                       |   |   |   |        0-4-8-0 a ring (dimension 1)
//                       4---5---6---7
//                       |   |   |   |
//                       0---1---2---3  (and 8-0, 9-1, 10-2, 11-3)
//
// Links come dimension by dimension, labelled with it. Within one: line, ring and crossbar first
// all forward links (x to x+1, NPU to switch) by NPU, then all backward ones by NPU; full by
// sender, then receiver. Switches are numbered by dimension, then by their least NPU.
#pragma once

#include "topologies/list.hpp"

#include <cstdint>
#include <vector>

namespace tutti::topologies {

enum class Wiring : std::uint8_t {
  line,     ///< x with x+1
  ring,     ///< the same and the last with the first; extent 2 has no doubled link
  full,     ///< every pair
  crossbar, ///< all to one switch, which can't store, copy or reduce; extent 1 has none
};

/// One wiring per number of the spec. Errors: InputError for wrong numbers, too many NPUs or links,
/// one direction without a ring.
[[nodiscard]] Topology product(const TopologySpec& spec, const std::vector<Wiring>& wirings);

} // namespace tutti::topologies
