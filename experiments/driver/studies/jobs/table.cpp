// A row for each job under each plan, then a line for each plan: what it costs the jobs on average
// and when all are done.
#include "experiments/driver/studies/jobs/table.hpp"

#include "experiments/driver/records/table.hpp"
#include "experiments/driver/studies/runs/table.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

namespace tutti {

namespace {

using Row = std::vector<std::string>;

/// Groups may be long lists.
std::string shortened(const std::string& collective) {
  constexpr std::size_t most = 32;
  return collective.size() <= most ? collective : collective.substr(0, most - 3) + "...";
}

double ratio(Time a, Time b) { return static_cast<double>(a.ps) / static_cast<double>(b.ps); }

Table job_table(const JobStudyEvaluation& study) {
  Table table{{{"plan"},
               {"job"},
               {"collective", Align::left, 3},
               {"size", Align::right, 4},
               {"chunks/shard", Align::right, 7},
               {"start", Align::right, 5},
               {"priority", Align::right, 6},
               {"alone", Align::right, 1},
               {"in company", Align::right},
               {"slowdown", Align::right},
               {"algbw", Align::right, 2}},
              {}};
  for (const PlanEvaluation& plan : study.plans)
    for (std::size_t j = 0; j < plan.jobs.size(); ++j) {
      const Job& job = study.jobs[j];
      const JobResult& result = plan.jobs[j];
      table.rows.push_back({plan.plan, job.name, shortened(job.collective), to_text(job.size),
                            chunks_text(result.chunks, !job.chunks), short_text(job.timing.start),
                            fmt::to_string(job.timing.priority), short_text(result.alone),
                            short_text(result.in_company), ratio_text(result.slowdown()),
                            short_rate_text(result.algbw)});
    }
  return table;
}

std::string summary_text(const PlanEvaluation& plan) {
  if (plan.jobs.empty())
    return fmt::format("{}: {}\n", plan.plan, plan.note.empty() ? plan.problem : plan.note);
  std::string text = fmt::format("{}: all done after {}", plan.plan, short_text(plan.makespan));
  if (plan.bound.ps > 0)
    text +=
        fmt::format(", {} the bound of all at once", ratio_text(ratio(plan.makespan, plan.bound)));
  text += fmt::format("; mean slowdown {}\n", ratio_text(plan.mean_slowdown));
  if (!plan.problem.empty()) text += fmt::format("DEFECT: {}\n", plan.problem);
  return text;
}

} // namespace

std::string jobs_text(const JobStudyEvaluation& study, const TableForm& form) {
  std::string text = study.label.empty() ? "" : study.label + ": ";
  text += fmt::format("{} ({} NPUs), {} jobs\nengine {}, links busy for {}, forwarding {}\n",
                      study.topology, study.npus, study.jobs.size(), joined(study.engines, " = "),
                      to_text(study.model.link_busy), to_text(study.model.forwarding));
  const Table table = job_table(study);
  if (!table.rows.empty()) text += to_text(table, form);
  for (const PlanEvaluation& plan : study.plans) text += summary_text(plan);
  return text;
}

} // namespace tutti
