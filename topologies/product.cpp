// A product is built dimension by dimension: all lines of NPUs along a dimension get that
// dimension's wiring (line, ring, full mesh or switch).

#include "topologies/product.hpp"

#include "topologies/parts.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <utility>

namespace tutti::topologies {

namespace {

struct Dimension {
  Wiring wiring;
  std::int64_t extent;
  std::int64_t stride; ///< distance of the ids of neighbours
  Link values;

  [[nodiscard]] std::int64_t coordinate(std::int64_t npu) const { return npu / stride % extent; }
  [[nodiscard]] NodeId moved(std::int64_t npu, std::int64_t coordinate_after) const {
    return NodeId{static_cast<std::uint32_t>(npu + (coordinate_after - coordinate(npu)) * stride)};
  }
  [[nodiscard]] std::int64_t switch_count(std::int64_t npus) const {
    return wiring == Wiring::crossbar && extent > 1 ? npus / extent : 0;
  }
  /// Links in both directions.
  [[nodiscard]] std::int64_t link_count(std::int64_t npus) const {
    switch (wiring) {
    case Wiring::line: return 2 * (npus - npus / extent);
    case Wiring::ring: return extent == 1 ? 0 : extent == 2 ? npus : 2 * npus;
    case Wiring::full: return npus * (extent - 1);
    case Wiring::crossbar: return extent == 1 ? 0 : 2 * npus;
    }
    assert(false);
    return 0;
  }
};

NodeId node(std::int64_t index) { return NodeId{static_cast<std::uint32_t>(index)}; }

/// The neighbours one step up, then those one step down; `around`: the last meets the first.
void add_steps(TopologyParts& parts, const Dimension& dimension, std::int64_t npus, bool around,
               bool unidirectional) {
  const std::int64_t extent = dimension.extent;
  for (const std::int64_t step : {1, -1}) {
    // In a ring of two both directions are the same links.
    if (step < 0 && around && (unidirectional || extent == 2)) continue;
    for (std::int64_t i = 0; i < npus; ++i) {
      const std::int64_t x = dimension.coordinate(i) + step;
      const bool outside = x < 0 || x >= extent;
      if (extent == 1 || (outside && !around)) continue;
      parts.add_link(between(node(i), dimension.moved(i, (x + extent) % extent), dimension.values));
    }
  }
}

void add_full(TopologyParts& parts, const Dimension& dimension, std::int64_t npus) {
  for (std::int64_t i = 0; i < npus; ++i)
    for (std::int64_t x = 0; x < dimension.extent; ++x)
      if (x != dimension.coordinate(i))
        parts.add_link(between(node(i), dimension.moved(i, x), dimension.values));
}

/// `first_switch` serves the line of NPU 0 along this dimension.
void add_crossbar(TopologyParts& parts, const Dimension& dimension, std::int64_t npus,
                  std::int64_t first_switch) {
  if (dimension.extent == 1) return;
  for (const bool up : {true, false})
    for (std::int64_t i = 0; i < npus; ++i) {
      const std::int64_t row = dimension.stride * dimension.extent;
      const NodeId hub = node(first_switch + i / row * dimension.stride + i % dimension.stride);
      parts.add_link(up ? between(node(i), hub, dimension.values)
                        : between(hub, node(i), dimension.values));
    }
}

std::vector<Dimension> dimensions_of(const TopologySpec& spec, const std::vector<Wiring>& wirings) {
  const std::vector<Link> values = link_values(spec, wirings.size());
  std::vector<Dimension> dimensions;
  std::int64_t stride = 1;
  for (std::size_t d = 0; d < wirings.size(); ++d) {
    dimensions.push_back({wirings[d], spec.shape[d], stride, values[d]});
    stride *= spec.shape[d];
  }
  return dimensions;
}

} // namespace

Topology product(const TopologySpec& spec, const std::vector<Wiring>& wirings) {
  require_numbers(spec, wirings.size());
  const std::int64_t npus = npu_product(spec);
  if (std::find(wirings.begin(), wirings.end(), Wiring::ring) == wirings.end())
    refuse_unidirectional(spec);
  const std::vector<Dimension> dimensions = dimensions_of(spec, wirings);

  std::int64_t links = 0, switches = 0;
  for (const Dimension& dimension : dimensions) {
    links += dimension.link_count(npus);
    switches += dimension.switch_count(npus);
  }
  require_links(links);

  TopologyParts parts = npus_only(spec, npus);
  std::int64_t next_switch = add_switches(parts, switches).value;
  number_coordinates(parts, spec.shape);
  parts.links.reserve(static_cast<std::size_t>(links));
  for (const Dimension& dimension : dimensions) {
    switch (dimension.wiring) {
    case Wiring::line:
    case Wiring::ring:
      add_steps(parts, dimension, npus, dimension.wiring == Wiring::ring, spec.unidirectional);
      break;
    case Wiring::full: add_full(parts, dimension, npus); break;
    case Wiring::crossbar: add_crossbar(parts, dimension, npus, next_switch); break;
    }
    next_switch += dimension.switch_count(npus);
  }
  return Topology(std::move(parts));
}

} // namespace tutti::topologies
