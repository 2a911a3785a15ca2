#include "sim/engines/stuck.hpp"

#include <fmt/format.h>

namespace tutti {

std::string stuck_reason(const Topology& topology, const StuckTransfer& stuck, Time down_since) {
  switch (stuck.why) {
  case StuckTransfer::Why::link_down: {
    const Link& link = topology.link(stuck.link);
    return fmt::format("waits for {}>{}, which is down since {}", topology.node(link.from).name,
                       topology.node(link.to).name, to_text(down_since));
  }
  case StuckTransfer::Why::frozen: return "had not set out when the run was frozen";
  case StuckTransfer::Why::lost: return "was lost with its receiver, which is down";
  case StuckTransfer::Why::waiting:
  case StuckTransfer::Why::held_back: break;
  }
  return "";
}

} // namespace tutti
