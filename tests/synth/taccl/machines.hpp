// Two small machines with NICs, for tests of sketches.
#pragma once

#include "sim/topology.hpp"

#include <string>
#include <utility>

namespace tutti::samples {

/// `machines` of four NPUs each: a switch that joins them at 100 GB/s, 0.2 us a link; a NIC for
/// each two NPUs, at 20 GB/s, and at 10 GB/s and 0.5 us on its way into the switch that joins them.
inline Topology four_npu_machines(std::uint32_t machines) {
  TopologyParts parts;
  parts.name = "machines of four";
  const std::uint32_t npus = 4 * machines;
  for (std::uint32_t n = 0; n < npus; ++n)
    parts.add_node({"npu" + std::to_string(n), NodeKind::npu, {}, {}});
  constexpr Abilities forwards{false, false, false};
  std::vector<NodeId> switches, nics;
  for (std::uint32_t m = 0; m < machines; ++m)
    switches.push_back(
        parts.add_node({"switch" + std::to_string(m), NodeKind::switching, forwards, {}}));
  for (std::uint32_t n = 0; n < 2 * machines; ++n)
    nics.push_back(parts.add_node({"nic" + std::to_string(n), NodeKind::switching, forwards, {}}));
  const NodeId spine = parts.add_node({"spine", NodeKind::switching, forwards, {}});
  for (std::uint32_t n = 0; n < npus; ++n) {
    parts.add_duplex({NodeId{n}, switches[n / 4], Time{200'000}, Bandwidth{100'000'000'000}});
    parts.add_duplex({NodeId{n}, nics[n / 2], Time{}, Bandwidth{20'000'000'000}});
  }
  for (const NodeId nic : nics)
    parts.add_duplex({nic, spine, Time{500'000}, Bandwidth{10'000'000'000}});
  return Topology(std::move(parts));
}

} // namespace tutti::samples
