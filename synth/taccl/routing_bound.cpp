// Why: a routing is as good as what it can be held against. Idea: whatever its trees, the chunk
// with the longest shortest path takes that long, and chunks that have to enter or leave an NPU or
// a machine do so one after another over the parts of the network that all links into it cross.
//
// Which links a chunk may use, and from where to where it gets, is here, too: both answers are
// shortest paths under the sketch's rules.
#include "synth/taccl/routing.hpp"

#include "sim/graphs/shortest_paths.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace tutti {

namespace {

constexpr std::int64_t unreached = std::numeric_limits<std::int64_t>::max();
constexpr std::uint32_t any_machine = UINT32_MAX;

} // namespace

RoutingCosts::RoutingCosts(const RoutingProblem& problem)
    : problem_(&problem),
      latency_is_busy_(problem.model.link_busy == LinkBusy::latency_and_serialization) {}

std::int64_t RoutingCosts::transfer(LinkId link, Bytes size) const {
  const Link& on = problem_->logical->topology.link(link);
  return on.latency.ps + serialization(size, on.bandwidth).ps;
}

std::int64_t RoutingCosts::busy(std::uint32_t part, Bytes size) const {
  const NetworkPart& on = problem_->logical->parts[part];
  return (latency_is_busy_ ? on.latency.ps : 0) + serialization(size, on.bandwidth).ps;
}

Bytes RoutingCosts::size(ChunkId chunk) const {
  return problem_->chunk.value_or(problem_->collective->chunks[chunk.value].size);
}

UsableLinks::UsableLinks(const RoutingProblem& problem) : problem_(problem), costs_(problem) {}

std::uint32_t UsableLinks::rule_of(ChunkId chunk) {
  const LogicalTopology& logical = *problem_.logical;
  const auto sources = problem_.collective->sources(chunk);
  Rule rule{logical.machine_of(sources.front()), {}, false};
  for (const NodeId destination : problem_.collective->destinations(chunk))
    rule.leaves |= logical.machine_of(destination) != rule.machine;
  for (const NodeId source : sources) {
    if (logical.machine_of(source) != rule.machine) {
      rule = {any_machine, {}, true};
      break;
    }
    rule.senders.insert(rule.senders.end(), logical.leaves_through[source.value].begin(),
                        logical.leaves_through[source.value].end());
  }
  std::ranges::sort(rule.senders);
  const auto [entry, is_new] =
      rule_ids_.try_emplace(rule, static_cast<std::uint32_t>(rules_.size()));
  if (is_new) rules_.push_back(rule);
  return entry->second;
}

bool UsableLinks::may_take(LinkId link, std::uint32_t id) const {
  const LogicalTopology& logical = *problem_.logical;
  const Link& on = logical.topology.link(link);
  const Abilities& can = logical.topology.node(on.from).can;
  if (!can.store || !can.copy) return false; // no relay, and members have all abilities
  if (!logical.connections[link.value].between_machines) return true;
  const Rule& rule = rules_[id];
  if (rule.machine == any_machine) return true;
  if (!rule.leaves || logical.machine_of(on.to) == rule.machine) return false;
  return logical.machine_of(on.from) != rule.machine || rule.senders.empty() ||
         std::ranges::binary_search(rule.senders, on.from);
}

const std::vector<std::int64_t>& UsableLinks::distances(NodeId node, std::uint32_t rule, Bytes size,
                                                        bool backwards) {
  std::vector<std::int64_t>& known = distances_[{node, rule, size.count, backwards}];
  if (!known.empty()) return known;
  const Topology& topology = problem_.logical->topology;
  known.assign(topology.node_count(), unreached);
  const std::vector<std::uint32_t> sources{node.value};
  search_shortest_paths(
      known, sources, [&](std::uint32_t at, std::int64_t distance, const auto& relax) {
        for (const LinkId link :
             backwards ? topology.in_links(NodeId{at}) : topology.out_links(NodeId{at}))
          if (may_take(link, rule))
            relax(backwards ? topology.link(link).from.value : topology.link(link).to.value,
                  distance + costs_.transfer(link, size));
      });
  return known;
}

std::vector<bool> UsableLinks::rules(ChunkId chunk) {
  const std::uint32_t rule = rule_of(chunk);
  std::vector<bool> usable(problem_.logical->topology.link_count());
  for (std::uint32_t l = 0; l < usable.size(); ++l) usable[l] = may_take(LinkId{l}, rule);
  return usable;
}

std::vector<NodeId> UsableLinks::unreachable(ChunkId chunk) {
  const std::uint32_t rule = rule_of(chunk);
  std::vector<NodeId> missing;
  for (const NodeId destination : problem_.collective->destinations(chunk))
    if (std::ranges::none_of(problem_.collective->sources(chunk), [&](NodeId source) {
          return distances(source, rule, costs_.size(chunk), false)[destination.value] != unreached;
        }))
      missing.push_back(destination);
  return missing;
}

std::int64_t UsableLinks::longest_shortest_path(ChunkId chunk) {
  const std::uint32_t rule = rule_of(chunk);
  std::int64_t longest = 0;
  for (const NodeId destination : problem_.collective->destinations(chunk)) {
    std::int64_t shortest = unreached;
    for (const NodeId source : problem_.collective->sources(chunk))
      shortest =
          std::min(shortest, distances(source, rule, costs_.size(chunk), false)[destination.value]);
    longest = std::max(longest, shortest);
  }
  return longest;
}

std::vector<bool> UsableLinks::of(ChunkId chunk) {
  if (!unreachable(chunk).empty()) return {};
  const Topology& topology = problem_.logical->topology;
  const std::uint32_t rule = rule_of(chunk);
  const Bytes size = costs_.size(chunk);
  const auto sources = problem_.collective->sources(chunk);
  const auto destinations = problem_.collective->destinations(chunk);
  std::vector<bool> passes(topology.npu_count());
  for (const NodeId npu : sources) passes[npu.value] = true;
  for (const NodeId npu : destinations) passes[npu.value] = true;
  if (!std::ranges::all_of(passes, [](bool passed) { return passed; }))
    for (const NodeId destination : destinations) {
      const auto& towards = distances(destination, rule, size, true);
      for (const NodeId source : sources) {
        const auto& from = distances(source, rule, size, false);
        if (from[destination.value] == unreached) continue;
        const double longest = static_cast<double>(from[destination.value]) * (1 + problem_.slack);
        for (std::uint32_t npu = 0; npu < passes.size(); ++npu)
          if (from[npu] != unreached && towards[npu] != unreached &&
              static_cast<double>(from[npu] + towards[npu]) <= longest)
            passes[npu] = true;
      }
    }
  std::vector<bool> usable(topology.link_count());
  for (std::uint32_t l = 0; l < usable.size(); ++l) {
    const Link& link = topology.link(LinkId{l});
    usable[l] = passes[link.from.value] && passes[link.to.value] && may_take(LinkId{l}, rule);
  }
  return usable;
}

namespace {

/// Chunks of at least `size` that cross one of `links` each.
class CrossingBound {
public:
  CrossingBound(const LogicalTopology& logical, const RoutingCosts& costs)
      : logical_(logical), costs_(costs) {}

  [[nodiscard]] std::int64_t operator()(std::span<const LinkId> links, std::int64_t chunks,
                                        Bytes size) const {
    if (chunks == 0 || links.empty()) return 0;
    const std::vector<std::int64_t> times = busy_times(links, size);
    std::int64_t low = 0, high = chunks * *std::ranges::min_element(times);
    while (low + 1 < high) { // `high` is enough, `low` isn't
      const std::int64_t middle = low + (high - low) / 2;
      std::int64_t carried = 0;
      for (const std::int64_t time : times) carried += time == 0 ? chunks : middle / time;
      (carried >= chunks ? high : low) = middle;
    }
    return high;
  }

private:
  /// Busy times of parts of which each link crosses at least one, chosen greedily: the part that
  /// most of the remaining links cross, of several the slowest.
  [[nodiscard]] std::vector<std::int64_t> busy_times(std::span<const LinkId> links,
                                                     Bytes size) const {
    std::vector<std::int64_t> times;
    std::vector<LinkId> left(links.begin(), links.end());
    while (!left.empty()) {
      std::map<std::uint32_t, std::size_t> covers;
      for (const LinkId link : left)
        for (const std::uint32_t part : logical_.parts_of[link.value]) ++covers[part];
      std::uint32_t best = covers.begin()->first;
      for (const auto& [part, count] : covers)
        if (std::pair(count, costs_.busy(part, size)) >
            std::pair(covers.at(best), costs_.busy(best, size)))
          best = part;
      times.push_back(costs_.busy(best, size));
      std::erase_if(left, [&](LinkId link) {
        return std::ranges::find(logical_.parts_of[link.value], best) !=
               logical_.parts_of[link.value].end();
      });
    }
    return times;
  }

  const LogicalTopology& logical_;
  const RoutingCosts& costs_;
};

} // namespace

Time routing_bound(const RoutingProblem& problem, UsableLinks& usable) {
  const LogicalTopology& logical = *problem.logical;
  const Collective& collective = *problem.collective;
  const Topology& topology = logical.topology;
  const RoutingCosts costs(problem);
  const std::size_t npus = topology.npu_count();
  // What has to enter and to leave each NPU, and then each machine.
  std::vector<std::int64_t> enters(npus + logical.machines), leaves(npus + logical.machines);
  std::int64_t longest = 0;
  Bytes size{std::numeric_limits<std::int64_t>::max()};
  for (std::uint32_t c = 0; c < collective.chunks.size(); ++c) {
    const auto sources = collective.sources(ChunkId{c});
    std::set<std::uint32_t> from, to;
    bool is_sent = false;
    for (const NodeId source : sources) from.insert(logical.machine_of(source));
    for (const NodeId npu : collective.destinations(ChunkId{c})) {
      if (std::ranges::binary_search(sources, npu)) continue;
      is_sent = true;
      ++enters[npu.value];
      if (!from.contains(logical.machine_of(npu))) to.insert(logical.machine_of(npu));
    }
    if (!is_sent) continue;
    size = std::min(size, costs.size(ChunkId{c}));
    longest = std::max(longest, usable.longest_shortest_path(ChunkId{c}));
    for (const std::uint32_t machine : to) ++enters[npus + machine];
    if (sources.size() == 1) ++leaves[sources.front().value];
    if (from.size() == 1 && !to.empty()) ++leaves[npus + *from.begin()];
  }
  const CrossingBound bound(logical, costs);
  for (std::uint32_t npu = 0; npu < npus; ++npu) {
    longest = std::max(longest, bound(topology.in_links(NodeId{npu}), enters[npu], size));
    longest = std::max(longest, bound(topology.out_links(NodeId{npu}), leaves[npu], size));
  }
  std::vector<std::vector<LinkId>> into(logical.machines), out_of(logical.machines);
  for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
    if (!logical.connections[l].between_machines) continue;
    into[logical.machine_of(topology.link(LinkId{l}).to)].push_back(LinkId{l});
    out_of[logical.machine_of(topology.link(LinkId{l}).from)].push_back(LinkId{l});
  }
  for (std::uint32_t machine = 0; machine < logical.machines; ++machine) {
    longest = std::max(longest, bound(into[machine], enters[npus + machine], size));
    longest = std::max(longest, bound(out_of[machine], leaves[npus + machine], size));
  }
  return Time{longest};
}

} // namespace tutti
