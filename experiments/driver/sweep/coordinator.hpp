// Simulates the points of a sweep that its store lacks, several at once, each in a process of its
// own, here or on many machines.
#pragma once

#include "experiments/driver/pool/interrupts.hpp"
#include "experiments/driver/sweep/point_server.hpp"
#include "experiments/driver/sweep/space/points.hpp"
#include "experiments/driver/sweep/space/sweep.hpp"
#include "experiments/driver/sweep/store/store.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tutti::sweep {

struct SweepOptions {
  std::string store;          ///< file; its folder exists
  std::size_t jobs = 1;       ///< points at once; with MPI: on each rank
  std::optional<Shard> shard; ///< only these points
  bool retry = false;         ///< those that were limited, crashed or defects, too
  std::string cache;          ///< folder of remembered schedules; empty: none
  bool progress = false;      ///< a line a second on stderr where that is no terminal
};

struct SweepOutcome {
  std::size_t points = 0;                    ///< of the sweep (of the shard)
  std::size_t left_out = 0;                  ///< PointSpace::left_out
  std::size_t without_value = 0;             ///< PointSpace::without_value
  std::vector<std::string> assumed;          ///< PointSpace::assumed
  std::size_t evaluated = 0;                 ///< in this run
  std::map<PointStatus, std::size_t> counts; ///< of all points, afterwards
  bool interrupted = false;
  double seconds = 0;       ///< by the clock
  double point_seconds = 0; ///< CPU, of the points evaluated in this run
};

/// What a sweep does, apart from its order.
struct SweepParts {
  PointFunction evaluate;
  std::function<PointSpace()> points;
};
/// Parts for a sweep, which must outlive them.
[[nodiscard]] SweepParts parts_of(const Sweep& sweep, const SweepOptions& options);

/// The points that the store lacks, by these workers. As sweep_locally() otherwise.
[[nodiscard]] SweepOutcome sweep_with(Workers& workers, const Sweep& sweep,
                                      const SweepOptions& options, const PointSpace& space,
                                      Interrupts& interrupts);

/// On this machine. The first Ctrl-C (or SIGTERM) lets running points finish and starts no more; a
/// second one kills them (Interrupted): they will be pending. Progress with an estimate on stderr.
/// Errors: InputError of points_of() and Store.
[[nodiscard]] SweepOutcome sweep_locally(const Sweep& sweep, const SweepOptions& options);

/// The same with other parts.
[[nodiscard]] SweepOutcome sweep_locally(const Sweep& sweep, const SweepOptions& options,
                                         const SweepParts& parts);

/// Says on stderr what the store has found damaged.
void print_damage(const Store& store);

} // namespace tutti::sweep
