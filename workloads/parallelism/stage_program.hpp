// The program that the NPUs of a pipeline stage run.
#pragma once

#include "workloads/parallelism/training_layout.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

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

/// Names of operations, each kept once: what is done to which layers.
class OperationNames {
public:
  explicit OperationNames(std::vector<std::string> layers) : layers_(std::move(layers)) {}
  /// "forward block0.attention .. block3.mlp".
  std::uint32_t of_layers(std::string_view what, std::uint32_t first, std::uint32_t last);
  std::uint32_t of(std::string_view what); ///< the words alone
  [[nodiscard]] std::vector<std::string> take() { return std::move(names_); }

private:
  std::uint32_t add(std::string name);

  std::vector<std::string> layers_, names_;
  std::map<std::tuple<std::string, std::uint32_t, std::uint32_t>, std::uint32_t> known_;
};

[[nodiscard]] TrainingProgram stage_program(const TrainingLayout& layout, const NpuProfile& npu,
                                            std::uint32_t stage, const TrainingRoles& roles,
                                            OperationNames& names);

} // namespace tutti
