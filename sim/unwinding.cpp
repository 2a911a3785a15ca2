// What lies between participants falls into connected fabrics, by union-find. Each new link stands
// for a cheapest path through its fabric (Dijkstra), where a link that lies on earlier paths costs
// so many serializations more, so that equal paths share the load; its bandwidth is then the least
// even share over its path.

#include "sim/unwinding.hpp"

#include "sim/error.hpp"
#include "sim/graphs/disjoint_sets.hpp"
#include "sim/limit_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

namespace tutti {

namespace {

/// Connected parts of what lies between the participants.
class Fabrics {
public:
  Fabrics(const Topology& topology, std::span<const NodeId> participants)
      : takes_part_(topology.node_count()), ports_(topology.node_count()),
        of_(topology.node_count()) {
    for (const NodeId npu : participants) takes_part_[npu.value] = true;
    // Ties are broken by the order of fabrics. So that a seed keeps its schedule, two that a link
    // joins go on under the number of the one that it leads to.
    DisjointSets joined(topology.node_count());
    std::vector<std::uint32_t> number(topology.node_count()); // of a fabric, by its root
    std::iota(number.begin(), number.end(), 0U);
    for (const Link& link : topology.links()) {
      if (takes_part(link.from) || takes_part(link.to)) continue;
      const std::uint32_t kept = number[joined.find(link.to.value)];
      joined.join(link.from.value, link.to.value);
      number[joined.find(link.to.value)] = kept;
    }
    for (std::uint32_t node = 0; node < of_.size(); ++node) of_[node] = number[joined.find(node)];
    for (const NodeId npu : participants) {
      std::vector<std::uint32_t> leaves, enters;
      for (const LinkId link : topology.out_links(npu))
        if (const NodeId to = topology.link(link).to; !takes_part(to)) leaves.push_back(of(to));
      for (const LinkId link : topology.in_links(npu))
        if (const NodeId from = topology.link(link).from; !takes_part(from))
          enters.push_back(of(from));
      std::ranges::sort(leaves);
      leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
      for (const std::uint32_t fabric : leaves)
        if (std::ranges::find(enters, fabric) != enters.end()) ports_[fabric].push_back(npu);
    }
    for (std::vector<NodeId>& ports : ports_) std::ranges::sort(ports);
  }

  [[nodiscard]] bool takes_part(NodeId node) const { return takes_part_[node.value]; }
  /// The number of the fabric that a node belongs to.
  [[nodiscard]] std::uint32_t of(NodeId node) const { return of_[node.value]; }
  /// [fabric]: in a fixed order, the participants with links from and to it; some are empty.
  [[nodiscard]] const std::vector<std::vector<NodeId>>& ports() const { return ports_; }

private:
  std::vector<bool> takes_part_;
  std::vector<std::vector<NodeId>> ports_;
  std::vector<std::uint32_t> of_; // [node]
};

/// Cheapest paths through a fabric; a link costs more the more paths lie on it already.
class Paths {
public:
  Paths(const Topology& topology, const Fabrics& fabrics, Bytes size)
      : topology_(topology), fabrics_(fabrics), size_(size), uses_(topology.link_count()),
        inwards_(topology.node_count()), cost_(topology.node_count(), never),
        by_(topology.node_count()) {
    for (std::uint32_t node = 0; node < topology.node_count(); ++node)
      for (const LinkId link : topology.out_links(NodeId{node}))
        if (!fabrics.takes_part(topology.link(link).to)) inwards_[node].push_back(link);
  }

  /// Through the fabric of this number. Empty where there is none. Counts as a use of its links.
  std::vector<LinkId> find(NodeId from, NodeId to, std::uint32_t fabric) {
    Queue queue;
    reach(from, 0, queue);
    while (!queue.empty()) {
      const auto [cost, node] = queue.top();
      queue.pop();
      if (node == to) break;
      if (cost > cost_[node.value]) continue;
      for (const LinkId link : inwards_[node.value])
        if (fabrics_.of(topology_.link(link).to) == fabric) take(link, cost, queue);
      if (node == from) continue; // a link to the end is no path through the fabric
      for (const LinkId link : topology_.in_links(to))
        if (topology_.link(link).from == node) take(link, cost, queue);
    }
    std::vector<LinkId> path;
    if (cost_[to.value] != never)
      for (NodeId at = to; at != from; at = topology_.link(path.back()).from)
        path.push_back(by_[at.value]);
    std::ranges::reverse(path);
    for (const LinkId link : path) ++uses_[link.value];
    for (const NodeId node : reached_) cost_[node.value] = never;
    reached_.clear();
    return path;
  }

private:
  using Entry = std::pair<std::int64_t, NodeId>;
  using Queue = std::priority_queue<Entry, std::vector<Entry>, std::greater<>>;
  static constexpr std::int64_t never = INT64_MAX;

  void reach(NodeId node, std::int64_t cost, Queue& queue) {
    if (cost_[node.value] == never) reached_.push_back(node);
    cost_[node.value] = cost;
    queue.emplace(cost, node);
  }

  void take(LinkId link, std::int64_t cost, Queue& queue) {
    const NodeId next = topology_.link(link).to;
    const std::int64_t there = cost + cost_of(link);
    if (there >= cost_[next.value]) return;
    by_[next.value] = link;
    reach(next, there, queue);
  }

  [[nodiscard]] std::int64_t cost_of(LinkId link) const {
    const std::int64_t sent = serialization(size_, topology_.effective_bandwidth(link)).ps;
    return topology_.link(link).latency.ps + sent * (1 + uses_[link.value]);
  }

  const Topology& topology_;
  const Fabrics& fabrics_;
  Bytes size_;
  std::vector<std::int64_t> uses_;           // [link]
  std::vector<std::vector<LinkId>> inwards_; // [node]: to nodes that don't take part
  std::vector<std::int64_t> cost_;           // [node]: never, but for those reached by this search
  std::vector<NodeId> reached_;
  std::vector<LinkId> by_; // [node]
};

/// How often links and groups lie on a path, and what follows from sharing them evenly.
class LinkShares {
public:
  LinkShares(const Topology& topology, const std::vector<std::vector<LinkId>>& paths)
      : topology_(topology), on_link_(topology.link_count()), on_group_(topology.groups().size()) {
    for (const std::vector<LinkId>& path : paths)
      for (const LinkId link : path) {
        ++on_link_[link.value];
        for (const std::uint32_t group : topology.groups_of(link)) ++on_group_[group];
      }
  }

  [[nodiscard]] Bandwidth bandwidth(const std::vector<LinkId>& path) const {
    std::int64_t least = INT64_MAX;
    for (const LinkId link : path) {
      least =
          std::min(least, topology_.link(link).bandwidth.bytes_per_second / on_link_[link.value]);
      for (const std::uint32_t group : topology_.groups_of(link))
        least = std::min(least,
                         topology_.groups()[group].bandwidth.bytes_per_second / on_group_[group]);
    }
    return Bandwidth{std::max<std::int64_t>(least, 1)};
  }

  [[nodiscard]] Time busy_latency(const std::vector<LinkId>& path) const {
    Time most;
    for (const LinkId link : path)
      most = std::max(most, Time{topology_.link(link).latency.ps * on_link_[link.value]});
    return most;
  }

private:
  const Topology& topology_;
  std::vector<std::int64_t> on_link_, on_group_;
};

Time latency_of(const Topology& topology, const std::vector<LinkId>& path, Bytes size) {
  Time sum;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const Link& link = topology.link(path[i]);
    sum += link.latency;
    if (i + 1 < path.size() && topology.node(link.to).can.store)
      sum += serialization(size, topology.effective_bandwidth(path[i]));
  }
  return sum;
}

/// How many ports further on the links of a port lead.
std::vector<std::size_t> offsets_of(std::size_t ports, Unwinding unwinding) {
  std::vector<std::size_t> offsets;
  const std::size_t degree = unwinding.both_ways ? 1 : unwinding.degree;
  for (std::size_t offset = 1; offset < ports && offset <= degree; ++offset)
    offsets.push_back(offset);
  if (unwinding.both_ways && ports > 2) offsets.push_back(ports - 1);
  return offsets;
}

} // namespace

std::uint32_t highest_degree(const Topology& topology, std::span<const NodeId> participants) {
  const Fabrics fabrics(topology, participants);
  std::size_t most = 1;
  for (const std::vector<NodeId>& ports : fabrics.ports()) most = std::max(most, ports.size());
  return static_cast<std::uint32_t>(most - 1);
}

Unwound unwound(const Topology& topology, std::span<const NodeId> participants, Unwinding unwinding,
                Bytes size, const WorkLimit& limit) {
  const Fabrics fabrics(topology, participants);
  std::vector<std::vector<LinkId>> paths;
  for (std::uint32_t l = 0; l < topology.link_count(); ++l)
    if (fabrics.takes_part(topology.link(LinkId{l}).from) &&
        fabrics.takes_part(topology.link(LinkId{l}).to))
      paths.push_back({LinkId{l}});
  Paths search(topology, fabrics, size);
  LimitWatch watch(limit);
  for (std::uint32_t fabric = 0; fabric < topology.node_count(); ++fabric) {
    const std::vector<NodeId>& ports = fabrics.ports()[fabric];
    for (const std::size_t offset : offsets_of(ports.size(), unwinding))
      for (std::size_t i = 0; i < ports.size(); ++i) {
        watch.require();
        std::vector<LinkId> path =
            search.find(ports[i], ports[(i + offset) % ports.size()], fabric);
        if (!path.empty()) paths.push_back(std::move(path));
      }
  }

  TopologyParts parts;
  parts.name = topology.name() + " unwound";
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n)
    parts.nodes.push_back(topology.node(NodeId{n}));
  const LinkShares shares(topology, paths);
  std::vector<Time> busy;
  for (const std::vector<LinkId>& path : paths) {
    parts.links.push_back({topology.link(path.front()).from, topology.link(path.back()).to,
                           latency_of(topology, path, size), shares.bandwidth(path), -1});
    busy.push_back(shares.busy_latency(path));
  }
  return {Topology(std::move(parts)), std::move(paths), std::move(busy)};
}

Topology unwound_network(const Topology& topology, Unwinding unwinding) {
  std::vector<NodeId> npus(topology.npu_count());
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n) npus[n] = NodeId{n};
  const Unwound made = unwound(topology, npus, unwinding, Bytes{1'000'000});
  TopologyParts parts = topology.parts();
  parts.nodes.resize(topology.npu_count());
  if (!parts.coordinates.empty()) parts.coordinates.resize(topology.npu_count());
  parts.groups.clear();
  parts.links.assign(made.network.links().begin(), made.network.links().end());
  bool has_new = false;
  for (std::size_t l = 0; l < made.paths.size(); ++l) {
    const std::vector<LinkId>& path = made.paths[l];
    has_new = has_new || path.size() > 1;
    Time longest;
    for (const LinkId link : path) longest = std::max(longest, topology.link(link).latency);
    parts.links[l].latency = longest;
    parts.links[l].dimension = topology.link(path.front()).dimension;
    parts.links[l].part = topology.link(path.front()).part;
  }
  if (!has_new) throw InputError("no switch joins two NPUs: there is nothing to unwind");
  parts.name += unwinding.both_ways ? ",unwind=both" : fmt::format(",unwind={}", unwinding.degree);
  return Topology(std::move(parts));
}

Schedule through_switches(const Schedule& schedule, const Unwound& unwound,
                          const Topology& topology) {
  Schedule whole(topology.link_count());
  whole.reserve(schedule.size());
  std::vector<PathId> interned;
  for (const std::vector<LinkId>& path : unwound.paths)
    interned.push_back(whole.paths().intern(path));
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    Transfer transfer = schedule[i];
    assert(transfer.path.value < interned.size());
    transfer.path = interned[transfer.path.value];
    whole.push(transfer);
  }
  return whole;
}

} // namespace tutti
