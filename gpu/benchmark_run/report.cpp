// One section a step: what was expected, what came, what it means. Rows keep all digits; here they
// are for reading.
#include "gpu/benchmark_run/report.hpp"

#include "gpu/benchmark_run/judgement.hpp"
#include "gpu/benchmark_run/steps.hpp"
#include "gpu/execute.hpp"
#include "gpu/nccl.hpp"
#include "gpu/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>

namespace tutti::gpu {

namespace {

/// For a cell of a table: one line without bars.
std::string cell(std::string text) {
  for (char& c : text)
    if (c == '\n')
      c = ' ';
    else if (c == '|')
      c = '/';
  return text;
}

std::string row(const std::string& what, const std::string& came, const std::string& words) {
  return "| " + cell(what) + " | " + cell(came) + " | " + cell(words) + " |\n";
}

double predicted_seconds(const runtime::PackLine& line) {
  return line.predicted ? line.predicted->seconds() : 0;
}

/// Of the first and the last tenth, where there are many.
std::string drift_text(const std::vector<double>& seconds) {
  constexpr std::size_t many = 100;
  if (seconds.size() < many) return "";
  const auto tenth = static_cast<std::ptrdiff_t>(seconds.size() / 10);
  runtime::Execution first, last;
  first.seconds.assign(seconds.begin(), seconds.begin() + tenth);
  last.seconds.assign(seconds.end() - tenth, seconds.end());
  return ", the first tenth " + seconds_text(first.median_seconds()) + ", the last " +
         seconds_text(last.median_seconds());
}

/// "1.23 ms, predicted 1.20 ms (2.5 % off)" or how fast it sends, beside what the card copies.
std::string times_text(const runtime::RunRow& run, const runtime::PackLine& line,
                       const runtime::FigureRow* copy_rate) {
  const runtime::Execution& execution = run.execution;
  if (execution.seconds.empty()) return std::string(to_text(run.outcome));
  const double seconds = execution.median_seconds(), predicted = predicted_seconds(line);
  std::string text = seconds_text(seconds) + drift_text(execution.seconds);
  if (predicted > 0)
    return text + ", predicted " + seconds_text(predicted) + " (" +
           percent_text(seconds / predicted - 1) + " off)";
  const double rate = static_cast<double>(execution.bytes_moved) / seconds;
  text += ", " + figure_text(rate, "bytes/s") + " sent";
  if (copy_rate != nullptr && copy_rate->device == execution.device)
    text += ", " + percent_text(rate / copy_rate->value) + " of the card's copy rate";
  return text;
}

std::string run_words(const runtime::RunRow& run) {
  const std::string wrong = run.execution.check.wrong == 0
                                ? ""
                                : "**" + std::to_string(run.execution.check.wrong) + " of " +
                                      std::to_string(run.execution.check.checked) +
                                      " elements are wrong** ";
  return (!is_well(run) ? "**" + std::string(to_text(run.outcome)) + "** " : "") + wrong +
         run.words;
}

std::string run_rows(const DayStep& step, const runtime::Pack& pack, const runtime::Rows& rows,
                     const runtime::FigureRow* copy_rate) {
  std::string text;
  for (const runtime::RunRow& run : rows.runs)
    for (const runtime::PackLine& line : pack.lines())
      if (line.file == run.file && line.case_label.starts_with(step.cases) &&
          (line.algorithm != runtime::profile_algorithm || !is_well(run))) // they are hundreds
        text += row(line.case_label + ", " + line.algorithm + ", " + size_text(line.size.count),
                    times_text(run, line, copy_rate), run_words(run));
  return text;
}

/// How far off predictions are where latencies aren't all; empty where nothing was predicted.
std::string error_text(const DayStep& step, const runtime::Pack& pack, const runtime::Rows& rows) {
  constexpr std::int64_t least_bytes = 1'000'000;
  double sum = 0, most = 0;
  int runs = 0;
  for (const runtime::PackLine& line : pack.lines()) {
    const runtime::RunRow* run = rows.run(line.checksum);
    const double predicted = predicted_seconds(line);
    if (!line.case_label.starts_with(step.cases) || line.size.count < least_bytes ||
        predicted <= 0 || run == nullptr || run->execution.seconds.empty())
      continue;
    const double error = std::abs(run->execution.median_seconds() / predicted - 1);
    sum += error;
    most = std::max(most, error);
    ++runs;
  }
  if (runs == 0) return "";
  return std::to_string(runs) + " predictions for 1 MB and more are off by " +
         percent_text(sum / runs) + " on average, by " + percent_text(most) + " at most.\n\n";
}

std::string rows_table(const DayStep& step, const runtime::Pack& pack, const runtime::Rows& rows,
                       const runtime::FigureRow* copy_rate) {
  std::string text;
  for (const runtime::FigureRow& figure : rows.figures)
    text += row(figure.name, figure_text(figure.value, figure.unit), figure.device);
  for (const runtime::TestRow& test : rows.tests)
    text += row(test.name,
                (!is_well(test) ? "**" : "") + std::string(to_text(test.outcome)) +
                    (!is_well(test) ? "**" : ""),
                test.words);
  text += run_rows(step, pack, rows, copy_rate);
  return text.empty() ? "" : "| what | came | |\n|---|---|---|\n" + text + "\n";
}

/// What the pack's cases of peers took, beside NCCL's own time; empty where there is no such pair.
std::string beside_nccl(const runtime::Pack& pack, const runtime::Rows& rows) {
  std::string text;
  for (const runtime::PackLine& line : pack.lines()) {
    const auto shape = peer_case(line.case_label);
    const runtime::RunRow* run = rows.run(line.checksum);
    if (!shape || run == nullptr || run->execution.seconds.empty()) continue;
    const runtime::FigureRow* nccl = rows.figure(nccl_figure(*shape, line.size));
    if (nccl == nullptr) continue;
    const double seconds = run->execution.median_seconds();
    char ratio[32];
    (void)std::snprintf(ratio, sizeof ratio, "%.2f", seconds / nccl->value);
    text += "| " + cell(line.case_label + ", " + line.algorithm) + " | " +
            size_text(line.size.count) + " | " + seconds_text(seconds) + " | " +
            seconds_text(nccl->value) + " | " + ratio + " |\n";
  }
  if (text.empty()) return "";
  return "## exec beside NCCL\n\nNCCL's times are those of calls one after another, with their "
         "launches.\n\n| case | size | exec | NCCL | exec / NCCL |\n|---|---|---|---|---|\n" +
         text + "\n";
}

std::string section(const runtime::Pack& pack, std::size_t index,
                    const std::optional<StepRecord>& record, const runtime::FigureRow* copy_rate) {
  const DayStep& step = day_steps()[index];
  std::string text = "## " + std::to_string(index + 1) + " " + std::string(step.name) + ": " +
                     std::string(step.does) + "\n\n";
  text += "Expected: " + std::string(step.expected) + ".\n\n";
  text += "If not: " + std::string(step.otherwise) + ".\n\n";
  if (!record) return text + "Still to be done.\n\n";
  text += "**" + std::string(to_text(record->outcome)) + "** " + record->words + "\n\n";
  for (const std::string& words : unexpected_figures(step, record->rows))
    text += "**unexpected**: " + words + "\n\n";
  for (const runtime::NoteRow& note : record->rows.notes)
    if (&note != &record->rows.notes.back()) text += note.words + "\n\n";
  return text + error_text(step, pack, record->rows) +
         rows_table(step, pack, record->rows, copy_rate);
}

} // namespace

std::string day_report(const runtime::Pack& pack,
                       const std::vector<std::optional<StepRecord>>& records) {
  const runtime::Rows all = all_rows(records, pack.name());
  std::string text = "# GPU day " + to_text(pack.name()) + "\n\n";
  text += "| step | | |\n|---|---|---|\n";
  for (std::size_t index = 0; index < records.size(); ++index)
    text += row(std::to_string(index + 1) + " " + std::string(day_steps()[index].name),
                records[index] ? std::string(to_text(records[index]->outcome)) : "still to be done",
                records[index] ? records[index]->words : "");
  text += "\n";
  for (std::size_t index = 0; index < records.size(); ++index)
    text += section(pack, index, records[index], all.figure("copy_rate"));
  return text + beside_nccl(pack, all);
}

} // namespace tutti::gpu
