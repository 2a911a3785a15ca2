// Networks as general graphs, for Graphviz (DOT) and for NetworkX, Gephi and yEd (GraphML, which
// pugixml writes).
//
// The attributes are those that topologies/import/graph_meaning.cpp reads, which gives the same
// network again; each directed link is an edge, in the order of their ids.
//
// Names of groups and parts, which may have any letters, are written with %3B for ";" and the like.
#include "sim/error.hpp"
#include "topologies/export/comments.hpp"
#include "topologies/export/list.hpp"

#include <fmt/format.h>
#include <pugixml.hpp>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace tutti {

namespace {

using GraphWords = std::vector<std::pair<std::string_view, std::string>>; ///< key, text

/// Letters, digits and a few more as they are.
std::string percent_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 &&
        (std::isalnum(byte) != 0 || std::string_view("_-. /").find(c) != std::string_view::npos))
      escaped += c;
    else
      escaped += fmt::format("%{:02X}", byte);
  }
  return escaped;
}

GraphWords graph_words(const Topology& topology) {
  GraphWords words{{"numbering", "listed"}};
  if (!topology.parts().npu_model.empty())
    words.emplace_back("npu", percent_escaped(topology.parts().npu_model));
  if (!topology.shape().empty())
    words.emplace_back("shape", fmt::format("({})", fmt::join(topology.shape(), ",")));
  std::string groups; // their order
  std::set<std::string_view> names;
  for (const SharedGroup& group : topology.groups()) {
    if (!names.insert(group.name).second)
      throw InputError(fmt::format("two groups are called \"{}\": a graph can't tell", group.name));
    groups += fmt::format("{}{}:{}", groups.empty() ? "" : ";", percent_escaped(group.name),
                          to_text(group.bandwidth));
  }
  if (!groups.empty()) words.emplace_back("groups", groups);
  return words;
}

GraphWords node_words(const Topology& topology, NodeId id) {
  const Node& node = topology.node(id);
  GraphWords words;
  const bool is_npu = node.kind == NodeKind::npu, is_switch = node.kind == NodeKind::switching;
  words.emplace_back("kind", is_npu ? "npu" : is_switch ? "switch" : "memory");
  for (const auto& [key, value, usual] : {std::tuple{"store", node.can.store, !is_switch},
                                          {"copy", node.can.copy, !is_switch},
                                          {"reduce", node.can.reduce, is_npu}})
    if (value != usual) words.emplace_back(key, value ? "true" : "false");
  if (node.reduce_rate.bytes_per_second > 0)
    words.emplace_back("reduce_rate", to_text(node.reduce_rate));
  if (!topology.shape().empty() && !topology.coordinate(id).empty())
    words.emplace_back("coordinates", fmt::format("({})", fmt::join(topology.coordinate(id), ",")));
  return words;
}

/// By link: the groups that it is in, with its position where the links of one aren't ascending.
std::vector<std::string> link_groups(const Topology& topology) {
  std::vector<std::string> words(topology.groups().empty() ? 0 : topology.link_count());
  for (const SharedGroup& group : topology.groups()) {
    const std::string word =
        fmt::format("{}:{}", percent_escaped(group.name), to_text(group.bandwidth));
    const bool is_ascending = std::is_sorted(group.links.begin(), group.links.end());
    for (std::size_t i = 0; i < group.links.size(); ++i) {
      std::string& text = words[group.links[i].value];
      text += (text.empty() ? "" : ";") + word;
      if (!is_ascending) text += fmt::format(":{}", i);
    }
  }
  return words;
}

GraphWords link_words(const Topology& topology, const std::vector<std::string>& groups, LinkId id) {
  const Link& link = topology.link(id);
  GraphWords words;
  words.emplace_back("bandwidth", to_text(link.bandwidth));
  words.emplace_back("latency", to_text(link.latency));
  if (link.dimension >= 0) words.emplace_back("dimension", fmt::format("{}", link.dimension));
  if (link.part > 0) words.emplace_back("part", percent_escaped(topology.part_of(id)));
  if (!groups.empty() && !groups[id.value].empty()) words.emplace_back("groups", groups[id.value]);
  return words;
}

std::vector<std::string> head_lines(const Topology& topology) {
  std::vector<std::string> lines = title_lines(topology);
  std::ranges::move(assumed_lines(topology), std::back_inserter(lines));
  return lines;
}

/// Always in quotes: a node may be called "node".
std::string dot_word(std::string_view text) {
  std::string word = "\"";
  for (const char c : text) word += c == '"' ? std::string("\\\"") : std::string(1, c);
  return word + "\"";
}

std::string dot_list(const GraphWords& words) {
  std::string text;
  for (const auto& [key, word] : words)
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", key, dot_word(word));
  return text;
}

/// The same name may mean something else for nodes than for links.
std::string key_id(std::string_view element, std::string_view name) {
  return fmt::format("{}_{}", element, name);
}

} // namespace

std::string topology_dot(const Topology& topology) {
  std::string text;
  for (const std::string& line : head_lines(topology)) {
    // A backslash at the end would take the next line into the comment for some readers.
    text += fmt::format("// {}{}\n", line, line.ends_with('\\') ? " " : "");
  }
  text += "digraph {\n";
  for (const auto& [key, word] : graph_words(topology))
    text += fmt::format("  {}={};\n", key, dot_word(word));
  for (std::uint32_t n = 0; n < topology.node_count(); ++n) {
    const Node& node = topology.node(NodeId{n});
    GraphWords words = node_words(topology, NodeId{n});
    if (node.kind != NodeKind::npu) words.emplace_back("shape", "box");
    text += fmt::format("  {} [{}];\n", dot_word(node.name), dot_list(words));
  }
  const std::vector<std::string> groups = link_groups(topology);
  for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
    const Link& link = topology.link(LinkId{l});
    text += fmt::format("  {} -> {} [{}];\n", dot_word(topology.node(link.from).name),
                        dot_word(topology.node(link.to).name),
                        dot_list(link_words(topology, groups, LinkId{l})));
  }
  return text + "}\n";
}

std::string topology_graphml(const Topology& topology) {
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  declaration.append_attribute("version") = "1.0";
  declaration.append_attribute("encoding") = "UTF-8";
  for (std::string line : head_lines(topology)) {
    for (std::size_t at = 0; (at = line.find("--", at)) != std::string::npos;)
      line.insert(at + 1, " ");
    document.append_child(pugi::node_comment).set_value(fmt::format(" {} ", line).c_str());
  }
  pugi::xml_node root = document.append_child("graphml");
  root.append_attribute("xmlns") = "http://graphml.graphdrawing.org/xmlns";
  pugi::xml_node graph = root.append_child("graph");
  graph.append_attribute("edgedefault") = "directed";
  std::set<std::pair<std::string, std::string>> keys; // of which elements, and their names
  const auto add = [&](pugi::xml_node element, const GraphWords& words) {
    for (const auto& [key, word] : words) {
      keys.emplace(element.name(), key);
      pugi::xml_node data = element.append_child("data");
      data.append_attribute("key") = key_id(element.name(), key).c_str();
      data.text() = word.c_str();
    }
  };
  add(graph, graph_words(topology));
  for (std::uint32_t n = 0; n < topology.node_count(); ++n) {
    pugi::xml_node node = graph.append_child("node");
    node.append_attribute("id") = fmt::format("n{}", n).c_str();
    GraphWords words = node_words(topology, NodeId{n});
    words.emplace_back("label", topology.node(NodeId{n}).name);
    add(node, words);
  }
  const std::vector<std::string> groups = link_groups(topology);
  for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
    pugi::xml_node edge = graph.append_child("edge");
    const Link& link = topology.link(LinkId{l});
    edge.append_attribute("source") = fmt::format("n{}", link.from.value).c_str();
    edge.append_attribute("target") = fmt::format("n{}", link.to.value).c_str();
    add(edge, link_words(topology, groups, LinkId{l}));
  }
  for (const auto& [element, name] : keys) {
    pugi::xml_node key = root.insert_child_before("key", graph);
    key.append_attribute("id") = key_id(element, name).c_str();
    key.append_attribute("for") = element.c_str();
    key.append_attribute("attr.name") = name.c_str();
    key.append_attribute("attr.type") = "string";
  }
  std::ostringstream out;
  document.save(out, "  ");
  return out.str();
}

} // namespace tutti
