// A row for each job under each plan, then a line for each plan: what it costs the jobs on average
// and when all are done.
#include "experiments/driver/studies/jobs/table.hpp"

#include "experiments/driver/records/records.hpp"
#include "experiments/driver/records/table.hpp"
#include "experiments/driver/studies/jobs/columns.hpp"
#include "experiments/driver/studies/runs/table.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

namespace tutti {

namespace {

/// Groups may be long lists.
std::string shortened(const std::string& collective) {
  constexpr std::size_t most = 32;
  return collective.size() <= most ? collective : collective.substr(0, most - 3) + "...";
}

double ratio(Time a, Time b) { return static_cast<double>(a.ps) / static_cast<double>(b.ps); }

std::vector<ShownColumn> shown_columns() {
  return {{"plan"},
          {"job"},
          {"collective", "", 3},
          {"size", "", 4},
          {"chunks/shard", "", 7},
          {"start", "", 5},
          {"priority", "", 6},
          {"alone_time", "alone", 1},
          {"collective_time", "in company"},
          {"slowdown"},
          {"algbw", "", 2}};
}

/// What a table says otherwise than a record, then all of the record.
Fields<JobRow> table_fields() {
  using enum Quantity;
  using R = JobRow;
  Fields<R> fields{{{"collective", text}, [](const R& r) { return shortened(r.job->collective); }},
                   {{"chunks/shard", numeral}, [](const R& r) {
                      return r.result ? Cell(chunks_text(r.result->chunks, !r.job->chunks))
                                      : Cell();
                    }}};
  extend(fields, job_fields());
  return fields;
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
  if (!plan.remark.empty()) text += fmt::format("{}\n", plan.remark);
  return text;
}

} // namespace

std::string jobs_text(const JobStudyEvaluation& study, const TableForm& form) {
  std::string text = study.label.empty() ? "" : study.label + ": ";
  text += fmt::format("{} ({} NPUs), {} jobs\nengine {}, links busy for {}, forwarding {}\n",
                      study.topology, study.npus, study.jobs.size(), joined(study.engines, " and "),
                      to_text(study.model.link_busy), to_text(study.model.forwarding));
  std::vector<JobRow> rows = job_rows(study);
  std::erase_if(rows, [](const JobRow& row) { return row.result == nullptr; }); // reported below
  if (!rows.empty())
    text += to_text(records_table(records_of<JobRow>(table_fields(), rows), shown_columns(), form),
                    form);
  for (const PlanEvaluation& plan : study.plans) text += summary_text(plan);
  return text;
}

std::vector<std::string> job_table_columns() {
  return column_names(records_of<JobRow>(table_fields(), {}).columns, shown_columns());
}

} // namespace tutti
