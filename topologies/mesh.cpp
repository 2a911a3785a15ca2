// `mesh2d:AxB`, `mesh3d:AxBxC`: grids without wrap-around; NPU id = x + A * (y + B * z). The TACOS
// paper (Won et al. 2024) calls the 3-D grid "3D Hypercube".
#include "topologies/families.hpp"
#include "topologies/product.hpp"

namespace tutti::topologies {

Topology mesh2d(const TopologySpec& spec) { return product(spec, {Wiring::line, Wiring::line}); }

Topology mesh3d(const TopologySpec& spec) {
  return product(spec, {Wiring::line, Wiring::line, Wiring::line});
}

} // namespace tutti::topologies
