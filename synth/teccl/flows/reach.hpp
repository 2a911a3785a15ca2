// When a source's flow can be where.
#pragma once

#include "synth/teccl/flows/orbits.hpp"

#include <cstdint>
#include <vector>

namespace tutti {

/// Epochs by delays alone, or `out_of_epochs`.
struct FlowReach {
  std::vector<std::uint32_t> from_source;    ///< [node]
  std::vector<std::uint32_t> to_destination; ///< [node]: to the nearest, 0 for a destination
  std::vector<std::uint32_t> onward;         ///< [node]: to the nearest after leaving
};

[[nodiscard]] FlowReach flow_reach(const EpochNetwork& network, const EpochSource& source);

/// What is out of reach stays so.
[[nodiscard]] inline std::uint32_t epochs_plus(std::uint32_t epochs, std::uint32_t more) {
  return epochs == out_of_epochs ? out_of_epochs : epochs + more;
}

} // namespace tutti
