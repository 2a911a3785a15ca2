// The timeline of a run for chrome://tracing and ui.perfetto.dev: Trace Event Format, JSON object
// form. One track per link, grouped by the node that sends over it.
#pragma once

#include "sim/collective.hpp"
#include "sim/report.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"

#include <iosfwd>
#include <string>

namespace tutti {

/// Streams one complete ("X") event per Report::hops: pid = the link's source node, tid = the link
/// (and further tids where transfers share it at the same time), name "chunk 12 copy npu0>npu1", ts
/// and dur in microseconds with all picoseconds as decimals, args transfer and bytes; metadata
/// events name nodes and links, and an instant event marks the completion. Same report, same bytes.
/// Errors: InputError where the run recorded no hops (RunOptions::record_hops) though the schedule
/// has transfers. Cost: O(nodes + links + hops) time, no memory of that size.
void write_trace(std::ostream& out, const Topology& topology, const Collective& collective,
                 const Schedule& schedule, const Report& report);

/// The same into a file, through a temporary and a rename. Errors: InputError "FILE: cannot write".
void save_trace(const std::string& file, const Topology& topology, const Collective& collective,
                const Schedule& schedule, const Report& report);

} // namespace tutti
