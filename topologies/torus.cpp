// `torus2d:AxB`, `torus3d:AxBxC`: grids where every row and column is a ring; NPU id = x + A * (y +
// B * z). A dimension of extent 2 has one link each way, not two. `directions=1` keeps only the
// links to the next higher coordinate (and from the last to the first).
#include "topologies/families.hpp"
#include "topologies/product.hpp"

namespace tutti::topologies {

Topology torus2d(const TopologySpec& spec) { return product(spec, {Wiring::ring, Wiring::ring}); }

Topology torus3d(const TopologySpec& spec) {
  return product(spec, {Wiring::ring, Wiring::ring, Wiring::ring});
}

} // namespace tutti::topologies
