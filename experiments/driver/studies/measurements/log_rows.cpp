// Logs are read by their own line of names, since versions of nccl-tests differ in their columns
// (root, redop, error or #wrong, figures per iteration, time stamps). A row is known by its form
// (two whole numbers and a type of elements) wherever it stands in a line, so that prefixes that
// nobody has thought of do no harm. NCCL's messages, which other threads and processes write into
// the same stream, are cut out, and what they tear apart is joined again: a joined row counts only
// if it has all its columns and agrees with itself.
#include "experiments/driver/studies/measurements/log_text.hpp"
#include "experiments/driver/studies/measurements/row_reader.hpp"
#include "sim/error.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>

namespace tutti {

namespace {

constexpr std::string_view in_place_words = "in place: ";

bool begins_with_letter(std::string_view word) {
  return std::isalpha(static_cast<unsigned char>(word.front())) != 0;
}

bool is_type(std::string_view word) {
  constexpr std::array<std::string_view, 21> types{
      "int8",     "uint8",    "char",    "int32",   "uint32",   "int",         "int64",
      "uint64",   "half",     "float",   "double",  "bfloat16", "f8e4m3",      "f8e5m2",
      "fp8_e4m3", "fp8_e5m2", "float16", "float32", "float64",  "float8_e4m3", "float8_e5m2"};
  return std::ranges::find(types, word) != types.end();
}

/// Where "size count type" begins.
std::optional<std::size_t> row_in(const LogWords& words) {
  for (std::size_t i = 0; i + 2 < words.size(); ++i)
    if (is_digits(words[i]) && is_digits(words[i + 1]) &&
        (is_type(words[i + 2]) || (i == 0 && begins_with_letter(words[i + 2]))))
      return i;
  return std::nullopt;
}

bool is_figure(std::string_view word) { return word == "N/A" || number_in(word); }

/// How many figures end a line.
std::size_t figures_at_end(const LogWords& words) {
  std::size_t count = 0;
  while (count < words.size() && is_figure(words[words.size() - 1 - count])) ++count;
  return count;
}

class LogReader {
public:
  LogReader(const std::string& file, const MeasurementRequest& request)
      : rows_(file), kind_(request.kind), is_asked_(request.kind.has_value()) {}

  Measurements read(std::string_view content) {
    for (const std::string_view line : split(content, '\n')) {
      ++number_;
      const std::string text = without_prefix(line);
      rows_.facts().take(text, number_);
      learn_hosts();
      const std::size_t message = message_in(text, hosts_);
      try {
        if (message == std::string::npos)
          take_text(text);
        else
          take_message(text, message);
      } catch (const InputError& error) {
        rows_.leave_out(number_, error.what());
      }
    }
    give_up_half();
    report_missing_end();
    return std::move(rows_).finished("no row of nccl-tests (\"size count type ...\")");
  }

private:
  /// A row that isn't whole yet.
  struct Half {
    std::string text;
    std::string doubtful; ///< what stands between the text and a message: a figure, or a host
    std::size_t line = 0;
  };

  // ---- what isn't a row

  /// Whether the line is one of those around the rows.
  bool take_remark(std::string_view text, const LogWords& words) {
    const auto has = [&](std::string_view part) {
      return text.find(part) != std::string_view::npos;
    };
    constexpr std::string_view starting = "Collective test starting:";
    if (has(starting)) {
      begin_test();
      name(trimmed(text.substr(text.find(starting) + starting.size())));
    } else if (const auto device = device_in(words)) {
      take_rank(LogWords(words.begin() + static_cast<std::ptrdiff_t>(*device), words.end()));
    } else if (const auto names = names_in(words)) {
      take_names(LogWords(words.begin() + static_cast<std::ptrdiff_t>(*names), words.end()));
    } else if (has("nGpus") && has("minBytes")) {
      if (!columns_.empty()) begin_test();
    } else if (has("Avg bus bandwidth") || has("Collective test concluded")) {
      is_ended_ = true;
    } else if (has("Out of bounds values")) {
      if (has("FAILED")) rows_.leave_out(number_, fmt::format("wrong data: {}", trimmed(text)));
    } else if (has("(GB/s)")) {
      if (has("(ms)")) units_per_s_ = 1e3;
      if (has("(us)")) units_per_s_ = us_per_s;
    } else {
      return false;
    }
    return true;
  }
  void begin_test() {
    give_up_half();
    report_missing_end();
    if (!is_asked_ && !columns_.empty()) kind_.reset();
    columns_.clear();
    ranks_ = groups_ = 0;
    units_per_s_ = us_per_s;
    is_ended_ = is_passed_over_ = has_rows_ = false;
  }
  void report_missing_end() {
    if (columns_.empty() || is_ended_ || !has_rows_) return;
    rows_.note(rows_.rows().back().line, "the test ends after this row, without its last lines");
  }
  /// The rest of this test says nothing that could be used.
  void pass_over(const std::string& why) {
    if (!is_passed_over_) rows_.leave_out(number_, why);
    is_passed_over_ = true;
  }
  void take_rank(const LogWords& words) {
    const std::uint32_t rank = whole(words[1], "rank");
    if (rank == 0 && ranks_ > 0) {
      if (has_rows_)
        begin_test();
      else
        return pass_over(
            "rank 0 a second time: processes that don't know of each other (nccl-tests "
            "built without MPI), or two tests without \"Collective test starting\"");
    }
    ranks_ = std::max(ranks_, rank + 1);
    // Groups of a split test run side by side, each on its part of the ranks.
    if (words.size() > 3 && words[2] == "Group" && is_digits(words[3]))
      groups_ = std::max(groups_, whole(words[3], "group") + 1);
  }
  static std::optional<std::size_t> names_in(const LogWords& words) {
    for (std::size_t i = 0; i + 3 < words.size(); ++i)
      if ((words[i] == "size" && words[i + 1] == "count") ||
          (words[i] == "bytes" && words[i + 1] == "N"))
        return i;
    return std::nullopt;
  }
  void take_names(const LogWords& words) {
    give_up_half();
    if (words.front() == "bytes") units_per_s_ = 1e3; // NCCL 2.4 and before
    columns_.clear();
    for (const std::string_view word : words)
      columns_.emplace_back(word == "op" ? "redop" : word == "res" ? "error" : word);
    if (std::ranges::find(columns_, "cputime") != columns_.end())
      pass_over("cputime is the processor's (-C 1), not the collective's");
    if (std::ranges::count(columns_, "time") > 2)
      pass_over("more than two columns of times: out of place and in place are known");
  }
  std::uint32_t whole(std::string_view word, std::string_view what) const {
    return static_cast<std::uint32_t>(parse_integer(word, what, 0, most_ranks));
  }
  /// The collective, of what a program or a line is called.
  void name(std::string_view program) {
    const auto found = find_collective_kind(program.substr(program.rfind('/') + 1));
    if (!found) return pass_over(fmt::format("unknown test \"{}\"", program));
    if (is_asked_ && *kind_ != *found)
      return pass_over(fmt::format("{}, and {} was asked for", to_text(*found), to_text(*kind_)));
    kind_ = found;
  }
  void take_commands(const LogWords& words) {
    for (const std::string_view word : words) {
      const std::string_view program = word.substr(word.rfind('/') + 1);
      if (program.find("_perf") == std::string_view::npos || !find_collective_kind(program))
        continue;
      begin_test();
      name(program);
    }
  }

  // ---- lines

  void learn_hosts() {
    const std::vector<LogDevice>& devices = rows_.facts().devices;
    for (; known_devices_ < devices.size(); ++known_devices_) learn(devices[known_devices_].host);
  }
  void learn(std::string_view host) {
    if (!host.empty() && std::ranges::find(hosts_, host) == hosts_.end()) hosts_.emplace_back(host);
  }

  void take_text(std::string_view text) {
    const std::string_view plain = trimmed(text);
    if (plain.empty() || plain.starts_with("```")) return;
    const bool is_marked = plain.starts_with('#');
    const LogWords words = words_of(is_marked ? plain.substr(1) : plain);
    if (words.empty()) return;
    const auto row = row_in(words);
    if (!row && take_remark(plain, words)) return give_up_half_at_remark(is_marked);
    if (is_marked && !row) return give_up_half();
    if (row) {
      const LogWords rest(words.begin() + static_cast<std::ptrdiff_t>(*row + 3), words.end());
      if (const auto next = row_in(rest); next && *next > 0) { // whose ends of lines are lost
        const std::size_t at = offset_in(text, rest[*next]);
        take_text(text.substr(0, at));
        return take_text(text.substr(at));
      }
      give_up_half();
      half_ = Half{std::string(text.substr(offset_in(text, words[*row]))), {}, number_};
      return finish_if_whole();
    }
    if (half_ && figures_at_end(words) > 0 && join(text, words)) return;
    if (is_in_rows() && std::isdigit(static_cast<unsigned char>(words[0].front())) != 0) {
      // Among rows nothing else begins with a digit: it is one that is broken or cut.
      give_up_half();
      half_ = Half{std::string(text), {}, number_};
      return finish_if_whole();
    }
    if (!is_marked) take_commands(words);
  }
  void give_up_half_at_remark(bool is_marked) {
    if (is_marked || is_ended_) give_up_half();
  }
  static std::size_t offset_in(std::string_view text, std::string_view word) {
    return static_cast<std::size_t>(word.data() - text.data());
  }
  [[nodiscard]] bool is_in_rows() const { return !columns_.empty() && !is_ended_; }

  /// What stands before a message of NCCL's is a line, or a part of one, which a later line goes
  /// on with, or the same one behind the message.
  void take_message(std::string_view text, std::size_t at) {
    const std::string_view head = text.substr(0, at), rest = text.substr(at);
    const std::string_view host = rest.substr(0, rest.find(':'));
    if (trimmed(head).empty() && host.find(' ') == std::string_view::npos &&
        host.find('[') == std::string_view::npos)
      learn(host);
    const LogWords words = words_of(rest);
    if (!trimmed(head).empty()) {
      take_text(head);
      // "-1hgx00:1:2 [0] NCCL INFO": as long as nobody knows the host, it may begin with a figure.
      if (half_ && std::ranges::find(hosts_, host) == hosts_.end())
        half_->doubtful = host.substr(0, host.find_first_not_of("0123456789.-+"));
    }
    if (const auto row = row_in(words)) {
      const std::string_view behind = rest.substr(offset_in(rest, words[*row]));
      const LogWords of_row = words_of(behind);
      if (is_whole(of_row)) return give_up_half(), take_row(of_row, number_);
      if (is_in_rows()) rows_.leave_out(number_, "a message of NCCL's runs into a row");
      return;
    }
    if (half_ && figures_at_end(words) > 0) {
      const std::size_t wanted = columns_.size(), has = words_of(half_->text).size();
      if (wanted <= has || figures_at_end(words) < wanted - has) return;
      const std::string_view tail =
          rest.substr(offset_in(rest, words[words.size() - wanted + has]));
      if (const std::string joined = half_->text + " " + std::string(tail);
          agrees(words_of(joined)))
        half_->text = joined, finish_if_whole();
    }
  }

  // ---- rows that are torn apart

  /// Whether the line goes on with the row.
  bool join(std::string_view text, const LogWords& words) {
    const std::size_t figures = figures_at_end(words);
    const std::string_view tail = figures == words.size()
                                      ? text
                                      : text.substr(offset_in(text, words[words.size() - figures]));
    std::vector<std::string> ways{half_->text + half_->doubtful + std::string(tail)};
    if (!half_->doubtful.empty()) ways.push_back(half_->text + std::string(tail));
    ways.push_back(half_->text + " " + std::string(tail));
    for (const std::string& way : ways) {
      const LogWords joined = words_of(way);
      if (!agrees(joined)) continue;
      take_row(joined, half_->line);
      half_.reset();
      return true;
    }
    if (figures < words.size()) return false;
    if (words_of(ways.front()).size() < columns_.size()) { // in three parts
      half_->text = ways.front();
      half_->doubtful.clear();
    } else {
      rows_.leave_out(number_, "figures that don't go on with the row before them");
      give_up_half();
    }
    return true;
  }
  void finish_if_whole() {
    const LogWords words = with_all_columns(words_of(half_->text));
    if (!columns_.empty() && words.size() < columns_.size()) return; // the rest may follow
    const std::string text = std::move(half_->text);
    half_.reset();
    take_row(words_of(text), number_);
  }
  /// Nothing follows: the figures that are complete count.
  void give_up_half() {
    if (!half_) return;
    const Half half = *std::exchange(half_, std::nullopt);
    LogWords words = with_all_columns(words_of(half.text));
    const std::size_t all = words.size();
    const bool ends_in_word = half.text.find_last_of(" \t") + 1 != half.text.size();
    if (ends_in_word && half.doubtful.empty() && !words.empty()) words.pop_back();
    const std::size_t before = rows_.rows().size();
    try {
      if (words.size() > 3 && is_digits(words[0])) take_places(words, half.line);
    } catch (const InputError& error) {
      return rows_.leave_out(half.line, error.what());
    }
    if (rows_.rows().size() > before)
      rows_.note(half.line, fmt::format("{} values in {} columns: cut short; the figures that are "
                                        "complete are kept",
                                        all, columns_.size()));
    else
      rows_.leave_out(half.line,
                      fmt::format("{} values in {} columns: cut short", all, columns_.size()));
  }

  // ---- rows

  /// With a word for a blank redop, and a time stamp as one word.
  [[nodiscard]] LogWords with_all_columns(LogWords words) const {
    constexpr std::size_t of_redop = 3;
    if (columns_.size() > of_redop && columns_[of_redop] == "redop" && words.size() > of_redop &&
        begins_with_letter(words[of_redop - 1]) && !begins_with_letter(words[of_redop]))
      words.insert(words.begin() + of_redop, "none");
    if (!columns_.empty() && columns_.back() == "timestamp" && words.size() == columns_.size() + 1)
      words.pop_back();
    return words;
  }
  /// Whether each value but type and operation is a number.
  [[nodiscard]] bool is_whole(const LogWords& given) const {
    const LogWords row = with_all_columns(given);
    if (columns_.empty() || row.size() < columns_.size()) return false;
    for (std::size_t c = 0; c < columns_.size(); ++c)
      if (columns_[c] != "type" && columns_[c] != "redop" && columns_[c] != "timestamp" &&
          !is_figure(row[c]))
        return false;
    return true;
  }
  /// Whether it is whole, and its speeds are those of its times.
  [[nodiscard]] bool agrees(const LogWords& given) const {
    const LogWords row = with_all_columns(given);
    if (!is_whole(given) || row.size() != columns_.size() || !is_digits(row[0])) return false;
    const double size = number_in(row[0]).value_or(0);
    for (std::size_t c = 0; c + 1 < columns_.size(); ++c) {
      const auto time = number_in(row[c]), algbw = number_in(row[c + 1]);
      if (columns_[c] != "time" || columns_[c + 1] != "algbw" || !time || !algbw) continue;
      double expected = size / *time * units_per_s_ / 1e9;
      if (kind_ == CollectiveKind::hypercube) continue; // another algbw
      const double rounding = *algbw < 100 ? 0.006 : *algbw < 1000 ? 0.06 : 0.6;
      if (std::abs(*algbw - expected) > rounding + 0.01 * expected) return false;
    }
    return true;
  }

  /// Columns of a row that nobody has named, by its number of figures; none where that or its
  /// speeds don't tell.
  [[nodiscard]] std::vector<std::string> guessed_columns(const LogWords& words) const {
    std::vector<std::string> columns{"size", "count", "type"};
    std::size_t figures = words.size() - 3;
    if (words.size() > 3 && begins_with_letter(words[3])) columns.emplace_back("redop"), --figures;
    if (figures == 9) columns.emplace_back("root");
    if (figures != 8 && figures != 9) return {};
    for (int place = 0; place < 2; ++place)
      columns.insert(columns.end(), {"time", "algbw", "busbw", "#wrong"});
    const auto size = number_in(words[0]), time = number_in(words[words.size() - 8]),
               algbw = number_in(words[words.size() - 7]);
    constexpr double enough = 1, rounding = 0.02;
    if (!size || !time || !algbw || *algbw < enough ||
        std::abs(*size / *time / 1e3 / *algbw - 1) > rounding)
      return {};
    return columns;
  }

  void take_row(const LogWords& given, std::size_t line) {
    if (columns_.empty() && given.size() > 3) {
      columns_ = guessed_columns(given);
      if (!columns_.empty())
        rows_.note(line, fmt::format("no line names the columns: they are taken for {}, which "
                                     "agrees with algbw",
                                     joined(columns_, " ")));
    }
    if (columns_.empty())
      return rows_.leave_out(
          line, "a row before the line that names its columns (# size count type ...)");
    LogWords words = with_all_columns(given);
    const std::size_t all = words.size();
    if (all > columns_.size()) {
      words.resize(columns_.size());
      if (!is_whole(words) || is_figure(given[given.size() - 1]))
        return rows_.leave_out(line, fmt::format("{} values in {} columns", all, columns_.size()));
      rows_.note(line, fmt::format("\"{}\" behind the row isn't understood", given.back()));
    }
    try {
      take_places(words, line);
    } catch (const InputError& error) {
      rows_.leave_out(line, error.what());
    }
  }

  /// The row of as many words as there are. Errors: InputError.
  void take_places(const LogWords& words, std::size_t line) {
    if (is_passed_over_) return;
    if (!kind_) throw InputError("the log doesn't say of which collective: give it with -c");
    bool is_in_place = false;
    for (std::size_t c = 0; c < std::min(columns_.size(), words.size()); ++c) {
      if (columns_[c] != "time") continue;
      try {
        take_figures(words, c, is_in_place, line);
      } catch (const InputError& error) {
        const std::string why =
            fmt::format("{}{}", is_in_place ? in_place_words : "", error.what());
        rows_.leave_out(line, why);
      }
      is_in_place = true;
    }
  }
  void take_figures(const LogWords& words, std::size_t column, bool is_in_place, std::size_t line) {
    if (words[column] == "N/A") return;
    const auto word = [&](std::string_view name) -> std::string_view {
      for (std::size_t c = column;
           c < std::min(columns_.size(), words.size()) && (c == column || columns_[c] != "time");
           ++c)
        if (columns_[c] == name) return words[c] == "N/A" ? "" : words[c];
      return "";
    };
    const auto figure = [&](std::string_view name) -> std::optional<double> {
      if (word(name).empty()) return std::nullopt;
      if (const auto value = number_in(word(name))) return value;
      throw InputError(fmt::format("{} \"{}\" is no number", name, word(name)));
    };
    MeasuredRow row{
        .file = rows_.file(),
        .line = line,
        .kind = *kind_,
        .size = Bytes{parse_integer(words[0], "size", 0, INT64_MAX)},
        .npus = groups_ > 1 ? ranks_ / groups_ : ranks_,
        .is_in_place = is_in_place,
        .seconds = figure("time").value_or(0) / units_per_s_,
        .root = has_root(*kind_) ? root_in(words) : 0,
    };
    if (const auto count = figure("#wrong"); count && *count > 0)
      throw InputError(fmt::format("{} elements are wrong", *count));
    require_right(word("error"), is_in_place);
    if (row.size.count == 0) return; // nccl-tests rounds small sizes down to nothing
    if (row.seconds <= 0) throw InputError("a time that isn't above 0");
    if (const std::string what = take_speeds(row, figure("algbw"), figure("busbw")); !what.empty())
      throw InputError(what);
    rows_.add(std::move(row));
    has_rows_ = true;
  }
  /// Errors of older versions: the largest difference, with an asterisk where that is too much.
  /// Sums are rounded; what is only moved has to be the same.
  void require_right(std::string_view error, bool is_in_place) const {
    const bool is_marked = error.ends_with('*');
    if (is_marked) error.remove_suffix(1);
    const double value = number_in(error).value_or(0);
    if (!is_marked && (value <= 0 || is_reducing(*kind_))) return;
    const bool has_no_place = is_by_pairs(*kind_) || kind_ == CollectiveKind::sendrecv;
    throw InputError(fmt::format("an error of {}: wrong data{}", error,
                                 is_in_place && has_no_place
                                     ? fmt::format(" (nccl-tests has no {} in place, this column "
                                                   "is void)",
                                                   to_text(*kind_))
                                     : ""));
  }
  [[nodiscard]] std::uint32_t root_in(const LogWords& words) const {
    const auto found = std::ranges::find(columns_, "root");
    if (found == columns_.end()) return 0;
    return whole(words[static_cast<std::size_t>(found - columns_.begin())], "root");
  }

  RowCollector rows_;
  std::optional<CollectiveKind> kind_;
  const bool is_asked_;
  std::size_t number_ = 0;
  std::vector<std::string> columns_;
  double units_per_s_ = us_per_s;
  std::uint32_t ranks_ = 0, groups_ = 0;
  bool is_ended_ = false, is_passed_over_ = false, has_rows_ = false;
  std::optional<Half> half_;
  std::vector<std::string> hosts_;
  std::size_t known_devices_ = 0;
};

} // namespace

Measurements read_log(const std::string& file, std::string_view content,
                      const MeasurementRequest& request) {
  return LogReader(file, request).read(content);
}

} // namespace tutti
