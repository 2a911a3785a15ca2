// Nodes, links and shared groups are all that a replay knows of a network, so that two networks
// with the same JSON give the same times.
#include "experiments/driver/requests/network_json.hpp"

#include <utility>

namespace tutti {

namespace {

using Json = nlohmann::ordered_json;

Json nodes_json(const Topology& topology) {
  Json nodes = Json::array();
  for (std::uint32_t i = 0; i < topology.node_count(); ++i) {
    const Node& node = topology.node(NodeId{i});
    Json coordinate = Json::array();
    for (const int position : topology.coordinate(NodeId{i})) coordinate.push_back(position);
    nodes.push_back({{"name", node.name},
                     {"kind", to_text(node.kind)},
                     {"store", node.can.store},
                     {"copy", node.can.copy},
                     {"reduce", node.can.reduce},
                     {"reduce_rate_bytes_per_s", node.reduce_rate.bytes_per_second},
                     {"coordinate", std::move(coordinate)}});
  }
  return nodes;
}

Json links_json(const Topology& topology) {
  Json links = Json::array();
  for (const Link& link : topology.links())
    links.push_back({{"from", link.from.value},
                     {"to", link.to.value},
                     {"bandwidth_bytes_per_s", link.bandwidth.bytes_per_second},
                     {"latency_ps", link.latency.ps},
                     {"dimension", link.dimension < 0 ? Json(nullptr) : Json(link.dimension)}});
  return links;
}

Json groups_json(const Topology& topology) {
  Json groups = Json::array();
  for (const SharedGroup& group : topology.groups()) {
    Json links = Json::array();
    for (const LinkId link : group.links) links.push_back(link.value);
    groups.push_back({{"name", group.name},
                      {"bandwidth_bytes_per_s", group.bandwidth.bytes_per_second},
                      {"links", std::move(links)}});
  }
  return groups;
}

} // namespace

std::string_view to_text(NodeKind kind) {
  switch (kind) {
  case NodeKind::npu: return "npu";
  case NodeKind::switching: return "switch";
  case NodeKind::memory: break;
  }
  return "memory";
}

nlohmann::ordered_json network_json(const Topology& topology) {
  return {{"nodes", nodes_json(topology)},
          {"links", links_json(topology)},
          {"groups", groups_json(topology)}};
}

} // namespace tutti
