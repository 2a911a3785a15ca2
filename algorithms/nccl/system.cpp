// The picture that NCCL makes of a machine before it searches: who is next to whom, at which speed.
// Ours comes from the topology instead of from the operating system. A node is what NCCL calls one:
// GPUs that NVLink joins. What leads out of it are NICs, each next to a GPU.
// Source: NCCL 2.30, graph/topo.cc, graph/paths.cc (path types, PXN), graph/topo.h (speeds).

#include "algorithms/nccl/system.hpp"

#include "sim/error.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <utility>

namespace tutti::nccl {

namespace {

constexpr double bytes_per_gb = 1e9;

double gb_per_s(Bandwidth bandwidth) {
  return static_cast<double>(bandwidth.bytes_per_second) / bytes_per_gb;
}

/// Per NPU of the topology the lowest one that links or fast switches join it with. What is slower
/// than one of a GPU's links is a NIC's; a switch is NVSwitch where a GPU has more than four links
/// to it, and others are PCIe or the network.
std::vector<std::uint32_t> domains_of(const Topology& topology, const Gpu& gpu) {
  std::vector<std::uint32_t> domain(topology.node_count());
  std::iota(domain.begin(), domain.end(), 0);
  const auto root = [&](std::uint32_t v) {
    while (domain[v] != v) v = domain[v] = domain[domain[v]];
    return v;
  };
  constexpr double few_links = 4;
  for (const Link& link : topology.links()) {
    const auto is_npu = [&](NodeId v) { return topology.node(v).kind == NodeKind::npu; };
    const auto is_switch = [&](NodeId v) { return topology.node(v).kind == NodeKind::switching; };
    const bool is_direct = is_npu(link.from) && is_npu(link.to);
    const bool is_fast = (is_npu(link.from) || is_npu(link.to)) &&
                         (is_switch(link.from) || is_switch(link.to)) &&
                         gb_per_s(link.bandwidth) > few_links * gpu.link_rate;
    if (!(is_direct && gb_per_s(link.bandwidth) >= gpu.link_rate) && !is_fast) continue;
    const std::uint32_t a = root(link.from.value), b = root(link.to.value);
    domain[std::max(a, b)] = std::min(a, b);
  }
  for (std::uint32_t v = 0; v < domain.size(); ++v) domain[v] = root(v);
  return domain;
}

/// Ranks by node, inside by NPU number.
std::vector<std::vector<Rank>> nodes_of(const Topology& topology, std::span<const NodeId> group,
                                        const Gpu& gpu, bool is_known, std::uint32_t node_size) {
  const std::size_t dimensions = topology.shape().size();
  const bool by_coordinates = node_size == 0 && dimensions >= 2 && is_known;
  const bool by_domain = node_size == 0 && dimensions < 2 && is_known;
  const std::vector<std::uint32_t> domains =
      by_domain ? domains_of(topology, gpu) : std::vector<std::uint32_t>();
  std::map<std::int64_t, std::vector<Rank>> nodes;
  for (Rank rank = 0; rank < group.size(); ++rank) {
    const NodeId npu = group[rank];
    const std::int64_t node = by_coordinates  ? topology.coordinate(npu)[dimensions - 1]
                              : by_domain     ? domains[npu.value]
                              : node_size > 0 ? npu.value / node_size
                                              : 0;
    nodes[node].push_back(rank);
  }
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
          const std::vector<std::vector<Rank>>& nodes)
      : topology_(topology), gpu_(gpu) {
    system_.gpu = &gpu;
    system_.nodes = static_cast<std::uint32_t>(nodes.size());
    system_.gpus = static_cast<std::uint32_t>(nodes.front().size());
    for (const std::vector<Rank>& ranks : nodes)
      system_.ranks.insert(system_.ranks.end(), ranks.begin(), ranks.end());
    for (std::uint32_t g = 0; g < system_.gpus; ++g) gpus_.push_back(group[system_.rank(0, g)]);
    index_of_.assign(topology.node_count(), none);
    for (std::uint32_t node = 0; node < system_.nodes; ++node)
      for (std::uint32_t g = 0; g < system_.gpus; ++g)
        index_of_[group[system_.rank(node, g)].value] = g;
    find_domains(group, nodes);
  }

  System made() && {
    if (system_.gpus <= most_searched) {
      system_.paths.resize(std::size_t{system_.gpus} * system_.gpus);
      join_directly();
      join_by_switch();
      join_by_peers();
      add_total();
      if (system_.nodes > 1) add_nics();
    }
    return std::move(system_);
  }

private:
  static constexpr std::uint32_t none = UINT32_MAX, shared = UINT32_MAX - 1;

  [[nodiscard]] double believed(Bandwidth bandwidth) const {
    return gb_per_s(bandwidth) * gpu_.link_speed / gpu_.link_rate;
  }
  /// Of a GPU of node 0; none of any other node.
  [[nodiscard]] std::uint32_t index_in_first(NodeId node) const {
    return domain_[node.value] == 0 ? index_of_[node.value] : none;
  }
  std::uint32_t add_wire(double speed) {
    system_.wires.push_back(speed);
    return static_cast<std::uint32_t>(system_.wires.size() - 1);
  }
  Path& path(std::uint32_t from, std::uint32_t to) {
    return system_.paths[from * system_.gpus + to];
  }

  /// Whose every node is: of one NVLink domain, or what several share. A switch belongs to the
  /// domain that alone is next to it.
  void find_domains(std::span<const NodeId> group, const std::vector<std::vector<Rank>>& nodes) {
    domain_.assign(topology_.node_count(), none);
    for (std::uint32_t n = 0; n < nodes.size(); ++n)
      for (const Rank rank : nodes[n]) domain_[group[rank].value] = n;
    for (bool changed = true; changed;) {
      changed = false;
      const std::vector<std::uint32_t> before = domain_;
      for (std::uint32_t v = 0; v < topology_.node_count(); ++v) {
        if (before[v] != none || topology_.node(NodeId{v}).kind == NodeKind::npu) continue;
        for (const LinkId link : topology_.out_links(NodeId{v})) {
          const std::uint32_t next_to = before[topology_.link(link).to.value];
          if (next_to == none || next_to == shared) continue;
          domain_[v] = domain_[v] == none || domain_[v] == next_to ? next_to : shared;
          changed = true;
        }
      }
    }
  }

  void join_directly() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> speeds;
    for (std::uint32_t g = 0; g < gpus_.size(); ++g)
      for (const LinkId l : topology_.out_links(gpus_[g]))
        if (const std::uint32_t to = index_in_first(topology_.link(l).to); to != none)
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
          if (topology_.node(other).kind == NodeKind::switching && domain_[other.value] == 0)
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
    constexpr double nvlink = 0.5; // of the fastest switch
    for (const auto& [hub, wires] : up) {
      const Abilities can = topology_.node(NodeId{hub}).can;
      bool joins = false;
      for (const auto& [from, up_wire] : wires)
        for (const auto& [to, down_wire] : down[hub]) {
          const double speed = std::min(system_.wires[up_wire], system_.wires[down_wire]);
          if (from == to || speed < nvlink * fastest[from] || path(from, to).speed >= speed)
            continue;
          path(from, to) = {{up_wire, down_wire}, speed, PathType::nvlink};
          joins = true;
        }
      if (!joins) continue;
      system_.has_switch = true;
      system_.can_reduce_in_switch =
          system_.can_reduce_in_switch || (can.copy && can.reduce && wires.size() == gpus_.size());
    }
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
        if (path(a, b).type == PathType::none) // by whatever there is
          path(a, b) = {{add_wire(gpu_.pcie_speed)}, gpu_.pcie_speed, PathType::system};
      }
  }

  void add_total() {
    for (std::uint32_t g = 0; g < system_.gpus; ++g) {
      double total = 0;
      std::vector<std::uint32_t> seen;
      for (std::uint32_t to = 0; to < system_.gpus; ++to) {
        const Path& out = path(g, to);
        if (out.type != PathType::nvlink || std::ranges::find(seen, out.wires[0]) != seen.end())
          continue;
        seen.push_back(out.wires[0]);
        total += system_.wires[out.wires[0]];
      }
      system_.total = std::max(system_.total, total);
    }
    system_.total = std::max(system_.total, gpu_.pcie_speed);
  }

  /// Links out of a node; those in one shared group, or at one GPU, are ports of one NIC. Those of
  /// the other nodes are taken in the same order.
  void add_nics() {
    std::vector<std::vector<std::uint32_t>> near; // GPUs, by NIC
    for (std::uint32_t node = 0; node < system_.nodes; ++node) add_nics_of(node, near);
    for (const std::vector<NicLinks>& links : system_.nic_links)
      if (links.size() != system_.nics.size()) {
        system_.problem = fmt::format("nodes of {} and of {} NICs: only equal ones are known",
                                      system_.nics.size(), links.size());
        return;
      }
    join_nics(near);
  }
  void add_nics_of(std::uint32_t node, std::vector<std::vector<std::uint32_t>>& near) {
    std::map<std::pair<bool, std::uint32_t>, std::uint32_t> nic_at; // (is at a GPU, which)
    std::map<std::uint32_t, std::uint32_t> taken;                   // by switch: GPUs given out
    std::vector<NicLinks>& ports = system_.nic_links.emplace_back();
    for (std::uint32_t l = 0; l < topology_.link_count(); ++l) {
      const Link& link = topology_.link(LinkId{l});
      const std::uint32_t to = domain_[link.to.value];
      const bool is_other_npu = to == none && topology_.node(link.to).kind == NodeKind::npu;
      if (domain_[link.from.value] != node || to == node || is_other_npu) continue;
      const std::uint32_t own = index_of_[link.from.value];
      const std::span<const std::uint32_t> groups = topology_.groups_of(LinkId{l});
      const auto at = !groups.empty() ? std::pair{false, groups.front()}
                      : own != none   ? std::pair{true, own}
                                      : std::pair{false, UINT32_MAX - l};
      const auto [found, is_new] = nic_at.try_emplace(at, static_cast<std::uint32_t>(ports.size()));
      if (is_new) ports.emplace_back();
      ports[found->second].out.push_back(LinkId{l});
      for (const LinkId back : topology_.in_links(link.from))
        if (topology_.link(back).from == link.to) {
          ports[found->second].in.push_back(back);
          break;
        }
      if (node > 0) continue;
      if (is_new) {
        system_.nics.emplace_back();
        near.emplace_back();
        system_.nics.back().gpu = own != none ? own : next_gpu_at(link.from, taken);
      }
      Nic& nic = system_.nics[found->second];
      nic.speed = groups.empty() ? nic.speed + gb_per_s(link.bandwidth)
                                 : gb_per_s(topology_.groups()[groups.front()].bandwidth);
      for (const std::uint32_t g : gpus_at(link.from)) near[found->second].push_back(g);
    }
  }
  [[nodiscard]] std::vector<std::uint32_t> gpus_at(NodeId node) const {
    if (const std::uint32_t g = index_in_first(node); g != none) return {g};
    std::vector<std::uint32_t> gpus;
    for (const LinkId l : topology_.out_links(node))
      if (const std::uint32_t g = index_in_first(topology_.link(l).to); g != none)
        gpus.push_back(g);
    return gpus;
  }
  std::uint32_t next_gpu_at(NodeId node, std::map<std::uint32_t, std::uint32_t>& taken) const {
    const std::vector<std::uint32_t> gpus = gpus_at(node);
    return gpus.empty() ? 0 : gpus[taken[node.value]++ % gpus.size()];
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
        if (std::ranges::find(near[n], g) != near[n].end()) {
          system_.out.push_back({{pcie_out[g], nic_out[n]}, speed, PathType::nic_near});
          system_.in.push_back({{nic_in[n], pcie_in[g]}, speed, PathType::nic_near});
          continue;
        }
        const Path &there = path(g, nic.gpu), &back = path(nic.gpu, g);
        if (there.type != PathType::nvlink) {
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
  const Gpu& gpu_;
  System system_;
  std::vector<NodeId> gpus_;            // of node 0
  std::vector<std::uint32_t> index_of_; // per node of the topology: its GPU in its node, or none
  std::vector<std::uint32_t> domain_;   // per node of the topology
};

const Gpu& gpu_called(std::string_view model) {
  if (const Gpu* gpu = find_gpu(model)) return *gpu;
  std::vector<std::string> known;
  for (const Gpu& gpu : gpus()) known.emplace_back(gpu.model);
  throw InputError(unknown_name("model of GPU", std::string(model), known));
}

} // namespace

std::string_view to_text(PathType type) {
  constexpr std::array<std::string_view, 6> names{"NVL", "NVB", "PIX", "PXN", "SYS", "DIS"};
  return names[static_cast<std::size_t>(type)];
}

System system_of(const Topology& topology, std::span<const NodeId> group, std::string_view model,
                 std::string_view assumed, std::uint32_t node_size) {
  const std::string& said = topology.parts().npu_model;
  const bool is_known = !model.empty() || find_gpu(said) != nullptr;
  const Gpu& gpu = gpu_called(!model.empty() ? model : is_known ? said : assumed);
  const std::vector<std::vector<Rank>> nodes = nodes_of(topology, group, gpu, is_known, node_size);
  for (const std::vector<Rank>& ranks : nodes)
    if (ranks.size() != nodes.front().size()) {
      System unequal;
      unequal.problem = fmt::format("nodes of {} and of {} NPUs: only equal ones are known",
                                    nodes.front().size(), ranks.size());
      return unequal;
    }
  System system = Picture(topology, group, gpu, nodes).made();
  system.gpu_is_assumed = !is_known;
  return system;
}

} // namespace tutti::nccl
