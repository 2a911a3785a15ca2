#include "topologies/parts.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <string_view>

namespace tutti::topologies {

namespace {

template <typename Value>
Value for_dimension(const std::vector<Value>& values, std::size_t dimension, std::size_t dimensions,
                    Value otherwise, std::string_view what) {
  if (values.empty()) return otherwise;
  if (values.size() != 1 && values.size() != dimensions)
    throw InputError(fmt::format("{} values of {} for {} dimension{} (give 1{})", values.size(),
                                 what, dimensions, dimensions == 1 ? "" : "s",
                                 dimensions == 1 ? "" : fmt::format(" or {}", dimensions)));
  return values[values.size() == 1 ? 0 : dimension];
}

} // namespace

void require_numbers(const TopologySpec& spec, std::size_t count) {
  if (spec.shape.size() != count)
    throw InputError(fmt::format("needs {} number{}, found {}", count, count == 1 ? "" : "s",
                                 spec.shape.size()));
  for (const int number : spec.shape)
    if (number < 1) throw InputError(fmt::format("{} is not at least 1", number));
}

void require_npus(std::int64_t npus) {
  if (npus < 2) throw InputError("needs at least 2 NPUs");
  if (npus > most_npus) throw InputError(fmt::format("has more than {} NPUs", most_npus));
}

void require_links(std::int64_t links) {
  if (links > most_links)
    throw InputError(fmt::format("has {} links, more than {}", links, most_links));
}

std::int64_t npu_product(const TopologySpec& spec) {
  std::int64_t npus = 1;
  for (const int number : spec.shape) {
    npus *= number;
    if (npus > most_npus) break; // before it can overflow
  }
  require_npus(npus);
  return npus;
}

void refuse_unidirectional(const TopologySpec& spec) {
  if (spec.unidirectional) throw InputError("directions=1 needs a dimension that is a ring");
}

std::vector<Link> link_values(const TopologySpec& spec, std::size_t dimensions) {
  std::vector<Link> values(dimensions);
  for (std::size_t d = 0; d < dimensions; ++d) {
    values[d].bandwidth =
        for_dimension(spec.bandwidth, d, dimensions, Bandwidth{50'000'000'000}, "bandwidth");
    values[d].latency = for_dimension(spec.latency, d, dimensions, Time{500'000}, "latency");
    values[d].dimension = static_cast<std::int8_t>(d);
  }
  return values;
}

Link between(NodeId from, NodeId to, Link values) {
  values.from = from;
  values.to = to;
  return values;
}

TopologyParts npus_only(const TopologySpec& spec, std::int64_t count) {
  TopologyParts parts;
  parts.name = spec.name;
  parts.nodes.reserve(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i)
    parts.add_node({fmt::format("npu{}", i), NodeKind::npu, Abilities{}, Bandwidth{}});
  return parts;
}

NodeId add_switches(TopologyParts& parts, std::int64_t count) {
  const NodeId first{static_cast<std::uint32_t>(parts.nodes.size())};
  for (std::int64_t i = 0; i < count; ++i)
    parts.add_node({fmt::format("switch{}", i), NodeKind::switching, Abilities{false, false, false},
                    Bandwidth{}});
  return first;
}

void number_coordinates(TopologyParts& parts, const std::vector<int>& shape) {
  parts.shape = shape;
  parts.coordinates.resize(parts.nodes.size());
  for (std::size_t n = 0; n < parts.nodes.size(); ++n) {
    if (parts.nodes[n].kind != NodeKind::npu) continue;
    std::size_t rest = n;
    for (const int extent : shape) {
      parts.coordinates[n].push_back(static_cast<int>(rest % static_cast<std::size_t>(extent)));
      rest /= static_cast<std::size_t>(extent);
    }
  }
}

} // namespace tutti::topologies
