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
  std::string
      groups; ///< JSON file {"1": [0, 1], ...}: process groups by name; empty: the trace's own
  /// An NPU's roofline: with it, a compute node that has num_ops (and isn't the CPU's) takes
  /// max(num_ops / flops_per_second, tensor_size / memory_bandwidth); else its own duration.
  double flops_per_second = 0; ///< 0: no roofline
  Bandwidth memory_bandwidth;  ///< 0: no limit
};

/// Whether there is a file PREFIX.0.et.
[[nodiscard]] bool is_chakra_prefix(const std::string& prefix);

/// Reads PREFIX.0.et to PREFIX.N-1.et for the topology's N NPUs. Plain or gzip.
///
/// Sizes: comm_size is a member's share of an All-Gather or Gather, and the whole buffer of all
/// else. A barrier is an All-Reduce of a byte per member, and nothing is smaller than that.
/// Collectives of a group meet in the order of their nodes (dependencies first, then ids), as
/// NCCL's do; a send meets the receive of equal source, destination, tag and size, in that order,
/// too. Start times say nothing. What has no place in the format is in attributes `tutti_...`,
/// which other readers don't look at.
///
/// Errors: InputError "FILE: node 12 (name): ...": a file that is missing, truncated or broken; an
/// attribute, type of node or of collective that isn't known or has no meaning here; a cycle (its
/// nodes are named); a dependency or group that isn't there; a collective of 0 bytes; a member that
/// lacks a collective of its group; involved dimensions on a topology without coordinates.
[[nodiscard]] Workload read_chakra(const std::string& prefix, const Topology& topology,
                                   const ChakraOptions& options = {});

/// Writes PREFIX.0.et ... and returns their names. read_chakra() makes the same of them; others
/// find durations in whole microseconds. Errors: InputError "FILE: cannot write: ...".
std::vector<std::string> write_chakra(const Workload& workload, const std::string& prefix);

} // namespace tutti
