// What a solver says of a problem in K epochs.
#pragma once

#include "synth/teccl/problem.hpp"

#include <optional>
#include <string>

namespace tutti {

enum class EpochStatus : std::uint8_t {
  optimal,    ///< the plan is best, proven
  feasible,   ///< a plan, perhaps not the best
  infeasible, ///< proven: no plan in so many epochs
  timed_out,  ///< not known
};

struct EpochAnswer {
  EpochStatus status = EpochStatus::timed_out;
  EpochPlan plan;                  ///< empty unless optimal or feasible
  std::optional<double> objective; ///< the plan's reward
  std::optional<double> at_most;   ///< no plan's reward is higher, proven
  std::string method;              ///< "Cbc", "4-fold symmetric SAT", ...
  double seconds = 0;              ///< wall clock
};

} // namespace tutti
