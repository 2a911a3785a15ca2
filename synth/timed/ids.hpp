// Strong ids of time-expanded networks, as sim/ids.hpp has them of topologies: a lane never
// silently becomes a chunk or an epoch.
#pragma once

#include "sim/ids.hpp"

#include <compare>
#include <cstdint>

namespace tutti {

using LaneId = Id<struct LaneTag>;   ///< lane of a LaneNetwork
using LimitId = Id<struct LimitTag>; ///< limit of a network of lanes

/// A slot of time, counted from 0. Numbers of slots (delays, windows) are plain integers. `Tag`
/// only keeps the kinds apart.
template <typename Tag> struct TimeSlot {
  std::uint32_t value = 0;

  constexpr TimeSlot() = default;
  constexpr explicit TimeSlot(std::uint32_t index) : value(index) {}
  constexpr auto operator<=>(const TimeSlot&) const = default;

  constexpr TimeSlot& operator++() {
    ++value;
    return *this;
  }
  constexpr TimeSlot& operator+=(std::uint32_t slots) {
    value += slots;
    return *this;
  }
  [[nodiscard]] friend constexpr TimeSlot operator+(TimeSlot slot, std::uint32_t slots) {
    return TimeSlot{slot.value + slots};
  }
  [[nodiscard]] friend constexpr TimeSlot operator-(TimeSlot slot, std::uint32_t slots) {
    return TimeSlot{slot.value - slots};
  }
};

using Epoch = TimeSlot<struct EpochTag>; ///< of TE-CCL
using Step = TimeSlot<struct StepTag>;   ///< of SCCL

/// The epoch of what never happens; after every other.
inline constexpr Epoch no_epoch{no_index};

} // namespace tutti
