// Workload descriptions as text: ASTRA-sim 1.0's, and SimAI's, which extends it.
#pragma once

#include "sim/topology.hpp"
#include "sim/units.hpp"
#include "sim/workload.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace tutti {

struct TextWorkloadOptions {
  /// Of computing times, which the files give without a unit: ASTRA-sim 1.0 and SimAI count
  /// nanoseconds, Chakra's converter microseconds. Needed.
  std::optional<Time> unit;
  std::uint32_t passes = 1; ///< iterations
  /// Of model-parallel groups, where the file doesn't say.
  std::optional<std::uint32_t> model_group;
};

/// Errors: InputError "FILE:LINE:COLUMN: ..." for a parallelism, kind of communication or column
/// that isn't known, counts that don't fit, a communication of 0 bytes; without a unit.
[[nodiscard]] Workload read_text_workload(const std::string& file, const Topology& topology,
                                          const TextWorkloadOptions& options);

} // namespace tutti
