// What a machine has reached, as nccl-tests and rccl-tests print it, as NCCL's Inspector records
// it, or in a table; with what the file says of the run.
#pragma once

#include "experiments/driver/studies/measurements/log_facts.hpp"
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
  std::uint32_t root = 0; ///< of collectives that have one
  /// Seconds of each iteration, in order, where the file has them (-I with -J); else empty.
  std::vector<double> iteration_seconds = {};
  [[nodiscard]] std::string place() const; ///< "FILE:LINE"
};

/// "broadcast,root=3": as `tutti synth -c` takes it.
[[nodiscard]] std::string collective_text(const MeasuredRow& row);
/// Why the row isn't of so many NPUs, by its bus factor; empty where nothing says so.
[[nodiscard]] std::string bus_factor_problem(const MeasuredRow& row, std::uint32_t npus);

struct Measurements {
  std::vector<MeasuredRow> rows;     ///< in the order of the file
  std::vector<std::string> notes;    ///< what is to be known of them, by line; what is left out too
  std::vector<std::string> left_out; ///< rows that are, and why
  LogFacts facts;                    ///< what the file says of the run
};

struct MeasurementRequest {
  std::optional<CollectiveKind> kind; ///< of logs that don't say theirs
  /// [column, text]: only those rows of a table are read whose columns hold these texts.
  std::vector<std::pair<std::string, std::string>> only;
};

/// Rows of a file ("-": of standard input), packed or not, in one of these forms, recognized by its
/// content: a log of nccl-tests or rccl-tests of any version, pasted from wherever (log_text.hpp),
/// whose own line of names says what its columns are; JSON, of nccl-tests (-J), of rccl-tests (a
/// record on each line, or a list), or records of NCCL's Inspector; a CSV table with a line of
/// names (source, hardware, topology, npus, collective, bytes, time_us, algbw_GBps, busbw_GBps;
/// collective, bytes and one of the last three are needed; or those of rccl-tests). Several records
/// of the Inspector for one size make one row, their median. A row that is broken, whose figures
/// contradict each other or say wrong data, or that isn't understood is left out, and named in the
/// notes. Errors: InputError with the line for a file without rows; for columns of a table.
[[nodiscard]] Measurements read_measurements(const std::string& file,
                                             const MeasurementRequest& request);

} // namespace tutti
