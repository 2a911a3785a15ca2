// What every point says of its network: numbers, and with a cost model prices.
#pragma once

#include "experiments/driver/sweep/space/cost_model.hpp"
#include "sim/topology.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tutti::sweep {

/// npus, links (one for each direction), switches; and with a cost model cost, of which
/// cost_cables, cost_switches, cost_nics, cost_npus and cost_energy are the parts, power_watts,
/// cables, cable_metres.
[[nodiscard]] std::vector<std::string> network_fact_names(bool with_cost);
/// In the same order. Errors: InputError of cost_of().
[[nodiscard]] std::vector<double> network_facts(const Topology& topology,
                                                const std::optional<CostModel>& model);

} // namespace tutti::sweep
