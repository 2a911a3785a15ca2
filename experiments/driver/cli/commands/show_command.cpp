// `tutti show`: what a topology looks like, or what a communication sketch leaves of it.
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/cli/sketch_summary.hpp"
#include "experiments/driver/cli/topology_summary.hpp"
#include "experiments/driver/figures/network_figure.hpp"
#include "experiments/driver/records/json.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/records/records.hpp"
#include "experiments/driver/requests/network_json.hpp"
#include "sim/error.hpp"
#include "sim/text.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

namespace {

using Json = nlohmann::ordered_json;

struct ShownSketch {
  std::string file;
  Sketch sketch;
  SketchSummary summary;
};

/// A network, or the logical topology of a sketch for it.
struct Shown {
  Topology topology;
  std::optional<ShownSketch> sketch;
};

Shown shown_of(const ShowArguments& arguments) {
  if (arguments.sketch.empty()) return {make_network_and_report(arguments.topology), {}};
  const Topology network = make_topology_and_report(arguments.topology);
  Sketch sketch = read_sketch(arguments.sketch);
  require_fitting(sketch, network);
  LogicalTopology logical = logical_topology(network, sketch);
  const SketchSummary summary = summarize(sketch, logical);
  return {std::move(logical.topology), ShownSketch{arguments.sketch, std::move(sketch), summary}};
}

Json json_of(const DegreeRange& range) { return {{"min", range.least}, {"max", range.most}}; }

Json odd_json(std::span<const Finding> findings) {
  Json odd = Json::array();
  for (const Finding& finding : findings)
    odd.push_back({{"rule", finding.rule}, {"finding", finding.words}});
  return odd;
}

Json sketch_json(const ShownSketch& shown) {
  const SketchSummary& summary = shown.summary;
  Json rotations = Json::array();
  for (const auto& [offset, size] : summary.rotations) rotations.push_back({offset, size});
  return {{"name", shown.sketch.name},
          {"file", shown.file},
          {"machines", summary.machines},
          {"partitions", shown.sketch.partitions},
          {"connections", text_or_null(summary.connections)},
          {"policy", text_or_null(summary.policy)},
          {"links_within", summary.links_within},
          {"links_between", summary.links_between},
          {"least_split", summary.split ? Json(summary.split->least) : Json(nullptr)},
          {"most_split", summary.split ? Json(summary.split->most) : Json(nullptr)},
          {"rotations", std::move(rotations)},
          {"symmetry", summary.symmetry ? Json(*summary.symmetry) : Json(nullptr)}};
}

// All that a topology is, so that two of them can be compared; the fingerprint is what caches go
// by.
Json output_of(const Shown& shown, const TopologySummary& summary) {
  const Topology& topology = shown.topology;
  Json shape = Json::array();
  for (const int extent : topology.shape()) shape.push_back(extent);
  return {{"kind", "topology"},
          {"topology", topology.name()},
          {"note", text_or_null(topology.parts().note)},
          {"assumed", topology.parts().assumed},
          {"odd", odd_json(topology.parts().odd)},
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
          {"sketch", shown.sketch ? sketch_json(*shown.sketch) : Json(nullptr)},
          {"details", network_json(topology)}};
}

std::string range_text(const DegreeRange& range) {
  return range.least == range.most ? fmt::to_string(range.least)
                                   : fmt::format("{} to {}", range.least, range.most);
}

Records link_classes(const TopologySummary& summary) {
  using R = LinkClass;
  using namespace column_words;
  return records_of<R>(
      {{{"links", count}, &R::count},
       {{"from", text}, [](const R& r) { return to_text(r.from); }},
       {{"to", text}, [](const R& r) { return to_text(r.to); }},
       {{"dimension", count},
        [](const R& r) { return r.dimension < 0 ? Cell() : Cell(r.dimension); }},
       {{"bandwidth", numeral}, [](const R& r) { return short_text(r.bandwidth); }},
       {{"latency", numeral}, [](const R& r) { return to_text(r.latency); }}},
      summary.classes);
}

Records groups(const Topology& topology) {
  using R = SharedGroup;
  using namespace column_words;
  return records_of<R>(
      {{{"shared_group", text}, &R::name},
       {{"bandwidth", numeral}, [](const R& r) { return short_text(r.bandwidth); }},
       {{"links", count}, [](const R& r) { return r.links.size(); }}},
      topology.groups());
}

/// Shared groups, counted by bandwidth and number of links: of a logical topology, which has one
/// for each link and NIC that several links cross.
Records group_counts(const Topology& topology) {
  using Kind = std::pair<Bandwidth, std::size_t>;
  using R = std::pair<Kind, std::size_t>;
  using namespace column_words;
  std::map<Kind, std::size_t, std::greater<>> counts;
  for (const SharedGroup& group : topology.groups())
    ++counts[{group.bandwidth, group.links.size()}];
  return records_of<R>(
      {{{"shared_groups", count}, &R::second},
       {{"bandwidth", numeral}, [](const R& r) { return short_text(r.first.first); }},
       {{"links_of_each", count}, [](const R& r) { return r.first.second; }}},
      std::vector<R>(counts.begin(), counts.end()));
}

std::string reach_text(const Topology& topology, const TopologySummary& summary) {
  if (!summary.unreachable.empty()) return "not connected: " + summary.unreachable;
  if (!summary.diameter) return "diameter not computed (too many NPUs)";
  return fmt::format("diameter {} hops ({} to {})", summary.diameter->hops,
                     topology.node(summary.diameter->from).name,
                     topology.node(summary.diameter->to).name);
}

/// "npu0 to npu7, npu8 to npu15"
std::string machines_text(const Topology& topology, const SketchSummary& summary) {
  std::vector<std::string> machines;
  for (std::uint32_t m = 0; m < summary.machines; ++m) {
    const std::uint32_t first = m * summary.npus_of_machine;
    const std::uint32_t last = first + summary.npus_of_machine - 1;
    const std::string& name = topology.node(NodeId{first}).name;
    machines.push_back(
        first == last ? name : fmt::format("{} to {}", name, topology.node(NodeId{last}).name));
  }
  return few_of(machines);
}

/// "the bandwidth of their paths", or which part of it
std::string split_text(const SplitRange& split) {
  if (split.most < 1.0005) return "the bandwidth of their paths";
  const std::string least = fmt::format("{:.4g}", split.least);
  const std::string most = fmt::format("{:.4g}", split.most);
  return fmt::format("1/{}{} of the bandwidth of their paths", least,
                     least == most ? "" : " to 1/" + most);
}

std::string symmetry_text(const ShownSketch& shown) {
  std::vector<std::string> rotations;
  for (const auto& [offset, size] : shown.summary.rotations)
    rotations.push_back(fmt::format("{} in {}", offset, size));
  if (rotations.empty())
    return shown.sketch.finds_symmetry ? "no rotation is found\n" : "no symmetry\n";
  const std::optional<std::size_t> elements = shown.summary.symmetry;
  return fmt::format("{} {}: {} elements\n",
                     shown.sketch.finds_symmetry ? "symmetry found: rotations of"
                                                 : "symmetric by rotations of",
                     few_of(rotations), elements ? fmt::to_string(*elements) : "more than 4096");
}

std::string sketch_text(const Topology& topology, const ShownSketch& shown) {
  const SketchSummary& summary = shown.summary;
  std::string text =
      fmt::format("sketch {}: {} of {} ({}), {} per shard\n", shown.sketch.name,
                  counted(summary.machines, "machine", "machines"),
                  counted(summary.npus_of_machine, "NPU", "NPUs"), machines_text(topology, summary),
                  counted(shown.sketch.partitions, "chunk", "chunks"));
  text += fmt::format("within machines: {}", counted(summary.links_within, "link", "links"));
  if (summary.switched_links > 0)
    text += fmt::format(", {} through switches ({})",
                        summary.switched_links == summary.links_within
                            ? "all"
                            : fmt::to_string(summary.switched_links),
                        summary.policy);
  text += "\n";
  if (summary.split)
    text += fmt::format("between machines: {} ({}), with {}\n",
                        counted(summary.links_between, "link", "links"), summary.connections,
                        split_text(*summary.split));
  return text + symmetry_text(shown);
}

std::string text_of(const Shown& shown, const TopologySummary& summary, const TableForm& form) {
  const Topology& topology = shown.topology;
  std::string text = fmt::format(
      "{}: {}, {}, {}, {}\n", topology.name(), counted(summary.npus, "NPU", "NPUs"),
      counted(summary.switches, "switch", "switches"),
      counted(summary.memories, "memory", "memories"), counted(summary.links, "link", "links"));
  if (summary.npus == 0)
    text += "no NPU: no collective runs on it\n";
  else
    text += fmt::format("links out of an NPU: {}; into one: {}; {}\n",
                        range_text(summary.npu_out_links), range_text(summary.npu_in_links),
                        reach_text(topology, summary));
  if (!topology.parts().note.empty()) text += topology.parts().note + "\n";
  for (const Finding& finding : topology.parts().odd) text += "odd: " + finding.words + "\n";
  if (shown.sketch) text += sketch_text(topology, *shown.sketch);
  text += "\n" + to_text(whole_table(link_classes(summary)), form);
  if (!topology.groups().empty())
    text +=
        "\n" + to_text(whole_table(shown.sketch ? group_counts(topology) : groups(topology)), form);
  return text;
}

// What can be checked before any work.
void require_sound(const ShowArguments& arguments) {
  if (arguments.draw.empty()) return;
  require_picture_name(arguments.draw);
  std::vector<std::string> inputs;
  if (!arguments.sketch.empty()) inputs.push_back(arguments.sketch);
  require_outputs(inputs, {arguments.draw});
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
  const Shown shown = shown_of(arguments);
  const Topology& topology = shown.topology;
  const TopologySummary summary = summarize(topology);
  if (!arguments.draw.empty())
    draw(network_figure((topology.name().empty() ? "" : topology.name() + ": ") +
                            counts_text(summary),
                        topology, layout_of(topology)),
         arguments.draw);
  if (arguments.json)
    print_text(answer_json("show", Json::array({output_of(shown, summary)})));
  else
    print_tables(text_of(shown, summary, table_form(arguments.tables)));
  return 0;
}

} // namespace tutti
