// What a fit comes to for people and programs: errors by system and size, rows, constants, widths
// of intervals.
#pragma once

#include "experiments/driver/studies/fits/study.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace tutti {

/// By what rows of errors are told apart, in their order.
[[nodiscard]] Records fit_error_keys(const FitStudy& study, Networks networks);
/// A row for each group or topology, collective and least size.
[[nodiscard]] Records fit_errors(const FitStudy& study, Networks networks,
                                 const FitEvaluation& made);
/// A row for each measured one.
[[nodiscard]] Records fit_rows(const FitStudy& study, Networks networks, const FitEvaluation& made);
/// A row for each constant that is free.
[[nodiscard]] Records fit_constants(const FitStudy& study, const FitEvaluation& made);

/// Errors first, as they say what the constants are worth; those of machines that were left out are
/// what somebody with another machine may expect.
[[nodiscard]] std::string fit_text(const FitStudy& study, Networks networks,
                                   const FitEvaluation& made, const TableForm& form);

/// Constants and widths: what the file has that was made.
[[nodiscard]] nlohmann::ordered_json about_fit(const FitStudy& study, const FitEvaluation& made);

/// For each machine and collective of three rows or more.
[[nodiscard]] std::vector<NamedFigure> fit_figures(const FitStudy& study, Networks networks,
                                                   const FitEvaluation& made);

} // namespace tutti
