// When the members of a collective join it, as texts say.
#pragma once

#include "sim/collective.hpp"
#include "sim/topology.hpp"
#include "sim/units.hpp"

#include <span>
#include <string>
#include <vector>

namespace tutti {

/// Per node, from texts like "npu3=20us"; empty without any, and 0 for who isn't named.
/// Errors: InputError for a text of another form, a node that isn't there (with known ones), one
/// that neither holds nor wants a chunk, one that is named twice, or a time that isn't one.
[[nodiscard]] std::vector<Time> parse_starts(const Topology& topology, const Collective& collective,
                                             std::span<const std::string> texts);

} // namespace tutti
