// `ring:N`: NPU i with i+1 and the last with the first. The forward links i -> i+1 have the ids
// 0 .. N-1, the backward ones i -> i-1 the ids N .. 2N-1, so that a tie between the two ways round
// goes forward. `directions=1` leaves out the backward links. Two NPUs have one link each way.
#include "topologies/families.hpp"
#include "topologies/product.hpp"

namespace tutti::topologies {

Topology ring(const TopologySpec& spec) { return product(spec, {Wiring::ring}); }

} // namespace tutti::topologies
