// The least time in which a set of links can carry a demand, whatever the order: each link and each
// shared group carries one chunk after another (FIFO) or its bandwidth at most (fluid).
#pragma once

#include "sim/time_model.hpp"
#include "sim/topology.hpp"
#include "synth/bounds/demand.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tutti::bounds {

inline constexpr std::uint32_t no_group = UINT32_MAX;
/// The group of least bandwidth that the link is in, the first of several; else no_group. No other
/// one counts for it.
[[nodiscard]] std::uint32_t slowest_group(const Topology& topology, LinkId link);

/// Per node, in ps: before `entry` nothing can leave it, since data must get there first; what
/// arrives there is nowhere wanted before another `exit`. `never` where that takes longer than any
/// bound, or for good. All 0 in fluid sharing, where a transfer uses all its links from its first
/// moment to its last.
struct Margins {
  std::vector<std::int64_t> entry, exit;
};

/// Margins that hold for every chunk of the collective, whose classes these are. Cost: O(links log
/// nodes).
[[nodiscard]] Margins margins(const Topology& topology, const Collective& collective,
                              std::span<const ChunkClass> classes, const TimeModel& model);

/// Every chunk of the demand must cross one of the links. Two relaxations, the larger time counts:
///   chunks  a link carries at most floor((T - margins) / step) of them, where step is the
///           serialization (plus latency, where the link is busy for it) of the smallest
///           (FIFO only, and not where chunks may be cut);
///   bytes   it carries at most (T - margins) * bandwidth; where it is busy for its latency too, a
///           chunk of n <= largest bytes takes at least n * (alpha / largest + 1 / bandwidth).
/// A shared group limits its links together; a link in several counts in the slowest.
/// Never more than what the best schedule needs: fractions are kept or favour the schedule.
/// Errors: InputError where that is over 26 days.
/// Cost: O(links log links), plus one per kind of link and bit of the result.
[[nodiscard]] Time least_time(const Topology& topology, const TimeModel& model,
                              const Margins& margins, std::span<const LinkId> links,
                              const Demand& demand);

/// What the links carry together, in bytes/s, shared groups considered. Cost: O(links log groups).
[[nodiscard]] int128 joint_bandwidth(const Topology& topology, std::span<const LinkId> links);

/// `63 chunks, 1008MiB over 2 links, 100GB/s together, latency 500ns`: for certificates. Bandwidths
/// of shared groups are considered; the latency is the least.
[[nodiscard]] std::string describe(const Topology& topology, std::span<const LinkId> links,
                                   const Demand& demand);

} // namespace tutti::bounds
