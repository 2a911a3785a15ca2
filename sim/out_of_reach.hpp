// An algorithm that can't do without a path which the network doesn't have.
#pragma once

#include "sim/error.hpp"

namespace tutti {

/// Someone can't be reached, in the way an algorithm needs it. That is bad input where someone asks
/// for the path itself; of a synthesis it says that the algorithm isn't made for this network (see
/// synthesize()), as another one may go other ways.
class OutOfReach : public InputError {
public:
  using InputError::InputError;
};

} // namespace tutti
