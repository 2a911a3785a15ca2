// ASTRA-sim's network file for its analytical backend, which read_astra() reads back: four lists
// with an entry for each dimension of a product of Ring, FullyConnected and Switch.
//
// The file says nothing of single nodes and links, so a network has to be exactly such a product:
// NPUs numbered with dimension 0 fastest, each dimension of one wiring, bandwidth and latency. That
// is checked link by link. A network without coordinates is one dimension. Bandwidths are in units
// of 2^30 bytes/s there (astra-sim 518bd51, astra-network-analytical), latencies in ns.
#include "sim/error.hpp"
#include "topologies/export/comments.hpp"
#include "topologies/export/list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

namespace {

// The limits of read_astra().
constexpr std::size_t most_astra_dimensions = 16;
constexpr std::int64_t most_astra_latency_ps = 1'000'000'000'000'000;

class AstraWriter {
public:
  explicit AstraWriter(const Topology& topology) : topology_(topology) {}

  std::string text() {
    check_nodes();
    find_dimensions();
    for (std::uint32_t s = topology_.npu_count(); s < topology_.node_count(); ++s)
      place_switch(NodeId{s});
    for (std::uint32_t l = 0; l < topology_.link_count(); ++l) place_link(LinkId{l});
    std::string kinds, counts, rates, latencies;
    for (std::size_t d = 0; d < dimensions_.size(); ++d) {
      const std::string_view comma = d == 0 ? "" : ", ";
      kinds += fmt::format("{}{}", comma, kind_of(dimensions_[d]));
      const Link& link = topology_.link(dimensions_[d].links.front());
      counts += fmt::format("{}{}", comma, dimensions_[d].extent);
      rates += fmt::format("{}{}", comma, gibibytes(link.bandwidth));
      latencies += fmt::format("{}{}", comma, nanoseconds(link.latency));
    }
    return head() + fmt::format("topology: [ {} ]\nnpus_count: [ {} ]\nbandwidth: [ {} ]  # 2^30 "
                                "bytes/s\nlatency: [ {} ]  # ns\n",
                                kinds, counts, rates, latencies);
  }

private:
  /// One that has more than one NPU.
  struct Dimension {
    std::size_t label; ///< in the topology's shape
    std::int64_t extent, stride;
    std::vector<LinkId> links = {};
    std::set<std::int64_t> hubs = {}; ///< the first NPU of each switch
  };

  [[nodiscard]] static InputError refused(const std::string& message) {
    return InputError(fmt::format("ASTRA-sim's network file can't say it: {}", message));
  }
  [[nodiscard]] const std::string& name(NodeId id) const { return topology_.node(id).name; }
  [[nodiscard]] std::string name(const Link& link) const {
    return fmt::format("{}>{}", name(link.from), name(link.to));
  }
  [[nodiscard]] bool is_npu(NodeId id) const { return id.value < topology_.npu_count(); }

  void check_nodes() const {
    if (topology_.npu_count() < 2) throw refused("there are no two NPUs");
    if (!topology_.groups().empty())
      throw refused(fmt::format("group \"{}\" shares a bandwidth", topology_.groups()[0].name));
    for (const Node& node : topology_.nodes()) {
      if (node.kind == NodeKind::memory) throw refused(fmt::format("{} is a memory", node.name));
      const bool is_switch = node.kind == NodeKind::switching;
      const auto [store, copy, reduce] = node.can;
      if (is_switch && (store || copy || reduce))
        throw refused(fmt::format("{} can {}, and a Switch only forwards", node.name,
                                  store  ? "store"
                                  : copy ? "copy"
                                         : "reduce"));
      if (!is_switch && !(store && copy && reduce))
        throw refused(fmt::format("{} can't {}", node.name,
                                  !store  ? "store"
                                  : !copy ? "copy"
                                          : "reduce"));
      if (node.reduce_rate.bytes_per_second > 0)
        throw refused(fmt::format("{} reduces at {}", node.name, to_text(node.reduce_rate)));
    }
  }

  void find_dimensions() {
    std::vector<int> shape(topology_.shape().begin(), topology_.shape().end());
    if (shape.empty()) shape.push_back(static_cast<int>(topology_.npu_count()));
    std::int64_t stride = 1;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      for (std::uint32_t n = 0; !topology_.shape().empty() && n < topology_.npu_count(); ++n)
        if (topology_.coordinate(NodeId{n})[d] != n / stride % shape[d])
          throw refused(fmt::format("{} has coordinates {}, and NPUs are numbered with dimension 0 "
                                    "fastest",
                                    name(NodeId{n}),
                                    fmt::join(topology_.coordinate(NodeId{n}), ",")));
      if (shape[d] > 1) dimensions_.push_back({d, shape[d], stride});
      stride *= shape[d];
      if (stride > topology_.npu_count()) break;
    }
    if (stride != topology_.npu_count())
      throw refused(fmt::format("{} NPUs don't fill the grid of {}", topology_.npu_count(),
                                fmt::join(shape, "x")));
    if (dimensions_.size() > most_astra_dimensions)
      throw refused(fmt::format("{} dimensions are too many (at most {})", dimensions_.size(),
                                most_astra_dimensions));
  }

  [[nodiscard]] static std::int64_t coordinate(const Dimension& dimension, NodeId npu) {
    return npu.value / dimension.stride % dimension.extent;
  }

  /// Its NPUs have to be a line of one dimension, with a link each way.
  void place_switch(NodeId hub) {
    std::vector<std::uint32_t> npus, senders;
    for (const LinkId link : topology_.out_links(hub))
      npus.push_back(topology_.link(link).to.value);
    for (const LinkId link : topology_.in_links(hub))
      senders.push_back(topology_.link(link).from.value);
    std::ranges::sort(npus);
    std::ranges::sort(senders);
    for (const std::vector<std::uint32_t>* ends : {&npus, &senders})
      if (!ends->empty() && !is_npu(NodeId{ends->back()}))
        throw refused(fmt::format("{} and {} are switches with a link between them", name(hub),
                                  name(NodeId{ends->back()})));
    if (npus != senders) throw refused(fmt::format("{} has other links in than out", name(hub)));
    for (std::size_t d = 0; d < dimensions_.size() && npus.size() > 1; ++d) {
      Dimension& dimension = dimensions_[d];
      if (npus[1] - npus[0] != dimension.stride) continue;
      if (static_cast<std::int64_t>(npus.size()) != dimension.extent) break;
      for (std::size_t i = 0; i < npus.size(); ++i)
        if (npus[i] != npus[0] + i * static_cast<std::size_t>(dimension.stride) ||
            coordinate(dimension, NodeId{npus[i]}) != static_cast<std::int64_t>(i))
          throw no_line(hub);
      if (!dimension.hubs.insert(npus[0]).second)
        throw refused(fmt::format("{} is a second switch of the same NPUs", name(hub)));
      hub_dimension_.push_back(d);
      return;
    }
    throw no_line(hub);
  }
  [[nodiscard]] InputError no_line(NodeId hub) const {
    return refused(
        fmt::format("the NPUs at {} aren't all those of one line of a dimension", name(hub)));
  }

  [[nodiscard]] std::size_t dimension_of(const Link& link) const {
    for (const NodeId end : {link.from, link.to})
      if (!is_npu(end)) return hub_dimension_[end.value - topology_.npu_count()];
    std::size_t found = dimensions_.size();
    for (std::size_t d = 0; d < dimensions_.size(); ++d) {
      if (coordinate(dimensions_[d], link.from) == coordinate(dimensions_[d], link.to)) continue;
      if (found < dimensions_.size())
        throw refused(fmt::format("{} is along more than one dimension", name(link)));
      found = d;
    }
    return found;
  }
  void place_link(LinkId id) {
    const Link& link = topology_.link(id);
    Dimension& dimension = dimensions_[dimension_of(link)];
    if (link.dimension >= 0 && !topology_.shape().empty() &&
        static_cast<std::size_t>(link.dimension) != dimension.label)
      throw refused(fmt::format("{} is of dimension {}, but is along dimension {}", name(link),
                                link.dimension, dimension.label));
    dimension.links.push_back(id);
    const Link& first = topology_.link(dimension.links.front());
    if (link.bandwidth != first.bandwidth)
      throw refused(fmt::format("in dimension {} {} has {}, but {} has {}", dimension.label,
                                name(first), to_text(first.bandwidth), name(link),
                                to_text(link.bandwidth)));
    if (link.latency != first.latency)
      throw refused(fmt::format("in dimension {} {} takes {}, but {} {}", dimension.label,
                                name(first), to_text(first.latency), name(link),
                                to_text(link.latency)));
  }

  /// Errors: InputError where the links aren't exactly one of the three wirings.
  [[nodiscard]] std::string_view kind_of(const Dimension& dimension) const {
    if (dimension.links.empty())
      throw refused(fmt::format("dimension {} has no links", dimension.label));
    if (!dimension.hubs.empty()) return check_switches(dimension);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> ends;
    bool steps = true, by_sender = true;
    for (const LinkId id : dimension.links) {
      const Link& link = topology_.link(id);
      if (!ends.empty()) by_sender &= ends.back().first <= link.from.value;
      ends.emplace_back(link.from.value, link.to.value);
      const std::int64_t step =
          (coordinate(dimension, link.to) + dimension.extent - coordinate(dimension, link.from)) %
          dimension.extent;
      steps &= step == 1 || step == dimension.extent - 1;
    }
    std::ranges::sort(ends);
    if (const auto twice = std::ranges::adjacent_find(ends); twice != ends.end())
      throw refused(fmt::format("there is more than one link {}>{}", name(NodeId{twice->first}),
                                name(NodeId{twice->second})));
    // Rings of two and three are fully connected too: distinguished by the order in which their
    // readers number the links.
    const bool is_ring = steps && (dimension.extent != 3 || !by_sender);
    for (std::uint32_t n = 0; n < topology_.npu_count(); ++n)
      for (std::int64_t step = 1; step < dimension.extent; ++step) {
        if (is_ring && step != 1 && step != dimension.extent - 1) continue;
        const std::int64_t x = coordinate(dimension, NodeId{n});
        const std::int64_t to = n + ((x + step) % dimension.extent - x) * dimension.stride;
        if (!std::ranges::binary_search(ends, std::pair(n, static_cast<std::uint32_t>(to))))
          throw refused(fmt::format("dimension {} is no {}: there is no link {}>{}",
                                    dimension.label, is_ring ? "Ring" : "Ring or FullyConnected",
                                    name(NodeId{n}), name(NodeId{static_cast<std::uint32_t>(to)})));
      }
    return is_ring ? "Ring" : "FullyConnected";
  }
  [[nodiscard]] std::string_view check_switches(const Dimension& dimension) const {
    for (const LinkId id : dimension.links)
      if (const Link& link = topology_.link(id); is_npu(link.from) && is_npu(link.to))
        throw refused(
            fmt::format("dimension {} has switches, but {} has none", dimension.label, name(link)));
    for (std::uint32_t n = 0; n < topology_.npu_count(); ++n)
      if (coordinate(dimension, NodeId{n}) == 0 && !dimension.hubs.contains(n))
        throw refused(fmt::format("dimension {} has switches, but {} is at none", dimension.label,
                                  name(NodeId{n})));
    return "Switch";
  }

  /// A fraction of a power of two, so that few digits are exact.
  static std::string gibibytes(Bandwidth rate) {
    const double value = static_cast<double>(rate.bytes_per_second) / 0x1p30;
    if (value < 1e-6 || value > 1e9 || std::llround(value * 0x1p30) != rate.bytes_per_second)
      throw refused(
          fmt::format("a bandwidth of {}, which has no exact value in its units", to_text(rate)));
    return fmt::format("{}", value);
  }
  static std::string nanoseconds(Time latency) {
    if (latency.ps > most_astra_latency_ps)
      throw refused(fmt::format("a latency of {} is too long", to_text(latency)));
    std::string text = fmt::format("{}.{:03}", latency.ps / 1000, latency.ps % 1000);
    while (text.ends_with("0") && !text.ends_with(".0")) text.pop_back();
    return text;
  }

  [[nodiscard]] std::string head() const {
    std::string text;
    for (const auto& lines :
         {title_lines(topology_), assumed_lines(topology_), lines_of_models_left_out(topology_)})
      for (const std::string& line : lines) text += fmt::format("# {}\n", line);
    return text;
  }

  const Topology& topology_;
  std::vector<Dimension> dimensions_;
  std::vector<std::size_t> hub_dimension_; ///< of each switch
};

} // namespace

std::string topology_astra(const Topology& topology) { return AstraWriter(topology).text(); }

} // namespace tutti
