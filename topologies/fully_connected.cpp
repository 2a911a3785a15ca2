// `fully_connected:N`: a link from every NPU to every other, by sender, then receiver.
#include "topologies/families.hpp"
#include "topologies/product.hpp"

namespace tutti::topologies {

Topology fully_connected(const TopologySpec& spec) { return product(spec, {Wiring::full}); }

} // namespace tutti::topologies
