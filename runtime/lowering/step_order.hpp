// Puts the steps of one rank into its blocks, each with the fewest waits that order reads and
// writes.
#pragma once

#include "runtime/program.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti::runtime {

inline constexpr std::uint32_t no_cell = UINT32_MAX;

/// Steps come in an order in which every one is after all that it must wait for. A cell is a
/// region of memory that steps read and write as a whole.
///
/// A vector clock for each step tells which steps of the other blocks are over when it is: a wait
/// is left out where program order, an earlier wait of the block, or what another awaited step had
/// waited for itself implies it. Cost: O(blocks) a step and wait, time and memory.
class RankStepOrder {
public:
  explicit RankStepOrder(std::vector<Block>& blocks);

  /// Appends the step to the block; where it is then. Cells: what it reads and writes.
  /// `after`: steps of the rank that it waits for, too.
  StepAt append(std::uint32_t block, const Step& step, std::span<const std::uint32_t> read,
                std::span<const std::uint32_t> written, const std::vector<StepAt>& after);

  /// Whether all that read or wrote the cell so far are over when the block's latest step is.
  [[nodiscard]] bool is_over(std::uint32_t cell, std::uint32_t block) const;

private:
  struct Accesses {
    std::vector<StepAt> writes, reads; // the last write (if any), and the reads since
  };
  Accesses& accesses(std::uint32_t cell);
  void add_waits_for(const std::vector<StepAt>& steps, std::uint32_t block);
  void drop_implied();
  [[nodiscard]] const std::uint32_t* clock(StepAt step) const;
  void put(std::uint32_t block, Step step);

  std::vector<Block>& blocks_;
  std::vector<Accesses> cells_;
  std::vector<std::uint32_t> now_;                 // [block * blocks + other]: its steps over
  std::vector<std::vector<std::uint32_t>> clocks_; // [block]: of each step, one after another
  std::vector<StepAt> waits_;                      // for the step being appended
};

} // namespace tutti::runtime
