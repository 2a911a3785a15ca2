// How much a set of links can carry by a time, whatever the order.
#pragma once

#include "sim/error.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"
#include "synth/bounds/capacity.hpp"
#include "synth/bounds/demand.hpp"
#include "synth/bounds/least_times.hpp"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti::bounds {

enum class Measure : std::uint8_t { chunks, bytes }; ///< bytes: times ps_per_s

/// A link with margins of its own (as in Margins, for its ends); `never`: it is of no use.
struct UsableLink {
  LinkId link;
  std::int64_t entry = 0, exit = 0;
};

/// When a transfer holds a shared group: before its link's latency or, on the reversed topology,
/// after that.
enum class Holding : std::uint8_t { before_latency, after_latency };

/// Links of a cut, alike ones together, ordered by group.
class Capacity {
public:
  /// For chunks no smaller and no larger than those of the demand. Cost: O(links log links).
  Capacity(const Topology& topology, const TimeModel& model, std::span<const UsableLink> links,
           const Demand& demand, Holding holding = Holding::before_latency);

  /// The most that can have crossed by `time`; at most `cap` (which stands for anything larger).
  /// Never falls with time. Cost: one per kind of link.
  [[nodiscard]] int128 by(std::int64_t time, Measure measure, int128 cap) const;

private:
  /// Links that are alike, or a shared group: how much they can carry, each.
  struct Kind {
    std::uint32_t group = no_group; ///< the slowest one that the link is in
    std::int64_t margin = 0;        ///< the part of T that isn't usable
    std::int64_t rate = 0;          ///< bytes/s, at most
    std::int64_t step = 0;          ///< ps from one chunk to the next, at least
    std::int64_t entry = 0;         ///< first and last part of what a group loses of T
    std::int64_t exit = 0;
    auto operator<=>(const Kind&) const = default;
  };
  struct Alike {
    Kind kind;
    std::int64_t links = 1;
  };

  [[nodiscard]] static Kind kind_of(const Topology& topology, const TimeModel& model,
                                    const UsableLink& usable, const Demand& demand,
                                    Holding holding);
  [[nodiscard]] static int128 carried(const Kind& kind, std::int64_t links, std::int64_t time,
                                      Measure measure, int128 cap);
  [[nodiscard]] Kind group_kind(std::size_t begin, std::size_t end) const;

  const Topology& topology_;
  Bytes smallest_;
  std::vector<Alike> kinds_;
};

/// The first time (>= 1 ps) at which `enough(ps)` holds, which stays true. Errors: InputError where
/// that takes longer than any bound.
template <typename Enough> [[nodiscard]] std::int64_t first_time(Enough enough) {
  std::int64_t high = 1;
  while (!enough(high)) {
    if (high == never) throw InputError(too_long);
    high = std::min(2 * high, never);
  }
  std::int64_t low = high / 2; // not enough yet, or 0
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

} // namespace tutti::bounds
