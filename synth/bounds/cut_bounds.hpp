// What cuts prove: the time that the links across need for what must cross.
#pragma once

#include "synth/bounds/bounds.hpp"
#include "synth/bounds/cuts.hpp"
#include "synth/bounds/demand.hpp"
#include "synth/bounds/partition.hpp"
#include "synth/bounds/problem.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::bounds {

/// A partition with what must enter and leave its parts.
struct Parts {
  Partition partition;
  std::vector<std::vector<NodeId>> nodes; ///< [part]
  Collective quotient;                    ///< its sets, with parts as nodes
  NodeDemands demands;                    ///< [part]

  Parts(const Problem& problem, Partition parted);

  [[nodiscard]] std::uint32_t of(NodeId node) const { return partition.part_of[node.value]; }
};

/// The cuts that need longest, for a second look.
class WorstCuts {
public:
  explicit WorstCuts(std::size_t kept) : kept_(kept) {}

  struct Cut {
    Time time;
    NodeSet inside; ///< data enters these from the others
  };

  /// `inside()` makes the set, where it is kept. The first of equals counts.
  template <typename Inside> void offer(Time time, Inside inside) {
    const auto at =
        std::find_if(cuts_.begin(), cuts_.end(), [&](const Cut& cut) { return cut.time < time; });
    if (time.ps == 0 || (at == cuts_.end() && cuts_.size() == kept_)) return;
    cuts_.insert(at, {time, inside()});
    if (cuts_.size() > kept_) cuts_.pop_back();
  }
  [[nodiscard]] const std::vector<Cut>& cuts() const { return cuts_; } ///< by falling time

private:
  std::size_t kept_;
  std::vector<Cut> cuts_;
};

/// All that were kept, by falling time, each once.
[[nodiscard]] std::vector<NodeSet> distinct_sets(const std::vector<WorstCuts>& worst);

/// How a certificate names a cut: by the side that has fewer nodes.
struct NamedCut {
  std::string text;          ///< `into npu0, npu1, npu2 and 61 more`
  std::vector<NodeId> nodes; ///< that are named
};
[[nodiscard]] NamedCut named(const Problem& problem, const NodeSet& set, bool leaves);

// Each of these is nothing where nothing has to pass. Of equal times the first counts.
// All cuts that were considered are offered to `worst`.

/// The cut around one node, which `demand` must enter or leave: `kind` is in_cut or out_cut.
struct NodeCut {
  BoundKind kind;
  NodeId node;
  Demand demand;

  /// 0 where nothing has to pass. Cost: O(links log links) of those at the node.
  [[nodiscard]] Time time(const Problem& problem) const;
  [[nodiscard]] Bound bound(const Problem& problem, Time time) const; ///< pre: what time() says
};

/// The worst node. `kind` is in_cut or out_cut; `nodes` has each alone. Cost: O(links log links).
[[nodiscard]] std::optional<Bound> node_cut(const Problem& problem, BoundKind kind,
                                            const Parts& nodes, WorstCuts& worst);

/// The worst of the sets, out of it or into it. Cost: O(links log links + chunk classes + set
/// sizes) for each.
[[nodiscard]] std::optional<Bound> set_cut(const Problem& problem, BoundKind kind,
                                           const std::vector<NodeSet>& sets, WorstCuts& worst);

/// The worst part of two nodes or more, into it or out of it. Cost: O(links log links) for all.
[[nodiscard]] std::optional<Bound> part_cut(const Problem& problem, BoundKind kind,
                                            const Parts& parts, WorstCuts& worst);

/// All deliveries from part to part. `kind` is total_work (each node is a part) or work_between.
/// The longer of two times:
///   entries     what must enter parts with NPUs, added up, over the links into those of them that
///               something must enter. Proof: each such chunk crosses a link from another part into
///               this one, whatever other nodes can do, and no link leads into two parts; so what
///               enters any choice of parts fits through their links, and parts without
///               demand would only add links. More than the cut around the worst of them where
///               links into several share a group.
///   deliveries  what deliveries() counts, over the links into all parts where one can happen.
/// Cost: O(links log links + chunk classes).
[[nodiscard]] std::optional<Bound> work(const Problem& problem, BoundKind kind, const Parts& parts);

} // namespace tutti::bounds
