// Processes write into part files that get their names when all is over: a result is there as a
// whole or not at all. Its last row, which says how the step ended, is written after all others.
#include "gpu/benchmark_run/results.hpp"

#include "gpu/benchmark_run/process.hpp"
#include "gpu/execute.hpp"
#include "gpu/text.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace tutti::gpu {

namespace {

using Clock = std::chrono::steady_clock;

/// Wrong data, what failed, hung or was cut off; not what was refused, for want of memory say.
std::string first_problem(const runtime::Rows& rows) {
  std::vector<std::string> problems;
  for (const runtime::TestRow& test : rows.tests)
    if (!is_well(test))
      problems.push_back(test.name + " " + std::string(to_text(test.outcome)) + ": " + test.words);
  for (const runtime::RunRow& run : rows.runs)
    if (!is_well(run)) problems.push_back(run.file + " " + words_of(run));
  if (problems.size() > 1) problems[0] += "; and " + std::to_string(problems.size() - 1) + " more";
  return problems.empty() ? "" : problems[0];
}

/// Adds the row that the process owes. Returns what is wrong, if rows needn't say so.
std::string complete(const Scene& scene, const Task& task, const ProcessEnd& end) {
  runtime::RowsFile file(scene.rows_file(), scene.pack.name()); // drops half a line
  const runtime::Rows rows = runtime::load_rows(scene.rows_file());
  const std::string words = end.well() ? ""
                            : end.last_words.empty()
                                ? end.words
                                : end.words + "; its last words: " + end.last_words;
  using runtime::RunOutcome, runtime::TestOutcome;
  if (!task.test.empty() && rows.test(task.test) == nullptr)
    file.add(runtime::TestRow{task.test,
                              end.well()    ? TestOutcome::passed
                              : end.in_time ? TestOutcome::failed
                                            : TestOutcome::cut_off,
                              words});
  std::vector<std::string> missing = task.files;
  std::erase_if(missing, [&](const std::string& name) {
    return rows.run(scene.pack.checksum(name)) != nullptr;
  });
  if (missing.empty()) return words;
  if (end.well()) return std::to_string(missing.size()) + " runs left no rows";
  // A process that has said what failed or hung has ended with that.
  for (const runtime::RunRow& run : rows.runs)
    if (run.outcome == RunOutcome::failed || run.outcome == RunOutcome::hung) return words;
  runtime::RunRow row;
  row.file = missing.front();
  row.checksum = scene.pack.checksum(row.file);
  row.outcome = !end.in_time    ? RunOutcome::cut_off
                : end.code == 1 ? RunOutcome::hung // where a kernel can't be stopped
                                : RunOutcome::failed;
  row.words = words;
  file.add(row);
  return words;
}

/// Why there was nothing to do: for the step, for a process, for want of something in every run;
/// else empty.
std::string why_left_out(const Scene& scene, const Tasks& tasks, const runtime::Rows& rows) {
  constexpr std::string_view begin = "left out: ";
  for (const runtime::NoteRow& note : rows.notes)
    if (note.about == scene.step.name && note.words.starts_with(begin))
      return note.words.substr(begin.size());
  for (const runtime::RunRow& run : rows.runs)
    if (run.outcome != runtime::RunOutcome::refused) return "";
  return rows.runs.empty() ? tasks.left_out : rows.runs.front().words;
}

void rename_file(const std::string& from, const std::string& to) {
  std::error_code error;
  std::filesystem::rename(from, to, error);
  if (error) throw InputError(to + ": cannot write: " + error.message());
}

} // namespace

std::optional<StepResult> perform(const Scene& scene) {
  const auto begin = Clock::now();
  const std::string rows_file = scene.rows_file(), said = scene.path() + ".txt.part";
  write_file(said, "");
  write_file(rows_file, runtime::rows_head(scene.pack.name()));
  const Tasks tasks = scene.step.tasks(scene);
  std::string problem;
  for (const Task& task : tasks.list) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(begin + scene.limit - Clock::now());
    const bool is_over = left.count() <= 0;
    const std::string wrong = is_over
                                  ? "the step's time is over: not all of its processes were started"
                                  : complete(scene, task, run_process(task.command, left, said));
    if (was_interrupted()) return std::nullopt;
    if (problem.empty()) problem = wrong;
    if (is_over) break;
  }
  runtime::RowsFile file(rows_file, scene.pack.name());
  const runtime::Rows rows = runtime::load_rows(rows_file);
  const std::string name(scene.step.name),
      left_out = why_left_out(scene, tasks, rows),
      time = clock_text(std::chrono::duration<double>(Clock::now() - begin).count());
  for (const FigureRange& range : scene.step.figures)
    if (const runtime::FigureRow* found = rows.figure(range.name);
        found != nullptr && (found->value < range.least || found->value > range.most))
      file.add(runtime::NoteRow{name, "unexpected: " + found->name + " is " +
                                          figure_text(found->value, found->unit) + ", not " +
                                          figure_text(range.least, found->unit) + " to " +
                                          figure_text(range.most, found->unit)});
  if (const std::string in_rows = first_problem(rows); !in_rows.empty()) problem = in_rows;
  file.add(runtime::NoteRow{name, !problem.empty()   ? "failed: after " + time + ", " + problem
                                  : left_out.empty() ? "done: in " + time
                                                     : "left out: " + left_out});
  rename_file(said, scene.path() + ".txt");
  rename_file(rows_file, scene.path() + ".csv");
  return read_result(scene.path() + ".csv", scene.pack.name());
}

std::optional<StepResult> read_result(const std::string& file, const runtime::PackName& pack) {
  if (std::error_code error; !std::filesystem::exists(file, error)) return std::nullopt;
  runtime::PackName found = pack;
  StepResult result;
  std::string why = file + " doesn't say how the step ended";
  try {
    const std::string text = read_file(file);
    found = runtime::pack_of_rows(text, file);
    result.lines = text.substr(text.find('\n') + 1);
    result.rows = runtime::read_rows(text, file);
  } catch (const InputError& error) {
    why = error.what();
  }
  if (found.digest != pack.digest)
    throw InputError(file + " belongs to the pack " + to_text(found) + ", not to " + to_text(pack) +
                     ": name another folder with --out");
  if (!result.rows.notes.empty()) result.ending = result.rows.notes.back().words;
  if (!result.is_done() && !result.has_failed() && !result.ending.starts_with("left out: ")) {
    std::printf("%s: ignored\n", why.c_str());
    return std::nullopt;
  }
  result.rows.notes.pop_back();
  return result;
}

} // namespace tutti::gpu
