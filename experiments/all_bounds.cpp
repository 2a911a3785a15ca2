#include "experiments/all_bounds.hpp"

#include "synth/bounds/flow_prices.hpp"

#include <iterator>
#include <utility>

namespace tutti {

std::vector<Bound> all_bounds(const Topology& topology, const Collective& collective,
                              const TimeModel& model, Chunking chunking) {
  std::vector<Bound> bounds = lower_bounds(topology, collective, model, chunking);
  std::vector<Bound> flows = flow_bounds(topology, collective, model, chunking);
  bounds.insert(bounds.end(), std::make_move_iterator(flows.begin()),
                std::make_move_iterator(flows.end()));
  return bounds;
}

} // namespace tutti
