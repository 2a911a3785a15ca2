// Iterations of training for a reader: what one takes, also under noise, where its time goes, what
// communicates. Labels that are the same in all rows are left out of tables, never of the CSV.
#include "experiments/driver/studies/training/columns.hpp"

#include "experiments/driver/records/records.hpp"
#include "experiments/driver/records/table.hpp"
#include "experiments/driver/studies/noise/draws.hpp"
#include "experiments/driver/studies/runs/table.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace tutti {

namespace {

constexpr std::size_t shown_plans = 8; // of each run; all are in the JSON

double times_over(Time a, Time b) { return static_cast<double>(a.ps) / static_cast<double>(b.ps); }

/// "1.25 k images/s"
std::string rate_text(double per_second, const std::string& item) {
  const double scale = per_second >= 1e6 ? 1e6 : per_second >= 1e3 ? 1e3 : 1;
  const char* prefix = scale == 1e6 ? "M " : scale == 1e3 ? "k " : "";
  return fmt::format("{:.4g} {}{}s/s", per_second / scale, prefix, item);
}

struct Label {
  const char* name;
  std::string (*of)(const TrainingRun& run);
};
constexpr std::array labels{
    Label{"topology", [](const TrainingRun& run) { return run.topology; }},
    Label{"variant", [](const TrainingRun& run) { return run.variant; }},
    Label{"algorithm", [](const TrainingRun& run) { return run.plan; }},
    Label{"transport", [](const TrainingRun& run) { return run.transport; }},
    Label{"condition", [](const TrainingRun& run) { return to_text(run.condition); }}};

/// What tells the runs of a study apart: the algorithm, and what runs differ in.
std::vector<Label> labels_of(std::span<const TrainingRun> runs, const TableForm& form) {
  if (!form.columns.empty()) return {labels.begin(), labels.end()}; // any may be among them
  std::vector<Label> distinguishing;
  for (const Label& label : labels) {
    std::set<std::string> values;
    for (const TrainingRun& run : runs) values.insert(label.of(run));
    if (values.size() > 1 || label.name == std::string_view("algorithm"))
      distinguishing.push_back(label);
  }
  return distinguishing;
}

std::string label_text(std::span<const Label> distinguishing, const TrainingRun& run) {
  std::vector<std::string> texts;
  for (const Label& label : distinguishing)
    if (std::string text = label.of(run); !text.empty()) texts.push_back(std::move(text));
  return joined(texts, ", ");
}

/// Columns of labels, for rows that have a run each.
template <typename Row> Fields<Row> label_columns(std::span<const Label> distinguishing) {
  Fields<Row> fields;
  for (const Label& label : distinguishing)
    fields.push_back({{label.name, Quantity::text, ColumnRole::note},
                      [of = label.of](const Row& row) { return of(*row.run); }});
  return fields;
}

/// The first `label_count` columns are labels.
std::string table_text(Table table, std::size_t label_count, const std::string& title,
                       const TableForm& form) {
  if (table.rows.empty()) return "";
  for (std::size_t c = 0; c < label_count; ++c) table.columns[c].is_label = true;
  const std::string text = to_text(table, form);
  return text.empty() ? "" : title + text;
}

/// The fastest run that differs in the plan only.
Time fastest_like(const TrainingRun& run, std::span<const TrainingRun> runs) {
  Time fastest = run.iteration_time();
  for (const TrainingRun& other : runs)
    if (other.report && other.topology == run.topology && other.variant == run.variant &&
        other.transport == run.transport && other.condition == run.condition)
      fastest = std::min(fastest, other.iteration_time());
  return fastest;
}

/// The same run undisturbed; null where that has no report.
const TrainingRun* undisturbed_like(const TrainingRun& run, std::span<const TrainingRun> runs) {
  const auto found = std::ranges::find_if(runs, [&](const TrainingRun& other) {
    return other.condition == Condition{} && other.topology == run.topology &&
           other.variant == run.variant && other.plan == run.plan &&
           other.transport == run.transport;
  });
  return found == runs.end() || !found->report ? nullptr : &*found;
}

bool is_disturbed(const TrainingRun& run) { return run.condition != Condition{}; }

/// Nothing over no time.
Cell ratio_cell(Time a, Time b) { return b == Time{} ? Cell() : Cell(times_over(a, b)); }

struct TableIteration {
  const TrainingRun* run;
  std::span<const TrainingRun> all;
};

/// A disturbed run that comes to a halt has no times; its note says why.
template <typename Value> auto where_reported(Value value) {
  return [value](const TableIteration& row) { return row.run->report ? Cell(value(row)) : Cell(); };
}

/// A column of the records, as this table calls it.
Field<TableIteration> shown(std::string_view name, std::uint8_t spare = 0) {
  Field<TrainingRun> field = run_field(name);
  field.column.spare = spare;
  return {field.column, where_reported([value = field.value](const TableIteration& row) {
            return value(*row.run);
          })};
}

/// What a table of iterations has beyond what it always has.
struct IterationShape {
  bool disturbed = true, interval = true, items = true, peak = true;
};

IterationShape shape_of(std::span<const TrainingRun> runs) {
  const auto any = [runs](auto holds) { return std::ranges::any_of(runs, holds); };
  return {any(is_disturbed), any([](const TrainingRun& run) { return run.interval.has_value(); }),
          any([](const TrainingRun& run) { return run.report && run.items_per_second() > 0; }),
          any([](const TrainingRun& run) { return run.report && run.flops_utilisation() > 0; })};
}

Fields<TableIteration> table_iteration_fields(std::span<const Label> distinguishing,
                                              const IterationShape& shape) {
  using namespace column_words;
  using R = TableIteration;
  Fields<R> fields = label_columns<R>(distinguishing);
  extend(fields, {shown("iteration_time_ps"), {{"x fastest", ratio}, where_reported([](const R& r) {
                                                 return ratio_cell(r.run->iteration_time(),
                                                                   fastest_like(*r.run, r.all));
                                               })}});
  if (shape.disturbed)
    fields.push_back(
        {{"slowdown", ratio, metric, 0, "x undisturbed"}, where_reported([](const R& r) {
           const TrainingRun* before = undisturbed_like(*r.run, r.all);
           return before == nullptr ? Cell()
                                    : ratio_cell(r.run->report->duration, before->report->duration);
         })});
  if (shape.interval) extend(fields, {shown("time_low_ps", 3), shown("time_high_ps", 3)});
  if (shape.items)
    fields.push_back(
        {{"items_per_s", numeral, metric, 0, "throughput"}, where_reported([](const R& r) {
           const std::string& item = r.run->workload.item;
           return rate_text(r.run->items_per_second(), item.empty() ? "item" : item);
         })});
  if (shape.peak)
    fields.push_back({{"flops_utilisation", part, metric, 1, "of peak"},
                      where_reported([](const R& r) { return r.run->flops_utilisation(); })});
  extend(fields, {{{"x bound", ratio, metric, 2}, where_reported([](const R& r) {
                     return ratio_cell(r.run->report->duration, r.run->bound);
                   })},
                  shown("hidden_fraction", 2),
                  {{"hottest link", text, metric, 3},
                   where_reported([](const R& r) { return Cell::of_text(r.run->hottest); })}});
  return fields;
}

Records iteration_table(std::span<const TrainingRun> runs, std::span<const Label> distinguishing,
                        const TableForm& form) {
  std::vector<TableIteration> rows;
  for (const TrainingRun& run : runs)
    if (run.report || is_disturbed(run)) rows.push_back({&run, runs});
  return records_of<TableIteration>(table_iteration_fields(distinguishing, form.columns.empty()
                                                                               ? shape_of(runs)
                                                                               : IterationShape{}),
                                    rows);
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

/// An account of one NPU, or the sum over all.
struct TableAccount {
  const TrainingRun* run;
  std::string who;
  TimeAccount account;
  std::int64_t npus;

  /// A sum over NPUs and iterations, per NPU and iteration.
  [[nodiscard]] Time share(Time sum) const {
    return Time{sum.ps / (npus * run->workload.iterations)};
  }
};

Fields<TableAccount> table_account_fields(std::span<const Label> distinguishing,
                                          std::span<const Purpose> purposes) {
  using namespace column_words;
  using R = TableAccount;
  Fields<R> fields = label_columns<R>(distinguishing);
  extend(fields, {{{"NPU", text}, [](const R& r) { return r.who; }},
                  {{"compute", time}, [](const R& r) { return r.share(r.account.compute); }}});
  for (const Purpose purpose : purposes)
    fields.push_back({{fmt::format("exposed {}", to_text(purpose)), time, metric, 1},
                      [p = static_cast<std::size_t>(purpose)](const R& r) {
                        return r.share(r.account.exposed[p]);
                      }});
  extend(fields,
         {{{"bubble", time, metric, 2}, [](const R& r) { return r.share(r.account.bubble); }},
          {{"waiting", time, metric, 2}, [](const R& r) { return r.share(r.account.waiting); }},
          {{"sum_ps", time, metric, 0, "= iteration"},
           [](const R& r) { return r.share(r.account.total()); }}});
  return fields;
}

/// Where the time of an iteration goes, in the mean and for the NPU that computes longest.
Records account_table(std::span<const TrainingRun> runs, std::span<const Label> distinguishing) {
  std::vector<TableAccount> rows;
  for (const TrainingRun& run : runs) {
    if (!run.report) continue;
    rows.push_back({&run, "mean", summed_accounts(*run.report), run.npus});
    const NodeId busiest = busiest_npu(*run.report);
    rows.push_back(
        {&run, fmt::format("npu{}", busiest.value), run.report->accounts[busiest.value], 1});
  }
  return records_of<TableAccount>(table_account_fields(distinguishing, exposed_purposes(runs)),
                                  rows);
}

struct TableNoise {
  const TrainingRun* run;
  const NoiseOutcome* noise;
};

/// Rows by workload and network, then by skew in the requested order, then in the order of runs.
std::vector<TableNoise> noise_rows(std::span<const TrainingRun> runs) {
  const auto like = [](const TrainingRun& a, const TrainingRun& b) {
    return a.topology == b.topology && a.variant == b.variant;
  };
  std::vector<TableNoise> rows;
  while (!runs.empty()) {
    std::size_t count = 1, skews = 0;
    while (count < runs.size() && like(runs[0], runs[count])) ++count;
    for (const TrainingRun& run : runs.first(count)) skews = std::max(skews, run.noises.size());
    for (std::size_t s = 0; s < skews; ++s)
      for (const TrainingRun& run : runs.first(count))
        if (s < run.noises.size()) rows.push_back({&run, &run.noises[s]});
    runs = runs.subspan(count);
  }
  return rows;
}

Fields<TableNoise> table_noise_fields(std::span<const Label> distinguishing) {
  Fields<TableNoise> fields = label_columns<TableNoise>(distinguishing);
  extend(fields,
         fields_through<TableNoise>(noise_fields(), [](const TableNoise& r) { return r.noise; }));
  return fields;
}

/// Labels, the skew and times.
std::vector<ShownColumn> shown_columns(std::span<const Label> distinguishing, bool several_skews) {
  std::vector<ShownColumn> shown;
  for (const Label& label : distinguishing) shown.push_back({label.name});
  if (several_skews) shown.push_back({"skew"});
  for (ShownColumn& column : shown_noise(false)) shown.push_back(std::move(column));
  return shown;
}

/// What draws of start times and links came to; empty where there are none.
std::string noise_table_text(std::span<const TrainingRun> runs,
                             std::span<const Label> distinguishing, const TableForm& form) {
  const std::vector<TableNoise> rows = noise_rows(runs);
  if (rows.empty()) return "";
  std::vector<const NoiseOutcome*> outcomes;
  for (const TableNoise& row : rows) outcomes.push_back(row.noise);
  const bool several = std::ranges::any_of(outcomes, [&](const NoiseOutcome* outcome) {
    return outcome->skew != outcomes.front()->skew;
  });
  const Records records = records_of<TableNoise>(table_noise_fields(distinguishing), rows);
  return table_text(
      records_table(records, shown_columns(distinguishing, several), form), distinguishing.size(),
      wrapped(fmt::format("\nunder noise, all iterations: {}\n", noise_heading(outcomes)), form),
      form);
}

struct TablePlan {
  const TrainingRun* run;
  const PlannedCommunication* plan;
};

Fields<TablePlan> table_plan_fields(std::span<const Label> distinguishing) {
  using namespace column_words;
  using R = TablePlan;
  Fields<R> fields = label_columns<R>(distinguishing);
  extend(fields, {{{"operation", text},
                   [](const R& r) { return r.plan->is_send ? "send" : to_text(r.plan->kind); }},
                  {{"size", bytes}, [](const R& r) { return r.plan->size; }},
                  {{"NPUs", count, metric, 2}, [](const R& r) { return r.plan->members; }},
                  {{"groups", count, metric, 2}, [](const R& r) { return r.plan->requests; }},
                  {{"by", text, note},
                   [](const R& r) {
                     const std::string& protocol = r.plan->protocol;
                     return r.plan->algorithm + (protocol.empty() ? "" : ", " + protocol);
                   }},
                  {{"alone", time}, [](const R& r) { return r.plan->alone; }},
                  {{"bound", time, metric, 1}, [](const R& r) { return r.plan->bound; }},
                  {{"x bound", ratio, metric, 1},
                   [](const R& r) { return ratio_cell(r.plan->alone, r.plan->bound); }}});
  return fields;
}

Records planning_table(std::span<const TrainingRun> runs, std::span<const Label> distinguishing) {
  std::vector<TablePlan> rows;
  for (const TrainingRun& run : runs)
    for (const PlannedCommunication& plan :
         std::span(run.communications).first(std::min(shown_plans, run.communications.size())))
      rows.push_back({&run, &plan});
  return records_of<TablePlan>(table_plan_fields(distinguishing), rows);
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
      "{} operations, {} communications, {} link crossings, {} simulated one by one{}; planned in "
      "{:.2f} s, simulated in {:.2f} s",
      report.operations, report.communications, report.link_transfers, report.replayed,
      report.replayed > report.link_transfers ? " (some twice: alone, and with what they met)" : "",
      run.planning_seconds, run.run_seconds);
  const auto remembered =
      std::ranges::count_if(run.communications, &PlannedCommunication::was_remembered);
  if (remembered > 0)
    text += fmt::format("; {} of {} plan{} remembered", remembered, run.communications.size(),
                        run.communications.size() == 1 ? "" : "s");
  if (run.communications.size() > shown_plans)
    text += fmt::format("; {} more plans", run.communications.size() - shown_plans);
  return text;
}

std::string notes_text(const TrainingEvaluation& evaluation,
                       std::span<const Label> distinguishing) {
  std::string text;
  for (const TrainingRun& run : evaluation.runs) {
    const std::string who = label_text(distinguishing, run);
    if (run.report) text += fmt::format("{}: {}\n", who, effort_text(run));
    if (!run.failed.empty()) text += fmt::format("{}: failed: {}\n", who, joined(run.failed, ", "));
    if (!run.note.empty()) text += fmt::format("{}: {}\n", who, run.note);
    if (!run.problem.empty()) text += fmt::format("DEFECT: {}: {}\n", who, run.problem);
    if (!run.remark.empty()) text += fmt::format("{}: {}\n", who, run.remark);
  }
  return text;
}

std::string training_heading(const TrainingEvaluation& evaluation) {
  std::string text = evaluation.label.empty() ? "" : evaluation.label + "\n";
  const TrainingRun* before = nullptr;
  for (const TrainingRun& run : evaluation.runs) {
    if (before == nullptr || before->topology != run.topology || before->variant != run.variant)
      text += workload_text(run);
    before = &run;
  }
  return text + conditions_text(evaluation, joined(evaluation.engines, " and ")) + "\n";
}

} // namespace

std::string conditions_text(const TrainingEvaluation& evaluation, const std::string& engine) {
  const TimeModel& model = evaluation.model;
  std::string text = fmt::format("engine {}, links busy for {}, forwarding {}", engine,
                                 to_text(model.link_busy), to_text(model.forwarding));
  if (evaluation.transports != std::vector<std::string>{"ideal"} && !evaluation.transports.empty())
    text += ", transport " + joined(evaluation.transports, " and ");
  if (evaluation.one_at_a_time) text += ", one communication of an NPU at a time";
  if (model.reduce_rate.bytes_per_second > 0)
    text += fmt::format(", reductions at {}", to_text(model.reduce_rate));
  return text;
}

std::string training_text(const TrainingEvaluation& evaluation, const TableForm& form) {
  const std::span<const TrainingRun> runs = evaluation.runs;
  const std::vector<Label> distinguishing = labels_of(runs, form);
  return wrapped(training_heading(evaluation), form) +
         table_text(whole_table(iteration_table(runs, distinguishing, form)), distinguishing.size(),
                    "\n", form) +
         noise_table_text(runs, distinguishing, form) +
         table_text(whole_table(account_table(runs, distinguishing)), distinguishing.size(),
                    "\nwhere an iteration's time goes:\n", form) +
         table_text(whole_table(planning_table(runs, distinguishing)), distinguishing.size(),
                    "\nwhat communicates, each alone:\n", form) +
         "\n" + wrapped(notes_text(evaluation, labels_of(runs, {})), form);
}

std::vector<std::string> TrainingStudy::table_columns() const {
  std::vector<Purpose> purposes;
  for (std::size_t p = 0; p < purpose_count; ++p) purposes.push_back(static_cast<Purpose>(p));
  std::vector<std::string> names;
  const auto add = [&names](const auto& fields) {
    std::vector<RecordColumn> columns;
    for (const auto& field : fields) columns.push_back(field.column);
    for (std::string& name : column_names(columns, {})) names.push_back(std::move(name));
  };
  add(table_iteration_fields(labels, {}));
  add(table_account_fields(labels, purposes));
  add(table_plan_fields(labels));
  if (!noise.is_drawn()) return names;
  for (std::string& name :
       column_names(records_of<TableNoise>(table_noise_fields(labels), {}).columns,
                    shown_columns(labels, true)))
    names.push_back(std::move(name));
  return names;
}

} // namespace tutti
