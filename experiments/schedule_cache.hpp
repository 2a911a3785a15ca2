// Schedules remembered on disk, in files named by what decided them. Several processes may use a
// folder at once: files are only ever replaced as a whole.
#pragma once

#include "sim/schedule_file.hpp"
#include "sim/synthesizer.hpp"
#include "sim/topology.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace tutti {

/// $XDG_CACHE_HOME/tutti/schedules, else ~/.cache/tutti/schedules; empty where neither is known.
[[nodiscard]] std::string default_schedule_cache();

/// Everything that decides a schedule, as text: Tutti's version, the network's content, the
/// collective, the time model, the algorithm with its settings, seed, routing, limits and chunks.
/// Not the number of threads, which changes no schedule. `with_names`: the algorithm goes by the
/// names of nodes, too. `chunks`: per shard; 0: the algorithm's own choice.
[[nodiscard]] std::string schedule_key(const Topology& topology, const CollectiveSpec& collective,
                                       const AlgorithmRow& algorithm, std::uint32_t chunks,
                                       const SynthesisOptions& options, bool with_names);

/// A folder of schedules. A file that is torn, foreign, outdated or of another key is a miss, and
/// replaced by the next schedule that is remembered under its name. A schedule that is used is
/// touched, so that those which nobody uses are the oldest.
class ScheduleCache {
public:
  /// Empty: nothing is remembered. The folder is made when first needed.
  explicit ScheduleCache(std::string folder) : folder_(std::move(folder)) {}

  /// What remember() was given with this key. Whether it is correct is for the caller to verify.
  [[nodiscard]] std::optional<ScheduleFile> find(const std::string& key,
                                                 const Topology& topology) const;

  /// Where a file can't be written, nothing more is tried.
  void remember(const std::string& key, const Topology& topology, const ScheduleFile& schedule);

  /// Why nothing is remembered any more, in words; else empty.
  [[nodiscard]] const std::string& warning() const { return warning_; }

  /// Where the schedule of a key lies.
  [[nodiscard]] std::string file_of(const std::string& key) const;

private:
  std::string folder_, warning_;
};

} // namespace tutti
