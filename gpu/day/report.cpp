// One section a step: what was expected, what came, what it means. Rows keep all digits; here they
// are for reading.
#include "gpu/day/report.hpp"

#include "gpu/day/judgement.hpp"
#include "gpu/day/steps.hpp"
#include "gpu/day/text.hpp"
#include "gpu/execute.hpp"
#include "gpu/nccl.hpp"
#include "runtime/pack/csv_lines.hpp"

#include <algorithm>
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

/// "1.23 ms, predicted 1.20 ms (+2.5 %)"
std::string times_text(const runtime::RunRow& run, const runtime::PackLine& line) {
  if (run.execution.seconds.empty()) return std::string(to_text(run.outcome));
  const double seconds = run.execution.median_seconds();
  std::string text = seconds_text(seconds);
  if (!line.predicted || line.predicted->ps <= 0) return text;
  const double predicted = static_cast<double>(line.predicted->ps) * 1e-12;
  char error[32];
  (void)std::snprintf(error, sizeof error, " (%+.1f %%)", (seconds / predicted - 1) * 100);
  return text + ", predicted " + seconds_text(predicted) + error;
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

std::string run_rows(const DayStep& step, const runtime::Pack& pack, const runtime::Rows& rows) {
  std::string text;
  for (const runtime::RunRow& run : rows.runs)
    for (const runtime::PackLine& line : pack.lines())
      if (line.file == run.file && line.case_label.starts_with(step.cases))
        text += row(line.case_label + ", " + line.algorithm + ", " +
                        figure_text(static_cast<double>(line.size.count), "bytes"),
                    times_text(run, line), run_words(run));
  return text;
}

std::string rows_table(const DayStep& step, const runtime::Pack& pack, const runtime::Rows& rows) {
  std::string text;
  for (const runtime::FigureRow& figure : rows.figures)
    text += row(figure.name, figure_text(figure.value, figure.unit), figure.device);
  for (const runtime::TestRow& test : rows.tests)
    text += row(test.name,
                (!is_well(test) ? "**" : "") + std::string(to_text(test.outcome)) +
                    (!is_well(test) ? "**" : ""),
                test.words);
  text += run_rows(step, pack, rows);
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
            figure_text(static_cast<double>(line.size.count), "bytes") + " | " +
            seconds_text(seconds) + " | " + seconds_text(nccl->value) + " | " + ratio + " |\n";
  }
  if (text.empty()) return "";
  return "## exec beside NCCL\n\nNCCL's times are those of calls one after another, with their "
         "launches.\n\n| case | size | exec | NCCL | exec / NCCL |\n|---|---|---|---|---|\n" +
         text + "\n";
}

std::string section(const runtime::Pack& pack, std::size_t index,
                    const std::optional<StepRecord>& record) {
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
  return text + rows_table(step, pack, record->rows);
}

} // namespace

std::string day_report(const runtime::Pack& pack,
                       const std::vector<std::optional<StepRecord>>& records) {
  std::string text =
      "# GPU day " + pack.experiment() + ", pack " + runtime::hex_text(pack.digest()) + "\n\n";
  text += "| step | | |\n|---|---|---|\n";
  for (std::size_t index = 0; index < records.size(); ++index)
    text += row(std::to_string(index + 1) + " " + std::string(day_steps()[index].name),
                records[index] ? std::string(to_text(records[index]->outcome)) : "still to be done",
                records[index] ? records[index]->words : "");
  text += "\n";
  for (std::size_t index = 0; index < records.size(); ++index)
    text += section(pack, index, records[index]);
  return text + beside_nccl(pack, all_rows(records, pack.digest()));
}

} // namespace tutti::gpu
