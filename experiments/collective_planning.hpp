// One collective of a workload: by an algorithm that was chosen for it, or the fastest of several;
// as remembered, or made now.
#pragma once

#include "experiments/schedule_cache.hpp"
#include "experiments/workload_planning.hpp"
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
  Time alone; ///< on the native engine
  bool was_remembered = false;
};

class CollectivePlanner {
public:
  /// Errors: InputError for a setting that no algorithm has, an unknown collective.
  explicit CollectivePlanner(const PlanningOptions& options);

  /// Of those that are as fast the earlier one. `what`: how messages name it. Pre: spec.pieces is
  /// 1. Errors: InputError where no algorithm can, with why of each; an NPU out of reach.
  [[nodiscard]] PlannedCollective fastest(const Topology& network, const CollectiveSpec& spec,
                                          const std::string& what);

  /// Whether algorithms go by the names of nodes.
  [[nodiscard]] bool goes_by_names() const { return goes_by_names_; }
  [[nodiscard]] double synthesis_seconds() const { return synthesis_seconds_; } ///< CPU, so far
  [[nodiscard]] const std::string& problem() const { return problem_; } ///< a defect; else empty
  [[nodiscard]] const std::string& warning() const { return cache_.warning(); }

private:
  struct Cut;
  [[nodiscard]] std::vector<AlgorithmRow> candidates(CollectiveKind kind) const;
  [[nodiscard]] std::vector<Cut> cuts_for(const AlgorithmRow& row,
                                          const CollectiveSpec& spec) const;
  std::optional<PlannedCollective> made(const AlgorithmRow& row, const Topology& network,
                                        const Cut& cut, const std::string& what, std::string& note);

  const PlanningOptions& options_;
  bool goes_by_names_; // `flows` may: of nodes whose traffic counts
  ScheduleCache cache_;
  double synthesis_seconds_ = 0;
  std::string problem_;
};

} // namespace tutti
