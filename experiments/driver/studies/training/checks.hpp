// What must hold of the report of any iteration, whatever was planned.
#pragma once

#include "sim/iteration.hpp"
#include "sim/units.hpp"
#include "sim/workload.hpp"
#include "workloads/planning/planning.hpp"

#include <span>
#include <string>
#include <vector>

namespace tutti {

/// What is wrong with a report by itself, in words; else empty.
[[nodiscard]] std::string account_problem(const IterationReport& report);

/// What no iteration of a workload can beat by these plans: what each NPU computes once it is
/// there, the last start, and any plan's bound.
class IterationBound {
public:
  IterationBound(const Workload& workload, std::span<const PlannedCommunication> communications);
  /// `starts`: per node, or empty.
  [[nodiscard]] Time time(std::span<const Time> starts = {}) const;

private:
  std::vector<Time> computing_; // per NPU
  Time communicating_;          // the most of any plan
};

} // namespace tutti
