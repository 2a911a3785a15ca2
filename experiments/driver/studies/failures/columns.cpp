// Policies of all algorithms stand in one table, since which pair is best is the question. The
// median counts runs that are never complete as the latest: a policy can't look fast by failing.
// Where there is but one run, its story follows in words; then what draws came to. A policy that
// leaves something out has no slowdown, but a last delivery, if anything was delivered. In JSON
// stand every decision with its causes, and what is missing or stuck in words; progress and draws
// are written for a single run only, since in a sweep they would be most of the file.
#include "experiments/driver/studies/failures/columns.hpp"

#include "experiments/driver/records/json.hpp"
#include "experiments/driver/studies/failures/failure_texts.hpp"
#include "experiments/driver/studies/noise/draws.hpp"
#include "experiments/driver/studies/runs/json.hpp"
#include "experiments/driver/studies/runs/table.hpp"
#include "experiments/driver/studies/shared_columns.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace tutti {

namespace {

struct PolicyRow {
  const FailureEvaluation* e;
  const ScenarioEvaluation* scenario = nullptr; ///< null: there is no schedule
  const PolicyEvaluation* policy = nullptr;     ///< likewise
  const NoiseOutcome* noise = nullptr;          ///< null: nothing is drawn

  [[nodiscard]] const Recovery& recovery() const { return policy->recovery; }
};

Fields<PolicyRow> case_fields() {
  using namespace column_words;
  using R = PolicyRow;
  return {
      {shared("label"), [](const R& r) { return r.e->label; }},
      {shared("topology"), [](const R& r) { return r.e->topology; }},
      {shared("npus"), [](const R& r) { return r.e->npus; }},
      {shared("collective"), [](const R& r) { return r.e->collective; }},
      {shared("size_bytes"), [](const R& r) { return r.e->size; }},
      {shared("algorithm"), [](const R& r) { return r.e->algorithm; }},
      {shared("chunks_per_shard").as(key), [](const R& r) { return r.e->chunks_per_shard; }},
      {{"planner", text, key, always,
        "Algorithm that plans what is left after a failure, under `resynthesize` and `restart`: "
        "the planner, or `tacos`, to which it hands over what it isn't made for, or both "
        "(`sccl+tacos`)"},
       [](const R& r) {
         if (r.policy == nullptr) return r.e->planner;
         return r.e->planner_of(r.recovery().decisions.size(), r.policy->handed_over());
       }},
      {shared("engine"), [](const R& r) { return joined(r.e->engines, "+"); }},
      {shared("link_busy"), [](const R& r) { return to_text(r.e->model.link_busy); }},
      {shared("forwarding"), [](const R& r) { return to_text(r.e->model.forwarding); }},
      {{"detection_ps", time, key, always, "Time from an event until someone knows of it"},
       [](const R& r) { return r.e->detection; }},
      {{"decision_ps", time, key, always,
        "Time from that knowledge until the answer to the event is in force"},
       [](const R& r) { return r.e->decision; }},
      {shared("status",
              "Outcome of the synthesis of the schedule that is run, or `defect`, as for runs"),
       [](const R& r) { return r.e->problem.empty() ? to_text(r.e->status) : "defect"; }},
      {shared("note"),
       [](const R& r) {
         const auto& e = *r.e;
         return !e.problem.empty() ? e.problem : e.note.empty() ? e.remark : e.note;
       }},
      {{"undisturbed_time_ps", time, metric, sometimes,
        "Collective time of the same schedule without any event; null without a schedule"},
       [](const R& r) {
         return r.e->verified ? Cell(r.e->undisturbed.report.completion) : Cell();
       }},
      {shared("lower_bound_ps", "Best lower bound of the undisturbed run; null without a schedule"),
       [](const R& r) { return r.e->verified ? Cell(r.e->undisturbed.bound.time) : Cell(); }}};
}

Fields<PolicyRow> policy_fields() {
  using namespace column_words;
  using R = PolicyRow;
  return {
      {{"failed_links", count, key, sometimes,
        "Number of random cables that go down during the run; null where no number is given; a "
        "cable is a link and its opposite"},
       [](const R& r) { return Cell(r.scenario->scenario.failed_links); }},
      {{"seed", count, key, sometimes,
        "Seed by which failures are drawn; where none are, the experiment's"},
       [](const R& r) { return r.scenario->scenario.seed; }},
      {{"events", count, key, sometimes,
        "Number of events of the run, whether or not they come to matter; a cable that fails is "
        "two, one for each direction"},
       [](const R& r) { return r.scenario->events.size(); }},
      {{"policy", text, key, sometimes,
        "What is done about events. `report`: nothing. `reroute`: what can't go on takes the "
        "shortest path that is left. `resynthesize`: the rest is planned anew. `restart`: "
        "everything is planned anew from the start"},
       [](const R& r) { return to_text(r.recovery().policy); }},
      {shared("collective_time_ps",
              "Simulated time from the start to the last delivery that an NPU alive wants, or to "
              "the last start of those alive if that is later; null where `complete` is false"),
       [](const R& r) { // none where something is left out
         return r.recovery().complete() ? Cell(r.recovery().completion) : Cell();
       }},
      {{"last_delivery_ps", time, metric, sometimes,
        "Time of the last delivery that an NPU alive wants, also where something is left out; null "
        "where nothing was delivered"},
       [](const R& r) { // which the last start may follow
         const std::vector<ProgressPoint>& progress = r.recovery().progress;
         return progress.empty() || progress.back().at == Time{} ? Cell() : progress.back().at;
       }},
      {{"complete", truth, metric, sometimes,
        "Whether all NPUs that are alive in the end have all that they want, as far as it "
        "survives"},
       [](const R& r) { return r.recovery().complete(); }},
      {{"ending", text, metric, sometimes,
        "`complete`; `incomplete`: an NPU alive lacks something that survives; `no destination "
        "lives`: all that were to receive something are dead; `nothing survives`: nothing is left "
        "of what the living were to receive"},
       [](const R& r) { return to_text(r.recovery().ending); }},
      {{"slowdown", ratio, metric, sometimes,
        "`collective_time_ps / undisturbed_time_ps`; null where `complete` is false"},
       [](const R& r) { return Cell(r.e->slowdown(*r.policy)); }},
      {{"goodput_lost", part, metric, sometimes,
        "Part of the undisturbed goodput that is lost: `1 - undisturbed_time_ps / "
        "collective_time_ps`; 1 where `complete` is false; below 0 where the run ended sooner than "
        "the undisturbed one"},
       [](const R& r) { return r.e->goodput_lost(*r.policy); }},
      {{"in_vain_bytes", bytes, metric, sometimes,
        "Bytes carried over links, counted on each link, by deliveries that nothing in place at "
        "the end came from"},
       [](const R& r) { return r.recovery().in_vain; }},
      {{"decisions_in_force", count, metric, sometimes,
        "Number of `decisions` that took effect; the others found no plan, or none that is faster "
        "than going on"},
       [](const R& r) { return r.policy->decisions_in_force(); }},
      {{"decisions", count, metric, sometimes, "Number of answers to events that were worked out"},
       [](const R& r) { return r.recovery().decisions.size(); }},
      {{"npus_missing_some", count, metric, sometimes,
        "Number of NPUs alive that lack something in the end"},
       [](const R& r) { return r.policy->missing_npus; }},
      {{"missing", count, metric, sometimes,
        "Number of demands (chunk, NPU) that are unmet in the end although NPU and data survive"},
       [](const R& r) { return r.recovery().missing.size(); }},
      {{"lost", count, metric, sometimes,
        "Number of contributions (chunk, NPU) that were given up, or that no NPU alive holds in "
        "the end"},
       [](const R& r) { return r.recovery().lost.size(); }},
      {{"stuck", count, metric, sometimes,
        "Number of transfers of the last plan that never were delivered"},
       [](const R& r) { return r.recovery().stuck.size(); }}};
}

Fields<PolicyRow> cost_fields() {
  using namespace column_words;
  return {{{"planning_seconds", effort, cost, sometimes,
            "CPU time of planning for all decisions of the run"},
           [](const PolicyRow& r) { return r.policy->planning_seconds; }}};
}

/// In their order, which is that of records and details.
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

/// `noise`: some rows have draws, so that theirs are included.
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

} // namespace

std::vector<RecordColumn> failure_columns() {
  return records_of<PolicyRow>(policy_row_fields(true), {}).columns;
}

Records failure_records(std::span<const FailureEvaluation> evaluations) {
  const std::vector<PolicyRow> rows = policy_rows(evaluations);
  const bool noise =
      std::ranges::any_of(rows, [](const PolicyRow& row) { return row.noise != nullptr; });
  return records_of<PolicyRow>(policy_row_fields(noise), rows);
}

namespace {

bool is_sweep(std::span<const FailureEvaluation> evaluations) {
  return std::any_of(evaluations.begin(), evaluations.end(), [](const FailureEvaluation& e) {
    return std::any_of(e.scenarios.begin(), e.scenarios.end(), [](const ScenarioEvaluation& each) {
      return each.scenario.failed_links.has_value();
    });
  });
}

std::string failure_heading(const FailureEvaluation& e) {
  return fmt::format("{}{}, {} {} ({} NPUs)\n{}; detection {}, decision {}\n",
                     e.label.empty() ? "" : e.label + ": ", e.topology, e.collective,
                     to_text(e.size), e.npus, simulation_text(joined(e.engines, " and "), e.model),
                     to_text(e.detection), to_text(e.decision));
}

std::string complete_text(const PolicySummary& s) {
  if (!s.only) return fmt::format("{}/{}", s.complete, s.runs);
  switch (*s.only) {
  case Ending::complete: return "yes";
  case Ending::incomplete: return "no";
  case Ending::no_destination:
  case Ending::nothing_left: break;
  }
  return std::string(to_text(*s.only));
}

/// A policy, or how the run goes undisturbed, of an algorithm.
struct SummaryRow {
  const FailureEvaluation* e;
  std::optional<PolicySummary> summary; ///< none: the undisturbed run

  [[nodiscard]] const PolicySummary* policy() const { return summary ? &*summary : nullptr; }
};

/// What only policies have.
Fields<PolicySummary> reaction_fields() {
  using namespace column_words;
  using S = PolicySummary;
  return {{{"in_vain_bytes", bytes, metric, 4},
           [](const S& s) { return s.in_vain == Bytes{} ? Cell() : Cell(s.in_vain); }},
          {{"decisions_in_force", numeral, metric, 5, "in force / made"},
           [](const S& s) {
             return s.decisions == 0 ? Cell() : Cell(fmt::format("{}/{}", s.in_force, s.decisions));
           }},
          {{"planning_seconds", effort, metric, 6},
           [](const S& s) { return s.decisions == 0 ? Cell() : Cell(s.planning_seconds); }}};
}

/// What tables have besides, where it tells rows apart.
struct SummaryColumns {
  bool failed_links = false;     ///< it is a sweep over their number
  bool chunks_per_shard = false; ///< some number was chosen; else whoever runs it has said how many
  bool planner = false;          ///< one planner handed over to another
};

Fields<SummaryRow> summary_fields(const SummaryColumns& shown) {
  using namespace column_words;
  using R = SummaryRow;
  Fields<R> fields{{{"algorithm", text}, [](const R& r) { return r.e->algorithm; }}};
  if (shown.chunks_per_shard)
    fields.push_back({{"chunks_per_shard", numeral, metric, 8, "chunks/shard"}, [](const R& r) {
                        if (!r.e->verified) return Cell();
                        return Cell(chunks_text(r.e->chunks_per_shard, r.e->chose_chunks));
                      }});
  if (shown.failed_links)
    fields.push_back({{"failed links", count}, [](const R& r) {
                        return r.summary ? Cell(r.summary->failed_links) : Cell();
                      }});
  const auto time_of = [](const R& r) {
    return r.summary ? r.summary->time : std::optional(r.e->undisturbed.report.completion);
  };
  // Cells of a row without a schedule are empty; the reason stands below.
  const auto made = [](auto value) {
    return [value](const R& r) { return r.e->verified ? Cell(value(r)) : Cell(); };
  };
  extend(fields, {{{"policy", text}, made([](const R& r) {
                     return r.summary ? Cell(to_text(r.summary->policy)) : Cell("undisturbed");
                   })}});
  if (shown.planner)
    fields.push_back({{"planner", text}, [](const R& r) {
                        const PolicySummary* const s = r.policy();
                        if (s == nullptr || s->decisions == 0) return Cell();
                        return Cell(r.e->planner_of(s->decisions, s->handed_over));
                      }});
  extend(fields, {{{"collective_time_ps", time, metric, 0, "time"}, made(time_of)},
                  {{"slowdown", ratio, metric, 0, "x undisturbed"}, made([=](const R& r) {
                     const std::optional<Time> time = time_of(r);
                     return time ? Cell(r.e->over_undisturbed(*time)) : Cell();
                   })},
                  {{"goodput lost", part, metric, 3},
                   made([](const R& r) { return r.summary ? r.summary->goodput_lost : 0; })}});
  extend(fields, fields_through<R>(reaction_fields(), [](const R& r) { return r.policy(); }));
  extend(fields, {{{"complete", numeral},
                   [](const R& r) {
                     if (!r.e->verified) return std::string(to_text(r.e->status));
                     return r.summary ? complete_text(*r.summary) : "yes";
                   }},
                  {{"NPUs missing some", count, metric, 2}, [](const R& r) {
                     const bool some = r.summary && r.summary->missing_npus > 0;
                     return some ? Cell(r.summary->missing_npus) : Cell();
                   }}});
  return fields;
}

Records policy_records(std::span<const FailureEvaluation> evaluations, const TableForm& form) {
  std::vector<SummaryRow> rows;
  const bool all = !form.columns.empty(); // whoever names columns may name any
  SummaryColumns shown{all || is_sweep(evaluations), all, all};
  for (const FailureEvaluation& e : evaluations) {
    rows.push_back({&e, std::nullopt});
    shown.chunks_per_shard |= e.chose_chunks;
    if (!e.verified) continue;
    for (PolicySummary& summary : summaries_of(e)) {
      shown.planner |= summary.handed_over > 0;
      rows.push_back({&e, std::move(summary)});
    }
  }
  return records_of<SummaryRow>(summary_fields(shown), rows);
}

/// Which of the keys of a row with draws a table needs, to tell its rows apart.
struct NoiseKeys {
  bool failed_links = false, seeds = false, skews = false;
};

NoiseKeys noise_keys(std::span<const PolicyRow> rows) {
  NoiseKeys keys;
  const PolicyRow& first = rows.front();
  for (const PolicyRow& row : rows) {
    const Scenario &scenario = row.scenario->scenario, &of_first = first.scenario->scenario;
    keys.failed_links |= scenario.failed_links != of_first.failed_links;
    keys.seeds |= scenario.seed != of_first.seed;
    keys.skews |= row.noise->skew != first.noise->skew;
  }
  return keys;
}

std::vector<ShownColumn> shown_draws(const NoiseKeys& keys) {
  std::vector<ShownColumn> shown{{"algorithm"}};
  if (keys.failed_links) shown.push_back({"failed_links"});
  if (keys.seeds) shown.push_back({"seed"});
  shown.push_back({"policy"});
  if (keys.skews) shown.push_back({"skew"});
  for (ShownColumn& column : shown_noise(false)) shown.push_back(std::move(column));
  return shown;
}

/// What draws of start times and links came to, of each run; empty where there are none.
std::string draws_table(std::span<const FailureEvaluation> evaluations, const TableForm& form) {
  std::vector<PolicyRow> rows = policy_rows(evaluations);
  std::erase_if(rows, [](const PolicyRow& row) { return row.noise == nullptr; });
  if (rows.empty()) return "";
  const Records records = records_of<PolicyRow>(policy_row_fields(true), rows);
  const std::string table =
      to_text(records_table(records, shown_draws(noise_keys(rows)), form), form);
  if (table.empty()) return "";
  std::vector<const NoiseOutcome*> outcomes;
  for (const PolicyRow& row : rows) outcomes.push_back(row.noise);
  return wrapped("\n" + noise_heading(outcomes) + "\n", form) + table;
}

std::string bound_text(const FailureEvaluation& e) {
  std::size_t decisions = 0, handed_over = 0;
  for (const PolicySummary& summary : summaries_of(e)) {
    decisions += summary.decisions;
    handed_over += summary.handed_over;
  }
  std::string text =
      fmt::format("{}: undisturbed {} the lower bound {}; what is left is planned by {}",
                  e.algorithm, gap_text(e.undisturbed.gap()), short_text(e.undisturbed.bound.time),
                  e.planner_of(decisions, handed_over));
  if (handed_over > 0)
    text += fmt::format(" ({} isn't made for {} of {} plans)", e.planner, handed_over, decisions);
  return text + "\n";
}

std::string conclusion_text(const FailureEvaluation& e) {
  std::string text;
  if (!e.verified)
    text += fmt::format("{}: {}{}\n", e.algorithm, to_text(e.status),
                        e.note.empty() ? "" : ": " + e.note);
  else
    text += bound_text(e);
  for (const std::string& said : {e.note, e.remark})
    if (e.verified && !said.empty()) text += fmt::format("{}: {}\n", e.algorithm, said);
  if (!e.problem.empty()) text += fmt::format("DEFECT: {}: {}\n", e.algorithm, e.problem);
  return text;
}

} // namespace

std::string failures_text(std::span<const FailureEvaluation> evaluations, const TableForm& form) {
  std::string words;
  for (const FailureEvaluation& e : evaluations) words += conclusion_text(e);
  for (const FailureEvaluation& e : evaluations) words += story(e);
  return wrapped(failure_heading(evaluations.front()), form) +
         to_text(whole_table(policy_records(evaluations, form)), form) + wrapped(words, form) +
         draws_table(evaluations, form);
}

std::vector<std::string> failure_table_columns(bool draws) {
  std::vector<std::string> names =
      column_names(records_of<SummaryRow>(summary_fields({true, true, true}), {}).columns, {});
  if (!draws) return names;
  for (std::string& name : column_names(failure_columns(), shown_draws({true, true, true})))
    names.push_back(std::move(name));
  return names;
}

namespace {

using Json = nlohmann::ordered_json;

Json progress_json(std::span<const ProgressPoint> progress) {
  Json points = Json::array();
  for (const ProgressPoint& point : progress)
    points.push_back({{"at_ps", point.at.ps}, {"bytes", point.in_place.count}});
  return points;
}

Json decision_json(const Decision& decision) {
  Json causes = Json::array();
  for (const Time cause : decision.causes) causes.push_back(cause.ps);
  return {{"at_ps", decision.at.ps},
          {"begin_ps", decision.begin.ps},
          {"causes_ps", causes},
          {"what", decision.what},
          {"in_force", decision.in_force},
          {"planning_seconds", decision.planning_seconds},
          {"handed_over", decision.by_fallback}};
}

Json details_of(const PolicyRow& row) {
  if (row.policy == nullptr) return Json::object();
  const Recovery& recovery = row.recovery();
  Json decisions = Json::array();
  for (const Decision& decision : recovery.decisions) decisions.push_back(decision_json(decision));
  Json json = {{"decisions", std::move(decisions)},
               {"missing_text", row.policy->missing},
               {"stuck_text", row.policy->stuck}};
  if (row.e->scenarios.size() > 1) return json;
  json["progress"] = progress_json(recovery.progress);
  if (row.noise != nullptr) json["draws"] = draws_json(*row.noise);
  return json;
}

Json scenario_json(const ScenarioEvaluation& scenario) {
  Json events = Json::array();
  for (std::size_t i = 0; i < scenario.events.size(); ++i)
    events.push_back({{"at_ps", scenario.events[i].at.ps},
                      {"kind", to_text(scenario.events[i].kind)},
                      {"text", scenario.event_texts[i]}});
  const auto& failed_links = scenario.scenario.failed_links;
  return {{"failed_links", failed_links ? Json(*failed_links) : Json(nullptr)},
          {"seed", scenario.scenario.seed},
          {"events", std::move(events)},
          {"cuts", scenario.cuts}};
}

Json undisturbed_json(const FailureEvaluation& e) {
  if (!e.verified) return nullptr;
  Json json = replay_details(e.undisturbed, LinkDetail::none);
  json["progress"] = progress_json(e.progress);
  return json;
}

Json about(const FailureEvaluation& e) {
  Json scenarios = Json::array();
  for (const ScenarioEvaluation& scenario : e.scenarios)
    scenarios.push_back(scenario_json(scenario));
  return {{"label", text_or_null(e.label)},
          {"topology", e.topology},
          {"collective", e.collective},
          {"size_bytes", e.size.count},
          {"algorithm", e.algorithm},
          {"chunks_chosen", e.chose_chunks},
          {"wanted_bytes", e.verified ? Json(e.wanted.count) : Json(nullptr)},
          {"undisturbed", undisturbed_json(e)},
          {"scenarios", std::move(scenarios)},
          {"problem", text_or_null(e.problem)},
          {"seconds", e.seconds}};
}

} // namespace

Json failure_details(std::span<const FailureEvaluation> evaluations) {
  Json details = Json::array();
  for (const PolicyRow& row : policy_rows(evaluations)) details.push_back(details_of(row));
  return details;
}

Json about_failures(std::span<const FailureEvaluation> evaluations) {
  Json studies = Json::array();
  for (const FailureEvaluation& e : evaluations) studies.push_back(about(e));
  return studies;
}

} // namespace tutti
