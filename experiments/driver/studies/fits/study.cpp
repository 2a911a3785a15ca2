// Errors come first, as they say what the constants are worth; those of machines that were left out
// are what somebody with another machine may expect.
#include "experiments/driver/studies/fits/study.hpp"

#include "experiments/driver/figures/curves.hpp"
#include "experiments/driver/figures/figure_frame.hpp"
#include "experiments/driver/records/file_stem.hpp"
#include "experiments/driver/studies/fits/records.hpp"
#include "experiments/driver/studies/runs/runner.hpp"
#include "experiments/driver/terminal/stage_display.hpp"
#include "sim/error.hpp"
#include "sim/report.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

namespace tutti {

namespace {

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

/// Bus bandwidth over size of one collective on one machine.
NamedFigure figure_of(const FitStudy& study, Networks networks, const FitEvaluation& made,
                      const FitSystem& system, CollectiveKind kind) {
  constexpr double gb = 1e9;
  const LabelledTopology& network = networks[system.topology];
  const double factor = bus_factor(kind, network.topology.npu_count());
  CurveChart chart;
  chart.heading.title = fmt::format("{}, {}: measured, and predicted under transport {}",
                                    network.label, to_text(kind), study.name);
  chart.x_label = "size";
  chart.y_label = "bus bandwidth (GB/s)";
  Curve measured{"measured", {}, {}, CurveLook{0, 0}}, fitted{"predicted", {}, {}, CurveLook{1, 1}},
      unseen{"predicted without these rows", {}, {}, CurveLook{2, 2}};
  for (const FittedRow& row : made.rows) {
    if (row.system != &system || row.row->measured.kind != kind) continue;
    const auto size = static_cast<double>(row.row->measured.size.count);
    if (!measured.points.empty() && measured.points.back().x == size) continue; // in place
    const auto busbw = [&](double seconds) { return factor * size / seconds / gb; };
    measured.points.push_back({size, busbw(row.row->measured.seconds)});
    fitted.points.push_back({size, busbw(row.predicted.seconds())});
    fitted.band.push_back(
        {size, busbw(row.interval.high.seconds()), busbw(row.interval.low.seconds())});
    unseen.points.push_back(
        {size, busbw(row.row->measured.seconds * std::exp(row.errors.without_system))});
  }
  chart.curves = {std::move(measured), std::move(fitted)};
  if (study.systems.size() > 1) chart.curves.push_back(std::move(unseen));
  return {file_stem(study.label.empty() ? "fit" : study.label,
                    fmt::format("{} {}", network.label, to_text(kind))),
          curve_figure(chart)};
}

std::vector<NamedFigure> figures_of(const FitStudy& study, Networks networks,
                                    const FitEvaluation& made) {
  std::vector<NamedFigure> figures;
  std::vector<std::pair<const FitSystem*, CollectiveKind>> drawn;
  for (const FittedRow& row : made.rows) {
    const std::pair of(row.system, row.row->measured.kind);
    const auto points = std::ranges::count_if(made.rows, [&](const FittedRow& other) {
      return other.system == of.first && other.row->measured.kind == of.second;
    });
    if (points < 3 || std::ranges::find(drawn, of) != drawn.end()) continue;
    drawn.push_back(of);
    figures.push_back(figure_of(study, networks, made, *of.first, of.second));
  }
  return figures;
}

/// Constants and widths: what the file has that was made.
nlohmann::ordered_json about(const FitStudy& study, const Records& constants,
                             const FitEvaluation& made) {
  using Json = nlohmann::ordered_json;
  const auto json_of = [](const Cell& cell, Quantity quantity) {
    if (!cell.is_known()) return Json(nullptr);
    return quantity == Quantity::count ? Json(cell.whole()) : Json(cell.text());
  };
  Json list = Json::array(), widths = Json::array();
  for (const std::vector<Cell>& row : constants.rows) {
    Json one = Json::object();
    for (std::size_t c = 1; c < row.size(); ++c) // without the label
      one[constants.columns[c].name] = json_of(row[c], constants.columns[c].quantity);
    list.push_back(std::move(one));
  }
  for (const auto& [part, spread] : made.spreads)
    widths.push_back({{"part", part.empty() ? Json(nullptr) : Json(part)},
                      {"rates_within", std::expm1(spread.rates)},
                      {"times_within", std::expm1(spread.times)}});
  Json one = {{"kind", FitStudy::kind},
              {"label", study.label.empty() ? Json(nullptr) : Json(study.label)},
              {"transport", study.name},
              {"constants", std::move(list)},
              {"within", std::move(widths)}};
  return Json::array({std::move(one)});
}

/// A fit that is interrupted says nothing.
StudyResult unfinished() {
  StudyResult result;
  result.files = {{"fits", fit_errors({}, {}, nullptr)}};
  result.kind = FitStudy::kind;
  result.story = [](const TableForm&) { return std::string(); };
  result.unanswered = {Status::timed_out, "interrupted in its fit"};
  result.nothing_made = {"the fit was interrupted, and there is nothing to show"};
  return result;
}

} // namespace

std::vector<RecordColumn> FitStudy::columns() { return fit_errors({}, {}, nullptr).columns; }

std::vector<std::string> FitStudy::table_columns() const {
  std::vector<std::string> names = column_names(columns(), {});
  for (const std::string& name : column_names(fit_constants(*this, {}).columns, {}))
    names.push_back(name);
  return names;
}

void require_sound(const FitStudy& study, Networks networks) {
  for (const FitSystem& system : study.systems)
    if (std::ranges::none_of(system.rows,
                             [](const FitStudyRow& row) { return row.left_aside.empty(); }) &&
        study.systems.size() == 1)
      throw InputError(fmt::format("{}: no row is left to fit", networks[system.topology].label));
}

std::string transport_text(const FitStudy& study, const FitEvaluation& made) {
  return transport_toml(made.fit.transport, study.note);
}

StudyResult result_of(const FitStudy& study, Networks networks, FitEvaluation evaluation) {
  const auto made = std::make_shared<const FitEvaluation>(std::move(evaluation));
  const Records errors = fit_errors(study, networks, made.get());
  const Records constants = fit_constants(study, *made);
  StudyResult result;
  result.files = {{"fits", errors},
                  {"fit_rows", fit_rows(study, networks, *made)},
                  {"fit_constants", constants}};
  result.texts = {{study.name + ".toml", transport_text(study, *made)}};
  result.kind = FitStudy::kind;
  result.story = [=, &study](const TableForm& form) {
    return to_text(records_table(errors), form) + "\n" +
           to_text(records_table(shown_constants(constants)), form) + "\n" +
           intervals_text(study, *made) + aside_text(networks, *made);
  };
  result.figures = [=, &study] { return figures_of(study, networks, *made); };
  result.about = [=, &study] { return about(study, constants, *made); };
  if (std::ranges::none_of(made->fit.constants, [](const FittedConstant& constant) {
        return constant.verdict == FitVerdict::fitted;
      }))
    result.nothing_made = {"no row determines a constant that is free"};
  result.comparisons = compare(study.expectations, errors);
  return result;
}

StudyResult run_study(const FitStudy& study, const StudyRun& how) {
  SynthesisOptions options;
  InterruptibleWork work(how.interrupts, study.label.empty() ? how.name : study.label,
                         how.progress);
  work.watch(options);
  try {
    FitEvaluation made = evaluate_fit(study, how.networks, options,
                                      static_cast<unsigned>(std::max<std::size_t>(1, how.jobs)));
    how.refusals.accept();
    return result_of(study, how.networks, std::move(made));
  } catch (const Stopped&) {
    return unfinished();
  }
}

} // namespace tutti
