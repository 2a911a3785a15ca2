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
  /// The unit of computing times, which the files give without one: ASTRA-sim 1.0 and SimAI count
  /// nanoseconds, Chakra's converter microseconds. Needed.
  std::optional<Time> unit;
  std::uint32_t passes = 1; ///< iterations
  /// The size of model-parallel groups, where the file doesn't say; none: the extent of the
  /// topology's dimension along which NPUs are neighbours.
  std::optional<std::uint32_t> model_group;
};

/// What depends on what is as in ASTRA-sim 1.0 (workloads/README.md): one layer after another
/// forward, then back; its "loops" are the model here. Model-parallel groups are neighbouring NPUs,
/// data-parallel ones take one NPU of each; HYBRID_MODEL_DATA has it the other way round. With
/// SimAI's words NPUs are numbered by tensor, expert, data and pipeline parallelism, the first
/// fastest; an All-Gather's size is the total buffer in files with them, and a member's share in
/// ASTRA-sim's.
///
/// With `pp` the file's layers are those of one stage, in `ga` runs that are alike (what comes
/// before and after belongs to the first and the last): micro-batches, which each stage computes by
/// 1F1B.
///
/// Not looked at: the dependency and update columns, `vpp` (in these files the number of layers),
/// a communication of 0 bytes in files with SimAI's words, the columns of gradients in
/// DISTRIBUTED_INFERENCE, and all but the last communication in MICRO.
///
/// Errors: InputError "FILE:LINE:COLUMN: ..." for a parallelism, kind of communication or column
/// that isn't known, counts that don't fit, a communication of 0 bytes, one that its parallelism
/// has no group for, an ALLREDUCEALLTOALL (not one collective); without a unit.
[[nodiscard]] Workload read_text_workload(const std::string& file, const Topology& topology,
                                          const TextWorkloadOptions& options);

} // namespace tutti
