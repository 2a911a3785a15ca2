// What simulating a point comes to: a status, and named numbers in SI units.
// The numbers are the metrics among the columns of its study's CSV file, by the same names, but in
// seconds where these count picoseconds ("collective_time_s"). They are those of the best point of
// a frontier at the one size, of the job that is slowed down most, and of the disturbed iteration
// of training.
#pragma once

#include "experiments/driver/sweep/space/experiment_template.hpp"
#include "experiments/driver/sweep/space/sweep.hpp"
#include "sim/words.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::sweep {

enum class PointStatus : std::uint8_t {
  pending,     ///< not begun, or given back
  running,     ///< somebody is at it
  done,        ///< verified, and within its bound
  infeasible,  ///< proven: there is no schedule for what was asked; the message says why
  unsupported, ///< the algorithm doesn't do this: the message says why
  refused,     ///< bad input
  timed_out,   ///< at the point's time limit, or at the algorithm's own without an answer
  out_of_memory,
  crashed, ///< the process died
  defect,  ///< of Tutti: a schedule that doesn't verify, a time below its bound
};
inline constexpr Words<PointStatus, 10> status_words{"status",
                                                     {"pending", "running", "done", "infeasible",
                                                      "unsupported", "refused", "timed_out",
                                                      "out_of_memory", "crashed", "defect"}};
[[nodiscard]] constexpr std::string_view to_text(PointStatus status) {
  return status_words.text(status);
}

struct PointResults {
  PointStatus status = PointStatus::crashed;
  std::string message;                   ///< why it isn't done; else a note, or empty
  std::map<std::string, double> numbers; ///< of result_columns(); some may be missing
  double cpu_seconds = 0;                ///< measured: of the process
  double synthesis_seconds = 0;          ///< measured, CPU; little where a schedule was remembered
  std::int64_t peak_bytes = 0;           ///< measured: most memory of the process
};

struct ResultColumn {
  std::string name;
  Unit unit = Unit::none;
};
/// Those of a kind, in the order of columns.
[[nodiscard]] std::vector<ResultColumn> result_columns(std::string_view kind);

/// Simulates one point in this process, with this seed. `cache`: folder of remembered schedules;
/// empty: none. Bad input and points without a schedule are statuses; never throws but
/// std::bad_alloc.
[[nodiscard]] PointResults evaluate_point(const ExperimentTemplate& experiment,
                                          const ValueOf& value_of, std::uint64_t seed,
                                          const std::string& cache);

} // namespace tutti::sweep
