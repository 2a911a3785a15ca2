// A network as a platform of SimGrid (<platform version="4.1">, 3.32 or newer): NPUs are hosts, all
// other nodes routers, each link a <link> with a route from one end to the other, from which
// SimGrid makes longer ones by itself. A shared group is one more link, without latency, in the
// routes of those that share it; so for SimGrid, which counts links, they are longer.
//
// What a platform can't say goes into properties, "tutti.from", from which read_simgrid() makes the
// same network again. Between two nodes a platform has one route, so there is no way to have
// parallel links.
//
// Routes by Dijkstra with a cache: 1,024 nodes load in 0.04 s, and all routes take 4 s; by Floyd,
// 0.9 s and 3 s, with the cube of nodes. But SimGrid's Dijkstra never ends where there is no way,
// so a network in which some NPU can't reach another one gets Floyd.
#include "sim/error.hpp"
#include "topologies/export/comments.hpp"
#include "topologies/export/list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

namespace {

std::string platform_value(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
      throw InputError(
          fmt::format("the name \"{}\" has a control character, which XML can't say", text));
    switch (c) {
    case '&': escaped += "&amp;"; break;
    case '<': escaped += "&lt;"; break;
    case '>': escaped += "&gt;"; break;
    case '"': escaped += "&quot;"; break;
    default: escaped += c;
    }
  }
  return escaped;
}

/// A comment in XML has no two hyphens side by side, nor one at its end.
std::string platform_comment(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    if (c == '-' && plain.ends_with('-')) plain += ' ';
    plain += c;
  }
  return fmt::format("<!-- {} -->\n", plain);
}

std::string platform_property(std::string_view id, std::string_view value) {
  return fmt::format("<prop id=\"{}\" value=\"{}\"/>", id, platform_value(value));
}

/// Whether each NPU reaches each other one, by way of any nodes: from the first one, and against
/// the links, too.
bool reach_each_other(const Topology& topology) {
  if (topology.npu_count() == 0) return true;
  for (const bool forwards : {true, false}) {
    std::vector<bool> is_reached(topology.node_count());
    std::vector<NodeId> open{NodeId{0}};
    is_reached[0] = true;
    while (!open.empty()) {
      const NodeId node = open.back();
      open.pop_back();
      for (const LinkId link : forwards ? topology.out_links(node) : topology.in_links(node)) {
        const NodeId next = forwards ? topology.link(link).to : topology.link(link).from;
        if (is_reached[next.value]) continue;
        is_reached[next.value] = true;
        open.push_back(next);
      }
    }
    for (std::uint32_t npu = 0; npu < topology.npu_count(); ++npu)
      if (!is_reached[npu]) return false;
  }
  return true;
}

class PlatformText {
public:
  explicit PlatformText(const Topology& topology) : topology_(topology) {}

  std::string text() {
    refuse_parallel_links();
    text_ = "<?xml version='1.0'?>\n"
            "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n";
    for (const auto& lines : {title_lines(topology_), assumed_lines(topology_)})
      for (const std::string& line : lines) text_ += platform_comment(line);
    text_ += fmt::format("<platform version=\"4.1\">\n<zone id=\"{}\" routing=\"{}\">\n",
                         platform_value(zone_name()),
                         reach_each_other(topology_) ? "DijkstraCache" : "Floyd");
    add_zone_properties();
    add_nodes();
    add_links();
    text_ += "</zone>\n</platform>\n";
    return std::move(text_);
  }

private:
  [[nodiscard]] std::string name(NodeId id) const { return topology_.node(id).name; }

  void refuse_parallel_links() const {
    std::set<std::pair<NodeId, NodeId>> pairs;
    for (const Link& link : topology_.links())
      if (!pairs.emplace(link.from, link.to).second)
        throw InputError(fmt::format("two links lead from \"{}\" to \"{}\": a platform of SimGrid "
                                     "has one route between two nodes",
                                     name(link.from), name(link.to)));
  }

  /// None that a node has: to SimGrid zones are nodes, too.
  [[nodiscard]] std::string zone_name() const {
    std::string zone = "network";
    while (std::ranges::find(topology_.nodes(), zone, &Node::name) != topology_.nodes().end())
      zone += "_";
    return zone;
  }

  void add_zone_properties() {
    text_ += "  " + platform_property("tutti.network", "1") + "\n";
    const TopologyParts& parts = topology_.parts();
    if (!parts.npu_model.empty())
      text_ += "  " + platform_property("tutti.npu", parts.npu_model) + "\n";
    if (!parts.shape.empty())
      text_ += "  " +
               platform_property("tutti.shape", fmt::format("{}", fmt::join(parts.shape, " "))) +
               "\n";
    for (std::uint32_t n = topology_.npu_count(); n < topology_.node_count(); ++n) {
      const Node& node = topology_.node(NodeId{n});
      text_ += "  " +
               platform_property(fmt::format("tutti.node{}", n),
                                 fmt::format("{},{},{},{},{}",
                                             node.kind == NodeKind::memory ? "memory" : "switch",
                                             abilities(node), node.reduce_rate.bytes_per_second,
                                             coordinates(NodeId{n}), node.name)) +
               "\n";
    }
  }

  static std::string abilities(const Node& node) {
    std::vector<std::string_view> words;
    if (node.can.store) words.push_back("store");
    if (node.can.copy) words.push_back("copy");
    if (node.can.reduce) words.push_back("reduce");
    return fmt::format("{}", fmt::join(words, " "));
  }
  [[nodiscard]] std::string coordinates(NodeId id) const {
    if (topology_.shape().empty()) return {};
    return fmt::format("{}", fmt::join(topology_.coordinate(id), " "));
  }

  void add_nodes() {
    for (std::uint32_t n = 0; n < topology_.node_count(); ++n) {
      const Node& node = topology_.node(NodeId{n});
      if (n >= topology_.npu_count()) {
        text_ += fmt::format("  <router id=\"{}\"/>\n", platform_value(node.name));
        continue;
      }
      text_ += fmt::format("  <host id=\"{}\" speed=\"1Gf\">{}", platform_value(node.name),
                           platform_property("tutti.can", abilities(node)));
      if (node.reduce_rate.bytes_per_second > 0)
        text_ +=
            platform_property("tutti.rate", fmt::format("{}", node.reduce_rate.bytes_per_second));
      if (!topology_.shape().empty())
        text_ += platform_property("tutti.at", coordinates(NodeId{n}));
      text_ += "</host>\n";
    }
  }

  void add_links() {
    for (std::uint32_t l = 0; l < topology_.link_count(); ++l) add_link(LinkId{l});
    for (std::size_t g = 0; g < topology_.groups().size(); ++g) {
      const SharedGroup& group = topology_.groups()[g];
      text_ +=
          fmt::format("  <link id=\"group{}\" bandwidth=\"{}\" latency=\"0\">{}{}{}</link>\n", g,
                      rate(group.bandwidth), platform_property("tutti.group", fmt::format("{}", g)),
                      platform_property("tutti.name", group.name), order_of(group));
    }
    for (std::uint32_t l = 0; l < topology_.link_count(); ++l) {
      const Link& link = topology_.link(LinkId{l});
      text_ +=
          fmt::format("  <route src=\"{}\" dst=\"{}\" symmetrical=\"NO\"><link_ctn id=\"link{}\"/>",
                      platform_value(name(link.from)), platform_value(name(link.to)), l);
      for (const std::uint32_t group : topology_.groups_of(LinkId{l}))
        text_ += fmt::format("<link_ctn id=\"group{}\"/>", group);
      text_ += "</route>\n";
    }
  }

  /// The links of a group that aren't in the order of their numbers.
  static std::string order_of(const SharedGroup& group) {
    if (std::is_sorted(group.links.begin(), group.links.end())) return {};
    std::vector<std::uint32_t> links;
    for (const LinkId link : group.links) links.push_back(link.value);
    return platform_property("tutti.links", fmt::format("{}", fmt::join(links, " ")));
  }

  void add_link(LinkId id) {
    const Link& link = topology_.link(id);
    text_ += fmt::format("  <link id=\"link{}\" bandwidth=\"{}\" latency=\"{}\">{}{}", id.value,
                         rate(link.bandwidth), to_text(link.latency),
                         platform_property("tutti.from", name(link.from)),
                         platform_property("tutti.to", name(link.to)));
    if (link.dimension >= 0)
      text_ += platform_property("tutti.dimension", fmt::format("{}", link.dimension));
    if (link.part > 0) text_ += platform_property("tutti.part", topology_.part_of(id));
    if (const auto groups = topology_.groups_of(id); !groups.empty())
      text_ += platform_property("tutti.groups", fmt::format("{}", fmt::join(groups, " ")));
    text_ += "</link>\n";
  }

  /// "50GBps"
  static std::string rate(Bandwidth bandwidth) {
    std::string text = to_text(bandwidth);
    return text.replace(text.size() - 2, 2, "ps");
  }

  const Topology& topology_;
  std::string text_;
};

} // namespace

std::string topology_simgrid(const Topology& topology) { return PlatformText(topology).text(); }

} // namespace tutti
