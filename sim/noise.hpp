// Clocks and links that differ from run to run: when NPUs join a collective, and how fast links
// are, drawn at random. Each draw is a network and start times of its own, which engines then take
// as they are.
#pragma once

#include "sim/ids.hpp"
#include "sim/topology.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// How start times are distributed; each draw is then shifted so that the earliest is 0.
struct Skew {
  enum class Kind : std::uint8_t {
    none,
    uniform,     ///< from 0 to `scale`
    normal,      ///< with `scale` as standard deviation, cut at three of them
    exponential, ///< with `scale` as mean
  };
  Kind kind = Kind::none;
  Time scale;
};

/// Standard deviations of the factors by which bandwidth and latency of each link differ from 1:
/// normal, cut at three of them. Pre: 0 <= 3 * each < 1, so that no link stands still.
struct Jitter {
  double bandwidth = 0, latency = 0;
};

/// No start is later: six days, which leaves a run as much of what a Time can hold.
inline constexpr Time latest_start{INT64_MAX / 16};

/// How far apart starts that are drawn so may be, in units of the scale.
[[nodiscard]] double largest_spread(Skew::Kind kind);

struct Noise {
  Skew skew;
  Jitter jitter;
  std::uint64_t seed = 1;
};

/// Per node: when each of `members` joins in this draw; 0 for others. What is drawn for a node
/// depends on seed, draw and node alone. Errors: InputError where one is after latest_start.
[[nodiscard]] std::vector<Time> drawn_starts(const Topology& topology,
                                             std::span<const NodeId> members, const Noise& noise,
                                             std::uint32_t draw);

/// The network of this draw. What is drawn for a link depends on seed, draw and link alone. A
/// bandwidth is at least 1 byte/s; shared groups and reduction rates stay.
[[nodiscard]] Topology drawn_network(const Topology& topology, const Noise& noise,
                                     std::uint32_t draw);

} // namespace tutti
