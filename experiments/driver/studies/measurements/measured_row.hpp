// What a machine has reached, as nccl-tests and rccl-tests print it, as NCCL's Inspector records
// it, or in a table.
#pragma once

#include "sim/collective.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

struct MeasuredRow {
  std::string file;
  std::size_t line = 0;
  CollectiveKind kind = CollectiveKind::all_reduce;
  Bytes size = {};        ///< as nccl-tests counts it
  std::uint32_t npus = 0; ///< 0: not said
  bool is_in_place = false;
  double seconds = 0;
  double bus_factor = 0;  ///< busbw over algbw as printed, where both say enough; else 0
  std::uint32_t root = 0; ///< of Broadcast and Reduce
  [[nodiscard]] std::string place() const; ///< "FILE:LINE"
};

/// "broadcast,root=3": as `tutti synth -c` takes it.
[[nodiscard]] std::string collective_text(const MeasuredRow& row);
/// Why the row isn't of so many NPUs, by its bus factor; empty where nothing says so.
[[nodiscard]] std::string bus_factor_problem(const MeasuredRow& row, std::uint32_t npus);

struct Measurements {
  std::vector<MeasuredRow> rows;  ///< in the order of the file
  std::vector<std::string> notes; ///< what is to be known of them: a log that is cut short
};

struct MeasurementRequest {
  std::optional<CollectiveKind> kind; ///< of logs that don't say theirs
  /// [column, text]: only those rows of a table are read whose columns hold these texts.
  std::vector<std::pair<std::string, std::string>> only;
};

/// Rows of a file in one of three formats, recognized by its content: JSON records of the
/// Inspector, a CSV table with a line of names (source, hardware, topology, npus, collective,
/// bytes, time_us, algbw_GBps, busbw_GBps; collective, bytes and one of the last three are needed),
/// or a log of nccl-tests of any version, whose own line of names says what its columns are.
/// Several records of the Inspector for one size make one row, their median. Errors: InputError
/// with the line for a row that is cut short, that comes before its names, whose figures contradict
/// each other or say wrong data, of an unknown collective; a file without rows.
[[nodiscard]] Measurements read_measurements(const std::string& file,
                                             const MeasurementRequest& request);

/// "all_reduce_perf", "AllReduce", "alltoall": nothing for what is no collective.
[[nodiscard]] std::optional<CollectiveKind> collective_of_tests(std::string_view name);

} // namespace tutti
