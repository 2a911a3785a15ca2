// The program that the NPUs of a pipeline stage run.
#pragma once

#include "workloads/parallelism/program_writer.hpp"
#include "workloads/parallelism/training_layout.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace tutti {

/// With whom an NPU communicates.
enum class TrainingGroup : std::uint8_t {
  tensor,
  expert,          ///< among whom tokens travel
  replicas,        ///< of dense parameters
  expert_replicas, ///< of experts
  next,            ///< pipeline stage, behind this NPU's
  previous,        ///< pipeline stage, before this NPU's
};
inline constexpr std::size_t training_group_count = 6;

/// [TrainingGroup]: the role by which the program names it; none where nobody else is in it.
using TrainingRoles = std::array<std::uint32_t, training_group_count>;
inline constexpr std::uint32_t no_role = UINT32_MAX;

[[nodiscard]] TrainingProgram stage_program(const TrainingLayout& layout, const NpuProfile& npu,
                                            std::uint32_t stage, const TrainingRoles& roles,
                                            OperationNames& names);

} // namespace tutti
