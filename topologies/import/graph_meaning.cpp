// Why: DOT and GraphML both give nodes and edges with attributes; what these mean is said once.
//
// A node's kind or type says what it is, else its name; a label may be its name. An edge has a
// bandwidth and a latency, or those that are assumed. What Tutti's own networks have beyond that
// (abilities, coordinates, parts, groups) has attributes of the same names, which
// topologies/export/graphs.cpp writes. Nodes are numbered by their names, unless the graph's
// `numbering` says that they are listed in the order of their numbers.
#include "topologies/import/graph_meaning.hpp"

#include "sim/text.hpp"
#include "topologies/import/graph_quantities.hpp"
#include "topologies/import/node_names.hpp"
#include "topologies/import/numbering.hpp"
#include "topologies/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace tutti::topologies {

namespace {

/// By its name, in whichever case; an empty one counts as none.
const GraphAttribute* find_attribute(const GraphAttributes& attributes, std::string_view key) {
  for (const GraphAttribute& attribute : attributes)
    if (same_but_for_case(attribute.key, key) && !attribute.text.empty()) return &attribute;
  return nullptr;
}

/// "%3B" is ";": how names with separators stand in lists of groups.
std::string with_escapes_read(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    const char* const from = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(from, from + 2, value, 16).ptr == from + 2) {
      plain += static_cast<char>(value);
      i += 2;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

/// "(1,2)" or "2x4".
std::optional<std::vector<int>> whole_numbers(std::string_view text, int low) {
  text = trimmed(text);
  if (text.starts_with('(') && text.ends_with(')')) text = text.substr(1, text.size() - 2);
  constexpr std::size_t most_dimensions = 127;
  std::vector<int> numbers;
  while (true) {
    const std::size_t end = std::min(text.find_first_of(",x"), text.size());
    const std::string_view word = trimmed(text.substr(0, end));
    int number = 0;
    const auto [stop, fault] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (word.empty() || fault != std::errc() || stop != word.data() + word.size() || number < low ||
        number > most_npus || numbers.size() == most_dimensions)
      return std::nullopt;
    numbers.push_back(number);
    if (end == text.size()) return numbers;
    text.remove_prefix(end + 1);
  }
}

/// What the attributes mean. Errors: InputError with the place, always.
class GraphMeaning {
public:
  GraphMeaning(const ForeignGraph& graph, const TextPlaces& places, Assumptions& assumed)
      : graph_(graph), places_(places), assumed_(assumed) {}

  TopologyParts read() {
    if (graph_.nodes.empty()) throw places_.error(0, "a graph without nodes");
    read_shape();
    if (const GraphAttribute* npu = find_attribute(graph_.attributes, "npu"))
      parts_.npu_model = with_escapes_read(npu->text);
    if (const GraphAttribute* groups = find_attribute(graph_.attributes, "groups"))
      for (const GroupWord& word : group_words(*groups)) (void)group(word, *groups);
    find_misplaced(graph_.attributes, "the graph");
    for (const GraphNode& node : graph_.nodes) find_misplaced(node.attributes, "nodes");
    name_nodes();
    const bool is_listed = is_in_order();
    add_nodes(is_listed);
    const std::size_t of_nodes = assumed_.lines().size();
    for (const GraphEdge& edge : graph_.edges) add_edge(edge);
    assumed_.sort_from(of_nodes);
    add_groups(is_listed);
    if (!unread_.empty())
      assumed_.add("not read as bandwidths of links", few_of({unread_.begin(), unread_.end()}));
    if (!misplaced_.empty())
      assumed_.add("bandwidths and latencies of what is no link",
                   few_of({misplaced_.begin(), misplaced_.end()}) + "; left out");
    if (!graph_.unknown.empty())
      assumed_.add("attributes that say nothing of a network",
                   few_of({graph_.unknown.begin(), graph_.unknown.end()}));
    return std::move(parts_);
  }

private:
  // Nodes

  void read_shape() {
    const GraphAttribute* shape = find_attribute(graph_.attributes, "shape");
    if (shape == nullptr || shape->text.find_first_of("0123456789") == std::string_view::npos)
      return; // Graphviz's word for how a node looks
    const auto numbers = whole_numbers(shape->text, 1);
    if (!numbers)
      throw places_.error(shape->at, fmt::format("shape \"{}\" is none like (2,4)", shape->text));
    parts_.shape = *numbers;
  }

  /// Whether nodes and links are numbered as they are listed.
  [[nodiscard]] bool is_in_order() const {
    const GraphAttribute* order = find_attribute(graph_.attributes, "numbering");
    if (order != nullptr && order->text != "listed")
      throw places_.error(order->at,
                          fmt::format("unknown numbering \"{}\" (known: listed)", order->text));
    return order != nullptr;
  }

  void find_misplaced(const GraphAttributes& attributes, std::string_view where) {
    for (const GraphAttribute& attribute : attributes)
      if (link_key(attribute.key))
        misplaced_.insert(fmt::format("{} of {}", short_quote(attribute.key), where));
  }

  /// But for spaces.
  static bool is_nearly_legal(std::string_view text) {
    std::string without_spaces(text);
    std::erase(without_spaces, ' ');
    return legal_name(without_spaces) == without_spaces;
  }

  /// Labels where each node has one of its own that is made of letters for names; else ids.
  void name_nodes() {
    for (const std::string_view key : {"label", "name"}) {
      std::unordered_set<std::string> seen;
      names_.clear();
      for (const GraphNode& node : graph_.nodes) {
        const GraphAttribute* label = find_attribute(node.attributes, key);
        if (label == nullptr || !is_nearly_legal(label->text) ||
            !seen.insert(legal_name(label->text)).second)
          break;
        names_.push_back(legal_name(label->text));
      }
      if (names_.size() == graph_.nodes.size()) return;
    }
    names_.clear();
    std::unordered_set<std::string> seen;
    std::unordered_map<std::string, std::size_t> next;
    for (const GraphNode& node : graph_.nodes) // those that stay as they are come first
      if (legal_name(node.id) == node.id) seen.emplace(node.id);
    std::vector<std::size_t> order(graph_.nodes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, naturally_less, [&](std::size_t n) { return graph_.nodes[n].id; });
    names_.resize(graph_.nodes.size());
    for (const std::size_t n : order) {
      const std::string base = legal_name(graph_.nodes[n].id);
      names_[n] = base;
      if (base != graph_.nodes[n].id)
        while (!seen.insert(names_[n]).second)
          names_[n] = fmt::format("{}_{}", base, ++next[base] + 1);
    }
  }

  static std::optional<NodeKind> kind_of(std::string_view word) {
    const std::string text = lower_case(trimmed(word));
    constexpr std::array npus{"npu",  "gpu",    "xpu",         "tpu",
                              "host", "server", "accelerator", "endpoint"};
    constexpr std::array switches{"switching", "cpu",         "pcie",    "pci",
                                  "bridge",    "aggregation", "gateway", "hub"};
    constexpr std::array memories{"memory", "dram", "hbm"};
    if (std::ranges::find(npus, text) != npus.end()) return NodeKind::npu;
    if (std::ranges::find(memories, text) != memories.end()) return NodeKind::memory;
    if (std::ranges::find(switches, text) != switches.end() || is_switch_name(text) ||
        text.ends_with("router"))
      return NodeKind::switching;
    return std::nullopt;
  }

  std::optional<NodeKind> kind_said(const GraphNode& node) {
    if (const GraphAttribute* kind = find_attribute(node.attributes, "kind")) {
      if (const auto known = kind_of(kind->text)) return known;
      throw places_.error(kind->at, fmt::format("unknown kind \"{}\" (known: npu, gpu, host, "
                                                "switch, router, nic, cpu, memory, ...)",
                                                kind->text));
    }
    if (const GraphAttribute* type = find_attribute(node.attributes, "type")) {
      if (const auto known = kind_of(type->text)) return known;
      strange_types_.insert(short_quote(type->text));
    }
    return std::nullopt;
  }

  [[nodiscard]] bool yes_or_no(const GraphAttribute& attribute) const {
    for (const std::string_view yes : {"true", "yes", "1"})
      if (same_but_for_case(attribute.text, yes)) return true;
    for (const std::string_view no : {"false", "no", "0"})
      if (same_but_for_case(attribute.text, no)) return false;
    throw places_.error(attribute.at, fmt::format("{} is \"{}\", neither true nor false",
                                                  attribute.key, attribute.text));
  }

  Node read_node(const GraphNode& node, const std::string& name, NodeKind kind) {
    Node read{name, kind, {}, {}};
    if (kind == NodeKind::switching) read.can = {false, false, false};
    if (kind == NodeKind::memory) read.can.reduce = false;
    for (const auto& [key, ability] : {std::pair{"store", &Abilities::store},
                                       {"copy", &Abilities::copy},
                                       {"reduce", &Abilities::reduce}})
      if (const GraphAttribute* said = find_attribute(node.attributes, key))
        read.can.*ability = yes_or_no(*said);
    if (const GraphAttribute* rate = find_attribute(node.attributes, "reduce_rate"))
      read.reduce_rate = graph_bandwidth(*rate, "", places_);
    return read;
  }

  /// NPUs first.
  void add_nodes(bool is_listed) {
    std::vector<NodeKind> kinds;
    bool any_said = false, any_guessed = false;
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      const auto said = kind_said(graph_.nodes[n]);
      any_said = any_said || said;
      any_guessed = any_guessed || !said;
      const GraphAttribute* label = find_attribute(graph_.nodes[n].attributes, "label");
      const bool is_switch =
          is_switch_name(names_[n]) || (label != nullptr && is_switch_name(label->text));
      kinds.push_back(said ? *said : is_switch ? NodeKind::switching : NodeKind::npu);
    }
    for (const std::string& type : strange_types_)
      assumed_.add("types of nodes", type + " says nothing of what they do");
    const std::vector<std::size_t> order = order_of(kinds, is_listed);
    ids_.resize(graph_.nodes.size());
    for (const bool npus : {true, false})
      for (const std::size_t n : order) {
        if ((kinds[n] == NodeKind::npu) != npus) continue;
        const GraphNode& node = graph_.nodes[n];
        ids_[n] = parts_.add_node(read_node(node, names_[n], kinds[n]));
        if (parts_.shape.empty()) continue;
        parts_.coordinates.emplace_back();
        const GraphAttribute* at = find_attribute(node.attributes, "coordinates");
        if (at == nullptr && npus)
          throw places_.error(node.at, fmt::format("NPU \"{}\" has no coordinates, but the graph "
                                                   "has a shape",
                                                   names_[n]));
        if (at == nullptr) continue;
        const auto numbers = whole_numbers(at->text, 0);
        if (!numbers)
          throw places_.error(at->at,
                              fmt::format("coordinates \"{}\" are none like (0,1)", at->text));
        parts_.coordinates.back() = *numbers;
      }
    if (!any_guessed) return;
    const std::string found = few_switches(parts_);
    if (any_said)
      assumed_.add("nodes without a kind", "NPUs, but for those called after a switch, router or "
                                           "NIC, which forward only");
    else if (found == "none")
      assumed_.add("nodes", "all are NPUs, as none has a kind or is called after a switch");
    else
      assumed_.add("nodes", fmt::format("NPUs, but for those called after a switch, router or NIC, "
                                        "which forward only: {}",
                                        found));
  }

  /// By names, or by ids where only these have numbers (labels may be those of cities).
  [[nodiscard]] std::vector<std::size_t> order_of(const std::vector<NodeKind>& kinds,
                                                  bool is_listed) {
    std::vector<std::size_t> order(kinds.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (is_listed) return order;
    std::vector<NodeToNumber> by_name, by_id;
    for (const std::size_t n : order) {
      const bool is_npu = kinds[n] == NodeKind::npu;
      by_name.push_back({names_[n], names_[n], is_npu});
      by_id.push_back({names_[n], graph_.nodes[n].id, is_npu});
    }
    return numbered(have_numbers(by_id) && !have_numbers(by_name) ? by_id : by_name, assumed_);
  }

  // Links

  /// Two that say the same thing must agree.
  template <typename Value>
  void agree(std::optional<Value>& known, Value value, const GraphAttribute& attribute) const {
    if (known && *known != value)
      throw places_.error(attribute.at,
                          fmt::format("{} \"{}\" isn't what another attribute of the "
                                      "same link says, {}",
                                      attribute.key, attribute.text, to_text(*known)));
    known = value;
  }

  void add_edge(const GraphEdge& edge) {
    if (edge.from == edge.to)
      throw places_.error(edge.at, fmt::format("a link from \"{}\" to itself", names_[edge.from]));
    std::optional<Bandwidth> bandwidth;
    std::optional<Time> latency;
    for (const GraphAttribute& attribute : edge.attributes) {
      const auto key = link_key(attribute.key);
      if (!key || trimmed(attribute.text).empty()) continue;
      if (key->quantity == LinkQuantity::bandwidth)
        agree(bandwidth, graph_bandwidth(attribute, key->unit, places_), attribute);
      else
        agree(latency, graph_time(attribute, key->unit, places_), attribute);
    }
    const GraphAttribute* speed = find_attribute(edge.attributes, "linkspeed"); // Topology Zoo's
    const GraphAttribute* units = find_attribute(edge.attributes, "linkspeedunits");
    if (!bandwidth && speed != nullptr && units != nullptr) {
      const std::string text = std::string(speed->text) + std::string(units->text);
      bandwidth = labelled_bandwidth({speed->key, text, speed->at}, places_);
      if (!bandwidth) unread_.insert("LinkSpeed " + short_quote(text));
    }
    if (const GraphAttribute* label = find_attribute(edge.attributes, "label");
        label && !bandwidth) {
      bandwidth = labelled_bandwidth(*label, places_);
      if (bandwidth)
        assumed_.add("labels of links", "their bandwidths, 400G being 400Gb/s");
      else if (std::isdigit(static_cast<unsigned char>(label->text.front())) != 0)
        unread_.insert("label " + short_quote(label->text));
    }
    if (!bandwidth) bandwidth = assumed_.rate("bandwidth of a link");
    if (!latency) latency = assumed_.time("latency of a link");

    Link link{ids_[edge.from], ids_[edge.to], *latency, *bandwidth};
    if (const GraphAttribute* dimension = find_attribute(edge.attributes, "dimension")) {
      int number = 0;
      const std::string_view text = trimmed(dimension->text);
      const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (fault != std::errc() || end != text.data() + text.size() || number < -1 || number > 127)
        throw places_.error(dimension->at,
                            fmt::format("dimension \"{}\" is none of -1 .. 127", text));
      link.dimension = static_cast<std::int8_t>(number);
    }
    if (const GraphAttribute* part = find_attribute(edge.attributes, "part")) {
      try {
        link.part = parts_.link_part(with_escapes_read(part->text));
      } catch (const InputError& e) {
        throw places_.error(part->at, e.what());
      }
    }
    const std::size_t first = parts_.links.size();
    if (edge.is_directed)
      parts_.add_link(link);
    else
      parts_.add_duplex(link);
    if (parts_.links.size() > most_links)
      throw places_.error(edge.at, fmt::format("more than {} links", most_links));
    const GraphAttribute* groups = find_attribute(edge.attributes, "groups");
    marks_.resize(parts_.links.size(), groups != nullptr ? groups->text : std::string_view());
    if (groups != nullptr) join_groups(*groups, first, edge.at);
  }

  // Groups

  struct GroupWord {
    std::string_view name;
    Bandwidth bandwidth;
    std::optional<std::uint32_t> position;
  };
  struct GroupSoFar {
    std::string name;
    Bandwidth bandwidth;
    std::vector<std::pair<std::optional<std::uint32_t>, LinkId>> links; ///< with their positions
    std::size_t at = 0;                                                 ///< where it is first named
  };

  /// "bus:100GB/s;nic0:25GB/s", or with a link's position in the group, "bus:100GB/s:3".
  [[nodiscard]] std::vector<GroupWord> group_words(const GraphAttribute& attribute) const {
    std::vector<GroupWord> words;
    for (std::string_view rest = attribute.text; !rest.empty();) {
      const std::size_t end = std::min(rest.find(';'), rest.size());
      const std::string_view word = trimmed(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (word.empty()) continue;
      const std::size_t colon = word.find(':');
      if (colon == std::string_view::npos)
        throw places_.error(
            attribute.at,
            fmt::format("group {} has no bandwidth (bus:100GB/s;nic0:25GB/s)", short_quote(word)));
      std::string_view rate = word.substr(colon + 1);
      GroupWord read{word.substr(0, colon), {}, std::nullopt};
      if (const std::size_t second = rate.find(':'); second != std::string_view::npos) {
        std::uint32_t position = 0;
        const char* const stop = rate.data() + rate.size();
        const auto [ptr, fault] = std::from_chars(rate.data() + second + 1, stop, position);
        if (fault != std::errc() || ptr != stop)
          throw places_.error(attribute.at, fmt::format("\"{}\" is no position in a group",
                                                        rate.substr(second + 1, 40)));
        read.position = position;
        rate = rate.substr(0, second);
      }
      read.bandwidth = graph_bandwidth({"group", rate, attribute.at}, "", places_);
      words.push_back(read);
      if (words.size() > 100'000) throw places_.error(attribute.at, "more than 100,000 groups");
    }
    return words;
  }

  GroupSoFar& group(const GroupWord& word, const GraphAttribute& attribute) {
    const std::string name = with_escapes_read(word.name);
    const auto [found, is_new] = group_numbers_.emplace(name, groups_.size());
    if (is_new) groups_.push_back({name, word.bandwidth, {}, attribute.at});
    GroupSoFar& group = groups_[found->second];
    if (group.bandwidth != word.bandwidth)
      throw places_.error(attribute.at,
                          fmt::format("group \"{}\" has {} here, but {} elsewhere", name,
                                      to_text(word.bandwidth), to_text(group.bandwidth)));
    return group;
  }

  void join_groups(const GraphAttribute& attribute, std::size_t first_link, std::size_t edge_at) {
    constexpr std::size_t most_members = 20'000'000;
    const auto links = static_cast<std::uint32_t>(parts_.links.size());
    for (const GroupWord& word : group_words(attribute)) {
      GroupSoFar& joined = group(word, attribute);
      for (auto l = static_cast<std::uint32_t>(first_link); l < links; ++l) {
        if (!joined.links.empty() && joined.links.back().second == LinkId{l})
          throw places_.error(edge_at, fmt::format("a link is in group \"{}\" twice", joined.name));
        joined.links.emplace_back(word.position, LinkId{l});
        if (++members_ > most_members)
          throw places_.error(edge_at, fmt::format("more than {} members of groups", most_members));
      }
    }
  }

  void add_groups(bool is_listed) {
    for (const GroupSoFar& group : groups_)
      if (group.links.empty())
        throw places_.error(group.at, fmt::format("group \"{}\" has no links", group.name));
    std::vector<LinkId> number;
    for (std::uint32_t l = 0; l < parts_.links.size(); ++l) number.emplace_back(l);
    if (!is_listed) {
      number = number_links(parts_, marks_);
      std::ranges::sort(groups_, naturally_less, &GroupSoFar::name);
    }
    for (GroupSoFar& group : groups_) {
      std::vector<std::pair<std::uint32_t, LinkId>> links;
      for (const auto& [position, link] : group.links)
        links.emplace_back(position.value_or(number[link.value].value), number[link.value]);
      std::ranges::sort(links);
      SharedGroup shared{std::move(group.name), {}, group.bandwidth};
      for (const auto& [position, link] : links) shared.links.push_back(link);
      parts_.groups.push_back(std::move(shared));
    }
  }

  const ForeignGraph& graph_;
  const TextPlaces& places_;
  Assumptions& assumed_;
  TopologyParts parts_;
  std::vector<std::string> names_; ///< by number of the graph's node; so the next
  std::vector<NodeId> ids_;
  std::set<std::string> strange_types_; ///< of nodes, in quotes
  std::vector<std::string_view> marks_; ///< [link]: the groups that it is in, as they are written
  std::vector<GroupSoFar> groups_;      ///< in the order in which they are named
  std::unordered_map<std::string, std::size_t> group_numbers_;
  std::size_t members_ = 0;         ///< of all groups
  std::set<std::string> unread_;    ///< texts of links that may have been meant as bandwidths
  std::set<std::string> misplaced_; ///< attributes of links, where the graph or a node has them
};

} // namespace

bool is_known_attribute(std::string_view key) {
  constexpr std::array known{"label",       "name",           "kind",      "type", "store",
                             "copy",        "reduce",         "dimension", "part", "reduce_rate",
                             "coordinates", "shape",          "groups",    "npu",  "dir",
                             "linkspeed",   "linkspeedunits", "numbering"};
  return link_key(key) || std::ranges::any_of(known, [&](std::string_view name) {
           return same_but_for_case(key, name);
         });
}

TopologyParts graph_parts(const ForeignGraph& graph, const TextPlaces& places,
                          Assumptions& assumed) {
  return GraphMeaning(graph, places, assumed).read();
}

} // namespace tutti::topologies
