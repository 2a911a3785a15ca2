// The timeline of iterations for ui.perfetto.dev and chrome://tracing. Each run is a process of the
// viewer; each recorded NPU has a track for what it computes and tracks for each purpose of
// communication.
#pragma once

#include "experiments/driver/figures/explorer.hpp"
#include "experiments/driver/figures/trace_events.hpp"
#include "sim/iteration.hpp"
#include "sim/topology.hpp"
#include "sim/workload.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// The first NPU of each program, at most 16: of training, one of each pipeline stage.
[[nodiscard]] std::vector<NodeId> npus_to_trace(const Workload& workload);

/// What a trace with these NPUs leaves out, in words; empty: nothing.
[[nodiscard]] std::vector<std::string> left_out_of_iteration(const Workload& workload,
                                                             const std::vector<NodeId>& npus);

/// The events of one run, as process `pid`:
/// - A slice for each of IterationReport::spans, from its begin to its end, category "compute" or
///   "communication"; operations of no time are left out, communications that overlap take several
///   tracks. Arguments: the operation; for communication also what it is, its bytes, how many
///   members it has and when this one reached it.
/// - Arrows, category "flow": "dependency" from each operation to those of its NPU that begin after
///   it (through one of no time from what that waited for longest), "message" from a send to its
///   receive, and "launch" from the member of a collective for which the others waited to these,
///   where they are recorded.
/// - Counters, category "load": how many of the recorded NPUs compute, and how many communications
///   of theirs are under way, each member's counted.
/// - A mark at the end.
/// Errors: InputError where nothing was recorded.
void write_iteration(TraceEvents& events, std::uint32_t pid, std::string_view name,
                     const Topology& topology, const Workload& workload,
                     const IterationReport& report);

/// The same spans for a page: of the first NPUs that have up to 40,000 of them. Pre: spans are
/// recorded.
[[nodiscard]] ExploredTimeline iteration_timeline(std::string title, const Topology& topology,
                                                  const Workload& workload,
                                                  const IterationReport& report);

} // namespace tutti
