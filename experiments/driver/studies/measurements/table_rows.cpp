// Tables in CSV: of people's own, and those that rccl-tests writes (-Z csv), whose names of columns
// are read as ours.
#include "experiments/driver/studies/measurements/row_reader.hpp"

#include "sim/error.hpp"
#include "sim/files/csv.hpp"
#include "sim/report.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace tutti {

namespace {

/// Intervals are what `tutti predict --csv` writes beside a time.
constexpr std::array<std::string_view, 11> known_columns{
    "source",  "hardware",   "topology",   "npus",   "collective", "bytes",
    "time_us", "algbw_GBps", "busbw_GBps", "low_us", "high_us"};
/// Columns of rccl-tests: ours, or what else is said there (as it is).
constexpr std::array<std::pair<std::string_view, std::string_view>, 17> columns_of_rccl{
    {{"size", "bytes"},
     {"time", "time_us"},
     {"algbw", "algbw_GBps"},
     {"busbw", "busbw_GBps"},
     {"ranks", "npus"},
     {"gpus", "npus"},
     {"gpusPerRank", "gpusPerRank"},
     {"gpusperrank", "gpusPerRank"},
     {"inplace", "inplace"},
     {"#wrong", "#wrong"},
     {"wrong", "#wrong"},
     {"numCycle", "numCycle"},
     {"nodes", "nodes"},
     {"ranksPerNode", "ranksPerNode"},
     {"rankspernode", "ranksPerNode"},
     {"type", "type"},
     {"redop", "redop"}}};

class TableReader {
public:
  TableReader(const std::string& file, const MeasurementRequest& request)
      : rows_(file), request_(request) {}

  Measurements read(std::string_view content) {
    const std::vector<CsvRow> lines = csv_rows(content, rows_.file());
    for (const CsvRow& line : lines) {
      line_ = &line;
      last_ = 0;
      if (column_.empty()) {
        take_names();
        continue;
      }
      try {
        take_row();
      } catch (const InputError& error) {
        rows_.leave_out(line.line, error.what(), line.fields[last_].column);
      }
    }
    return std::move(rows_).finished(
        fmt::format("no row{}", request_.only.empty() ? "" : " of those that were asked for"));
  }

private:
  [[noreturn]] void refuse_names(const std::string& why) const {
    throw InputError(
        fmt::format("{}:{}:{}: {}", rows_.file(), line_->line, line_->fields[last_].column, why));
  }
  void take_names() {
    const bool is_of_rccl =
        std::ranges::any_of(line_->fields, [](const CsvField& f) { return f.text == "numCycle"; });
    for (; last_ < line_->fields.size(); ++last_) {
      std::string name = line_->fields[last_].text;
      const auto theirs = std::ranges::find_if(
          columns_of_rccl, [&](const auto& column) { return column.first == name; });
      if ((is_of_rccl || name == "ranks") && theirs != columns_of_rccl.end()) name = theirs->second;
      if (std::ranges::find(known_columns, name) == known_columns.end() && !is_of_rccl)
        refuse_names(unknown_name(
            "column", name, std::vector<std::string>(known_columns.begin(), known_columns.end())));
      if (!column_.emplace(name, last_).second) refuse_names(fmt::format("column {} twice", name));
    }
    last_ = 0;
    for (const std::string_view needed : {"collective", "bytes"})
      if (!column_.contains(needed)) refuse_names(fmt::format("no column {}", needed));
    for (const auto& [name, part] : request_.only)
      if (!column_.contains(name)) refuse_names(fmt::format("no column {}", name));
  }

  std::string_view cell(std::string_view name) {
    const auto found = column_.find(name);
    if (found == column_.end()) return "";
    return line_->fields[last_ = found->second].text;
  }
  std::optional<double> figure(std::string_view name) {
    if (cell(name).empty()) return std::nullopt;
    const auto value = number_in(cell(name));
    if (!value || *value <= 0)
      throw InputError(fmt::format("{} \"{}\" is no positive number", name, cell(name)));
    return value;
  }

  void take_row() {
    if (line_->fields.size() != column_.size())
      throw InputError(
          fmt::format("{} values in {} columns", line_->fields.size(), column_.size()));
    if (!std::ranges::all_of(request_.only, [&](const auto& only) {
          return cell(only.first).find(only.second) != std::string_view::npos;
        }))
      return;
    const auto kind = find_collective_kind(cell("collective"));
    if (!kind) throw InputError(fmt::format("unknown collective \"{}\"", cell("collective")));
    if (request_.kind && *request_.kind != *kind) return;
    MeasuredRow row{.file = rows_.file(), .line = line_->line, .kind = *kind};
    row.size = Bytes{parse_integer(cell("bytes"), "bytes", 1, INT64_MAX)};
    if (!cell("npus").empty())
      row.npus = static_cast<std::uint32_t>(
          parse_integer(cell("npus"), "npus", column_.contains("gpusPerRank") ? 1 : 2, most_ranks));
    if (!cell("gpusPerRank").empty())
      row.npus *=
          static_cast<std::uint32_t>(parse_integer(cell("gpusPerRank"), "gpusPerRank", 1, 1 << 7));
    row.is_in_place = cell("inplace") == "1" || cell("inplace") == "true";
    if (const auto wrong = number_in(cell("#wrong")); wrong && *wrong > 0)
      throw InputError(fmt::format("{} elements are wrong", *wrong));
    const std::optional<double> us = figure("time_us"), algbw = figure("algbw_GBps"),
                                busbw = figure("busbw_GBps");
    const auto bytes = static_cast<double>(row.size.count);
    if (us)
      row.seconds = *us / us_per_s;
    else if (algbw)
      row.seconds = bytes / (*algbw * bytes_per_gb);
    else if (busbw && row.npus > 1)
      row.seconds = bytes / (*busbw * bytes_per_gb / bus_factor(*kind, row.npus));
    else
      last_ = 0, throw InputError("neither time_us nor algbw_GBps, nor busbw_GBps with npus");
    if (const std::string what = take_speeds(row, algbw, busbw); !what.empty())
      throw InputError(what);
    rows_.add(std::move(row));
  }

  RowCollector rows_;
  const MeasurementRequest& request_;
  std::map<std::string, std::size_t, std::less<>> column_;
  const CsvRow* line_ = nullptr;
  std::size_t last_ = 0; ///< field that was looked at
};

} // namespace

Measurements read_table(const std::string& file, std::string_view content,
                        const MeasurementRequest& request) {
  return TableReader(file, request).read(content);
}

} // namespace tutti
