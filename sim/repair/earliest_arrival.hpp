// How early a transfer can be delivered at best on a network to which things happen.
#pragma once

#include "sim/ids.hpp"
#include "sim/network_event.hpp"
#include "sim/topology.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace tutti {

/// Each link alone: nobody else is on it, and heads move on at once. So no engine, whatever its
/// queues, can be earlier.
class EarliestArrival {
public:
  /// `events` as sorted_events() gives them. The topology must outlive this object.
  EarliestArrival(const Topology& topology, std::span<const NetworkEvent> events);

  struct Arrival {
    Time head; ///< the first byte at the end of the path
    Time tail; ///< the last one
  };
  /// The earliest arrival of something that is there at `ready`; nothing where a link stays down
  /// before it is across. Cost: O(links of the path), and the events on those.
  [[nodiscard]] std::optional<Arrival> over(std::span<const LinkId> path, Time ready,
                                            Bytes size) const;

private:
  /// From `at` on the link has this rate (0: it is down) and this latency.
  struct Phase {
    Time at;
    Bandwidth rate;
    Time latency;
  };

  [[nodiscard]] std::span<const Phase> phases(LinkId link) const {
    return std::span(phases_).subspan(begin_[link.value],
                                      begin_[link.value + 1] - begin_[link.value]);
  }

  const Topology& topology_;
  std::vector<Phase> phases_;      // by link, by time; none where nothing happens to a link
  std::vector<std::size_t> begin_; // [link]: its first phase
};

} // namespace tutti
