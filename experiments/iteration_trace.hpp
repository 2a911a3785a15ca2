// The timeline of an iteration for ui.perfetto.dev and chrome://tracing: one process per recorded
// NPU, with a track for what it computes and tracks for each purpose of communication.
#pragma once

#include "sim/iteration.hpp"
#include "sim/topology.hpp"
#include "sim/workload.hpp"

#include <iosfwd>
#include <string>
#include <vector>

namespace tutti {

/// The first NPU of each program, at most 16: of training, one of each pipeline stage.
[[nodiscard]] std::vector<NodeId> npus_to_trace(const Workload& workload);

/// One complete ("X") event per IterationReport::spans, from its begin to its end, with all
/// picoseconds as decimals; operations of no time are left out, communications that overlap take
/// several tracks. Args: when a communication was reached, its bytes and its members. Same report,
/// same bytes. Errors: InputError where nothing was recorded.
void write_iteration_trace(std::ostream& out, const Topology& topology, const Workload& workload,
                           const IterationReport& report);

/// The same into a file. Errors: also InputError "FILE: cannot write: ...".
void save_iteration_trace(const std::string& file, const Topology& topology,
                          const Workload& workload, const IterationReport& report);

} // namespace tutti
