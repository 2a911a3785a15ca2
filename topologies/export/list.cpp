// Why: the ending of the file that is asked for says what is written, and a new writer is a row
// here.
#include "topologies/export/list.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tutti {

std::span<const NetworkWriter> network_writers() {
  static constexpr std::array rows{NetworkWriter{"astra", ".yml", topology_astra},
                                   NetworkWriter{"dot", ".dot", topology_dot},
                                   NetworkWriter{"dot", ".gv", topology_dot},
                                   NetworkWriter{"graphml", ".graphml", topology_graphml},
                                   NetworkWriter{"infragraph", ".yaml", topology_infragraph},
                                   NetworkWriter{"simgrid", ".xml", topology_simgrid},
                                   NetworkWriter{"toml", ".toml", topology_toml}};
  return rows;
}

const NetworkWriter& network_writer(const std::string& file) {
  const auto found = std::ranges::find_if(network_writers(), [&](const NetworkWriter& writer) {
    return file.ends_with(writer.ending);
  });
  if (found != network_writers().end()) return *found;
  std::string known;
  for (const NetworkWriter& writer : network_writers())
    known += fmt::format("{}{}", known.empty() ? "" : ", ", writer.ending);
  throw InputError(fmt::format("{}: the ending says what is written (known: {})", file, known));
}

} // namespace tutti
