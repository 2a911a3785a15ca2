// All that an executor needs of a program, in plain arrays: neither its collective nor a network,
// so that it can travel to a machine that has only an executor.
#pragma once

#include "runtime/data.hpp"
#include "runtime/plans/plan.hpp"
#include "runtime/program.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::runtime {

/// What one rank's input holds before a run, and what its output must hold after it.
struct RankData {
  std::uint64_t input_bytes = 0, output_bytes = 0;
  std::vector<InputChunk> input;
  Expected output;
};

struct PlannedRun {
  Plan plan;
  std::vector<RankData> data; ///< [rank]
  ElementType type = ElementType::float32;
  Combine combine = Combine::sum;
};

/// A chunk that several hold has the values of the first of them, one that reduces each rank's own.
[[nodiscard]] std::vector<InputChunk> input_chunks(const Program& program, std::uint32_t npu,
                                                   ElementType type, std::size_t unit_bytes);

/// A chunk that isn't reduced has one contributor: the first NPU that holds it.
[[nodiscard]] Expected expected_output(const Program& program, std::uint32_t npu, ElementType type,
                                       std::size_t unit_bytes);

/// Pre: the plan is the program's.
[[nodiscard]] PlannedRun with_data(const Program& program, Plan plan, ElementType type,
                                   Combine combine);

/// Errors: InputError where a step, a connection or a chunk is outside of what it lies in, so that
/// an executor would reach outside of its memory. A run that passes may hang, or have wrong
/// results. Cost: O(all its arrays).
void require_sound(const PlannedRun& run);

} // namespace tutti::runtime
