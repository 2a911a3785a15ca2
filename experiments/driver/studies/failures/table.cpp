// Policies of all algorithms stand in one table, since which pair is best is the question. The
// median counts runs that are never complete as the latest: a policy can't look fast by failing.
// Where there is but one run, its story follows in words.
#include "experiments/driver/studies/failures/table.hpp"

#include "experiments/driver/records/percentage.hpp"
#include "experiments/driver/records/table.hpp"
#include "experiments/driver/studies/runs/table.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tutti {

namespace {

using Row = std::vector<std::string>;

std::string seconds_text(double seconds) { return fmt::format("{:.3f} s", seconds); }
std::string bytes_text(Bytes bytes) { return bytes == Bytes{} ? "-" : short_text(bytes); }

bool is_sweep(std::span<const FailureEvaluation> evaluations) {
  return std::any_of(evaluations.begin(), evaluations.end(), [](const FailureEvaluation& e) {
    return std::any_of(e.scenarios.begin(), e.scenarios.end(), [](const ScenarioEvaluation& each) {
      return each.scenario.failed_links.has_value();
    });
  });
}

std::string heading(const FailureEvaluation& e) {
  return fmt::format("{}{}, {} {} ({} NPUs)\nengine {}, links busy for {}, forwarding {}; "
                     "detection {}, decision {}\n",
                     e.label.empty() ? "" : e.label + ": ", e.topology, e.collective,
                     to_text(e.size), e.npus, joined(e.engines, " = "), to_text(e.model.link_busy),
                     to_text(e.model.forwarding), to_text(e.detection), to_text(e.decision));
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

// Blank where the column isn't shown.
Row summary_row(const FailureEvaluation& e, const PolicySummary& s, bool sweep) {
  Row row{e.algorithm, chunks_text(e.chunks_per_shard, e.chose_chunks)};
  if (sweep) row.push_back(s.failed_links ? fmt::to_string(*s.failed_links) : "-");
  row.emplace_back(to_text(s.policy));
  const double undisturbed = static_cast<double>(e.undisturbed.report.completion.ps);
  row.push_back(s.time ? short_text(*s.time) : "-");
  row.push_back(
      s.time && undisturbed > 0 ? ratio_text(static_cast<double>(s.time->ps) / undisturbed) : "-");
  row.push_back(percent_text(s.goodput_lost));
  row.push_back(bytes_text(s.in_vain));
  row.push_back(s.decisions == 0 ? "-" : fmt::format("{}/{}", s.in_force, s.decisions));
  row.push_back(s.decisions == 0 ? "-" : seconds_text(s.planning_seconds));
  row.push_back(complete_text(s));
  row.push_back(s.missing_npus == 0 ? "-" : fmt::to_string(s.missing_npus));
  return row;
}

Row undisturbed_row(const FailureEvaluation& e, bool sweep) {
  Row row{e.algorithm, chunks_text(e.chunks_per_shard, e.chose_chunks)};
  if (sweep) row.emplace_back("-");
  for (const std::string& cell :
       {std::string("undisturbed"), short_text(e.undisturbed.report.completion), ratio_text(1),
        percent_text(0), bytes_text({}), std::string("-"), std::string("-"), std::string("yes"),
        std::string("-")})
    row.push_back(cell);
  return row;
}

Row refused_row(const FailureEvaluation& e, bool sweep) {
  Row row{e.algorithm, "-"};
  if (sweep) row.emplace_back("-");
  row.insert(row.end(), 7, "-");
  row.emplace_back(to_text(e.status)); // in place of "complete"
  row.emplace_back("-");
  return row;
}

Table policy_table(std::span<const FailureEvaluation> evaluations) {
  const bool sweep = is_sweep(evaluations);
  Table table;
  table.columns.push_back({"algorithm"});
  table.columns.push_back({"chunks/shard", Align::right, 8});
  if (sweep) table.columns.push_back({"failed links", Align::right});
  table.columns.push_back({"policy"});
  table.columns.push_back({"time", Align::right});
  table.columns.push_back({"x undisturbed", Align::right});
  table.columns.push_back({"goodput lost", Align::right, 3});
  table.columns.push_back({"in vain", Align::right, 4});
  table.columns.push_back({"in force / made", Align::right, 5});
  table.columns.push_back({"planning", Align::right, 6});
  table.columns.push_back({"complete", Align::right});
  table.columns.push_back({"NPUs missing some", Align::right, 2});
  for (const FailureEvaluation& e : evaluations) {
    if (!e.verified) { // the reason stands below
      table.rows.push_back(refused_row(e, sweep));
      continue;
    }
    table.rows.push_back(undisturbed_row(e, sweep));
    for (const PolicySummary& summary : summaries_of(e))
      table.rows.push_back(summary_row(e, summary, sweep));
  }
  if (std::none_of(evaluations.begin(), evaluations.end(),
                   [](const FailureEvaluation& e) { return e.chose_chunks; })) {
    table.columns.erase(table.columns.begin() + 1); // whoever runs it has said how many
    for (Row& row : table.rows) row.erase(row.begin() + 1);
  }
  return table;
}

std::string bound_text(const FailureEvaluation& e) {
  return fmt::format("{}: undisturbed {} the lower bound {}; what is left is planned by {}\n",
                     e.algorithm, gap_text(e.undisturbed.gap()),
                     short_text(e.undisturbed.bound.time), e.planner);
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
  return text + fmt::format(" (events at {}; planned in {})", joined(causes, ", "),
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
  if (is_cut_short(e)) text += fmt::format("{}: {}\n", e.algorithm, e.note);
  if (!e.problem.empty()) text += fmt::format("DEFECT: {}: {}\n", e.algorithm, e.problem);
  return text;
}

} // namespace

std::string failures_text(std::span<const FailureEvaluation> evaluations, const TableForm& form) {
  know_columns(form, {"chunks/shard", "failed links"});
  std::string words;
  for (const FailureEvaluation& e : evaluations) words += conclusion_text(e);
  for (const FailureEvaluation& e : evaluations) words += story(e);
  return wrapped(heading(evaluations.front()), form) + to_text(policy_table(evaluations), form) +
         wrapped(words, form);
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
