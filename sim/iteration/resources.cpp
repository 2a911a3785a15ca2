// What a plan needs is found at its first use and kept, since thousands of instances share a plan.
#include "sim/iteration/resources.hpp"

#include <algorithm>

namespace tutti {

Resources::Resources(const Topology& topology, const TimeModel& model, const PlacedShapes& shapes)
    : topology_(topology), model_(model), shapes_(shapes), of_plan_(shapes.size()),
      users_(topology.link_count() + topology.groups().size() + topology.node_count()),
      owner_(users_.size(), none) {}

std::span<const std::uint32_t> Resources::of(std::uint32_t plan) {
  if (of_plan_[plan].empty()) of_plan_[plan] = find(plan);
  return of_plan_[plan];
}

std::vector<std::uint32_t> Resources::find(std::uint32_t plan) const {
  const std::uint32_t first_group = topology_.link_count();
  const auto first_unit = first_group + static_cast<std::uint32_t>(topology_.groups().size());
  std::vector<std::uint32_t> found;
  for (const LinkId link : shapes_[plan].links) {
    found.push_back(link.value);
    for (const std::uint32_t group : topology_.groups_of(link))
      found.push_back(first_group + group);
  }
  std::vector<bool> seen(shapes_.shape_of(plan).routes.size());
  for (const PlanShape::Movement& transfer : shapes_.shape_of(plan).transfers) {
    if (transfer.reduces == 0 || seen[transfer.route]) continue;
    seen[transfer.route] = true;
    const LinkId last = shapes_.paths().last(shapes_[plan].paths[transfer.route]);
    const NodeId receiver = topology_.link(last).to;
    if (reduction_rate(topology_.node(receiver), model_).bytes_per_second > 0)
      found.push_back(first_unit + receiver.value);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

} // namespace tutti
