// One section a step: what was expected, what came, what it means. Rows keep all digits; here they
// are for reading.
#include "gpu/benchmark_run/results.hpp"

#include "gpu/execute.hpp"
#include "gpu/nccl.hpp"
#include "gpu/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <initializer_list>

namespace tutti::gpu {

namespace {

/// A cell of a table: one line, without bars.
std::string table_row(std::initializer_list<std::string> cells) {
  std::string text = "|";
  for (std::string cell : cells) {
    std::ranges::replace(cell, '\n', ' ');
    std::ranges::replace(cell, '|', '/');
    text += " " + cell + " |";
  }
  return text + "\n";
}

std::string marked(const std::string& words, bool is_well) {
  return is_well ? words : "**" + words + "**";
}

/// "1.23 ms, predicted 1.20 ms (2.5 % off)" or how fast it sends, beside what the card copies.
std::string times_text(const runtime::RunRow& run, double predicted,
                       const runtime::FigureRow* copy_rate) {
  const std::vector<double>& all = run.execution.seconds;
  if (all.empty()) return std::string(to_text(run.outcome));
  const double seconds = run.execution.median_seconds();
  std::string text = seconds_text(seconds);
  if (const auto tenth = static_cast<std::ptrdiff_t>(all.size() / 10); tenth >= 10) {
    runtime::Execution first, last; // do they grow?
    first.seconds.assign(all.begin(), all.begin() + tenth);
    last.seconds.assign(all.end() - tenth, all.end());
    text += ", the first tenth " + seconds_text(first.median_seconds()) + ", the last " +
            seconds_text(last.median_seconds());
  }
  if (predicted > 0)
    return text + ", predicted " + seconds_text(predicted) + " (" +
           percent_text(seconds / predicted - 1) + " off)";
  const double rate = static_cast<double>(run.execution.bytes_moved) / seconds;
  text += ", " + figure_text(rate, "bytes/s") + " sent";
  if (copy_rate != nullptr && copy_rate->device == run.execution.device)
    text += ", " + percent_text(rate / copy_rate->value) + " of the card's copy rate";
  return text;
}

/// What came of a step, and how far predictions are off where latencies aren't all.
std::string rows_text(const BenchmarkStep& step, const runtime::Pack& pack,
                      const runtime::Rows& rows, const runtime::FigureRow* copy_rate) {
  std::string text;
  for (const runtime::FigureRow& figure : rows.figures)
    text += table_row({figure.name, figure_text(figure.value, figure.unit), figure.device});
  for (const runtime::TestRow& test : rows.tests)
    text += table_row(
        {test.name, marked(std::string(to_text(test.outcome)), is_well(test)), test.words});
  double sum = 0, most = 0;
  int errors = 0;
  for (const runtime::PackLine& line : pack.lines()) {
    const runtime::RunRow* run = rows.run(line.checksum);
    if (run == nullptr || !line.case_label.starts_with(step.cases)) continue;
    const double predicted = line.predicted ? line.predicted->seconds() : 0;
    if (line.algorithm != runtime::profile_algorithm || !is_well(*run)) // they are hundreds
      text +=
          table_row({line.case_label + ", " + line.algorithm + ", " + size_text(line.size.count),
                     times_text(*run, predicted, copy_rate),
                     is_well(*run) ? run->words : "**" + words_of(*run) + "**"});
    if (line.size.count < 1'000'000 || predicted <= 0 || run->execution.seconds.empty()) continue;
    const double error = std::abs(run->execution.median_seconds() / predicted - 1);
    sum += error;
    most = std::max(most, error);
    ++errors;
  }
  if (!text.empty()) text = "| what | came | |\n|---|---|---|\n" + text + "\n";
  if (errors == 0) return text;
  return std::to_string(errors) + " predictions for 1 MB and more are off by " +
         percent_text(sum / errors) + " on average, by " + percent_text(most) + " at most.\n\n" +
         text;
}

/// What the pack's cases of peers took, beside NCCL's own time; empty where there is no such pair.
std::string beside_nccl(const runtime::Pack& pack, const runtime::Rows& all) {
  std::string text;
  for (const runtime::PackLine& line : pack.lines()) {
    const auto shape = peer_case(line.case_label);
    const runtime::RunRow* run = all.run(line.checksum);
    const runtime::FigureRow* nccl = shape ? all.figure(nccl_figure(*shape, line.size)) : nullptr;
    if (nccl == nullptr || run == nullptr || run->execution.seconds.empty()) continue;
    const double seconds = run->execution.median_seconds();
    char ratio[32];
    (void)std::snprintf(ratio, sizeof ratio, "%.2f", seconds / nccl->value);
    text += table_row({line.case_label + ", " + line.algorithm, size_text(line.size.count),
                       seconds_text(seconds), seconds_text(nccl->value), ratio});
  }
  if (text.empty()) return "";
  return "## exec beside NCCL\n\nNCCL's times are those of calls one after another, with their "
         "launches.\n\n| case | size | exec | NCCL | exec / NCCL |\n|---|---|---|---|---|\n" +
         text + "\n";
}

} // namespace

std::string report_of(const runtime::Pack& pack,
                      const std::vector<std::optional<StepResult>>& results,
                      const runtime::Rows& all) {
  std::string table, sections;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const BenchmarkStep& step = benchmark_steps()[i];
    const std::string title = std::to_string(i + 1) + " " + std::string(step.name),
                      ending = results[i] ? results[i]->ending : "still to be done";
    table += table_row({title, ending});
    sections += "## " + title + ": " + std::string(step.does) +
                "\n\nExpected: " + std::string(step.expected) +
                ".\n\nIf not: " + std::string(step.otherwise) + ".\n\nResult: " + ending + "\n\n";
    if (!results[i]) continue;
    for (const runtime::NoteRow& note : results[i]->rows.notes) sections += note.words + "\n\n";
    sections += rows_text(step, pack, results[i]->rows, all.figure("copy_rate"));
  }
  return "# GPU day " + to_text(pack.name()) + "\n\n| step | |\n|---|---|\n" + table + "\n" +
         sections + beside_nccl(pack, all);
}

} // namespace tutti::gpu
