// Names and values in one order, which two functions share: keep them side by side.
#include "experiments/driver/sweep/space/network_facts.hpp"

#include <algorithm>

namespace tutti::sweep {

std::vector<std::string> network_fact_names(bool with_cost) {
  std::vector<std::string> names{"npus", "links", "switches"};
  if (with_cost)
    names.insert(names.end(), {"cost", "cost_cables", "cost_switches", "cost_nics", "cost_npus",
                               "cost_energy", "power_watts", "cables", "cable_metres"});
  return names;
}

std::vector<double> network_facts(const Topology& topology, const std::optional<CostModel>& model) {
  const auto switches =
      std::count_if(topology.nodes().begin(), topology.nodes().end(),
                    [](const Node& node) { return node.kind == NodeKind::switching; });
  std::vector<double> facts{static_cast<double>(topology.npu_count()),
                            static_cast<double>(topology.link_count()),
                            static_cast<double>(switches)};
  if (!model) return facts;
  const NetworkCost cost = cost_of(topology, *model);
  facts.insert(facts.end(),
               {cost.total(), cost.cables, cost.switches, cost.nics, cost.npus, cost.energy,
                cost.watts, static_cast<double>(cost.cable_count), cost.cable_metres});
  return facts;
}

} // namespace tutti::sweep
