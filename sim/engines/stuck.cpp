// A link that is down is named in the error of a stuck run and in that of a blocked iteration: the
// same words for both.

#include "sim/engines/stuck.hpp"

#include <fmt/format.h>

namespace tutti {

std::string down_text(const Topology& topology, LinkId link, Time since) {
  const Link& down = topology.link(link);
  return fmt::format("{}>{}, which is down since {}", topology.node(down.from).name,
                     topology.node(down.to).name, to_text(since));
}

std::string stuck_reason(const Topology& topology, const StuckTransfer& stuck, Time down_since) {
  switch (stuck.why) {
  case StuckTransfer::Why::link_down:
    return "waits for " + down_text(topology, stuck.link, down_since);
  case StuckTransfer::Why::frozen: return "had not set out when the run was frozen";
  case StuckTransfer::Why::lost: return "was lost with its receiver, which is down";
  case StuckTransfer::Why::named:
  case StuckTransfer::Why::waiting:
  case StuckTransfer::Why::held_back: break;
  }
  return "";
}

} // namespace tutti
