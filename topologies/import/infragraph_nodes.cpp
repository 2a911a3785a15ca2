// Why: a few lines of InfraGraph stand for thousands of nodes and links. A device is laid out once
// (its nodes count from 0, those of a device within it follow each other), and each of its copies
// is the same with another first number; what is too large is known before it is made.
//
// What pairs a scheme makes is taken from InfraGraph's own service: one2one as far as the shorter
// side goes, many2many without loops, and the same edge again is the same edge.
#include "sim/text.hpp"
#include "topologies/import/infragraph.hpp"
#include "topologies/import/servers.hpp"
#include "topologies/import/text_lines.hpp"
#include "topologies/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <tuple>
#include <unordered_set>
#include <utility>

namespace tutti::topologies {

namespace {

constexpr std::int64_t most_infra_links = 4'000'000;
constexpr std::size_t most_infra_names = std::size_t{128} << 20; ///< bytes of all nodes' names

struct InfraPair {
  std::uint32_t from, to, link;
};

/// A device, with those within it.
struct InfraLayout {
  int depth = 0; ///< of devices within devices; 0: not laid out yet
  bool open = false;
  std::int64_t nodes = 0, links = 0;
  std::vector<std::size_t> offsets; ///< by component: of its first node
  std::vector<InfraPair> pairs;     ///< of its own edges
  bool has_pairs = false;
};

class InfraNodes {
public:
  InfraNodes(InfraNetwork network, Assumptions& assumed)
      : assumed_(assumed), devices_(std::move(network.devices)), root_(network.root),
        layouts_(devices_.size()) {}

  TopologyParts expand() {
    find_counts();
    lay_out(root_, 1);
    return build();
  }

private:
  struct Step {
    std::size_t device, component;
    const InfraPart* part;
  };
  using Path = std::vector<Step>;
  [[nodiscard]] Path path(std::size_t root, const InfraEnd& end) const {
    Path steps;
    std::size_t now = root;
    for (std::size_t i = 0; i < end.size(); ++i) {
      const InfraDevice& device = devices_[now];
      const auto found = device.component_of.find(end[i].name);
      if (found == device.component_of.end()) {
        // The schema has "dgx.cx5[0]" of an instance whose device is dgx.
        if (!end[i].is_slice && end[i].name == device.name && i + 1 < end.size()) continue;
        throw end[i].at.error(
            unknown_name("component", end[i].name.substr(0, 64), component_names(device)));
      }
      steps.push_back({now, found->second, &end[i]});
      const InfraComponent& component = device.components[found->second];
      if (component.device.empty() && i + 1 < end.size())
        throw end[i + 1].at.error(
            fmt::format("{} is no device that has components", short_quote(end[i].name)));
      if (component.device.empty()) return steps;
      now = component.part;
    }
    throw end.back().at.error(fmt::format("{} is a device: which component of it? "
                                          "(known: {})",
                                          short_quote(end.back().name),
                                          few_of(component_names(devices_[now]))));
  }

  /// The root, and what it is made of.
  [[nodiscard]] std::vector<std::size_t> used_devices() const {
    std::vector<std::size_t> used{root_};
    std::set<std::size_t> seen{root_};
    for (std::size_t i = 0; i < used.size(); ++i)
      for (const InfraComponent& component : devices_[used[i]].components)
        if (!component.device.empty() && seen.insert(component.part).second)
          used.push_back(component.part);
    return used;
  }
  /// Where the file has none: from the indexes that occur.
  void find_counts() {
    const std::vector<std::size_t> used = used_devices();
    std::map<const InfraComponent*, std::int64_t> least; // one more than the largest index
    for (const std::size_t d : used)
      for (const InfraEdge& edge : devices_[d].edges)
        for (const InfraEnd& end : edge.ends)
          for (const Step& step : path(d, end)) {
            const InfraComponent& component = component_at(step);
            const std::int64_t last = std::max(step.part->last, step.part->first + 1);
            if (component.count < 0) {
              std::int64_t& count = least[&component];
              count = std::max(count, last);
            } else if (step.part->is_slice && last > component.count) {
              throw step.part->at.error(fmt::format("index {} of {} (its count is {})", last - 1,
                                                    short_quote(component.name), component.count));
            }
          }
    std::vector<std::string> counts;
    for (const std::size_t d : used)
      for (InfraComponent& component : devices_[d].components) {
        if (component.count >= 0) continue;
        const auto found = least.find(&component);
        component.count = found == least.end() ? 1 : found->second;
        counts.push_back(fmt::format("{}{} {}",
                                     devices_[d].name.empty() ? "" : devices_[d].name + ".",
                                     component.name, component.count));
      }
    if (!counts.empty())
      assumed_.add("counts that the file lacks",
                   fmt::format("as its connections count: {}", few_of(counts)));
  }

  /// Nodes and links that it has, and where the nodes of each component begin.
  void lay_out(std::size_t number, int depth) {
    InfraLayout& layout = layouts_[number];
    if (layout.depth > 0) return;
    const InfraDevice& device = devices_[number];
    if (layout.open)
      throw device.at.error(fmt::format("device {} is a part of itself", short_quote(device.name)));
    const auto require_depth = [&](int devices) {
      if (devices > most_nested_devices + 1)
        throw device.at.error(
            fmt::format("more than {} devices within each other", most_nested_devices));
    };
    require_depth(depth);
    layout.open = true;
    int inner = 0;
    for (const InfraComponent& component : device.components) {
      layout.offsets.push_back(static_cast<std::size_t>(layout.nodes));
      std::int64_t nodes = 1, links = 0;
      if (!component.device.empty()) {
        lay_out(component.part, depth + 1);
        nodes = layouts_[component.part].nodes;
        links = layouts_[component.part].links;
        inner = std::max(inner, layouts_[component.part].depth);
      }
      layout.nodes += component.count * nodes;
      if (layout.nodes > most_npus)
        throw component.at.error(fmt::format("more than {} components", most_npus));
      add_links(layout, component.count * links, component.at);
    }
    layout.depth = inner + 1;
    require_depth(layout.depth);
    for (const InfraEdge& edge : device.edges) add_links(layout, pair_count(number, edge), edge.at);
    layout.open = false;
  }
  static void add_links(InfraLayout& layout, std::int64_t links, const TreePlace& at) {
    layout.links += links;
    if (layout.links > most_infra_links)
      throw at.error(fmt::format("more than {} links", most_infra_links));
  }

  [[nodiscard]] const InfraComponent& component_at(const Step& step) const {
    return devices_[step.device].components[step.component];
  }
  [[nodiscard]] std::int64_t length(const Step& step) const {
    const std::int64_t last = step.part->last < 0 ? component_at(step).count : step.part->last;
    return std::max<std::int64_t>(0, last - step.part->first + step.part->step - 1) /
           step.part->step;
  }
  /// At most the number of nodes of the device. Pre: it is laid out.
  [[nodiscard]] std::int64_t length(const Path& steps) const {
    std::int64_t product = 1;
    for (const Step& step : steps) product *= length(step);
    return product;
  }
  /// The first ones, the last step varying fastest.
  [[nodiscard]] std::vector<std::uint32_t> nodes_of(const Path& steps, std::int64_t most) const {
    std::vector<std::uint32_t> nodes{0};
    for (const Step& step : steps) {
      const InfraComponent& component = component_at(step);
      const std::int64_t stride = component.device.empty() ? 1 : layouts_[component.part].nodes;
      const std::size_t offset = layouts_[step.device].offsets[step.component];
      std::vector<std::uint32_t> next;
      for (const std::uint32_t outer : nodes)
        for (std::int64_t i = 0; i < length(step) && static_cast<std::int64_t>(next.size()) < most;
             ++i) {
          const std::int64_t index = step.part->first + i * step.part->step;
          next.push_back(outer + static_cast<std::uint32_t>(
                                     offset + static_cast<std::size_t>(index * stride)));
        }
      nodes = std::move(next);
    }
    return nodes;
  }
  [[nodiscard]] std::int64_t pair_count(std::size_t device, const InfraEdge& edge) const {
    const std::int64_t one = length(path(device, edge.ends[0]));
    const std::int64_t other = length(path(device, edge.ends[1]));
    switch (edge.scheme) {
    case InfraEdge::Scheme::single:
      if (one != 1 || other != 1)
        throw edge.at.error(fmt::format("{} and {} ends, and no scheme (known: one2one, "
                                        "many2many, ring)",
                                        one, other));
      return 1;
    case InfraEdge::Scheme::one2one: return std::min(one, other);
    case InfraEdge::Scheme::many2many: return one * other;
    case InfraEdge::Scheme::ring:
      if (one != other) throw uneven_ring(edge);
      return one;
    }
    return 0;
  }
  [[nodiscard]] static InputError uneven_ring(const InfraEdge& edge) {
    return edge.at.error("the two ends of a ring differ, and the schema doesn't say what such a "
                         "ring is");
  }
  void find_pairs(std::size_t number) {
    if (layouts_[number].has_pairs) return;
    std::vector<InfraPair>& pairs = layouts_[number].pairs;
    for (const InfraEdge& edge : devices_[number].edges) {
      const Path one = path(number, edge.ends[0]), other = path(number, edge.ends[1]);
      const std::int64_t count = pair_count(number, edge);
      if (count == 0) continue;
      const std::uint32_t link = link_of(number, edge, one, other);
      const bool is_all = edge.scheme == InfraEdge::Scheme::many2many;
      const std::int64_t most = is_all ? most_infra_links : count;
      const std::vector<std::uint32_t> from = nodes_of(one, most), to = nodes_of(other, most);
      if (edge.scheme == InfraEdge::Scheme::single && from == to)
        throw edge.at.error("a link from a component to itself");
      if (edge.scheme == InfraEdge::Scheme::ring) {
        if (from != to) throw uneven_ring(edge);
        assumed_.add("rings", "from each component to the next, and from the last to the first");
      }
      for (std::size_t i = 0; i < from.size(); ++i) {
        if (is_all)
          for (const std::uint32_t end : to) pairs.push_back({from[i], end, link});
        else if (edge.scheme == InfraEdge::Scheme::ring)
          pairs.push_back({from[i], to[(i + 1) % to.size()], link});
        else
          pairs.push_back({from[i], to[i], link});
      }
    }
    std::erase_if(pairs, [](const InfraPair& pair) { return pair.from == pair.to; });
    layouts_[number].has_pairs = true;
  }

  /// Its number in link_values_.
  std::uint32_t link_of(std::size_t number, const InfraEdge& edge, const Path& one,
                        const Path& other) {
    const InfraDevice& device = devices_[number];
    if (const auto found = device.link_of.find(edge.link); found != device.link_of.end())
      return link_number(number, found->second);
    // The published DGX A100 connects instances by a link that only their devices have.
    std::vector<std::size_t> scopes;
    for (const Path* steps : {&one, &other})
      for (const Step& step : *steps) scopes.push_back(step.device);
    const InfraLink* inner = nullptr;
    std::size_t scope_of_inner = 0;
    for (const std::size_t scope : scopes) {
      const auto found = devices_[scope].link_of.find(edge.link);
      if (found == devices_[scope].link_of.end()) continue;
      const InfraLink& link = devices_[scope].links[found->second];
      if (inner != nullptr && (link.rate != inner->rate || link.latency != inner->latency))
        throw edge.link_at.error(fmt::format("link {} isn't defined here, and differs between the "
                                             "devices that it connects",
                                             short_quote(edge.link)));
      // One that says what it is tells more than one that doesn't.
      if (inner == nullptr || (link.generation && !inner->generation))
        inner = &link, scope_of_inner = scope;
    }
    if (inner == nullptr) throw edge.link_at.error(unknown_link(edge.link, number, scopes));
    inner_links_.insert(short_quote(edge.link));
    return link_number(scope_of_inner, devices_[scope_of_inner].link_of.at(edge.link));
  }
  [[nodiscard]] std::string unknown_link(const std::string& name, std::size_t number,
                                         const std::vector<std::size_t>& scopes) const {
    std::set<std::size_t> known_in{number};
    known_in.insert(scopes.begin(), scopes.end());
    std::vector<std::string> known;
    for (const std::size_t scope : known_in)
      for (const InfraLink& link : devices_[scope].links)
        if (known.size() < 20) known.push_back(link.name);
    return unknown_name("link", name.substr(0, 64), known);
  }
  std::uint32_t link_number(std::size_t device, std::size_t link) {
    const auto [found, is_new] = link_numbers_.emplace(
        std::pair(device, link), static_cast<std::uint32_t>(link_values_.size()));
    if (!is_new) return found->second;
    const InfraLink& given = devices_[device].links[link];
    const std::string name = short_quote(given.name) +
                             (devices_[device].name.empty() ? "" : " of " + devices_[device].name);
    if (!given.latency) without_latency_.push_back(name);
    if (!given.lanes.empty()) lanes_.push_back(fmt::format("{}: {}", name, given.lanes));
    Link values{};
    values.bandwidth = given.rate         ? *given.rate
                       : given.generation ? rate_of(*given.generation, name)
                                          : assumed_.rate("bandwidth of a link");
    if (!given.rate && !given.generation) without_rate_.push_back(name);
    values.latency = given.latency ? *given.latency : assumed_.time("latency of a link");
    link_values_.push_back(values);
    return found->second;
  }

  Bandwidth rate_of(const LinkGeneration& named, const std::string& link) {
    if (named.is_nvlink) {
      const std::string row = fmt::format("one NVLink {}", named.number);
      generations_.push_back(fmt::format("{} as {}", link, row));
      return assumed_.rate(row);
    }
    const int lanes = named.lanes > 0 ? named.lanes : 16;
    const Bandwidth rate = pcie_rate(named.number, lanes);
    generations_.push_back(
        fmt::format("{} as {} lane{}{} of PCIe {}: {}", link, lanes, lanes == 1 ? "" : "s",
                    named.lanes > 0 ? "" : " (it doesn't say how many)", named.number,
                    short_rate_text(static_cast<double>(rate.bytes_per_second))));
    return rate;
  }

  /// All nodes in their order, and all links.
  struct Whole {
    std::vector<std::string> names;
    std::vector<bool> is_npu;
    std::vector<InfraPair> links;
    std::size_t name_bytes = 0;
  };
  [[nodiscard]] static std::string indexed(const std::string& name, std::int64_t index) {
    std::string text = name;
    for (char& c : text)
      if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '-' && c != ':')
        c = '_';
    if (text.back() >= '0' && text.back() <= '9') text += '-';
    return text + std::to_string(index);
  }
  void add_nodes(Whole& whole, std::size_t number, const std::string& prefix) {
    const InfraDevice& device = devices_[number];
    for (const InfraComponent& component : device.components) {
      const bool is_device = !component.device.empty();
      if (is_device && layouts_[component.part].nodes == 0) continue;
      for (std::int64_t i = 0; i < component.count; ++i) {
        std::string name = prefix + indexed(component.name, i);
        if (is_device) {
          add_nodes(whole, component.part, name + ".");
          continue;
        }
        whole.name_bytes += name.size();
        if (whole.name_bytes > most_infra_names)
          throw component.at.error("the names of its nodes are too long");
        whole.names.push_back(std::move(name));
        whole.is_npu.push_back(component.npu);
      }
    }
  }
  void add_links(Whole& whole, std::size_t number, std::size_t first) {
    if (layouts_[number].links == 0) return;
    find_pairs(number);
    const InfraDevice& device = devices_[number];
    if (!device.name.empty()) add_own_links(whole, number, first);
    for (std::size_t c = 0; c < device.components.size(); ++c) {
      const InfraComponent& component = device.components[c];
      if (component.device.empty() || layouts_[component.part].links == 0) continue;
      for (std::int64_t i = 0; i < component.count; ++i)
        add_links(whole, component.part,
                  first + layouts_[number].offsets[c] +
                      static_cast<std::size_t>(i * layouts_[component.part].nodes));
    }
    // Between instances: last, as in a file.
    if (device.name.empty()) add_own_links(whole, number, first);
  }
  void add_own_links(Whole& whole, std::size_t number, std::size_t first) const {
    for (const InfraPair& pair : layouts_[number].pairs)
      whole.links.push_back({pair.from + static_cast<std::uint32_t>(first),
                             pair.to + static_cast<std::uint32_t>(first), pair.link});
  }
  /// The same edge again, in whichever direction, goes.
  void drop_repeated(std::vector<InfraPair>& links) {
    const auto key = [&](std::uint32_t i) {
      return std::tuple(std::min(links[i].from, links[i].to), std::max(links[i].from, links[i].to),
                        links[i].link, i);
    };
    std::vector<std::uint32_t> order(links.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, {}, key);
    std::vector<bool> is_again(links.size());
    std::size_t parallel = 0;
    for (std::size_t i = 1; i < order.size(); ++i) {
      const auto [a, b, link, at] = key(order[i]);
      const auto [before_a, before_b, before_link, before_at] = key(order[i - 1]);
      if (a != before_a || b != before_b) continue;
      if (link == before_link)
        is_again[at] = true;
      else
        ++parallel;
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < links.size(); ++i)
      if (!is_again[i]) links[kept++] = links[i];
    if (kept < links.size())
      assumed_.add("the same link between the same components again",
                   "is the same one, as in InfraGraph's own graph");
    links.resize(kept);
    if (parallel > 0)
      assumed_.add("several links, by their names, between two components",
                   "each is there (InfraGraph's own graph keeps one)");
  }

  TopologyParts build() {
    Whole whole;
    // "xpu0" where there is one device only, else "server0.xpu0".
    const InfraDevice& outer = devices_[root_];
    if (outer.name.empty() && outer.components.size() == 1 && outer.components.front().count == 1)
      add_nodes(whole, outer.components.front().part, "");
    else
      add_nodes(whole, root_, "");
    if (whole.names.empty()) throw outer.at.error("no components");
    add_links(whole, root_, 0);
    drop_repeated(whole.links);
    note_assumptions();

    TopologyParts parts;
    std::unordered_set<std::string> names;
    std::vector<NodeId> id_of(whole.names.size());
    for (const bool npus : {true, false})
      for (std::size_t i = 0; i < whole.names.size(); ++i) {
        if (whole.is_npu[i] != npus) continue;
        std::string name = whole.names[i];
        for (int copy = 2; !names.insert(name).second; ++copy)
          name = fmt::format("{}_{}", whole.names[i], copy);
        const Abilities can = npus ? Abilities{} : Abilities{false, false, false};
        id_of[i] =
            parts.add_node({std::move(name), npus ? NodeKind::npu : NodeKind::switching, can, {}});
      }
    parts.links.reserve(2 * whole.links.size());
    for (const InfraPair& pair : whole.links)
      parts.add_duplex(between(id_of[pair.from], id_of[pair.to], link_values_[pair.link]));
    return parts;
  }
  void note_assumptions() {
    if (!without_rate_.empty()) assumed_.add("links that have no bandwidth", few_of(without_rate_));
    if (!generations_.empty())
      assumed_.add("links that have no bandwidth, but words that name their generation",
                   few_of(generations_));
    if (!without_latency_.empty())
      assumed_.add("links that have no latency", few_of(without_latency_));
    if (!lanes_.empty()) assumed_.add("transfers", few_of(lanes_));
    if (!inner_links_.empty())
      assumed_.add("links that are only defined within the devices they connect",
                   few_of({inner_links_.begin(), inner_links_.end()}));
    assumed_.add("links", "both ways at once, with their bandwidth each way");
    assumed_.add("components but xpus", "they forward, and neither copy nor reduce");
  }

  Assumptions& assumed_;
  std::vector<InfraDevice> devices_;
  std::size_t root_;
  std::vector<InfraLayout> layouts_; ///< by device
  std::map<std::pair<std::size_t, std::size_t>, std::uint32_t> link_numbers_;
  std::vector<Link> link_values_;
  std::vector<std::string> without_rate_, generations_, without_latency_, lanes_;
  std::set<std::string> inner_links_;
};

} // namespace

TopologyParts expand_infragraph(InfraNetwork network, Assumptions& assumed) {
  return InfraNodes(std::move(network), assumed).expand();
}

} // namespace tutti::topologies
