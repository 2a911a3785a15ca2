// Schedules for all communication of a workload: each group plans on its own part of the network,
// groups that look alike share a plan. What makes single schedules is handed in.
#pragma once

#include "sim/collective.hpp"
#include "sim/error.hpp"
#include "sim/iteration.hpp"
#include "sim/schedule.hpp"
#include "sim/synthesizer.hpp"
#include "sim/topology.hpp"
#include "sim/transport/transport.hpp"
#include "sim/units.hpp"
#include "sim/workload.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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

/// What planning asks of synthesis. A workload says which collectives there are; how their
/// schedules are made, cut into chunks and remembered, and what bounds them from below, is handed
/// in by whoever plans. All functions are set.
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

/// No algorithm can plan a request. The message says why, of each.
class CannotPlan : public InputError {
public:
  CannotPlan(const std::string& message, Status status) : InputError(message), status_(status) {}
  /// out_of_memory where that ended one of them; else the first that isn't infeasible, if any.
  [[nodiscard]] Status status() const { return status_; }

private:
  Status status_;
};

struct PlanningOptions {
  /// One: what every collective uses (where it doesn't define one, or a group is too small for it,
  /// that is an error which says so). Several: for each collective, group and size one of them, by
  /// the workload's duration on the native engine (best_choice()).
  std::vector<AlgorithmRow> algorithms;
  std::string shares; ///< "all_to_all_v,zipf=1.2": what All-to-Alls send to each; none: equal ones
  std::map<std::string, AlgorithmRow> by_collective; ///< "all_to_all": instead of `algorithms`
  /// Per shard. Several: with each algorithm, the fastest. None: automatically.
  std::vector<std::uint32_t> chunks;
  SynthesisOptions options;
  /// As IterationOptions::one_at_a_time, where a choice is simulated; and what one NPU sends to
  /// another is one message.
  bool one_at_a_time = false;
  std::shared_ptr<const Transport> transport; ///< that times count; null: ideal links
};

/// What was planned for the requests that share a plan.
struct PlannedCommunication {
  CollectiveKind kind = CollectiveKind::all_reduce;
  bool is_send = false;
  Bytes size;
  std::uint32_t members = 0;
  std::uint64_t requests = 0; ///< how many groups, roots and sizes it is the plan of
  std::string algorithm;
  std::string protocol;               ///< under a transport
  std::uint32_t chunks_per_shard = 1; ///< of named collectives
  Time alone, bound;                  ///< on the group's part of the network
  bool was_remembered = false;
};

struct WorkloadPlanning {
  WorkloadPlans plans;
  std::vector<PlannedCommunication> communications; ///< largest first
  double synthesis_seconds = 0;                     ///< CPU
  std::string problem; ///< a defect of Tutti in words (a fault, a time below its bound); else empty
  std::string warning; ///< why schedules aren't remembered although they should be; else empty
};

/// Plans every request of the workload, and verifies every schedule, remembered ones too. Requests
/// that differ only in where their groups lie share a plan. What one NPU sends to another goes
/// along the shortest path in their part of the network, or in the whole one by the options'
/// routing; in up to 64 chunks where nodes on the path store it and that is faster, unless
/// communication is one at a time. Buffers too small for the requested chunks get fewer, those too
/// small for any are padded to one byte a chunk. If several algorithms are given, none would be
/// faster throughout (best_choice() says how they are chosen, and what that costs).
/// Errors: CannotPlan for a request that no algorithm can plan (why, of each); InputError for an
/// unknown collective.
[[nodiscard]] WorkloadPlanning plan_workload(const Topology& topology, const Workload& workload,
                                             const PlanningOptions& options,
                                             const WorkloadSynthesis& synthesis);

} // namespace tutti
