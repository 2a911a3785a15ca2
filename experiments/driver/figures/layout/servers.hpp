// Which nodes make up a server, a chassis, a box: recognised by the network's own coordinates and
// bandwidths.
#pragma once

#include "sim/topology.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace tutti::layouts {

inline constexpr std::uint32_t no_server = UINT32_MAX;

struct Servers {
  std::vector<std::uint32_t> of; ///< [node]: its server, or no_server
  std::uint32_t count = 0;       ///< none: 0
  std::string_view kind =
      "server"; ///< of what a box is called after its number: "island" of NPUs alone, or "z ="
};

/// Two or more of as many NPUs each, at least two: of equal last coordinates where the network has
/// switches; else what hangs together by links that are faster than those between them.
[[nodiscard]] Servers servers_of(const Topology& topology);

} // namespace tutti::layouts
