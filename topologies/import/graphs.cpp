// Networks as general graphs, in Graphviz's DOT and in GraphML (NetworkX, Gephi, yEd, the Internet
// Topology Zoo):
//
//   graph pod {                                        <edge source="a" target="tor0">
//     edge [bandwidth="400Gbps"]                         <data key="bandwidth">400Gbps</data>
//     a -- tor0; b -- tor0 [latency_us=1.3]            </edge>
//   }
//
// Both give nodes and edges with attributes; what these mean is said once, for both. A bandwidth or
// a latency has to have a unit, in its value or in its name: a bare number is refused, as other
// programs mean Gb/s, GB/s or Mb/s by it.
//
// DOT is parsed by Boost.Graph, which knows no places, copies defaults into every edge, crosses
// groups without a limit, and sorts nodes by name. So it gets the words of the file by their
// numbers, in bounds: what it gives back then has its place and its order. GraphML is read by
// pugixml, as Boost's reader keeps the ids of nodes to itself, makes nodes of misspelt ends, passes
// over nested graphs and has no places, either.
//
// Sources: graphviz.org/doc/info/lang.html; graphml.graphdrawing.org's primer; Boost 1.74;
// topology-zoo.org (LinkSpeedRaw is in bits/s).
#include "sim/error.hpp"
#include "sim/text.hpp"
#include "topologies/import/list.hpp"
#include "topologies/import/node_names.hpp"
#include "topologies/import/text_lines.hpp"
#include "topologies/parts.hpp"

#include <boost/graph/graphviz.hpp>
#include <fmt/format.h>
#include <pugixml.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tutti::topologies {

namespace {

/// What a file gives, before anyone knows what it means. Texts live as long as their reader.
struct GraphAttribute {
  std::string_view key, text;
  std::size_t at = 0; ///< byte of the text in the file
};
using GraphAttributes = std::vector<GraphAttribute>;

struct GraphNode {
  std::string_view id;
  std::size_t at = 0;
  GraphAttributes attributes;
};

struct GraphEdge {
  std::size_t from = 0, to = 0; ///< indices of nodes
  bool is_directed = false;
  std::size_t at = 0;
  GraphAttributes attributes;
};

struct ForeignGraph {
  GraphAttributes attributes;
  std::vector<GraphNode> nodes;
  std::vector<GraphEdge> edges;
};

class GraphPlaces {
public:
  GraphPlaces(std::string_view content, std::string_view source)
      : content_(content), source_(source) {}

  [[nodiscard]] std::string place(std::size_t at) const {
    const std::string_view before = content_.substr(0, std::min(at, content_.size()));
    return fmt::format("{}:{}:{}", source_, std::ranges::count(before, '\n') + 1,
                       before.size() - (before.rfind('\n') + 1) + 1);
  }
  [[nodiscard]] InputError error(std::size_t at, std::string_view message) const {
    return InputError(fmt::format("{}: {}", place(at), message));
  }

private:
  std::string_view content_, source_;
};

bool same_but_for_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// By its name, in whichever case; an empty one counts as none.
const GraphAttribute* find_attribute(const GraphAttributes& attributes, std::string_view key) {
  for (const GraphAttribute& attribute : attributes)
    if (same_but_for_case(attribute.key, key) && !attribute.text.empty()) return &attribute;
  return nullptr;
}

enum class LinkQuantity : std::uint8_t { bandwidth, latency };

struct LinkKey {
  LinkQuantity quantity;
  std::string unit; ///< as it stands in the name; empty: none
};

/// "bandwidth", "LinkSpeedRaw", "latency_us", "Delay (ms)".
std::optional<LinkKey> link_key(std::string_view key) {
  if (same_but_for_case(key, "linkspeedraw")) return LinkKey{LinkQuantity::bandwidth, "b/s"};
  const std::size_t end = std::min(key.find_first_of(" _(["), key.size());
  std::string unit;
  for (const char c : key.substr(end))
    if (std::string_view(" _()[]").find(c) == std::string_view::npos) unit += c;
  for (const std::string_view name : {"bandwidth", "bw", "capacity", "rate", "speed"})
    if (same_but_for_case(key.substr(0, end), name)) return LinkKey{LinkQuantity::bandwidth, unit};
  for (const std::string_view name : {"latency", "delay", "lat"})
    if (same_but_for_case(key.substr(0, end), name)) return LinkKey{LinkQuantity::latency, unit};
  return std::nullopt;
}

/// As sim/units.hpp has it: "Gbps", "gbit/s" and "Gb/s" are bits, "GBps" and "GByte/s" bytes.
std::optional<std::string> rate_unit(std::string_view unit) {
  const bool is_lower = std::ranges::none_of(unit, [](unsigned char c) { return std::isupper(c); });
  const auto take = [&](std::string_view end) {
    if (!unit.ends_with(end)) return false;
    unit.remove_suffix(end.size());
    return true;
  };
  if (!take("ps") && !take("/s")) return std::nullopt;
  const bool is_byte = take("Bytes") || take("bytes") || take("Byte") || take("byte") || take("B");
  if (!is_byte && !take("bits") && !take("bit") && !take("b")) return std::nullopt;
  const bool is_binary = is_byte && take("i");
  if (unit.size() > 1) return std::nullopt;
  std::string prefix(unit);
  if (prefix == "K" || prefix == "k") prefix = is_binary ? "K" : "k";
  if (is_lower && !is_binary)
    for (const auto& [small, large] : {std::pair{"m", "M"}, {"g", "G"}, {"t", "T"}})
      if (prefix == small) prefix = large;
  return prefix + (is_binary ? "i" : "") + (is_byte ? "B/s" : "b/s");
}

std::optional<std::string> time_unit(std::string_view unit) {
  const std::string lower = lower_case(unit);
  for (const std::string_view known : {"ps", "ns", "us", "ms", "s"})
    if (lower == known) return std::string(known);
  // The micro sign and the Greek letter.
  if (lower == "\xC2\xB5s" || lower == "\xCE\xBCs") return "us";
  return std::nullopt;
}

/// How much of the text is a number: digits, a fraction, a power of ten. None: 0.
std::size_t number_length(std::string_view text) {
  std::size_t at = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  const auto digits = [&] {
    while (at < text.size() && (std::isdigit(static_cast<unsigned char>(text[at])) != 0)) ++at;
  };
  digits();
  if (at < text.size() && text[at] == '.') ++at;
  digits();
  if (text.substr(0, at).find_first_of("0123456789") == std::string_view::npos) return 0;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    const std::size_t before = at++;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    const std::size_t first = at;
    digits();
    if (at == first) at = before;
  }
  return at;
}

/// "1.25e-3" as "0.00125", since units are read exactly. Empty: beyond all bounds.
std::string without_power(std::string_view number) {
  const std::size_t e = number.find_first_of("eE");
  if (e == std::string_view::npos) return std::string(number);
  std::string_view power_text = number.substr(e + 1);
  if (power_text.starts_with('+')) power_text.remove_prefix(1);
  int power = 0;
  const auto [end, fault] =
      std::from_chars(power_text.data(), power_text.data() + power_text.size(), power);
  constexpr int largest = 30;
  if (fault != std::errc() || end != power_text.data() + power_text.size() || power < -largest ||
      power > largest)
    return "";
  std::string digits(number.substr(0, e)), sign;
  if (digits.starts_with('-')) sign = "-", digits.erase(0, 1);
  auto point = static_cast<int>(std::min(digits.find('.'), digits.size()));
  std::erase(digits, '.');
  point += power;
  if (point < 0) digits.insert(0, static_cast<std::size_t>(-point), '0'), point = 0;
  if (static_cast<std::size_t>(point) > digits.size())
    digits.append(static_cast<std::size_t>(point) - digits.size(), '0');
  digits.insert(static_cast<std::size_t>(point), ".");
  while (digits.ends_with('0')) digits.pop_back();
  return sign + (digits.starts_with('.') ? "0" : "") + digits;
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
  GraphMeaning(const ForeignGraph& graph, const GraphPlaces& places, Assumptions& assumed)
      : graph_(graph), places_(places), assumed_(assumed) {}

  TopologyParts read() {
    if (graph_.nodes.empty()) throw places_.error(0, "a graph without nodes");
    read_shape();
    if (const GraphAttribute* npu = find_attribute(graph_.attributes, "npu"))
      parts_.npu_model = with_escapes_read(npu->text);
    if (const GraphAttribute* groups = find_attribute(graph_.attributes, "groups"))
      for (const GroupWord& word : group_words(*groups)) (void)group(word, *groups);
    name_nodes();
    add_nodes();
    for (const GraphEdge& edge : graph_.edges) add_edge(edge);
    add_groups();
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

  static bool is_name_letter(unsigned char c) {
    return c < 0x80 && (std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.' || c == ':');
  }
  static std::string legal(std::string_view name) {
    std::string text(name.substr(0, 200));
    std::ranges::replace_if(
        text, [](unsigned char c) { return !is_name_letter(c); }, '_');
    return text.empty() ? "_" : text;
  }

  /// Labels where each node has one of its own that is made of letters for names; else ids.
  void name_nodes() {
    for (const std::string_view key : {"label", "name"}) {
      std::unordered_set<std::string> seen;
      names_.clear();
      for (const GraphNode& node : graph_.nodes) {
        const GraphAttribute* label = find_attribute(node.attributes, key);
        if (label == nullptr || label->text.size() > 200 ||
            !std::ranges::all_of(label->text,
                                 [](unsigned char c) { return c == ' ' || is_name_letter(c); }) ||
            !seen.insert(legal(label->text)).second)
          break;
        names_.push_back(legal(label->text));
      }
      if (names_.size() == graph_.nodes.size()) return;
    }
    names_.clear();
    std::unordered_set<std::string> seen;
    std::unordered_map<std::string, std::size_t> next;
    for (const GraphNode& node : graph_.nodes) // those that stay as they are come first
      if (legal(node.id) == node.id) seen.emplace(node.id);
    for (const GraphNode& node : graph_.nodes) {
      const std::string base = legal(node.id);
      std::string name = base;
      if (base != node.id)
        while (!seen.insert(name).second) name = fmt::format("{}_{}", base, ++next[base] + 1);
      names_.push_back(std::move(name));
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
      assumed_.add("types of nodes",
                   fmt::format("\"{}\" says nothing of what they do", type->text.substr(0, 40)));
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
      read.reduce_rate = bandwidth_of(*rate, "");
    return read;
  }

  /// NPUs first, in the order of the file.
  void add_nodes() {
    std::vector<NodeKind> kinds;
    bool any_said = false, any_guessed = false;
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      const auto said = kind_said(graph_.nodes[n]);
      any_said = any_said || said;
      any_guessed = any_guessed || !said;
      kinds.push_back(said                        ? *said
                      : is_switch_name(names_[n]) ? NodeKind::switching
                                                  : NodeKind::npu);
    }
    ids_.resize(graph_.nodes.size());
    for (const bool npus : {true, false})
      for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
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

  // Links

  struct GraphQuantity {
    std::string number, unit; ///< the number without a power of ten
  };
  /// The number, and the unit of the value or else of the name.
  [[nodiscard]] GraphQuantity quantity_of(const GraphAttribute& attribute,
                                          std::string_view unit_of_name,
                                          std::string_view ways) const {
    const std::string_view text = trimmed(attribute.text);
    const auto refuse = [&](const std::string& why) {
      return places_.error(attribute.at,
                           fmt::format("{} \"{}\" {}", attribute.key, text.substr(0, 40), why));
    };
    constexpr std::size_t longest = 100;
    const std::size_t length = number_length(text.substr(0, longest));
    const std::string_view own_unit = trimmed(text.substr(length));
    if (text.size() > longest || length == 0)
      throw refuse(fmt::format("is not a number with a unit ({})", ways));
    if (own_unit.empty() && unit_of_name.empty())
      throw refuse(fmt::format("has no unit ({})", ways));
    if (!own_unit.empty() && !unit_of_name.empty() && own_unit != unit_of_name)
      throw refuse("has a unit, and its name has another one");
    const std::string number = without_power(text.substr(0, length));
    if (number.empty()) throw refuse("is out of range");
    return {number, std::string(own_unit.empty() ? unit_of_name : own_unit)};
  }

  [[nodiscard]] Bandwidth bandwidth_of(const GraphAttribute& attribute,
                                       std::string_view unit_of_name) const {
    constexpr std::string_view ways = "say 400Gbps or 50GB/s, or name it bandwidth_Gbps (bits) or "
                                      "bandwidth_GBps (bytes)";
    const GraphQuantity quantity = quantity_of(attribute, unit_of_name, ways);
    const auto unit = rate_unit(quantity.unit);
    if (!unit)
      throw places_.error(attribute.at, fmt::format("{} has the unknown unit \"{}\" ({})",
                                                    attribute.key, quantity.unit, ways));
    try {
      return parse_bandwidth(quantity.number + *unit);
    } catch (const InputError& e) {
      throw places_.error(attribute.at, e.what());
    }
  }
  [[nodiscard]] Time time_of(const GraphAttribute& attribute, std::string_view unit_of_name) const {
    constexpr std::string_view ways = "say 1.3us, or name it latency_us or latency_ns";
    const GraphQuantity quantity = quantity_of(attribute, unit_of_name, ways);
    const auto unit = time_unit(quantity.unit);
    if (!unit)
      throw places_.error(attribute.at, fmt::format("{} has the unknown unit \"{}\" ({})",
                                                    attribute.key, quantity.unit, ways));
    try {
      return parse_time(quantity.number + *unit);
    } catch (const InputError& e) {
      throw places_.error(attribute.at, e.what());
    }
  }

  /// "400G", "100 Gbps": what people write beside the lines they draw.
  std::optional<Bandwidth> labelled_bandwidth(const GraphEdge& edge) {
    const GraphAttribute* label = find_attribute(edge.attributes, "label");
    if (label == nullptr) return std::nullopt;
    const std::string_view text = trimmed(label->text);
    const std::size_t length = number_length(text);
    if (length == 0 || length > 20) return std::nullopt;
    const std::string_view unit = trimmed(text.substr(length));
    const bool is_letter = unit == "G" || unit == "M" || unit == "T";
    if (!is_letter && !rate_unit(unit)) return std::nullopt;
    assumed_.add("labels of links", "their bandwidths, 400G being 400Gb/s");
    GraphAttribute as_rate = *label;
    const std::string number(text.substr(0, length));
    const std::string whole = number + (is_letter ? std::string(unit) + "b/s" : std::string(unit));
    as_rate.text = whole;
    return bandwidth_of(as_rate, "");
  }

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
        agree(bandwidth, bandwidth_of(attribute, key->unit), attribute);
      else
        agree(latency, time_of(attribute, key->unit), attribute);
    }
    if (!bandwidth) bandwidth = labelled_bandwidth(edge);
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
    if (const GraphAttribute* groups = find_attribute(edge.attributes, "groups"))
      join_groups(*groups, first, edge.at);
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
    std::vector<std::pair<std::uint32_t, LinkId>> links; ///< with their positions
    std::size_t at = 0;                                  ///< where it is first named
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
        throw places_.error(attribute.at,
                            fmt::format("group \"{}\" has no bandwidth (bus:100GB/s;nic0:25GB/s)",
                                        word.substr(0, 40)));
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
      read.bandwidth = bandwidth_of({"group", rate, attribute.at}, "");
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
        joined.links.emplace_back(word.position.value_or(l), LinkId{l});
        if (++members_ > most_members)
          throw places_.error(edge_at, fmt::format("more than {} members of groups", most_members));
      }
    }
  }

  void add_groups() {
    for (GroupSoFar& group : groups_) {
      if (group.links.empty())
        throw places_.error(group.at, fmt::format("group \"{}\" has no links", group.name));
      std::ranges::stable_sort(group.links, {}, &std::pair<std::uint32_t, LinkId>::first);
      SharedGroup shared{std::move(group.name), {}, group.bandwidth};
      for (const auto& [position, link] : group.links) shared.links.push_back(link);
      parts_.groups.push_back(std::move(shared));
    }
  }

  const ForeignGraph& graph_;
  const GraphPlaces& places_;
  Assumptions& assumed_;
  TopologyParts parts_;
  std::vector<std::string> names_; ///< by number of the graph's node; so the next
  std::vector<NodeId> ids_;
  std::vector<GroupSoFar> groups_; ///< in the order in which they are named
  std::unordered_map<std::string, std::size_t> group_numbers_;
  std::size_t members_ = 0; ///< of all groups
};

/// Whether an attribute of a node, an edge or a graph matters here.
bool is_known_attribute(std::string_view key) {
  constexpr std::array known{"label",       "name",   "kind",      "type", "store",
                             "copy",        "reduce", "dimension", "part", "reduce_rate",
                             "coordinates", "shape",  "groups",    "npu"};
  return link_key(key) || std::ranges::any_of(known, [&](std::string_view name) {
           return same_but_for_case(key, name);
         });
}

// DOT

enum class DotKind : std::uint8_t {
  strict,
  graph,
  digraph,
  node,
  edge,
  subgraph,
  id,
  mark, ///< one of {}[];,=:
  link, ///< -- or ->
  end,
};

struct DotToken {
  DotKind kind = DotKind::end;
  std::string text;
  std::size_t at = 0;

  [[nodiscard]] bool is(char mark) const { return kind == DotKind::mark && text[0] == mark; }
};

class DotLexer {
public:
  DotLexer(std::string_view content, const GraphPlaces& places)
      : content_(content), places_(places) {
    if (content_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  }

  DotToken next() {
    skip();
    const std::size_t from = at_;
    if (at_ == content_.size()) return {DotKind::end, "", from};
    const char c = content_[at_];
    if (std::string_view("{}[];,=:").find(c) != std::string_view::npos) {
      ++at_;
      return {DotKind::mark, std::string(1, c), from};
    }
    const std::string_view two = content_.substr(at_, 2);
    if (two == "--" || two == "->") {
      at_ += 2;
      return {DotKind::link, std::string(two), from};
    }
    if (is_letter(c)) {
      while (at_ < content_.size() && (is_letter(content_[at_]) || is_digit(content_[at_]))) ++at_;
      std::string word(content_.substr(from, at_ - from));
      constexpr std::array keywords{
          std::pair{"strict", DotKind::strict},   std::pair{"graph", DotKind::graph},
          std::pair{"digraph", DotKind::digraph}, std::pair{"node", DotKind::node},
          std::pair{"edge", DotKind::edge},       std::pair{"subgraph", DotKind::subgraph}};
      for (const auto& [name, kind] : keywords)
        if (same_but_for_case(word, name)) return {kind, name, from};
      return {DotKind::id, std::move(word), from};
    }
    if (is_digit(c) || c == '.' || c == '-') return number();
    if (c == '"') return {DotKind::id, strings(), from};
    if (c == '<') return {DotKind::id, html(), from};
    throw places_.error(from, fmt::format("\"{}\" begins no word of a graph", c));
  }

private:
  static bool is_letter(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x80 || std::isalpha(byte) != 0 || c == '_';
  }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  void skip() {
    while (at_ < content_.size()) {
      const std::string_view two = content_.substr(at_, 2);
      if (std::isspace(static_cast<unsigned char>(content_[at_])) != 0) {
        ++at_;
      } else if (two == "//" || (two[0] == '#' && (at_ == 0 || content_[at_ - 1] == '\n'))) {
        at_ = std::min(content_.find('\n', at_), content_.size());
      } else if (two == "/*") {
        const std::size_t close = content_.find("*/", at_ + 2);
        if (close == std::string_view::npos) throw places_.error(at_, "a comment without an end");
        at_ = close + 2;
      } else {
        return;
      }
    }
  }

  DotToken number() {
    const std::size_t from = at_;
    if (content_[at_] == '-') ++at_;
    std::size_t digits = 0;
    for (bool point = false; at_ < content_.size(); ++at_) {
      if (is_digit(content_[at_]))
        ++digits;
      else if (content_[at_] == '.' && !point)
        point = true;
      else
        break;
    }
    if (digits == 0)
      throw places_.error(from, fmt::format("\"{}\" begins no word of a graph", content_[from]));
    if (at_ < content_.size() && is_letter(content_[at_]))
      throw places_.error(from, "a number with letters after it has to stand in quotes");
    return {DotKind::id, std::string(content_.substr(from, at_ - from)), from};
  }

  /// "a" + "b" is one.
  std::string strings() {
    std::string text = quoted();
    while (true) {
      const std::size_t before = at_;
      skip();
      if (at_ == content_.size() || content_[at_] != '+') {
        at_ = before;
        return text;
      }
      ++at_;
      skip();
      if (at_ == content_.size() || content_[at_] != '"')
        throw places_.error(std::min(at_, content_.size()), "a string has to follow +");
      text += quoted();
    }
  }

  std::string quoted() {
    const std::size_t from = at_++;
    std::string text;
    while (at_ < content_.size() && content_[at_] != '"') {
      const std::string_view two = content_.substr(at_, 2);
      if (two == "\\\"" || two == "\\\\") { // Graphviz keeps \\ as it is
        text += two == "\\\"" ? "\"" : "\\\\";
        at_ += 2;
      } else if (two == "\\\n") {
        at_ += 2;
      } else {
        text += content_[at_++];
      }
    }
    if (at_ == content_.size()) throw places_.error(from, "a string without an end");
    ++at_;
    return text;
  }

  /// Between < and >, which may nest.
  std::string html() {
    const std::size_t from = at_;
    std::size_t depth = 0;
    do {
      depth += content_[at_] == '<' ? 1U : 0U;
      depth -= content_[at_] == '>' ? 1U : 0U;
      ++at_;
    } while (at_ < content_.size() && depth > 0);
    if (depth > 0) throw places_.error(from, "a string in <> without an end");
    return std::string(content_.substr(from, at_ - from));
  }

  std::string_view content_;
  const GraphPlaces& places_;
  std::size_t at_ = 0;
};

/// Boost's callbacks, which speak in numbers of tokens.
class DotGraph : public boost::detail::graph::mutate_graph {
public:
  using Number = std::size_t;
  struct Properties : std::vector<std::pair<Number, Number>> {};
  struct Edge {
    Number from, to;
    Properties properties;
  };
  std::map<Number, Properties> nodes; ///< in the order of the file
  std::vector<Edge> edges;
  Properties properties;

  explicit DotGraph(bool is_digraph) : is_digraph_(is_digraph) {}
  [[nodiscard]] bool is_directed() const override { return is_digraph_; }
  void do_add_vertex(const std::string& node) override { nodes[number(node)]; }
  void do_add_edge(const boost::detail::graph::edge_t& /*edge*/, const std::string& source,
                   const std::string& target) override {
    edges.push_back({number(source), number(target), {}});
  }
  void set_node_property(const std::string& key, const std::string& node,
                         const std::string& value) override {
    nodes[number(node)].emplace_back(number(key), number(value));
  }
  void set_edge_property(const std::string& key, const boost::detail::graph::edge_t& /*edge*/,
                         const std::string& value) override {
    edges.back().properties.emplace_back(number(key), number(value)); // that which came last
  }
  void set_graph_property(const std::string& key, const std::string& value) override {
    properties.emplace_back(number(key), number(value));
  }
  void finish_building_graph() override {}

  /// "true" is Boost's value of an attribute without one.
  static constexpr Number no_value = static_cast<Number>(-1);

private:
  static Number number(const std::string& text) {
    Number value = no_value;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }
  bool is_digraph_;
};

class DotReader {
public:
  explicit DotReader(const ForeignFile& file)
      : content_(file.content), places_(file.content, file.source) {}

  TopologyParts read(Assumptions& assumed) {
    read_tokens();
    number_tokens();
    DotGraph parsed(is_digraph_);
    if (const auto fault = parse(0, words_.size(), parsed)) throw syntax_error(*fault);
    return GraphMeaning(graph_of(parsed), places_, assumed).read();
  }

private:
  void read_tokens() {
    constexpr std::size_t most_tokens = 4'000'000;
    DotLexer lexer(content_, places_);
    do {
      tokens_.push_back(lexer.next());
      if (tokens_.size() > most_tokens)
        throw places_.error(tokens_.back().at, fmt::format("more than {} words", most_tokens));
    } while (tokens_.back().kind != DotKind::end);
  }

  // What Boost would make of it, without making it

  /// One end of a link: a node, or a group in braces.
  struct DotEnd {
    std::size_t nodes = 0;          ///< at most
    bool is_open = false;           ///< it has a named group, which may have grown elsewhere
    bool has_links = false;         ///< its links have ends that Boost takes for no members of it
    const DotToken* node = nullptr; ///< null for groups
  };
  struct DotGroup {
    DotEnd inside, left;
    bool is_named = false, is_linking = false; ///< after a "--"
    std::size_t statement_links = 0;
  };

  [[nodiscard]] InputError error(const DotToken& token, std::string_view message) const {
    return places_.error(token.at, message);
  }

  void spend(std::size_t units, const DotToken& token) {
    constexpr std::size_t most = 8'000'000; // some 100 bytes each
    spent_ += std::min(units, most + 1);
    if (spent_ > most)
      throw error(token, "groups and defaults make more links and attributes of this than fit");
  }

  void end_found(DotEnd end, const DotToken& token) {
    DotGroup& group = groups_.back();
    if (group.is_linking) {
      for (const DotEnd& side : {group.left, end})
        if (side.has_links)
          throw error(token, "a link to or from braces with links in them: write these apart");
      if (group.left.node != nullptr && end.node != nullptr &&
          group.left.node->text == end.node->text)
        throw error(*group.left.node,
                    fmt::format("a link from \"{}\" to itself", end.node->text.substr(0, 100)));
      const auto size = [&](const DotEnd& side) {
        return std::max<std::size_t>(side.is_open ? std::max(side.nodes, mentions_) : side.nodes,
                                     1);
      };
      const std::size_t links = size(group.left) * size(end);
      spend(links * (4 + edge_defaults_), token);
      group.statement_links += links;
      group.inside.has_links = true;
    } else {
      group.statement_links = 0;
    }
    group.is_linking = false;
    group.inside.nodes += end.nodes;
    group.inside.is_open |= end.is_open;
    group.inside.has_links |= end.has_links;
    group.left = end;
  }

  /// Of a name, the number of where it first stands, so that the same names stay the same.
  std::size_t number_of(char realm, std::size_t token) {
    return first_.emplace(realm + tokens_[token].text, token).first->second;
  }
  void pass(std::size_t token, std::string text) { words_.emplace_back(std::move(text), token); }
  void pass_number(std::size_t token, std::size_t number) {
    pass(token, fmt::format("{}", number));
  }

  /// The words for Boost: marks and keywords as they are, others as numbers. Attributes that
  /// nobody asks for are left out.
  void number_tokens() {
    bool has_graph = false;
    for (std::size_t t = 0; t < tokens_.size(); ++t) {
      const DotToken& token = tokens_[t];
      switch (token.kind) {
      case DotKind::end: return;
      case DotKind::strict:
        // Boost would drop a second link between two nodes; here it is refused.
        if (t == 0)
          is_strict_ = true;
        else
          pass(t, token.text);
        break;
      case DotKind::graph:
      case DotKind::digraph:
        if (!has_graph) {
          has_graph = true;
          is_digraph_ = token.kind == DotKind::digraph;
          pass(t, token.text);
          if (tokens_[t + 1].kind == DotKind::id) pass_number(t + 1, t + 1), ++t;
          break;
        }
        [[fallthrough]];
      case DotKind::node:
      case DotKind::edge:
        pass(t, token.text);
        if (!groups_.empty()) groups_.back().is_linking = false, groups_.back().left = {};
        if (tokens_[t + 1].is('[')) t = attributes(t + 1, &token);
        break;
      case DotKind::subgraph: t = subgraph(t); break;
      case DotKind::id: t = name(t); break;
      case DotKind::link:
        pass(t, token.text);
        if (!groups_.empty()) groups_.back().is_linking = true;
        break;
      case DotKind::mark: t = mark(t); break;
      }
    }
  }

  std::size_t subgraph(std::size_t t) {
    pass(t, "subgraph");
    if (tokens_[t + 1].kind != DotKind::id) return t;
    ++t;
    pass_number(t, number_of('s', t));
    if (groups_.empty()) return t;
    if (!tokens_[t + 1].is('{'))
      end_found({0, true, linked_groups_.contains(tokens_[t].text), nullptr}, tokens_[t]);
    return t;
  }

  std::size_t name(std::size_t t) {
    if (groups_.empty()) { // out of place; Boost will say so
      pass_number(t, t);
      return t;
    }
    if (tokens_[t + 1].is('=')) { // an attribute of the graph
      pass_number(t, number_of('k', t));
      pass(t + 1, "=");
      if (tokens_[t + 2].kind != DotKind::id) return t + 1;
      pass_number(t + 2, t + 2);
      return t + 2;
    }
    pass_number(t, number_of('n', t));
    ++mentions_;
    spend(1 + node_defaults_, tokens_[t]);
    const std::size_t node = t;
    while (tokens_[t + 1].is(':') && tokens_[t + 2].kind == DotKind::id) t += 2; // ports
    end_found({1, false, false, &tokens_[node]}, tokens_[node]);
    return t;
  }

  std::size_t mark(std::size_t t) {
    const DotToken& token = tokens_[t];
    constexpr std::size_t deepest = 100;
    if (token.is('[')) return attributes(t, t > 0 && tokens_[t - 1].is(']') ? list_of_ : nullptr);
    const auto was = [&](std::size_t back, DotKind kind) {
      return t >= back && tokens_[t - back].kind == kind;
    };
    const bool is_named = was(1, DotKind::id) && was(2, DotKind::subgraph);
    if (token.is('{') && !groups_.empty() && !is_named && !was(1, DotKind::subgraph))
      pass(t, "subgraph"); // Boost 1.74 takes no brace alone, though it means to
    pass(t, token.text);
    if (token.is('{')) {
      if (groups_.size() == deepest)
        throw error(token, fmt::format("more than {} braces within each other", deepest));
      if (!groups_.empty())
        spend(groups_.back().inside.nodes / 16 + edge_defaults_ + node_defaults_ + 1,
              token); // copied by Boost
      groups_.emplace_back();
      groups_.back().is_named = is_named;
      if (is_named) names_.push_back(&tokens_[t - 1].text);
    } else if (token.is('}') && !groups_.empty()) {
      DotEnd group = groups_.back().inside;
      group.node = nullptr;
      if (groups_.back().is_named) {
        group.is_open = true;
        if (group.has_links) linked_groups_.insert(*names_.back());
        group.has_links = linked_groups_.contains(*names_.back());
        names_.pop_back();
      }
      groups_.pop_back();
      if (!groups_.empty()) end_found(group, token);
    } else if (token.is(';') && !groups_.empty()) {
      groups_.back().is_linking = false;
    }
    return t;
  }

  /// `[a=b, c=d]` from its bracket on; the last token of it. `of`: whose defaults; null: those of
  /// the node or link before. What is no such list is left to Boost.
  std::size_t attributes(std::size_t t, const DotToken* of) {
    pass(t, "[");
    list_of_ = of; // several lists may follow each other
    std::size_t count = 0;
    for (++t; tokens_[t].kind == DotKind::id; ++t) {
      const bool has_value = tokens_[t + 1].is('=') && tokens_[t + 2].kind == DotKind::id;
      if (tokens_[t + 1].is('=') && !has_value) break;
      if (is_known_attribute(tokens_[t].text)) {
        ++count;
        pass_number(t, number_of('k', t));
        if (has_value) {
          pass(t + 1, "=");
          pass_number(t + 2, t + 2);
        }
      }
      if (has_value) t += 2;
      if (tokens_[t + 1].is(',') || tokens_[t + 1].is(';')) ++t;
    }
    if (of != nullptr && of->kind == DotKind::edge) edge_defaults_ += count;
    if (of != nullptr && of->kind == DotKind::node) node_defaults_ += count;
    if (of == nullptr && !groups_.empty())
      spend(count * std::max<std::size_t>(groups_.back().statement_links, 1), tokens_[t]);
    return t - 1;
  }

  // Boost

  /// Its complaint about some words; where they begin within the graph, a graph is opened first.
  std::optional<std::string> parse(std::size_t begin, std::size_t end, DotGraph& parsed) const {
    std::string text;
    if (begin > 0) text = is_digraph_ ? "digraph {" : "graph {";
    for (std::size_t i = begin; i < end; ++i) text += words_[i].first + "\n";
    try {
      boost::detail::graph::read_graphviz_new(text, &parsed);
    } catch (const std::exception& e) {
      return e.what();
    }
    return std::nullopt;
  }

  /// The word that it trips over is the last of the shortest beginning that it refuses for
  /// something else than its end.
  InputError syntax_error(const std::string& fault) const {
    const auto ends_early = [](const std::string& text) {
      return text.find("<eof>") != std::string::npos;
    };
    const std::string message = lower_first(fault.substr(0, fault.find(" (token is")));
    if (ends_early(fault))
      return places_.error(content_.size(), fmt::format("the graph ends early: {}", message));
    // `low` words are fine, `high` are not; what is fine needn't be parsed again.
    const std::vector<std::size_t> starts = statement_starts();
    std::size_t low = 0, high = words_.size(), begin = 0;
    while (high - low > 1) {
      const std::size_t middle = low + (high - low) / 2;
      DotGraph ignored(is_digraph_);
      const auto found = parse(begin, middle, ignored);
      (found && !ends_early(*found) ? high : low) = middle;
      const auto after = std::ranges::upper_bound(starts, low);
      if (after != starts.begin()) begin = *std::prev(after);
    }
    const DotToken& token = tokens_[words_[high - 1].second];
    return error(token, fmt::format("\"{}\" isn't what a graph has here: {}",
                                    token.text.substr(0, 40), message));
  }
  /// Where one begins that is in no braces but the graph's, as far as words beside each other tell.
  [[nodiscard]] std::vector<std::size_t> statement_starts() const {
    std::vector<std::size_t> starts;
    std::size_t braces = 0, brackets = 0;
    const auto is_number = [&](std::size_t word) {
      return std::isdigit(static_cast<unsigned char>(words_[word].first[0])) != 0;
    };
    for (std::size_t w = 1; w < words_.size(); ++w) {
      const std::string& before = words_[w - 1].first;
      braces += before == "{" ? 1U : 0U;
      braces -= before == "}" && braces > 0 ? 1U : 0U;
      brackets += before == "[" ? 1U : 0U;
      brackets -= before == "]" && brackets > 0 ? 1U : 0U;
      if (braces == 1 && brackets == 0 && is_number(w) &&
          (is_number(w - 1) || before == "]" || before == "}" || before == ";"))
        starts.push_back(w);
    }
    return starts;
  }

  static std::string lower_first(std::string text) {
    if (!text.empty())
      text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
    return text;
  }

  [[nodiscard]] GraphAttributes attributes_of(const DotGraph::Properties& properties) const {
    GraphAttributes attributes;
    for (const auto& [key, value] : properties)
      if (value != DotGraph::no_value)
        attributes.push_back({tokens_[key].text, tokens_[value].text, tokens_[value].at});
      else
        attributes.push_back({tokens_[key].text, "true", tokens_[key].at});
    return attributes;
  }

  [[nodiscard]] ForeignGraph graph_of(const DotGraph& parsed) const {
    ForeignGraph graph;
    graph.attributes = attributes_of(parsed.properties);
    std::unordered_map<DotGraph::Number, std::size_t> index;
    for (const auto& [number, properties] : parsed.nodes) {
      index.emplace(number, graph.nodes.size());
      graph.nodes.push_back({tokens_[number].text, tokens_[number].at, attributes_of(properties)});
    }
    if (graph.nodes.size() > most_npus)
      throw places_.error(0, fmt::format("more than {} nodes", most_npus));
    std::set<std::pair<std::size_t, std::size_t>> pairs;
    for (const DotGraph::Edge& edge : parsed.edges) {
      const std::size_t from = index.at(edge.from), to = index.at(edge.to);
      graph.edges.push_back(
          {from, to, is_digraph_, tokens_[edge.from].at, attributes_of(edge.properties)});
      if (!is_strict_) continue;
      const bool swapped = !is_digraph_ && from > to;
      if (!pairs.emplace(swapped ? to : from, swapped ? from : to).second)
        throw places_.error(tokens_[edge.from].at,
                            fmt::format("a second link from \"{}\" to \"{}\" in a strict graph",
                                        tokens_[edge.from].text, tokens_[edge.to].text));
    }
    return graph;
  }

  std::string_view content_;
  GraphPlaces places_;
  std::vector<DotToken> tokens_;                           ///< an end at the end
  std::vector<std::pair<std::string, std::size_t>> words_; ///< for Boost, with their tokens
  std::unordered_map<std::string, std::size_t> first_;     ///< by realm and text
  std::vector<DotGroup> groups_;                           ///< braces that are open
  const DotToken* list_of_ = nullptr;
  std::vector<const std::string*> names_;         ///< of those that have one
  std::unordered_set<std::string> linked_groups_; ///< named ones with links in them
  std::size_t mentions_ = 0, edge_defaults_ = 0, node_defaults_ = 0, spent_ = 0;
  bool is_digraph_ = false, is_strict_ = false;
};

// GraphML

class GraphmlReader {
public:
  explicit GraphmlReader(const ForeignFile& file)
      : content_(file.content), places_(file.content, file.source) {}

  TopologyParts read(Assumptions& assumed) {
    constexpr std::int64_t most_elements = 12'000'000;
    if (std::ranges::count(content_, '<') > most_elements)
      throw places_.error(0, fmt::format("more than {} elements", most_elements));
    constexpr unsigned options = pugi::parse_default | pugi::parse_doctype;
    const pugi::xml_parse_result parsed =
        document_.load_buffer(content_.data(), content_.size(), options, pugi::encoding_utf8);
    if (!parsed) throw places_.error(static_cast<std::size_t>(parsed.offset), parsed.description());
    for (const pugi::xml_node node : document_.children())
      if (node.type() == pugi::node_doctype)
        throw error(node, "a document type, which may define entities, isn't read");
    const pugi::xml_node root = document_.document_element();
    if (local(root) != "graphml") throw error(root, "the outermost element isn't <graphml>");
    pugi::xml_node graph;
    for (const pugi::xml_node child : root.children()) {
      if (local(child) == "key") read_key(child);
      if (local(child) != "graph") continue;
      if (graph) throw error(child, "a second graph");
      graph = child;
    }
    if (!graph) throw error(root, "no <graph>");
    read_graph(graph);
    return GraphMeaning(graph_, places_, assumed).read();
  }

private:
  struct GraphmlKey {
    std::string_view name, of; ///< of: "node", "edge", "graph", "all"
    std::optional<GraphAttribute> preset;
  };

  [[nodiscard]] static std::size_t at(pugi::xml_node node) {
    // pugixml says where its name begins.
    const std::ptrdiff_t offset = node.offset_debug() - (node.type() == pugi::node_element ? 1 : 0);
    return offset < 0 ? 0 : static_cast<std::size_t>(offset);
  }
  [[nodiscard]] InputError error(pugi::xml_node node, std::string_view message) const {
    return places_.error(at(node), message);
  }
  /// Without the prefix of a namespace.
  static std::string_view local(pugi::xml_node node) {
    const std::string_view name = node.name();
    const std::size_t colon = name.find(':');
    return colon == std::string_view::npos ? name : name.substr(colon + 1);
  }
  [[nodiscard]] std::string_view needed(pugi::xml_node node, const char* attribute) const {
    const pugi::xml_attribute found = node.attribute(attribute);
    if (!found) throw error(node, fmt::format("<{}> without {}", node.name(), attribute));
    return found.value();
  }

  /// The text in it; with elements or in pieces it means something else.
  [[nodiscard]] GraphAttribute text_of(pugi::xml_node node, std::string_view key) const {
    GraphAttribute attribute{key, "", at(node)};
    for (const pugi::xml_node child : node.children()) {
      if (child.type() != pugi::node_pcdata && child.type() != pugi::node_cdata)
        throw error(child, fmt::format("\"{}\" has an element in it, not a value", key));
      if (!attribute.text.empty())
        throw error(child, fmt::format("the value of \"{}\" stands in two pieces", key));
      attribute.text = trimmed(child.value());
      attribute.at = at(child);
    }
    return attribute;
  }

  void read_key(pugi::xml_node node) {
    GraphmlKey key{node.attribute("attr.name").value(), "all", std::nullopt};
    if (const pugi::xml_attribute of = node.attribute("for")) key.of = of.value();
    if (is_known_attribute(key.name))
      for (const pugi::xml_node child : node.children())
        if (local(child) == "default") key.preset = text_of(child, key.name);
    const std::string_view id = needed(node, "id");
    if (!keys_.emplace(id, key).second)
      throw error(node, fmt::format("key \"{}\" stands twice", id));
  }

  /// <data> of an element, then defaults.
  GraphAttributes attributes_of(pugi::xml_node node, std::string_view kind) const {
    GraphAttributes attributes;
    std::vector<const GraphmlKey*> said;
    for (const pugi::xml_node child : node.children()) {
      if (local(child) != "data") continue;
      const std::string_view id = needed(child, "key");
      const auto key = keys_.find(id);
      if (key == keys_.end()) throw error(child, fmt::format("no <key> has the id \"{}\"", id));
      if (!is_known_attribute(key->second.name)) continue;
      if (std::ranges::find(said, &key->second) != said.end())
        throw error(child, fmt::format("\"{}\" stands twice", key->second.name));
      said.push_back(&key->second);
      attributes.push_back(text_of(child, key->second.name));
      constexpr std::size_t most = 100;
      if (said.size() > most) throw error(child, fmt::format("more than {} attributes", most));
    }
    for (const GraphmlKey* key : presets_)
      if ((key->of == kind || key->of == "all") && std::ranges::find(said, key) == said.end())
        attributes.push_back(*key->preset);
    return attributes;
  }

  void read_graph(pugi::xml_node graph) {
    for (const auto& [id, key] : keys_)
      if (key.preset) presets_.push_back(&key);
    constexpr std::size_t most_presets = 20;
    if (presets_.size() > most_presets)
      throw error(graph, fmt::format("more than {} attributes with defaults", most_presets));
    const std::string_view edges = needed(graph, "edgedefault");
    if (edges != "directed" && edges != "undirected")
      throw error(graph,
                  fmt::format("edgedefault is \"{}\", neither directed nor undirected", edges));
    graph_.attributes = attributes_of(graph, "graph");
    for (const pugi::xml_node child : graph.children()) {
      if (local(child) == "node") read_node(child);
      if (local(child) == "hyperedge") throw error(child, "hyperedges aren't read");
    }
    for (const pugi::xml_node child : graph.children())
      if (local(child) == "edge") read_edge(child, edges == "directed");
  }

  void refuse_nested(pugi::xml_node node) const {
    for (const pugi::xml_node child : node.children())
      if (local(child) == "graph") throw error(child, "graphs within nodes or edges aren't read");
  }

  void read_node(pugi::xml_node node) {
    refuse_nested(node);
    const std::string_view id = needed(node, "id");
    if (!ids_.emplace(id, graph_.nodes.size()).second)
      throw error(node, fmt::format("node \"{}\" stands twice", id));
    graph_.nodes.push_back({id, at(node), attributes_of(node, "node")});
    if (graph_.nodes.size() > most_npus)
      throw error(node, fmt::format("more than {} nodes", most_npus));
  }

  void read_edge(pugi::xml_node node, bool is_directed) {
    refuse_nested(node);
    GraphEdge edge;
    edge.at = at(node);
    edge.is_directed = is_directed;
    for (const auto& [key, end] :
         {std::pair{"source", &GraphEdge::from}, {"target", &GraphEdge::to}}) {
      const std::string_view id = needed(node, key);
      const auto found = ids_.find(id);
      if (found == ids_.end()) throw error(node, fmt::format("there is no node \"{}\"", id));
      edge.*end = found->second;
    }
    if (const pugi::xml_attribute directed = node.attribute("directed")) {
      const std::string_view word = directed.value();
      edge.is_directed = word == "true" || word == "1";
      if (!edge.is_directed && word != "false" && word != "0")
        throw error(node, fmt::format("directed is \"{}\", neither true nor false", word));
    }
    edge.attributes = attributes_of(node, "edge");
    graph_.edges.push_back(std::move(edge));
  }

  std::string_view content_;
  GraphPlaces places_;
  pugi::xml_document document_;
  ForeignGraph graph_;
  std::map<std::string_view, GraphmlKey> keys_;
  std::vector<const GraphmlKey*> presets_; ///< with defaults
  std::unordered_map<std::string_view, std::size_t> ids_;
};

} // namespace

bool is_dot(std::string_view content) {
  // [strict] (graph | digraph) [name] {
  try {
    const GraphPlaces nowhere(content, "");
    DotLexer lexer(content, nowhere);
    DotToken token = lexer.next();
    if (token.kind == DotKind::strict) token = lexer.next();
    if (token.kind != DotKind::graph && token.kind != DotKind::digraph) return false;
    token = lexer.next();
    if (token.kind == DotKind::id) token = lexer.next();
    return token.is('{');
  } catch (const InputError&) {
    return false;
  }
}

TopologyParts read_dot(const ForeignFile& file, Assumptions& assumed) {
  return DotReader(file).read(assumed);
}

bool is_graphml(std::string_view content) {
  constexpr std::size_t head = std::size_t{1} << 16;
  if (content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3);
  const std::size_t first = content.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && content[first] == '<' &&
         content.substr(0, head).find("<graphml") != std::string_view::npos;
}

TopologyParts read_graphml(const ForeignFile& file, Assumptions& assumed) {
  return GraphmlReader(file).read(assumed);
}

} // namespace tutti::topologies
