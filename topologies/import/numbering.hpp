// Numbers of nodes and links that depend on names, not on the order in which a file lists them.
#pragma once

#include "sim/topology.hpp"
#include "topologies/import/assumptions.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::topologies {

/// By letters, and by the numbers in between: "gpu2" before "gpu10", "n0g9" before "n1g0".
[[nodiscard]] bool naturally_less(std::string_view a, std::string_view b);

struct NodeToNumber {
  std::string_view name, key; ///< key: by which it is ordered; its name, or an id
  bool is_npu = false;
};

/// Whether each NPU's key has a number.
[[nodiscard]] bool have_numbers(std::span<const NodeToNumber> nodes);

/// Indices of `nodes` in the order of their numbers. NPUs are in natural order of their keys if
/// these have numbers, else as they are listed, which is noted; others follow in natural order.
[[nodiscard]] std::vector<std::size_t> numbered(std::span<const NodeToNumber> nodes,
                                                Assumptions& assumed);

/// Puts links in order of their ends and what else they have, `marks[link]` at last, and parts in
/// order of their names. Pre: there are no groups yet. Returns the new number of each.
std::vector<LinkId> number_links(TopologyParts& parts, std::span<const std::string_view> marks);

} // namespace tutti::topologies
