// One collective of a workload: by the algorithm that was chosen for it, or by each of several; as
// remembered, or made now.
#pragma once

#include "sim/collective.hpp"
#include "sim/iteration.hpp"
#include "sim/synthesizer.hpp"
#include "sim/topology.hpp"
#include "workloads/planning/plan_choice.hpp"
#include "workloads/planning/planning.hpp"

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
  /// Errors: InputError for an unknown collective.
  CollectivePlanner(const PlanningOptions& options, const WorkloadSynthesis& synthesis);

  /// One plan by each algorithm that can, at least one: of several numbers of chunks the best by
  /// is_better(), ties to the earlier. `what`: how messages name it. Pre: spec.chunks_per_shard is
  /// 1. Errors: CannotPlan where no algorithm can.
  [[nodiscard]] std::vector<PlannedCollective>
  by_each(const Topology& network, const CollectiveSpec& spec, const std::string& what);

  [[nodiscard]] double synthesis_seconds() const { return synthesis_seconds_; } ///< CPU, so far
  [[nodiscard]] const std::string& problem() const { return problem_; } ///< a defect; else empty
  [[nodiscard]] const std::string& warning() const { return warning_; }

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
  const WorkloadSynthesis& synthesis_;
  double synthesis_seconds_ = 0;
  std::string problem_, warning_;
};

} // namespace tutti
