// What the blocks of a run that doesn't end wait for.
#pragma once

#include "runtime/plans/plan.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace tutti::runtime {

enum class WaitKind : std::uint32_t {
  nothing,
  step,    ///< of another block of the rank
  message, ///< that hasn't been sent
  arrival, ///< of a message on an emulated link
  slot,    ///< at the receiver
  link,    ///< an emulated one, to have taken a message
};

/// Where a block was when its run was stopped.
struct Stopped {
  WaitKind wait = WaitKind::nothing;
  std::uint32_t step = 0; ///< of the block
};

/// `rank 3, block 1, step 4 (rrc) waits for message 2 from rank 5 on channel 0; ...`: the first
/// blocks that wait, and how many more do. stopped[block]. Empty where none waits.
[[nodiscard]] std::string waiting_steps(const Plan& plan, std::span<const Stopped> stopped);

} // namespace tutti::runtime
