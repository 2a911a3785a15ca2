// TACCL's second stage: the order in which chunks are sent over each connection (Shah et al. 2023,
// sec. 5.1 step 2 and appendix B.2).
#pragma once

#include "sim/units.hpp"
#include "sim/work_limit.hpp"
#include "synth/taccl/sends.hpp"

#include <string_view>
#include <vector>

namespace tutti {

/// Sends in an order in which they can happen, with the times that follow from it: each sets out as
/// soon as its chunk is there and the parts that it crosses are free of all before it in the list.
struct OrderedSends {
  std::vector<SendId> order;
  std::vector<std::int64_t> starts; ///< [send], ps
  Time makespan;
  std::string_view rule; ///< that made the order
};

/// The list timed. Pre: no send before what it waits for. Cost: O(sends * parts of a path).
[[nodiscard]] OrderedSends timed(const Sends& sends, std::vector<SendId> order,
                                 std::string_view rule);

/// By all rules, the fastest first; of equally fast ones those named first:
///   path first  the send with the longest path still to go, then with the shortest one behind it,
///               whenever it can go (the paper's two heuristics)
///   time first  the same, but only among those that can set out first
/// and both of them backwards, from the last arrivals. Errors: LimitReached before the first is
/// done. Cost: O(sends log sends * parts of a path) each.
[[nodiscard]] std::vector<OrderedSends> orderings(const Sends& sends, const WorkLimit& limit);

/// The longest chain of flights that wait for each other.
[[nodiscard]] Time longest_chain(const Sends& sends);

/// No order takes less: the longest chain of flights, or the busiest part between what has to come
/// before and after it.
[[nodiscard]] Time ordering_bound(const Sends& sends);

} // namespace tutti
