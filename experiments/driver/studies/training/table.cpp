// Three tables for a reader (what an iteration takes, where its time goes, what communicates) and
// two CSV files for programs. Columns that are the same in all rows of a table are left out of it,
// never of the CSV.
#include "experiments/driver/studies/training/table.hpp"

#include "experiments/driver/records/percentage.hpp"
#include "experiments/driver/records/table.hpp"
#include "experiments/driver/studies/runs/table.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace tutti {

namespace {

using Row = std::vector<std::string>;

constexpr std::size_t shown_plans = 8; // of each run; all are in the JSON

std::string time_text(Time time) { return time == Time{} ? "0 s" : short_text(time); }

double ratio(Time a, Time b) { return static_cast<double>(a.ps) / static_cast<double>(b.ps); }

std::string rate_text(double per_second) {
  if (per_second >= 1e6) return fmt::format("{:.4g} M/s", per_second / 1e6);
  if (per_second >= 1e3) return fmt::format("{:.4g} k/s", per_second / 1e3);
  return fmt::format("{:.4g} /s", per_second);
}

/// What tells the runs of a study apart; a column stands only where runs differ in it.
class Labels {
public:
  explicit Labels(const TrainingEvaluation& evaluation) {
    std::array<std::set<std::string>, labels> values;
    for (const TrainingRun& run : evaluation.runs)
      for (std::size_t i = 0; i < labels; ++i) values[i].insert(of(run, i));
    for (std::size_t i = 0; i < labels; ++i) shown_[i] = values[i].size() > 1;
    shown_[algorithm] = true;
  }

  [[nodiscard]] std::vector<Column> columns() const {
    std::vector<Column> shown;
    for (std::size_t i = 0; i < labels; ++i)
      if (shown_[i]) shown.push_back({names[i], Align::left, 0, true});
    return shown;
  }
  [[nodiscard]] Row cells(const TrainingRun& run) const {
    Row shown;
    for (std::size_t i = 0; i < labels; ++i)
      if (shown_[i]) shown.push_back(of(run, i));
    return shown;
  }
  [[nodiscard]] std::string text(const TrainingRun& run) const { return joined(cells(run), ", "); }

private:
  static constexpr std::size_t labels = 4, algorithm = 2;
  static constexpr std::array names{"topology", "variant", "algorithm", "condition"};
  static std::string of(const TrainingRun& run, std::size_t label) {
    switch (label) {
    case 0: return run.topology;
    case 1: return run.variant;
    case algorithm: return run.plan;
    default: return to_text(run.condition);
    }
  }
  std::array<bool, labels> shown_{};
};

/// The fastest run that differs in the plan only.
Time fastest_like(const TrainingRun& run, std::span<const TrainingRun> runs) {
  Time fastest = run.iteration_time();
  for (const TrainingRun& other : runs)
    if (other.report && other.topology == run.topology && other.variant == run.variant &&
        other.condition == run.condition)
      fastest = std::min(fastest, other.iteration_time());
  return fastest;
}

/// The same run undisturbed; null where that has no report.
const TrainingRun* undisturbed_like(const TrainingRun& run, std::span<const TrainingRun> runs) {
  const auto found = std::ranges::find_if(runs, [&](const TrainingRun& other) {
    return other.condition == Condition{} && other.topology == run.topology &&
           other.variant == run.variant && other.plan == run.plan;
  });
  return found == runs.end() || !found->report ? nullptr : &*found;
}

bool is_disturbed(const TrainingRun& run) { return run.condition != Condition{}; }

void append(std::vector<Column>& columns, std::span<const char* const> titles,
            std::uint8_t spare = 0) {
  for (const char* title : titles) columns.push_back({title, Align::right, spare});
}

Table iteration_table(const TrainingEvaluation& evaluation, const Labels& labels) {
  const std::span<const TrainingRun> runs = evaluation.runs;
  const bool disturbed = std::ranges::any_of(runs, is_disturbed);
  const bool counts = std::ranges::any_of(
      runs, [](const TrainingRun& run) { return run.report && run.items_per_second() > 0; });
  const bool knows_peak = std::ranges::any_of(
      runs, [](const TrainingRun& run) { return run.report && run.flops_utilisation() > 0; });
  Table table{labels.columns(), {}};
  append(table.columns, std::array{"iteration", "x fastest"});
  if (disturbed) append(table.columns, std::array{"x undisturbed"});
  if (counts) {
    const std::string& item = runs.front().workload.item;
    table.columns.push_back({(item.empty() ? "item" : item) + "s", Align::right});
  }
  if (knows_peak) append(table.columns, std::array{"of peak"}, 1);
  append(table.columns, std::array{"x bound", "hidden"}, 2);
  table.columns.push_back({"hottest link", Align::left, 3});
  for (const TrainingRun& run : runs) {
    if (!run.report) continue;
    Row row = labels.cells(run);
    row.push_back(time_text(run.iteration_time()));
    const Time fastest = fastest_like(run, runs);
    row.push_back(fastest == Time{} ? "-" : ratio_text(ratio(run.iteration_time(), fastest)));
    if (disturbed) {
      const TrainingRun* before = undisturbed_like(run, runs);
      row.push_back(before == nullptr || before->report->duration == Time{}
                        ? "-"
                        : ratio_text(ratio(run.report->duration, before->report->duration)));
    }
    if (counts) row.push_back(rate_text(run.items_per_second()));
    if (knows_peak) row.push_back(percent_text(run.flops_utilisation()));
    row.push_back(run.bound == Time{} ? "-" : ratio_text(ratio(run.report->duration, run.bound)));
    row.push_back(percent_text(hidden_part(*run.report)));
    row.push_back(run.hottest.empty() ? "-" : run.hottest);
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<Purpose> exposed_purposes(std::span<const TrainingRun> runs) {
  std::vector<Purpose> purposes;
  for (std::size_t p = 0; p < purpose_count; ++p)
    if (std::ranges::any_of(runs, [p](const TrainingRun& run) {
          return run.report && std::ranges::any_of(run.report->communication, [p](const auto& npu) {
                   return npu[p] > Time{};
                 });
        }))
      purposes.push_back(static_cast<Purpose>(p));
  return purposes;
}

// Of a sum over NPUs and iterations, the share of one of each.
Time part(Time sum, const TrainingRun& run, std::int64_t npus) {
  return Time{sum.ps / (npus * run.workload.iterations)};
}

Row account_row(const TrainingRun& run, const TimeAccount& account, std::int64_t npus,
                std::span<const Purpose> purposes) {
  Row row{time_text(part(account.compute, run, npus))};
  for (const Purpose purpose : purposes)
    row.push_back(time_text(part(account.exposed[static_cast<std::size_t>(purpose)], run, npus)));
  row.push_back(time_text(part(account.bubble, run, npus)));
  row.push_back(time_text(part(account.waiting, run, npus)));
  row.push_back(time_text(part(account.total(), run, npus)));
  return row;
}

/// Where the time of an iteration goes, in the mean and for the NPU that computes longest.
Table account_table(const TrainingEvaluation& evaluation, const Labels& labels) {
  const std::vector<Purpose> purposes = exposed_purposes(evaluation.runs);
  Table table{labels.columns(), {}};
  table.columns.push_back({"NPU"});
  table.columns.push_back({"compute", Align::right});
  for (const Purpose purpose : purposes)
    table.columns.push_back({fmt::format("exposed {}", to_text(purpose)), Align::right, 1});
  append(table.columns, std::array{"bubble", "waiting"}, 2);
  append(table.columns, std::array{"= iteration"});
  const auto add = [&](const TrainingRun& run, const std::string& who, const TimeAccount& account,
                       std::int64_t npus) {
    Row row = labels.cells(run);
    row.push_back(who);
    const Row times = account_row(run, account, npus, purposes);
    row.insert(row.end(), times.begin(), times.end());
    table.rows.push_back(std::move(row));
  };
  for (const TrainingRun& run : evaluation.runs) {
    if (!run.report) continue;
    add(run, "mean", summed_accounts(*run.report), run.npus);
    const NodeId busiest = busiest_npu(*run.report);
    add(run, fmt::format("npu{}", busiest.value), run.report->accounts[busiest.value], 1);
  }
  return table;
}

std::string operation_text(const PlannedCommunication& communication) {
  return communication.is_send ? "send" : std::string(to_text(communication.kind));
}

Table planning_table(const TrainingEvaluation& evaluation, const Labels& labels) {
  Table table{labels.columns(), {}};
  table.columns.push_back({"operation"});
  append(table.columns, std::array{"size"});
  append(table.columns, std::array{"NPUs", "ways"}, 2);
  table.columns.push_back({"by", Align::left, 0, true});
  append(table.columns, std::array{"alone"});
  append(table.columns, std::array{"bound", "x bound"}, 1);
  for (const TrainingRun& run : evaluation.runs) {
    const std::size_t shown = std::min(shown_plans, run.communications.size());
    for (const PlannedCommunication& each : std::span(run.communications).first(shown)) {
      Row row = labels.cells(run);
      const Row cells{operation_text(each),
                      short_text(each.size),
                      fmt::to_string(each.members),
                      fmt::to_string(each.requests),
                      each.algorithm + (each.was_remembered ? " (remembered)" : ""),
                      time_text(each.alone),
                      time_text(each.bound),
                      each.bound == Time{} ? "-" : ratio_text(ratio(each.alone, each.bound))};
      row.insert(row.end(), cells.begin(), cells.end());
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

/// What is the same of all runs of a workload.
std::string workload_text(const TrainingRun& run) {
  std::string text = fmt::format("{} on {} ({} NPUs)", run.workload.name, run.topology, run.npus);
  if (!run.workload.trained_on.empty()) text += ", " + run.workload.trained_on;
  if (!run.variant.empty()) text = fmt::format("{}: {}", run.variant, text);
  if (run.workload.iterations > 1) text += fmt::format(", {} iterations", run.workload.iterations);
  if (run.workload.memory) {
    const MemoryEstimate& memory = *run.workload.memory;
    text += fmt::format("; npu{} needs {}: parameters {}, gradients {}, optimizer {}, "
                        "activations {}",
                        run.workload.memory_npu.value, short_text(memory.total()),
                        short_text(memory.parameters), short_text(memory.gradients),
                        short_text(memory.optimizer), short_text(memory.activations));
  }
  text += "\n";
  if (!run.workload.memory_warning.empty())
    text += fmt::format("WARNING: {}\n", run.workload.memory_warning);
  return text;
}

std::string effort_text(const TrainingRun& run) {
  const IterationReport& report = *run.report;
  std::string text = fmt::format(
      "{} operations, {} communications, {} link crossings, {} simulated one by one; planned in "
      "{:.2f} s, simulated in {:.2f} s",
      report.operations, report.communications, report.link_transfers, report.replayed,
      run.planning_seconds, run.run_seconds);
  if (run.communications.size() > shown_plans)
    text += fmt::format("; {} more plans", run.communications.size() - shown_plans);
  return text;
}

std::string notes_text(const TrainingEvaluation& evaluation, const Labels& labels) {
  std::string text;
  for (const TrainingRun& run : evaluation.runs) {
    const std::string who = labels.text(run);
    if (run.report) text += fmt::format("{}: {}\n", who, effort_text(run));
    if (!run.note.empty()) text += fmt::format("{}: {}\n", who, run.note);
    if (!run.problem.empty()) text += fmt::format("DEFECT: {}: {}\n", who, run.problem);
  }
  return text;
}

std::string heading(const TrainingEvaluation& evaluation) {
  std::string text = evaluation.label.empty() ? "" : evaluation.label + "\n";
  const TrainingRun* before = nullptr;
  for (const TrainingRun& run : evaluation.runs) {
    if (before == nullptr || before->topology != run.topology || before->variant != run.variant)
      text += workload_text(run);
    before = &run;
  }
  return text + conditions_text(evaluation, joined(evaluation.engines, " = ")) + "\n";
}

std::string table_text(const Table& table, const char* title, const TableForm& form) {
  const std::string text = table.rows.empty() ? "" : to_text(table, form);
  return text.empty() ? "" : title + text;
}

} // namespace

std::string conditions_text(const TrainingEvaluation& evaluation, const std::string& engine) {
  const TimeModel& model = evaluation.model;
  std::string text = fmt::format("engine {}, links busy for {}, forwarding {}", engine,
                                 to_text(model.link_busy), to_text(model.forwarding));
  if (evaluation.one_at_a_time) text += ", one communication of an NPU at a time";
  if (model.reduce_rate.bytes_per_second > 0)
    text += fmt::format(", reductions at {}", to_text(model.reduce_rate));
  return text;
}

std::string training_text(const TrainingEvaluation& evaluation, const TableForm& form) {
  const Labels labels(evaluation);
  know_columns(form, {"topology", "variant", "condition", "x undisturbed", "of peak"});
  return wrapped(heading(evaluation), form) +
         table_text(iteration_table(evaluation, labels), "\n", form) +
         table_text(account_table(evaluation, labels), "\nwhere an iteration's time goes:\n",
                    form) +
         table_text(planning_table(evaluation, labels), "\nwhat communicates, each alone:\n",
                    form) +
         "\n" + wrapped(notes_text(evaluation, labels), form);
}

} // namespace tutti
