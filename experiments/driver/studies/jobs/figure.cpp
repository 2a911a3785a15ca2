// One group of bars per job and one bar per plan: which plan hurts which job.
#include "experiments/driver/studies/jobs/figure.hpp"

#include "experiments/driver/figures/bars.hpp"
#include "experiments/driver/records/file_stem.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

namespace tutti {

namespace {

constexpr double ps_per_ms = 1e9;

double milliseconds(const PlanEvaluation& plan, std::size_t job) {
  if (plan.jobs.empty()) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(plan.jobs[job].in_company.ps) / ps_per_ms;
}

} // namespace

Figure job_figure(const JobStudyEvaluation& study) {
  BarChart chart;
  chart.heading = {fmt::format("{}{} jobs on {}", study.label.empty() ? "" : study.label + ": ",
                               study.jobs.size(), study.topology),
                   fmt::format("time of each job from its start, among the others; engine {}, "
                               "links busy for {}, forwarding {}",
                               study.engines.front(), to_text(study.model.link_busy),
                               to_text(study.model.forwarding))};
  chart.y_label = "time [ms]";
  for (const PlanEvaluation& plan : study.plans)
    chart.series.push_back(
        plan.jobs.empty() ? plan.plan : fmt::format("{} ({:.2f}x)", plan.plan, plan.mean_slowdown));
  for (std::size_t j = 0; j < study.jobs.size(); ++j) {
    BarGroup group{study.jobs[j].name, {}};
    for (const PlanEvaluation& plan : study.plans) group.values.push_back(milliseconds(plan, j));
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
           Heading(fmt::format("{} job{} by {} on {}: {}", study.jobs.size(),
                               study.jobs.size() == 1 ? "" : "s", best->plan, study.topology,
                               short_text(best->makespan)),
                   fmt::format("engine {}, links busy for {}, forwarding {}", study.engines.front(),
                               to_text(study.model.link_busy), to_text(study.model.forwarding))),
           &topology, shares_of(best->links, best->makespan)}};
}

} // namespace tutti
