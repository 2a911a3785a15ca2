// Which messages land directly in their target, and which need a slot.
#pragma once

#include "runtime/plans/plan.hpp"

#include <cstdint>
#include <vector>

namespace tutti::runtime {

/// Connection ids, and which steps of which block are its messages.
struct MessageEnds {
  std::uint32_t sender = nobody, receiver = nobody; ///< blocks, through all ranks
  std::vector<std::uint32_t> sent, received;        ///< [message]: steps, through all blocks
};

/// For each step, through all ranks and blocks: whether it receives into a target that nothing at
/// its rank touches before, in any run, so that what is sent can land there. Steps that a hung
/// program doesn't reach: false. Fills in nothing; `plan` has its blocks and connections.
[[nodiscard]] std::vector<bool> direct_landings(const Program& program, const Plan& plan,
                                                const std::vector<MessageEnds>& ends);

} // namespace tutti::runtime
