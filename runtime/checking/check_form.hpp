// verify_program, first part: is every step possible, and does every send have its receive?
#pragma once

#include "runtime/checking/verify_program.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::runtime {

inline constexpr std::uint32_t no_program_block = UINT32_MAX;

/// A block of the whole program, by rank and then by index.
struct ProgramBlock {
  std::uint32_t rank = 0, index = 0;
  const Block* block = nullptr;
  /// Among the program's blocks: who receives what it sends, who sends what it receives.
  std::uint32_t receiver = no_program_block, sender = no_program_block;
};

/// "rank 3, block 1, step 4 (rrc)".
[[nodiscard]] std::string program_step_text(const ProgramBlock& block, std::size_t step);

/// Faults that are malformed. Cost: O(steps + units).
[[nodiscard]] std::optional<ProgramFault> check_form(const Program& program);

/// All blocks, with their connections. Pre: check_form() finds nothing.
[[nodiscard]] std::vector<ProgramBlock> program_blocks(const Program& program);

/// Faults that are unmatched, then mismatched. Cost: O(steps).
[[nodiscard]] std::optional<ProgramFault> check_messages(const std::vector<ProgramBlock>& blocks);

} // namespace tutti::runtime
