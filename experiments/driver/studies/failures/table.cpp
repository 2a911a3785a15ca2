// Policies of all algorithms stand in one table, since which pair is best is the question. The
// median counts runs that are never complete as the latest: a policy can't look fast by failing.
// Where there is but one run, its story follows in words; then what draws came to.
#include "experiments/driver/studies/failures/table.hpp"

#include "experiments/driver/records/records.hpp"
#include "experiments/driver/records/table.hpp"
#include "experiments/driver/studies/failures/columns.hpp"
#include "experiments/driver/studies/noise/table.hpp"
#include "experiments/driver/studies/runs/table.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace tutti {

namespace {

bool is_sweep(std::span<const FailureEvaluation> evaluations) {
  return std::any_of(evaluations.begin(), evaluations.end(), [](const FailureEvaluation& e) {
    return std::any_of(e.scenarios.begin(), e.scenarios.end(), [](const ScenarioEvaluation& each) {
      return each.scenario.failed_links.has_value();
    });
  });
}

std::string failure_heading(const FailureEvaluation& e) {
  return fmt::format("{}{}, {} {} ({} NPUs)\nengine {}, links busy for {}, forwarding {}; "
                     "detection {}, decision {}\n",
                     e.label.empty() ? "" : e.label + ": ", e.topology, e.collective,
                     to_text(e.size), e.npus, joined(e.engines, " and "),
                     to_text(e.model.link_busy), to_text(e.model.forwarding), to_text(e.detection),
                     to_text(e.decision));
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

Cell ratio_of(const FailureEvaluation& e, const std::optional<Time>& time) {
  const Time undisturbed = e.undisturbed.report.completion;
  if (!time || undisturbed == Time{}) return {};
  return static_cast<double>(time->ps) / static_cast<double>(undisturbed.ps);
}

/// What only policies have.
Fields<PolicySummary> reaction_fields() {
  using enum Quantity;
  using S = PolicySummary;
  return {{{"in_vain_bytes", bytes, ColumnRole::metric, 4},
           [](const S& s) { return s.in_vain == Bytes{} ? Cell() : Cell(s.in_vain); }},
          {{"decisions_in_force", numeral, ColumnRole::metric, 5, "in force / made"},
           [](const S& s) {
             return s.decisions == 0 ? Cell() : Cell(fmt::format("{}/{}", s.in_force, s.decisions));
           }},
          {{"planning_seconds", effort, ColumnRole::metric, 6},
           [](const S& s) { return s.decisions == 0 ? Cell() : Cell(s.planning_seconds); }}};
}

/// What tables have besides, where it tells rows apart.
struct SummaryColumns {
  bool failed_links = false;     ///< it is a sweep over their number
  bool chunks_per_shard = false; ///< some number was chosen; else whoever runs it has said how many
  bool planner = false;          ///< one planner handed over to another
};

Fields<SummaryRow> summary_fields(const SummaryColumns& shown) {
  using enum Quantity;
  using enum ColumnRole;
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
                  {{"slowdown", ratio, metric, 0, "x undisturbed"},
                   made([=](const R& r) { return ratio_of(*r.e, time_of(r)); })},
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

// At most so many lines, then how many more there are.
std::string listed(std::span<const std::string> lines, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(most, lines.size()); ++i)
    text += fmt::format("    {}\n", lines[i]);
  if (lines.size() > most) text += fmt::format("    and {} more\n", lines.size() - most);
  return text;
}

// When it was taken, what it was, when it took effect, and because of which events.
std::string decision_text(const Decision& decision) {
  std::vector<std::string> causes;
  for (const Time cause : decision.causes)
    if (causes.empty() || causes.back() != instant_text(cause))
      causes.push_back(instant_text(cause));
  std::string text = fmt::format("{}: {}", instant_text(decision.at), decision.what);
  if (!decision.in_force) return text + " (not taken)";
  if (decision.begin != decision.at)
    text += fmt::format(", begins at {}", instant_text(decision.begin));
  return text + fmt::format(" (events at {}; planned{} in {})", joined(causes, ", "),
                            decision.by_fallback ? fmt::format(" by {}", fallback_planner) : "",
                            seconds_text(decision.planning_seconds));
}

std::string policy_story(const PolicyEvaluation& policy) {
  constexpr std::size_t most_lines = 8;
  const Recovery& recovery = policy.recovery;
  std::string text = fmt::format("  {}: {}\n", to_text(recovery.policy), ending_text(recovery));
  std::vector<std::string> decisions;
  for (const Decision& decision : recovery.decisions) decisions.push_back(decision_text(decision));
  text += listed(decisions, most_lines) + listed(policy.stuck, most_lines) +
          listed(policy.missing, policy.missing.size()); // which is short already
  if (!recovery.lost.empty())
    text += fmt::format("    lost for good: {} contribution{} of the dead\n", recovery.lost.size(),
                        recovery.lost.size() == 1 ? "" : "s");
  return text;
}

std::string story(const FailureEvaluation& e) {
  constexpr std::size_t most_events = 20;
  if (e.scenarios.size() != 1) return "";
  const ScenarioEvaluation& scenario = e.scenarios.front();
  std::string text = fmt::format("\n{}, events:\n", e.algorithm);
  std::vector<std::string> events;
  for (std::size_t i = 0; i < scenario.events.size(); ++i)
    events.push_back(
        fmt::format("{}: {}", instant_text(scenario.events[i].at), scenario.event_texts[i]));
  text += events.empty() ? "    none\n" : listed(events, most_events);
  text += listed(scenario.cuts, most_events);
  for (const PolicyEvaluation& policy : scenario.policies) text += policy_story(policy);
  return text;
}

/// Memory ran out after the schedule was made: policies are missing.
bool is_cut_short(const FailureEvaluation& e) {
  return e.verified && e.status == Status::out_of_memory;
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

std::vector<std::string> problems_of(std::span<const FailureEvaluation> evaluations) {
  std::vector<std::string> problems;
  for (const FailureEvaluation& e : evaluations)
    for (const std::string& problem : {e.problem, is_cut_short(e) ? e.note : std::string()})
      if (!problem.empty())
        problems.push_back(fmt::format("{} through failures on {}, {} {}: {}", e.algorithm,
                                       e.topology, e.collective, to_text(e.size), problem));
  return problems;
}

std::vector<std::string> nothing_made(std::span<const FailureEvaluation> evaluations) {
  return nothing_of(no_schedule, evaluations,
                    [](const FailureEvaluation& e) { return e.verified; });
}

} // namespace tutti
