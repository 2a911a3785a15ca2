// What a workload's plans are on the whole network: the form in which many instances of few plans
// can be under way at once.
#pragma once

#include "sim/engines/path_ends.hpp"
#include "sim/ids.hpp"
#include "sim/iteration.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"
#include "sim/workload.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace tutti {

/// What all instances of a plan share, wherever they are placed. 28 bytes a transfer.
struct PlanShape {
  static constexpr std::uint32_t none = UINT32_MAX;

  struct Movement {
    std::uint32_t route = 0;
    std::uint32_t size : 31 = 0; ///< index into `sizes`
    std::uint32_t reduces : 1 = 0;
  };
  static_assert(sizeof(Movement) == 8);
  /// A path that transfers take; numbered by first use, as the engines number connections.
  struct Route {
    PathId path;                                  ///< in the plan
    std::uint32_t sender = none, receiver = none; ///< index into the group, where they are members
  };

  std::shared_ptr<const CommunicationPlan> plan;
  std::vector<Movement> transfers = {};
  std::vector<Bytes> sizes = {}; ///< that occur
  std::vector<Route> routes = {};
  std::vector<std::uint32_t> ends = {};         ///< of the routes: nodes, numbered by first use
  std::vector<std::uint32_t> transfers_of = {}; ///< per member: how many begin or end there
  /// Per member: how many have to be delivered until it is over there, and whether those that begin
  /// there are among them.
  std::vector<std::uint32_t> awaited_of = {};
  std::vector<bool> awaits_sends = {};
  std::vector<std::vector<std::uint32_t>> routes_from = {}; ///< per member, which may come late
  std::vector<PathEnds> path_ends = {}; ///< where the plan's paths begin and end, on the network
};

/// A shape at its place.
struct PlacedShape {
  std::uint32_t shape = 0;
  std::vector<PathId> paths;        ///< per route
  std::vector<LinkId> links;        ///< that it crosses, by first use along its routes
  std::vector<std::uint32_t> ranks; ///< per member of the plan's group: its rank in the workload's
};

/// All of a workload.
class PlacedShapes {
public:
  /// Errors: InputError where plans don't fit the requests, or the network.
  PlacedShapes(const Topology& topology, const Workload& workload, const WorkloadPlans& plans,
               const IterationOptions& options);

  [[nodiscard]] std::size_t size() const { return placed_.size(); }
  [[nodiscard]] const PlacedShape& operator[](std::size_t plan) const { return placed_[plan]; }
  [[nodiscard]] const PlanShape& shape_of(std::size_t plan) const {
    return shapes_[placed_[plan].shape];
  }
  [[nodiscard]] const std::vector<PlanShape>& shapes() const { return shapes_; }
  [[nodiscard]] const PathTable& paths() const { return paths_; }

private:
  void place(const Topology& topology, const Workload& workload,
             const CommunicationRequest& request, const PlacedPlan& placed);

  bool one_at_a_time_, some_come_late_;
  PathTable paths_;
  std::vector<PlanShape> shapes_;
  std::vector<PlacedShape> placed_;
  std::map<const CommunicationPlan*, std::uint32_t> shape_of_plan_; // looked up, never iterated
};

} // namespace tutti
