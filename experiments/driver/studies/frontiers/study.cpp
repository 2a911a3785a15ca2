// The frontier is made first: rows of the paper are judged by its bounds and points, which may beat
// them.
#include "experiments/driver/studies/frontiers/study.hpp"

#include <fmt/format.h>

#include <utility>

namespace tutti {

StudyEvaluation evaluate_study(const FrontierCase& c, std::span<const PaperInstance> paper,
                               const std::function<void(const FrontierPoint&)>& found,
                               const FrontierFunction& function) {
  FrontierRequest request = request_of(c);
  request.found = found;
  StudyEvaluation study{evaluate_frontier(c, request, function), {}};
  for (const PaperInstance& instance : paper) {
    if (c.options.cancelled && c.options.cancelled()) break;
    study.instances.push_back(evaluate_instance(c, instance, study.frontier.frontier, function));
  }
  return study;
}

StudyEvaluation without_study(const FrontierCase& c, Status status, const std::string& note) {
  Frontier none;
  none.stop = note;
  none.timed_out = is_cut_short(status);
  return {evaluate_points(c, std::move(none)), {}};
}

std::vector<std::size_t> beyond_paper(const StudyEvaluation& study) {
  if (study.instances.empty()) return {};
  std::vector<PaperInstance> paper;
  for (const InstanceEvaluation& instance : study.instances) paper.push_back(instance.paper);
  return beyond_paper(study.frontier.frontier, paper);
}

std::vector<Comparison> comparisons_of(std::span<const StudyEvaluation> studies) {
  std::vector<Comparison> all;
  for (const StudyEvaluation& study : studies)
    for (const InstanceEvaluation& instance : study.instances)
      all.push_back(comparison_of(study.frontier.label, instance, study.frontier.frontier));
  return all;
}

std::vector<std::string> problems_of(const StudyEvaluation& study) {
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

} // namespace tutti
