// Random networks of the kinds that people use, and the same ones listed in another order.
#pragma once

#include "sim/random.hpp"
#include "sim/topology.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace tutti::samples {

class PracticalNetwork {
public:
  static constexpr std::uint64_t kinds = 10;

  /// Seeds go round the kinds: `kinds` seeds in a row are one of each. 4 to 16 NPUs.
  explicit PracticalNetwork(std::uint64_t seed) : random_(seed * 7919 + 1), kind_(seed % kinds) {}

  Topology make() {
    switch (kind_) {
    case 0: rails(false); break;
    case 1: rails(true); break;
    case 2: ring(); break;
    case 3: torus(); break;
    case 4: fat_tree(); break;
    case 5: dragonfly(); break;
    case 6: random_regular(); break;
    case 7: parallel_links(); break;
    case 8: uneven(); break;
    default: full_with_shared_ports(); break;
    }
    parts_.name = "network of kind " + std::to_string(kind_);
    return Topology(std::move(parts_));
  }

private:
  std::uint32_t any(std::initializer_list<std::uint32_t> choices) {
    return choices.begin()[random_.below(choices.size())];
  }
  void npus(std::uint32_t count) {
    for (std::uint32_t n = 0; n < count; ++n)
      parts_.add_node({"npu" + std::to_string(n), NodeKind::npu, {}, {}});
  }
  std::uint32_t switches(const std::string& name, std::uint32_t count) {
    const auto first = static_cast<std::uint32_t>(parts_.nodes.size());
    for (std::uint32_t n = 0; n < count; ++n)
      parts_.add_node({name + std::to_string(n), NodeKind::switching, {false, false, false}, {}});
    return first;
  }
  LinkId one_way(std::uint32_t from, std::uint32_t to, int gb, int ns) {
    return parts_.add_link(
        {NodeId{from}, NodeId{to}, Time{ns * 1000LL}, Bandwidth{gb * 1'000'000'000LL}});
  }
  void both(std::uint32_t a, std::uint32_t b, int gb, int ns) {
    one_way(a, b, gb, ns);
    one_way(b, a, gb, ns);
  }

  void rails(bool with_spines) {
    const std::uint32_t servers = any({2, 3, 4}), gpus = any({2, 4}), all = servers * gpus;
    npus(all);
    const std::uint32_t nvswitch = switches("nvswitch", servers), leaf = switches("leaf", gpus);
    for (std::uint32_t n = 0; n < all; ++n) both(n, nvswitch + n / gpus, 300, 350);
    for (std::uint32_t n = 0; n < all; ++n) both(n, leaf + n % gpus, 50, 1000);
    if (!with_spines) return;
    const std::uint32_t spine = switches("spine", 2);
    for (std::uint32_t s = 0; s < 2; ++s)
      for (std::uint32_t l = 0; l < gpus; ++l) both(leaf + l, spine + s, 100, 1000);
  }
  void ring() {
    const std::uint32_t count = any({4, 5, 6, 8, 12});
    npus(count);
    for (std::uint32_t n = 0; n < count; ++n) both(n, (n + 1) % count, 50, 500);
  }
  void torus() {
    const std::uint32_t rows = any({3, 4}), columns = any({3, 4, 5});
    npus(rows * columns);
    for (std::uint32_t r = 0; r < rows; ++r)
      for (std::uint32_t c = 0; c < columns; ++c) {
        both(r * columns + c, (r + 1) % rows * columns + c, 50, 500);
        both(r * columns + c, r * columns + (c + 1) % columns, 50, 500);
      }
  }
  void fat_tree() {
    const std::uint32_t leaves = any({2, 3, 4}), hosts = any({2, 4}), spines = any({1, 2});
    npus(leaves * hosts);
    const std::uint32_t leaf = switches("leaf", leaves), spine = switches("spine", spines);
    for (std::uint32_t n = 0; n < leaves * hosts; ++n) both(n, leaf + n / hosts, 50, 500);
    for (std::uint32_t l = 0; l < leaves; ++l)
      for (std::uint32_t s = 0; s < spines; ++s)
        both(leaf + l, spine + s, static_cast<int>(50 * hosts / spines), 500);
  }
  void dragonfly() {
    const std::uint32_t hosts = any({1, 2});
    npus(6 * hosts);
    const std::uint32_t router = switches("router", 6);
    for (std::uint32_t n = 0; n < 6 * hosts; ++n) both(n, router + n / hosts, 50, 500);
    for (std::uint32_t g = 0; g < 3; ++g) both(router + 2 * g, router + 2 * g + 1, 50, 500);
    both(router, router + 3, 50, 1000);
    both(router + 1, router + 4, 50, 1000);
    both(router + 2, router + 5, 50, 1000);
  }
  /// A ring, so that it is connected, and random matchings; links may be parallel.
  void random_regular() {
    const std::uint32_t count = any({6, 8, 10, 12});
    npus(count);
    for (std::uint32_t n = 0; n < count; ++n) both(n, (n + 1) % count, 50, 500);
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    random_.shuffle(order);
    for (std::uint32_t i = 0; i + 1 < count; i += 2) both(order[i], order[i + 1], 50, 500);
  }
  void parallel_links() {
    const std::uint32_t count = any({2, 4, 6});
    npus(count);
    for (std::uint32_t n = 0; n < count; ++n)
      for (std::uint32_t k = any({1, 2, 3}); k > 0; --k)
        both(n, (n + 1) % count, static_cast<int>(any({25, 50})),
             static_cast<int>(any({0, 500, 2000, 8000})));
  }
  void uneven() {
    const std::uint32_t count = any({6, 8, 10});
    npus(count);
    const auto add = [&](std::uint32_t a, std::uint32_t b) {
      both(a, b, static_cast<int>(any({25, 50, 100})), static_cast<int>(any({500, 1000})));
    };
    for (std::uint32_t n = 0; n < count; ++n) add(n, (n + 1) % count);
    for (std::uint32_t k = 0; k < count / 2; ++k) {
      const auto a = static_cast<std::uint32_t>(random_.below(count));
      add(a, (a + 2 + static_cast<std::uint32_t>(random_.below(count - 3))) % count);
    }
  }
  /// Everyone with everyone; what leaves an NPU shares a port, as what arrives does.
  void full_with_shared_ports() {
    const std::uint32_t count = any({4, 6});
    npus(count);
    std::vector<SharedGroup> out(count), in(count);
    for (std::uint32_t a = 0; a < count; ++a)
      for (std::uint32_t b = 0; b < count; ++b) {
        if (a == b) continue;
        const LinkId link = one_way(a, b, 50, 500);
        out[a].links.push_back(link);
        in[b].links.push_back(link);
      }
    for (std::uint32_t n = 0; n < count; ++n)
      for (auto* group : {&out[n], &in[n]}) {
        group->name = (group == &out[n] ? "out" : "in") + std::to_string(n);
        group->bandwidth = Bandwidth{100'000'000'000};
        parts_.groups.push_back(std::move(*group));
      }
  }

  Random random_;
  std::uint64_t kind_;
  TopologyParts parts_;
};

/// The same network in another order of nodes, links and groups.
struct Relisted {
  Topology network;
  std::vector<NodeId> node_in; ///< by the node before
};

inline Relisted relisted(const Topology& topology, std::uint64_t seed) {
  Random random(seed);
  std::vector<NodeId> nodes;
  std::vector<LinkId> links;
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n) nodes.emplace_back(n);
  random.shuffle(nodes);
  std::vector<NodeId> others;
  for (std::uint32_t n = topology.npu_count(); n < topology.node_count(); ++n)
    others.emplace_back(n);
  random.shuffle(others);
  nodes.insert(nodes.end(), others.begin(), others.end());
  for (std::uint32_t l = 0; l < topology.link_count(); ++l) links.emplace_back(l);
  random.shuffle(links);
  TopologyParts parts = topology.parts();
  parts.nodes.clear();
  parts.links.clear();
  parts.coordinates.clear();
  std::vector<NodeId> node_in(topology.node_count());
  std::vector<LinkId> link_in(topology.link_count());
  for (const NodeId node : nodes) {
    node_in[node.value] = parts.add_node(topology.node(node));
    if (!topology.shape().empty())
      parts.coordinates.emplace_back(topology.coordinate(node).begin(),
                                     topology.coordinate(node).end());
  }
  for (const LinkId id : links) {
    Link link = topology.link(id);
    link.from = node_in[link.from.value];
    link.to = node_in[link.to.value];
    link_in[id.value] = parts.add_link(link);
  }
  for (SharedGroup& group : parts.groups)
    for (LinkId& link : group.links) link = link_in[link.value];
  random.shuffle(parts.groups);
  return {Topology(std::move(parts)), std::move(node_in)};
}

} // namespace tutti::samples
