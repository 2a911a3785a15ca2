// A schedule as one self-contained JSON case: topology, chunks, transfers and time model in plain
// numbers, for checking verify and the engines against an independent implementation of the model.
//
//   nodes       [{"store", "copy", "reduce": bool, "starts_ps"}]   starts_ps: if some are late
//   links       [{"from", "to", "latency_ps", "bandwidth"}]      bytes/s
//   groups      [{"links": [int], "bandwidth"}]
//   chunks      [{"bytes", "held_by": [node], "wanted_by": [node], "reduce": bool}]
//   transfers   [{"chunk", "path": [link], "op": "copy"|"reduce", "together": bool,
//                 "after": [{"transfer", "event": "left"|"arrived"}]}]  after: if it waits
//   time_model  {"link_busy", "forwarding"}
#pragma once

#include "sim/collective.hpp"
#include "sim/schedule.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"

#include <span>
#include <string>

namespace tutti {

/// `starts`: per node, or empty. Errors: InputError for a reduction rate, which the case format
/// can't express.
[[nodiscard]] std::string oracle_case(const Topology& topology, const Collective& collective,
                                      const Schedule& schedule, const TimeModel& model,
                                      std::span<const Time> starts = {});

} // namespace tutti
