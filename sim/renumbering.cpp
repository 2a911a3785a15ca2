// Why: greedy planners decide ties by id, so that the order of a file's rows decides how fast its
// plan is; and they use what links there are, so that a link more can make a plan slower. Idea: one
// place where any planner is given the same network for every listing, and where it tries the
// network without what shortest paths, or whole rails, don't need.

#include "sim/renumbering.hpp"

#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/graphs/canonical_order.hpp"
#include "sim/graphs/shortest_paths.hpp"
#include "sim/work_limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace tutti {

namespace {

using Kept = std::vector<bool>; // [link]

/// The part of a network that keeps some links, renumbered.
struct View {
  Topology network;
  std::vector<NodeId> nodes; ///< of the whole, by the view's
  std::vector<LinkId> links;
  Collective collective;
  std::vector<std::uint32_t> ranks; ///< of the whole's group, by the view's
};

/// Not a custom one, nor one in which ranks themselves say who sends to whom.
bool is_by_members(const Collective& collective) {
  if (collective.parts.size() != 1) return false;
  const CollectiveKind kind = collective.parts.front().kind;
  return kind != CollectiveKind::custom && kind != CollectiveKind::sendrecv &&
         kind != CollectiveKind::hypercube && !has_shares(kind);
}

/// A chunk of the whole for each of a view's, with so many chunks per shard; `ranks`: of the
/// whole's group, by the view's. An All-Reduce's shards are all alike and stay where they are.
std::vector<ChunkId> chunks_of(const CollectivePart& part, const std::vector<std::uint32_t>& ranks,
                               std::uint32_t per_shard) {
  const auto members = static_cast<std::uint32_t>(ranks.size());
  const auto block = [&](std::uint32_t b) {
    switch (part.kind) {
    case CollectiveKind::gather:
    case CollectiveKind::scatter:
    case CollectiveKind::all_gather:
    case CollectiveKind::hypercube:
    case CollectiveKind::reduce_scatter: return ranks[b];
    case CollectiveKind::all_to_all: return ranks[b / members] * members + ranks[b % members];
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
    case CollectiveKind::all_reduce:
    case CollectiveKind::sendrecv:
    case CollectiveKind::all_to_all_v:
    case CollectiveKind::all_gather_v:
    case CollectiveKind::reduce_scatter_v:
    case CollectiveKind::custom: break;
    }
    return b;
  };
  const std::uint32_t blocks = part.chunk_count / part.chunks_per_shard;
  std::vector<ChunkId> chunks;
  chunks.reserve(blocks * std::size_t{per_shard});
  for (std::uint32_t b = 0; b < blocks; ++b)
    for (std::uint32_t k = 0; k < per_shard; ++k) chunks.emplace_back(block(b) * per_shard + k);
  return chunks;
}

/// The network with these of its nodes, links and groups, in this order.
Topology reordered(const Topology& topology, const CanonicalOrder& order) {
  TopologyParts parts = topology.parts();
  std::vector<NodeId> node_in(topology.node_count());
  std::vector<LinkId> link_in(topology.link_count());
  parts.nodes.clear();
  parts.links.clear();
  parts.groups.clear();
  parts.coordinates.clear();
  for (const NodeId node : order.nodes) {
    node_in[node.value] = parts.add_node(topology.node(node));
    if (!topology.parts().coordinates.empty())
      parts.coordinates.emplace_back(topology.coordinate(node).begin(),
                                     topology.coordinate(node).end());
  }
  for (const LinkId id : order.links) {
    Link link = topology.link(id);
    link.from = node_in[link.from.value];
    link.to = node_in[link.to.value];
    link_in[id.value] = parts.add_link(link);
  }
  for (const std::uint32_t g : order.groups) {
    SharedGroup group = topology.groups()[g];
    for (LinkId& link : group.links) link = link_in[link.value];
    std::ranges::sort(group.links);
    parts.groups.push_back(std::move(group));
  }
  return Topology(std::move(parts));
}

bool is_as_listed(const CanonicalOrder& order) {
  const auto is_place = [](const auto& ids) {
    for (std::uint32_t i = 0; i < ids.size(); ++i)
      if (ids[i].value != i) return false;
    return true;
  };
  return is_place(order.nodes) && is_place(order.links) && std::ranges::is_sorted(order.groups);
}

class Views {
public:
  Views(const Topology& topology, const Collective& collective)
      : topology_(topology), collective_(collective), part_(collective.parts.front()),
        cost_(topology.link_count()) {
    const Bytes largest = collective.largest_chunk(); // O(chunks)
    for (std::uint32_t l = 0; l < topology.link_count(); ++l)
      cost_[l] = topology.link(LinkId{l}).latency.ps +
                 serialization(largest, topology.effective_bandwidth(LinkId{l})).ps;
  }

  /// In canonical order; nothing where that is as it was listed, and all links are kept.
  [[nodiscard]] std::optional<View> of(const Kept& kept) const {
    std::vector<LinkId> links;
    for (std::uint32_t l = 0; l < kept.size(); ++l)
      if (kept[l]) links.emplace_back(l);
    const bool all = links.size() == kept.size();
    std::optional<Topology> rest;
    if (!all) rest.emplace(with(links));
    const Topology& network = rest ? *rest : topology_;
    const CanonicalOrder order = canonical_order(network, marks());
    if (all && is_as_listed(order) && std::ranges::is_sorted(part_.group)) return std::nullopt;
    View view{reordered(network, order), order.nodes, {}, {}, {}};
    for (const LinkId link : order.links) view.links.push_back(links[link.value]);
    std::vector<std::uint32_t> rank(topology_.node_count(), no_index);
    for (std::uint32_t r = 0; r < part_.group.size(); ++r) rank[part_.group[r].value] = r;
    CollectiveSpec spec{part_.kind, part_.size, {}, 0, part_.chunks_per_shard};
    for (std::uint32_t n = 0; n < order.nodes.size(); ++n) {
      const std::uint32_t r = rank[order.nodes[n].value];
      if (r == no_index) continue;
      if (r == part_.root) spec.root = static_cast<std::uint32_t>(spec.group.size());
      spec.group.emplace_back(n);
      view.ranks.push_back(r);
    }
    view.collective = make_collective(view.network, spec);
    // Which shards have a byte more isn't for the view to say.
    const std::vector<ChunkId> chunks = chunks_of(part_, view.ranks, part_.chunks_per_shard);
    for (std::size_t c = 0; c < chunks.size(); ++c)
      view.collective.chunks[c].size = collective_.chunks[chunks[c].value].size;
    return view;
  }

  /// Links on a shortest path from a member to a member; all where finding them is long work.
  [[nodiscard]] Kept on_shortest_paths() const {
    constexpr std::size_t most_looks = 4'000'000;
    Kept kept(topology_.link_count(), true);
    if (part_.group.size() * topology_.link_count() > most_looks || all_are_direct()) return kept;
    kept.assign(kept.size(), false);
    std::vector<bool> is_member(topology_.node_count());
    for (const NodeId member : part_.group) is_member[member.value] = true;
    for (const NodeId member : part_.group) keep_paths_from(member, is_member, kept);
    return kept;
  }

  /// Links that don't touch a switch without NPUs next to it; all where members need others.
  [[nodiscard]] Kept without_spines() const {
    Kept kept(topology_.link_count(), true);
    for (std::uint32_t l = 0; l < kept.size(); ++l) {
      const Link& link = topology_.link(LinkId{l});
      kept[l] = !is_spine(link.from) && !is_spine(link.to);
    }
    if (!joins_members(kept, true) || !joins_members(kept, false)) kept.assign(kept.size(), true);
    return kept;
  }

  /// Links but the few without which it is far more regular; all where members need them.
  [[nodiscard]] Kept regular() const {
    Kept kept(topology_.link_count(), true);
    for (const LinkId link : odd_links(topology_, memberships())) kept[link.value] = false;
    if (!joins_members(kept, true) || !joins_members(kept, false)) kept.assign(kept.size(), true);
    return kept;
  }

private:
  [[nodiscard]] Topology with(const std::vector<LinkId>& links) const {
    TopologyParts parts = topology_.parts();
    std::vector<LinkId> link_in(topology_.link_count());
    parts.links.clear();
    for (const LinkId id : links) link_in[id.value] = parts.add_link(topology_.link(id));
    for (SharedGroup& group : parts.groups) {
      for (LinkId& link : group.links) link = link_in[link.value];
      std::erase_if(group.links, [](LinkId link) { return !link.valid(); });
    }
    std::erase_if(parts.groups, [](const SharedGroup& group) { return group.links.empty(); });
    return Topology(std::move(parts));
  }

  /// What sets nodes apart, the root aside.
  [[nodiscard]] std::vector<std::uint32_t> memberships() const {
    std::vector<std::uint32_t> marks(topology_.node_count(), 2);
    for (const NodeId member : part_.group) marks[member.value] = 1;
    return marks;
  }
  [[nodiscard]] std::vector<std::uint32_t> marks() const {
    std::vector<std::uint32_t> marks = memberships();
    if (has_root(part_.kind)) marks[part_.group[part_.root].value] = 0;
    return marks;
  }

  /// Whether all links join members, at one cost: each is the shortest path between its ends.
  [[nodiscard]] bool all_are_direct() const {
    return part_.group.size() == topology_.node_count() &&
           std::ranges::adjacent_find(cost_, std::ranges::not_equal_to{}) == cost_.end();
  }

  void keep_paths_from(NodeId source, const std::vector<bool>& is_member, Kept& kept) const {
    constexpr std::int64_t far = INT64_MAX;
    std::vector<std::int64_t> distance(topology_.node_count(), far);
    std::vector<std::uint32_t> settled; // by distance
    search_shortest_paths(distance, {&source.value, 1},
                          [&](auto node, auto there, const auto& relax) {
                            settled.push_back(node);
                            for (const LinkId link : topology_.out_links(NodeId{node}))
                              relax(topology_.link(link).to.value, there + cost_[link.value]);
                          });
    std::vector<bool> leads_on = is_member; // to a member, by shortest paths from the source
    for (auto node = settled.rbegin(); node != settled.rend(); ++node) {
      if (!leads_on[*node]) continue;
      for (const LinkId link : topology_.in_links(NodeId{*node})) {
        const NodeId from = topology_.link(link).from;
        if (distance[from.value] == far ||
            distance[from.value] + cost_[link.value] != distance[*node])
          continue;
        kept[link.value] = true;
        leads_on[from.value] = true;
      }
    }
  }

  [[nodiscard]] bool is_spine(NodeId node) const {
    const auto is_npu = [&](NodeId other) { return other.value < topology_.npu_count(); };
    return topology_.node(node).kind == NodeKind::switching &&
           std::ranges::none_of(topology_.out_links(node),
                                [&](LinkId l) { return is_npu(topology_.link(l).to); }) &&
           std::ranges::none_of(topology_.in_links(node),
                                [&](LinkId l) { return is_npu(topology_.link(l).from); });
  }

  [[nodiscard]] bool joins_members(const Kept& kept, bool forward) const {
    std::vector<bool> seen(topology_.node_count());
    std::vector<NodeId> queue{part_.group.front()};
    seen[queue.front().value] = true;
    for (std::size_t i = 0; i < queue.size(); ++i)
      for (const LinkId l :
           forward ? topology_.out_links(queue[i]) : topology_.in_links(queue[i])) {
        const NodeId next = forward ? topology_.link(l).to : topology_.link(l).from;
        if (!kept[l.value] || seen[next.value]) continue;
        seen[next.value] = true;
        queue.push_back(next);
      }
    return std::ranges::all_of(part_.group, [&](NodeId member) { return seen[member.value]; });
  }

  const Topology& topology_;
  const Collective& collective_;
  const CollectivePart& part_;
  std::vector<std::int64_t> cost_; // [link], ps
};

/// What the view's ids are in the whole, for schedules with `parts` times the chunks per shard.
class ToWhole {
public:
  ToWhole(const View& view, const CollectivePart& part, std::uint32_t parts, std::uint32_t links)
      : view_(view), links_(links),
        chunks_(chunks_of(part, view.ranks, part.chunks_per_shard * parts)) {}

  [[nodiscard]] Schedule of(const Schedule& schedule) const {
    Schedule made(links_);
    made.reserve(schedule.size());
    const PathTable& paths = schedule.paths();
    std::vector<PathId> path_in(paths.size());
    std::vector<LinkId> links;
    for (std::size_t i = 0; i < schedule.size(); ++i) {
      Transfer transfer = schedule[i];
      PathId& path = path_in[transfer.path.value];
      if (!path.valid()) {
        links.clear();
        for (const LinkId link : paths.links(transfer.path))
          links.push_back(view_.links[link.value]);
        path = made.paths().intern(links);
      }
      transfer.path = path;
      transfer.chunk = chunks_[transfer.chunk.value];
      made.push(transfer);
    }
    for (std::size_t k = 0; k < schedule.waiting().size(); ++k)
      made.add_dependency(schedule.waiting()[k], schedule.all_dependencies()[k]);
    return made;
  }

  [[nodiscard]] CompactSchedule of(CompactSchedule compact) const {
    compact.reductions = of(std::move(compact.reductions));
    compact.copies = of(std::move(compact.copies));
    return compact;
  }

private:
  [[nodiscard]] ChunkLists of(ChunkLists lists) const {
    std::vector<std::size_t> begin(links_), end(links_);
    for (std::uint32_t l = 0; l < view_.links.size(); ++l) {
      begin[view_.links[l].value] = lists.begin[l];
      end[view_.links[l].value] = lists.end[l];
    }
    std::visit(
        [&](auto& chunks) {
          for (std::uint32_t l = 0; l < view_.links.size(); ++l)
            for (std::size_t i = lists.begin[l]; i < lists.end[l]; ++i)
              chunks[i] = static_cast<std::remove_reference_t<decltype(chunks[i])>>(
                  chunks_[chunks[i]].value);
        },
        lists.chunks);
    lists.begin = std::move(begin);
    lists.end = std::move(end);
    return lists;
  }

  const View& view_;
  std::uint32_t links_;
  std::vector<ChunkId> chunks_;
};

class PlanningByStructure {
public:
  PlanningByStructure(SynthesisFunction run, const Topology& topology, const Collective& collective,
                      const SynthesisOptions& options)
      : run_(run), topology_(topology), collective_(collective), options_(options), limit_(options),
        views_(topology, collective) {
    model_ = options.model;
    model_.discipline = Discipline::fifo;
  }

  Outcome best(bool (*tries_on)(const Outcome&), bool (*is_alike)(const Outcome&, const Outcome&)) {
    const Kept all(topology_.link_count(), true);
    Outcome best = on(all, options_);
    if (is_cut_short(best.status) || (tries_on != nullptr && !tries_on(best))) return best;
    std::optional<Time> time;
    std::vector<Kept> tried{all};
    const auto attempt = [&](Kept kept, const std::string& why) {
      if (std::ranges::find(tried, kept) != tried.end() || limit_.reached()) return;
      tried.push_back(std::move(kept));
      std::optional<Outcome> other = quietly(tried.back());
      if (!other || !has_schedule(*other)) return;
      if (is_alike != nullptr && !is_alike(best, *other)) return;
      if (!time && has_schedule(best)) time = time_of(best);
      const Time took = time_of(*other);
      if (time && took >= *time) return;
      time = took;
      other->bound = best.bound; // what bounds the part doesn't bound the whole
      std::erase_if(other->facts,
                    [](const auto& fact) { return fact.first.find("bound") != std::string::npos; });
      if (other->status == Status::optimal) other->status = Status::feasible;
      const auto count = std::ranges::count(tried.back(), false);
      other->note += fmt::format("{}without {} link{} {}", other->note.empty() ? "" : "; ", count,
                                 count == 1 ? "" : "s", why);
      best = *std::move(other);
    };
    try {
      attempt(views_.on_shortest_paths(), "that no shortest path takes");
      attempt(views_.without_spines(), "of switches that no NPU is next to");
      attempt(views_.regular(), "outside the symmetry of the rest");
    } catch (const LimitReached&) { // in a replay
    }
    return best;
  }

private:
  static bool has_schedule(const Outcome& outcome) {
    return outcome.schedule.has_value() || outcome.compact.has_value();
  }

  [[nodiscard]] Outcome on(const Kept& kept, SynthesisOptions options) const {
    const std::optional<View> view = views_.of(kept);
    options.routing.by_number = true;
    if (!view) return run_(topology_, collective_, options);
    Outcome outcome = run_(view->network, view->collective, options);
    if (!has_schedule(outcome)) return outcome;
    const ToWhole whole(*view, collective_.parts.front(), outcome.parts_per_chunk,
                        topology_.link_count());
    if (outcome.schedule) outcome.schedule = whole.of(*outcome.schedule);
    if (outcome.compact) outcome.compact = whole.of(*std::move(outcome.compact));
    return outcome;
  }

  /// Nothing where it doesn't go there, or not in time.
  [[nodiscard]] std::optional<Outcome> quietly(const Kept& kept) const {
    SynthesisOptions rest = options_;
    constexpr double least_seconds = 1e-3; // 0 is no limit
    if (options_.limit_seconds > 0)
      rest.limit_seconds = std::max(limit_.remaining_seconds(), least_seconds);
    try {
      return on(kept, rest);
    } catch (const LimitReached&) {
    } catch (const InputError&) { // a setting that means something on the whole network only
    }
    return std::nullopt;
  }

  /// Errors: LimitReached.
  [[nodiscard]] Time time_of(const Outcome& outcome) const {
    std::optional<Collective> finer;
    if (outcome.parts_per_chunk > 1) {
      const CollectivePart& part = collective_.parts.front();
      finer = make_collective(topology_,
                              spec_of(part, part.chunks_per_shard * outcome.parts_per_chunk));
    }
    const Collective& collective = finer ? *finer : collective_;
    if (outcome.compact)
      return run_native_compact(topology_, collective, *outcome.compact, model_, limit_.watch())
          .completion;
    return run_native(topology_, collective, *outcome.schedule, model_, {.watch = limit_.watch()})
        .completion;
  }

  SynthesisFunction run_;
  const Topology& topology_;
  const Collective& collective_;
  const SynthesisOptions& options_;
  WorkLimit limit_;
  TimeModel model_;
  Views views_;
};

} // namespace

Outcome planned_by_structure(SynthesisFunction run, const Topology& topology,
                             const Collective& collective, const SynthesisOptions& options,
                             bool (*tries_on)(const Outcome&),
                             bool (*is_alike)(const Outcome&, const Outcome&)) {
  if (!is_by_members(collective)) return run(topology, collective, options);
  return PlanningByStructure(run, topology, collective, options).best(tries_on, is_alike);
}

} // namespace tutti
