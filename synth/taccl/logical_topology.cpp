// Why: TACCL routes on a small graph of NPUs, in which NICs and switches are costs of connections.
// Idea: it is a Topology of its own. Whatever works on topologies (bounds, TACOS, flows, figures)
// then works on what a sketch leaves of a network, and answers are lifted back path by path.
//
// TACCL divides a NIC's bandwidth among the connections that use it, as its model has no NIC: with
// s senders and r receivers each, of N NICs, by s r / N (its public code), or by what the sketch
// says (`beta_split`, appendix A). Here the network knows its NICs, and what several connections
// cross is a shared group as well; the split only makes routing plan as TACCL does.
#include "synth/taccl/logical_topology.hpp"

#include "sim/error.hpp"
#include "synth/inversion.hpp"
#include "synth/taccl/npu_paths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace tutti {

namespace {

class Builder {
public:
  Builder(const Topology& network, const Sketch& sketch)
      : network_(network), sketch_(sketch), each_(network.npu_count() / sketch.machines) {}

  LogicalTopology build() {
    for (std::uint32_t npu = 0; npu < network_.npu_count(); ++npu) {
      const NpuPaths paths(network_, NodeId{npu});
      connect_inside(NodeId{npu}, paths);
      connect_between(NodeId{npu}, paths);
    }
    LogicalTopology made{.topology = topology(), .paths = paths_, .connections = connections_};
    made.machines = sketch_.machines;
    made.own_chunks_first = sketch_.own_chunks_first;
    made.balance = sketch_.balance;
    made.symmetry_is_found = sketch_.finds_symmetry;
    add_parts(made);
    made.leaves_through.resize(network_.npu_count());
    for (std::uint32_t npu = 0; npu < network_.npu_count(); ++npu)
      for (const auto& [sender, members] : sketch_.leaves_through)
        if (std::ranges::binary_search(members, npu % each_))
          made.leaves_through[npu].push_back(NodeId{npu - npu % each_ + sender});
    check_leaving(made);
    add_symmetry(made);
    return made;
  }

private:
  void add(NodeId from, NodeId to, std::vector<LinkId> path, Connection connection) {
    ends_.emplace_back(from, to);
    paths_.push_back(std::move(path));
    connections_.push_back(connection);
  }

  void connect_inside(NodeId from, const NpuPaths& paths) {
    const LocalRank rank = from.value % each_;
    const std::uint32_t first = from.value - rank;
    std::set<NodeId> switched;
    for (std::size_t i = 0; i < sketch_.hyperedges.size(); ++i) {
      const Sketch::Hyperedge& edge = sketch_.hyperedges[i];
      if (!std::ranges::binary_search(edge.npus, rank)) continue;
      for (const LocalRank other : edge.npus) {
        const NodeId to{first + other};
        if (other == rank || !switched.insert(to).second) continue; // or a parallel switch
        const auto found = paths.to(to);
        if (found.empty()) throw no_path(edge.place, from, to);
        for (const auto& path : found) add(from, to, path, {false, true, edge.policy});
      }
    }
    bool has_direct = false;
    for (const LinkId link : network_.out_links(from)) {
      const NodeId to = network_.link(link).to;
      if (to.value / each_ != from.value / each_ || to.value >= network_.npu_count()) continue;
      has_direct = true;
      if (switched.contains(to) || !is_allowed(rank, to.value % each_)) continue;
      add(from, to, {link}, {});
    }
    if (sketch_.links)
      for (const auto& [a, b] : *sketch_.links)
        if (a == rank && !has_link(from, NodeId{first + b}))
          throw InputError(fmt::format("{}{} has no link to {}", sketch_.links_place,
                                       network_.node(from).name,
                                       network_.node(NodeId{first + b}).name));
    if (has_direct || sketch_.links || !sketch_.hyperedges.empty()) return;
    for (LocalRank other = 0; other < each_; ++other)
      if (other != rank)
        for (const auto& path : paths.to(NodeId{first + other}))
          add(from, NodeId{first + other}, path, {});
  }

  void connect_between(NodeId from, const NpuPaths& paths) {
    const LocalRank rank = from.value % each_;
    std::vector<LocalRank> receivers;
    switch (sketch_.between) {
    case Sketch::Between::nothing: return;
    case Sketch::Between::direct: receivers = {rank}; break;
    case Sketch::Between::full:
      receivers.resize(each_);
      std::iota(receivers.begin(), receivers.end(), LocalRank{0});
      break;
    case Sketch::Between::mapped:
      if (const auto found = sketch_.connections.find(rank); found != sketch_.connections.end())
        receivers = found->second;
    }
    for (std::uint32_t machine = 0; machine < sketch_.machines; ++machine) {
      if (machine == from.value / each_) continue;
      for (const LocalRank receiver : receivers) {
        const NodeId to{machine * each_ + receiver};
        const auto found = paths.to(to);
        if (found.empty()) throw no_path(sketch_.between_place, from, to);
        for (const auto& path : found) add(from, to, path, {true, false, {}});
      }
    }
  }

  [[nodiscard]] InputError no_path(const std::string& place, NodeId from, NodeId to) const {
    return InputError(fmt::format("{}{} has no path from {} to {} that passes no other NPU", place,
                                  network_.name(), network_.node(from).name,
                                  network_.node(to).name));
  }
  [[nodiscard]] bool is_allowed(LocalRank from, LocalRank to) const {
    return !sketch_.links ||
           std::ranges::find(*sketch_.links, std::pair(from, to)) != sketch_.links->end();
  }
  [[nodiscard]] bool has_link(NodeId from, NodeId to) const {
    return std::ranges::any_of(network_.out_links(from),
                               [&](LinkId link) { return network_.link(link).to == to; });
  }

  /// What bounds paths together: the network's links, then its groups.
  [[nodiscard]] std::vector<std::uint32_t> parts_of(const std::vector<LinkId>& path) const {
    std::vector<std::uint32_t> parts;
    for (const LinkId link : path) {
      parts.push_back(link.value);
      for (const std::uint32_t group : network_.groups_of(link))
        parts.push_back(network_.link_count() + group);
    }
    std::ranges::sort(parts);
    const auto rest = std::unique(parts.begin(), parts.end());
    parts.erase(rest, parts.end());
    return parts;
  }
  [[nodiscard]] Bandwidth bandwidth_of(std::uint32_t part) const {
    return part < network_.link_count() ? network_.effective_bandwidth(LinkId{part})
                                        : network_.groups()[part - network_.link_count()].bandwidth;
  }

  [[nodiscard]] Topology topology() const {
    TopologyParts parts;
    parts.name = fmt::format("{}, {}", network_.name(), sketch_.name);
    parts.note = fmt::format("What the sketch {} leaves of {}.", sketch_.name, network_.name());
    parts.npu_model = network_.parts().npu_model;
    for (std::uint32_t npu = 0; npu < network_.npu_count(); ++npu)
      parts.nodes.push_back(network_.node(NodeId{npu}));
    std::map<std::uint32_t, std::vector<LinkId>> crossed; // part -> links
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> sharing;
    std::vector<std::uint32_t> narrow(paths_.size());
    for (std::size_t l = 0; l < paths_.size(); ++l) {
      const auto own = parts_of(paths_[l]);
      narrow[l] = *std::ranges::min_element(own, {}, [&](std::uint32_t part) {
        return std::pair(bandwidth_of(part).bytes_per_second, part);
      });
      ++sharing[{machine(ends_[l].first), machine(ends_[l].second), narrow[l]}];
    }
    for (std::size_t l = 0; l < paths_.size(); ++l) {
      Link link{ends_[l].first, ends_[l].second, {}, bandwidth_of(narrow[l])};
      for (const LinkId crossing : paths_[l]) link.latency += network_.link(crossing).latency;
      if (connections_[l].between_machines) {
        const double split = sketch_.beta_split.value_or(
            static_cast<double>(sharing.at({machine(link.from), machine(link.to), narrow[l]})));
        link.bandwidth.bytes_per_second = std::max<std::int64_t>(
            1, static_cast<std::int64_t>(static_cast<double>(link.bandwidth.bytes_per_second) /
                                         split));
      }
      const LinkId id = parts.add_link(link);
      for (const std::uint32_t part : parts_of(paths_[l])) crossed[part].push_back(id);
    }
    for (const auto& [part, links] : crossed) {
      if (links.size() < 2) continue;
      parts.groups.push_back({name_of(part), links, bandwidth_of(part)});
    }
    return Topology(std::move(parts));
  }

  void add_parts(LogicalTopology& made) const {
    for (std::uint32_t l = 0; l < network_.link_count(); ++l)
      made.parts.push_back({network_.link(LinkId{l}).latency, bandwidth_of(l)});
    for (const SharedGroup& group : network_.groups()) made.parts.push_back({{}, group.bandwidth});
    made.network_parts = static_cast<std::uint32_t>(made.parts.size());
    for (std::uint32_t l = 0; l < paths_.size(); ++l) {
      std::vector<std::uint32_t>& parts = made.parts_of.emplace_back(parts_of(paths_[l]));
      const Bandwidth own = made.topology.link(LinkId{l}).bandwidth;
      const auto is_narrower = [&](std::uint32_t part) { return own < bandwidth_of(part); };
      if (!std::ranges::all_of(parts, is_narrower)) continue; // not split
      Time latency{};
      for (const LinkId crossing : paths_[l])
        latency = std::max(latency, network_.link(crossing).latency);
      parts.push_back(static_cast<std::uint32_t>(made.parts.size()));
      made.parts.push_back({latency, own});
    }
  }

  [[nodiscard]] std::uint32_t machine(NodeId npu) const { return npu.value / each_; }
  [[nodiscard]] std::string name_of(std::uint32_t part) const {
    if (part >= network_.link_count()) return network_.groups()[part - network_.link_count()].name;
    const Link& link = network_.link(LinkId{part});
    return fmt::format("{}->{} (link {})", network_.node(link.from).name,
                       network_.node(link.to).name, part);
  }

  /// Every chunk that may leave has some sender that sends.
  void check_leaving(const LogicalTopology& made) const {
    if (sketch_.leaves_through.empty()) return;
    for (LocalRank rank = 0; rank < each_; ++rank)
      if (made.leaves_through[rank].empty())
        throw InputError(fmt::format("{}nobody's chunks but those listed leave the machine: NPU {} "
                                     "is with no sender",
                                     sketch_.leaves_place, rank));
  }

  void add_symmetry(LogicalTopology& made) const {
    if (sketch_.finds_symmetry) {
      for (const Sketch::Rotation& rotation : candidates())
        if (link_images(made, image(rotation)).missing.empty()) add(made, rotation);
      return;
    }
    for (const Sketch::Rotation& rotation : sketch_.symmetry) {
      if (const std::string missing = link_images(made, image(rotation)).missing; !missing.empty())
        throw InputError(fmt::format("{}{} isn't symmetric by {} in groups of {}: {}",
                                     rotation.place, network_.name(), rotation.offset,
                                     rotation.size, missing));
      add(made, rotation);
    }
  }
  void add(LogicalTopology& made, const Sketch::Rotation& rotation) const {
    made.symmetry.push_back(image(rotation));
    made.rotations.push_back(rotation);
  }

  /// Rotations by machines, then of equal groups within them, large groups and small steps first.
  [[nodiscard]] std::vector<Sketch::Rotation> candidates() const {
    std::vector<Sketch::Rotation> all;
    const auto add_all = [&](std::uint32_t extent, std::uint32_t unit) {
      for (std::uint32_t size = extent; size >= 2; --size)
        for (std::uint32_t offset = 1; extent % size == 0 && offset < size; ++offset)
          if (size % offset == 0) all.push_back({offset * unit, size * unit, ""});
    };
    add_all(sketch_.machines, each_);
    add_all(each_, 1);
    return all;
  }

  [[nodiscard]] Permutation image(const Sketch::Rotation& rotation) const {
    Permutation permutation(network_.npu_count());
    for (std::uint32_t r = 0; r < permutation.size(); ++r)
      permutation[r] =
          (r % rotation.size + rotation.offset) % rotation.size + r / rotation.size * rotation.size;
    return permutation;
  }

  const Topology& network_;
  const Sketch& sketch_;
  std::uint32_t each_; ///< NPUs of a machine
  std::vector<std::pair<NodeId, NodeId>> ends_;
  std::vector<std::vector<LinkId>> paths_;
  std::vector<Connection> connections_;
};

using Ends = std::pair<NodeId, NodeId>;

/// What a permutation has to keep of a link.
auto attributes(const LogicalTopology& logical, LinkId id) {
  const Link& link = logical.topology.link(id);
  const Connection& connection = logical.connections[id.value];
  return std::tuple(link.latency, link.bandwidth, connection.between_machines, connection.switched,
                    connection.policy);
}

std::string link_text(const LogicalTopology& logical, NodeId from, NodeId to) {
  return fmt::format("{} -> {}", logical.topology.node(from).name, logical.topology.node(to).name);
}

/// Groups as they are compared: bandwidth and links, ascending.
std::set<std::pair<std::int64_t, std::vector<LinkId>>> groups_of(const Topology& topology,
                                                                 std::span<const LinkId> images) {
  std::set<std::pair<std::int64_t, std::vector<LinkId>>> groups;
  for (const SharedGroup& group : topology.groups()) {
    std::vector<LinkId> links;
    for (const LinkId link : group.links)
      links.push_back(images.empty() ? link : images[link.value]);
    std::ranges::sort(links);
    groups.emplace(group.bandwidth.bytes_per_second, std::move(links));
  }
  return groups;
}

} // namespace

LinkImages link_images(const LogicalTopology& logical, const Permutation& permutation) {
  const Topology& topology = logical.topology;
  const auto image = [&](NodeId npu) { return NodeId{permutation[npu.value]}; };
  std::map<Ends, std::vector<LinkId>> parallel;
  for (std::uint32_t l = 0; l < topology.link_count(); ++l)
    parallel[{topology.link(LinkId{l}).from, topology.link(LinkId{l}).to}].push_back(LinkId{l});
  LinkImages made;
  made.links.resize(topology.link_count());
  for (const auto& [ends, links] : parallel) {
    const Ends to{image(ends.first), image(ends.second)};
    const auto found = parallel.find(to);
    const bool is_kept = found != parallel.end() && found->second.size() == links.size();
    for (std::size_t k = 0; k < links.size(); ++k) {
      if (!is_kept || attributes(logical, links[k]) != attributes(logical, found->second[k])) {
        made.missing =
            fmt::format("{} would be {}, which {}", link_text(logical, ends.first, ends.second),
                        link_text(logical, to.first, to.second),
                        found == parallel.end() ? "there isn't" : "is another kind of link");
        return made;
      }
      made.links[links[k].value] = found->second[k];
    }
  }
  if (groups_of(topology, {}) != groups_of(topology, made.links)) {
    made.missing = "links that share bandwidth would be others than those that do";
    return made;
  }
  for (std::uint32_t npu = 0; npu < topology.npu_count(); ++npu) {
    if (topology.node(NodeId{npu}).can != topology.node(image(NodeId{npu})).can) {
      made.missing =
          fmt::format("{} would be {}, which has other abilities", topology.node(NodeId{npu}).name,
                      topology.node(image(NodeId{npu})).name);
      return made;
    }
    std::vector<NodeId> senders;
    for (const NodeId sender : logical.leaves_through[npu]) senders.push_back(image(sender));
    std::ranges::sort(senders);
    if (senders == logical.leaves_through[permutation[npu]]) continue;
    made.missing =
        fmt::format("chunks of {} and of {} leave through others", topology.node(NodeId{npu}).name,
                    topology.node(NodeId{permutation[npu]}).name);
    return made;
  }
  return made;
}

LogicalTopology logical_topology(const Topology& network, const Sketch& sketch) {
  return Builder(network, sketch).build();
}

LogicalTopology reversed(const LogicalTopology& logical) {
  LogicalTopology made = logical;
  made.topology = reversed_with_copies(logical.topology);
  for (std::vector<LinkId>& path : made.paths) std::ranges::reverse(path);
  made.own_chunks_first = false;
  const std::uint32_t each = logical.topology.npu_count() / logical.machines;
  for (std::uint32_t npu = 0; npu < logical.topology.npu_count(); ++npu) {
    std::set<NodeId> receivers;
    for (const NodeId sender : logical.leaves_through[npu])
      for (const LinkId link : logical.topology.out_links(sender))
        if (logical.connections[link.value].between_machines)
          receivers.insert(NodeId{npu - npu % each + logical.topology.link(link).to.value % each});
    made.leaves_through[npu].assign(receivers.begin(), receivers.end());
  }
  return made;
}

} // namespace tutti
