// An error is exp(mean |ln(predicted / measured)|) - 1: twice as much and half as much count alike.
#include "experiments/driver/studies/fits/records.hpp"

#include "sim/transport/constants.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace tutti {

namespace {

/// A row of errors, and what it is of.
struct ErrorsOf {
  const FitStudy* study;
  FitErrorRow row;
  const FitEvaluation* made; ///< null: planned

  [[nodiscard]] std::vector<double> off(double FitErrors::*error) const {
    std::vector<double> all;
    for (const std::size_t r : row.rows) all.push_back(std::abs(made->rows[r].errors.*error));
    std::ranges::sort(all);
    return all;
  }
  [[nodiscard]] Cell mean(double FitErrors::*error) const {
    double sum = 0;
    for (const double each : off(error)) sum += each;
    return std::expm1(sum / static_cast<double>(row.rows.size()));
  }
  [[nodiscard]] Cell most(double FitErrors::*error) const {
    const std::vector<double> all = off(error);
    const auto rank = static_cast<std::size_t>(std::ceil(0.9 * static_cast<double>(all.size())));
    return std::expm1(all[rank - 1]);
  }
  [[nodiscard]] Cell covered(std::optional<bool> FittedRow::*is_covered) const {
    double fitted = 0, within = 0;
    for (const std::size_t r : row.rows) {
      const std::optional<bool>& one = made->rows[r].*is_covered;
      if (!one) continue;
      fitted += 1;
      within += *one ? 1 : 0;
    }
    return fitted > 0 ? Cell(within / fitted) : Cell();
  }
};

Fields<ErrorsOf> key_fields() {
  using R = ErrorsOf;
  using enum Quantity;
  using enum ColumnRole;
  return {{{"label", text, key}, [](const R& r) { return r.study->label; }},
          {{"group", text, key, 1}, [](const R& r) { return r.row.group; }},
          {{"topology", text, key}, [](const R& r) { return r.row.topology; }},
          {{"collective", text, key}, [](const R& r) { return to_text(r.row.kind); }},
          {{"from_bytes", bytes, key}, [](const R& r) { return r.row.from; }}};
}

Fields<ErrorsOf> error_fields() {
  using R = ErrorsOf;
  using E = FitErrors;
  using enum Quantity;
  using enum ColumnRole;
  Fields<R> fields = key_fields();
  extend(fields,
         {{{"rows", count, metric}, [](const R& r) { return r.row.rows.size(); }},
          {{"error", part, metric}, [](const R& r) { return r.mean(&E::fitted); }},
          {{"error_90", part, metric, 3, "90th"}, [](const R& r) { return r.most(&E::fitted); }},
          {{"error_without_size", part, metric, 0, "without size"},
           [](const R& r) { return r.mean(&E::without_size); }},
          {{"error_without_size_90", part, metric, 3, "90th"},
           [](const R& r) { return r.most(&E::without_size); }},
          {{"error_without_system", part, metric, 0, "without system"},
           [](const R& r) { return r.mean(&E::without_system); }},
          {{"error_without_system_90", part, metric, 3, "90th"},
           [](const R& r) { return r.most(&E::without_system); }},
          {{"covered", part, metric, 0, "in interval"},
           [](const R& r) { return r.covered(&FittedRow::is_covered); }},
          {{"covered_elsewhere", part, metric, 1, "elsewhere"},
           [](const R& r) { return r.covered(&FittedRow::is_covered_elsewhere); }}});
  return fields;
}

std::vector<ErrorsOf> errors_of(const FitStudy& study, Networks networks,
                                const FitEvaluation* made) {
  std::vector<ErrorsOf> all;
  for (FitErrorRow& row : error_rows(study, networks))
    all.push_back({&study, std::move(row), made});
  return all;
}

/// As files have it.
std::string text_of(const FittedConstant& constant, double value) {
  double share = 1;
  Bandwidth rate{1};
  Time time{1};
  const TransportConstant of = constant.kind == ConstantKind::share  ? TransportConstant("", share)
                               : constant.kind == ConstantKind::rate ? TransportConstant("", rate)
                                                                     : TransportConstant("", time);
  of.set(value);
  return of.text();
}

std::string_view to_text(FitVerdict verdict) {
  switch (verdict) {
  case FitVerdict::fitted: return "fitted";
  case FitVerdict::undetermined: return "undetermined";
  case FitVerdict::unused: return "unused";
  }
  return "";
}

} // namespace

Records fit_error_keys(const FitStudy& study, Networks networks) {
  return records_of<ErrorsOf>(key_fields(), errors_of(study, networks, nullptr));
}

Records fit_errors(const FitStudy& study, Networks networks, const FitEvaluation* made) {
  return records_of<ErrorsOf>(error_fields(), made == nullptr ? std::vector<ErrorsOf>{}
                                                              : errors_of(study, networks, made));
}

Records fit_rows(const FitStudy& study, Networks networks, const FitEvaluation& made) {
  using R = FittedRow;
  using enum Quantity;
  using enum ColumnRole;
  const auto times_as_much = [](double FitErrors::*error) {
    return [error](const R& r) { return Cell(std::exp(r.errors.*error)); };
  };
  const Fields<R> fields{
      {{"label", text, key}, [&](const R&) { return study.label; }},
      {{"topology", text, key}, [&](const R& r) { return networks[r.system->topology].label; }},
      {{"collective", text, key}, [](const R& r) { return to_text(r.row->measured.kind); }},
      {{"size_bytes", bytes, key}, [](const R& r) { return r.row->measured.size; }},
      {{"measured_ps", time, metric},
       [](const R& r) { return time_of_seconds(r.row->measured.seconds); }},
      {{"predicted_ps", time, metric}, [](const R& r) { return r.predicted; }},
      {{"time_low_ps", time, metric}, [](const R& r) { return r.interval.low; }},
      {{"time_high_ps", time, metric}, [](const R& r) { return r.interval.high; }},
      {{"predicted_over_measured", ratio, metric}, times_as_much(&FitErrors::fitted)},
      {{"without_size", ratio, metric}, times_as_much(&FitErrors::without_size)},
      {{"without_system", ratio, metric}, times_as_much(&FitErrors::without_system)},
      {{"covered", truth, metric}, [](const R& r) { return Cell(r.is_covered); }},
      {{"covered_elsewhere", truth, metric},
       [](const R& r) { return Cell(r.is_covered_elsewhere); }},
      {{"part", text, note}, [](const R& r) { return r.part; }},
      {{"latency_part", part, metric}, [](const R& r) { return r.errors.times; }},
      {{"left_aside", text, note}, [](const R& r) { return Cell::of_text(r.row->left_aside); }}};
  return records_of<R>(fields, made.rows);
}

Records fit_constants(const FitStudy& study, const FitEvaluation& made) {
  using R = FittedConstant;
  using enum Quantity;
  using enum ColumnRole;
  const auto if_fitted = [](double R::*value) {
    return [value](const R& r) {
      return r.verdict == FitVerdict::fitted ? Cell(text_of(r, r.*value)) : Cell();
    };
  };
  const Fields<R> fields{
      {{"label", text, key}, [&](const R&) { return study.label; }},
      {{"constant", text, key}, [](const R& r) { return r.name; }},
      {{"start", numeral, metric}, [](const R& r) { return text_of(r, r.start); }},
      {{"value", numeral, metric}, [](const R& r) { return text_of(r, r.value); }},
      {{"low", numeral, metric}, if_fitted(&R::low)},
      {{"high", numeral, metric}, if_fitted(&R::high)},
      {{"rows", count, metric}, [](const R& r) { return r.rows; }},
      {{"verdict", text, metric}, [](const R& r) { return to_text(r.verdict); }}};
  return records_of<R>(fields, made.fit.constants);
}

} // namespace tutti
