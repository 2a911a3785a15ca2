// `switch:N`: N NPUs around one switch, which can't store, copy or reduce. Every NPU has one link
// to the switch (ids 0 .. N-1) and one from it (N .. 2N-1); bandwidth and latency are per link, so
// that a message from NPU to NPU pays the latency twice.
#include "topologies/families.hpp"
#include "topologies/product.hpp"

namespace tutti::topologies {

Topology single_switch(const TopologySpec& spec) { return product(spec, {Wiring::crossbar}); }

} // namespace tutti::topologies
