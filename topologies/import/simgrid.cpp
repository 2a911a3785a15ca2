// Platform files of SimGrid (<platform version="4.1">), which SimGrid itself loads (3.32 or newer):
// hosts become NPUs. Where its routes fit a graph of links, what these meet in becomes switches (or
// is a host). Where they don't, as a link of some files stands for a whole cloud, the routes are
// taken at their word: each becomes a link, with the least bandwidth and all latencies of its
// links, and each link a shared group of the routes that take it.
//
// A link that routes take in both directions shares its bandwidth between them, if it is SHARED.
// What Tutti has written says itself where links lead, by properties ("tutti.from").
#include "sim/engines/simgrid/platform.hpp"
#include "sim/error.hpp"
#include "sim/text.hpp"
#include "topologies/import/list.hpp"
#include "topologies/import/node_names.hpp"
#include "topologies/import/simgrid_junctions.hpp"
#include "topologies/import/text_lines.hpp"
#include "topologies/parts.hpp"

#include <fmt/format.h>
#include <pugixml.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace tutti::topologies {

namespace {

constexpr int deepest_zone = 64;

bool is_simgrid_tag(std::string_view name) {
  constexpr std::array known{"platform", "config",    "prop",    "zone",        "AS",
                             "host",     "disk",      "router",  "link",        "link_ctn",
                             "route",    "zoneRoute", "ASroute", "bypassRoute", "bypassZoneRoute",
                             "cluster",  "cabinet",   "peer",    "backbone",    "bypassASroute",
                             "host_link"};
  return std::ranges::find(known, name) != known.end();
}

/// Before SimGrid gets a file, what would have it read other files, set options of its own that
/// have nothing to do with networks, or run programs, is refused with its place; so is what SimGrid
/// knows and Tutti has none of.
class SimGridScan : pugi::xml_tree_walker {
public:
  explicit SimGridScan(const ForeignFile& file) : places_(file.content, file.source) {
    pugi::xml_document document;
    const pugi::xml_parse_result result = document.load_buffer(
        file.content.data(), file.content.size(),
        pugi::parse_default | pugi::parse_doctype | pugi::parse_pi | pugi::parse_ws_pcdata_single,
        pugi::encoding_utf8);
    if (!result) throw at(result.offset, result.description());
    document.traverse(*this);
    if (!is_platform_) throw InputError(fmt::format("{}: no <platform>", file.source));
  }

  [[nodiscard]] bool is_ours() const { return is_ours_; }

private:
  bool for_each(pugi::xml_node& node) override {
    switch (node.type()) {
    case pugi::node_doctype:
      if (std::strchr(node.value(), '[') != nullptr)
        throw error(node, "a DOCTYPE with declarations of its own (<!ENTITY) isn't read");
      return true;
    case pugi::node_pi:
    case pugi::node_cdata: throw error(node, "only tags belong into a platform");
    case pugi::node_element: break;
    default: return true;
    }
    const std::string_view tag = node.name();
    if (depth() > deepest_zone)
      throw error(node, fmt::format("zones within more than {} others", deepest_zone));
    is_platform_ |= depth() == 0 && tag == "platform";
    if (tag == "include" || tag == "trace" || tag == "trace_connect")
      throw error(node, fmt::format("<{}> refers to another file, and only this one is read", tag));
    if (!is_simgrid_tag(tag))
      throw error(node, fmt::format("<{}> doesn't belong into a platform that is read", tag));
    for (const pugi::xml_attribute attribute : node.attributes())
      if (std::string_view(attribute.name()).ends_with("file") && *attribute.value() != '\0')
        throw error(node, fmt::format("{}: networks that change by themselves aren't read",
                                      attribute.name()));
    if (std::string_view(node.attribute("sharing_policy").value()) == "WIFI")
      throw error(node, fmt::format("link \"{}\" is a wireless one, which Tutti has none of",
                                    node.attribute("id").value()));
    if (same_but_for_case(node.attribute("routing").value(), "wifi"))
      throw error(node, "a wireless zone, which Tutti has none of");
    for (const char* name : {"latency", "lat", "loopback_lat"})
      if (trimmed(node.attribute(name).value()).starts_with('-'))
        throw error(node,
                    fmt::format("{} \"{}\": it is negative", name, node.attribute(name).value()));
    for (const char* name : {"topo_parameters", "radical"}) check_counts(node, name);
    if (tag == "prop") check_property(node);
    return true;
  }

  /// Numbers of nodes and links, which SimGrid reads as an int and says no more than "stoi" of.
  void check_counts(const pugi::xml_node& node, const char* name) {
    const std::string_view text = node.attribute(name).value();
    const auto refuse = [&](std::string_view what, std::string_view why) {
      throw error(node, fmt::format("{} \"{}\": {} {}", name, text, what, why));
    };
    if (text.empty()) return;
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find_first_of(",;-", begin), text.size());
      const std::string_view count = trimmed(text.substr(begin, end - begin));
      int value = 0;
      const auto [after, problem] =
          std::from_chars(count.data(), count.data() + count.size(), value);
      if (problem == std::errc::result_out_of_range)
        refuse(count, fmt::format("is more than {}", std::numeric_limits<int>::max()));
      if (problem != std::errc() || after != count.data() + count.size())
        refuse(fmt::format("\"{}\"", count), "is no number");
      begin = end + 1;
    }
  }

  void check_property(const pugi::xml_node& node) {
    const std::string_view id = node.attribute("id").value();
    const std::string_view parent = node.parent().name();
    is_ours_ |= parent == "zone" && id == "tutti.network";
    if (parent != "config") return;
    constexpr std::array about_models{"cpu/",       "disk/", "host/",    "maxmin/", "network/",
                                      "precision/", "smpi/", "storage/", "surf/"};
    if (std::ranges::none_of(about_models, [&](const char* word) { return id.starts_with(word); }))
      throw error(node, fmt::format("the option \"{}\" is none of SimGrid's models (known: {})", id,
                                    fmt::join(about_models, ", ")));
  }

  [[nodiscard]] InputError error(const pugi::xml_node& node, const std::string& message) const {
    return at(node.offset_debug(), message);
  }
  [[nodiscard]] InputError at(std::ptrdiff_t offset, const std::string& message) const {
    return places_.error(static_cast<std::size_t>(std::max<std::ptrdiff_t>(offset, 0)), message);
  }

  TextPlaces places_;
  bool is_platform_ = false, is_ours_ = false;
};

/// Quantities of SimGrid's links.
class SimGridValues {
public:
  SimGridValues(const SimGridPlatform& platform, const std::string& source)
      : platform_(platform), source_(source) {}

  [[nodiscard]] Bandwidth bandwidth(std::uint32_t link) const {
    const SimGridLink& of = platform_.links[link];
    if (!(of.bandwidth >= 0.5 && of.bandwidth < 0x1p62))
      throw InputError(
          fmt::format("{}: link \"{}\" has a bandwidth of {} B/s", source_, of.name, of.bandwidth));
    return Bandwidth{std::llround(of.bandwidth)};
  }
  [[nodiscard]] Time latency(std::uint32_t link) const {
    return time(platform_.links[link].latency, "link", platform_.links[link].name);
  }
  [[nodiscard]] Time time(double seconds, std::string_view what, const std::string& name) const {
    if (!(seconds >= 0 && seconds * 1e12 <= static_cast<double>(longest_ps)))
      throw InputError(
          fmt::format("{}: {} \"{}\" has a latency of {} s", source_, what, name, seconds));
    return Time{std::llround(seconds * 1e12)};
  }

private:
  const SimGridPlatform& platform_;
  const std::string& source_;
};

/// Legal names that stay different.
class SimGridNames {
public:
  std::string of(const std::string& name) {
    const std::string legal = legal_name(name);
    std::string unique = legal;
    for (int i = 2; !taken_.insert(unique).second; ++i) unique = fmt::format("{}_{}", legal, i);
    return unique;
  }

private:
  std::set<std::string> taken_;
};

class SimGridReader {
public:
  SimGridReader(const ForeignFile& file, Assumptions& assumed)
      : source_(file.source), assumed_(assumed), is_ours_(SimGridScan(file).is_ours()),
        platform_(load_simgrid_platform(std::string(file.content), file.source, !is_ours_)),
        values_(platform_, source_) {
    for (const std::uint32_t id : platform_.route_links)
      if (platform_.links[id].sharing == SimGridLink::Sharing::other)
        throw InputError(fmt::format("{}: link \"{}\" shares its bandwidth in a way that Tutti has "
                                     "none of",
                                     source_, platform_.links[id].name));
  }

  TopologyParts read() {
    if (platform_.hosts.size() > static_cast<std::size_t>(most_npus))
      throw InputError(fmt::format("{}: more than {} hosts", source_, most_npus));
    if (is_ours_) return placed();
    for (const SimGridHost& host : platform_.hosts)
      parts_.add_node({names_.of(host.name), NodeKind::npu, {}, {}});
    assumed_.add("hosts", "NPUs that can store, copy and reduce");
    if (const auto junctions = simgrid_junctions(platform_)) return met(*junctions);
    return taken_at_their_word();
  }

private:
  TopologyParts met(const SimGridJunctions& junctions) {
    std::map<std::uint32_t, NodeId> nodes;
    std::size_t fat_pipes = 0, untaken = 0;
    const auto node_of = [&](std::uint32_t junction) {
      if (junction < platform_.hosts.size()) return NodeId{junction};
      const auto [found, is_new] = nodes.try_emplace(junction);
      if (is_new)
        found->second = parts_.add_node({names_.of(fmt::format("switch{}", nodes.size() - 1)),
                                         NodeKind::switching,
                                         Abilities{false, false, false},
                                         {}});
      return found->second;
    };
    for (std::uint32_t id = 0; id < platform_.links.size(); ++id) {
      const SimGridLink& link = platform_.links[id];
      SharedGroup group{link.name, {}, {}};
      for (const std::uint32_t end : {0U, 1U}) {
        if (!junctions.is_taken[id][end]) continue;
        const NodeId from = node_of(junctions.at[id][end]), to = node_of(junctions.at[id][1 - end]);
        group.links.push_back(
            parts_.add_link({from, to, values_.latency(id), values_.bandwidth(id)}));
      }
      const bool is_fat_pipe = link.sharing == SimGridLink::Sharing::fat_pipe;
      untaken += group.links.empty() && is_of_file(link) ? 1U : 0U;
      fat_pipes += is_fat_pipe && !group.links.empty() ? 1U : 0U;
      if (is_fat_pipe || group.links.size() < 2) continue;
      group.bandwidth = values_.bandwidth(id);
      parts_.groups.push_back(std::move(group));
    }
    assumed_.add("switches", fmt::format("{}, where links follow each other in routes; they "
                                         "forward, and neither copy nor reduce",
                                         nodes.size()));
    assumed_.add("routes", "any way along the links may be taken, not SimGrid's routes alone");
    if (untaken > 0)
      assumed_.add("links that no route between two hosts takes",
                   fmt::format("{} are left out", untaken));
    if (fat_pipes > 0)
      assumed_.add("FATPIPE", fmt::format("{} links share their bandwidth, as all links here do, "
                                          "but don't in SimGrid",
                                          fat_pipes));
    return std::move(parts_);
  }

  /// Neither SimGrid's own loopback, nor what stands for both halves of a split duplex link.
  static bool is_of_file(const SimGridLink& link) {
    return link.sharing != SimGridLink::Sharing::other && !link.name.starts_with("__");
  }

  /// A route that takes a link twice counts once.
  TopologyParts taken_at_their_word() {
    const auto hosts = static_cast<std::uint32_t>(platform_.hosts.size());
    std::vector<SharedGroup> groups(platform_.links.size());
    for (std::uint32_t from = 0; from < hosts; ++from)
      for (std::uint32_t to = 0; to < hosts; ++to) {
        const double latency = platform_.route_latency[std::size_t{from} * hosts + to];
        if (from == to || latency < 0) continue;
        const auto route = platform_.route(from, to);
        const std::string name =
            fmt::format("{} -> {}", platform_.hosts[from].name, platform_.hosts[to].name);
        if (route.empty()) {
          assumed_.add("routes without links", "left out, as nothing says their bandwidth");
          continue;
        }
        Link link{NodeId{from}, NodeId{to}, values_.time(latency, "route", name),
                  values_.bandwidth(route.front())};
        for (const std::uint32_t part : route)
          link.bandwidth = std::min(link.bandwidth, values_.bandwidth(part));
        const LinkId id = parts_.add_link(link);
        for (const std::uint32_t part : route)
          if (platform_.links[part].sharing == SimGridLink::Sharing::shared &&
              (groups[part].links.empty() || groups[part].links.back() != id))
            groups[part].links.push_back(id);
      }
    for (std::uint32_t id = 0; id < groups.size(); ++id) {
      if (groups[id].links.size() < 2) continue;
      groups[id].name = platform_.links[id].name;
      groups[id].bandwidth = values_.bandwidth(id);
      parts_.groups.push_back(std::move(groups[id]));
    }
    assumed_.add("links", "one for each route between two hosts, and what they share in groups, as "
                          "the routes fit no graph of links");
    return std::move(parts_);
  }

  // What topology_simgrid() has written:

  TopologyParts placed() {
    for (const std::string& extent : words(find(platform_.properties, "tutti.shape")))
      parts_.shape.push_back(static_cast<int>(whole(extent, "tutti.shape", 1, most_npus)));
    parts_.npu_model = find(platform_.properties, "tutti.npu").value_or("");
    for (const SimGridHost& host : platform_.hosts)
      add_placed_node(host.name, NodeKind::npu, host.properties);
    for (std::size_t i = platform_.hosts.size();; ++i) {
      const auto text = find(platform_.properties, fmt::format("tutti.node{}", i));
      if (!text) break;
      // "switch,store copy,0,1 2,s0": kind, abilities, rate, coordinates, and the rest is the name.
      std::array<std::string, 4> fields;
      std::string_view rest = *text;
      for (std::string& field : fields) {
        const std::size_t comma = rest.find(',');
        if (comma == std::string_view::npos)
          throw InputError(
              fmt::format("{}: property tutti.node{} isn't as Tutti writes it", source_, i));
        field = rest.substr(0, comma);
        rest.remove_prefix(comma + 1);
      }
      if (fields[0] != "switch" && fields[0] != "memory")
        throw InputError(fmt::format("{}: tutti.node{}: \"{}\" is neither switch nor memory",
                                     source_, i, fields[0]));
      add_placed_node(
          std::string(rest), fields[0] == "switch" ? NodeKind::switching : NodeKind::memory,
          {{"tutti.at", fields[3]}, {"tutti.can", fields[1]}, {"tutti.rate", fields[2]}});
    }
    std::map<std::uint32_t, SharedGroup> groups;
    for (std::uint32_t id = 0; id < platform_.links.size(); ++id)
      if (const auto number = find(platform_.links[id].properties, "tutti.group"))
        if (!groups
                 .emplace(
                     static_cast<std::uint32_t>(whole(*number, "tutti.group", 0, most_links)),
                     SharedGroup{find(platform_.links[id].properties, "tutti.name").value_or(""),
                                 {},
                                 values_.bandwidth(id)})
                 .second)
          throw InputError(fmt::format("{}: two links are group {}", source_, *number));
    for (std::uint32_t id = 0; id < platform_.links.size(); ++id) add_placed_link(id, groups);
    for (std::uint32_t id = 0; id < platform_.links.size(); ++id)
      if (const auto order = find(platform_.links[id].properties, "tutti.links"))
        reorder(groups, id, *order);
    for (auto& [number, group] : groups) parts_.groups.push_back(std::move(group));
    return std::move(parts_);
  }

  /// The links of a group, as its link's property has them.
  void reorder(std::map<std::uint32_t, SharedGroup>& groups, std::uint32_t id,
               const std::string& order) const {
    const SimGridLink& link = platform_.links[id];
    std::vector<LinkId> links;
    for (const std::string& number : words(order))
      links.emplace_back(static_cast<std::uint32_t>(whole(number, "tutti.links", 0, most_links)));
    const auto number = find(link.properties, "tutti.group");
    const auto group =
        number
            ? groups.find(static_cast<std::uint32_t>(whole(*number, "tutti.group", 0, most_links)))
            : groups.end();
    std::vector<LinkId> ascending = links;
    std::ranges::sort(ascending);
    if (group == groups.end() || ascending != group->second.links)
      throw InputError(fmt::format("{}: link \"{}\": tutti.links are others than its group has",
                                   source_, link.name));
    group->second.links = std::move(links);
  }

  void add_placed_node(const std::string& name, NodeKind kind,
                       const SimGridProperties& properties) {
    Node node{names_.of(name), kind, {false, false, false}, {}};
    for (const std::string& ability : words(find(properties, "tutti.can"))) {
      node.can.store |= ability == "store";
      node.can.copy |= ability == "copy";
      node.can.reduce |= ability == "reduce";
    }
    if (const auto rate = find(properties, "tutti.rate"))
      node.reduce_rate = Bandwidth{whole(*rate, "tutti.rate", 0, std::int64_t{1} << 62)};
    by_name_.emplace(name, parts_.add_node(std::move(node)));
    if (parts_.shape.empty()) return;
    parts_.coordinates.emplace_back();
    for (const std::string& at : words(find(properties, "tutti.at")))
      parts_.coordinates.back().push_back(static_cast<int>(whole(at, "tutti.at", 0, most_npus)));
  }

  void add_placed_link(std::uint32_t id, std::map<std::uint32_t, SharedGroup>& groups) {
    const SimGridLink& link = platform_.links[id];
    const auto from = find(link.properties, "tutti.from"), to = find(link.properties, "tutti.to");
    if (!from || !to) {
      if (find(link.properties, "tutti.group") || !is_of_file(link)) return;
      throw InputError(fmt::format("{}: link \"{}\" has no properties tutti.from and tutti.to, as "
                                   "the network's others have",
                                   source_, link.name));
    }
    Link placed{node(*from, link), node(*to, link), values_.latency(id), values_.bandwidth(id)};
    if (const auto dimension = find(link.properties, "tutti.dimension"))
      placed.dimension = static_cast<std::int8_t>(whole(*dimension, "tutti.dimension", 0, 127));
    if (const auto part = find(link.properties, "tutti.part"))
      placed.part = parts_.link_part(*part);
    const LinkId added = parts_.add_link(placed);
    for (const std::string& number : words(find(link.properties, "tutti.groups"))) {
      const auto group =
          groups.find(static_cast<std::uint32_t>(whole(number, "tutti.groups", 0, most_links)));
      if (group == groups.end())
        throw InputError(fmt::format("{}: link \"{}\" is of group {}, which isn't there", source_,
                                     link.name, number));
      group->second.links.push_back(added);
    }
  }

  [[nodiscard]] NodeId node(const std::string& name, const SimGridLink& link) const {
    const auto found = by_name_.find(name);
    if (found == by_name_.end())
      throw InputError(fmt::format("{}: link \"{}\" leads to or from \"{}\", which isn't there",
                                   source_, link.name, name));
    return found->second;
  }
  static std::optional<std::string> find(const SimGridProperties& properties,
                                         std::string_view name) {
    const auto found =
        std::ranges::find(properties, name, [](const auto& property) { return property.first; });
    if (found == properties.end()) return std::nullopt;
    return found->second;
  }
  static std::vector<std::string> words(const std::optional<std::string>& text) {
    std::vector<std::string> found;
    if (!text) return found;
    for (const std::string_view word : split(*text, ' '))
      if (!word.empty()) found.emplace_back(word);
    return found;
  }
  [[nodiscard]] std::int64_t whole(std::string_view text, std::string_view what, std::int64_t low,
                                   std::int64_t high) const {
    try {
      return parse_integer(text, what, low, high);
    } catch (const InputError& e) {
      throw InputError(fmt::format("{}: {}", source_, e.what()));
    }
  }

  std::string source_;
  Assumptions& assumed_;
  bool is_ours_;
  SimGridPlatform platform_;
  SimGridValues values_;
  SimGridNames names_;
  TopologyParts parts_;
  std::map<std::string, NodeId> by_name_; ///< as the file has them
};

} // namespace

bool is_simgrid(std::string_view content) {
  if (first_character(content) != '<') return false;
  const std::size_t tag = content.find("<platform");
  if (tag == std::string_view::npos) return false;
  const std::string_view attributes = content.substr(tag + 9, 1000);
  return attributes.find_first_of(" \t\r\n>") == 0 &&
         attributes.substr(0, attributes.find('>')).find("version") != std::string_view::npos;
}

TopologyParts read_simgrid(const ForeignFile& file, Assumptions& assumed) {
  return SimGridReader(file, assumed).read();
}

} // namespace tutti::topologies
