// Strong ids of time-expanded networks, as sim/ids.hpp has them of topologies: a lane never
// silently becomes a chunk or an epoch.
#pragma once

#include "sim/ids.hpp"

#include <compare>
#include <cstdint>

namespace tutti {

using LaneId = Id<struct LaneTag>;   ///< lane of a LaneNetwork
using LimitId = Id<struct LimitTag>; ///< limit of a network of lanes

/// A time slot of TE-CCL, counted from 0. Numbers of epochs (delays, windows) are plain integers.
struct Epoch {
  std::uint32_t value = 0;

  constexpr Epoch() = default;
  constexpr explicit Epoch(std::uint32_t index) : value(index) {}
  constexpr auto operator<=>(const Epoch&) const = default;

  constexpr Epoch& operator++() {
    ++value;
    return *this;
  }
  constexpr Epoch& operator+=(std::uint32_t epochs) {
    value += epochs;
    return *this;
  }
  [[nodiscard]] friend constexpr Epoch operator+(Epoch epoch, std::uint32_t epochs) {
    return Epoch{epoch.value + epochs};
  }
  [[nodiscard]] friend constexpr Epoch operator-(Epoch epoch, std::uint32_t epochs) {
    return Epoch{epoch.value - epochs};
  }
};

/// Of what never happens; after every epoch.
inline constexpr Epoch no_epoch{no_index};

} // namespace tutti
