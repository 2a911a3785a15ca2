// The picture that NCCL makes of a machine before it searches: who is next to whom, at which speed.
// Ours comes from the topology instead of from the operating system. A node is what NCCL calls one:
// GPUs that NVLink joins (nodes.cpp). What leads out of it are NICs, each next to a GPU.
// Source: NCCL 2.30, graph/topo.cc, graph/paths.cc (path types, PXN), graph/topo.h (speeds).

#include "algorithms/nccl/system.hpp"

#include "algorithms/nccl/host_path.hpp"
#include "algorithms/nccl/nodes.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace tutti::nccl {

namespace {

constexpr double bytes_per_gb = 1e9;

double gb_per_s(Bandwidth bandwidth) {
  return static_cast<double>(bandwidth.bytes_per_second) / bytes_per_gb;
}

/// Ranks by node, inside by NPU number.
std::vector<std::vector<Rank>> nodes_of(std::span<const NodeId> group, const NodesOfNpus& node_of) {
  std::map<std::uint32_t, std::vector<Rank>> nodes;
  for (Rank rank = 0; rank < group.size(); ++rank) nodes[node_of(group[rank])].push_back(rank);
  std::vector<std::vector<Rank>> result;
  for (auto& [node, ranks] : nodes) {
    std::ranges::sort(ranks, {}, [&](Rank rank) { return group[rank]; });
    result.push_back(std::move(ranks));
  }
  std::ranges::sort(
      result, {}, [](const std::vector<Rank>& ranks) { return *std::ranges::min_element(ranks); });
  return result;
}

class Picture {
public:
  Picture(const Topology& topology, std::span<const NodeId> group, const Gpu& gpu,
          const std::vector<std::vector<Rank>>& nodes, const NodesOfNpus& node_of)
      : topology_(topology), group_(group), gpu_(gpu) {
    system_.gpu = &gpu;
    system_.nodes = static_cast<std::uint32_t>(nodes.size());
    system_.begins.push_back(0);
    index_of_.assign(topology.node_count(), none);
    for (const std::vector<Rank>& ranks : nodes) {
      for (std::uint32_t g = 0; g < ranks.size(); ++g) index_of_[group[ranks[g]].value] = g;
      system_.ranks.insert(system_.ranks.end(), ranks.begin(), ranks.end());
      system_.begins.push_back(static_cast<std::uint32_t>(system_.ranks.size()));
    }
    find_domains(group, nodes, node_of);
    if (system_.nodes > 1) find_nics();
    find_kinds();
  }

  System made() && {
    const System blank = system_;
    std::vector<System> others;
    for (std::size_t kind = 1; kind < like_.size(); ++kind) {
      look_at(like_[kind]);
      others.push_back(std::exchange(system_, blank));
    }
    look_at(0);
    system_.others = std::move(others);
    return std::move(system_);
  }

private:
  static constexpr std::uint32_t none = UINT32_MAX, shared = UINT32_MAX - 1;

  /// Fills the picture in with this node's.
  void look_at(std::uint32_t node) {
    node_ = node;
    system_.gpus = system_.gpus_of(node);
    gpus_.clear();
    host_wires_.clear();
    for (std::uint32_t g = 0; g < system_.gpus; ++g) gpus_.push_back(group_[system_.rank(node, g)]);
    if (system_.gpus > most_searched) return;
    system_.paths.resize(std::size_t{system_.gpus} * system_.gpus);
    join_directly();
    join_by_switch();
    join_by_peers();
    add_total();
    if (like_.size() == 1) find_reducing_switches(); // NCCL's NVLS needs equal nodes
    if (system_.nodes > 1) add_nics();
  }

  /// Which nodes are alike: as many GPUs, with links of the same widths, and NICs.
  void find_kinds() {
    using Seen = std::pair<std::vector<std::vector<std::int64_t>>,
                           std::vector<std::tuple<double, bool, std::vector<std::uint32_t>>>>;
    std::map<Seen, std::uint32_t> kinds;
    for (std::uint32_t node = 0; node < system_.nodes; ++node) {
      Seen seen;
      for (std::uint32_t g = 0; g < system_.gpus_of(node); ++g) {
        std::vector<std::int64_t>& widths = seen.first.emplace_back();
        const NodeId gpu = group_[system_.rank(node, g)];
        for (const LinkId l : topology_.out_links(gpu))
          if (domain_[topology_.link(l).to.value] == node)
            widths.push_back(topology_.effective_bandwidth(l).bytes_per_second);
        std::ranges::sort(widths);
      }
      if (!nics_.empty())
        for (const FoundNic& nic : nics_[node])
          seen.second.emplace_back(nic.speed, nic.by_host, nic.near);
      const auto [kind, is_new] =
          kinds.try_emplace(std::move(seen), static_cast<std::uint32_t>(kinds.size()));
      if (is_new) like_.push_back(node);
      system_.picture.push_back(kind->second);
    }
  }

  [[nodiscard]] double believed(Bandwidth bandwidth) const {
    return gb_per_s(bandwidth) * gpu_.link_speed / gpu_.link_rate;
  }
  /// The index of a GPU of the node that is looked at; `none` for all else.
  [[nodiscard]] std::uint32_t index_in_node(NodeId node) const {
    return domain_[node.value] == node_ ? index_of_[node.value] : none;
  }
  std::uint32_t add_wire(double speed) {
    system_.wires.push_back(speed);
    return static_cast<std::uint32_t>(system_.wires.size() - 1);
  }
  Path& path(std::uint32_t from, std::uint32_t to) {
    return system_.paths[from * system_.gpus + to];
  }

  /// Whose every node is: of one of the nodes, or what several share. NPUs outside the group belong
  /// to their nodes, too, of which there may be more than the group has. A switch belongs to the
  /// node that alone is next to it, by links that aren't said to lead to others, unless it is as
  /// far from the node's NPUs as what other nodes share: a leaf with one server is a leaf.
  void find_domains(std::span<const NodeId> group, const std::vector<std::vector<Rank>>& nodes,
                    const NodesOfNpus& node_of) {
    domain_.assign(topology_.node_count(), none);
    std::map<std::uint32_t, std::uint32_t> domain_of;
    for (std::uint32_t n = 0; n < nodes.size(); ++n)
      domain_of.emplace(node_of(group[nodes[n].front()]), n);
    for (std::uint32_t v = 0; v < topology_.node_count(); ++v) {
      if (topology_.node(NodeId{v}).kind != NodeKind::npu) continue;
      const auto count = static_cast<std::uint32_t>(domain_of.size());
      domain_[v] = domain_of.try_emplace(node_of(NodeId{v}), count).first->second;
    }
    for (bool changed = true; changed;) {
      changed = false;
      const std::vector<std::uint32_t> before = domain_;
      for (std::uint32_t v = 0; v < topology_.node_count(); ++v) {
        if (before[v] != none || topology_.node(NodeId{v}).kind == NodeKind::npu) continue;
        for (const LinkId link : topology_.out_links(NodeId{v})) {
          const std::uint32_t next_to = before[topology_.link(link).to.value];
          if (next_to == none || next_to == shared ||
              (topology_.link(link).dimension == node_of.dimension_between() &&
               !topology_.part_of(link).starts_with("pcie"))) // which stays in its server
            continue;
          domain_[v] = domain_[v] == none || domain_[v] == next_to ? next_to : shared;
          changed = true;
        }
      }
    }
    share_lone_leaves();
  }

  /// Where all ways out of a node to what is shared are longer than those of others, the switches
  /// on these ways are shared from the depth on at which others share theirs.
  void share_lone_leaves() {
    std::vector<std::uint32_t> open, depth(topology_.node_count(), none); // hops from an NPU
    for (std::uint32_t v = 0; v < topology_.node_count(); ++v)
      if (topology_.node(NodeId{v}).kind == NodeKind::npu) {
        depth[v] = 0;
        open.push_back(v);
      }
    std::uint32_t least = none;                     // of what is shared
    std::map<std::uint32_t, std::uint32_t> way_out; // by node: hops to what is shared
    std::vector<std::uint32_t> shares;
    for (std::size_t i = 0; i < open.size(); ++i) {
      const std::uint32_t v = open[i];
      if (domain_[v] == shared) {
        least = std::min(least, depth[v]);
        shares.push_back(v);
      }
      for (const LinkId link : topology_.out_links(NodeId{v})) {
        const std::uint32_t next = topology_.link(link).to.value;
        if (depth[next] == none) {
          depth[next] = depth[v] + 1;
          open.push_back(next);
        }
        if (domain_[next] == shared && domain_[v] != shared) {
          std::uint32_t& hops = way_out.try_emplace(domain_[v], none).first->second;
          hops = std::min(hops, depth[v] + 1);
        }
      }
    }
    for (std::size_t i = 0; i < shares.size(); ++i)
      for (const LinkId link : topology_.out_links(NodeId{shares[i]})) {
        const std::uint32_t next = topology_.link(link).to.value;
        const auto hops = way_out.find(domain_[next]);
        if (hops == way_out.end() || hops->second <= least || depth[next] < least) continue;
        domain_[next] = shared;
        shares.push_back(next);
      }
  }

  void join_directly() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> speeds;
    for (std::uint32_t g = 0; g < gpus_.size(); ++g)
      for (const LinkId l : topology_.out_links(gpus_[g]))
        if (const std::uint32_t to = index_in_node(topology_.link(l).to); to != none)
          speeds[{g, to}] += believed(topology_.effective_bandwidth(l));
    for (const auto& [ends, speed] : speeds)
      path(ends.first, ends.second) = {{add_wire(speed)}, speed, PathType::nvlink};
  }

  /// By the fastest switch of the node that both are next to; slow ones are PCIe, and no NVLink.
  void join_by_switch() {
    std::map<std::uint32_t, std::map<std::uint32_t, std::uint32_t>> up, down; // wires, by switch
    std::vector<double> fastest(gpus_.size(), 0);
    const auto collect = [&](bool out) {
      for (std::uint32_t g = 0; g < gpus_.size(); ++g) {
        std::map<std::uint32_t, double> speeds;
        for (const LinkId l : out ? topology_.out_links(gpus_[g]) : topology_.in_links(gpus_[g])) {
          const Link& link = topology_.link(l);
          const NodeId other = out ? link.to : link.from;
          if (topology_.node(other).kind == NodeKind::switching && domain_[other.value] == node_)
            speeds[other.value] += believed(topology_.effective_bandwidth(l));
        }
        for (const auto& [other, speed] : speeds) {
          (out ? up : down)[other][g] = add_wire(speed);
          fastest[g] = std::max(fastest[g], speed);
        }
      }
    };
    collect(true);
    collect(false);
    constexpr double nvlink = 0.5; // of the fastest switch of either
    for (const auto& [hub, wires] : up) {
      bool joins = false;
      for (const auto& [from, up_wire] : wires)
        for (const auto& [to, down_wire] : down[hub]) {
          const double speed = std::min(system_.wires[up_wire], system_.wires[down_wire]);
          const double least = nvlink * std::max(fastest[from], fastest[to]);
          if (from == to || speed < least || path(from, to).speed >= speed) continue;
          path(from, to) = {{up_wire, down_wire}, speed, PathType::nvlink};
          joins = true;
        }
      system_.has_switch = system_.has_switch || joins;
    }
  }

  [[nodiscard]] bool can_reduce(NodeId node) const {
    const Abilities can = topology_.node(node).can;
    return topology_.node(node).kind == NodeKind::switching && can.reduce && can.copy;
  }
  /// Finds for each node the first switch that reduces and copies, belongs to the node and is next
  /// to all of its GPUs, both ways; keeps them where every node has one.
  void find_reducing_switches() {
    std::vector<NodeId> found(system_.nodes);
    std::size_t count = 0;
    for (std::uint32_t v = 0; v < topology_.node_count(); ++v) {
      const NodeId hub{v};
      const std::uint32_t node = domain_[v];
      if (node >= system_.nodes || !can_reduce(hub) || found[node].valid()) continue;
      std::set<std::uint32_t> up, down;
      for (const LinkId l : topology_.in_links(hub))
        if (const NodeId npu = topology_.link(l).from; domain_[npu.value] == node)
          up.insert(index_of_[npu.value]);
      for (const LinkId l : topology_.out_links(hub))
        if (const NodeId npu = topology_.link(l).to; domain_[npu.value] == node)
          down.insert(index_of_[npu.value]);
      up.erase(none);
      down.erase(none);
      if (up.size() != system_.gpus || down.size() != system_.gpus) continue;
      found[node] = hub;
      ++count;
    }
    if (count == system_.nodes) system_.reducing_switches = std::move(found);
  }

  void join_by_peers() {
    const std::vector<Path> direct = system_.paths;
    for (std::uint32_t a = 0; a < system_.gpus; ++a)
      for (std::uint32_t b = 0; b < system_.gpus; ++b) {
        if (a == b || path(a, b).type == PathType::nvlink) continue;
        for (std::uint32_t m = 0; m < system_.gpus; ++m) {
          const Path &first = direct[a * system_.gpus + m], &second = direct[m * system_.gpus + b];
          const double speed = std::min(first.speed, second.speed);
          if (speed <= path(a, b).speed) continue;
          path(a, b) = {first.wires, speed, PathType::via_peer};
          path(a, b).wires.insert(path(a, b).wires.end(), second.wires.begin(), second.wires.end());
        }
        if (path(a, b).type != PathType::none) continue;
        if (system_.has_switch)
          join_by_host(a, b);
        else
          path(a, b) = {{add_wire(gpu_.pcie_speed)}, gpu_.pcie_speed, PathType::system};
      }
  }

  /// Two GPUs of which one isn't at the NVSwitch that joins its siblings: as fast as the slowest
  /// link on the way, which other pairs have in common with them. Where there is no way, as from
  /// one host to another, they stay apart (NCCL's PATH_DIS). Without an NVSwitch each pair is taken
  /// to have a PCIe of its own.
  void join_by_host(std::uint32_t a, std::uint32_t b) {
    const std::vector<LinkId> links = host_path(topology_, gpus_[a], gpus_[b], [&](NodeId node) {
      return domain_[node.value] == node_ && topology_.node(node).kind == NodeKind::switching;
    });
    if (links.empty()) return;
    Path found{{}, std::numeric_limits<double>::max(), PathType::system};
    for (const LinkId l : links) {
      const auto [wire, is_new] = host_wires_.try_emplace(l.value);
      if (is_new) {
        const Bandwidth rate = topology_.link(l).bandwidth;
        wire->second =
            add_wire(topology_.part_of(l).starts_with("nvlink") ? believed(rate) : gb_per_s(rate));
      }
      found.wires.push_back(wire->second);
      found.speed = std::min(found.speed, system_.wires[wire->second]);
    }
    path(a, b) = std::move(found);
  }

  void add_total() {
    constexpr double fastest_port = 2000; // beyond, partitions of one GPU (MLOPART_LOC_BW)
    for (std::uint32_t g = 0; g < system_.gpus; ++g) {
      double total = 0;
      std::vector<std::uint32_t> seen;
      for (std::uint32_t to = 0; to < system_.gpus; ++to) {
        const Path& out = path(g, to);
        if (out.type != PathType::nvlink || std::ranges::find(seen, out.wires[0]) != seen.end())
          continue;
        seen.push_back(out.wires[0]);
        if (system_.wires[out.wires[0]] > fastest_port) continue;
        total += system_.wires[out.wires[0]];
      }
      system_.total = std::max(system_.total, total);
    }
    system_.total = std::max(system_.total, gpu_.pcie_speed);
  }

  /// Links out of a node; those in one shared group, or at one GPU, are ports of one NIC. NICs
  /// stand in the order of the GPUs next to them, and then of what their ports lead to, so that the
  /// k-th of every node are on one rail, in whatever order links are listed.
  void find_nics() {
    std::vector<std::vector<LinkId>> leaving = links_out_of_nodes();
    for (std::uint32_t node = 0; node < system_.nodes; ++node) {
      nics_.push_back(nics_of(node, std::move(leaving[node])));
      std::vector<NicLinks>& ports = system_.nic_links.emplace_back();
      for (const FoundNic& nic : nics_.back()) ports.push_back(nic.ports);
    }
  }
  void add_nics() {
    std::map<std::vector<std::uint32_t>, std::uint32_t> taken; // GPUs that are given out
    std::vector<std::vector<std::uint32_t>> near;              // GPUs, by NIC
    for (const FoundNic& nic : nics_[node_]) {
      near.push_back(nic.near);
      const std::uint32_t gpu =
          nic.near.empty() ? 0 : nic.near[taken[nic.near]++ % nic.near.size()];
      system_.nics.push_back({nic.speed, gpu, nic.by_host});
    }
    if (like_.size() == 1) find_reducing_between();
    join_nics(near);
  }
  struct FoundNic {
    std::vector<std::uint32_t> near; ///< GPUs
    NodeId leads_to;                 ///< by its first port
    NicLinks ports;
    double speed = 0;
    bool by_host = false;
  };
  /// Whether a NIC there is at memory, or a card whose only way leads there.
  [[nodiscard]] bool is_at_host(NodeId node) const {
    const auto is_memory = [&](NodeId v) {
      return topology_.node(v).kind != NodeKind::npu && topology_.node(v).can.store;
    };
    const auto leads_to = [&](const auto& what) {
      return std::ranges::any_of(topology_.out_links(node),
                                 [&](LinkId l) { return what(topology_.link(l).to); });
    };
    const auto is_gpu = [&](NodeId v) { return topology_.node(v).kind == NodeKind::npu; };
    return is_memory(node) || (!is_gpu(node) && leads_to(is_memory) && !leads_to(is_gpu));
  }
  /// By node.
  [[nodiscard]] std::vector<std::vector<LinkId>> links_out_of_nodes() const {
    const auto is_outsider = [&](NodeId end) {
      return topology_.node(end).kind == NodeKind::npu && index_of_[end.value] == none;
    };
    std::vector<std::vector<LinkId>> leaving(system_.nodes);
    for (std::uint32_t l = 0; l < topology_.link_count(); ++l) {
      const Link& link = topology_.link(LinkId{l});
      const std::uint32_t node = domain_[link.from.value];
      if (node < system_.nodes && domain_[link.to.value] != node && !is_outsider(link.from) &&
          !is_outsider(link.to))
        leaving[node].push_back(LinkId{l});
    }
    return leaving;
  }
  [[nodiscard]] std::vector<FoundNic> nics_of(std::uint32_t node, std::vector<LinkId> links) const {
    std::map<std::pair<bool, std::uint32_t>, FoundNic> found; // by (is at a GPU, which)
    std::ranges::stable_sort(links, {}, [&](LinkId l) { return topology_.link(l).to; });
    std::set<LinkId> taken; // parallel ports have one back each
    for (const LinkId l : links) {
      const Link& link = topology_.link(l);
      const std::uint32_t own = index_of_[link.from.value];
      const std::span<const std::uint32_t> groups = topology_.groups_of(l);
      const auto card = std::ranges::find_if(groups, [&](std::uint32_t g) { // no bus in the node
        return std::ranges::none_of(topology_.groups()[g].links, [&](LinkId other) {
          return domain_[topology_.link(other).from.value] ==
                 domain_[topology_.link(other).to.value];
        });
      });
      const auto at = card != groups.end() ? std::pair{false, *card}
                      : own != none        ? std::pair{true, own}
                                           : std::pair{false, UINT32_MAX - l.value};
      const auto [place, is_new] = found.try_emplace(at);
      FoundNic& nic = place->second;
      if (is_new) nic.leads_to = link.to;
      nic.ports.out.push_back(l);
      for (const LinkId back : topology_.in_links(link.from))
        if (topology_.link(back).from == link.to && taken.insert(back).second) {
          nic.ports.in.push_back(back);
          break;
        }
      nic.speed += gb_per_s(link.bandwidth);
      for (const std::uint32_t g : groups) // of several GPUs, or of a slot
        nic.speed = std::min(nic.speed, gb_per_s(topology_.groups()[g].bandwidth));
      nic.by_host = is_at_host(link.from);
      for (const std::uint32_t g : gpus_at(link.from, node))
        if (std::ranges::find(nic.near, g) == nic.near.end()) nic.near.push_back(g);
    }
    std::vector<FoundNic> nics;
    for (auto& [at, nic] : found) {
      std::ranges::sort(nic.near);
      nics.push_back(std::move(nic));
    }
    std::ranges::stable_sort(nics, {},
                             [](const FoundNic& nic) { return std::pair(nic.near, nic.leads_to); });
    return nics;
  }
  /// GPUs of server `of` that are the fewest hops from `node`, which is in it: by its own switches.
  [[nodiscard]] std::vector<std::uint32_t> gpus_at(NodeId node, std::uint32_t of) const {
    const auto index = [&](NodeId v) { return domain_[v.value] == of ? index_of_[v.value] : none; };
    std::set<NodeId> seen{node};
    for (std::vector<NodeId> ring{node}; !ring.empty();) {
      std::vector<std::uint32_t> gpus;
      std::vector<NodeId> next;
      for (const NodeId at : ring) {
        if (const std::uint32_t g = index(at); g != none) gpus.push_back(g);
        for (const LinkId l : topology_.out_links(at))
          if (const NodeId to = topology_.link(l).to;
              domain_[to.value] == of && seen.insert(to).second)
            next.push_back(to);
      }
      if (!gpus.empty()) return gpus;
      ring = std::move(next);
    }
    return {};
  }
  void find_reducing_between() {
    std::vector<NodeId> found;
    for (std::size_t n = 0; n < system_.nics.size(); ++n) {
      const NodeId hub = topology_.link(system_.nic_links[0][n].out.front()).to;
      if (!can_reduce(hub)) return;
      for (const std::vector<NicLinks>& node : system_.nic_links)
        if (topology_.link(node[n].out.front()).to != hub || node[n].in.empty()) return;
      found.push_back(hub);
    }
    system_.reducing_between = std::move(found);
  }

  void join_nics(const std::vector<std::vector<std::uint32_t>>& near) {
    std::vector<std::uint32_t> pcie_out, pcie_in, nic_out, nic_in;
    for (std::uint32_t g = 0; g < system_.gpus; ++g) {
      pcie_out.push_back(add_wire(gpu_.pcie_speed));
      pcie_in.push_back(add_wire(gpu_.pcie_speed));
    }
    for (const Nic& nic : system_.nics) {
      nic_out.push_back(add_wire(nic.speed));
      nic_in.push_back(add_wire(nic.speed));
    }
    for (std::uint32_t g = 0; g < system_.gpus; ++g)
      for (std::uint32_t n = 0; n < system_.nics.size(); ++n) {
        const Nic& nic = system_.nics[n];
        const double speed = std::min(gpu_.pcie_speed, nic.speed);
        if (!nic.by_host && std::ranges::find(near[n], g) != near[n].end()) {
          system_.out.push_back({{pcie_out[g], nic_out[n]}, speed, PathType::nic_near});
          system_.in.push_back({{nic_in[n], pcie_in[g]}, speed, PathType::nic_near});
          continue;
        }
        const Path &there = path(g, nic.gpu), &back = path(nic.gpu, g);
        if (there.type != PathType::nvlink || nic.by_host) {
          system_.out.push_back({{pcie_out[g], nic_out[n]}, speed, PathType::system});
          system_.in.push_back({{nic_in[n], pcie_in[g]}, speed, PathType::system});
          continue;
        }
        Path out{there.wires, std::min(there.speed, speed), PathType::via_rail};
        out.wires.insert(out.wires.end(), {pcie_out[nic.gpu], nic_out[n]});
        system_.out.push_back(std::move(out));
        Path in{{nic_in[n], pcie_in[nic.gpu]}, std::min(back.speed, speed), PathType::via_rail};
        in.wires.insert(in.wires.end(), back.wires.begin(), back.wires.end());
        system_.in.push_back(std::move(in));
      }
  }

  const Topology& topology_;
  std::span<const NodeId> group_;
  const Gpu& gpu_;
  System system_;
  std::uint32_t node_ = 0;              // that is looked at
  std::vector<std::uint32_t> like_;     // the first node of each kind
  std::vector<NodeId> gpus_;            // of the node that is looked at
  std::vector<std::uint32_t> index_of_; // per node of the topology: its GPU in its node, or none
  std::vector<std::uint32_t> domain_;   // per node of the topology
  std::map<std::uint32_t, std::uint32_t> host_wires_; // by link
  std::vector<std::vector<FoundNic>> nics_;           // by node
};

} // namespace

std::string_view to_text(PathType type) {
  constexpr std::array<std::string_view, 6> names{"NVL", "NVB", "PIX", "PXN", "SYS", "DIS"};
  return names[static_cast<std::size_t>(type)];
}

System system_of(const Topology& topology, std::span<const NodeId> group, std::string_view model,
                 std::string_view assumed, std::uint32_t node_size) {
  NodesOfNpus node_of(topology, model, assumed);
  if (node_size > 0) node_of.cut_by_number(node_size);
  System refused;
  refused.problem = node_of.problem();
  if (!refused.problem.empty()) return refused;
  const std::vector<std::vector<Rank>> nodes = nodes_of(group, node_of);
  System system = Picture(topology, group, node_of.gpu(), nodes, node_of).made();
  system.gpu_is_assumed = !node_of.gpu_is_known();
  return system;
}

} // namespace tutti::nccl
