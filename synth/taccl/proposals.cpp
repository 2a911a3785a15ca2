// Idea: a machine is what links of one bandwidth, the highest possible, tie together (components of
// the links at least as wide); who shares a NIC is who has the same narrowest link on the way to
// another machine. The paper's sketches for DGX-2 and NDv2 then come out as: one NPU of each NIC
// sends and another one receives, with few connections (sk-1); each NPU sends to its counterpart
// (sk-2); everybody to everybody, for the smallest data (sk-3, and ndv2-sk-2).
#include "synth/taccl/proposals.hpp"

#include "sim/graphs/disjoint_sets.hpp"
#include "synth/taccl/npu_paths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace tutti {

namespace {

constexpr std::uint32_t fine = 8; ///< chunks a shard

/// So many equal components of at least two consecutive NPUs; 0 where they are others.
std::uint32_t equal_parts(const Topology& network, DisjointSets& sets) {
  const std::uint32_t npus = network.npu_count();
  std::uint32_t size = 1;
  while (size < npus && sets.find(size) == sets.find(0)) ++size;
  if (size < 2 || size == npus || npus % size != 0) return 0;
  std::set<std::uint32_t> roots;
  for (std::uint32_t npu = 0; npu < npus; ++npu) {
    if (sets.find(npu) != sets.find(npu - npu % size)) return 0;
    roots.insert(sets.find(npu));
  }
  return roots.size() == npus / size ? npus / size : 0;
}

class Proposer {
public:
  Proposer(const Topology& network, std::uint32_t machines)
      : network_(network), machines_(machines), each_(network.npu_count() / machines) {
    is_switched_ = each_ > 1 && !joins_directly() && is_joined();
    if (machines_ > 1) find_nics();
  }

  std::vector<SketchProposal> proposals() {
    if (machines_ == 1) {
      add("one", fine, ConnectionPolicy::uc_min, "Large data: fine chunks, few connections.");
      add("one-medium", 2, ConnectionPolicy::uc_max, "Data between: two chunks a shard.");
      add("one-small", 1, ConnectionPolicy::uc_max, "Small data: whole shards, many connections.");
      return std::move(all_);
    }
    propose_relays();
    if (has_counterparts_) {
      add("direct", 1, ConnectionPolicy::uc_max,
          "Small data: each NPU sends to its counterparts of the same rank.")
          .between = Sketch::Between::direct;
      add("direct-medium", 2, ConnectionPolicy::uc_max,
          "Data between: the same in two chunks a shard.")
          .between = Sketch::Between::direct;
      add("direct-large", fine, ConnectionPolicy::uc_min,
          "Large data: each NPU sends to its counterparts, in fine chunks.")
          .between = Sketch::Between::direct;
      if (reaches_all_)
        add("full", 1, ConnectionPolicy::uc_max,
            "The smallest data: each NPU sends to all of other machines.")
            .between = Sketch::Between::full;
    }
    return std::move(all_);
  }

private:
  Sketch& add(const std::string& name, std::uint32_t partitions, ConnectionPolicy policy,
              std::string why) {
    Sketch sketch;
    sketch.name = name;
    sketch.machines = machines_;
    sketch.partitions = partitions;
    sketch.finds_symmetry = true;
    if (is_switched_) {
      Sketch::Hyperedge edge;
      for (LocalRank rank = 0; rank < each_; ++rank) edge.npus.push_back(rank);
      edge.policy = policy;
      sketch.hyperedges.push_back(std::move(edge));
    }
    all_.push_back({std::move(sketch), std::move(why)});
    return all_.back().sketch;
  }

  /// Whether links between NPUs of a machine get from each to each. Where there are none, or they
  /// don't, what is between NPUs counts as a switch.
  [[nodiscard]] bool joins_directly() const {
    const auto reached = [&](bool backwards) {
      std::vector<bool> is_reached(each_);
      std::vector<std::uint32_t> found{0};
      is_reached[0] = true;
      for (std::size_t i = 0; i < found.size(); ++i)
        for (const LinkId link : backwards ? network_.in_links(NodeId{found[i]})
                                           : network_.out_links(NodeId{found[i]})) {
          const NodeId next = backwards ? network_.link(link).from : network_.link(link).to;
          if (next.value >= each_ || is_reached[next.value]) continue;
          is_reached[next.value] = true;
          found.push_back(next.value);
        }
      return found.size();
    };
    return reached(false) == each_ && reached(true) == each_;
  }

  /// Whether each NPU of a machine reaches each other one of it, through nothing that is an NPU.
  [[nodiscard]] bool is_joined() const {
    for (LocalRank from = 0; from < each_; ++from) {
      const NpuPaths paths(network_, NodeId{from});
      for (LocalRank to = 0; to < each_; ++to)
        if (to != from && paths.to(NodeId{to}).empty()) return false;
    }
    return true;
  }

  /// NPUs of the first machine by the narrowest link on their way to the second one, and how far
  /// they are from it.
  void find_nics() {
    for (LocalRank rank = 0; rank < each_; ++rank) {
      const NpuPaths paths(network_, NodeId{rank});
      const auto counterpart = paths.to(NodeId{each_ + rank});
      has_counterparts_ &= !counterpart.empty();
      for (LocalRank receiver = 0; receiver < each_; ++receiver)
        if (!paths.to(NodeId{each_ + receiver}).empty()) reached_[rank].push_back(receiver);
      reaches_all_ &= reached_[rank].size() == each_;
      if (counterpart.empty()) continue;
      const std::vector<LinkId>& path = counterpart.front();
      const auto narrowest = std::ranges::min_element(path, {}, [&](LinkId link) {
        return network_.effective_bandwidth(link).bytes_per_second;
      });
      nics_[*narrowest].emplace_back(narrowest - path.begin(), rank);
    }
  }

  void propose_relays() {
    Sketch relays;
    bool shares = false;
    for (auto& [link, members] : nics_) {
      std::ranges::sort(members); // nearest first
      shares |= members.size() > 1;
      const LocalRank receiver = members.front().second;
      const LocalRank sender = members[members.size() > 1 ? 1 : 0].second;
      relays.connections[sender] = {receiver};
      for (const auto& [distance, rank] : members) relays.leaves_through[sender].push_back(rank);
    }
    if (!has_counterparts_) { // links between certain NPUs only
      relays = {};
      std::size_t least = SIZE_MAX;
      for (const auto& [sender, receivers] : reached_)
        if (!receivers.empty()) least = std::min(least, receivers.size());
      for (const auto& [sender, receivers] : reached_) {
        if (receivers.empty()) continue;
        relays.connections[sender] = {receivers.begin(),
                                      receivers.begin() + static_cast<std::ptrdiff_t>(least)};
      }
      if (relays.connections.empty()) return;
    } else if (!shares) {
      return; // each has its own NIC: "direct" says it
    }
    for (auto& [sender, npus] : relays.leaves_through) std::ranges::sort(npus);
    const auto propose = [&](const std::string& name, std::uint32_t partitions,
                             ConnectionPolicy policy, std::string why) {
      Sketch& sketch = add(name, partitions, policy, std::move(why));
      sketch.between = Sketch::Between::mapped;
      sketch.connections = relays.connections;
      sketch.leaves_through = relays.leaves_through;
    };
    propose("relay-large", fine, ConnectionPolicy::uc_min,
            "The largest data: of each NIC one NPU sends and one receives, in fine chunks.");
    propose("relay", 2, ConnectionPolicy::uc_min,
            "Large data: of each NIC one NPU sends and one receives, few connections.");
    propose("relay-small", 1, ConnectionPolicy::uc_max,
            "Smaller data: the same with whole shards and many connections.");
  }

  const Topology& network_;
  std::uint32_t machines_, each_;
  bool is_switched_ = false, has_counterparts_ = true;
  bool reaches_all_ = true; ///< each NPU of the first machine all of the second one
  /// The narrowest link -> (links before it, rank).
  std::map<LinkId, std::vector<std::pair<std::ptrdiff_t, LocalRank>>> nics_;
  std::map<LocalRank, std::vector<LocalRank>> reached_;
  std::vector<SketchProposal> all_;
};

} // namespace

std::uint32_t machines_of(const Topology& network) {
  std::set<std::int64_t, std::greater<>> widths;
  for (std::uint32_t l = 0; l < network.link_count(); ++l)
    widths.insert(network.effective_bandwidth(LinkId{l}).bytes_per_second);
  for (const std::int64_t width : widths) {
    DisjointSets sets(network.node_count());
    for (std::uint32_t l = 0; l < network.link_count(); ++l)
      if (network.effective_bandwidth(LinkId{l}).bytes_per_second >= width)
        sets.join(network.link(LinkId{l}).from.value, network.link(LinkId{l}).to.value);
    if (const std::uint32_t machines = equal_parts(network, sets); machines > 1) return machines;
  }
  return 1;
}

std::vector<SketchProposal> sketch_proposals(const Topology& network, std::uint32_t machines) {
  return Proposer(network, machines).proposals();
}

} // namespace tutti
