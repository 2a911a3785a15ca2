// A network as JSON: what `tutti show --json` prints, and what algorithms from outside are told.
#pragma once

#include "sim/topology.hpp"

#include <nlohmann/json.hpp>

#include <string_view>

namespace tutti {

[[nodiscard]] std::string_view to_text(NodeKind kind); ///< "npu", "switch", "memory"
/// {"nodes": [...], "links": [...], "groups": [...]}, each in the order of its ids: docs/schemas/.
[[nodiscard]] nlohmann::ordered_json network_json(const Topology& topology);

} // namespace tutti
