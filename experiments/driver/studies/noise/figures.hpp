// Pictures of what draws came to.
#pragma once

#include "experiments/driver/figures/picture.hpp"
#include "experiments/driver/figures/style.hpp"
#include "experiments/driver/studies/noise/draws.hpp"

#include <span>
#include <string>

namespace tutti {

struct NamedNoise {
  std::string name; ///< of the algorithm, and what else tells it from the others
  const NoiseOutcome* outcome = nullptr; ///< not owned
};

/// How often which time came out: a stepped curve for each, over equal classes of time.
/// Errors: InputError without any.
[[nodiscard]] Figure histogram_figure(const Heading& heading, std::span<const NamedNoise> outcomes);

/// For each a group of bars: its time without noise, and what half, nine tenths, 99 of 100 and all
/// of its draws don't exceed. Errors: as above.
[[nodiscard]] Figure robustness_figure(const Heading& heading,
                                       std::span<const NamedNoise> outcomes);

} // namespace tutti
