// The frontier is made first: rows of the paper are judged by its bounds and points, which may beat
// them.
#include "experiments/driver/studies/frontiers/study.hpp"

#include "experiments/driver/pool/process_memory.hpp"
#include "experiments/driver/records/file_stem.hpp"
#include "experiments/driver/studies/frontiers/display.hpp"
#include "experiments/driver/studies/frontiers/figure.hpp"
#include "experiments/driver/studies/frontiers/json.hpp"
#include "experiments/driver/studies/frontiers/columns.hpp"
#include "experiments/driver/studies/frontiers/table.hpp"
#include "experiments/driver/terminal/stage_display.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace tutti {

FrontierCase FrontierStudy::frontier(Networks networks) const {
  return {.label = label,
          .topology_label = networks[topology].label,
          .topology = &networks[topology].topology,
          .collective = collective,
          .sizes = sizes,
          .options = options,
          .engines = engines};
}

FrontierStudyEvaluation evaluate_study(const FrontierCase& c, std::span<const PaperInstance> paper,
                                       const std::function<void(const FrontierPoint&)>& found,
                                       const FrontierFunction& function) {
  FrontierRequest request = request_of(c);
  request.found = found;
  FrontierStudyEvaluation study{evaluate_frontier(c, request, function), {}};
  for (const PaperInstance& instance : paper) {
    if (c.options.cancelled && c.options.cancelled()) break;
    study.instances.push_back(evaluate_instance(c, instance, study.frontier.frontier, function));
  }
  return study;
}

FrontierStudyEvaluation without_study(const FrontierCase& c, Status status,
                                      const std::string& note) {
  Frontier none;
  none.stop = note;
  none.timed_out = is_cut_short(status);
  return {evaluate_points(c, std::move(none)), {}};
}

std::vector<std::size_t> beyond_paper(const FrontierStudyEvaluation& study) {
  if (study.instances.empty()) return {};
  std::vector<PaperInstance> paper;
  for (const InstanceEvaluation& instance : study.instances) paper.push_back(instance.paper);
  return beyond_paper(study.frontier.frontier, paper);
}

std::vector<Comparison> comparisons_of(const FrontierStudyEvaluation& study) {
  std::vector<Comparison> all;
  for (const InstanceEvaluation& instance : study.instances)
    all.push_back(comparison_of(study.frontier.label, instance, study.frontier.frontier));
  return all;
}

std::vector<std::string> problems_of(const FrontierStudyEvaluation& study) {
  const FrontierEvaluation& frontier = study.frontier;
  const std::string what =
      fmt::format("frontier of {} on {}", frontier.collective, frontier.topology);
  std::vector<std::string> problems;
  const auto add = [&](const std::string& problem) {
    if (!problem.empty()) problems.push_back(fmt::format("{}: {}", what, problem));
  };
  add(frontier.problem);
  for (const InstanceEvaluation& instance : study.instances) add(instance.problem);
  return problems;
}

std::vector<std::string> nothing_made(const FrontierStudyEvaluation& study) {
  const FrontierEvaluation& frontier = study.frontier;
  const bool is_decided =
      std::ranges::any_of(study.instances, [](const InstanceEvaluation& instance) {
        return instance.answer != "timed_out";
      });
  if (!frontier.points.empty() || !frontier.problem.empty() || is_decided) return {};
  return {fmt::format("frontier of {} on {}: no point was found: {}", frontier.collective,
                      frontier.topology, frontier.frontier.stop)};
}

void require_sound(const FrontierStudy& study, Networks networks) {
  require_sound(study.frontier(networks));
}

namespace {

FrontierStudyEvaluation evaluate(const FrontierStudy& study, const StudyRun& how) {
  FrontierCase c = study.frontier(how.networks);
  const std::string what =
      study.label.empty() ? fmt::format("{} on {}", c.collective, c.topology_label) : study.label;
  allow_memory(c.options);
  InterruptibleWork work(how.interrupts, what, how.progress);
  work.watch(c.options);
  const auto found = work.beside(point_announcer(what, how.progress));
  return how.refusals.row(
      [&] { return evaluate_study(c, study.paper, found); },
      [&](Status status, const std::string& note) { return without_study(c, status, note); });
}

} // namespace

std::size_t FrontierStudy::case_count() const { return sizes.size(); }

std::vector<RecordColumn> FrontierStudy::columns() { return frontier_records({}).columns; }

std::vector<std::string> FrontierStudy::table_columns() const { return frontier_table_columns(); }

namespace {

/// Row in frontier_records() of the best point, where there is only one size.
std::optional<std::size_t> best_row(const FrontierStudyEvaluation& made) {
  const FrontierEvaluation& e = made.frontier;
  if (e.sizes.size() != 1 || e.best.empty()) return std::nullopt;
  std::size_t row = 0;
  for (std::size_t p = 0; p < e.best.front().which; ++p) row += e.points[p].at.size();
  return row;
}

} // namespace

StudyResult result_of(FrontierStudyEvaluation evaluation) {
  const auto made = std::make_shared<const FrontierStudyEvaluation>(std::move(evaluation));
  StudyResult result;
  result.files = {{"frontier", frontier_records({made.get(), 1})}};
  if (!made->instances.empty())
    result.files.push_back({"frontier_paper", paper_records({made.get(), 1})});
  result.kind = FrontierStudy::kind;
  result.details = [made] { return frontier_details(*made); };
  result.about = [made] { return about_frontier(*made); };
  result.story = [made](const TableForm& form) {
    return frontier_text(made->frontier, form) + instances_text(*made, form);
  };
  result.figures = [made] {
    std::vector<NamedFigure> figures;
    if (const FrontierEvaluation& frontier = made->frontier; !frontier.frontier.points.empty())
      figures.push_back({file_stem("frontier", frontier.label), frontier_figure(frontier)});
    return figures;
  };
  result.point = best_row(*made);
  if (made->frontier.points.empty())
    result.unanswered = {made->frontier.frontier.timed_out ? Status::timed_out
                                                           : Status::unsupported,
                         made->frontier.frontier.stop};
  result.comparisons = comparisons_of(*made);
  result.defects = problems_of(*made);
  result.nothing_made = nothing_made(*made);
  return result;
}

StudyResult run_study(const FrontierStudy& study, const StudyRun& how) {
  return result_of(evaluate(study, how));
}

} // namespace tutti
