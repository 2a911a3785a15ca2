// Why: "what if a card were lost?" is asked of machines of every kind, and what a card is differs:
// a link from a GPU to its rail in a family, a node at a PCIe switch in a dump. Idea: a cluster is
// read off the network once, as nodes with cards; all changes speak of these.
//
// Without GPUDirect NCCL sends by the CPU local to the GPU (NCCL 2.30, graph/paths.cc,
// ncclTopoComputePaths: "divert all traffic through the CPU"). The host stores what comes, and the
// link to it carries every byte twice, which is what it costs on machines whose GPUs and cards
// share a PCIe switch.
#include "topologies/what_ifs.hpp"

#include "sim/error.hpp"
#include "sim/graphs/servers.hpp"
#include "sim/text.hpp"
#include "topologies/import/servers.hpp"
#include "topologies/named_links.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace tutti::topologies {

namespace {

constexpr std::uint32_t nowhere = Cluster::fabric - 1;

bool is_card_part(std::string_view part) { return part == "rdma" || part == "efa"; }
bool is_npu(const Topology& t, NodeId v) { return t.node(v).kind == NodeKind::npu; }

/// The dimension of links between nodes, where coordinates say what nodes are; else -2.
int dimension_between(const Topology& t) {
  const bool is_machine =
      !t.parts().npu_model.empty() || std::ranges::any_of(t.parts().link_parts, is_card_part);
  return is_machine && t.shape().size() > 1 ? static_cast<int>(t.shape().size()) - 1 : -2;
}

/// [node]: a number that NPUs of one node have in common.
std::vector<std::uint32_t> numbers_of_nodes(const Topology& t, int between) {
  std::vector<std::uint32_t> numbers;
  if (between < 0) numbers = sets_joined_by_speed(t);
  numbers.resize(t.node_count());
  for (std::uint32_t n = 0; n < t.npu_count() && between >= 0; ++n)
    numbers[n] =
        static_cast<std::uint32_t>(t.coordinate(NodeId{n})[static_cast<std::size_t>(between)]);
  return numbers;
}

/// Hop by hop from the NPUs on; what two nodes reach at once is the fabric's.
void find_owners(const Topology& t, int between, std::vector<std::uint32_t>& of) {
  for (bool changed = true; changed;) {
    changed = false;
    const std::vector<std::uint32_t> before = of;
    for (std::uint32_t l = 0; l < t.link_count(); ++l) {
      const Link& link = t.link(LinkId{l});
      if (link.dimension == between && !t.part_of(LinkId{l}).starts_with("pcie")) continue;
      for (const auto& [v, next_to] : {std::pair(link.from, link.to), {link.to, link.from}}) {
        const std::uint32_t owner = before[next_to.value];
        if (before[v.value] != nowhere || owner >= nowhere) continue;
        of[v.value] = of[v.value] == nowhere || of[v.value] == owner ? owner : Cluster::fabric;
        changed = true;
      }
    }
  }
  std::ranges::replace(of, nowhere, Cluster::fabric);
}

/// Whether only its own cables and one link up hang at it.
bool is_card(const Topology& t, const Cluster& cluster, NodeId node) {
  std::set<NodeId> inside;
  for (const LinkId l : t.out_links(node))
    if (cluster.of[t.link(l).to.value] == cluster.of[node.value]) inside.insert(t.link(l).to);
  return !is_npu(t, node) && inside.size() == 1;
}

void find_cards(const Topology& t, Cluster& cluster) {
  using Key = std::pair<int, std::uint32_t>; // a node, a group, or a link
  std::map<Key, std::pair<std::uint32_t, std::size_t>> known;
  std::set<LinkId> taken;
  for (std::uint32_t l = 0; l < t.link_count(); ++l) {
    const Link& link = t.link(LinkId{l});
    const std::uint32_t node = cluster.of[link.from.value];
    if (node == Cluster::fabric || cluster.of[link.to.value] == node) continue;
    Key key{2, l};
    for (const std::uint32_t g : t.groups_of(LinkId{l}))
      if (std::ranges::any_of(t.groups()[g].links,
                              [&](LinkId other) { return t.link(other).from != link.from; }))
        key = {1, g};
    const bool has_node = is_card(t, cluster, link.from);
    if (has_node) key = {0, link.from.value};
    std::vector<NetworkCard>& cards = cluster.nodes[node].cards;
    const auto [place, is_new] = known.try_emplace(key, node, cards.size());
    if (is_new)
      cards.push_back(
          {t.node(has_node ? link.from : link.to).name, has_node ? link.from : NodeId{}, {}, {}});
    NetworkCard& card = cards[place->second.second];
    card.out.push_back(LinkId{l});
    for (const LinkId back : t.in_links(link.from))
      if (t.link(back).from == link.to && taken.insert(back).second) {
        card.in.push_back(back);
        break;
      }
  }
}

} // namespace

Cluster cluster_of(const Topology& topology) {
  const int between = dimension_between(topology);
  const std::vector<std::uint32_t> numbers = numbers_of_nodes(topology, between);
  Cluster cluster;
  cluster.of.assign(topology.node_count(), nowhere);
  std::map<std::uint32_t, std::uint32_t> known;
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n) {
    const auto [place, is_new] =
        known.try_emplace(numbers[n], static_cast<std::uint32_t>(cluster.nodes.size()));
    if (is_new) cluster.nodes.emplace_back();
    cluster.nodes[place->second].npus.push_back(NodeId{n});
    cluster.of[n] = place->second;
  }
  find_owners(topology, between, cluster.of);
  find_cards(topology, cluster);
  return cluster;
}

namespace {

/// Those that are meant. `members`: of a node; `what`: "network card".
template <typename Members>
std::vector<std::pair<std::uint32_t, std::uint32_t>>
chosen(const Cluster& cluster, WhichPart which, const Members& members, std::string_view what) {
  if (which.node && *which.node >= cluster.nodes.size())
    throw InputError(
        fmt::format("there is no node {}: the network has {}", *which.node, cluster.nodes.size()));
  std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
  std::size_t most = 0;
  for (std::uint32_t n = 0; n < cluster.nodes.size(); ++n) {
    if (which.node && *which.node != n) continue;
    const auto count = static_cast<std::uint32_t>(members(cluster.nodes[n]).size());
    most = std::max<std::size_t>(most, count);
    for (std::uint32_t i = which.index.value_or(0); i < count && i <= which.index.value_or(i); ++i)
      found.emplace_back(n, i);
  }
  if (!found.empty()) return found;
  if (most == 0)
    throw InputError(fmt::format("there is no {}: nothing that leads from node to node is known of "
                                 "this network",
                                 what));
  throw InputError(
      fmt::format("there is no {} {}: a node has {}, from 0", what, *which.index, most));
}

const auto cards_in = [](const ClusterNode& node) -> const auto& { return node.cards; };
const auto npus_in = [](const ClusterNode& node) -> const auto& { return node.npus; };

std::vector<const NetworkCard*> chosen_cards(const Cluster& cluster, WhichParts nics) {
  std::vector<const NetworkCard*> cards;
  for (const WhichPart& nic : nics)
    for (const auto& [node, index] : chosen(cluster, nic, cards_in, "network card"))
      cards.push_back(&cluster.nodes[node].cards[index]);
  return cards;
}
std::vector<LinkId> ports_of(const Cluster& cluster, WhichParts nics) {
  std::vector<LinkId> links;
  for (const NetworkCard* card : chosen_cards(cluster, nics)) {
    links.insert(links.end(), card->out.begin(), card->out.end());
    links.insert(links.end(), card->in.begin(), card->in.end());
  }
  return links;
}
std::vector<NodeId> chosen_npus(const Cluster& cluster, WhichParts gpus) {
  std::vector<NodeId> npus;
  for (const WhichPart& npu : gpus)
    for (const auto& [node, index] : chosen(cluster, npu, npus_in, "NPU"))
      npus.push_back(cluster.nodes[node].npus[index]);
  return npus;
}

Bandwidth scaled(Bandwidth rate, double share) {
  return {
      std::max<std::int64_t>(1, std::llround(static_cast<double>(rate.bytes_per_second) * share))};
}

/// Without switches, too, that nothing leads to any more.
Topology without_idle(const Topology& t, std::vector<NodeId> nodes, std::span<const LinkId> links) {
  const Topology left = without(t, nodes, links);
  nodes.clear();
  for (std::uint32_t v = left.npu_count(); v < left.node_count(); ++v)
    if (left.out_links(NodeId{v}).empty() && left.in_links(NodeId{v}).empty())
      nodes.emplace_back(v);
  return nodes.empty() ? left : without(left, nodes, {});
}

} // namespace

Topology with_lost_nics(const Topology& topology, WhichParts nics) {
  const Cluster cluster = cluster_of(topology);
  std::vector<NodeId> nodes;
  for (const NetworkCard* card : chosen_cards(cluster, nics))
    if (card->card.valid()) nodes.push_back(card->card);
  return without_idle(topology, std::move(nodes), ports_of(cluster, nics));
}

Topology with_slow_links(const Topology& topology, std::span<const LinkId> links, double share) {
  TopologyParts parts = topology.parts();
  const std::set<LinkId> slow(links.begin(), links.end());
  for (const LinkId l : slow)
    parts.links[l.value].bandwidth = scaled(parts.links[l.value].bandwidth, share);
  for (SharedGroup& group : parts.groups) // a card of several GPUs
    if (std::ranges::all_of(group.links, [&](LinkId l) { return slow.contains(l); }))
      group.bandwidth = scaled(group.bandwidth, share);
  return Topology(std::move(parts));
}

Topology with_slow_nics(const Topology& topology, WhichParts nics, double share) {
  return with_slow_links(topology, ports_of(cluster_of(topology), nics), share);
}

Topology with_lost_npus(const Topology& topology, WhichParts npus) {
  return without_idle(topology, chosen_npus(cluster_of(topology), npus), {});
}

Topology with_lost_node(const Topology& topology, std::uint32_t node) {
  const Cluster cluster = cluster_of(topology);
  (void)chosen(cluster, {{}, node}, npus_in, "NPU");
  std::vector<NodeId> nodes;
  for (std::uint32_t v = 0; v < topology.node_count(); ++v)
    if (cluster.of[v] == node) nodes.emplace_back(v);
  return without_idle(topology, std::move(nodes), {});
}

namespace {

/// NVLink or xGMI, by their parts, or as links of dimension 0.
bool is_own_link(const Topology& t, LinkId l) {
  const std::string part = t.part_of(l);
  if (part.empty()) return t.link(l).dimension == 0;
  return part.starts_with("nvlink") || part.starts_with("xgmi");
}

const GpuKind& kind_of(const Topology& t) {
  if (const GpuKind* kind = find_gpu_kind(t.parts().npu_model)) return *kind;
  std::vector<std::string> known;
  for (const GpuKind& kind : gpu_kinds()) known.emplace_back(kind.model);
  throw InputError(unknown_name("model of GPU", t.parts().npu_model, known));
}

/// A slot of this generation, which may be none of a GPU's: the third then.
Bandwidth lanes_of(const Topology& t, int lanes) {
  const GpuKind* kind = find_gpu_kind(t.parts().npu_model);
  return pcie_rate((kind != nullptr ? *kind : unknown_gpu_kind()).pcie, lanes);
}

std::string name_of(const Topology& t, NodeId v) { return t.node(v).name; }

} // namespace

Topology with_lost_own_links(const Topology& topology, WhichParts npus) {
  const int count = kind_of(topology).own_links;
  TopologyParts parts = topology.parts();
  std::vector<LinkId> gone;
  for (const NodeId gpu : chosen_npus(cluster_of(topology), npus)) {
    std::vector<LinkId> own;
    std::int64_t together = 0;
    for (const LinkId l : topology.out_links(gpu))
      if (is_own_link(topology, l)) {
        own.push_back(l);
        together += topology.link(l).bandwidth.bytes_per_second;
      }
    if (own.empty() || count == 0)
      throw InputError(fmt::format("{} has no links of its own", name_of(topology, gpu)));
    const NodeId peer = topology.link(own.front()).to;
    const auto take = [&](LinkId l) {
      std::int64_t& rate = parts.links[l.value].bandwidth.bytes_per_second;
      rate -= together / count;
      if (rate <= together / count / 2) gone.push_back(l);
      rate = std::max<std::int64_t>(rate, 1);
    };
    take(own.front());
    for (const LinkId l : topology.in_links(gpu))
      if (topology.link(l).from == peer) {
        take(l);
        break;
      }
  }
  return without(Topology(std::move(parts)), {}, gone);
}

Topology with_pcie_lanes(const Topology& topology, WhichParts npus, int lanes) {
  TopologyParts parts = topology.parts();
  const Bandwidth rate = lanes_of(topology, lanes);
  for (const NodeId gpu : chosen_npus(cluster_of(topology), npus))
    for (const bool out : {true, false}) {
      SharedGroup slot{
          fmt::format("{} lanes of {} {}", lanes, name_of(topology, gpu), out ? "out" : "in"),
          {},
          rate};
      for (const LinkId l : out ? topology.out_links(gpu) : topology.in_links(gpu))
        if (!is_own_link(topology, l)) slot.links.push_back(l);
      if (slot.links.empty())
        throw InputError(fmt::format("nothing but NVLink leads from or to {}: its PCIe isn't in "
                                     "this network",
                                     name_of(topology, gpu)));
      parts.groups.push_back(std::move(slot));
    }
  return Topology(std::move(parts));
}

namespace {

bool is_host(const Node& node) {
  return node.kind == NodeKind::memory ||
         (node.kind == NodeKind::switching && node.name.starts_with("cpu"));
}

/// Moves the cards of a network to their hosts.
class HostRoads {
public:
  explicit HostRoads(const Topology& topology)
      : topology_(topology), cluster_(cluster_of(topology)), parts_(topology.parts()) {}

  Topology made() && {
    bool has_cards = false;
    for (std::uint32_t n = 0; n < cluster_.nodes.size(); ++n)
      for (const NetworkCard& card : cluster_.nodes[n].cards) {
        move(n, card);
        has_cards = true;
      }
    if (!has_cards) throw InputError("no network card, whose way to memory it would be");
    for (auto& [ends, road] : crowded_) parts_.groups.push_back(std::move(road));
    return Topology(std::move(parts_));
  }

private:
  using Ends = std::pair<NodeId, NodeId>;

  /// What hangs at `above` hangs at the host instead, and shares the way there.
  void move(std::uint32_t node, const NetworkCard& card) {
    for (std::size_t p = 0; p < card.out.size(); ++p) {
      const NodeId near = topology_.link(card.out[p]).from;
      std::vector<LinkId> up{card.in.begin(), card.in.end()}, down{card.out[p]};
      if (p < card.in.size()) up = {card.in[p]};
      NodeId above = near;
      if (card.card.valid()) {
        if (p > 0) break; // all of its ports are behind one link
        up.clear();
        down.clear();
        for (const LinkId l : topology_.out_links(near))
          if (cluster_.of[topology_.link(l).to.value] == node) {
            up.push_back(l);
            above = topology_.link(l).to;
          }
        for (const LinkId l : topology_.in_links(near))
          if (topology_.link(l).from == above) down.push_back(l);
      }
      const std::vector<NodeId> way = way_to_host(node, above);
      const NodeId host = way.back();
      parts_.nodes[host.value].can.store = true;
      for (std::size_t i = 0; i + 1 < way.size(); ++i) {
        crowd(way[i], way[i + 1], up);
        crowd(way[i + 1], way[i], down);
      }
      for (const LinkId l : up) to(l) = host;
      for (const LinkId l : down) from(l) = host;
    }
  }
  NodeId& to(LinkId l) { return parts_.links[l.value].to; }
  NodeId& from(LinkId l) { return parts_.links[l.value].from; }

  /// From a node's switch, or GPU, up to its nearest host, which is made where there is none.
  std::vector<NodeId> way_to_host(std::uint32_t node, NodeId begin) {
    if (const auto known = made_.find(begin); known != made_.end()) return {begin, known->second};
    std::map<NodeId, NodeId> before{{begin, begin}};
    std::vector<NodeId> open{begin};
    for (std::size_t i = 0; i < open.size(); ++i) {
      if (is_host(topology_.node(open[i]))) {
        std::vector<NodeId> way{open[i]};
        while (way.back() != begin) way.push_back(before[way.back()]);
        std::ranges::reverse(way);
        return way;
      }
      for (const LinkId l : topology_.out_links(open[i]))
        if (const NodeId next = topology_.link(l).to;
            cluster_.of[next.value] == node && !is_npu(topology_, next) &&
            !is_own_link(topology_, l) && before.emplace(next, open[i]).second)
          open.push_back(next);
    }
    return {begin, new_host(node, begin)};
  }

  NodeId new_host(std::uint32_t node, NodeId begin) {
    const auto [place, is_new] = hosts_.try_emplace(node);
    if (is_new)
      place->second = parts_.add_node({fmt::format("host{}", node), NodeKind::switching,
                                       Abilities{true, false, false}, Bandwidth{}});
    Link link{begin, place->second, Time{500'000}, lanes_of(topology_, 16)};
    for (const LinkId l : topology_.out_links(begin))
      if (!is_own_link(topology_, l)) link.part = topology_.link(l).part;
    const auto first = static_cast<std::uint32_t>(parts_.links.size());
    parts_.add_duplex(link);
    own_[{begin, link.to}] = LinkId{first};
    own_[{link.to, begin}] = LinkId{first + 1};
    share_slot(begin, LinkId{first}, topology_.out_links(begin), link.bandwidth, "out");
    share_slot(begin, LinkId{first + 1}, topology_.in_links(begin), link.bandwidth, "in");
    return made_[begin] = place->second;
  }

  /// A GPU's slot of PCIe is the same to the host as to its peers.
  void share_slot(NodeId gpu, LinkId road, std::span<const LinkId> others, Bandwidth rate,
                  std::string_view way) {
    SharedGroup slot{fmt::format("PCIe of {} {}", parts_.nodes[gpu.value].name, way), {road}, rate};
    for (const LinkId l : others)
      if (topology_.part_of(l).starts_with("pcie")) slot.links.push_back(l);
    if (slot.links.size() > 1) parts_.groups.push_back(std::move(slot));
  }

  /// What crosses this way besides.
  void crowd(NodeId a, NodeId b, std::span<const LinkId> also) {
    SharedGroup& road = crowded_[{a, b}];
    if (road.links.empty()) {
      road.name =
          fmt::format("PCIe from {} to {}", parts_.nodes[a.value].name, parts_.nodes[b.value].name);
      if (const auto own = own_.find({a, b}); own != own_.end())
        road.links.push_back(own->second);
      else
        std::ranges::copy_if(topology_.out_links(a), std::back_inserter(road.links),
                             [&](LinkId l) { return topology_.link(l).to == b; });
      for (const LinkId l : road.links)
        road.bandwidth.bytes_per_second += parts_.links[l.value].bandwidth.bytes_per_second;
    }
    for (const LinkId l : also)
      if (std::ranges::find(road.links, l) == road.links.end()) road.links.push_back(l);
  }

  const Topology& topology_;
  Cluster cluster_;
  TopologyParts parts_;
  std::map<std::uint32_t, NodeId> hosts_; // by node
  std::map<NodeId, NodeId> made_;         // of GPUs and switches
  std::map<Ends, LinkId> own_;            // links that were made
  std::map<Ends, SharedGroup> crowded_;
};

} // namespace

Topology without_gpu_direct(const Topology& topology) { return HostRoads(topology).made(); }

namespace {

/// What the ports of a card carry together, as far as a shared group of them all says that.
std::int64_t rate_of(const Topology& topology, const NetworkCard& card) {
  std::int64_t rate = INT64_MAX;
  if (card.out.empty()) return rate;
  for (const std::uint32_t g : topology.groups_of(card.out.front())) {
    const SharedGroup& group = topology.groups()[g];
    if (std::ranges::all_of(card.out, [&](LinkId l) {
          return std::ranges::find(group.links, l) != group.links.end();
        }))
      rate = std::min(rate, group.bandwidth.bytes_per_second);
  }
  return rate;
}

} // namespace

Topology with_fabric(const Topology& topology, const Fabric& fabric) {
  const Cluster cluster = cluster_of(topology);
  (void)chosen(cluster, {}, cards_in, "network card");
  TopologyParts parts = topology.parts();
  std::vector<NodeId> old;
  for (std::uint32_t v = topology.npu_count(); v < topology.node_count(); ++v)
    if (cluster.of[v] == Cluster::fabric) {
      old.emplace_back(v);
      parts.nodes[v].name += " of old"; // the name is free
    }
  if (old.empty()) throw InputError("cables join its nodes: there is no switch to replace");
  const bool is_leaves = fabric.kind == Fabric::Kind::leaf_spine;
  const Abilities can = is_leaves ? Abilities{false, false, false} : topology.node(old.front()).can;
  std::vector<NodeId> switches; // leaves, or rails
  const auto switch_at = [&](std::size_t number) {
    while (switches.size() <= number)
      switches.push_back(
          parts.add_node({fabric.kind == Fabric::Kind::one
                              ? "fabric"
                              : fmt::format("{}{}", is_leaves ? "leaf" : "rail", switches.size()),
                          NodeKind::switching, can, Bandwidth{}}));
    return switches[number];
  };
  std::vector<Link> up; // of each leaf: all of its ports' together
  std::size_t most_ports = 1;
  for (std::size_t n = 0; n < cluster.nodes.size(); ++n) {
    std::size_t port = 0;
    Link together{};
    for (const NetworkCard& card : cluster.nodes[n].cards) {
      const std::int64_t before = together.bandwidth.bytes_per_second;
      for (std::size_t p = 0; p < card.out.size(); ++p, ++port) {
        const NodeId at = switch_at(is_leaves ? n : fabric.kind == Fabric::Kind::one ? 0 : port);
        Link& out = parts.links[card.out[p].value];
        out.to = at;
        if (p < card.in.size()) parts.links[card.in[p].value].from = at;
        const std::int64_t rate = together.bandwidth.bytes_per_second;
        together = out;
        together.bandwidth.bytes_per_second += rate;
      }
      std::int64_t& rate = together.bandwidth.bytes_per_second;
      rate = before + std::min(rate - before, rate_of(topology, card));
    }
    up.push_back(together);
    most_ports = std::max(most_ports, port);
  }
  if (is_leaves) {
    const auto spines = static_cast<std::size_t>(
        std::max(1.0, std::round(static_cast<double>(most_ports) / fabric.oversubscription)));
    for (std::size_t s = 0; s < spines; ++s) {
      const NodeId spine = parts.add_node(
          {fmt::format("spine{}", s), NodeKind::switching, Abilities{false, false, false}, {}});
      for (std::size_t n = 0; n < switches.size(); ++n) {
        Link link = up[n];
        link.from = switches[n];
        link.to = spine;
        link.bandwidth =
            scaled(link.bandwidth, 1 / fabric.oversubscription / static_cast<double>(spines));
        parts.add_duplex(link);
      }
    }
  }
  return without(Topology(std::move(parts)), old, {});
}

Topology with_wrap(const Topology& topology, std::span<const int> dimensions) {
  TopologyParts parts = topology.parts();
  const std::size_t extents = parts.shape.size();
  std::map<std::vector<int>, NodeId> at;
  for (std::uint32_t n = 0; n < topology.npu_count() && extents > 0; ++n)
    at[parts.coordinates[n]] = NodeId{n};
  for (const int d : dimensions) {
    const auto axis = static_cast<std::size_t>(d);
    if (axis >= extents)
      throw InputError(fmt::format("there is no dimension {}: the network has {}", d, extents));
    const int last = parts.shape[axis] - 1;
    bool is_wrapped = false;
    const std::vector<Link> before = parts.links;
    for (const Link& link : before) { // the first step of a row, in either direction
      std::vector<int> from = parts.coordinates[link.from.value],
                       to = parts.coordinates[link.to.value];
      if (from.empty() || to.empty() || link.dimension != d) continue;
      if (last > 1 && std::abs(from[axis] - to[axis]) == last)
        throw InputError(fmt::format("dimension {} is wrapped already, or no line", d));
      if (std::min(from[axis], to[axis]) != 0) continue;
      std::swap(from[axis], to[axis]); // 0>1 becomes last>0, which is the same step on
      (from[axis] == 0 ? to : from)[axis] = last;
      const auto a = at.find(from), b = at.find(to);
      if (last < 2 || a == at.end() || b == at.end()) continue;
      Link around = link;
      around.from = a->second;
      around.to = b->second;
      parts.add_link(around);
      is_wrapped = true;
    }
    if (!is_wrapped) throw InputError(fmt::format("dimension {} has no rows of NPUs to wrap", d));
  }
  return Topology(std::move(parts));
}

namespace {

/// `50%` or `0.5`.
double share_of(std::string_view text) {
  const bool is_percent = text.ends_with('%');
  if (is_percent) text.remove_suffix(1);
  const double value = parse_decimal(text, "share", 0, is_percent ? 100 : 1);
  if (value <= 0) throw InputError("a share of nothing: take it away instead");
  return is_percent ? value / 100 : value;
}

/// What stands before and after the last `@`.
std::pair<std::string_view, std::string_view> at_of(std::string_view text, const char* form) {
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos) throw InputError(fmt::format("\"{}\" isn't {}", text, form));
  return {trimmed(text.substr(0, at)), trimmed(text.substr(at + 1))};
}

/// Names of cards and GPUs are those of the network's nodes, with or without ".1" of the node.
bool is_called(std::string_view name, std::string_view text) {
  return name == text || name.substr(0, name.rfind('.')) == text ||
         (name.starts_with("nic-") && is_called(name.substr(4), text));
}

/// Appends what `3`, `3@node1`, `mlx5_3@1` or `npu3` means.
template <typename Members, typename Name>
void append_called(const Cluster& cluster, std::string_view text, const Members& members,
                   const Name& name, std::string_view what, std::vector<WhichPart>& found) {
  std::optional<std::uint32_t> node;
  if (const std::size_t at = text.rfind('@'); at != std::string_view::npos) {
    std::string_view number = trimmed(text.substr(at + 1));
    if (number.starts_with("node")) number.remove_prefix(4);
    node = static_cast<std::uint32_t>(parse_integer(number, "node", 0, UINT32_MAX - 1));
    text = trimmed(text.substr(0, at));
  }
  if (is_digits(text)) {
    found.push_back({static_cast<std::uint32_t>(parse_integer(text, what, 0, UINT32_MAX)), node});
    return;
  }
  const std::size_t before = found.size();
  std::vector<std::string> known;
  for (std::uint32_t n = 0; n < cluster.nodes.size(); ++n)
    for (std::uint32_t i = 0; i < members(cluster.nodes[n]).size(); ++i) {
      const std::string& own = name(members(cluster.nodes[n])[i]);
      if (std::ranges::find(known, own) == known.end()) known.push_back(own);
      if (is_called(own, text) && (!node || *node == n)) found.push_back({i, n});
    }
  if (found.size() == before) {
    known.emplace_back("or a number from 0");
    throw InputError(unknown_name(what, text, known));
  }
}

std::vector<WhichPart> cards_called(const Topology& t, std::string_view text) {
  const Cluster cluster = cluster_of(t);
  std::vector<WhichPart> found;
  for (const std::string_view word : split(text, '+'))
    append_called(
        cluster, trimmed(word), cards_in,
        [](const NetworkCard& card) -> const auto& { return card.name; }, "network card", found);
  return found;
}
std::vector<WhichPart> npus_called(const Topology& t, std::string_view text) {
  const Cluster cluster = cluster_of(t);
  std::vector<WhichPart> found;
  for (const std::string_view word : split(text, '+'))
    append_called(
        cluster, trimmed(word),
        npus_in, [&](NodeId npu) -> const auto& { return t.node(npu).name; }, "NPU", found);
  return found;
}

Topology lost_nics(const Topology& t, std::string_view text) {
  return with_lost_nics(t, cards_called(t, text));
}
Topology lost_npus(const Topology& t, std::string_view text) {
  return with_lost_npus(t, npus_called(t, text));
}
Topology lost_own_links(const Topology& t, std::string_view text) {
  return with_lost_own_links(t, npus_called(t, text));
}
Topology slow_nics(const Topology& t, std::string_view text) {
  Topology slow = t;
  for (const std::string_view word : split(text, '+')) {
    const auto [which, share] = at_of(word, "CARD@50%");
    slow = with_slow_nics(slow, cards_called(slow, which), share_of(share));
  }
  return slow;
}
Topology slow_links(const Topology& t, std::string_view text) {
  Topology slow = t;
  for (const std::string_view word : split(text, '+')) {
    const auto [link, share] = at_of(word, "a-b@50%");
    slow = with_slow_links(slow, links_named(slow, link), share_of(share));
  }
  return slow;
}
Topology lost_node(const Topology& t, std::string_view text) {
  std::set<std::uint32_t, std::greater<>>
      nodes; // the last first: then the others keep their numbers
  for (std::string_view word : split(text, '+')) {
    if (word.starts_with("node")) word.remove_prefix(4);
    nodes.insert(static_cast<std::uint32_t>(parse_integer(word, "node", 0, UINT32_MAX - 1)));
  }
  Topology left = t;
  for (const std::uint32_t node : nodes) left = with_lost_node(left, node);
  return left;
}
Topology pcie_lanes(const Topology& t, std::string_view text) {
  const WhichPart each;
  return with_pcie_lanes(t, {&each, 1}, static_cast<int>(parse_integer(text, "lanes", 1, 16)));
}
Topology other_fabric(const Topology& t, std::string_view text) {
  const std::vector<std::string_view> words = split(text, ':');
  constexpr std::array<std::pair<std::string_view, Fabric::Kind>, 3> kinds{
      {{"rails", Fabric::Kind::rails},
       {"switch", Fabric::Kind::one},
       {"leaf_spine", Fabric::Kind::leaf_spine}}};
  const auto kind = std::ranges::find(kinds, words[0], &decltype(kinds)::value_type::first);
  if (kind == kinds.end())
    throw InputError(
        unknown_name("fabric", words[0],
                     std::vector<std::string>{"rails", "switch", "leaf_spine", "leaf_spine:2:1"}));
  Fabric fabric{kind->second, 1};
  if (words.size() == 3 && kind->second == Fabric::Kind::leaf_spine)
    fabric.oversubscription = parse_decimal(words[1], "oversubscription", 1e-3, 1e3) /
                              parse_decimal(words[2], "oversubscription", 1e-3, 1e3);
  else if (words.size() != 1)
    throw InputError(fmt::format("\"{}\" isn't leaf_spine:2:1", text));
  return with_fabric(t, fabric);
}
Topology wrapped(const Topology& t, std::string_view text) {
  std::vector<int> dimensions;
  for (const char letter : text) {
    const std::size_t axis = std::string_view("xyz").find(letter);
    if (axis == std::string_view::npos)
      throw InputError(fmt::format("\"{}\" isn't x, xy, xyz, ...", text));
    dimensions.push_back(static_cast<int>(axis));
  }
  return with_wrap(t, dimensions);
}
Topology without_gdr(const Topology& t, std::string_view text) {
  if (text == "on") return t;
  if (text != "off") throw InputError(fmt::format("\"{}\" is neither on nor off", text));
  return without_gpu_direct(t);
}

} // namespace

std::span<const WhatIf> what_ifs() {
  static constexpr std::array<WhatIf, 10> rows{{
      {"wrap", "xy: rows of a grid become rings in these dimensions", wrapped},
      {"fabric", "between nodes: leaf_spine:2:1 (oversubscribed), leaf_spine, rails or switch",
       other_fabric},
      {"lost-nic", "3 (of every node), 3@node1 or mlx5_3@node1", lost_nics},
      {"slow-nic", "3@50%, 3@node1@50%", slow_nics},
      {"lost-gpu", "npu3, 3 (of every node) or 3@node1", lost_npus},
      {"lost-nvlink", "one NVLink (xGMI link) of npu3, 3 or 3@node1", lost_own_links},
      {"lost-node", "1, or 1+3", lost_node},
      {"slow-link", "a-b@50% (both ways), a>b@50%", slow_links},
      {"pcie-lanes", "8: of every GPU's slot", pcie_lanes},
      {"gdr", "off: without GPUDirect, cards reach host memory only", without_gdr},
  }};
  return rows;
}

} // namespace tutti::topologies
