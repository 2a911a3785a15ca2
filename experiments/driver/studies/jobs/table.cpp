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
               {"collective"},
               {"size", Align::right},
               {"chunks/shard", Align::right},
               {"start", Align::right},
               {"priority", Align::right},
               {"alone", Align::right},
               {"in company", Align::right},
               {"slowdown", Align::right},
               {"algbw", Align::right}},
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

std::string jobs_text(const JobStudyEvaluation& study) {
  std::string text = study.label.empty() ? "" : study.label + ": ";
  text += fmt::format("{} ({} NPUs), {} jobs\nengine {}, links busy for {}, forwarding {}\n",
                      study.topology, study.npus, study.jobs.size(), joined(study.engines, " = "),
                      to_text(study.model.link_busy), to_text(study.model.forwarding));
  const Table table = job_table(study);
  if (!table.rows.empty()) text += to_text(table);
  for (const PlanEvaluation& plan : study.plans) text += summary_text(plan);
  return text;
}

std::vector<Row> jobs_csv(std::span<const JobStudyEvaluation> studies) {
  std::vector<Row> rows{{"jobs",
                         "topology",
                         "npus",
                         "engines",
                         "link_busy",
                         "forwarding",
                         "plan",
                         "note",
                         "job",
                         "collective",
                         "size_bytes",
                         "chunks_per_shard",
                         "start_ps",
                         "priority",
                         "alone_ps",
                         "in_company_ps",
                         "slowdown",
                         "lower_bound_ps",
                         "algbw_bytes_per_s",
                         "makespan_ps",
                         "makespan_lower_bound_ps",
                         "mean_slowdown",
                         "synthesis_seconds",
                         "replay_seconds"}};
  for (const JobStudyEvaluation& study : studies)
    for (const PlanEvaluation& plan : study.plans)
      for (std::size_t j = 0; j < study.jobs.size(); ++j) {
        const Job& job = study.jobs[j];
        Row row{study.label,
                study.topology,
                fmt::to_string(study.npus),
                joined(study.engines, "+"),
                std::string(to_text(study.model.link_busy)),
                std::string(to_text(study.model.forwarding)),
                plan.plan,
                plan.note,
                job.name,
                job.collective,
                fmt::to_string(job.size.count),
                plan.jobs.empty() && !job.chunks
                    ? "auto"
                    : fmt::to_string(job.chunks ? *job.chunks : plan.jobs[j].chunks),
                fmt::to_string(job.timing.start.ps),
                fmt::to_string(job.timing.priority)};
        if (plan.jobs.empty()) {
          row.insert(row.end(), 8, "");
        } else {
          const JobResult& result = plan.jobs[j];
          const Row figures{fmt::to_string(result.alone.ps),
                            fmt::to_string(result.in_company.ps),
                            fmt::format("{:.6f}", result.slowdown()),
                            fmt::to_string(result.bound.ps),
                            fmt::format("{:.0f}", result.algbw),
                            fmt::to_string(plan.makespan.ps),
                            fmt::to_string(plan.bound.ps),
                            fmt::format("{:.6f}", plan.mean_slowdown)};
          row.insert(row.end(), figures.begin(), figures.end());
        }
        row.push_back(fmt::format("{:.3f}", plan.synthesis_seconds));
        row.push_back(fmt::format("{:.3f}", plan.replay_seconds));
        rows.push_back(std::move(row));
      }
  return rows;
}

} // namespace tutti
