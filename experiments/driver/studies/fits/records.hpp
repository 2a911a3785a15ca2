// What a fit comes to as records: errors by system and size, rows, constants.
#pragma once

#include "experiments/driver/records/records.hpp"
#include "experiments/driver/studies/fits/study.hpp"

namespace tutti {

/// By what rows of errors are told apart, in their order.
[[nodiscard]] Records fit_error_keys(const FitStudy& study, Networks networks);
/// A row for each of error_rows(); without an evaluation none.
[[nodiscard]] Records fit_errors(const FitStudy& study, Networks networks,
                                 const FitEvaluation* made);
/// A row for each measured one.
[[nodiscard]] Records fit_rows(const FitStudy& study, Networks networks, const FitEvaluation& made);
/// A row for each constant that is free.
[[nodiscard]] Records fit_constants(const FitStudy& study, const FitEvaluation& made);

} // namespace tutti
