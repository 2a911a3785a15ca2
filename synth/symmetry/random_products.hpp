// Random elements of a group by product replacement (Celler, Leedham-Green, Murray, Niemeyer,
// O'Brien 1995, "Generating random elements of a finite group").
#pragma once

#include "sim/random.hpp"
#include "synth/symmetry/permutations.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

class RandomProducts {
public:
  /// Replaces at most `most_warm_up` products before the first one is given out; ten for each
  /// generator are enough. Pre: at least one generator.
  explicit RandomProducts(std::span<const Permutation> generators,
                          std::size_t most_warm_up = SIZE_MAX) {
    for (std::size_t i = 0; i < std::max<std::size_t>(10, generators.size()); ++i)
      slots_.push_back(generators[i % generators.size()]);
    const std::size_t warm_up = std::min(most_warm_up, 10 * slots_.size());
    for (std::size_t i = 0; i < warm_up; ++i) (void)next();
  }

  /// Valid until the next call.
  const Permutation& next() {
    const std::size_t target = random_.below(slots_.size());
    const std::size_t other = (target + 1 + random_.below(slots_.size() - 1)) % slots_.size();
    const bool inverted = random_.below(2) == 1;
    slots_[target] = composed(slots_[target], inverted ? inverse(slots_[other]) : slots_[other]);
    return slots_[target];
  }

private:
  std::vector<Permutation> slots_;
  Random random_{1};
};

} // namespace tutti
