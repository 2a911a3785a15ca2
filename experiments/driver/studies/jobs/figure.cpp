// One group of bars per job and one bar per plan: which plan hurts which job.
#include "experiments/driver/studies/jobs/study.hpp"

#include "experiments/driver/figures/bars.hpp"
#include "experiments/driver/records/file_stem.hpp"
#include "experiments/driver/studies/runs/table.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace tutti {

namespace {

/// In picoseconds; NaN: without a result.
double time_of(const PlanEvaluation& plan, std::size_t job) {
  if (plan.jobs.empty()) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(plan.jobs[job].in_company.ps);
}

std::string jobs_on(const JobStudyEvaluation& study, const std::string& by) {
  return fmt::format("{} job{}{} on {}", study.jobs.size(), study.jobs.size() == 1 ? "" : "s", by,
                     study.topology);
}

} // namespace

Figure job_figure(const JobStudyEvaluation& study) {
  BarChart chart;
  chart.heading = {labelled_title(study.label, jobs_on(study, "")),
                   "time of each job from its start, among the others; in brackets: mean slowdown "
                   "against running alone; " +
                       simulation_text(study.engines.front(), study.model)};
  double longest = 0;
  for (const PlanEvaluation& plan : study.plans)
    for (std::size_t j = 0; j < plan.jobs.size(); ++j)
      longest = std::max(longest, time_of(plan, j));
  const TimeUnit unit = time_unit(longest);
  chart.y_label = fmt::format("time [{}]", unit.name);
  for (const PlanEvaluation& plan : study.plans)
    chart.series.push_back(
        plan.jobs.empty() ? plan.plan : fmt::format("{} ({:.2f}x)", plan.plan, plan.mean_slowdown));
  for (std::size_t j = 0; j < study.jobs.size(); ++j) {
    BarGroup group{study.jobs[j].name, {}};
    for (const PlanEvaluation& plan : study.plans)
      group.values.push_back(time_of(plan, j) / unit.ps);
    chart.groups.push_back(std::move(group));
  }
  return bar_figure(chart);
}

std::vector<NetworkUse> network_uses(const JobStudyEvaluation& study, const Topology& topology) {
  const PlanEvaluation* best = nullptr;
  for (const PlanEvaluation& plan : study.plans)
    if (!plan.jobs.empty() && (best == nullptr || plan.makespan < best->makespan)) best = &plan;
  if (best == nullptr) return {};
  return {{file_stem("jobs_network", study.label),
           Heading(labelled_title(study.label, jobs_on(study, " by " + best->plan) + ": " +
                                                   short_text(best->makespan)),
                   simulation_text(study.engines.front(), study.model)),
           &topology, best->links, best->makespan}};
}

} // namespace tutti
