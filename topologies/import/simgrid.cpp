// Platform files of SimGrid (<platform version="4.1">), which SimGrid itself loads (3.32 or newer):
// hosts become NPUs. It tells which links each route takes, and nothing of where links meet:
//
//   a -> b: up_a, down_b;  b -> a: up_b, down_a;  a -> c: up_a, down_c ...
//
// Links that follow each other in a route meet in a junction, the first one begins at the host, the
// last one ends at the other. Where all of that fits together, junctions become switches (or are
// hosts), and each route is a walk. Where it doesn't, as a link of some files stands for a whole
// cloud, the routes are taken at their word: each becomes a link, with the least bandwidth and all
// latencies of its links, and each link a shared group of the routes that take it.
//
// A link that routes take in both directions shares its bandwidth between them, if it is SHARED.
// What Tutti has written says itself where links lead, by properties ("tutti.from").
#include "sim/engines/simgrid/platform.hpp"
#include "sim/error.hpp"
#include "sim/graphs/disjoint_sets.hpp"
#include "sim/text.hpp"
#include "topologies/import/list.hpp"
#include "topologies/parts.hpp"

#include <fmt/format.h>
#include <pugixml.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
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

/// Before SimGrid gets the file: what would have it read other files, set options of its own that
/// have nothing to do with networks, or run programs, is refused with its place.
class SimGridScan : pugi::xml_tree_walker {
public:
  explicit SimGridScan(const ForeignFile& file) : file_(file) {
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
    if (tag == "prop") check_property(node);
    return true;
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
    const std::string_view before = file_.content.substr(
        0, std::min(file_.content.size(),
                    static_cast<std::size_t>(std::max<std::ptrdiff_t>(offset, 0))));
    return InputError(fmt::format("{}:{}:{}: {}", file_.source,
                                  std::ranges::count(before, '\n') + 1,
                                  before.size() - (before.rfind('\n') + 1) + 1, message));
  }

  const ForeignFile& file_;
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

/// Names of nodes with other characters than TOML has are changed, and stay different.
class SimGridNames {
public:
  std::string of(const std::string& name) {
    std::string plain;
    for (const char c : name) {
      const bool is_fine = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                           (c >= 'a' && c <= 'z') || std::strchr("_-.:", c) != nullptr;
      plain += is_fine && c != '\0' ? c : '_';
    }
    if (plain.empty()) plain = "_";
    std::string unique = plain;
    for (int i = 2; !taken_.insert(unique).second; ++i) unique = fmt::format("{}_{}", plain, i);
    return unique;
  }

private:
  std::set<std::string> taken_;
};

/// Where a platform's links meet, as far as its routes tell. What lies around a link falls into
/// families, in each of which it is known what lies at the same end of it, and what at the other.
/// The ends of two families are the same ones or the opposite: that follows from what else is
/// joined; where nothing tells, routes enter a link at its first end.
class SimGridJunctions {
public:
  /// `pairs`: whether "x_UP" and "x_DOWN" lead between the same two junctions.
  SimGridJunctions(const SimGridPlatform& platform, bool pairs)
      : platform_(platform), hosts_(static_cast<std::uint32_t>(platform.hosts.size())),
        neighbours_(platform.links.size()), families_(platform.links.size()),
        takes_(platform.links.size()), joined_(0) {
    collect_passages();
    if (!divide_neighbours()) return;
    joined_ = DisjointSets(hosts_ + 2 * std::size_t{family_count_});
    join_neighbours();
    if (pairs) join_pairs();
    join_families();
    fits_ = are_ends_apart() && are_routes_walks();
  }

  [[nodiscard]] bool fits() const { return fits_; }
  /// Pre of these: fits(). Of a link's end 0 or 1: the least thing of its junction, which is a host
  /// where that is below the number of hosts.
  [[nodiscard]] std::uint32_t junction(std::uint32_t link, std::uint32_t end) {
    return joined_.find(end_of(families_[link].first, end));
  }
  [[nodiscard]] bool is_taken(std::uint32_t link, std::uint32_t from_end) const {
    return takes_[link][from_end];
  }

private:
  /// A route enters a link from one thing (a host, or hosts + link) and leaves it towards another.
  struct Passage {
    std::uint32_t link, before, after;
    auto operator<=>(const Passage&) const = default;
  };
  /// Of a link: what lies at which of the ends of a family.
  struct Neighbour {
    std::uint32_t thing, family, end;
  };
  struct Families {
    std::uint32_t first = 0, count = 0;
  };

  [[nodiscard]] std::uint32_t end_of(std::uint32_t family, std::uint32_t end) const {
    return hosts_ + 2 * family + end;
  }

  void collect_passages() {
    constexpr std::size_t some = std::size_t{1} << 20;
    std::size_t most = some;
    const auto tidy = [&] {
      std::ranges::sort(passages_);
      passages_.erase(std::unique(passages_.begin(), passages_.end()), passages_.end());
      most = 2 * passages_.size() + some;
    };
    for (std::uint32_t from = 0; from < hosts_; ++from)
      for (std::uint32_t to = 0; to < hosts_; ++to) {
        const auto route = platform_.route(from, to);
        for (std::size_t i = 0; i < route.size(); ++i)
          passages_.push_back({route[i], i == 0 ? from : hosts_ + route[i - 1],
                               i + 1 == route.size() ? to : hosts_ + route[i + 1]});
        if (passages_.size() > most) tidy();
      }
    tidy();
  }

  /// What a route passes before and after a link lies at different ends of it.
  bool divide_neighbours() {
    for (std::size_t begin = 0; begin < passages_.size();) {
      std::size_t end = begin;
      while (end < passages_.size() && passages_[end].link == passages_[begin].link) ++end;
      if (!divide(std::span(passages_).subspan(begin, end - begin))) return false;
      begin = end;
    }
    return true;
  }

  /// "Neighbour i is at end 0" and "it is at end 1" are numbers 2i and 2i + 1, and what implies
  /// each other is joined.
  bool divide(std::span<const Passage> passages) {
    std::vector<std::uint32_t> things;
    for (const Passage& passage : passages) {
      things.push_back(passage.before);
      things.push_back(passage.after);
    }
    std::ranges::sort(things);
    things.erase(std::unique(things.begin(), things.end()), things.end());
    const auto index = [&](std::uint32_t thing) {
      return static_cast<std::uint32_t>(std::ranges::lower_bound(things, thing) - things.begin());
    };
    DisjointSets same(2 * things.size());
    for (const Passage& passage : passages) {
      const std::uint32_t before = index(passage.before), after = index(passage.after);
      (void)same.join(2 * before, 2 * after + 1);
      (void)same.join(2 * before + 1, 2 * after);
    }
    Families& families = families_[passages.front().link];
    families.first = family_count_;
    std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> ends; // [set]: family, end
    for (const Passage& passage : passages) {
      const std::uint32_t set = same.find(2 * index(passage.before)),
                          other = same.find(2 * index(passage.before) + 1);
      if (set == other) return false;
      if (!ends.try_emplace(set, family_count_, 0).second) continue;
      ends.try_emplace(other, family_count_++, 1);
      ++families.count;
    }
    std::vector<Neighbour>& neighbours = neighbours_[passages.front().link];
    for (std::uint32_t i = 0; i < things.size(); ++i) {
      const auto [family, end] = ends.at(same.find(2 * i));
      neighbours.push_back({things[i], family, end});
    }
    return true;
  }

  void join_neighbours() {
    for (std::uint32_t link = 0; link < neighbours_.size(); ++link)
      for (const Neighbour& at : neighbours_[link]) {
        std::uint32_t other = at.thing;
        if (other >= hosts_) {
          const Neighbour& back = *std::ranges::lower_bound(neighbours_[at.thing - hosts_],
                                                            hosts_ + link, {}, &Neighbour::thing);
          other = end_of(back.family, back.end);
        }
        (void)joined_.join(end_of(at.family, at.end), other);
      }
  }

  void join_pairs() {
    std::map<std::string_view, std::uint32_t> by_name;
    for (std::uint32_t link = 0; link < neighbours_.size(); ++link)
      if (!neighbours_[link].empty()) by_name.emplace(platform_.links[link].name, link);
    for (const auto& [name, up] : by_name) {
      if (!name.ends_with("_UP")) continue;
      const auto down = by_name.find(std::string(name.substr(0, name.size() - 2)) + "DOWN");
      if (down == by_name.end()) continue;
      for (const std::uint32_t half : {up, down->second}) // is taken in one direction
        for (std::uint32_t i = 1; i < families_[half].count; ++i) join_family(half, i, false);
      for (const std::uint32_t end : {0U, 1U})
        (void)joined_.join(end_of(families_[up].first, end),
                           end_of(families_[down->second].first, 1 - end));
    }
  }

  /// To the link's first one.
  void join_family(std::uint32_t link, std::uint32_t i, bool turned) {
    const std::uint32_t first = families_[link].first;
    for (const std::uint32_t end : {0U, 1U})
      (void)joined_.join(end_of(first, end), end_of(first + i, turned ? 1 - end : end));
  }

  void join_families() {
    constexpr int most_rounds = 64;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> open, left; // link, number of its family
    for (std::uint32_t link = 0; link < families_.size(); ++link)
      for (std::uint32_t i = 1; i < families_[link].count; ++i) open.emplace_back(link, i);
    for (int round = 0; !open.empty(); ++round) {
      left.clear();
      for (const auto& [link, i] : open) {
        const std::uint32_t first = families_[link].first, next = first + i;
        const auto meet = [&](std::uint32_t end, std::uint32_t other) {
          return joined_.find(end_of(first, end)) == joined_.find(end_of(next, other));
        };
        if (meet(0, 0) || meet(1, 1))
          join_family(link, i, false);
        else if (meet(0, 1) || meet(1, 0))
          join_family(link, i, true);
        else
          left.emplace_back(link, i);
      }
      if (left.size() == open.size() || round == most_rounds) {
        const std::uint32_t guessed = left.empty() ? 0 : left.front().first;
        std::erase_if(left, [&](const auto& family) {
          if (family.first != guessed && round < most_rounds) return false;
          join_family(family.first, family.second, false);
          return true;
        });
      }
      std::swap(open, left);
    }
  }

  bool are_ends_apart() {
    for (std::uint32_t host = 0; host < hosts_; ++host)
      if (joined_.find(host) != host) return false;
    for (std::uint32_t link = 0; link < neighbours_.size(); ++link)
      if (!neighbours_[link].empty() && junction(link, 0) == junction(link, 1)) return false;
    return true;
  }

  /// Also notes which links are taken in which direction.
  bool are_routes_walks() {
    for (std::uint32_t from = 0; from < hosts_; ++from)
      for (std::uint32_t to = 0; to < hosts_; ++to) {
        if (from == to || platform_.route_latency[std::size_t{from} * hosts_ + to] < 0) continue;
        std::uint32_t here = from;
        double latency = 0;
        for (const std::uint32_t link : platform_.route(from, to)) {
          const std::uint32_t end = junction(link, 0) == here ? 0 : 1;
          if (junction(link, end) != here) return false;
          takes_[link][end] = true;
          here = junction(link, 1 - end);
          latency += platform_.links[link].latency;
        }
        const double told = platform_.route_latency[std::size_t{from} * hosts_ + to];
        if (here != to || std::abs(told - latency) > 1e-12 + 1e-9 * told) return false;
      }
    return true;
  }

  const SimGridPlatform& platform_;
  std::uint32_t hosts_;
  std::vector<Passage> passages_;
  std::vector<std::vector<Neighbour>> neighbours_; ///< [link]: ascending
  std::vector<Families> families_;                 ///< [link]
  std::uint32_t family_count_ = 0;
  std::vector<std::array<bool, 2>> takes_;
  DisjointSets joined_; ///< hosts, then two ends of each family
  bool fits_ = false;
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
    for (const bool pairs : {true, false}) {
      SimGridJunctions junctions(platform_, pairs);
      if (junctions.fits()) return met(junctions);
    }
    return taken_at_their_word();
  }

private:
  TopologyParts met(SimGridJunctions& junctions) {
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
        if (!junctions.is_taken(id, end)) continue;
        const NodeId from = node_of(junctions.junction(id, end)),
                     to = node_of(junctions.junction(id, 1 - end));
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
        if (route.empty())
          throw InputError(fmt::format("{}: route \"{}\" has no links, which would say its "
                                       "bandwidth",
                                       source_, name));
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
    for (auto& [number, group] : groups) parts_.groups.push_back(std::move(group));
    return std::move(parts_);
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
  const std::size_t first = content.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || content[first] != '<') return false;
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
