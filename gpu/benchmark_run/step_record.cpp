// A step counts as ended by its last row alone, which is written after all others: whatever ends a
// day halfway leaves no step that seems done.
#include "gpu/benchmark_run/step_record.hpp"

#include "sim/error.hpp"
#include "sim/files/files.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace tutti::gpu {

namespace {

struct OutcomeName {
  Outcome outcome;
  std::string_view text;
};
constexpr std::array outcome_names{OutcomeName{Outcome::done, "done"},
                                   OutcomeName{Outcome::failed, "failed"},
                                   OutcomeName{Outcome::left_out, "left out"}};

} // namespace

std::string_view to_text(Outcome outcome) {
  return std::ranges::find(outcome_names, outcome, &OutcomeName::outcome)->text;
}

std::string step_path(const std::string& folder, const DayStep& step) {
  char number[16];
  (void)std::snprintf(number, sizeof number, "%02d_",
                      static_cast<int>(&step - day_steps().data()) + 1);
  return folder + "/" + number + std::string(step.name);
}

runtime::NoteRow ending_of(const DayStep& step, Outcome outcome, const std::string& words) {
  return {std::string(step.name), std::string(to_text(outcome)) + ": " + words};
}

std::optional<StepRecord> read_record(const std::string& folder, const DayStep& step,
                                      const runtime::PackName& pack, std::string& why) {
  const std::string file = step_path(folder, step) + ".csv";
  std::error_code ignored; // what can't be read says so below
  if (!std::filesystem::exists(file, ignored)) return std::nullopt;
  require_no_other_pack(file, pack);
  StepRecord record;
  try {
    record.rows = runtime::load_rows(file);
  } catch (const InputError& error) {
    why = error.what();
    return std::nullopt;
  }
  const auto note = std::ranges::find(record.rows.notes.rbegin(), record.rows.notes.rend(),
                                      step.name, &runtime::NoteRow::about);
  if (note != record.rows.notes.rend())
    for (const OutcomeName& name : outcome_names)
      if (note->words.starts_with(std::string(name.text) + ": ")) {
        record.outcome = name.outcome;
        record.words = note->words.substr(name.text.size() + 2);
        return record;
      }
  why = file + " doesn't say how the step ended";
  return std::nullopt;
}

void require_no_other_pack(const std::string& file, const runtime::PackName& pack) {
  runtime::PackName found;
  try {
    found = runtime::pack_of_rows(read_file(file), file);
  } catch (const InputError&) {
    return;
  }
  if (found.digest != pack.digest)
    throw InputError(file + " belongs to the pack " + to_text(found) + ", not to " + to_text(pack) +
                     ": name another folder with --out");
}

runtime::Rows all_rows(const std::vector<std::optional<StepRecord>>& records,
                       const runtime::PackName& pack) {
  runtime::Rows all;
  all.pack = pack;
  const auto append = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (const std::optional<StepRecord>& record : records)
    if (record) {
      append(all.runs, record->rows.runs);
      append(all.figures, record->rows.figures);
      append(all.tests, record->rows.tests);
      append(all.notes, record->rows.notes);
    }
  return all;
}

std::string rows_text(const runtime::Rows& rows) {
  std::string text = runtime::rows_head(rows.pack);
  const auto append = [&](const auto& list) {
    for (const auto& row : list) text += runtime::line_of(row);
  };
  append(rows.figures);
  append(rows.tests);
  append(rows.runs);
  append(rows.notes);
  return text;
}

} // namespace tutti::gpu
