// Small networks whose nodes store, copy and reduce in every combination, and collectives on them.
#pragma once

#include "sim/collective.hpp"
#include "sim/random.hpp"
#include "sim/topology.hpp"

#include <cstddef>
#include <string>

namespace tutti::samples {

struct AbilityCase {
  Topology topology;
  Collective collective;
};

/// Three to five NPUs and one to three switches, not all of which every NPU can reach; latencies
/// are often 0. One or two collectives of up to three chunks per shard. Who isn't a member may be
/// unable to do something, as may members once in a while.
[[nodiscard]] AbilityCase random_ability_case(Random& random);

struct AbilityAnswers {
  std::size_t schedules = 0;
  std::string fault; ///< of the first answer that is wrong; empty: none
};

/// Every algorithm of the lists: its schedule is correct and has no redundant transfer, or it says
/// why there is none.
void ask_all(const AbilityCase& given, AbilityAnswers& answers);

} // namespace tutti::samples
