// Members that join late (RunOptions::starts): until then they neither send nor take delivery.
//
// Theorem. Let a member u join at s. No schedule ends before
//   s        since the collective isn't over before all who hold or want something are there;
//   s + C    where C is the time that the out-cut of u proves: chunks that only u holds, or that u
//            contributes to, and that others want, over the links out of u;
//   s + P    where P is the latency path of any of them to someone who wants it.
// Proof. Of a chunk that nobody else holds, every byte that gets to another node was first sent by
// u, over a link out of u and at s or later; so was the sum with u's contribution. (Paths lead
// through u before s, too, but carry what others have sent.) What C and P say of a schedule, they
// say from the moment on at which the first of this data can leave u, which is s and not 0.
// A chunk that others hold as well doesn't count, as u need not send any of it.
// C and P don't depend on s: who has many draws of start times needs them once.
#pragma once

#include "sim/collective.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"
#include "synth/bounds/bounds.hpp"
#include "synth/bounds/demand.hpp"
#include "synth/bounds/latency_path.hpp"
#include "synth/bounds/problem.hpp"

#include <optional>
#include <span>
#include <vector>

namespace tutti {

namespace bounds {

/// What a member still takes, at least, once it has joined.
struct Joining {
  NodeId node;
  Time by_cut;
  SlowestPath by_path;
};

/// The best over all late members; nothing where no member is late. `leaving` is what must leave
/// each node (NodeDemands::out). Errors: InputError for starts that aren't none or one per node,
/// and where the bound is over 26 days.
/// Cost: O(chunk classes + set sizes), and for each late member O(links log links) at it and what
/// PathsFrom takes, the latest first.
[[nodiscard]] std::optional<Bound>
late_start(const Problem& problem, std::span<const Demand> leaving, std::span<const Time> starts);

} // namespace bounds

/// Bounds for many draws of start times, each O(members). Topology, collective and model must
/// outlive them. Made once: O(chunks log chunks), and as above for all members.
class LateStartBounds {
public:
  /// Errors: InputError where a chunk can't reach someone who wants it, or needs over 26 days.
  LateStartBounds(const Topology& topology, const Collective& collective, const TimeModel& model,
                  Chunking chunking = Chunking::any);
  LateStartBounds(const LateStartBounds&) = delete; // paths refer to the problem's chunks
  LateStartBounds& operator=(const LateStartBounds&) = delete;

  /// The longest time that a late member proves; 0 where no member is late. Errors: InputError for
  /// starts that aren't none or one per node, and where that is over 26 days.
  [[nodiscard]] Time time(std::span<const Time> starts) const;
  /// The same with its certificate.
  [[nodiscard]] Bound bound(std::span<const Time> starts) const;

private:
  bounds::Problem problem_;
  std::vector<bounds::Demand> leaving_;  // by node
  std::vector<bounds::Joining> joining_; // of all members
};

/// For one draw: what lower_bounds() has of BoundKind::late_start, at less cost. Its time is 0
/// where no member is late.
[[nodiscard]] Bound late_start_bound(const Topology& topology, const Collective& collective,
                                     const TimeModel& model, std::span<const Time> starts,
                                     Chunking chunking = Chunking::any);

} // namespace tutti
