// A collective that copies, planned in epochs by the method that is asked for or fits.
#pragma once

#include "sim/schedule.hpp"
#include "sim/work_limit.hpp"
#include "synth/teccl/answer.hpp"
#include "synth/teccl/settings.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace tutti {

struct EpochSynthesis {
  EpochAnswer answer;
  std::optional<Schedule> schedule; ///< the plan's
  Time epoch;
  std::uint32_t epochs = 0;   ///< that the plan takes; without one: of the best plan that is known
  std::uint32_t at_least = 0; ///< proven: no plan takes fewer
  std::uint32_t rounds = 0;   ///< where there were any
  std::string why_not;        ///< without a schedule

  [[nodiscard]] Time planned() const { return {epoch.ps * epochs}; }
};

/// Starts from `start` (a schedule of the collective: TACOS's) where that can be put in epochs, and
/// is never worse. One shot: the smallest number of epochs by satisfiability first, then the best
/// plan in so many by the integer program. At the limit: the best plan so far; if there is none,
/// the answer is timed_out. Pre: `collective` doesn't reduce.
[[nodiscard]] EpochSynthesis synthesize_epochs(const Topology& topology,
                                               const Collective& collective,
                                               const TecclSettings& settings,
                                               const std::optional<Schedule>& start,
                                               const WorkLimit& limit);

} // namespace tutti
