// Chakra execution traces (MLCommons; one file PREFIX.N.et per NPU): protobuf messages, each after
// its length, first the metadata, then one node after another.
#pragma once

#include "sim/topology.hpp"
#include "sim/units.hpp"
#include "sim/workload.hpp"

#include <string>
#include <vector>

namespace tutti {

struct ChakraOptions {
  /// JSON file {"1": [0, 1], ...}: process groups by name, instead of the trace's own. Empty: that
  /// beside the traces, if there is one (chakra_groups_file()), and the trace's own.
  std::string groups;
  /// An NPU's roofline: with it, a compute node that has num_ops (and isn't the CPU's) takes
  /// max(num_ops / flops_per_second, tensor_size / memory_bandwidth); else its own duration.
  double flops_per_second = 0; ///< 0: no roofline
  Bandwidth memory_bandwidth;  ///< 0: no limit
};

/// Whether there is a file PREFIX.0.et.
[[nodiscard]] bool is_chakra_prefix(const std::string& prefix);

/// PREFIX.groups.json: what ASTRA-sim takes as --comm-group-configuration.
[[nodiscard]] std::string chakra_groups_file(const std::string& prefix);

/// Reads PREFIX.0.et to PREFIX.N-1.et for the topology's N NPUs. Plain or gzip.
///
/// Sizes: comm_size is a member's share of an All-Gather or Gather, and the whole buffer of all
/// else. A barrier is an All-Reduce of a byte per member, and nothing is smaller than that.
/// Collectives of a group meet in the order of their nodes (dependencies first, then ids), as
/// NCCL's do; a send meets the receive of equal source, destination, tag and size, in that order,
/// too. The ready operation with the lowest id has its turn first. Start times say nothing.
/// What has no place in the format is in attributes `tutti_...`, which other readers don't look at.
/// Other tools may have removed nodes.
///
/// Errors: InputError "FILE: node 12 (name): ...": a file that is missing, truncated or broken; an
/// attribute, type of node or of collective that isn't known or has no meaning here; a cycle,
/// within an NPU or across several (its nodes are named); a dependency or group that isn't there; a
/// group whose members disagree about who is in it; a collective of 0 bytes; a member that lacks a
/// collective of its group; involved dimensions on a topology without coordinates.
/// "FILE:LINE:COLUMN: ..." for the file with groups.
[[nodiscard]] Workload read_chakra(const std::string& prefix, const Topology& topology,
                                   const ChakraOptions& options = {});

/// Writes PREFIX.0.et ... and chakra_groups_file(), in version 1.0.0 of the format, and returns the
/// names of the traces. read_chakra() makes the same of them; others find durations in whole
/// microseconds, whose sum over an NPU's computing is off by half of one at most. Errors:
/// InputError "FILE: cannot write: ...".
std::vector<std::string> write_chakra(const Workload& workload, const std::string& prefix);

} // namespace tutti
