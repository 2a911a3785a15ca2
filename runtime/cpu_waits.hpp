// What the steps of a program wait for.
#pragma once

#include "runtime/plan.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::runtime {

struct StepWait {
  enum class For : std::uint8_t { step, message, slot };
  std::uint32_t step = 0; ///< of the block, waiting
  For what = For::step;
};

/// "rank 3, block 1, step 4 (r): waits for message 2 from rank 2", the first few of them.
/// `waits`: [block], nothing for one that is done.
[[nodiscard]] std::string hung_text(const Plan& plan,
                                    const std::vector<std::optional<StepWait>>& waits);

/// The steps of all blocks, as indices of blocks, in one order that their waits allow.
/// Errors: HungRun where there is none.
[[nodiscard]] std::vector<std::uint32_t> order_of_steps(const Plan& plan);

} // namespace tutti::runtime
