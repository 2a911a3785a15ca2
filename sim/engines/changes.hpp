// The timetable of a run: what its options say will happen, and what has happened by now.
#pragma once

#include "sim/engines/engine.hpp"
#include "sim/network_event.hpp"
#include "sim/schedule.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tutti {

/// Levels of priority: 0 is the highest that some part has.
class Levels {
public:
  Levels(const Collective& collective, std::span<const JobTiming> jobs);
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::size_t of(ChunkId chunk) const {
    return of_chunk_.empty() ? 0 : of_chunk_[chunk.value];
  }

private:
  std::vector<std::uint8_t> of_chunk_; // empty where all have one level
  std::size_t count_ = 1;
};

class Changes {
public:
  static constexpr std::int64_t never = INT64_MAX;

  /// Pre: the options are checked (run_checks.hpp).
  Changes(const Topology& topology, const PathTable& paths, const RunOptions& options);

  /// What happens at one instant, in the order in which it counts.
  struct Due {
    std::span<const NetworkEvent> events;
    bool reroutes = false, freezes = false;
    std::span<const std::pair<Time, std::size_t>> parts; ///< that begin
  };
  /// What is due by `now` and wasn't taken yet; the network and the routes are so from then on.
  Due take(std::int64_t now);
  [[nodiscard]] std::int64_t next() const { return next_; } ///< `never`: nothing is left

  [[nodiscard]] const NetworkState& network() const { return network_; }
  /// What transfers of this path enter over at present.
  [[nodiscard]] PathId route(PathId path) const {
    return routes_.empty() ? path : routes_[path.value];
  }
  [[nodiscard]] bool is_frozen() const { return frozen_; }

private:
  void find_next();

  std::span<const NetworkEvent> events_;
  std::span<const RouteChange> route_changes_;
  std::vector<std::pair<Time, std::size_t>> parts_; // by start
  std::int64_t freeze_ = never, next_ = never;
  std::size_t next_event_ = 0, next_route_change_ = 0, next_part_ = 0;
  NetworkState network_;
  std::vector<PathId> routes_; // by path; empty where none ever changes
  bool frozen_ = false;
};

} // namespace tutti
