// One collective of a workload: by the algorithm that was chosen for it, or by each of several; as
// remembered, or made now.
#pragma once

#include "experiments/driver/cache/schedule_cache.hpp"
#include "experiments/driver/planning/plan_choice.hpp"
#include "experiments/driver/planning/workload_planning.hpp"
#include "sim/collective.hpp"
#include "sim/iteration.hpp"
#include "sim/topology.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti {

struct PlannedCollective {
  CommunicationPlan plan;
  Time alone, busy; ///< on the native engine, as PlanVariant says
  bool was_remembered = false;
};

[[nodiscard]] PlanVariant variant_of(const PlannedCollective& planned);

class CollectivePlanner {
public:
  /// Errors: InputError for a setting that no algorithm has, an unknown collective.
  explicit CollectivePlanner(const PlanningOptions& options);

  /// One plan by each algorithm that can, at least one: of several numbers of chunks the best by
  /// is_better(), ties to the earlier. `what`: how messages name it. Pre: spec.pieces is 1.
  /// Errors: CannotPlan where no algorithm can; InputError for an NPU out of reach.
  [[nodiscard]] std::vector<PlannedCollective>
  by_each(const Topology& network, const CollectiveSpec& spec, const std::string& what);

  /// Whether algorithms go by the names of nodes.
  [[nodiscard]] bool goes_by_names() const { return goes_by_names_; }
  [[nodiscard]] double synthesis_seconds() const { return synthesis_seconds_; } ///< CPU, so far
  [[nodiscard]] const std::string& problem() const { return problem_; } ///< a defect; else empty
  [[nodiscard]] const std::string& warning() const { return cache_.warning(); }

private:
  struct Cut;
  /// Why an algorithm has no plan.
  struct Refusal {
    Status status = Status::infeasible;
    std::string note;
  };
  [[nodiscard]] std::vector<AlgorithmRow> candidates(CollectiveKind kind) const;
  [[nodiscard]] std::vector<Cut> cuts_for(const AlgorithmRow& row,
                                          const CollectiveSpec& spec) const;
  std::optional<PlannedCollective> made(const AlgorithmRow& row, const Topology& network,
                                        const Cut& cut, const std::string& what, Refusal& refusal);

  const PlanningOptions& options_;
  bool goes_by_names_; // `flows` may: of nodes whose traffic counts
  ScheduleCache cache_;
  double synthesis_seconds_ = 0;
  std::string problem_;
};

} // namespace tutti
