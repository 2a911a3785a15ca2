// How long a collective takes at most (TE-CCL App. E, Algorithm 1; the public program's
// bisection).
#pragma once

#include "sim/collective.hpp"
#include "sim/work_limit.hpp"
#include "synth/teccl/answer.hpp"

#include <cstdint>
#include <functional>
#include <optional>

namespace tutti {

/// Algorithm 1: an upper bound on the collective's time by questions in few, long epochs. Settings'
/// duration is what it changes; the epochs that they ask for are the shortest that it tries. As the
/// public code, but for the upper end of its bisection: where even that is too short, it is
/// doubled. Nothing where someone is out of reach, where no question found a plan, or where the
/// limit was reached first.
[[nodiscard]] std::optional<Time>
epoch_time_bound(const Topology& topology, const Collective& collective, EpochSettings settings,
                 const std::function<EpochAnswer(const EpochProblem&, std::uint32_t)>& question,
                 const WorkLimit& limit);

} // namespace tutti
