// What steps leave on the disk: their rows, the last of which says how the step ended, and a
// report.
#pragma once

#include "gpu/benchmark_run/steps.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tutti::gpu {

struct StepResult {
  std::string ending; ///< "done: in 0:12", "failed: after 0:04, ...", "left out: " and why
  std::string lines;  ///< of the rows, less the first
  runtime::Rows rows; ///< less the last, which is the ending

  [[nodiscard]] bool is_done() const { return ending.starts_with("done: "); }
  [[nodiscard]] bool has_failed() const { return ending.starts_with("failed: "); }
};

/// Runs the step's tasks, one after another, in what time it has. A process that ends without the
/// rows that it owes has them written for it. Only a step that has ended replaces an earlier
/// result; nothing where it was interrupted. Errors: InputError where files can't be written or
/// read, or no process can be had.
[[nodiscard]] std::optional<StepResult> perform(const Scene& scene);

/// Nothing where the file has no rows of a step that has ended; if it is there, that is printed.
/// Errors: InputError where there are rows of another pack, which nothing may replace.
[[nodiscard]] std::optional<StepResult> read_result(const std::string& file,
                                                    const runtime::PackName& pack);

/// The report for a person, in Markdown: what was expected and what came. results: [step]; nothing
/// where it hasn't ended yet. all: their rows together.
[[nodiscard]] std::string report_of(const runtime::Pack& pack,
                                    const std::vector<std::optional<StepResult>>& results,
                                    const runtime::Rows& all);

} // namespace tutti::gpu
