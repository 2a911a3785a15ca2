// Chakra execution traces (MLCommons; one file PREFIX.N.et per NPU): protobuf messages, each after
// its length, first the metadata, then one node after another.
#pragma once

#include "sim/topology.hpp"
#include "sim/workload.hpp"

#include <string>
#include <vector>

namespace tutti {

struct ChakraOptions {
  std::string
      groups; ///< JSON file {"1": [0, 1], ...}: process groups by name; empty: the trace's own
};

/// Whether there are files PREFIX.0.et, PREFIX.1.et, ...
[[nodiscard]] bool is_chakra_prefix(const std::string& prefix);

/// Reads PREFIX.0.et to PREFIX.N-1.et for the topology's N NPUs. Plain or gzip.
/// Errors: InputError "FILE: node 12 (name): ...": a file that is missing, truncated or broken; an
/// attribute, type of node or of collective that isn't known or has no meaning here; a cycle (its
/// nodes are named); a dependency or group that isn't there; a collective of 0 bytes; a member that
/// lacks a collective of its group.
[[nodiscard]] Workload read_chakra(const std::string& prefix, const Topology& topology,
                                   const ChakraOptions& options = {});

/// Writes PREFIX.0.et ... and returns their names. Errors: InputError "FILE: cannot write: ...".
std::vector<std::string> write_chakra(const Workload& workload, const std::string& prefix);

} // namespace tutti
