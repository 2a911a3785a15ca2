// Channels become rings and trees over all ranks: rings go from node to node, on odd nodes in
// exchanged pairs where they cross NICs, so that rails are kept; trees are chains in the node below
// a double binary tree of nodes. All of them are doubled, so that two thread blocks fill what one
// channel was found for.
// Source: NCCL 2.30, graph/connect.cc (ncclTopoPreset, ncclTopoPostset), graph/trees.cc,
// transport/nvls.cc (ncclNvlsTuning), graph/paths.cc (PXN).

#include "algorithms/nccl/communicator.hpp"

#include "algorithms/double_binary_tree.hpp"

#include <algorithm>
#include <cassert>
#include <span>
#include <utility>

namespace tutti::nccl {

namespace {

constexpr std::uint32_t most_channels = 64; // MAXCHANNELS

std::uint32_t nvls_channels_of(const System& system) {
  if (system.gpu->generation < Generation::blackwell) return 16;
  return system.nodes > 1 ? 32 : 24;
}

} // namespace

namespace {

/// On odd nodes pairs of rings that cross NICs change places.
void exchange_odd_rings(Graphs& graphs, std::uint32_t cross_nic) {
  graphs.odd_rings = graphs.ring.all;
  const std::size_t found = graphs.odd_rings.size();
  for (std::size_t c = 0; cross_nic == 2 && found % 2 == 0 && c < found; c += 2)
    std::swap(graphs.odd_rings[c], graphs.odd_rings[c + 1]);
}

/// By the picture of one node.
Graphs graphs_of(const System& system, const ChannelLimits& limits, bool collnet) {
  Graphs graphs;
  graphs.ring = search_channels(system, Pattern::ring, limits);
  ChannelLimits as_rings = limits;
  as_rings.least = as_rings.most = graphs.ring.size();
  graphs.tree = search_channels(system, Pattern::balanced_tree, as_rings);
  ChannelLimits free = limits;
  free.least = 1;
  graphs.nvls = search_channels(system, Pattern::nvls, free);
  if (collnet && system.nodes > 1) {
    graphs.collnet_chain = search_channels(system, Pattern::collnet_chain, as_rings);
    graphs.collnet_direct = search_channels(system, Pattern::collnet_direct, free);
  }
  // Both have as many as the one with fewer.
  const std::uint32_t found = std::min(graphs.ring.size(), graphs.tree.size());
  graphs.ring.all.resize(found);
  graphs.tree.all.resize(found);
  exchange_odd_rings(graphs, graphs.ring.cross_nic);
  graphs.channels = std::min(most_channels, 2 * found);
  constexpr double fast = 45;
  constexpr std::uint32_t few = 16;
  if (system.gpu->generation >= Generation::hopper && !system.gpu->is_amd && system.nodes > 1 &&
      graphs.ring.inside > fast && graphs.channels < few)
    graphs.channels *= 2;
  graphs.nvls_channels = graphs.nvls.all.empty() ? 0 : nvls_channels_of(system);
  return graphs;
}

/// What each node has found becomes what all can do.
void agree(Channels& all, const Channels& other) {
  all.inside = std::min(all.inside, other.inside);
  all.between = std::min(all.between, other.between);
  all.type_inside = std::max(all.type_inside, other.type_inside);
  all.type_between = std::max(all.type_between, other.type_between);
  all.are_same = all.are_same && other.are_same;
  all.cross_nic = std::max(all.cross_nic, other.cross_nic);
}

} // namespace

// Nodes that differ agree on the worst of theirs (init.cc, initTransportsRank).
Graphs nccl_graphs(const System& system, const ChannelLimits& limits, bool collnet) {
  Graphs graphs = graphs_of(system, limits, collnet);
  for (const System& other : system.others) {
    Graphs its = graphs_of(other, limits, collnet);
    agree(graphs.ring, its.ring);
    agree(graphs.tree, its.tree);
    graphs.channels = std::min(graphs.channels, its.channels);
    const std::uint32_t found = std::min(graphs.ring.size(), its.ring.size());
    graphs.ring.all.resize(found);
    graphs.others.push_back(std::move(its));
  }
  for (std::size_t k = 0; k <= graphs.others.size() && !graphs.others.empty(); ++k) {
    Graphs& of = k == 0 ? graphs : graphs.others[k - 1];
    of.ring.all.resize(graphs.ring.size());
    of.tree.all.resize(graphs.ring.size());
    exchange_odd_rings(of, graphs.ring.cross_nic);
  }
  return graphs;
}

// On a full mesh RCCL doesn't search but has rings written down by model of server: in one node
// seven and the same backwards, which use every link as often as any other, four times over;
// between nodes eight chains, a NIC each, backwards on odd nodes, eight times over.
Graphs rccl_graphs(const System& system, const ChannelLimits& limits, bool collnet) {
  constexpr std::uint32_t gpus = 8;
  bool is_mesh =
      system.gpu->is_amd && system.gpus == gpus && !system.has_switch && system.others.empty();
  for (std::uint32_t a = 0; a < system.gpus && is_mesh; ++a)
    for (std::uint32_t b = 0; b < system.gpus && is_mesh; ++b)
      is_mesh = a == b || system.path(a, b).type == PathType::nvlink;
  if (!is_mesh || (system.nodes > 1 && system.nics.size() != gpus))
    return nccl_graphs(system, limits, collnet);
  using Order = std::array<std::uint32_t, gpus>;
  constexpr std::array<Order, 7> in_a_node{{{0, 1, 2, 3, 4, 5, 6, 7},
                                            {0, 1, 2, 3, 4, 5, 7, 6},
                                            {0, 2, 4, 1, 3, 6, 5, 7},
                                            {0, 2, 4, 6, 1, 7, 3, 5},
                                            {0, 3, 1, 5, 2, 7, 4, 6},
                                            {0, 3, 5, 1, 6, 2, 7, 4},
                                            {0, 4, 1, 7, 3, 6, 2, 5}}};
  constexpr std::array<Order, 8> between_nodes{{{0, 1, 2, 3, 4, 5, 6, 7},
                                                {1, 0, 2, 4, 3, 5, 7, 6},
                                                {2, 5, 0, 3, 6, 1, 7, 4},
                                                {3, 7, 0, 4, 2, 1, 6, 5},
                                                {4, 6, 2, 7, 3, 0, 5, 1},
                                                {5, 4, 7, 1, 3, 2, 6, 0},
                                                {6, 3, 1, 4, 0, 7, 5, 2},
                                                {7, 2, 0, 6, 4, 1, 5, 3}}};
  const auto backwards = [](const Channel& channel) {
    Channel back = channel;
    std::ranges::reverse(back.gpus);
    std::swap(back.nic_in, back.nic_out);
    return back;
  };
  const auto nic_of = [&](std::uint32_t gpu) {
    return static_cast<std::uint32_t>(std::ranges::find(system.nics, gpu, &Nic::gpu) -
                                      system.nics.begin());
  };
  Graphs graphs;
  std::vector<Channel>& rings = graphs.ring.all;
  if (system.nodes == 1) {
    for (const Order& order : in_a_node) rings.push_back({{order.begin(), order.end()}, 0, 0});
    for (std::size_t c = 0; c < in_a_node.size(); ++c) rings.push_back(backwards(rings[c]));
  } else {
    for (const Order& order : between_nodes)
      rings.push_back({{order.begin(), order.end()}, nic_of(order.front()), nic_of(order.back())});
  }
  const std::uint32_t times = system.nodes == 1 ? 2 : 8;
  const std::size_t once = rings.size();
  for (std::size_t c = once; c < once * times; ++c) rings.push_back(rings[c - once]);
  graphs.odd_rings = rings;
  for (Channel& ring : graphs.odd_rings) ring = backwards(ring);
  const double rings_count = graphs.ring.size();
  const double speed = system.nodes == 1
                           ? system.total / rings_count
                           : std::min(system.total, gpus * system.out[0].speed) / rings_count;
  graphs.ring.inside = graphs.ring.between = speed;
  graphs.ring.type_inside = PathType::nvlink;
  graphs.ring.type_between = PathType::nic_near;
  graphs.ring.are_same = false;
  graphs.tree = graphs.ring;
  graphs.tree.pattern = Pattern::balanced_tree;
  graphs.channels = system.nodes == 1 ? 2 * graphs.ring.size() : graphs.ring.size();
  return graphs;
}

namespace {

const Graphs& graphs_in(const System& system, const Graphs& graphs, std::uint32_t node) {
  return system.picture[node] == 0 ? graphs : graphs.others[system.picture[node] - 1];
}

} // namespace

const Channel& ring_in(const System& system, const Graphs& graphs, std::uint32_t node,
                       std::uint32_t channel) {
  const Graphs& its = graphs_in(system, graphs, node);
  const std::vector<Channel>& rings = node % 2 == 1 ? its.odd_rings : its.ring.all;
  return rings[channel % rings.size()];
}

const Channel& chain_in(const System& system, const Graphs& graphs, std::uint32_t node,
                        std::uint32_t channel) {
  const std::vector<Channel>& chains = graphs_in(system, graphs, node).tree.all;
  return chains[channel % chains.size()];
}

std::vector<Rank> ring_of(const System& system, const Graphs& graphs, std::uint32_t channel) {
  std::vector<Rank> ring;
  for (std::uint32_t node = 0; node < system.nodes; ++node)
    for (const std::uint32_t g : ring_in(system, graphs, node, channel).gpus)
      ring.push_back(system.rank(node, g));
  return ring;
}

RankTree tree_of(const System& system, const Graphs& graphs, std::uint32_t channel) {
  const std::uint32_t found = graphs.tree.size();
  const std::size_t which = channel / found % 2; // the second half has the second tree
  const RankTree nodes = double_tree(system.nodes)[which];
  const auto place_of = [&](std::uint32_t node) { // in the order of the tree
    if (which == 0) return node;
    return system.nodes % 2 == 0 ? system.nodes - 1 - node
                                 : (node + system.nodes - 1) % system.nodes;
  };
  // In a balanced tree the second GPU of the chain sends to the nodes below on one side.
  const auto is_balanced = [&](std::uint32_t node) {
    return graphs_in(system, graphs, node).tree.pattern == Pattern::balanced_tree &&
           system.gpus_of(node) > 1;
  };
  std::vector<Rank> parent(system.ranks.size());
  for (std::uint32_t node = 0; node < system.nodes; ++node) {
    const Channel& chain = chain_in(system, graphs, node, channel);
    for (std::size_t i = 1; i < chain.gpus.size(); ++i)
      parent[system.rank(node, chain.gpus[i])] = system.rank(node, chain.gpus[i - 1]);
    const Rank head = system.rank(node, chain.gpus[0]);
    parent[head] = RankTree::no_parent;
    if (node == nodes.root) continue;
    const std::uint32_t above = nodes.parent[node];
    // The first child is on the side of the lower places.
    const std::uint32_t own = place_of(node), its = place_of(above);
    const std::size_t side = own < its ? 1 : 0;
    parent[head] = system.rank(
        above, chain_in(system, graphs, above, channel).gpus[is_balanced(above) ? side : 0]);
  }
  return rank_tree(std::move(parent));
}

Wiring::Wiring(const Topology& topology, const System& system, RoutedSchedule& schedule)
    : topology_(topology), system_(system), schedule_(schedule), node_(system.ranks.size()),
      index_(system.ranks.size()) {
  for (std::uint32_t node = 0; node < system.nodes; ++node)
    for (std::uint32_t g = 0; g < system.gpus_of(node); ++g) {
      node_[system.rank(node, g)] = node;
      index_[system.rank(node, g)] = g;
    }
}

NodeId Wiring::npu(std::uint32_t node, std::uint32_t index) const {
  return schedule_.part().group[system_.rank(node, index)];
}

std::uint32_t Wiring::index_at(std::uint32_t node, NodeId at) const {
  for (std::uint32_t g = 0; g < system_.gpus_of(node); ++g)
    if (npu(node, g) == at) return g;
  return system_.gpus_of(node);
}

bool Wiring::append_inside(std::vector<LinkId>& links, std::uint32_t node, std::uint32_t from,
                           std::uint32_t to, std::uint32_t port) const {
  if (from == to) return true;
  const NodeId a = npu(node, from), b = npu(node, to);
  std::vector<LinkId> direct;
  for (const LinkId l : topology_.out_links(a))
    if (topology_.link(l).to == b) direct.push_back(l);
  if (!direct.empty()) {
    links.push_back(direct[port % direct.size()]);
    return true;
  }
  std::vector<std::pair<LinkId, LinkId>> best; // up and down, by the fastest switch
  std::int64_t fastest = 0;
  for (const LinkId up : topology_.out_links(a)) {
    const NodeId hub = topology_.link(up).to;
    if (topology_.node(hub).kind != NodeKind::switching) continue;
    for (const LinkId down : topology_.in_links(b)) {
      if (topology_.link(down).from != hub) continue;
      const std::int64_t speed = std::min(topology_.effective_bandwidth(up).bytes_per_second,
                                          topology_.effective_bandwidth(down).bytes_per_second);
      if (speed < fastest) continue;
      if (speed > fastest) best.clear();
      fastest = speed;
      best.emplace_back(up, down);
    }
  }
  if (best.empty()) return append_by_peer(links, node, from, to, port);
  std::ranges::stable_sort(best, {}, [&](const auto& way) { return topology_.link(way.first).to; });
  const auto& [up, down] = best[port % best.size()];
  links.insert(links.end(), {up, down});
  return true;
}

bool Wiring::append_by_peer(std::vector<LinkId>& links, std::uint32_t node, std::uint32_t from,
                            std::uint32_t to, std::uint32_t port) const {
  const auto links_between = [&](std::uint32_t a, std::uint32_t b) {
    std::vector<LinkId> found;
    for (const LinkId l : topology_.out_links(npu(node, a)))
      if (topology_.link(l).to == npu(node, b)) found.push_back(l);
    return found;
  };
  const auto speed_of = [&](const std::vector<LinkId>& found) {
    std::int64_t speed = 0;
    for (const LinkId l : found) speed += topology_.effective_bandwidth(l).bytes_per_second;
    return speed;
  };
  std::pair<std::vector<LinkId>, std::vector<LinkId>> best;
  std::int64_t fastest = 0;
  for (std::uint32_t peer = 0; peer < system_.gpus_of(node); ++peer) {
    auto first = links_between(from, peer), second = links_between(peer, to);
    const std::int64_t speed = std::min(speed_of(first), speed_of(second));
    if (speed <= fastest) continue;
    fastest = speed;
    best = {std::move(first), std::move(second)};
  }
  if (fastest == 0) return false;
  links.insert(links.end(),
               {best.first[port % best.first.size()], best.second[port % best.second.size()]});
  return true;
}

PathId Wiring::inside(std::uint32_t node, std::uint32_t from, std::uint32_t to,
                      std::uint32_t port) {
  std::vector<LinkId> links;
  if (append_inside(links, node, from, to, port)) return schedule_.paths().intern(links);
  return schedule_.path(system_.rank(node, from), system_.rank(node, to), port);
}

bool Wiring::append_nic(std::vector<LinkId>& links, bool out, std::uint32_t node, std::uint32_t gpu,
                        std::uint32_t nic, std::uint32_t port) const {
  if (nic >= system_.nic_links[node].size()) return false;
  const NicLinks& nic_links = system_.nic_links[node][nic];
  const System& its = system_.of(node);
  const std::vector<LinkId>& ports = out ? nic_links.out : nic_links.in;
  if (ports.empty()) return false;
  const auto near_end = [&](LinkId l) {
    return out ? topology_.link(l).from : topology_.link(l).to;
  };
  const auto far_end = [&](LinkId l) {
    return out ? topology_.link(l).to : topology_.link(l).from;
  };
  const NodeId self = npu(node, gpu);
  std::vector<LinkId> own; // ports at this GPU itself
  for (const LinkId l : ports)
    if (near_end(l) == self) own.push_back(l);
  if (!own.empty()) {
    links.push_back(own[port % own.size()]);
    return true;
  }
  const LinkId taken = ports[port % ports.size()];
  const NodeId at = near_end(taken);
  for (const LinkId l : out ? topology_.out_links(self) : topology_.in_links(self))
    if (far_end(l) == at && topology_.node(at).kind != NodeKind::npu) {
      // The NIC is at a switch next to the GPU.
      links.insert(links.end(), {out ? l : taken, out ? taken : l});
      return true;
    }
  if (its.nics[nic].by_host || its.out[gpu * its.nics.size() + nic].type == PathType::nic_near) {
    // Behind several switches of PCIe, or the host's memory.
    if (out) {
      if (!append_across(links, {self, at})) return false;
      links.push_back(taken);
      return true;
    }
    links.push_back(taken);
    return append_across(links, {at, self});
  }
  const std::uint32_t next_to = its.nics[nic].gpu;
  if (next_to == gpu) return false;
  if (out)
    return append_inside(links, node, gpu, next_to, port) &&
           append_nic(links, out, node, next_to, nic, port);
  return append_nic(links, out, node, next_to, nic, port) &&
         append_inside(links, node, next_to, gpu, port);
}

bool Wiring::append_across(std::vector<LinkId>& links, const Flow& flow) const {
  if (flow.from == flow.to) return true;
  const auto way = schedule_.router().route_by_switches(flow);
  if (way) links.insert(links.end(), way->begin(), way->end());
  return way.has_value();
}

bool Wiring::append_between(std::vector<LinkId>& links, const AtNic& from, const AtNic& to,
                            std::uint32_t port, std::uint32_t channel) const {
  if (!append_nic(links, true, from.node, from.gpu, from.nic, port)) return false;
  const NodeId reached = topology_.link(links.back()).to;
  if (const std::uint32_t end = index_at(to.node, reached);
      end != system_.gpus_of(to.node)) // a cable
    return append_inside(links, to.node, end, to.gpu, port);
  std::vector<LinkId> rest;
  if (!append_nic(rest, false, to.node, to.gpu, to.nic, port)) return false;
  const std::uint32_t ranks = schedule_.size(); // a number of its own for each flow, for hashes
  const std::uint32_t flow =
      (channel * ranks + system_.rank(from.node, from.gpu)) * ranks + system_.rank(to.node, to.gpu);
  if (!append_across(links, {reached, topology_.link(rest.front()).from, flow})) return false;
  links.insert(links.end(), rest.begin(), rest.end());
  return true;
}

PathId Wiring::between(const AtNic& from, const AtNic& to, std::uint32_t port,
                       std::uint32_t channel) {
  PathId& known = between_[{from, to, port, channel}];
  if (known.valid()) return known;
  // Ports that are cabled to the other GPU, if any are: others lead elsewhere.
  std::vector<LinkId> cables;
  for (const LinkId l : topology_.out_links(npu(from.node, from.gpu)))
    if (topology_.link(l).to == npu(to.node, to.gpu)) cables.push_back(l);
  if (!cables.empty()) return known = PathId{cables[port % cables.size()].value};
  if (!system_.nics.empty())
    for (const auto& [out, in] :
         {std::pair(from.nic, to.nic), std::pair(to.nic, to.nic), std::pair(from.nic, from.nic)}) {
      std::vector<LinkId> links;
      if (append_between(links, {from.node, from.gpu, out}, {to.node, to.gpu, in}, port, channel))
        return known = schedule_.paths().intern(links);
    }
  return known = schedule_.path(system_.rank(from.node, from.gpu), system_.rank(to.node, to.gpu),
                                channel);
}

std::uint32_t Wiring::nic_near(std::uint32_t node, std::uint32_t gpu, std::uint32_t port) const {
  std::vector<std::uint32_t> own, near;
  const System& its = system_.of(node);
  const std::size_t nics = its.nics.size();
  for (std::uint32_t n = 0; n < nics; ++n) {
    if (its.nics[n].gpu == gpu) own.push_back(n);
    if (its.out[gpu * nics + n].type == PathType::nic_near) near.push_back(n);
  }
  if (!own.empty()) return own[port % own.size()];
  if (!near.empty()) return near[port % near.size()];
  return gpu % static_cast<std::uint32_t>(nics);
}

PathId Wiring::any(Rank from, Rank to, std::uint32_t port) {
  if (node_[from] == node_[to]) return inside(node_[from], index_[from], index_[to], port);
  if (system_.of(node_[to]).nics.empty()) return schedule_.path(from, to, port);
  // The rail of the receiver's NIC, so that nothing has to cross rails.
  const std::uint32_t nic = nic_near(node_[to], index_[to], port);
  return between({node_[from], index_[from], nic}, {node_[to], index_[to], nic}, port, port);
}

PathId Wiring::up(std::uint32_t node, std::uint32_t gpu) const {
  for (const LinkId l : topology_.out_links(npu(node, gpu)))
    if (topology_.link(l).to == system_.reducing_switches[node]) return PathId{l.value};
  assert(false);
  return {};
}
PathId Wiring::down(std::uint32_t node, std::uint32_t gpu) const {
  for (const LinkId l : topology_.in_links(npu(node, gpu)))
    if (topology_.link(l).from == system_.reducing_switches[node]) return PathId{l.value};
  assert(false);
  return {};
}

PathId Wiring::to_switch(std::uint32_t node, std::uint32_t gpu, std::uint32_t nic) {
  std::vector<LinkId> links;
  append_nic(links, true, node, gpu, nic, 0);
  return schedule_.paths().intern(links);
}
PathId Wiring::from_switch(std::uint32_t node, std::uint32_t gpu, std::uint32_t nic) {
  std::vector<LinkId> links;
  append_nic(links, false, node, gpu, nic, 0);
  return schedule_.paths().intern(links);
}

} // namespace tutti::nccl
