// What an experiment asks of lower bounds ([[bounds]]): for every combination of lists of networks,
// collectives and sizes, what no schedule beats, what none of given numbers of chunks beats, and
// how close the best of several algorithms comes.
//
//   [[bounds]]
//   label = "..."                          # names its figure; unique; none where it is alone
//   topologies = ["Mesh"]                  # labels; default all
//   collectives = ["all_reduce"]           # a list in the list: several at once
//   sizes = ["1MiB"]                       # default 1GiB; ranges as `1KiB..1GiB`
//   chunks = [1, 8, 64, 1024]              # default; per shard, each with a bound of its own
//   algorithms = ["all"]                   # default, or names; the best one counts
//   limit = "10s"                          # default; of each algorithm
//   bound = "quick"                        # default; or "full": the best there is, at any cost
//                                          # link_busy, forwarding, settings as in [[runs]]
#pragma once

#include "experiments/driver/studies/runs/study.hpp"
#include "experiments/driver/studies/study.hpp"

#include <cstddef>
#include <cstdint>
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

  /// Pre: the experiment has its topologies.
  /// Errors: InputError with the place of what is wrong.
  [[nodiscard]] static std::vector<BoundStudy>
  read_all(ConfigTable& root, const Experiment& experiment, const std::string& source_name);
};

/// Errors: InputError.
void require_sound(const BoundStudy& study, Networks networks);
[[nodiscard]] StudyResult run_study(const BoundStudy& study, const StudyRun& how);

} // namespace tutti
