// Random small cases with everything that the semantics know: switches, memories, shared groups,
// several hops, partial sums, "together", ties, zero latencies.
#pragma once

#include "sim/collective.hpp"
#include "sim/random.hpp"
#include "sim/schedule.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"

#include <cstdint>

namespace tutti::testing {

struct RandomCase {
  Topology topology;
  Collective collective;
  Schedule schedule;
  TimeModel model;
};

/// The schedule obeys verify()'s rules transfer by transfer and wants what it delivers; with
/// `spoilt` about every second one breaks some rule.
[[nodiscard]] RandomCase random_case(std::uint64_t seed, bool spoilt);

/// The same kind of schedule, of which about half of the transfers share sends with others.
[[nodiscard]] RandomCase random_case_of_sends(std::uint64_t seed);

/// Every crossing takes whole picoseconds from now on: rates of random cases are 1 to 3 GB/s.
void make_whole(RandomCase& c);

/// Transfers name others, listed before them, at random. `c` is not spoilt.
void add_dependencies(Random& random, RandomCase& c);

/// A collective of one part, and a schedule of that kind.
struct RandomTraffic {
  Collective collective;
  Schedule schedule;
};
[[nodiscard]] RandomTraffic random_traffic(Random& random, const Topology& topology,
                                           bool shares_sends = false);

} // namespace tutti::testing
