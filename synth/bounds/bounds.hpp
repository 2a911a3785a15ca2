// Lower bounds on collective time that no schedule can beat, with what proves them.
#pragma once

#include "sim/collective.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"
#include "sim/words.hpp"
#include "synth/bounds/demand.hpp"
#include "synth/bounds/outline.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

enum class BoundKind : std::uint8_t {
  latency_path,  ///< the longest of the shortest paths that a chunk must go
  in_cut,        ///< what must enter one node, over its incoming links
  out_cut,       ///< what must leave one node, over its outgoing links
  total_work,    ///< deliveries that are needed at least, over all links to where they can happen
  balanced_cut,  ///< what must cross from one half to the other
  cluster_cut,   ///< what must enter or leave nodes that belong together: a server, a switch's NPUs
  dimension_cut, ///< what must enter or leave NPUs that agree in some coordinates: a row, a node
  max_flow_cut,  ///< the least bandwidth for what must pass, around any nodes
  work_between,  ///< deliveries that are needed at least between clusters, over all links there
  spreading_cut, ///< what must cross, and still get around behind it (or together before it)
  timed_cut,     ///< what must cross from afar, or with far to go
  closed_form,   ///< from the largest bandwidth into and out of any NPU alone
  flow_prices,   ///< what all paths cost at least, at prices for bandwidth
  late_start,    ///< what only begins when a member joins
};
[[nodiscard]] std::string_view to_text(BoundKind kind);

/// What proves a bound, in numbers: all that the checker (check.hpp) is given beside the time.
/// Empty where the kind has no such thing.
struct Certificate {
  std::vector<bool> inside = {}; ///< cuts, [node]: data enters these from the others
  /// Cuts, prices: only data counts that comes from so far, and has so far to go; it crosses no
  /// earlier, and no later before the end.
  Time from = {}, until = {};
  /// Work, [node]: deliveries from one part to another count.
  std::vector<std::uint32_t> part_of = {};
  /// Paths; no source: the nearest that holds it. Late starts: the source joins late, and its
  /// out-cut (`inside`) or a path to the destination follows, or nothing.
  NodeId source = {}, destination = {};
  /// Flow prices, [link, then shared group]: whole numbers, in a unit of their own.
  std::vector<double> prices = {};
  /// Spreading cuts: nodes inside to which all chunks that count must get (all of them outside:
  /// from which they come together before they cross). With credits, what a crossing earns that is
  /// early (late) enough for so many of them; without, what crosses after `from` (before `until` of
  /// the end) still gets to the first of them.
  std::vector<NodeId> targets = {};
  struct Credit {
    std::uint32_t targets = 0; ///< for so many or more
    std::int64_t more = 0;
  };
  std::vector<Credit> credits = {};
};

/// A lower bound on the time of any schedule for this collective (these chunks), this topology and
/// this time model, with its certificate.
struct Bound {
  Time time;
  BoundKind kind = BoundKind::latency_path;
  std::string certificate;    ///< in words: "in-cut of npu0: 63 chunks, 1008MiB over 2 links, ..."
  std::vector<NodeId> inside; ///< cuts: the node or the nodes that are cut off from the others
  Certificate proof = {};
};

/// How much a bound may cost.
enum class BoundEffort : std::uint8_t {
  least, ///< paths and cuts: for those who ask while they synthesize
  quick, ///< 0.2 s or, where there are more chunks, about what a replay of them takes by ten
  full,  ///< the best there is
};

/// Those that are for users.
inline constexpr Words<BoundEffort, 2> bound_effort_words{
    "bound", {"quick", "full"}, BoundEffort::quick};

/// The best bound of each kind that applies, in the order of BoundKind.
struct Bounds {
  std::vector<Bound> any;   ///< of any schedule of the collective, however it is cut
  std::vector<Bound> given; ///< of schedules of these chunks

  /// The first of those with the longest time.
  [[nodiscard]] const Bound& best() const;
  /// The same at these chunks, to which bounds of any schedule apply as well.
  [[nodiscard]] const Bound& best_at_chunks() const;
};

/// Each kind has limits to its work, counted and not timed: searches for latency paths, O(chunks +
/// links log links) for each partition and set that is cut, a maximum flow for each node, searches
/// behind the worst cuts, a program of flows.
/// `starts` is RunOptions::starts: where members join late there is a bound of kind late_start; the
/// others hold as they are.
/// Errors: InputError where a chunk can't reach someone who wants it, or needs over 26 days; for
/// starts that aren't one per node.
[[nodiscard]] Bounds all_bounds(const Topology& topology, const Collective& collective,
                                const TimeModel& model, BoundEffort effort = BoundEffort::quick,
                                std::span<const Time> starts = {});

/// The same of a collective that may be too large to be listed.
[[nodiscard]] Bounds all_bounds(const Topology& topology, const bounds::Outline& outline,
                                const TimeModel& model, BoundEffort effort = BoundEffort::quick);

/// One of both kinds; what all_bounds() has there.
[[nodiscard]] std::vector<Bound> lower_bounds(const Topology& topology,
                                              const Collective& collective, const TimeModel& model,
                                              Chunking chunking = Chunking::any,
                                              BoundEffort effort = BoundEffort::quick,
                                              std::span<const Time> starts = {});
/// The best of them. No schedule is faster.
[[nodiscard]] Bound lower_bound(const Topology& topology, const Collective& collective,
                                const TimeModel& model, Chunking chunking = Chunking::any,
                                BoundEffort effort = BoundEffort::quick,
                                std::span<const Time> starts = {});

/// The first of those with the longest time. Pre: there is one.
[[nodiscard]] const Bound& best_of(const std::vector<Bound>& bounds);

/// The lower bound at these chunks, by paths and cuts, in words, where this time is below it; else
/// empty. Asked of every plan of a repair: without prices of flows, which cost a program each.
[[nodiscard]] std::string beaten_bound(const Topology& topology, const Collective& collective,
                                       const TimeModel& model, Time time);

} // namespace tutti
