// One collective under one sketch: TACCL's three stages one after another (Shah et al. 2023, sec.
// 5), and what each of them is within of its optimum.
#pragma once

#include "sim/collective.hpp"
#include "sim/schedule.hpp"
#include "sim/synthesizer.hpp"
#include "sim/work_limit.hpp"
#include "synth/taccl/sketch.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti {

/// Whose paths stages 2 and 3 start from.
enum class RouteSource : std::uint8_t { flows, taccl, tacos };

struct TacclSettings {
  std::vector<RouteSource> routes{RouteSource::taccl}; ///< each is tried
  bool joins_chunks = true;                            ///< stage 3 may send chunks contiguously
  /// Paths may be longer than the shortest by this part of it; none: 0 and 1 are tried.
  std::optional<double> slack = {};
  Time enough = {};      ///< what is no slower needs no further attempts
  bool is_hasty = false; ///< the first paths and orders that are found, nothing better
};

struct SketchAnswer {
  std::optional<Schedule> schedule; ///< on the network
  Time replayed;                    ///< what it takes there
  std::string why_not;              ///< where there is none; empty where the limit came first
  Time routing, routing_at_least;   ///< of the relaxation, both halves of an All-Reduce together
  Time ordering, ordering_at_least; ///< for the routes that were chosen
  Time planned, planned_at_least;   ///< with joined sends, in that order
  bool is_exact = false;            ///< `planned` is the least for the routes and the order, proven
  std::uint32_t joined = 0;         ///< chunks that share a send with the one before
  std::uint32_t connections = 0;    ///< in use, of hyperedges
  std::uint32_t symmetry = 1;       ///< elements
  std::string how;                  ///< "rerouting; time first"
};

/// Pre: the collective is of one part, and what reduces can be inverted. Errors: InputError as
/// logical_topology(), routing_symmetry(); LimitReached before there is anything to show.
[[nodiscard]] SketchAnswer synthesize_by_sketch(const Topology& network,
                                                const Collective& collective, const Sketch& sketch,
                                                const TacclSettings& settings,
                                                const SynthesisOptions& options,
                                                const WorkLimit& limit);

/// For another algorithm in the course of this one: its own defaults, what is left of the limit.
[[nodiscard]] SynthesisOptions plain_options(const SynthesisOptions& options,
                                             const WorkLimit& limit);

} // namespace tutti
