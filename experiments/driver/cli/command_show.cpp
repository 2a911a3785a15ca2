// `tutti show`: what a topology looks like.
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/cli/output.hpp"
#include "experiments/driver/cli/topology_summary.hpp"
#include "experiments/driver/figures/network_figure.hpp"
#include "experiments/driver/records/json.hpp"
#include "experiments/driver/records/table.hpp"
#include "sim/error.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tutti {

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const DegreeRange& range) { return {{"min", range.least}, {"max", range.most}}; }

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

// All that a topology is, so that two of them can be compared; the fingerprint is what caches go
// by.
Json output_of(const Topology& topology, const TopologySummary& summary) {
  Json shape = Json::array();
  for (const int extent : topology.shape()) shape.push_back(extent);
  return {{"kind", "topology"},
          {"topology", topology.name()},
          {"note", text_or_null(topology.parts().note)},
          {"npus", summary.npus},
          {"switches", summary.switches},
          {"memories", summary.memories},
          {"link_count", summary.links},
          {"shape", std::move(shape)},
          {"fingerprint", fmt::format("{:016x}", topology.fingerprint())},
          {"npu_out_links", json_of(summary.npu_out_links)},
          {"npu_in_links", json_of(summary.npu_in_links)},
          {"diameter_hops", summary.diameter ? Json(summary.diameter->hops) : Json(nullptr)},
          {"unreachable", summary.unreachable.empty() ? Json(nullptr) : Json(summary.unreachable)},
          {"details",
           {{"nodes", nodes_json(topology)},
            {"links", links_json(topology)},
            {"groups", groups_json(topology)}}}};
}

std::string range_text(const DegreeRange& range) {
  return range.least == range.most ? fmt::to_string(range.least)
                                   : fmt::format("{} to {}", range.least, range.most);
}

std::string link_table(const TopologySummary& summary, const TableForm& form) {
  Table table{{{"links", Align::right},
               {"from"},
               {"to"},
               {"dimension", Align::right},
               {"bandwidth", Align::right},
               {"latency", Align::right}},
              {}};
  for (const LinkClass& kind : summary.classes)
    table.rows.push_back({fmt::to_string(kind.count), std::string(to_text(kind.from)),
                          std::string(to_text(kind.to)),
                          kind.dimension < 0 ? "-" : fmt::to_string(int{kind.dimension}),
                          to_text(kind.bandwidth), to_text(kind.latency)});
  return to_text(table, form);
}

std::string group_table(const Topology& topology, const TableForm& form) {
  Table table{{{"shared group"}, {"bandwidth", Align::right}, {"links", Align::right}}, {}};
  for (const SharedGroup& group : topology.groups())
    table.rows.push_back(
        {group.name, to_text(group.bandwidth), fmt::to_string(group.links.size())});
  return to_text(table, form);
}

std::string reach_text(const Topology& topology, const TopologySummary& summary) {
  if (!summary.unreachable.empty()) return "not connected: " + summary.unreachable;
  if (!summary.diameter) return "diameter not computed (too many NPUs)";
  return fmt::format("diameter {} hops ({} to {})", summary.diameter->hops,
                     topology.node(summary.diameter->from).name,
                     topology.node(summary.diameter->to).name);
}

/// "1 switch", "2 switches"
std::string counted(std::size_t number, std::string_view one, std::string_view several) {
  return fmt::format("{} {}", number, number == 1 ? one : several);
}

std::string text_of(const Topology& topology, const TopologySummary& summary,
                    const TableForm& form) {
  std::string text = fmt::format(
      "{}: {}, {}, {}, {}\n", topology.name(), counted(summary.npus, "NPU", "NPUs"),
      counted(summary.switches, "switch", "switches"),
      counted(summary.memories, "memory", "memories"), counted(summary.links, "link", "links"));
  text +=
      fmt::format("links out of an NPU: {}; into one: {}; {}\n", range_text(summary.npu_out_links),
                  range_text(summary.npu_in_links), reach_text(topology, summary));
  if (!topology.parts().note.empty()) text += topology.parts().note + "\n";
  text += "\n" + link_table(summary, form);
  if (!topology.groups().empty()) text += "\n" + group_table(topology, form);
  return text;
}

// What can be checked before any work.
void require_sound(const ShowArguments& arguments) {
  if (arguments.draw.empty()) return;
  require_picture_name(arguments.draw);
  require_writable(arguments.draw);
}

/// "64 NPUs, 256 links": what the picture's title says of the network.
std::string counts_text(const TopologySummary& summary) {
  std::string text = counted(summary.npus, "NPU", "NPUs");
  if (summary.switches > 0) text += ", " + counted(summary.switches, "switch", "switches");
  if (summary.memories > 0) text += ", " + counted(summary.memories, "memory", "memories");
  return text + ", " + counted(summary.links, "link", "links");
}

} // namespace

int show_command(const ShowArguments& arguments) {
  require_sound(arguments);
  const Topology topology = make_topology(arguments.topology);
  const TopologySummary summary = summarize(topology);
  if (!arguments.draw.empty())
    draw(network_figure((topology.name().empty() ? "" : topology.name() + ": ") +
                            counts_text(summary),
                        topology, layout_of(topology)),
         arguments.draw);
  if (arguments.json)
    print_text(answer_json("show", Json::array({output_of(topology, summary)})));
  else
    print_tables(text_of(topology, summary, table_form(arguments.tables)));
  return 0;
}

} // namespace tutti
