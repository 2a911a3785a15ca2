// What instances of plans need for themselves: links, shared groups, reduction units.
#pragma once

#include "sim/iteration/placed_shapes.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

class Resources {
public:
  static constexpr std::uint32_t none = UINT32_MAX;

  Resources(const Topology& topology, const TimeModel& model, const PlacedShapes& shapes);

  /// Links, then groups, then reduction units; ascending. O(routes) the first time.
  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t plan);

  /// An instance of the plan begins, and ends.
  void take(std::uint32_t plan) {
    for (const std::uint32_t resource : of(plan)) ++users_[resource];
  }
  void release(std::uint32_t plan) {
    for (const std::uint32_t resource : of(plan)) --users_[resource];
  }
  [[nodiscard]] bool are_free(std::uint32_t plan) {
    for (const std::uint32_t resource : of(plan))
      if (users_[resource] > 0) return false;
    return true;
  }

  /// Who has a resource alone, if that was noted; `none`.
  [[nodiscard]] std::uint32_t owner(std::uint32_t resource) const { return owner_[resource]; }
  void set_owner(std::uint32_t plan, std::uint32_t owner) {
    for (const std::uint32_t resource : of(plan)) owner_[resource] = owner;
  }

private:
  [[nodiscard]] std::vector<std::uint32_t> find(std::uint32_t plan) const;

  const Topology& topology_;
  const TimeModel& model_;
  const PlacedShapes& shapes_;
  std::vector<std::vector<std::uint32_t>> of_plan_; // empty until asked for
  std::vector<std::uint32_t> users_, owner_;        // per resource
};

} // namespace tutti
