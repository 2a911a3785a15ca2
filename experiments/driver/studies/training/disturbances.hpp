// What disturbs iterations: nothing, stragglers and events, or failed cables; as asked for, and as
// the conditions under which a workload runs.
#pragma once

#include "experiments/driver/studies/event_plan.hpp"
#include "sim/network_event.hpp"
#include "sim/repair/recovery.hpp"
#include "sim/topology.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

class ConfigTable;
struct TrainingStudy;

/// A network and what it is called.
struct TrainingNetwork {
  std::string label;
  const Topology* topology = nullptr; ///< not owned
};

/// An NPU that computes at a share of its speed, by its name.
struct Straggler {
  std::string npu;
  Share share;
};

/// What disturbs the iterations, each time against those that nothing disturbs.
struct Disturbances {
  std::vector<Straggler> stragglers;
  /// Per topology of the study; empty: none. Events that are drawn: random cables that are out of
  /// order from the beginning.
  std::vector<EventPlan> events;
  std::vector<Policy> policies{Policy::reroute, Policy::resynthesize}; ///< for failed cables
};

/// The keys stragglers, events, failed_links, seeds and policies; a file of events is looked for
/// beside `source_name`. Errors: InputError with the place of what is wrong.
[[nodiscard]] Disturbances read_disturbances(ConfigTable& table,
                                             std::span<const TrainingNetwork> networks,
                                             const std::string& source_name);

/// Errors: InputError for a straggler that is no NPU of some network.
void require_npus(std::span<const Straggler> stragglers, std::span<const TrainingNetwork> networks);
/// Per NPU, or empty. Errors: likewise.
[[nodiscard]] std::vector<Share> compute_shares(std::span<const Straggler> stragglers,
                                                const Topology& topology);

/// What disturbs an iteration.
struct Condition {
  enum class Kind : std::uint8_t {
    undisturbed,
    disturbed,    ///< stragglers and events
    reroute,      ///< failed cables: what would go over them takes the shortest path that is left
    resynthesize, ///< failed cables: planned anew for what is left of the network
  };
  Kind kind = Kind::undisturbed;
  std::size_t failed_links = 0; ///< cables
  std::uint64_t seed = 1;       ///< of their choice
  bool operator==(const Condition&) const = default;
};
[[nodiscard]] std::string_view to_text(Condition::Kind kind);
/// "undisturbed", "reroute, 2 failed links, seed 1"
[[nodiscard]] std::string to_text(const Condition& condition);

/// Under what a workload runs on one of the study's topologies, in this order: undisturbed, with
/// stragglers and events, then by number of failed cables, seed and policy.
[[nodiscard]] std::vector<Condition> conditions_of(const TrainingStudy& study,
                                                   std::size_t topology);

} // namespace tutti
