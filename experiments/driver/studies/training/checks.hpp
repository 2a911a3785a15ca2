// What must hold of the report of any iteration, whatever was planned.
#pragma once

#include "sim/iteration.hpp"
#include "sim/units.hpp"
#include "sim/workload.hpp"
#include "workloads/planning/planning.hpp"

#include <span>
#include <string>

namespace tutti {

/// What is wrong with a report by itself, in words; else empty.
[[nodiscard]] std::string account_problem(const IterationReport& report);
/// Where two engines differ, in words; else empty.
[[nodiscard]] std::string disagreement(const IterationReport& a, const IterationReport& b);
/// Pre: as in the report. The most that any NPU computes, and no less than any plan's bound.
[[nodiscard]] Time lower_bound(const Workload& workload,
                               std::span<const PlannedCommunication> communications);

} // namespace tutti
