// What an experiment asks of lower bounds ([[bounds]]): for every combination of lists of networks,
// collectives and sizes, what no schedule beats, what none of given numbers of chunks beats, and
// how close the best of several algorithms comes.
// Format: docs/formats/bounds.md.
#pragma once

#include "experiments/driver/studies/runs/study.hpp"
#include "experiments/driver/studies/study.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

class ConfigTable;
struct Experiment;

struct BoundStudy {
  static constexpr std::string_view kind = "bounds";

  std::string label;                                 ///< unique in its experiment
  RunMatrix matrix;                                  ///< chunks of its schedules: auto
  std::vector<std::uint32_t> chunks{1, 8, 64, 1024}; ///< per shard; ascending

  /// How many there are, each with a row or more. A point of a sweep is one.
  [[nodiscard]] std::size_t case_count() const;
  /// What it writes, without rows.
  [[nodiscard]] static std::vector<RecordFile> files();
  /// How --columns may call what its tables have, or could have.
  [[nodiscard]] std::vector<std::string> table_columns() const;

  /// From its table, after `others` of its kind. Pre: the experiment has its topologies.
  /// Errors: InputError with the place of what is wrong.
  [[nodiscard]] static BoundStudy read(ConfigTable table, const Experiment& experiment,
                                       const std::string& source_name,
                                       std::span<const BoundStudy> others);
};

/// Errors: InputError.
void require_sound(const BoundStudy& study, Networks networks);
[[nodiscard]] StudyResult run_study(const BoundStudy& study, const StudyRun& how);

} // namespace tutti
