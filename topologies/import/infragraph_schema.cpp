// Why: InfraGraph's files come in two forms, that of schema 2.4 and that of the examples of before
// 1.0; which of them it was, no later step has to know. Both become the same devices here.
//
// An end of an edge is "card[0:2].port": names from the outside, with slices as Python has them.
// The examples write a whole connection as one word, "xpu.0.pcie.nic.0": names with indexes, and
// the link has none.
#include "sim/text.hpp"
#include "topologies/import/infragraph.hpp"
#include "topologies/import/text_lines.hpp"
#include "topologies/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_set>
#include <utility>

namespace tutti::topologies {

namespace {

std::int64_t infra_index(std::string_view text, const TreePlace& at) {
  std::int64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size())
    throw at.error(fmt::format("{} is no whole number", short_quote(text)));
  if (value < 0 || value > most_npus)
    throw at.error(fmt::format("{} is out of range (0 .. {})", value, most_npus));
  return value;
}

std::int64_t infra_count(const TreeValue& value) {
  const auto count = value.given("count");
  return count ? infra_index(count->word(), count->tree_place()) : -1;
}

InfraComponent infra_instance(const TreeValue& value) {
  value.allow_only({"name", "description", "device", "count"});
  InfraComponent read;
  read.name = infra_name(value);
  const TreeValue device = value.at("device");
  read.device = device.word();
  read.at = device.tree_place();
  read.count = infra_count(value);
  return read;
}

InfraComponent infra_component(const TreeValue& value) {
  const std::vector<std::string> kinds{"device", "cpu", "xpu", "nic", "memory", "port", "switch"};
  std::vector<std::string> known{"name", "description", "count", "choice",
                                 "type", "external",    "custom"};
  known.insert(known.end(), kinds.begin(), kinds.end());
  value.allow_only(known);
  for (const std::string& kind : kinds) // empty in the schema: nothing is lost
    if (const auto more = value.given(kind))
      if (!more->is_object() || !more->members().empty())
        throw more->error(fmt::format("nothing more is known of a {}", kind));
  InfraComponent read;
  read.name = infra_name(value);
  read.at = value.tree_place();
  read.count = infra_count(value);
  auto choice = value.given("choice");
  const auto type = value.given("type");
  if (choice && type) throw type->error("both \"choice\" and \"type\" of a component");
  if (!choice) choice = type;
  if (!choice) throw value.error("no \"choice\" (or \"type\") of a component");
  std::string kind = lower_case(choice->word());
  if (const auto custom = value.given("custom"); custom && kind == "custom") {
    custom->allow_only({"type"});
    if (const auto own = custom->given("type")) kind = lower_case(own->word());
  }
  if (kind == "device") read.device = read.name;
  read.npu = kind == "xpu" || kind == "gpu" || kind == "npu";
  return read;
}

struct DottedName {
  std::string_view text;
  TreePlace at;
};

/// The names in "cx5[0:8].port", with their places.
std::vector<DottedName> dotted_names(const TreeValue& value) {
  constexpr std::size_t most = std::size_t{8} * most_nested_devices;
  std::vector<DottedName> names;
  std::string_view rest = value.word();
  TreePlace at = value.tree_place();
  while (true) {
    const std::string_view text = rest.substr(0, rest.find('.'));
    if (text.empty()) throw at.error("expected a name");
    if (names.size() == most) throw at.error(fmt::format("more than {} names", most));
    names.push_back({text, at});
    if (text.size() == rest.size()) return names;
    rest.remove_prefix(text.size() + 1);
    at.column += static_cast<int>(text.size()) + 1;
  }
}

InfraPart indexed_part(std::string_view name, const TreePlace& at, std::int64_t index) {
  return {std::string(name), at, index, index + 1, 1, true};
}

/// "nic[0:4]".
InfraPart infra_part(std::string_view text, const TreePlace& at) {
  const std::size_t open = text.find('[');
  const std::string_view name = text.substr(0, open);
  if (name.empty()) throw at.error("expected a name");
  InfraPart read;
  read.name = name;
  read.at = at;
  if (open == std::string_view::npos) return read;
  if (!text.ends_with(']'))
    throw at.error(fmt::format("{} has no ']' at its end", short_quote(text)));
  std::string_view slice = text.substr(open + 1, text.size() - open - 2);
  if (slice.find(':') == std::string_view::npos)
    return indexed_part(name, at, infra_index(slice, at));
  read.is_slice = true;
  const std::array<std::int64_t*, 3> values{&read.first, &read.last, &read.step};
  for (std::size_t i = 0;; ++i) {
    const std::string_view one = slice.substr(0, slice.find(':'));
    if (i == values.size())
      throw at.error(fmt::format("{} has more than three numbers", short_quote(text)));
    if (!one.empty()) *values[i] = infra_index(one, at);
    if (one.size() == slice.size()) break;
    slice.remove_prefix(one.size() + 1);
  }
  if (read.step == 0) throw at.error(fmt::format("{} has a step of 0", short_quote(text)));
  if (read.last >= 0 && read.last <= read.first)
    throw at.error(fmt::format("{} names none", short_quote(text)));
  return read;
}

InfraEnd infra_end(const TreeValue& value, bool of_instances) {
  const std::string outer = of_instances ? "instance" : "device";
  value.allow_only({outer, "component"});
  InfraEnd read;
  const auto add = [&](const TreeValue& names) {
    for (const DottedName& name : dotted_names(names)) {
      read.push_back(infra_part(name.text, name.at));
      if (read.size() > most_nested_devices + std::size_t{2})
        throw name.at.error(
            fmt::format("more than {} devices within each other", most_nested_devices));
    }
  };
  if (of_instances)
    add(value.at(outer));
  else if (const auto device = value.given(outer))
    add(*device);
  add(value.at("component"));
  return read;
}

InfraEdge infra_edge(const TreeValue& value, bool of_instances) {
  value.allow_only({"ep1", "ep2", "scheme", "link"});
  InfraEdge read;
  read.at = value.tree_place();
  read.ends = {infra_end(value.at("ep1"), of_instances), infra_end(value.at("ep2"), of_instances)};
  const TreeValue link = value.at("link");
  read.link = link.word();
  read.link_at = link.tree_place();
  const auto scheme = value.given("scheme");
  if (!scheme) return read;
  const std::vector<std::string> schemes{"one2one", "many2many", "ring"};
  const auto found = std::ranges::find(schemes, scheme->word());
  if (found == schemes.end())
    throw scheme->error(unknown_name("scheme", scheme->text().substr(0, 64), schemes));
  read.scheme =
      std::array{InfraEdge::Scheme::one2one, InfraEdge::Scheme::many2many, InfraEdge::Scheme::ring}
          .at(static_cast<std::size_t>(found - schemes.begin()));
  return read;
}

/// "server.0.nic.1.eth.leafsw.0.port.1".
InfraEdge infra_connection(const TreeValue& value, bool of_instances) {
  InfraEdge read;
  read.at = value.tree_place();
  const std::vector<DottedName> names = dotted_names(value);
  const auto is_index = [&](std::size_t i) {
    return i < names.size() &&
           std::ranges::all_of(names[i].text, [](char c) { return c >= '0' && c <= '9'; });
  };
  std::size_t side = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (is_index(i + 1)) {
      const std::int64_t index = infra_index(names[i + 1].text, names[i + 1].at);
      read.ends[side].push_back(indexed_part(names[i].text, names[i].at, index));
      ++i;
    } else if (side == 0 && !read.ends[0].empty()) {
      read.link = names[i].text;
      read.link_at = names[i].at;
      side = 1;
    } else {
      throw names[i].at.error(fmt::format("no index after {}", short_quote(names[i].text)));
    }
  }
  if (read.ends[1].empty())
    throw value.error(fmt::format("{} isn't of the form {}", short_quote(value.text()),
                                  of_instances ? "\"server.0.nic.0.link.switch.0.port.0\""
                                               : "\"nic.0.link.port.0\""));
  return read;
}

void add_infra_component(InfraDevice& device, InfraComponent part, const TreeValue& value) {
  if (!device.component_of.emplace(part.name, device.components.size()).second)
    throw value.error(fmt::format("a second {}", short_quote(part.name)));
  device.components.push_back(std::move(part));
}

void add_links_and_edges(InfraDevice& device, const TreeValue& value, bool of_instances) {
  for (const TreeValue& item : value.list("links")) {
    InfraLink read = parse_infra_link(item);
    if (!device.link_of.emplace(read.name, device.links.size()).second)
      throw item.error(fmt::format("a second link {}", short_quote(read.name)));
    device.links.push_back(std::move(read));
  }
  for (const TreeValue& item : value.list("connections"))
    device.edges.push_back(infra_connection(item, of_instances));
  for (const TreeValue& item : value.list("edges"))
    device.edges.push_back(infra_edge(item, of_instances));
}

InfraDevice infra_device(const TreeValue& value) {
  value.allow_only({"name", "description", "components", "links", "edges", "connections"});
  InfraDevice read;
  read.at = value.tree_place();
  read.name = infra_name(value);
  read.content = value.content();
  for (const TreeValue& item : value.list("components"))
    add_infra_component(read, infra_component(item), item);
  add_links_and_edges(read, value, false);
  return read;
}

} // namespace

std::string infra_name(const TreeValue& value) {
  constexpr std::size_t longest = 128;
  const TreeValue name = value.at("name");
  if (name.word().size() > longest)
    throw name.error(fmt::format("a name of {} bytes (at most {})", name.text().size(), longest));
  return name.text();
}

InfraFile parse_infragraph(std::string_view text, const std::string& source) {
  const TreeValue root = parse_yaml(text, source);
  InfraFile read;
  if (root.has("components")) {
    read.devices.push_back(infra_device(root));
    return read;
  }
  const bool is_wrapped = root.has("infrastructure");
  if (is_wrapped) root.allow_only({"infrastructure"});
  const TreeValue content = is_wrapped ? root.at("infrastructure") : root;
  content.allow_only({"name", "description", "devices", "instances", "links", "edges",
                      "connections", "annotations"});
  read.has_annotations = content.given("annotations").has_value();
  std::unordered_set<std::string> names;
  for (const TreeValue& value : content.list("devices")) {
    read.devices.push_back(infra_device(value));
    const std::string& name = read.devices.back().name;
    if (!names.insert(name).second)
      throw value.error(fmt::format("a second device {}", short_quote(name)));
  }
  InfraDevice whole;
  whole.at = content.tree_place();
  add_links_and_edges(whole, content, true);
  for (const TreeValue& value : content.list("instances"))
    add_infra_component(whole, infra_instance(value), value);
  if (!whole.links.empty() || !whole.edges.empty() || !whole.components.empty())
    read.whole = std::move(whole);
  return read;
}

} // namespace tutti::topologies
