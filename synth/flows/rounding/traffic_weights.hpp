// What counts as traffic.
#pragma once

#include "sim/topology.hpp"

#include <string>
#include <vector>

namespace tutti {

/// [link]: how many of its ends are nodes that the text names: `npu`, `switch`, `memory` or how
/// names of nodes start, several joined by `+`; empty for `none`.
/// Errors: InputError naming a word that fits no node.
[[nodiscard]] std::vector<double> traffic_weights(const Topology& topology,
                                                  const std::string& text);

} // namespace tutti
