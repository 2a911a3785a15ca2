// The one place where a topology's invariants are checked. Links by sender and by receiver and
// groups by link are indexed by counting sorts, so that a look-up is a span.

#include "sim/topology.hpp"

#include "sim/error.hpp"
#include "sim/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace tutti {

NodeId TopologyParts::add_node(Node node) {
  nodes.push_back(std::move(node));
  return NodeId{static_cast<std::uint32_t>(nodes.size() - 1)};
}

LinkId TopologyParts::add_link(Link link) {
  links.push_back(link);
  return LinkId{static_cast<std::uint32_t>(links.size() - 1)};
}

void TopologyParts::add_duplex(Link link) {
  add_link(link);
  std::swap(link.from, link.to);
  add_link(link);
}

std::uint8_t TopologyParts::link_part(const std::string& name) {
  const auto found = std::ranges::find(link_parts, name);
  const auto number = static_cast<std::size_t>(found - link_parts.begin()) + 1;
  if (number > std::numeric_limits<std::uint8_t>::max())
    throw InputError("more than 255 kinds of links");
  if (found == link_parts.end()) link_parts.push_back(name);
  return static_cast<std::uint8_t>(number);
}

namespace {

void check_nodes(const TopologyParts& parts) {
  std::unordered_set<std::string_view> names;
  bool npus_over = false;
  for (const Node& node : parts.nodes) {
    if (!names.insert(node.name).second)
      throw InputError(fmt::format("node \"{}\" is named twice", node.name));
    if (node.kind == NodeKind::npu && npus_over)
      throw InputError(fmt::format("NPU \"{}\" comes after a switch or memory", node.name));
    npus_over = npus_over || node.kind != NodeKind::npu;
    if (node.reduce_rate.bytes_per_second < 0)
      throw InputError(fmt::format("node \"{}\": reduction rate is negative", node.name));
  }
  if (parts.nodes.empty()) throw InputError("a topology needs at least one node");
}

void check_links(const TopologyParts& parts) {
  for (std::size_t l = 0; l < parts.links.size(); ++l) {
    const Link& link = parts.links[l];
    for (const NodeId end : {link.from, link.to})
      if (end.value >= parts.nodes.size())
        throw InputError(fmt::format("link {} ends at node {}, which isn't there ({} nodes)", l,
                                     end.value, parts.nodes.size()));
    const auto refuse = [&](std::string_view why) {
      throw InputError(fmt::format("link {} ({} > {}) {}", l, parts.nodes[link.from.value].name,
                                   parts.nodes[link.to.value].name, why));
    };
    if (link.from == link.to) refuse("leads back to its own node");
    if (link.bandwidth.bytes_per_second <= 0) refuse("has no positive bandwidth");
    if (link.latency.ps < 0) refuse("has a negative latency");
  }
}

void check_groups(const TopologyParts& parts) {
  for (const SharedGroup& group : parts.groups) {
    const auto refuse = [&](const std::string& why) {
      throw InputError(fmt::format("group \"{}\" {}", group.name, why));
    };
    if (group.links.empty()) refuse("has no links");
    if (group.bandwidth.bytes_per_second <= 0) refuse("has no positive bandwidth");
    std::unordered_set<LinkId> seen;
    for (const LinkId link : group.links) {
      if (link.value >= parts.links.size())
        refuse(fmt::format("has link {}, which isn't there", link.value));
      if (!seen.insert(link).second) refuse(fmt::format("has link {} twice", link.value));
    }
  }
}

void check_coordinates(const TopologyParts& parts) {
  if (parts.shape.empty() && parts.coordinates.empty()) return;
  if (parts.coordinates.size() > parts.nodes.size())
    throw InputError(fmt::format("there are coordinates for {} nodes, but only {} nodes",
                                 parts.coordinates.size(), parts.nodes.size()));
  std::map<std::vector<int>, std::string_view> npu_at;
  for (std::size_t n = 0; n < parts.nodes.size(); ++n) {
    const bool given = n < parts.coordinates.size() && !parts.coordinates[n].empty();
    if (!given && parts.nodes[n].kind == NodeKind::npu)
      throw InputError(fmt::format("NPU \"{}\" has no coordinates", parts.nodes[n].name));
    if (!given) continue;
    const std::vector<int>& at = parts.coordinates[n];
    bool inside = at.size() == parts.shape.size();
    for (std::size_t d = 0; inside && d < at.size(); ++d)
      inside = at[d] >= 0 && at[d] < parts.shape[d];
    if (!inside)
      throw InputError(fmt::format("node \"{}\" has coordinates ({}) outside the shape {}",
                                   parts.nodes[n].name, fmt::join(at, ","),
                                   fmt::join(parts.shape, "x")));
    if (parts.nodes[n].kind != NodeKind::npu) continue;
    const auto [other, is_new] = npu_at.emplace(at, parts.nodes[n].name);
    if (!is_new)
      throw InputError(fmt::format("NPUs \"{}\" and \"{}\" both have coordinates ({})",
                                   other->second, parts.nodes[n].name, fmt::join(at, ",")));
  }
}

/// Buckets of item indices by key: begin[k] .. begin[k+1] of the result belong to key k.
template <typename Value, typename Key>
std::vector<Value> bucketed(std::size_t items, std::size_t keys, const Key& key_of,
                            std::vector<std::uint32_t>& begin) {
  begin.assign(keys + 1, 0);
  for (std::size_t i = 0; i < items; ++i) ++begin[key_of(i) + 1];
  for (std::size_t k = 0; k < keys; ++k) begin[k + 1] += begin[k];
  std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
  std::vector<Value> sorted(items);
  for (std::size_t i = 0; i < items; ++i)
    sorted[next[key_of(i)]++] = Value{static_cast<std::uint32_t>(i)};
  return sorted;
}

} // namespace

Topology::Topology(TopologyParts parts) : parts_(std::move(parts)) {
  check_nodes(parts_);
  check_links(parts_);
  check_groups(parts_);
  check_coordinates(parts_);
  parts_.coordinates.resize(parts_.shape.empty() ? 0 : parts_.nodes.size());
  for (Link& link : parts_.links) // those that were copied without their names are of unknown parts
    if (link.part > parts_.link_parts.size()) link.part = 0;

  npu_count_ = static_cast<std::uint32_t>(
      std::count_if(parts_.nodes.begin(), parts_.nodes.end(),
                    [](const Node& node) { return node.kind == NodeKind::npu; }));
  const std::size_t links = parts_.links.size();
  out_ = bucketed<LinkId>(
      links, parts_.nodes.size(), [&](std::size_t l) { return parts_.links[l].from.value; },
      out_begin_);
  in_ = bucketed<LinkId>(
      links, parts_.nodes.size(), [&](std::size_t l) { return parts_.links[l].to.value; },
      in_begin_);

  std::vector<std::pair<std::uint32_t, std::uint32_t>> memberships; // (link, group)
  for (std::uint32_t g = 0; g < parts_.groups.size(); ++g)
    for (const LinkId link : parts_.groups[g].links) memberships.emplace_back(link.value, g);
  std::sort(memberships.begin(), memberships.end());
  const std::vector<std::uint32_t> order = bucketed<std::uint32_t>(
      memberships.size(), links, [&](std::size_t m) { return memberships[m].first; }, group_begin_);
  for (const std::uint32_t m : order) groups_of_.push_back(memberships[m].second);

  effective_.reserve(links);
  for (const Link& link : parts_.links) effective_.push_back(link.bandwidth);
  for (const auto& [link, group] : memberships)
    effective_[link] = std::min(effective_[link], parts_.groups[group].bandwidth);
}

std::span<const LinkId> Topology::out_links(NodeId node) const {
  return std::span(out_).subspan(out_begin_[node.value],
                                 out_begin_[node.value + 1] - out_begin_[node.value]);
}

std::span<const LinkId> Topology::in_links(NodeId node) const {
  return std::span(in_).subspan(in_begin_[node.value],
                                in_begin_[node.value + 1] - in_begin_[node.value]);
}

std::span<const std::uint32_t> Topology::groups_of(LinkId link) const {
  return std::span(groups_of_)
      .subspan(group_begin_[link.value], group_begin_[link.value + 1] - group_begin_[link.value]);
}

std::span<const int> Topology::coordinate(NodeId node) const {
  if (parts_.shape.empty()) return {};
  return parts_.coordinates[node.value];
}

NodeId Topology::find_node(const std::string& name) const {
  constexpr std::size_t most_listed = 20;
  std::vector<std::string> known;
  for (std::uint32_t n = 0; n < node_count(); ++n) {
    if (parts_.nodes[n].name == name) return NodeId{n};
    if (known.size() < most_listed) known.push_back(parts_.nodes[n].name);
  }
  if (node_count() > most_listed) known.emplace_back("...");
  throw InputError(unknown_name("node", name, known));
}

std::uint64_t Topology::fingerprint() const {
  Fingerprint hash;
  hash.add(node_count());
  for (const Node& node : parts_.nodes) {
    hash.add(static_cast<std::uint32_t>(node.kind));
    hash.add((node.can.store ? 1U : 0U) | (node.can.copy ? 2U : 0U) | (node.can.reduce ? 4U : 0U));
    hash.add(node.reduce_rate.bytes_per_second);
  }
  hash.add(link_count());
  for (const Link& link : parts_.links) {
    hash.add(link.from.value);
    hash.add(link.to.value);
    hash.add(link.latency.ps);
    hash.add(link.bandwidth.bytes_per_second);
  }
  for (const SharedGroup& group : parts_.groups) {
    hash.add(group.bandwidth.bytes_per_second);
    hash.add(static_cast<std::uint64_t>(group.links.size()));
    for (const LinkId link : group.links) hash.add(link.value);
  }
  return hash.value();
}

bool look_alike(const Topology& a, const Topology& b, bool with_names) {
  const auto same_node = [&](const Node& x, const Node& y) {
    return x.kind == y.kind && x.can == y.can && x.reduce_rate == y.reduce_rate &&
           (!with_names || x.name == y.name);
  };
  const auto same_link = [](const Link& x, const Link& y) {
    return x.from == y.from && x.to == y.to && x.latency == y.latency &&
           x.bandwidth == y.bandwidth && x.dimension == y.dimension && x.part == y.part;
  };
  const auto same_group = [](const SharedGroup& x, const SharedGroup& y) {
    return x.links == y.links && x.bandwidth == y.bandwidth;
  };
  return std::ranges::equal(a.nodes(), b.nodes(), same_node) &&
         std::ranges::equal(a.links(), b.links(), same_link) &&
         std::ranges::equal(a.groups(), b.groups(), same_group) &&
         std::ranges::equal(a.shape(), b.shape()) &&
         a.parts().coordinates == b.parts().coordinates &&
         a.parts().link_parts == b.parts().link_parts && a.parts().npu_model == b.parts().npu_model;
}

std::uint64_t content_fingerprint(const Topology& topology, bool with_names) {
  Fingerprint hash;
  hash.add(topology.fingerprint());
  for (const Link& link : topology.links())
    hash.add(static_cast<std::uint64_t>(static_cast<std::int64_t>(link.dimension)));
  for (const int extent : topology.shape()) hash.add(static_cast<std::uint64_t>(extent));
  for (const std::vector<int>& at : topology.parts().coordinates) {
    hash.add(static_cast<std::uint64_t>(at.size()));
    for (const int value : at) hash.add(static_cast<std::uint64_t>(value));
  }
  if (with_names)
    for (const Node& node : topology.nodes()) {
      hash.add(static_cast<std::uint64_t>(node.name.size()));
      for (const char letter : node.name) hash.add(static_cast<std::uint64_t>(letter));
    }
  return hash.value();
}

Topology reversed(const Topology& topology) {
  TopologyParts parts = topology.parts();
  for (Link& link : parts.links) std::swap(link.from, link.to);
  return Topology(std::move(parts));
}

Topology without(const Topology& topology, std::span<const NodeId> nodes,
                 std::span<const LinkId> links) {
  std::vector<bool> node_gone(topology.node_count()), link_gone(topology.link_count());
  for (const NodeId node : nodes) node_gone[node.value] = true;
  for (const LinkId link : links) link_gone[link.value] = true;

  TopologyParts kept;
  kept.name = topology.name();
  kept.note = topology.parts().note;
  kept.assumed = topology.parts().assumed;
  kept.odd = topology.parts().odd;
  kept.npu_model = topology.parts().npu_model;
  kept.link_parts = topology.parts().link_parts;
  kept.shape.assign(topology.shape().begin(), topology.shape().end());
  std::vector<NodeId> new_node(topology.node_count());
  for (std::uint32_t n = 0; n < topology.node_count(); ++n) {
    if (node_gone[n]) continue;
    new_node[n] = kept.add_node(topology.node(NodeId{n}));
    const std::span<const int> at = topology.coordinate(NodeId{n});
    if (!kept.shape.empty()) kept.coordinates.emplace_back(at.begin(), at.end());
  }
  std::vector<LinkId> new_link(topology.link_count());
  for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
    Link link = topology.link(LinkId{l});
    if (link_gone[l] || node_gone[link.from.value] || node_gone[link.to.value]) continue;
    link.from = new_node[link.from.value];
    link.to = new_node[link.to.value];
    new_link[l] = kept.add_link(link);
  }
  for (const SharedGroup& group : topology.groups()) {
    SharedGroup remaining{group.name, {}, group.bandwidth};
    for (const LinkId link : group.links)
      if (new_link[link.value].valid()) remaining.links.push_back(new_link[link.value]);
    if (!remaining.links.empty()) kept.groups.push_back(std::move(remaining));
  }
  return Topology(std::move(kept));
}

} // namespace tutti
