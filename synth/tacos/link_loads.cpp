// Why: routes are chosen by what they do to the most loaded link, and loads change with every
// chunk. Idea: the busy time of a link or shared group as a number per byte and one per chunk, so
// that adding, removing and pricing a crossing are a few multiplications; a power of the relative
// load by repeated squaring, which rounds alike everywhere, as std::pow does not.

#include "synth/tacos/link_loads.hpp"

#include <algorithm>
#include <numeric>

namespace tutti {

LinkLoads::LinkLoads(const Topology& topology, const TimeModel& model,
                     std::span<const std::uint32_t> orbit_of)
    : topology_(topology), orbit_of_(orbit_of.begin(), orbit_of.end()),
      links_(topology.link_count()), groups_(topology.groups().size()) {
  if (orbit_of_.empty()) {
    orbit_of_.resize(topology.link_count());
    std::iota(orbit_of_.begin(), orbit_of_.end(), 0U);
  }
  const auto per_byte = [](Bandwidth rate) {
    return 1e12 / static_cast<double>(rate.bytes_per_second);
  };
  for (std::uint32_t l = 0; l < links_.size(); ++l) {
    const Link& link = topology.link(LinkId{l});
    const double latency = static_cast<double>(link.latency.ps);
    Resource& own = links_[l];
    own.per_byte = per_byte(topology.effective_bandwidth(LinkId{l}));
    own.each = model.link_busy == LinkBusy::serialization ? 0 : latency;
    own.path = latency;
    own.path_per_byte = topology.node(link.from).can.store ? own.per_byte : 0; // else cut through
    own.shared = !topology.groups_of(LinkId{l}).empty();
  }
  for (std::uint32_t g = 0; g < groups_.size(); ++g)
    groups_[g].per_byte = per_byte(topology.groups()[g].bandwidth);
}

void LinkLoads::set_pricing(const Pricing& pricing) {
  pricing_ = pricing;
  const double highest = peak();
  per_peak_ = highest > 0 ? 1 / highest : 0;
}

double LinkLoads::peak() const {
  double highest = 0;
  for (const Resource& link : links_) highest = std::max(highest, link.load);
  for (const Resource& group : groups_) highest = std::max(highest, group.load);
  return highest;
}

bool LinkLoads::beyond(LinkId link, double load) const {
  if (of(link).load > load) return true;
  return std::ranges::any_of(topology_.groups_of(link),
                             [&](std::uint32_t g) { return groups_[g].load > load; });
}

void LinkLoads::change(LinkId link, Bytes size, double sign) {
  const double bytes = static_cast<double>(size.count);
  const auto change_one = [&](Resource& resource) {
    resource.load += sign * (resource.each + bytes * resource.per_byte);
  };
  Resource& own = links_[orbit_of_[link.value]];
  change_one(own);
  if (own.shared)
    for (const std::uint32_t g : topology_.groups_of(link)) change_one(groups_[g]);
}

} // namespace tutti
