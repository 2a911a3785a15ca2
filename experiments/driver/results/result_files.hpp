// The folder that an experiment leaves behind: its TOML, a CSV file for each kind of study,
// results.json, verdicts.md and the figures.
#pragma once

#include "experiments/driver/studies/expectation.hpp"
#include "experiments/driver/studies/experiment.hpp"
#include "experiments/driver/studies/study.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// What the studies expected, in their order.
[[nodiscard]] std::vector<Comparison> comparisons_of(std::span<const StudyResult> results);

/// Those of the experiment whose results lie in a folder; none where there are none. Errors:
/// InputError for a file that isn't as this version writes it.
[[nodiscard]] std::vector<Comparison> read_comparisons(const std::string& folder);

/// Where `tutti run` of several remembers that an experiment is finished.
[[nodiscard]] std::string finished_file(const std::string& folder);

/// Copies the experiment's file to `folder`/NAME.toml, before anything runs: an unwritable folder
/// must not cost hours. Errors: InputError "FILE: cannot write: ..."; a folder whose results are
/// another experiment's (by name and title), a command's or a sweep's.
void start_results(const std::string& folder, const Experiment& experiment,
                   const std::string& toml);

/// What the studies came to, and for an experiment its title, seed, versions and comparisons.
[[nodiscard]] std::string results_json(std::string_view command,
                                       std::span<const StudyResult> results,
                                       const Experiment* experiment = nullptr);

/// The studies' files; studies of one kind share them. Returns the names of the files.
/// Errors: InputError where one can't be written; each is whole or not there.
std::vector<std::string> write_records(const std::string& folder,
                                       std::span<const StudyResult> results);

/// The studies' files, results.json, and verdicts.md where
/// something is expected. Returns the names of the files.
/// Errors: InputError where one can't be written; each is whole or not there.
std::vector<std::string> write_results(const std::string& folder, const Experiment& experiment,
                                       std::span<const StudyResult> results);

/// Every figure as .svg and in these formats, what it shows as .csv (_data.csv where a table
/// has that name); verdicts.svg where 1 to 60 rows are expected. Names of the files.
/// Errors: InputError.
std::vector<std::string> write_figures(const std::string& folder,
                                       std::span<const StudyResult> results,
                                       std::span<const std::string> formats = {});

} // namespace tutti
