// One copying collective on one topology by matching: which network to match on (links alone, or
// switches unwound with some degree), how often to try, and the best that came out.
#pragma once

#include "sim/collective.hpp"
#include "sim/compact_schedule.hpp"
#include "sim/schedule.hpp"
#include "sim/synthesizer.hpp"
#include "sim/topology.hpp"
#include "sim/work_limit.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti {

struct PlanSettings {
  std::optional<std::uint32_t> candidates; ///< chunks that a link chooses among; none: 1, then 8
  std::optional<std::uint32_t> degree;     ///< of unwinding; none: the best of several
  bool ports = false;                      ///< switches as they are, not unwound
  std::uint32_t starts = 1;                ///< attempts on the network that turns out best
  bool listed = false;                     ///< however long it is
};

struct TacosPlan {
  std::optional<Schedule> schedule;       ///< on the topology itself
  std::optional<CompactSchedule> compact; ///< instead, where it is very long
  Time time;                  ///< what attempts are compared by: on the topology itself if replayed
  Time planned;               ///< on the network that was matched
  std::string planned_on;     ///< "switches unwound with degree 2"; empty for the topology's links
  std::vector<Time> attempts; ///< times of all attempts, in their order
  std::uint32_t network = 0;  ///< degree of unwinding; 0: links alone
  bool at_bound = false;      ///< no matching on this network is faster
};

struct Planning {
  std::optional<TacosPlan> plan; ///< none: the network doesn't connect the participants, or no time
  bool connected = false;        ///< whether links, or unwound switches, connect the participants
  bool timed_out = false;        ///< a limit ended it; the plan is the best so far
};

/// Chunks are copied; participants hold and want them: all want all of them, or the collective is
/// custom. Participants also relay what they don't want, where it needs that.
/// Errors: InputError for a degree out of range.
[[nodiscard]] Planning plan(const Topology& topology, const Collective& collective,
                            std::span<const NodeId> participants, const SynthesisOptions& options,
                            const PlanSettings& settings, const WorkLimit& limit);

} // namespace tutti
