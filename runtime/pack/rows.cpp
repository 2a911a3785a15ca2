// Measuring can be killed at any time: each row is one line with a check value, synced as it is
// written, and whoever goes on writing first drops a line that has no end.

#include "runtime/pack/rows.hpp"

#include "runtime/pack/csv_lines.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/hash.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

namespace tutti::runtime {

namespace {

constexpr std::string_view rows_kind = "tutti-gpu rows";
constexpr std::uint64_t rows_version = 2;
constexpr std::string_view cut_off_words = "cut off at the limit";
constexpr std::array<std::string_view, 5> run_words{"done", "refused", "hung", "failed",
                                                    cut_off_words};
constexpr std::array<std::string_view, 5> test_words{"passed", "failed", "hung", "left out",
                                                     cut_off_words};
constexpr std::array<std::string_view, 4> row_words{"run", "figure", "test", "note"};
constexpr std::size_t check_digits = 8;

std::string check_of(std::string_view line) {
  Fingerprint fingerprint;
  fingerprint.add(line);
  return hex_text(static_cast<std::uint32_t>(fingerprint.value() >> 32U));
}

std::string checked_line(std::span<const std::string> fields) {
  const std::string line = csv_line(fields);
  return line + "," + check_of(line) + "\n";
}

/// Separated by spaces.
std::string joined_numbers(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : " ") + exact_text(value);
  return text;
}

/// Errors: those of the line.
std::vector<double> numbers_of(const CsvLine& line, const std::string& text) {
  std::vector<double> values;
  const char *at = text.data(), *end = text.data() + text.size();
  while (at != end) {
    double value = 0;
    const auto [stop, error] = std::from_chars(at, end, value);
    if (error != std::errc() || !std::isfinite(value) || (stop != end && *stop != ' '))
      line.fail("expected numbers separated by spaces");
    values.push_back(value);
    at = stop == end ? end : stop + 1;
  }
  return values;
}

std::string first_wrong_text(const std::optional<WrongElement>& first) {
  if (!first) return "";
  return joined_numbers({static_cast<double>(first->npu), static_cast<double>(first->chunk.value),
                         static_cast<double>(first->element), first->expected, first->found});
}

std::optional<WrongElement> first_wrong_of(const CsvLine& line, const std::string& text) {
  const std::vector<double> values = numbers_of(line, text);
  if (values.empty()) return std::nullopt;
  constexpr double most_id = 4294967295.0, most_element = 1e15;
  if (values.size() != 5 || values[0] < 0 || values[0] > most_id || values[1] < 0 ||
      values[1] > most_id || values[2] < 0 || values[2] > most_element)
    line.fail("NPU, chunk, element, expected value and found value are missing here");
  return WrongElement{static_cast<std::uint32_t>(values[0]),
                      ChunkId{static_cast<std::uint32_t>(values[1])},
                      static_cast<std::uint64_t>(values[2]), values[3], values[4]};
}

RunRow read_run_row(CsvLine& line) {
  RunRow row;
  row.file = line.text("the file");
  row.checksum = line.hex("the file's checksum");
  row.outcome = static_cast<RunOutcome>(line.choice("outcome", run_words));
  Execution& execution = row.execution;
  execution.device = line.text("the device");
  execution.check.checked = line.number("how many elements were checked");
  execution.check.wrong = line.number("how many were wrong", execution.check.checked);
  execution.check.first = first_wrong_of(line, line.text("the first wrong element"));
  if ((execution.check.wrong > 0) != execution.check.first.has_value())
    line.fail("the first wrong element is missing, or given where none is wrong");
  execution.seconds = numbers_of(line, line.text("the seconds"));
  if (execution.seconds.empty() != (row.outcome != RunOutcome::done))
    line.fail("a run that is done has times, and no other run has");
  if (std::ranges::any_of(execution.seconds, [](double seconds) { return seconds < 0; }))
    line.fail("a time of less than 0 s");
  execution.bytes_moved = line.number("the bytes sent");
  execution.memory_bytes = line.number("the bytes of memory");
  row.words = line.text("the words");
  return row;
}

FigureRow read_figure_row(CsvLine& line) {
  FigureRow row;
  row.name = line.text("the figure's name");
  row.value = line.real("the value");
  row.unit = line.text("the unit");
  row.device = line.text("the device");
  return row;
}

TestRow read_test_row(CsvLine& line) {
  TestRow row;
  row.name = line.text("the test's name");
  row.outcome = static_cast<TestOutcome>(line.choice("outcome", test_words));
  row.words = line.text("the words");
  return row;
}

NoteRow read_note_row(CsvLine& line) {
  NoteRow row;
  row.about = line.text("what it is about");
  row.words = line.text("the words");
  return row;
}

/// The line without its check. Errors: InputError where that is another.
std::string_view require_check(std::string_view line, const std::string& place) {
  const std::size_t comma = line.size() - std::min(line.size(), check_digits + 1);
  const std::string_view checked = line.substr(0, comma);
  if (line.substr(comma) != "," + check_of(checked))
    throw InputError(place + ":" + std::to_string(comma + 1) +
                     ": the line was changed: its checksum, the last field, doesn't match");
  return checked;
}

PackName read_head(CsvLine line) {
  if (line.text("the file's kind") != rows_kind)
    line.fail("these are no rows of tutti-gpu: \"" + std::string(rows_kind) + "\" comes first");
  if (const auto version = line.number("the version"); version != rows_version)
    line.fail("version " + std::to_string(version) + ", but this program reads " +
              std::to_string(rows_version));
  PackName pack;
  pack.experiment = line.text("the experiment's name");
  pack.digest = line.hex("the pack's digest");
  line.finish();
  return pack;
}

/// The line that says which pack rows are of.
PackName read_first(CsvText& lines, const std::string& file_name) {
  const auto head = lines.next();
  if (!head) throw InputError(file_name + ":1:1: no rows: the file is empty");
  return read_head({require_check(*head, lines.place()), lines.place()});
}

void read_row(CsvLine line, Rows& rows) {
  switch (line.choice("row", row_words)) {
  case 0: rows.runs.push_back(read_run_row(line)); break;
  case 1: rows.figures.push_back(read_figure_row(line)); break;
  case 2: rows.tests.push_back(read_test_row(line)); break;
  default: rows.notes.push_back(read_note_row(line)); break;
  }
  line.finish();
}

template <typename Row, typename Value>
const Row* last_with(const std::vector<Row>& rows, Value Row::*field, const auto& value) {
  const auto at =
      std::find_if(rows.rbegin(), rows.rend(), [&](const Row& row) { return row.*field == value; });
  return at == rows.rend() ? nullptr : &*at;
}

} // namespace

std::string_view to_text(RunOutcome outcome) {
  return run_words[static_cast<std::size_t>(outcome)];
}
std::string_view to_text(TestOutcome outcome) {
  return test_words[static_cast<std::size_t>(outcome)];
}

bool is_well(const TestRow& row) {
  return row.outcome == TestOutcome::passed || row.outcome == TestOutcome::left_out;
}

std::string rows_head(const PackName& pack) {
  return checked_line(std::array{std::string(rows_kind), std::to_string(rows_version),
                                 pack.experiment, hex_text(pack.digest)});
}

std::string line_of(const RunRow& row) {
  const Execution& execution = row.execution;
  return checked_line(std::array{
      std::string("run"), row.file, hex_text(row.checksum), std::string(to_text(row.outcome)),
      execution.device, std::to_string(execution.check.checked),
      std::to_string(execution.check.wrong), first_wrong_text(execution.check.first),
      joined_numbers(execution.seconds), std::to_string(execution.bytes_moved),
      std::to_string(execution.memory_bytes), row.words});
}

std::string line_of(const FigureRow& row) {
  return checked_line(
      std::array{std::string("figure"), row.name, exact_text(row.value), row.unit, row.device});
}

std::string line_of(const TestRow& row) {
  return checked_line(
      std::array{std::string("test"), row.name, std::string(to_text(row.outcome)), row.words});
}

std::string line_of(const NoteRow& row) {
  return checked_line(std::array{std::string("note"), row.about, row.words});
}

const RunRow* Rows::run(std::uint64_t checksum) const {
  return last_with(runs, &RunRow::checksum, checksum);
}
const FigureRow* Rows::figure(std::string_view name) const {
  return last_with(figures, &FigureRow::name, name);
}
const TestRow* Rows::test(std::string_view name) const {
  return last_with(tests, &TestRow::name, name);
}

Rows read_rows(std::string_view text, const std::string& file_name) {
  Rows rows;
  CsvText lines(text, file_name);
  rows.pack = read_first(lines, file_name);
  while (const auto line = lines.next())
    read_row({require_check(*line, lines.place()), lines.place()}, rows);
  return rows;
}

PackName pack_of_rows(std::string_view text, const std::string& file_name) {
  CsvText lines(text, file_name);
  return read_first(lines, file_name);
}

Rows load_rows(const std::string& path) { return read_rows(read_file(path), path); }

RowsFile::RowsFile(std::string path, const PackName& pack) : path_(std::move(path)) {
  const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error) fail(error.value());
  const bool is_regular = std::filesystem::is_regular_file(path_, error); // a device only takes
  std::string before;
  if (is_regular) {
    const std::string all = read_file(path_);
    before = all.substr(0, all.rfind('\n') + 1);
    if (before.empty() && !rows_head(pack).starts_with(all))
      throw InputError(path_ + ":1:1: these are no rows of tutti-gpu: name another file");
  }
  if (!before.empty()) {
    if (const PackName other = pack_of_rows(before, path_); other.digest != pack.digest)
      throw InputError(path_ + ":1:1: rows of the pack " + to_text(other) + ", not of " +
                       to_text(pack) + ": name another file");
    (void)read_rows(before, path_); // or what follows would stand behind damaged lines
  }
  file_.number = open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (file_.number < 0) fail(errno);
  if (is_regular && (ftruncate(file_.number, static_cast<off_t>(before.size())) != 0 ||
                     lseek(file_.number, 0, SEEK_END) < 0))
    fail(errno);
  if (before.empty()) append(rows_head(pack));
}

RowsFile::File::~File() {
  if (number >= 0) (void)close(number);
}

void RowsFile::append(const std::string& line) {
  for (std::size_t at = 0; at < line.size();) {
    const ssize_t written = write(file_.number, line.data() + at, line.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(errno);
    at += static_cast<std::size_t>(written);
  }
  if (fsync(file_.number) != 0 && errno != EINVAL && errno != EROFS) fail(errno); // a pipe can't
}

void RowsFile::fail(int error) const {
  throw InputError(path_ + ": cannot write: " + std::generic_category().message(error));
}

} // namespace tutti::runtime
