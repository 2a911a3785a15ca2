// One of several values, by chance.
#pragma once

#include "sim/random.hpp"

#include <iterator>

namespace tutti::testing {

/// Pre: not empty.
template <typename Values> auto pick(Random& random, const Values& values) {
  return values[random.below(std::size(values))];
}

} // namespace tutti::testing
