// The ranks' memory, and what a step does with it.
#pragma once

#include "runtime/executor.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace tutti::runtime {

/// target = a + b, element by element; target may be a or b.
using CombineLoop = void (*)(std::byte* target, const std::byte* a, const std::byte* b,
                             std::size_t bytes);
[[nodiscard]] CombineLoop combine_loop(ElementType type, Combine combine);

/// An arena for each rank.
class CpuMemory {
public:
  /// Errors: InputError where the arenas are more than three quarters of the machine's memory.
  explicit CpuMemory(const Plan& plan);

  [[nodiscard]] std::byte* arena(std::uint32_t rank) const { return arenas_[rank].get(); }
  /// Poisons everything, then writes the inputs.
  void fill(const PlannedRun& run);
  [[nodiscard]] DataCheck check(const PlannedRun& run) const;

private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::vector<std::unique_ptr<std::byte, Free>> arenas_;
};

/// Moves the data of a step whose waits are over: `own` and `peer` are arenas, of its rank and of
/// the one that it sends to.
void move_data(const PlannedStep& step, std::byte* own, std::byte* peer, CombineLoop combine);

} // namespace tutti::runtime
