// `rfs:AxBxC`: the 3D Ring-FullyConnected-Switch of TACOS (Won et al. 2024, Table V, Fig. 17):
// rings of A NPUs (dimension 0), fully connected groups of B (dimension 1), switches with C ports
// (dimension 2). The switches are nodes; the paper's synthesizer unwinds them into direct links.
#include "topologies/families.hpp"
#include "topologies/product.hpp"

namespace tutti::topologies {

Topology rfs(const TopologySpec& spec) {
  return product(spec, {Wiring::ring, Wiring::full, Wiring::crossbar});
}

} // namespace tutti::topologies
