// What planning asks of synthesis. A workload says which collectives there are; how their schedules
// are made, cut into chunks and remembered, and what bounds them from below, is handed in by
// whoever plans.
#pragma once

#include "sim/collective.hpp"
#include "sim/iteration.hpp"
#include "sim/schedule.hpp"
#include "sim/synthesizer.hpp"
#include "sim/topology.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace tutti {

/// What one algorithm made of one collective.
struct SynthesizedCollective {
  Collective collective;                ///< cut into the chunks that the schedule speaks of
  std::optional<Schedule> schedule;     ///< verified; none where the algorithm can't
  std::optional<LibraryChoice> library; ///< as Outcome::library
  Status status = Status::infeasible;   ///< as the algorithm said
  std::string note;                     ///< why there is no schedule; else empty
  std::string problem;                  ///< a defect of Tutti in words, as a fault is; else empty
  std::string warning; ///< why schedules aren't remembered although they should be; else empty
  double seconds = 0;  ///< CPU, of the synthesis; 0 where it was remembered
  bool was_remembered = false;
};

/// A time that no schedule of a collective can beat.
struct ProvenBound {
  Time time;
  std::string certificate; ///< in words
};

/// All functions are set.
struct WorkloadSynthesis {
  /// By one algorithm, into so many chunks per shard, times AlgorithmRow::chunk_multiple; none: as
  /// many as are chosen automatically. Pre: the collective's chunks_per_shard is 1.
  /// Errors: InputError where a member is out of reach, or the collective can't be cut so.
  std::function<SynthesizedCollective(const AlgorithmRow&, const Topology&, const CollectiveSpec&,
                                      std::optional<std::uint32_t> chunks)>
      synthesize;
  /// A bound on any schedule for the plan's collective, in however many chunks; on schedules that
  /// share sends only where the plan's does. Errors: InputError where a member is out of reach.
  std::function<ProvenBound(const Topology&, const CommunicationPlan&)> bound;
  /// Whether schedules depend on how nodes are called.
  bool goes_by_names = false;
};

} // namespace tutti
