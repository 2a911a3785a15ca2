// What a collective is for a matching: chunks that are reduced, which is an inverted multicast on
// the reversed topology, and chunks that are copied.
#pragma once

#include "sim/collective.hpp"
#include "sim/topology.hpp"

#include <cstddef>
#include <optional>
#include <string_view>

namespace tutti {

/// Two copying collectives with the chunks of the one they are made from. What is reduced and then
/// copied is in both.
struct Multicasts {
  /// On the reversed network: from where a chunk comes together to all who contribute to it.
  std::optional<Collective> reductions;
  std::optional<Collective> copies;
  std::size_t chunks = 0;     ///< that move at all
  std::size_t deliveries = 0; ///< in both, without relays
};

/// What to say where as_multicasts() has nothing for a custom collective.
inline constexpr std::string_view no_multicasts =
    "no NPU that can reduce and copy is between all who contribute to a sum and all who want it";

/// Reduce-Scatter is an inverted All-Gather, Reduce an inverted Broadcast, All-Reduce an inverted
/// All-Gather and then an All-Gather; custom ones as their chunks are. Nothing for Gather, Scatter,
/// All-to-All, and several parts, and where no NPU can form the sum of some chunk.
[[nodiscard]] std::optional<Multicasts> as_multicasts(const Topology& topology,
                                                      const Collective& collective);

/// Whether chunks have several sources or go to several: to more than one NPU from another, on
/// average. If not, paths matter more than who passes on what.
[[nodiscard]] bool many_take_part(const Collective& collective, const Multicasts& multicasts);

} // namespace tutti
