// A step's processes write into a part file that gets its name only at the end: a result is there
// as a whole or not at all. A process that crashes or hangs has the row that it owes written for
// it, and the next one starts.

#include "gpu/benchmark_run/step_run.hpp"

#include "gpu/benchmark_run/judgement.hpp"
#include "gpu/text.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace tutti::gpu {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& file, const char* verb, int error) {
  throw InputError(file + ": cannot " + verb + ": " + std::generic_category().message(error));
}

void append(const std::string& file, const std::string& text) {
  errno = 0;
  std::ofstream out(file, std::ios::app | std::ios::binary);
  out << text;
  out.close();
  if (!out) fail(file, "write", errno != 0 ? errno : EIO);
}

/// What has been there under the new name is replaced.
void rename_file(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) fail(to, "write", error.value());
}

void remove_file(const std::string& file) {
  std::error_code error;
  fs::remove(file, error);
  if (error) fail(file, "remove", error.value());
}

/// The last of what was said from byte `from` on, in one line.
std::string last_words(const std::string& file, std::size_t from) {
  constexpr std::size_t most = 500;
  std::string text = read_file(file);
  text.erase(0, std::min(from, text.size()));
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  if (text.size() > most) text = "..." + text.substr(text.size() - most);
  std::string line;
  for (const char c : text) line += c == '\n' ? std::string("; ") : std::string(1, c);
  return line;
}

/// Of a process that hasn't said it.
runtime::TestOutcome test_outcome(const ProcessEnd& end) {
  if (end.well()) return runtime::TestOutcome::passed;
  return end.in_time ? runtime::TestOutcome::failed : runtime::TestOutcome::cut_off;
}

/// One that ends itself since a kernel can't be stopped has code 1.
runtime::RunOutcome run_outcome(const ProcessEnd& end) {
  if (!end.in_time) return runtime::RunOutcome::cut_off;
  return end.code != 1 ? runtime::RunOutcome::failed : runtime::RunOutcome::hung;
}

/// Behind its outcome.
std::string outcome_words(const ProcessEnd& end) {
  return end.in_time || !end.gone ? end.told() : "after " + seconds_text(end.limit_seconds);
}

/// What this machine lacks for every run, by the first; empty where some ran, or there are none.
std::string why_all_refused(const runtime::Rows& rows) {
  for (const runtime::RunRow& run : rows.runs)
    if (run.outcome != runtime::RunOutcome::refused) return {};
  return rows.runs.empty() ? "" : rows.runs.front().words;
}

/// What a process has noted where there was nothing to do for it; else empty.
std::string left_out_words(const runtime::Rows& rows, std::string_view step) {
  const std::string begin = std::string(to_text(Outcome::left_out)) + ": ";
  for (const runtime::NoteRow& note : rows.notes)
    if (note.about == step && note.words.starts_with(begin)) return note.words.substr(begin.size());
  return "";
}

} // namespace

StepRun::StepRun(const DayStep& step, const runtime::Pack& pack, const std::string& folder,
                 std::chrono::milliseconds limit, EndingSignals& signals)
    : step_(step), pack_(pack), limit_(limit), signals_(signals), path_(step_path(folder, step)),
      part_(path_ + ".csv.part"), words_(path_ + ".txt.part") {
  remove_file(part_);
  write_file(words_, "");
  begin_part();
}

double StepRun::seconds() const {
  return std::chrono::duration<double>(Clock::now() - begin_).count();
}

std::chrono::milliseconds StepRun::time_left() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(begin_ + limit_ - Clock::now());
}

void StepRun::note_problem(const std::string& problem) {
  if (problem_.empty()) problem_ = problem;
}

StepRecord StepRun::perform(const Tasks& tasks) {
  std::size_t tried = 0;
  for (const Task& task : tasks.list) {
    if (signals_.came() || time_left() <= std::chrono::milliseconds(0)) break;
    run(task);
    ++tried;
  }
  if (signals_.came()) return {};
  if (tried < tasks.list.size())
    note_problem("the step's time is over: " + std::to_string(tasks.list.size() - tried) + " of " +
                 std::to_string(tasks.list.size()) + " processes weren't started");
  return conclude(tasks.left_out);
}

void StepRun::run(const Task& task) {
  append(words_, "$ " + command_text(task.words) + "\n");
  const std::size_t said_before = read_file(words_).size();
  const ProcessEnd end = signals_.run(task.words, time_left(), words_);
  if (end.interrupted) return;
  const std::string said = last_words(words_, said_before);
  append(words_, "(" + end.told() + ", " + seconds_text(end.seconds) + ")\n");
  complete(task, end, said);
}

void StepRun::begin_part() const { const runtime::RowsFile rows(part_, pack_.name()); }

/// What can't be read is put aside.
runtime::Rows StepRun::read_part() {
  try {
    begin_part(); // which drops half a line
    return runtime::load_rows(part_);
  } catch (const InputError& error) {
    note_problem(error.what());
    rename_file(part_, part_ + ".damaged");
    begin_part();
    return runtime::load_rows(part_);
  }
}

/// Writes the rows that the process owes.
void StepRun::complete(const Task& task, const ProcessEnd& end, const std::string& told) {
  const runtime::Rows rows = read_part();
  runtime::RowsFile file(part_, pack_.name());
  const std::string last = told.empty() ? "" : "; its last words: " + told;
  const std::string words = outcome_words(end) + last;
  if (!task.test.empty() && rows.test(task.test) == nullptr)
    file.add(runtime::TestRow{task.test, test_outcome(end), end.well() ? "" : words});
  if (end.well()) {
    const auto without = std::ranges::count_if(task.files, [&](const std::string& run) {
      return rows.run(pack_.checksum(run)) == nullptr;
    });
    if (without > 0) note_problem(std::to_string(without) + " runs left no rows");
    return;
  }
  note_problem(end.told() + last);
  // A process that has said what failed or hung has ended with that.
  if (std::ranges::any_of(rows.runs, [](const runtime::RunRow& run) {
        return run.outcome == runtime::RunOutcome::failed ||
               run.outcome == runtime::RunOutcome::hung;
      }))
    return;
  const auto run = std::ranges::find_if(task.files, [&](const std::string& name) {
    return rows.run(pack_.checksum(name)) == nullptr;
  });
  if (run == task.files.end()) return;
  runtime::RunRow row;
  row.checksum = pack_.checksum(*run);
  row.file = *run;
  row.outcome = run_outcome(end);
  row.words = words;
  file.add(row);
}

StepRecord StepRun::conclude(const std::string& left_out) {
  StepRecord record;
  record.rows = read_part();
  const std::string in_rows = first_problem(record.rows);
  const std::string& problem = in_rows.empty() ? problem_ : in_rows;
  const std::string said = left_out_words(record.rows, step_.name);
  if (!problem.empty()) {
    record.outcome = Outcome::failed;
    record.words = "after " + clock_text(seconds()) + ", " + problem;
  } else if (!left_out.empty() || !said.empty()) {
    record.outcome = Outcome::left_out;
    record.words = left_out.empty() ? said : left_out;
  } else if (const std::string lacks = why_all_refused(record.rows); !lacks.empty()) {
    record.outcome = Outcome::left_out;
    record.words = lacks;
  } else {
    record.outcome = Outcome::done;
    record.words = "in " + clock_text(seconds());
  }
  record.rows.notes.push_back(ending_of(step_, record.outcome, record.words));
  runtime::RowsFile(part_, pack_.name()).add(record.rows.notes.back());
  rename_file(words_, path_ + ".txt");
  rename_file(part_, path_ + ".csv");
  return record;
}

} // namespace tutti::gpu
