// What studies came to, as the page shows it.
#pragma once

#include "experiments/driver/figures/explorer.hpp"
#include "experiments/driver/studies/study.hpp"

#include <span>
#include <string>
#include <vector>

namespace tutti {

/// Their files as tables, verdicts first, with the runs that are played, or else what the best runs
/// did to networks. It points to their networks. `with_pictures`: their figures, too.
[[nodiscard]] Exploration exploration_of(const std::string& title, const std::string& command,
                                         std::span<const StudyResult> results, bool with_pictures);

/// What lies in a folder of results, of an experiment or a sweep: its CSV files, verdicts and
/// pictures. Errors: InputError where there are none.
[[nodiscard]] std::vector<ExploredTable> tables_in(const std::string& folder);

/// Verdicts as a table.
[[nodiscard]] ExploredTable verdict_table(std::span<const Comparison> comparisons);

} // namespace tutti
