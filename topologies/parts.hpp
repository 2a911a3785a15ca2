// What the topology families share: checks of the spec, NPUs and switches by number, link values.
#pragma once

#include "topologies/list.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tutti::topologies {

constexpr std::int64_t most_npus = 1'000'000;
constexpr std::int64_t most_links = 50'000'000;

/// Errors: InputError unless the spec has `count` numbers, all >= 1.
void require_numbers(const TopologySpec& spec, std::size_t count);
/// Errors: InputError unless 2 <= npus <= most_npus.
void require_npus(std::int64_t npus);
/// Errors: InputError unless links <= most_links.
void require_links(std::int64_t links);
/// The product of the spec's numbers. Errors: as require_npus.
[[nodiscard]] std::int64_t npu_product(const TopologySpec& spec);
/// Errors: InputError where the spec asks for one direction only, which only rings can give.
void refuse_unidirectional(const TopologySpec& spec);

/// Latency, bandwidth and dimension label of links whose ends are still open, one entry per
/// dimension. Errors: InputError where the spec has neither one value nor one per dimension.
[[nodiscard]] std::vector<Link> link_values(const TopologySpec& spec, std::size_t dimensions);
/// The same with other values than 50 GB/s and 0.5 us by default, and other labels, than those.
[[nodiscard]] std::vector<Link> link_values(const TopologySpec& spec, std::vector<Link> defaults);
/// `values` from one node to another.
[[nodiscard]] Link between(NodeId from, NodeId to, Link values);

/// "npu0", "npu1", ..., with every ability; the parts take the spec's name.
[[nodiscard]] TopologyParts npus_only(const TopologySpec& spec, std::int64_t count);
/// "switch0", "switch1", ... with consecutive ids from the one returned; they forward, but can't
/// store, copy or reduce. To be called once, after the NPUs.
NodeId add_switches(TopologyParts& parts, std::int64_t count);
/// The value of the family's own option, or null.
[[nodiscard]] const std::string* find_option(const TopologySpec& spec, const std::string& key);
/// The value of an option that knows these values; the first one where it isn't given.
/// Errors: InputError for others.
[[nodiscard]] std::string chosen_option(const TopologySpec& spec, const std::string& key,
                                        const std::vector<std::string>& known);
/// Gives every NPU the coordinates of its number in `shape`, dimension 0 varying fastest.
void number_coordinates(TopologyParts& parts, const std::vector<int>& shape);

} // namespace tutti::topologies
