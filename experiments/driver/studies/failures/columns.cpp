// A policy that leaves something out has no slowdown, but a last delivery, if anything was
// delivered.
#include "experiments/driver/studies/failures/columns.hpp"

#include "sim/text.hpp"

#include <algorithm>
#include <vector>

namespace tutti {

namespace {

Fields<PolicyRow> case_fields() {
  using enum Quantity;
  using enum ColumnRole;
  using R = PolicyRow;
  return {{{"label", text, key}, [](const R& r) { return r.e->label; }},
          {{"topology", text, key}, [](const R& r) { return r.e->topology; }},
          {{"npus", count, key}, [](const R& r) { return r.e->npus; }},
          {{"collective", text, key}, [](const R& r) { return r.e->collective; }},
          {{"size_bytes", bytes, key}, [](const R& r) { return r.e->size; }},
          {{"algorithm", text, key}, [](const R& r) { return r.e->algorithm; }},
          {{"chunks_per_shard", count, key}, [](const R& r) { return r.e->chunks_per_shard; }},
          {{"planner", text, key},
           [](const R& r) {
             if (r.policy == nullptr) return r.e->planner;
             return r.e->planner_of(r.recovery().decisions.size(), r.policy->handed_over());
           }},
          {{"engine", text, key}, [](const R& r) { return joined(r.e->engines, "+"); }},
          {{"link_busy", text, key}, [](const R& r) { return to_text(r.e->model.link_busy); }},
          {{"forwarding", text, key}, [](const R& r) { return to_text(r.e->model.forwarding); }},
          {{"detection_ps", time, key}, [](const R& r) { return r.e->detection; }},
          {{"decision_ps", time, key}, [](const R& r) { return r.e->decision; }},
          {{"status", text, note},
           [](const R& r) { return r.e->problem.empty() ? to_text(r.e->status) : "defect"; }},
          {{"note", text, note},
           [](const R& r) {
             const auto& e = *r.e;
             return !e.problem.empty() ? e.problem : e.note.empty() ? e.remark : e.note;
           }},
          {{"undisturbed_time_ps", time, metric},
           [](const R& r) {
             return r.e->verified ? Cell(r.e->undisturbed.report.completion) : Cell();
           }},
          {{"lower_bound_ps", time, metric},
           [](const R& r) { return r.e->verified ? Cell(r.e->undisturbed.bound.time) : Cell(); }}};
}

Fields<PolicyRow> policy_fields() {
  using enum Quantity;
  using enum ColumnRole;
  using R = PolicyRow;
  return {{{"failed_links", count, key},
           [](const R& r) { return Cell(r.scenario->scenario.failed_links); }},
          {{"seed", count, key}, [](const R& r) { return r.scenario->scenario.seed; }},
          {{"events", count, key}, [](const R& r) { return r.scenario->events.size(); }},
          {{"policy", text, key}, [](const R& r) { return to_text(r.recovery().policy); }},
          {{"collective_time_ps", time, metric},
           [](const R& r) { // none where something is left out
             return r.recovery().complete() ? Cell(r.recovery().completion) : Cell();
           }},
          {{"last_delivery_ps", time, metric},
           [](const R& r) { // which the last start may follow
             const std::vector<ProgressPoint>& progress = r.recovery().progress;
             return progress.empty() || progress.back().at == Time{} ? Cell() : progress.back().at;
           }},
          {{"complete", truth, metric}, [](const R& r) { return r.recovery().complete(); }},
          {{"ending", text, metric}, [](const R& r) { return to_text(r.recovery().ending); }},
          {{"slowdown", ratio, metric}, [](const R& r) { return Cell(r.e->slowdown(*r.policy)); }},
          {{"goodput_lost", part, metric}, [](const R& r) { return r.e->goodput_lost(*r.policy); }},
          {{"in_vain_bytes", bytes, metric}, [](const R& r) { return r.recovery().in_vain; }},
          {{"decisions_in_force", count, metric},
           [](const R& r) { return r.policy->decisions_in_force(); }},
          {{"decisions", count, metric}, [](const R& r) { return r.recovery().decisions.size(); }},
          {{"npus_missing_some", count, metric}, [](const R& r) { return r.policy->missing_npus; }},
          {{"missing", count, metric}, [](const R& r) { return r.recovery().missing.size(); }},
          {{"lost", count, metric}, [](const R& r) { return r.recovery().lost.size(); }},
          {{"stuck", count, metric}, [](const R& r) { return r.recovery().stuck.size(); }}};
}

Fields<PolicyRow> cost_fields() {
  return {{{"planning_seconds", Quantity::effort, ColumnRole::cost},
           [](const PolicyRow& r) { return r.policy->planning_seconds; }}};
}

} // namespace

std::vector<PolicyRow> policy_rows(std::span<const FailureEvaluation> evaluations) {
  std::vector<PolicyRow> rows;
  for (const FailureEvaluation& e : evaluations) {
    if (e.scenarios.empty()) rows.push_back({&e});
    for (const ScenarioEvaluation& scenario : e.scenarios)
      for (const PolicyEvaluation& policy : scenario.policies) {
        if (policy.noises.empty()) rows.push_back({&e, &scenario, &policy});
        for (const NoiseOutcome& noise : policy.noises)
          rows.push_back({&e, &scenario, &policy, &noise});
      }
  }
  return rows;
}

Fields<PolicyRow> policy_row_fields(bool noise) {
  Fields<PolicyRow> fields = case_fields();
  const auto policy = [](const PolicyRow& r) { return r.policy == nullptr ? nullptr : &r; };
  extend(fields, fields_through<PolicyRow>(policy_fields(), policy));
  if (noise)
    extend(fields,
           fields_through<PolicyRow>(noise_fields(), [](const PolicyRow& r) { return r.noise; }));
  extend(fields, fields_through<PolicyRow>(cost_fields(), policy));
  return fields;
}

std::vector<RecordColumn> failure_columns() {
  return records_of<PolicyRow>(policy_row_fields(true), {}).columns;
}

Records failure_records(std::span<const FailureStudyEvaluation> studies) {
  std::vector<PolicyRow> rows;
  for (const FailureStudyEvaluation& study : studies)
    std::ranges::copy(policy_rows(study.algorithms), std::back_inserter(rows));
  const bool noise =
      std::ranges::any_of(rows, [](const PolicyRow& row) { return row.noise != nullptr; });
  return records_of<PolicyRow>(policy_row_fields(noise), rows);
}

} // namespace tutti
