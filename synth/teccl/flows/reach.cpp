#include "synth/teccl/flows/reach.hpp"

#include <algorithm>

namespace tutti {

FlowReach flow_reach(const EpochNetwork& network, const EpochSource& source) {
  std::vector<std::uint32_t> destinations;
  for (const EpochDemand& demand : source.demands) destinations.push_back(demand.destination);
  FlowReach reach{network.distances_from({source.node}), network.distances_to(destinations),
                  std::vector<std::uint32_t>(network.node_count(), out_of_epochs)};
  for (const Lane& lane : network.lanes) {
    std::uint32_t& onward = reach.onward[lane.from];
    if (lane.to != source.node)
      onward = std::min(onward, epochs_plus(reach.to_destination[lane.to], lane.delay));
  }
  return reach;
}

} // namespace tutti
