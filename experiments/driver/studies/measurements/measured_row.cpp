// A file is recognized by its content. Each row is held against itself: size / time is algbw, and
// busbw is algbw times the factor for so many ranks. Nothing is guessed in silence: what a log
// doesn't say is asked for, what is left out is named.
#include "experiments/driver/studies/measurements/measured_row.hpp"

#include "experiments/driver/studies/measurements/log_text.hpp"
#include "experiments/driver/studies/measurements/row_reader.hpp"
#include "sim/error.hpp"
#include "sim/files/gzip.hpp"
#include "sim/report.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <tuple>

namespace tutti {

namespace {

/// What is to be known of problems that were measured more than once; empty where none was.
std::string spread_text(const std::vector<MeasuredRow>& rows) {
  using Problem = std::tuple<CollectiveKind, std::int64_t, std::uint32_t, std::uint32_t, bool>;
  std::map<Problem, std::vector<const MeasuredRow*>> runs;
  for (const MeasuredRow& row : rows)
    runs[{row.kind, row.size.count, row.root, row.npus, row.is_in_place}].push_back(&row);
  std::size_t repeated = 0;
  double most = 1;
  std::string worst;
  for (const auto& [problem, all] : runs) {
    if (all.size() < 2) continue;
    ++repeated;
    const auto [least, largest] =
        std::ranges::minmax_element(all, {}, [](const MeasuredRow* row) { return row->seconds; });
    const double spread = (*largest)->seconds / (*least)->seconds;
    if (spread <= most && !worst.empty()) continue;
    most = spread;
    worst =
        fmt::format("{} {}{} {} times, {} (line {}) to {} (line {})", collective_text(*all.front()),
                    to_text(all.front()->size), all.front()->is_in_place ? " in place" : "",
                    all.size(), short_text(time_of_seconds((*least)->seconds)), (*least)->line,
                    short_text(time_of_seconds((*largest)->seconds)), (*largest)->line);
  }
  if (repeated == 0) return {};
  return fmt::format("{} problem{} measured more than once, all rows are kept; they differ most, "
                     "by {:.1f} %, in {}",
                     repeated, repeated == 1 ? " was" : "s were", 100 * (most - 1), worst);
}

} // namespace

std::optional<double> number_in(std::string_view word) {
  double value = 0;
  const char* const last = word.data() + word.size();
  const auto [end, error] = std::from_chars(word.data(), last, value);
  if (error != std::errc() || end != last || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string take_speeds(MeasuredRow& row, std::optional<double> algbw,
                        std::optional<double> busbw) {
  constexpr double rounding = 0.03;
  /// Figures as printed have two decimals: below this they say little.
  constexpr double least_meaningful = 5;
  if (!algbw || *algbw <= least_meaningful) return {};
  double expected = static_cast<double>(row.size.count) / row.seconds / bytes_per_gb;
  // hypercube.cu counts what a rank receives, so that its algbw is its busbw.
  const bool is_busbw = row.kind == CollectiveKind::hypercube;
  if (is_busbw && row.npus == 0) return {};
  if (is_busbw) expected *= bus_factor(row.kind, row.npus);
  if (std::abs(*algbw / expected - 1) > rounding)
    return fmt::format("algbw {} isn't size over time, {:.2f} GB/s", *algbw, expected);
  if (busbw && *busbw > least_meaningful && !is_busbw) row.bus_factor = *busbw / *algbw;
  return bus_factor_problem(row, row.npus);
}

void RowCollector::note(std::size_t line, const std::string& text) {
  made_.notes.push_back(fmt::format("{}:{}: {}", file_, line, text));
}

void RowCollector::leave_out(std::size_t line, const std::string& why, std::size_t column) {
  const auto [known, is_new] = known_.try_emplace(why, problems_.size());
  if (!is_new) {
    ++problems_[known->second].rows;
    return;
  }
  problems_.push_back({column == 0 ? fmt::format("{}:{}", file_, line)
                                   : fmt::format("{}:{}:{}", file_, line, column),
                       why});
}

Measurements RowCollector::finished(const std::string& nothing) && {
  if (made_.rows.empty()) {
    if (problems_.empty()) throw InputError(fmt::format("{}: {}", file_, nothing));
    throw InputError(fmt::format("{}: {}", problems_.front().place, problems_.front().why));
  }
  constexpr std::size_t most = 20;
  for (std::size_t i = 0; i < problems_.size(); ++i) {
    const Problem& problem = problems_[i];
    made_.left_out.push_back(fmt::format(
        "{}: {}: left out{}", problem.place, problem.why,
        problem.rows == 1 ? "" : fmt::format(", and {} more like it", problem.rows - 1)));
    if (i < most) made_.notes.push_back(made_.left_out.back());
  }
  if (problems_.size() > most)
    made_.notes.push_back(
        fmt::format("{}: {} more of other kinds are left out", file_, problems_.size() - most));
  if (const std::string spread = spread_text(made_.rows); !spread.empty())
    made_.notes.push_back(fmt::format("{}: {}", file_, spread));
  return std::move(made_);
}

std::string collective_text(const MeasuredRow& row) {
  return row.root == 0 ? std::string(to_text(row.kind))
                       : fmt::format("{},root={}", to_text(row.kind), row.root);
}

std::string bus_factor_problem(const MeasuredRow& row, std::uint32_t npus) {
  constexpr double rounding = 0.02;
  if (row.bus_factor == 0 || npus < 2) return {};
  const double expected = bus_factor(row.kind, npus);
  if (std::abs(row.bus_factor / expected - 1) <= rounding) return {};
  return fmt::format("busbw is {:.3f} times algbw, of {} ranks and {} it is {:.3f} times",
                     row.bus_factor, npus, to_text(row.kind), expected);
}

std::string MeasuredRow::place() const { return fmt::format("{}:{}", file, line); }

Measurements read_measurements(const std::string& file, const MeasurementRequest& request) {
  const std::string text = plain_text(read_input_file(file == "-" ? "/dev/stdin" : file));
  const std::string_view begin = trimmed(text), first = begin.substr(0, begin.find('\n'));
  const std::string unprefixed = without_prefix(first);
  const std::string_view inner = trimmed(unprefixed);
  // A list of JSON or a rank in brackets: "[", "[{", but "[1,0]<stdout>:#".
  const bool is_list = begin.starts_with('[') && trimmed(begin.substr(1)).starts_with('{');
  if (is_list || inner.starts_with('{')) return read_json_rows(file, text, request);
  if (!begin.starts_with('#') && first.find(',') != std::string_view::npos &&
      (first.find("bytes") != std::string_view::npos ||
       first.find("collective") != std::string_view::npos) &&
      first.find("nThread") == std::string_view::npos)
    return read_table(file, text, request);
  if (!request.only.empty())
    throw InputError(fmt::format("{}: rows are chosen (--only) of tables in CSV", file));
  return read_log(file, text, request);
}

} // namespace tutti
