// What an instance of a plan does that has its links to itself: replayed once for all that are
// alike, on the network as it is at present.
#pragma once

#include "sim/engines/dependencies.hpp"
#include "sim/engines/dynamic_core.hpp"
#include "sim/engines/event_queue.hpp"
#include "sim/iteration.hpp"
#include "sim/iteration/placed_shapes.hpp"
#include "sim/iteration/plan_instances.hpp"
#include "sim/report.hpp"
#include "sim/topology.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace tutti {

using NativeNetwork = DynamicCore<PlanInstances<Dependencies>>;

/// Times count from the instance's begin.
struct LoneReplay {
  struct MemberOver {
    std::int64_t after = 0; ///< ps
    std::uint32_t member = 0;
  };
  std::vector<MemberOver> over;  ///< by time
  std::int64_t finished = 0;     ///< ps: everything is delivered
  std::vector<LinkUse> link_use; ///< of PlacedShape::links
  std::uint64_t crossings = 0;
  bool halts = false; ///< it never ends, and the rest is empty
};

class LoneReplays {
public:
  /// `options` of the network: events up to options.begin have happened. Refers to the arguments,
  /// but for the options.
  LoneReplays(const Topology& topology, const PlacedShapes& shapes,
              std::span<const Dependencies> waiting, const TimeModel& model,
              const RunOptions& options)
      : topology_(topology), shapes_(shapes), waiting_(waiting), model_(model), options_(options),
        of_plan_(shapes.size(), nullptr) {}

  /// The first time: a replay, unless a plan that is alike was replayed.
  [[nodiscard]] const LoneReplay& of(std::uint32_t plan);
  /// Crossings that were simulated one by one for it.
  [[nodiscard]] std::uint64_t replayed() const { return replayed_; }

private:
  using Core = NativeNetwork;
  /// A network on which nothing else happens.
  struct Network {
    EventQueue events;
    std::unique_ptr<Core> core;
    std::int64_t now = 0;
  };

  [[nodiscard]] Network& network();
  [[nodiscard]] std::vector<std::int64_t> appearance(std::uint32_t plan);
  [[nodiscard]] LoneReplay replay(std::uint32_t plan);

  const Topology& topology_;
  const PlacedShapes& shapes_;
  std::span<const Dependencies> waiting_; // per shape
  const TimeModel& model_;
  RunOptions options_;
  std::unique_ptr<Network> network_;
  std::vector<const LoneReplay*> of_plan_;
  /// By shape and what its place looks like; looked up, never iterated.
  std::map<std::pair<std::uint32_t, std::vector<std::int64_t>>, LoneReplay> replays_;
  std::uint64_t replayed_ = 0;
};

} // namespace tutti
