// A case's schedule as it is replayed: as it is, or with a transport applied to it.
#pragma once

#include "experiments/driver/studies/runs/evaluation.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti {

/// What a schedule is replayed as, and when those who join begin.
struct ReplayInput {
  const Topology* topology = nullptr;
  const Schedule* schedule = nullptr; ///< null: it is compact
  std::vector<Time> starts;
  std::string transport = {};                 ///< Replay::transport
  std::shared_ptr<const Transported> by = {}; ///< null: as it is
};

/// Errors: InputError for what has no meaning on lanes: links that are busy for their latency,
/// which under a transport is the runtime's, and draws, which would be a lane's.
void require_transport(const Case& c);

/// One for each protocol that the runtime may take: of a library's schedule its own. Without a
/// transport one, of what the case has. They point into the case and `made`.
/// Errors: InputError as transported().
[[nodiscard]] std::vector<ReplayInput> with_transport(const Case& c, const Attempt& made,
                                                      std::span<const Time> starts);

/// A network under a transport for runs whose schedules change on the way, or meet others
/// (slowed()).
struct SlowedNetwork {
  Topology topology;
  Time launch;
  std::string transport; ///< as Replay::transport
};
/// By the library's protocol, or else the one under which the schedule takes least.
/// Errors: InputError as transported().
[[nodiscard]] SlowedNetwork slowed_network(const Topology& topology, const Collective& collective,
                                           const Schedule& schedule,
                                           const std::optional<LibraryChoice>& library,
                                           const Transport& transport, const TimeModel& model);

/// The use of links, of that of their lanes: they are busy as long as their data keeps them.
[[nodiscard]] std::vector<LinkUse> without_lanes(const Transported& by,
                                                 std::span<const LinkUse> lanes, std::size_t links);

} // namespace tutti
