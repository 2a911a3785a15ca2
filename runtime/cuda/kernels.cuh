// The kernels, chosen by element type and combination.
#pragma once

#include "runtime/cuda/step_operands.hpp"
#include "runtime/cuda/timed_run.hpp"
#include "runtime/data.hpp"

#include <cstdint>

namespace tutti::runtime {

inline constexpr unsigned most_threads = 1024; ///< of a block, for all kernels

/// What is launched for one element type and combination.
struct Kernels {
  /// The persistent run: block b of the grid is block first + b of the plan.
  /// stop: in the host's memory; nonzero ends the run.
  void (*run_blocks)(RunView run, StartBarrier start, std::uint32_t first, std::uint32_t* stop);
  /// One step's data, by the whole grid.
  void (*move_step)(Operands data);
  /// Adds the number of wrong elements of a rank's output to *wrong.
  void (*count_wrong)(const std::byte* output, const ExpectedChunk* chunks, std::uint32_t count,
                      const std::uint32_t* contributors, unsigned long long* wrong);
};
[[nodiscard]] Kernels kernels_for(ElementType type, Combine combine);

} // namespace tutti::runtime
