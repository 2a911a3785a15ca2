// What algorithms made, remembered on disk under what decided it: schedules, and what else their
// algorithms said. Several processes may use a folder at once.
#pragma once

#include "experiments/driver/cache/cache_folder.hpp"
#include "sim/collective.hpp"
#include "sim/synthesizer.hpp"
#include "sim/topology.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace tutti {

/// $XDG_CACHE_HOME/tutti/schedules, else ~/.cache/tutti/schedules; empty where neither is known.
[[nodiscard]] std::string default_schedule_cache();

/// What a folder may take where nobody says anything.
inline constexpr Bytes default_cache_size{std::int64_t{1} << 30};
/// $TUTTI_CACHE_SIZE ("2GiB"; "0B": nothing is remembered), else the default. Errors: InputError
/// naming the variable.
[[nodiscard]] Bytes schedule_cache_size();

/// Whether options make an algorithm go by the names of nodes (`flows`: of those whose traffic
/// counts).
[[nodiscard]] bool goes_by_names(const SynthesisOptions& options);

/// Everything that decides what an algorithm says, as text: Tutti's version, the network's content
/// (names only where the algorithm goes by them), the collective, the time model, the algorithm
/// with its settings, seed, routing, limits, and whether it chooses how finely it cuts. Not the
/// number of threads, which changes nothing. `collective`: as the algorithm is given it.
[[nodiscard]] std::string schedule_key(const Topology& topology, const Collective& collective,
                                       const AlgorithmRow& algorithm,
                                       const SynthesisOptions& options);

struct RememberedOutcome {
  Outcome outcome;
  /// Whether it is of a network with these very names, of itself and its nodes: the outcome's texts
  /// may speak of them.
  bool has_same_names = false;
};

/// A folder of outcomes. A file that is torn, foreign, outdated or of another key is a miss, and
/// replaced by what is remembered next under its name. What is used is touched, so that what nobody
/// uses goes first where the folder is full (CacheFolder).
class ScheduleCache {
public:
  /// Empty: nothing is remembered. The folder is made when first needed. Errors: InputError of
  /// schedule_cache_size().
  explicit ScheduleCache(const std::string& folder);
  ScheduleCache(std::string folder, Bytes size) : folder_(std::move(folder), size) {}

  [[nodiscard]] bool is_used() const { return !folder_.folder().empty(); }

  /// What remember() was given with this key. Whether the schedule is correct is for the caller to
  /// verify.
  [[nodiscard]] std::optional<RememberedOutcome> find(const std::string& key,
                                                      const Topology& topology) const;

  /// `collective`: what the schedule speaks of. Where a file can't be written, nothing more is
  /// tried. What takes more than a quarter of the folder's size isn't remembered.
  void remember(const std::string& key, const Topology& topology, const Collective& collective,
                const Outcome& outcome);

  /// Why nothing is remembered any more, in words; else empty.
  [[nodiscard]] const std::string& warning() const { return warning_; }

  /// Where the outcome of a key lies.
  [[nodiscard]] std::string file_of(const std::string& key) const;

private:
  CacheFolder folder_;
  std::string warning_;
};

} // namespace tutti
