// `hypercube:D`: the binary hypercube of D dimensions, 2^D NPUs; i and j are linked if their binary
// forms differ in one bit. Coordinate d is bit d of the id. (Not the TACOS paper's "3D Hypercube",
// which is mesh3d.)
#include "topologies/families.hpp"
#include "topologies/parts.hpp"
#include "topologies/product.hpp"

#include <cstddef>

namespace tutti::topologies {

Topology hypercube(const TopologySpec& spec) {
  require_numbers(spec, 1);
  const auto dimensions = static_cast<std::size_t>(spec.shape[0]);
  TopologySpec binary = spec;
  binary.shape.assign(dimensions, 2);
  return product(binary, std::vector<Wiring>(dimensions, Wiring::line));
}

} // namespace tutti::topologies
