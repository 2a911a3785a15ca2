// Random failures at given rates, the same for the same seed on every machine.
#pragma once

#include "experiments/driver/studies/event_plan.hpp"
#include "sim/random.hpp"
#include "sim/topology.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// A Poisson number of this mean, at most `most`; by products of uniform numbers (Knuth, "The Art
/// of Computer Programming" 2, sec. 3.4.1.F), of parts of a large mean. Cost: O(mean).
/// Pre: mean >= 0.
[[nodiscard]] std::uint64_t poisson(Random& random, double mean, std::uint64_t most);

/// NPUs that die, then cables that fail (both directions), then NPUs that fall behind, each as many
/// as a Poisson number says, none twice, at random moments in millionths of the run. The three are
/// drawn apart, so that a rate changes only what it is a rate of. What `written` names is left
/// alone, and so are NPUs at links and links at NPUs that it names; nothing befalls what has died.
[[nodiscard]] std::vector<PlannedEvent> drawn_events(const Topology& topology,
                                                     const FailureRates& rates, std::uint64_t seed,
                                                     std::span<const PlannedEvent> written);

} // namespace tutti
