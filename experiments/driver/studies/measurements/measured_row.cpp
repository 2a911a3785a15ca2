// Logs are read by their own line of names, since versions of nccl-tests differ in their columns
// (root, error or #wrong, figures per iteration, time stamps), and each row is held against itself:
// size / time is algbw, and busbw is algbw times the factor for so many ranks. Nothing is guessed:
// what a log doesn't say is asked for.
#include "experiments/driver/studies/measurements/measured_row.hpp"

#include "sim/error.hpp"
#include "sim/files/csv.hpp"
#include "sim/files/gzip.hpp"
#include "sim/report.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>

namespace tutti {

namespace {

using Json = nlohmann::ordered_json;

constexpr double us_per_s = 1e6, bytes_per_gb = 1e9;

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  std::size_t at = 0;
  while (at < line.size()) {
    const std::size_t begin = line.find_first_not_of(" \t\r", at);
    if (begin == std::string_view::npos) break;
    at = std::min(line.find_first_of(" \t\r", begin), line.size());
    words.push_back(line.substr(begin, at - begin));
  }
  return words;
}

std::optional<double> number_in(std::string_view word) {
  double value = 0;
  const char* const last = word.data() + word.size();
  const auto [end, error] = std::from_chars(word.data(), last, value);
  if (error != std::errc() || end != last || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// Ends with the line of what is wrong.
[[noreturn]] void refuse(const std::string& file, std::size_t line, const std::string& text) {
  throw InputError(fmt::format("{}:{}: {}", file, line, text));
}

/// Figures as printed have two decimals: below this they say little.
constexpr double least_meaningful = 5;

/// Takes the speeds, in GB/s, as printed. What contradicts what in the row; empty where nothing
/// does.
std::string take_speeds(MeasuredRow& row, std::optional<double> algbw,
                        std::optional<double> busbw) {
  constexpr double rounding = 0.03;
  if (!algbw || *algbw <= least_meaningful) return {};
  const double expected = static_cast<double>(row.size.count) / row.seconds / bytes_per_gb;
  if (std::abs(*algbw / expected - 1) > rounding)
    return fmt::format("algbw {} isn't size over time, {:.2f} GB/s", *algbw, expected);
  if (busbw && *busbw > least_meaningful) row.bus_factor = *busbw / *algbw;
  return bus_factor_problem(row, row.npus);
}

/// What a launcher puts before each line: "[1,0]<stdout>:", "[0] ", "12: ".
std::string_view without_prefix(std::string_view line) {
  while (true) {
    const std::string_view text = trimmed(line);
    std::size_t end = 0;
    if (text.starts_with('[')) {
      end = text.find(']');
      if (end == std::string_view::npos ||
          !std::ranges::all_of(text.substr(1, end - 1),
                               [](unsigned char c) { return std::isdigit(c) != 0 || c == ','; }))
        return text;
      ++end;
      for (const std::string_view stream : {"<stdout>", "<stderr>"})
        if (text.substr(end).starts_with(stream)) end += stream.size();
      if (text.substr(end).starts_with(':')) ++end;
    } else {
      end = text.find(':');
      if (end == std::string_view::npos || !is_digits(text.substr(0, end)) ||
          end + 1 >= text.size() || text[end + 1] != ' ')
        return text;
      ++end;
    }
    line = text.substr(end);
  }
}

class LogReader {
public:
  LogReader(const std::string& file, const MeasurementRequest& request)
      : file_(file), kind_(request.kind), is_asked_(request.kind.has_value()) {}

  Measurements read(std::string_view content) {
    for (const std::string_view line : split(content, '\n')) {
      ++number_;
      const std::string_view text = without_prefix(line);
      if (text.find("NCCL INFO") != std::string_view::npos ||
          text.find("NCCL WARN") != std::string_view::npos)
        take_message(words_of(text));
      else if (text.starts_with('#'))
        take_remark(text.substr(1));
      else
        take_line(text);
    }
    if (made_.rows.empty())
      throw InputError(fmt::format("{}: no row of nccl-tests (\"size count type ...\")", file_));
    report_missing_end();
    return std::move(made_);
  }

private:
  void take_remark(std::string_view text) {
    const std::vector<std::string_view> words = words_of(text);
    constexpr std::string_view starting = "Collective test starting:";
    if (const std::size_t at = text.find(starting); at != std::string_view::npos) {
      begin_test();
      name(trimmed(text.substr(at + starting.size())));
    } else if (words.size() > 2 && words[0] == "Rank" && is_digits(words[1])) {
      take_rank(words);
    } else if (words.size() > 3 && words[0] == "size" && words[1] == "count") {
      take_names(words);
    } else if (text.find("nThread") != std::string_view::npos) {
      if (!columns_.empty()) begin_test();
    } else if (text.find("Avg bus bandwidth") != std::string_view::npos) {
      is_ended_ = true;
    } else if (text.find("Out of bounds values") != std::string_view::npos &&
               text.find("FAILED") != std::string_view::npos) {
      refuse(file_, number_, fmt::format("wrong data: {}", trimmed(text)));
    }
  }
  void begin_test() {
    report_missing_end();
    if (!is_asked_ && !columns_.empty()) kind_.reset();
    columns_.clear();
    ranks_ = groups_ = 0;
    is_ended_ = false;
  }
  void report_missing_end() {
    if (columns_.empty() || is_ended_ || made_.rows.empty()) return;
    made_.notes.push_back(fmt::format("{}:{}: the test ends after this row, without its last lines",
                                      file_, made_.rows.back().line));
  }
  void take_rank(const std::vector<std::string_view>& words) {
    const std::uint32_t rank = whole(words[1], "rank", most_ranks);
    if (rank == 0 && ranks_ > 0)
      refuse(file_, number_,
             "rank 0 a second time: processes that don't know of each other, or "
             "two tests without \"Collective test starting\"");
    ranks_ = std::max(ranks_, rank + 1);
    // Groups of a split test run side by side, each on its part of the ranks.
    if (words.size() > 3 && words[2] == "Group" && is_digits(words[3]))
      groups_ = std::max(groups_, whole(words[3], "group", most_ranks) + 1);
  }
  void take_names(const std::vector<std::string_view>& words) {
    columns_.assign(words.begin(), words.end());
    if (std::ranges::find(columns_, "cputime") != columns_.end())
      refuse(file_, number_, "cputime is the processor's (-C 1), not the collective's");
    if (std::ranges::count(columns_, "time") > 2)
      refuse(file_, number_, "more than two columns of times: out of place and in place are known");
  }
  std::uint32_t whole(std::string_view word, std::string_view what, std::int64_t most) const {
    return static_cast<std::uint32_t>(integer(word, what, 0, most));
  }
  std::int64_t integer(std::string_view word, std::string_view what, std::int64_t least,
                       std::int64_t most) const {
    try {
      return parse_integer(word, what, least, most);
    } catch (const InputError& error) {
      refuse(file_, number_, error.what());
    }
  }
  /// The collective, of what a program or a line is called.
  void name(std::string_view program) {
    const std::size_t slash = program.rfind('/');
    const auto found =
        collective_of_tests(slash == std::string_view::npos ? program : program.substr(slash + 1));
    if (!found) refuse(file_, number_, fmt::format("unknown test \"{}\"", program));
    if (is_asked_ && *kind_ != *found)
      refuse(file_, number_,
             fmt::format("{}, and {} was asked for", to_text(*found), to_text(*kind_)));
    kind_ = found;
  }

  void take_line(std::string_view text) {
    const std::vector<std::string_view> words = words_of(text);
    if (words.empty()) return;
    const bool is_row = words.size() > 3 && is_digits(words[0]) && is_digits(words[1]) &&
                        std::isalpha(static_cast<unsigned char>(words[2][0])) != 0;
    // Among rows nothing else begins with a number: it is one that is broken or cut.
    const bool is_broken = !columns_.empty() && !is_ended_ && number_of_digits(words[0]) > 0;
    if (is_row || is_broken) return take_row(words);
    for (const std::string_view word : words) { // a command line
      const std::size_t end = word.find("_perf");
      if (end == std::string_view::npos || word.substr(end) != "_perf") continue;
      const std::size_t slash = word.rfind('/');
      if (!collective_of_tests(slash == std::string_view::npos ? word : word.substr(slash + 1)))
        continue;
      begin_test();
      name(word);
    }
  }
  /// A message of NCCL's, in whose line a row of the other process's output may stand too: before
  /// it or behind it. One that it runs into is left out, and that is reported.
  void take_message(const std::vector<std::string_view>& words) {
    constexpr std::array<std::string_view, 14> types{
        "int8",   "uint8", "char",     "int32", "uint32", "int",    "int64",
        "uint64", "half",  "bfloat16", "float", "double", "f8e4m3", "f8e5m2"};
    if (columns_.empty() || is_ended_) return;
    for (std::size_t i = 0; i + 2 < words.size(); ++i) {
      if (!is_digits(words[i]) || !is_digits(words[i + 1]) ||
          std::ranges::find(types, words[i + 2]) == types.end())
        continue;
      const std::size_t width = std::min(columns_.size(), words.size() - i);
      const std::vector<std::string_view> row(words.begin() + static_cast<std::ptrdiff_t>(i),
                                              words.begin() +
                                                  static_cast<std::ptrdiff_t>(i + width));
      if (width == columns_.size() && is_whole(row)) return take_row(row);
      made_.notes.push_back(fmt::format(
          "{}:{}: a row is left out: a message of NCCL's runs into it", file_, number_));
      return;
    }
  }
  /// Whether each value but type and operation is a number.
  [[nodiscard]] bool is_whole(const std::vector<std::string_view>& row) const {
    for (std::size_t c = 0; c < row.size(); ++c)
      if (columns_[c] != "type" && columns_[c] != "redop" && columns_[c] != "timestamp" &&
          row[c] != "N/A" && !number_in(row[c]))
        return false;
    return true;
  }
  /// With which the word begins, after a sign.
  static std::size_t number_of_digits(std::string_view word) {
    if (word.starts_with('-') || word.starts_with('+')) word.remove_prefix(1);
    return std::min(word.find_first_not_of("0123456789"), word.size());
  }

  void take_row(const std::vector<std::string_view>& words) {
    if (columns_.empty())
      refuse(file_, number_,
             "a row before the line that names its columns (# size count type ...)");
    // A time stamp is one word or two, a day and a time.
    if (words.size() != columns_.size() &&
        !(columns_.back() == "timestamp" && words.size() == columns_.size() + 1))
      refuse(file_, number_,
             fmt::format("{} values in {} columns{}", words.size(), columns_.size(),
                         words.size() < columns_.size() ? ": cut short" : ""));
    if (!kind_) refuse(file_, number_, "the log doesn't say of which collective: give it with -c");
    bool in_place = false;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (columns_[c] != "time") continue;
      take_figures(words, c, in_place);
      in_place = true;
    }
  }
  void take_figures(const std::vector<std::string_view>& words, std::size_t column, bool in_place) {
    if (words[column] == "N/A") return;
    const auto figure = [&](std::string_view name) -> std::optional<double> {
      for (std::size_t c = column; c < columns_.size() && (c == column || columns_[c] != "time");
           ++c)
        if (columns_[c] == name) {
          if (words[c] == "N/A") return std::nullopt;
          if (const auto value = number_in(words[c])) return value;
          refuse(file_, number_, fmt::format("{} \"{}\" is no number", name, words[c]));
        }
      return std::nullopt;
    };
    MeasuredRow row{
        .file = file_,
        .line = number_,
        .kind = *kind_,
        .size = Bytes{integer(words[0], "size", 0, INT64_MAX)},
        .npus = groups_ > 1 ? ranks_ / groups_ : ranks_,
        .is_in_place = in_place,
        .seconds = figure("time").value_or(0) / us_per_s,
        .root = is_rooted(*kind_) ? root_in(words) : 0,
    };
    if (const auto count = figure("#wrong"); count && *count > 0)
      refuse(file_, number_, fmt::format("{} elements are wrong", *count));
    if (row.size.count == 0) return; // nccl-tests rounds small sizes down to nothing
    if (row.seconds <= 0) refuse(file_, number_, "a time that isn't above 0");
    if (const std::string what = take_speeds(row, figure("algbw"), figure("busbw")); !what.empty())
      refuse(file_, number_, what);
    made_.rows.push_back(std::move(row));
  }

  static bool is_rooted(CollectiveKind kind) {
    return kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce;
  }
  std::uint32_t root_in(const std::vector<std::string_view>& words) const {
    const auto found = std::ranges::find(columns_, "root");
    if (found == columns_.end()) return 0;
    return whole(words[static_cast<std::size_t>(found - columns_.begin())], "root", most_ranks);
  }

  static constexpr std::int64_t most_ranks = 1 << 24;
  const std::string file_;
  std::optional<CollectiveKind> kind_;
  const bool is_asked_;
  std::size_t number_ = 0;
  std::vector<std::string> columns_;
  std::uint32_t ranks_ = 0, groups_ = 0;
  bool is_ended_ = false;
  Measurements made_;
};

Measurements read_table(const std::string& file, std::string_view content,
                        const MeasurementRequest& request) {
  constexpr std::array<std::string_view, 9> known{"source",  "hardware",   "topology",
                                                  "npus",    "collective", "bytes",
                                                  "time_us", "algbw_GBps", "busbw_GBps"};
  Measurements made;
  std::map<std::string, std::size_t, std::less<>> column;
  std::size_t width = 0;
  for (const CsvRow& line : csv_rows(content, file)) {
    const std::vector<CsvField>& values = line.fields;
    std::size_t last = 0; // that was looked at
    const auto refuse = [&](const std::string& why) {
      throw InputError(fmt::format("{}:{}:{}: {}", file, line.line, values[last].column, why));
    };
    if (width == 0) {
      width = values.size();
      for (; last < width; ++last) {
        const std::string& name = values[last].text;
        if (std::ranges::find(known, name) == known.end())
          refuse(
              unknown_name("column", name, std::vector<std::string>(known.begin(), known.end())));
        if (!column.emplace(name, last).second) refuse(fmt::format("column {} twice", name));
      }
      last = 0;
      for (const std::string_view needed : {"collective", "bytes"})
        if (!column.contains(needed)) refuse(fmt::format("no column {}", needed));
      for (const auto& [name, part] : request.only)
        if (!column.contains(name)) refuse(fmt::format("no column {}", name));
      continue;
    }
    if (values.size() != width)
      refuse(fmt::format("{} values in {} columns", values.size(), width));
    const auto cell = [&](std::string_view name) -> std::string_view {
      const auto found = column.find(name);
      if (found == column.end()) return "";
      return values[last = found->second].text;
    };
    const auto figure = [&](std::string_view name) -> std::optional<double> {
      if (cell(name).empty()) return std::nullopt;
      const auto value = number_in(cell(name));
      if (!value || *value <= 0)
        refuse(fmt::format("{} \"{}\" is no positive number", name, cell(name)));
      return value;
    };
    if (!std::ranges::all_of(request.only, [&](const auto& only) {
          return cell(only.first).find(only.second) != std::string_view::npos;
        }))
      continue;
    const auto kind = collective_of_tests(cell("collective"));
    if (!kind) refuse(fmt::format("unknown collective \"{}\"", cell("collective")));
    if (request.kind && *request.kind != *kind) continue;
    MeasuredRow row{.file = file, .line = line.line, .kind = *kind};
    try {
      row.size = Bytes{parse_integer(cell("bytes"), "bytes", 1, INT64_MAX)};
      if (!cell("npus").empty())
        row.npus = static_cast<std::uint32_t>(parse_integer(cell("npus"), "npus", 2, 1 << 24));
    } catch (const InputError& error) {
      refuse(error.what());
    }
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
      last = 0, refuse("neither time_us nor algbw_GBps, nor busbw_GBps with npus");
    if (const std::string what = take_speeds(row, algbw, busbw); !what.empty()) refuse(what);
    made.rows.push_back(std::move(row));
  }
  if (made.rows.empty())
    throw InputError(fmt::format("{}: no row{}", file,
                                 request.only.empty() ? "" : " of those that were asked for"));
  return made;
}

Measurements read_inspector(const std::string& file, std::string_view content,
                            const MeasurementRequest& request) {
  std::map<std::tuple<CollectiveKind, std::int64_t, std::uint32_t>, std::vector<MeasuredRow>> all;
  std::size_t number = 0;
  for (const std::string_view line : split(content, '\n')) {
    ++number;
    if (trimmed(line).empty()) continue;
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_discarded() || !json.is_object())
      refuse(file, number, "no JSON record on one line");
    try {
      if (!json.contains("coll_perf")) continue; // a send
      const Json &perf = json.at("coll_perf"), &header = json.at("header");
      const auto kind = collective_of_tests(perf.at("coll").get<std::string>());
      if (!kind)
        refuse(file, number, fmt::format("unknown collective \"{}\"", perf.at("coll").dump()));
      if (request.kind && *request.kind != *kind) continue;
      const auto whole = [&](const Json& object, const char* key, std::int64_t most) {
        const Json& value = object.at(key);
        if (!value.is_number_integer() || value < 0 || value > most)
          refuse(file, number, fmt::format("{} {} isn't a whole number from 0", key, value.dump()));
        return value.get<std::int64_t>();
      };
      const auto figure = [&](const char* key) -> std::optional<double> {
        if (!perf.contains(key)) return std::nullopt;
        return perf.at(key).get<double>();
      };
      constexpr std::int64_t most_ranks = 1 << 24, most_bytes = std::int64_t{1} << 53;
      const std::int64_t ranks = whole(header, "n_ranks", most_ranks);
      // For these collectives the Inspector counts a rank's share, nccl-tests all shares.
      const bool is_share =
          *kind == CollectiveKind::all_gather || *kind == CollectiveKind::reduce_scatter;
      MeasuredRow row{
          .file = file,
          .line = number,
          .kind = *kind,
          .size =
              Bytes{whole(perf, "coll_msg_size_bytes", most_bytes / (is_share ? ranks + 1 : 1)) *
                    (is_share ? ranks : 1)},
          .npus = static_cast<std::uint32_t>(ranks),
          .seconds = perf.at("coll_exec_time_us").get<double>() / us_per_s,
      };
      if (row.seconds <= 0 || row.size.count <= 0) continue;
      if (const std::string what =
              take_speeds(row, figure("coll_algobw_gbs"), figure("coll_busbw_gbs"));
          !what.empty())
        refuse(file, number, what);
      all[{row.kind, row.size.count, row.npus}].push_back(std::move(row));
    } catch (const Json::exception& error) {
      refuse(file, number, error.what());
    }
  }
  Measurements made;
  for (auto& [what, rows] : all) {
    const auto middle = rows.begin() + static_cast<std::ptrdiff_t>(rows.size() / 2);
    std::ranges::nth_element(rows, middle, {}, &MeasuredRow::seconds);
    made.rows.push_back(*middle);
  }
  if (made.rows.empty()) throw InputError(fmt::format("{}: no record of a collective", file));
  return made;
}

} // namespace

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

std::optional<CollectiveKind> collective_of_tests(std::string_view name) {
  std::string plain;
  for (const char c : name.substr(0, name.find("_perf")))
    if (c != '_' && c != '-' && c != ' ')
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const CollectiveKind kind : named_collectives()) {
    std::string own(to_text(kind));
    std::erase(own, '_');
    if (plain == own) return kind;
  }
  return std::nullopt;
}

Measurements read_measurements(const std::string& file, const MeasurementRequest& request) {
  const std::string content = read_input_file(file);
  std::string_view text = content;
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  const std::string_view begin = trimmed(text), first = begin.substr(0, begin.find('\n'));
  if (begin.starts_with('{')) return read_inspector(file, text, request);
  if (!begin.starts_with('#') && first.find(',') != std::string_view::npos &&
      (first.find("bytes") != std::string_view::npos ||
       first.find("collective") != std::string_view::npos))
    return read_table(file, text, request);
  if (!request.only.empty())
    throw InputError(fmt::format("{}: rows are chosen (--only) of tables in CSV", file));
  return LogReader(file, request).read(text);
}

} // namespace tutti
