// Plain numbers and no names, for an implementation of the model that shares no code with ours.
// What a case can't say is refused, since a case without it would be another case.
#include "experiments/driver/cli/oracle_case.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tutti {

namespace {

using Json = nlohmann::ordered_json;

template <typename Ids> Json values_of(const Ids& ids) {
  Json values = Json::array();
  for (const auto id : ids) values.push_back(id.value);
  return values;
}

Json case_nodes(const Topology& topology, std::span<const Time> starts) {
  Json nodes = Json::array();
  for (std::uint32_t n = 0; n < topology.node_count(); ++n) {
    const Node& node = topology.node(NodeId{n});
    if (node.reduce_rate.bytes_per_second > 0)
      throw InputError(fmt::format(
          "a case can't be exported: node {} has a reduction rate, which cases don't know",
          node.name));
    nodes.push_back(
        {{"store", node.can.store}, {"copy", node.can.copy}, {"reduce", node.can.reduce}});
    if (!starts.empty()) nodes.back()["starts_ps"] = starts[n].ps;
  }
  return nodes;
}

Json case_links(const Topology& topology) {
  Json links = Json::array();
  for (const Link& link : topology.links())
    links.push_back({{"from", link.from.value},
                     {"to", link.to.value},
                     {"latency_ps", link.latency.ps},
                     {"bandwidth", link.bandwidth.bytes_per_second}});
  return links;
}

Json case_groups(const Topology& topology) {
  Json groups = Json::array();
  for (const SharedGroup& group : topology.groups())
    groups.push_back(
        {{"links", values_of(group.links)}, {"bandwidth", group.bandwidth.bytes_per_second}});
  return groups;
}

Json case_chunks(const Collective& collective) {
  Json chunks = Json::array();
  for (std::uint32_t c = 0; c < collective.chunks.size(); ++c)
    chunks.push_back({{"bytes", collective.chunks[c].size.count},
                      {"held_by", values_of(collective.sources(ChunkId{c}))},
                      {"wanted_by", values_of(collective.destinations(ChunkId{c}))},
                      {"reduce", collective.chunks[c].reduces}});
  return chunks;
}

Json transfers_json(const Schedule& schedule) {
  Json transfers = Json::array();
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    const Transfer transfer = schedule[i];
    transfers.push_back({{"chunk", transfer.chunk.value},
                         {"path", values_of(schedule.paths().links(transfer.path))},
                         {"op", transfer.op == Op::copy ? "copy" : "reduce"},
                         {"together", transfer.together}});
    if (transfer.contiguous) transfers.back()["contiguous"] = true;
    for (const Dependency& dependency : schedule.dependencies(i))
      transfers.back()["after"].push_back(
          {{"transfer", dependency.transfer}, {"event", to_text(dependency.milestone)}});
  }
  return transfers;
}

} // namespace

std::string oracle_case(const Topology& topology, const Collective& collective,
                        const Schedule& schedule, const TimeModel& model,
                        std::span<const Time> starts) {
  if (model.reduce_rate.bytes_per_second > 0)
    throw InputError("a case can't be exported: the time model has a reduction rate, which cases "
                     "don't know");
  const Json json = {
      {"nodes", case_nodes(topology, starts)},
      {"links", case_links(topology)},
      {"groups", case_groups(topology)},
      {"chunks", case_chunks(collective)},
      {"transfers", transfers_json(schedule)},
      {"time_model",
       {{"link_busy", to_text(model.link_busy)}, {"forwarding", to_text(model.forwarding)}}}};
  return json.dump() + "\n";
}

} // namespace tutti
