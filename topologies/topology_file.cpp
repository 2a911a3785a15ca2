// Topologies from TOML:
//
//   name = "two GPUs"               # default: the file's name
//   note = "where it is from"
//   npu = "v100"                    # what the NPUs are
//   npus = 2                        # npu0, npu1; more nodes may follow, NPUs first
//   shape = [2]                     # optional; NPUs are numbered through it, dimension 0 fastest,
//                                   # unless they give their own coordinates
//   [defaults]                      # for links without their own
//   bandwidth = "50GB/s"
//   latency = "0.5us"
//
//   [[nodes]]
//   name = "bridge"                 # with count = N: bridge0 .. bridgeN-1
//   kind = "switch"                 # npu (can do all), switch (nothing) or memory (store, copy)
//   copy = true                     # each of store, copy, reduce may be set; so may reduce_rate
//   coordinates = [0]               # optional; with count: one list for each
//
//   [[links]]
//   from = ["npu0", "npu1"]         # names or node numbers; a list at one end fans in or out,
//   to = "bridge"                   # lists at both are paired; or between = [["npu0", "bridge"]]
//   bandwidth = "32GB/s"
//   directed = false                # default: both directions, forward first
//   dimension = 0                   # which one of the shape it belongs to
//   part = "nvlink4"                # what it is made of: transports know nvlink2 to nvlink5, ...
//
//   [[groups]]                      # links with one joint bandwidth
//   name = "bus"
//   bandwidth = "40GB/s"
//   links = [["npu0", "bridge"], ["npu1", "bridge"]] # every link in that direction, or
//                                   # ["npu0", "bridge", 1]: one of them, from 0 in their order
//
//   [template]                      # parameters, which a text may say: net.toml:cables=4
//   cables = 2
//   [[links]]
//   for = { i = "${cables}" }       # so many tables, for i = 0, 1, ...; also of nodes and groups
//   from = "npu${i}"
//   to = "npu${mod(i + 1, 2)}"
#include "sim/error.hpp"
#include "sim/files/config.hpp"
#include "sim/files/gzip.hpp"
#include "topologies/list.hpp"
#include "topologies/parts.hpp"
#include "topologies/topology_template.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

namespace tutti {

namespace {

using NodePair = std::pair<NodeId, NodeId>;

struct NodeKindRow {
  std::string_view name;
  NodeKind kind;
  Abilities can;
};
constexpr std::array<NodeKindRow, 3> node_kinds{{
    {"npu", NodeKind::npu, {true, true, true}},
    {"switch", NodeKind::switching, {false, false, false}},
    {"memory", NodeKind::memory, {true, true, false}},
}};

const NodeKindRow& parse_kind(const ConfigValue& value) {
  const std::string text = value.string();
  std::vector<std::string> known;
  for (const NodeKindRow& row : node_kinds) {
    if (row.name == text) return row;
    known.emplace_back(row.name);
  }
  throw value.error(unknown_name("node kind", text, known));
}

std::vector<int> parse_ints(const ConfigValue& value, int low) {
  std::vector<int> numbers;
  for (const ConfigValue& number : value.array())
    numbers.push_back(static_cast<int>(number.integer(low, topologies::most_npus)));
  return numbers;
}

/// Fills TopologyParts table by table; every complaint carries the place in the file.
class Reader {
public:
  Reader(const ConfigTable& root, const topologies::TopologyTemplate& values)
      : root_(values.filled(root)), template_(values) {}

  Topology read(const std::string& default_name) {
    root_.allow_only({"name", "note", "npu", "npus", "shape", "defaults", "template", "nodes",
                      "links", "groups"});
    const std::optional<ConfigValue> name = root_.find("name");
    parts_.name = name ? name->string() : default_name;
    if (const std::optional<ConfigValue> note = root_.find("note")) parts_.note = note->string();
    if (const std::optional<ConfigValue> npu = root_.find("npu")) parts_.npu_model = npu->string();
    read_shape();
    read_defaults();
    read_npus();
    read_each("nodes", &Reader::read_node);
    read_each("links", &Reader::read_links);
    read_each("groups", &Reader::read_group);
    root_.finish();
    fill_coordinates();
    try {
      return Topology(std::move(parts_));
    } catch (const InputError& e) {
      throw root_.error(e.what());
    }
  }

private:
  void read_each(const std::string& key, void (Reader::*read)(ConfigTable&)) {
    for (const ConfigTable& table : root_.tables(key))
      template_.for_each(table, [&](ConfigTable& each) { (this->*read)(each); });
  }

  void read_shape() {
    if (const std::optional<ConfigValue> shape = root_.find("shape")) {
      parts_.shape = parse_ints(*shape, 1);
      if (parts_.shape.empty()) throw shape->error("a shape needs at least one extent");
      if (parts_.shape.size() > 64) throw shape->error("a shape has at most 64 extents");
    }
  }

  void read_defaults() {
    const std::optional<ConfigValue> value = root_.find("defaults");
    if (!value) return;
    ConfigTable defaults = value->table();
    default_bandwidth_ = defaults.find("bandwidth");
    default_latency_ = defaults.find("latency");
    defaults.finish();
  }

  void read_npus() {
    if (const std::optional<ConfigValue> npus = root_.find("npus")) {
      const std::int64_t count = npus->integer(1, topologies::most_npus);
      for (std::int64_t i = 0; i < count; ++i)
        add_node({fmt::format("npu{}", i), NodeKind::npu, Abilities{}, Bandwidth{}}, *npus);
    }
  }

  void add_node(Node node, const ConfigValue& place) {
    const bool plain = std::all_of(node.name.begin(), node.name.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.' || c == ':';
    });
    if (!plain || node.name.empty())
      throw place.error(
          fmt::format("node name \"{}\" may only have letters, digits and _ - . :", node.name));
    if (node.kind == NodeKind::npu && !parts_.nodes.empty() &&
        parts_.nodes.back().kind != NodeKind::npu)
      throw place.error(
          fmt::format("NPU \"{}\" comes after a switch or memory; NPUs come first", node.name));
    if (parts_.nodes.size() >= topologies::most_npus)
      throw place.error(fmt::format("more than {} nodes", topologies::most_npus));
    if (!ids_.emplace(node.name, NodeId{static_cast<std::uint32_t>(parts_.nodes.size())}).second)
      throw place.error(fmt::format("node \"{}\" is named twice", node.name));
    parts_.add_node(std::move(node));
  }

  void read_node(ConfigTable& table) {
    const std::optional<ConfigValue> name = table.find("name");
    (void)table.find("kind");
    const std::optional<ConfigValue> store = table.find("store"), copy = table.find("copy"),
                                     reduce = table.find("reduce");
    const std::optional<ConfigValue> reduce_rate = table.find("reduce_rate");
    const std::optional<ConfigValue> count = table.find("count");
    const std::optional<ConfigValue> coordinates = table.find("coordinates");
    table.finish(); // a misspelt key before a missing one

    const ConfigValue kind = table.at("kind");
    const NodeKindRow& row = parse_kind(kind);
    Node node{table.at("name").string(), row.kind, row.can, Bandwidth{}};
    if (store) node.can.store = store->boolean();
    if (copy) node.can.copy = copy->boolean();
    if (reduce) node.can.reduce = reduce->boolean();
    if (reduce_rate) node.reduce_rate = reduce_rate->bandwidth();
    const std::int64_t nodes = count ? count->integer(1, topologies::most_npus) : 1;
    const std::size_t first = parts_.nodes.size();
    for (std::int64_t i = 0; i < nodes; ++i) {
      Node numbered = node;
      if (count) numbered.name += fmt::format("{}", i);
      add_node(std::move(numbered), *name);
    }
    if (coordinates) read_coordinates(*coordinates, first, count.has_value());
  }

  void read_coordinates(const ConfigValue& value, std::size_t first, bool one_list_each) {
    if (parts_.shape.empty()) throw value.error("coordinates need a \"shape\" at the top");
    const std::vector<ConfigValue> lists =
        one_list_each ? value.array() : std::vector<ConfigValue>{value};
    const std::size_t nodes = parts_.nodes.size() - first;
    if (lists.size() != nodes)
      throw value.error(fmt::format("{} lists of coordinates for {} nodes", lists.size(), nodes));
    parts_.coordinates.resize(parts_.nodes.size());
    for (std::size_t i = 0; i < nodes; ++i) {
      std::vector<int> at = parse_ints(lists[i], 0);
      bool inside = at.size() == parts_.shape.size();
      for (std::size_t d = 0; inside && d < at.size(); ++d) inside = at[d] < parts_.shape[d];
      if (!inside)
        throw lists[i].error(fmt::format("coordinates ({}) outside the shape {}",
                                         fmt::join(at, ","), fmt::join(parts_.shape, "x")));
      parts_.coordinates[first + i] = std::move(at);
    }
  }

  /// Where a shape is given and no NPU has coordinates, the NPUs are numbered through.
  void fill_coordinates() {
    if (parts_.shape.empty()) return;
    std::int64_t npus = 0;
    for (std::size_t n = 0; n < parts_.nodes.size(); ++n) {
      if (parts_.nodes[n].kind != NodeKind::npu) continue;
      if (n < parts_.coordinates.size() && !parts_.coordinates[n].empty()) return;
      ++npus;
    }
    std::int64_t places = 1;
    for (const int extent : parts_.shape)
      places = std::min(places * extent, 2 * topologies::most_npus); // no overflow
    if (places != npus)
      throw root_.at("shape").error(
          fmt::format("{} NPUs don't fill the shape {}", npus, fmt::join(parts_.shape, "x")));
    topologies::number_coordinates(parts_, parts_.shape);
  }

  NodeId find_node(const ConfigValue& value) const {
    const auto nodes = static_cast<std::int64_t>(parts_.nodes.size());
    if (value.is_integer()) {
      if (nodes == 0) throw value.error("there are no nodes");
      return NodeId{static_cast<std::uint32_t>(value.integer(0, nodes - 1))};
    }
    const std::string name = value.string();
    const auto found = ids_.find(name);
    if (found != ids_.end()) return found->second;
    constexpr std::size_t most_listed = 20;
    std::vector<std::string> known;
    for (const Node& node : parts_.nodes) {
      known.push_back(known.size() < most_listed ? node.name : "...");
      if (known.size() > most_listed) break;
    }
    throw value.error(unknown_name("node", name, known));
  }

  std::vector<NodePair> find_pairs(const ConfigValue& value) const {
    std::vector<NodePair> pairs;
    for (const ConfigValue& pair : value.array()) {
      const std::vector<ConfigValue> ends = pair.array();
      if (ends.size() != 2) throw pair.error("expected a pair of nodes");
      pairs.emplace_back(find_node(ends[0]), find_node(ends[1]));
    }
    return pairs;
  }

  /// `from` with `to`: one with many, or two lists of equal length.
  std::vector<NodePair> find_ends(const ConfigValue& from, const ConfigValue& to) const {
    const auto nodes = [&](const ConfigValue& value) {
      std::vector<NodeId> found;
      if (!value.is_array()) return std::vector<NodeId>{find_node(value)};
      for (const ConfigValue& node : value.array()) found.push_back(find_node(node));
      return found;
    };
    const std::vector<NodeId> sources = nodes(from), targets = nodes(to);
    if (from.is_array() && to.is_array() && sources.size() != targets.size())
      throw to.error(fmt::format("{} nodes for {} in \"from\"", targets.size(), sources.size()));
    std::vector<NodePair> pairs;
    const std::size_t count = from.is_array() ? sources.size() : targets.size();
    for (std::size_t i = 0; i < count; ++i)
      pairs.emplace_back(sources[from.is_array() ? i : 0], targets[to.is_array() ? i : 0]);
    return pairs;
  }

  void read_links(ConfigTable& table) {
    const std::optional<ConfigValue> between = table.find("between");
    const std::optional<ConfigValue> from = table.find("from"), to = table.find("to");
    std::optional<ConfigValue> bandwidth = table.find("bandwidth"), latency = table.find("latency");
    const std::optional<ConfigValue> directed = table.find("directed");
    const std::optional<ConfigValue> dimension = table.find("dimension");
    const std::optional<ConfigValue> part = table.find("part");
    table.finish(); // a misspelt key before a missing one
    if (!bandwidth) bandwidth = default_bandwidth_;
    if (!latency) latency = default_latency_;
    if (between.has_value() == (from.has_value() && to.has_value()) ||
        from.has_value() != to.has_value())
      throw table.error("a link needs either \"from\" and \"to\", or \"between\"");

    Link link;
    link.bandwidth = (bandwidth ? *bandwidth : table.at("bandwidth")).bandwidth();
    link.latency = (latency ? *latency : table.at("latency")).time();
    if (dimension) {
      if (parts_.shape.empty()) throw dimension->error("a dimension needs a \"shape\" at the top");
      const auto last = static_cast<std::int64_t>(parts_.shape.size()) - 1;
      link.dimension = static_cast<std::int8_t>(dimension->integer(0, last));
    }
    if (part) {
      if (part->string().empty()) throw part->error("a part needs a name");
      link.part = part->located([&] { return parts_.link_part(part->string()); });
    }
    const bool both = !directed || !directed->boolean();
    const ConfigValue& place = between ? *between : *from;
    for (const auto& [a, b] : between ? find_pairs(*between) : find_ends(*from, *to)) {
      if (a == b)
        throw place.error(fmt::format("a link from \"{}\" to itself", parts_.nodes[a.value].name));
      const Link placed = topologies::between(a, b, link);
      if (both)
        parts_.add_duplex(placed);
      else
        parts_.add_link(placed);
    }
    if (parts_.links.size() > topologies::most_links)
      throw place.error(fmt::format("more than {} links", topologies::most_links));
  }

  [[nodiscard]] std::string words_of(const Link& link) const {
    return fmt::format("{}>{}", parts_.nodes[link.from.value].name,
                       parts_.nodes[link.to.value].name);
  }

  /// All from a node to another, or one of them.
  std::vector<LinkId> links_of_entry(const ConfigValue& links,
                                     const std::vector<ConfigValue>& words) const {
    Link ends;
    ends.from = find_node(words[0]);
    ends.to = find_node(words[1]);
    const auto found = links_between_->find({ends.from, ends.to});
    if (found == links_between_->end()) throw links.error("there is no link " + words_of(ends));
    if (words.size() == 2) return found->second;
    const auto count = static_cast<std::int64_t>(found->second.size());
    return {found->second[static_cast<std::size_t>(words[2].integer(0, count - 1))]};
  }

  void read_group(ConfigTable& table) {
    const std::optional<ConfigValue> name = table.find("name"), links = table.find("links");
    const std::optional<ConfigValue> bandwidth = table.find("bandwidth");
    table.finish();
    SharedGroup group{table.at("name").string(), {}, table.at("bandwidth").bandwidth()};
    if (!links_between_) {
      links_between_.emplace();
      for (std::uint32_t l = 0; l < parts_.links.size(); ++l)
        (*links_between_)[{parts_.links[l].from, parts_.links[l].to}].push_back(LinkId{l});
    }
    std::set<LinkId> seen;
    for (const ConfigValue& entry : table.at("links").array()) {
      const std::vector<ConfigValue> words = entry.array();
      if (words.size() != 2 && words.size() != 3)
        throw entry.error("expected a pair of nodes, and perhaps which of their links");
      for (const LinkId link : links_of_entry(*links, words)) {
        if (!seen.insert(link).second)
          throw links->error(fmt::format("link {} is in group \"{}\" twice",
                                         words_of(parts_.links[link.value]), group.name));
        group.links.push_back(link);
      }
    }
    if (group.links.empty()) throw links->error("a group needs at least one link");
    parts_.groups.push_back(std::move(group));
  }

  ConfigTable root_;
  const topologies::TopologyTemplate& template_;
  TopologyParts parts_;
  std::unordered_map<std::string, NodeId> ids_;
  std::optional<ConfigValue> default_bandwidth_, default_latency_;
  std::optional<std::map<NodePair, std::vector<LinkId>>> links_between_; ///< once all are read
};

} // namespace

Topology topologies::topology_of(const ConfigTable& root, const TopologyTemplate& values,
                                 const std::string& name) {
  return Reader(root, values).read(name);
}

Topology read_topology(const std::string& file) {
  return parse_topology(read_input_file(file), file);
}

Topology parse_topology(std::string_view toml, const std::string& source_name) {
  const ConfigTable root = parse_config(toml, source_name);
  return topology_of(root, topologies::TopologyTemplate(root), plain_stem(source_name));
}

} // namespace tutti
