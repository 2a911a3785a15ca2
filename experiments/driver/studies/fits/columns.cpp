// Errors of a fit stand for each group or machine, collective and least size, as error_of() has
// them: of all rows, of rows without those of their size, and without those of their machine.
#include "experiments/driver/studies/fits/columns.hpp"

#include "experiments/driver/records/json.hpp"
#include "experiments/driver/studies/measurements/comparison.hpp"
#include "experiments/driver/studies/shared_columns.hpp"
#include "sim/transport/constants.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

namespace tutti {

namespace {

/// A row of errors: of a group's rows from a size on.
struct ErrorsOf {
  const FitStudy* study;
  const FitEvaluation* made;   ///< null: planned
  std::string group, topology; ///< "all" of a group's
  CollectiveKind kind;
  Bytes from;
  std::vector<std::size_t> rows = {}; ///< of FitEvaluation::rows, which are in the study's order

  [[nodiscard]] bool is_like(const ErrorsOf& other) const {
    return std::tie(group, topology, kind, from) ==
           std::tie(other.group, other.topology, other.kind, other.from);
  }
  [[nodiscard]] ComparisonError off(double FitErrors::*error) const {
    std::vector<double> all;
    for (const std::size_t r : rows) all.push_back(std::abs(made->rows[r].errors.*error));
    return error_of(std::move(all));
  }
  [[nodiscard]] Cell covered(std::optional<bool> FittedRow::*is_covered) const {
    double fitted = 0, within = 0;
    for (const std::size_t r : rows) {
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
  using namespace column_words;
  return {
      {shared("label"), [](const R& r) { return r.study->label; }},
      {{"group", text, key, always, "Machines whose errors are told together", 1},
       [](const R& r) { return r.group; }},
      {{"topology", text, key, always, "Label of the machine; `all` for those of a group together"},
       [](const R& r) { return r.topology; }},
      {shared("collective"), [](const R& r) { return to_text(r.kind); }},
      {{"from_bytes", bytes, key, always, "The row is of measured rows of so much and more"},
       [](const R& r) { return r.from; }}};
}

Fields<ErrorsOf> error_fields() {
  using R = ErrorsOf;
  using E = FitErrors;
  using namespace column_words;
  Fields<R> fields = key_fields();
  extend(fields,
         {{{"rows", count, metric, always, "How many there are"},
           [](const R& r) { return r.rows.size(); }},
          {{"error", part, metric, sometimes,
            "exp(mean of |ln(predicted / measured)|) - 1, by constants that were fitted to "
            "these rows, too"},
           [](const R& r) { return r.off(&E::fitted).mean; }},
          {{"error_90", part, metric, sometimes,
            "The same as `error`, but of the 90th percentile of |ln|", 3, "90th"},
           [](const R& r) { return r.off(&E::fitted).most; }},
          {{"error_without_size", part, metric, sometimes,
            "`error` by constants that were fitted without rows of the size that is predicted", 0,
            "without size"},
           [](const R& r) { return r.off(&E::without_size).mean; }},
          {{"error_without_size_90", part, metric, sometimes,
            "The same as `error_without_size`, but of the 90th percentile of |ln|", 3, "90th"},
           [](const R& r) { return r.off(&E::without_size).most; }},
          {{"error_without_system", part, metric, sometimes,
            "`error` by constants that were fitted without this machine's rows: what somebody with "
            "another machine may expect",
            0, "without system"},
           [](const R& r) { return r.off(&E::without_system).mean; }},
          {{"error_without_system_90", part, metric, sometimes,
            "The same as `error_without_system`, but of the 90th percentile of |ln|", 3, "90th"},
           [](const R& r) { return r.off(&E::without_system).most; }},
          {{"covered", part, metric, sometimes,
            "The part of fitted rows that lie in the 90 % interval that the other rows give; rows "
            "of parts that few rows are of as if their machine were left out",
            0, "in interval"},
           [](const R& r) { return r.covered(&FittedRow::is_covered); }},
          {{"covered_elsewhere", part, metric, sometimes,
            "The part of fitted rows that lie, their machine left out, in the 90 % interval that "
            "the other machines give; of rows all of whose parts another machine has",
            1, "elsewhere"},
           [](const R& r) { return r.covered(&FittedRow::is_covered_elsewhere); }}});
  return fields;
}

std::vector<ErrorsOf> errors_of(const FitStudy& study, Networks networks,
                                const FitEvaluation* made) {
  std::vector<ErrorsOf> found;
  const auto add = [&](ErrorsOf of, std::size_t row) {
    auto at = std::ranges::find_if(found, [&](const ErrorsOf& each) { return each.is_like(of); });
    if (at == found.end()) at = found.insert(at, std::move(of));
    at->rows.push_back(row);
  };
  for (const Bytes from : study.from)
    for (const bool is_pooled : {false, true}) {
      std::size_t row = 0;
      for (const FitSystem& system : study.systems) {
        const auto of_group = std::ranges::count(study.systems, system.group, &FitSystem::group);
        for (const FitStudyRow& each : system.rows) {
          if (each.measured.size >= from && (!is_pooled || of_group > 1))
            add({&study, made, system.group, is_pooled ? "all" : networks[system.topology].label,
                 each.measured.kind, from},
                row);
          ++row;
        }
      }
    }
  return found;
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

/// Without what is unused.
Records shown_constants(Records constants) {
  std::erase_if(constants.rows,
                [](const std::vector<Cell>& row) { return row.back().text() == "unused"; });
  return constants;
}

std::string intervals_text(const FitStudy& study, const FitEvaluation& made) {
  const char* others = study.systems.size() > 1 ? "other parts" : "here";
  std::string text;
  for (const auto& [part, spread] : made.spreads)
    text += fmt::format("{}: rates within {:.1f} %, times within {:.0f} %\n",
                        part.empty() ? others : part, 100 * std::expm1(spread.rates),
                        100 * std::expm1(spread.times));
  return "90 % of what is measured is expected\n" + text;
}

std::string aside_text(Networks networks, const FitEvaluation& made) {
  std::vector<std::pair<std::string, std::size_t>> reasons;
  for (const FittedRow& row : made.rows) {
    if (row.row->left_aside.empty()) continue;
    const std::string reason =
        fmt::format("{}: {}", networks[row.system->topology].label, row.row->left_aside);
    const auto known =
        std::ranges::find(reasons, reason, &std::pair<std::string, std::size_t>::first);
    if (known == reasons.end())
      reasons.emplace_back(reason, 1);
    else
      ++known->second;
  }
  std::string text;
  for (const auto& [reason, rows] : reasons)
    text += fmt::format("{} row{} of {} (predicted, and not fitted)\n", rows, rows == 1 ? "" : "s",
                        reason);
  return text;
}

} // namespace

Records fit_error_keys(const FitStudy& study, Networks networks) {
  return records_of<ErrorsOf>(key_fields(), errors_of(study, networks, nullptr));
}

Records fit_errors(const FitStudy& study, Networks networks, const FitEvaluation& made) {
  return records_of<ErrorsOf>(error_fields(), errors_of(study, networks, &made));
}

Records fit_rows(const FitStudy& study, Networks networks, const FitEvaluation& made) {
  using R = FittedRow;
  using namespace column_words;
  const auto times_as_much = [](double FitErrors::*error) {
    return [error](const R& r) { return Cell(std::exp(r.errors.*error)); };
  };
  const Fields<R> fields{
      {shared("label"), [&](const R&) { return study.label; }},
      {{"topology", text, key, always, "Label of the machine"},
       [&](const R& r) { return networks[r.system->topology].label; }},
      {shared("collective"), [](const R& r) { return to_text(r.row->measured.kind); }},
      {shared("size_bytes"), [](const R& r) { return r.row->measured.size; }},
      {{"measured_ps", time, metric, always, "Time that was measured"},
       [](const R& r) { return time_of_seconds(r.row->measured.seconds); }},
      {{"predicted_ps", time, metric, always, "Time that is predicted by the fitted transport"},
       [](const R& r) { return r.predicted; }},
      {shared("time_low_ps"), [](const R& r) { return r.interval.low; }},
      {shared("time_high_ps"), [](const R& r) { return r.interval.high; }},
      {{"predicted_over_measured", ratio, metric, always, "`predicted_ps / measured_ps`"},
       times_as_much(&FitErrors::fitted)},
      {{"without_size", ratio, metric, always,
        "The same by constants that were fitted without rows of this size"},
       times_as_much(&FitErrors::without_size)},
      {{"without_system", ratio, metric, always,
        "The same by constants that were fitted without this machine's rows"},
       times_as_much(&FitErrors::without_system)},
      {{"covered", truth, metric, sometimes,
        "Whether it lies in the interval that the other rows give; empty where it isn't fitted"},
       [](const R& r) { return Cell(r.is_covered); }},
      {{"covered_elsewhere", truth, metric, sometimes,
        "The same of the interval that the other machines give, its own left out; empty where no "
        "other has all of its parts"},
       [](const R& r) { return Cell(r.is_covered_elsewhere); }},
      {{"part", text, note, always,
        "Of the parts that it crosses the one whose steps take longest"},
       [](const R& r) { return r.part; }},
      {{"latency_part", part, metric, sometimes,
        "How much of its time is latencies, handovers and launches; empty where it isn't fitted"},
       [](const R& r) { return r.errors.times; }},
      {{"left_aside", text, note, sometimes, "Why it isn't fitted; empty where it is"},
       [](const R& r) { return Cell::of_text(r.row->left_aside); }}};
  return records_of<R>(fields, made.rows);
}

Records fit_constants(const FitStudy& study, const FitEvaluation& made) {
  using R = FittedConstant;
  using namespace column_words;
  const auto if_fitted = [](double R::*value) {
    return [value](const R& r) {
      return r.verdict == FitVerdict::fitted ? Cell(text_of(r, r.*value)) : Cell();
    };
  };
  const Fields<R> fields{
      {shared("label"), [&](const R&) { return study.label; }},
      {{"constant", text, key, always, "`PART.PROTOCOL.KEY` of a rule, or `launch.MODEL`"},
       [](const R& r) { return r.name; }},
      {{"start", numeral, metric, sometimes, "Where it was, as files have it"},
       [](const R& r) { return text_of(r, r.start); }},
      {{"value", numeral, metric, sometimes, "Where it is now"},
       [](const R& r) { return text_of(r, r.value); }},
      {{"low", numeral, metric, sometimes, "90 % confidence; empty where it isn't fitted"},
       if_fitted(&R::low)},
      {{"high", numeral, metric, sometimes, "Its other end"}, if_fitted(&R::high)},
      {{"rows", count, metric, always, "How many fitted rows depend on it"},
       [](const R& r) { return r.rows; }},
      {{"verdict", text, metric, always,
        "`fitted`; `undetermined` where rows would do with its start as well; `unused` where none "
        "depends on it"},
       [](const R& r) { return to_text(r.verdict); }}};
  return records_of<R>(fields, made.fit.constants);
}

std::vector<RecordFile> FitStudy::files() {
  return {{"fits", records_of<ErrorsOf>(error_fields(), {})},
          {"fit_rows", fit_rows({}, {}, {})},
          {"fit_constants", fit_constants({}, {})}};
}

std::vector<std::string> FitStudy::table_columns() const {
  std::vector<std::string> all = column_names(columns_of<FitStudy>(), {});
  for (const std::string& each : column_names(fit_constants(*this, {}).columns, {}))
    all.push_back(each);
  return all;
}

std::string fit_text(const FitStudy& study, Networks networks, const FitEvaluation& made,
                     const TableForm& form) {
  return to_text(records_table(fit_errors(study, networks, made)), form) + "\n" +
         to_text(records_table(shown_constants(fit_constants(study, made))), form) + "\n" +
         intervals_text(study, made) + aside_text(networks, made);
}

nlohmann::ordered_json about_fit(const FitStudy& study, const FitEvaluation& made) {
  using Json = nlohmann::ordered_json;
  const auto json_of = [](const Cell& cell, Quantity quantity) {
    if (!cell.is_known()) return Json(nullptr);
    return quantity == Quantity::count ? Json(cell.whole()) : Json(cell.text());
  };
  const Records constants = fit_constants(study, made);
  Json list = Json::array(), widths = Json::array();
  for (const std::vector<Cell>& row : constants.rows) {
    Json one = Json::object();
    for (std::size_t c = 1; c < row.size(); ++c) // without the label
      one[constants.columns[c].name] = json_of(row[c], constants.columns[c].quantity);
    list.push_back(std::move(one));
  }
  for (const auto& [name, spread] : made.spreads)
    widths.push_back({{"part", text_or_null(name)},
                      {"rates_within", std::expm1(spread.rates)},
                      {"times_within", std::expm1(spread.times)}});
  return Json::array({{{"kind", FitStudy::kind},
                       {"label", text_or_null(study.label)},
                       {"transport", study.name},
                       {"constants", std::move(list)},
                       {"within", std::move(widths)}}});
}

} // namespace tutti
