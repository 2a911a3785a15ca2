// What the readers of measurements share: rows that are held against themselves, and a list of
// those that are left out.
#pragma once

#include "experiments/driver/studies/measurements/measured_row.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti {

inline constexpr double us_per_s = 1e6, bytes_per_gb = 1e9;
inline constexpr std::int64_t most_ranks = 1 << 24;

[[nodiscard]] std::optional<double> number_in(std::string_view word);

/// Takes the speeds, in GB/s, as printed. What contradicts what in the row; empty where nothing
/// does.
[[nodiscard]] std::string take_speeds(MeasuredRow& row, std::optional<double> algbw,
                                      std::optional<double> busbw);

/// Collects what a file says. One bad row doesn't stop nine good ones: it is left out and named.
class RowCollector {
public:
  explicit RowCollector(std::string file) : file_(std::move(file)) {}

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const std::vector<MeasuredRow>& rows() const { return made_.rows; }
  [[nodiscard]] LogFacts& facts() { return made_.facts; }

  void add(MeasuredRow row) { made_.rows.push_back(std::move(row)); }
  void note(std::size_t line, const std::string& text);
  /// A row, or a part of one, that is left out; those alike are told once. `column` 0: none.
  void leave_out(std::size_t line, const std::string& why, std::size_t column = 0);
  /// Errors: InputError without any row, with what was left out, else with `nothing`.
  [[nodiscard]] Measurements finished(const std::string& nothing) &&;

private:
  struct Problem {
    std::string place, why;
    std::size_t rows = 1;
  };
  std::string file_;
  Measurements made_;
  std::vector<Problem> problems_;
  std::map<std::string, std::size_t> known_;
};

/// Readers of each form; `content` is plain_text(). Errors: InputError, as read_measurements().
[[nodiscard]] Measurements read_log(const std::string& file, std::string_view content,
                                    const MeasurementRequest& request);
[[nodiscard]] Measurements read_json_rows(const std::string& file, std::string_view content,
                                          const MeasurementRequest& request);
[[nodiscard]] Measurements read_table(const std::string& file, std::string_view content,
                                      const MeasurementRequest& request);

} // namespace tutti
