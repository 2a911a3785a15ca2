#include "synth/teccl/epoch_potentials.hpp"

namespace tutti {

EpochDistances::EpochDistances(const EpochNetwork& network) : nodes_(network.node_count) {
  away_.reserve(std::size_t{nodes_} * nodes_);
  for (std::uint32_t from = 0; from < nodes_; ++from) {
    const std::vector<std::uint32_t> row = network.epochs_from({from});
    away_.insert(away_.end(), row.begin(), row.end());
  }
}

double closeness(std::uint32_t distance) {
  if (distance == 0) return 1;
  return distance == out_of_epochs ? 0 : 0.5 / (1.0 + distance);
}

} // namespace tutti
