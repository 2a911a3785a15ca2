// Limits on NPUs and links are checked before anything is built, in 64 bits, so that a shape from a
// file can neither overflow nor exhaust memory.

#include "topologies/parts.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

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
    values[d].bandwidth = Bandwidth{50'000'000'000};
    values[d].latency = Time{500'000};
    values[d].dimension = static_cast<std::int8_t>(d);
  }
  return link_values(spec, std::move(values));
}

std::vector<Link> link_values(const TopologySpec& spec, std::vector<Link> defaults) {
  const std::size_t dimensions = defaults.size();
  for (std::size_t d = 0; d < dimensions; ++d) {
    Link& link = defaults[d];
    link.bandwidth = for_dimension(spec.bandwidth, d, dimensions, link.bandwidth, "bandwidth");
    link.latency = for_dimension(spec.latency, d, dimensions, link.latency, "latency");
  }
  return defaults;
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

const std::string* find_option(const TopologySpec& spec, const std::string& key) {
  const auto option = spec.options.find(key);
  return option == spec.options.end() ? nullptr : &option->second;
}

std::string chosen_option(const TopologySpec& spec, const std::string& key,
                          const std::vector<std::string>& known) {
  const std::string* given = find_option(spec, key);
  if (given == nullptr) return known.front();
  if (std::find(known.begin(), known.end(), *given) == known.end())
    throw InputError(unknown_name("value of " + key, *given, known));
  return *given;
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
