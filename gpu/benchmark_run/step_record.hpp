// What is on disk of a step: its rows, whose last one says how it ended.
#pragma once

#include "gpu/benchmark_run/steps.hpp"
#include "runtime/pack/rows.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::gpu {

enum class Outcome { done, failed, left_out };
[[nodiscard]] std::string_view to_text(Outcome outcome);

/// The rows of a step that has ended.
struct StepRecord {
  Outcome outcome = Outcome::failed;
  std::string words; ///< "12.3 s", "after 4.0 s: ...", why it was left out
  runtime::Rows rows;
};

/// DIR/03_tests and the like, less the ending.
[[nodiscard]] std::string step_path(const std::string& folder, const DayStep& step);

/// The row that ends a step's rows.
[[nodiscard]] runtime::NoteRow ending_of(const DayStep& step, Outcome outcome,
                                         const std::string& words);

/// Nothing where the step hasn't ended yet; `why` then says what there is instead, if anything.
/// Errors: InputError where there are rows of another pack, which nothing may replace.
[[nodiscard]] std::optional<StepRecord> read_record(const std::string& folder, const DayStep& step,
                                                    const runtime::PackName& pack,
                                                    std::string& why);

/// Errors: InputError where a file begins as rows of another pack do.
void require_no_other_pack(const std::string& file, const runtime::PackName& pack);

/// All rows of the steps that have ended, in their order. records: [step].
[[nodiscard]] runtime::Rows all_rows(const std::vector<std::optional<StepRecord>>& records,
                                     const runtime::PackName& pack);

/// As a file of rows.
[[nodiscard]] std::string rows_text(const runtime::Rows& rows);

} // namespace tutti::gpu
