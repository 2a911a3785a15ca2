// Bounds first, in this process, as their CPU seconds are reported; then the algorithms, side by
// side. Each of these is held against the bounds again where it is evaluated (runs/evaluation.hpp):
// here only the fastest counts.
#include "experiments/driver/studies/bounds/study.hpp"

#include "experiments/driver/figures/choice_map.hpp"
#include "experiments/driver/records/file_stem.hpp"
#include "experiments/driver/requests/outline_request.hpp"
#include "experiments/driver/studies/experiment.hpp"
#include "experiments/driver/studies/experiment_values.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/runs/runner.hpp"
#include "experiments/driver/studies/shared_columns.hpp"
#include "experiments/driver/terminal/stage_display.hpp"
#include "sim/error.hpp"
#include "sim/files/config.hpp"
#include "synth/bounds/bounds.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

namespace tutti {

BoundStudy BoundStudy::read(ConfigTable table, const Experiment& experiment,
                            const std::string& source_name, std::span<const BoundStudy> others) {
  BoundStudy study;
  study.label = label_at(table, others);
  RunMatrix& matrix = study.matrix;
  matrix.label = study.label;
  std::vector<std::size_t> all(experiment.topologies.size());
  std::iota(all.begin(), all.end(), 0);
  matrix.topologies = list_at(table, "topologies", all, [&](const ConfigValue& value) {
    return topology_index(value, experiment.topologies);
  });
  matrix.collectives =
      list_at(table, "collectives", matrix.collectives,
              [&](const ConfigValue& value) { return texts_of(value, source_name); });
  if (matrix.collectives.empty()) throw table.error("no collective is named");
  matrix.sizes_are_usual = !table.has("sizes");
  matrix.sizes = sizes_at(table, "sizes", "1GiB");
  study.chunks = list_at(table, "chunks", study.chunks, [](const ConfigValue& value) {
    const auto number = chunks_of(value);
    if (!number) throw value.error("a bound is of a number of chunks, not of \"auto\"");
    return *number;
  });
  if (!std::ranges::is_sorted(study.chunks, std::ranges::less_equal()))
    throw table.at("chunks").error("numbers of chunks must ascend");
  (void)table.find("algorithms"); // known where it is missing
  matrix.algorithms = table.has("algorithms") ? algorithms_at(table) : all_algorithms();
  matrix.options = options_of(table, experiment.seed, source_name);
  if (!table.has("limit")) matrix.options.limit_seconds = 10;
  if (const auto settings = table.find("settings"))
    settings->located([&] { require_known_settings(matrix.algorithms, matrix.options); });
  matrix.engine = &find_engine("native");
  matrix.disciplines = {Discipline::fifo};
  matrix.bound = parsed_at(table, "bound", BoundEffort::quick, bound_effort_words);
  table.finish();
  return study;
}

namespace {

/// A collective of one size on one network.
struct BoundRow {
  const BoundStudy* study;
  const Case* problem; ///< with the first algorithm
  Bytes size;          ///< of all collectives at once
  Bounds any;
  std::vector<std::optional<Bound>> at_chunks; ///< of BoundStudy::chunks; none where parts would be
                                               ///< below a byte
  double bound_seconds = 0;                    ///< CPU, of `any`
  double at_chunks_seconds = 0;                ///< CPU, of all of these
  std::size_t algorithms = 0;                  ///< that have a complete schedule
  std::optional<Evaluation> best;

  [[nodiscard]] const Replay* replay() const { return best ? &best->replays.front() : nullptr; }
};

/// What [[bounds]] came to.
struct BoundResults {
  const BoundStudy& study; ///< the experiment's
  std::vector<Case> cases;
  std::vector<BoundRow> rows; ///< by topology, collective, size
  std::vector<Evaluation> evaluations;
};

void bound(BoundRow& row) {
  const Case& c = *row.problem;
  const auto bounds_of = [&](const bounds::Outline& outline) {
    return all_bounds(*c.topology, outline, c.options.model, c.bound);
  };
  const auto bounds_at = [&](std::uint32_t chunks) {
    return bounds_of(make_outline(*c.topology, c.collective, chunks));
  };
  const double start = cpu_seconds();
  const bounds::Outline whole = make_outline(*c.topology, c.collective, 1);
  row.size = whole.collective.size();
  row.any = bounds_of(whole);
  row.bound_seconds = cpu_seconds() - start;
  for (const std::uint32_t chunks : row.study->chunks) try {
      row.at_chunks.emplace_back(bounds_at(chunks).best_at_chunks());
    } catch (const InputError&) { // so fine that parts would be below a byte
      row.at_chunks.emplace_back();
    }
  row.at_chunks_seconds = cpu_seconds() - start - row.bound_seconds;
}

// The fastest of its size, the first of equal ones. What a limit cut short counts, too: it is a
// correct schedule.
void choose(BoundRow& row, std::span<const Evaluation> evaluations) {
  for (const Evaluation& e : evaluations) {
    row.algorithms += e.is_complete() ? 1 : 0;
    if (e.replays.empty() || !e.problem.empty()) continue;
    const Time time = e.replays.front().report.completion;
    if (!row.best || time < row.best->replays.front().report.completion) row.best = e;
  }
}

BoundResults evaluate(const BoundStudy& study, const StudyRun& how) {
  BoundResults results{study, study.matrix.cases(how.networks), {}, {}};
  const std::size_t algorithms = study.matrix.algorithms.size();
  {
    InterruptibleWork work(how.interrupts, study.label, how.progress);
    for (std::size_t c = 0; c < results.cases.size(); c += algorithms) {
      if (how.interrupts.cancels()) return results;
      results.rows.push_back({&study, &results.cases[c], {}, {}, {}, 0, 0, 0, {}});
      bound(results.rows.back());
    }
  }
  results.evaluations = evaluate_cases(results.cases, how);
  for (std::size_t r = 0; r < results.rows.size(); ++r)
    choose(results.rows[r], std::span(results.evaluations).subspan(r * algorithms, algorithms));
  return results;
}

RecordColumn bound_column(const std::string& chunks, Presence presence) {
  return {fmt::format("lower_bound_at_{}_ps", chunks),
          Quantity::time,
          ColumnRole::metric,
          presence,
          "Best lower bound for schedules of so many chunks per shard; null where a chunk would be "
          "below a byte",
          5};
}

Fields<BoundRow> fields_of(const BoundStudy& study) {
  using R = BoundRow;
  using namespace column_words;
  Fields<R> fields{
      {shared("label"), [](const R& r) { return r.study->label; }},
      {shared("topology"), [](const R& r) { return r.problem->topology_label; }},
      {shared("npus").shown(6), [](const R& r) { return r.problem->topology->npu_count(); }},
      {shared("collective"), [](const R& r) { return r.problem->collective.text(); }},
      {shared("size_bytes",
              "Size as nccl-tests prints it, of each of the collectives that run at once"),
       [](const R& r) { return r.size; }},
      {shared("link_busy"), [](const R& r) { return to_text(r.problem->options.model.link_busy); }},
      {shared("forwarding"),
       [](const R& r) { return to_text(r.problem->options.model.forwarding); }},
      {shared("lower_bound_ps"), [](const R& r) { return r.any.best().time; }},
      {shared("lower_bound_kind").shown(3), [](const R& r) { return to_text(r.any.best().kind); }}};
  for (std::size_t i = 0; i < study.chunks.size(); ++i)
    fields.push_back({bound_column(fmt::to_string(study.chunks[i]), optional), [i](const R& r) {
                        return r.at_chunks[i] ? Cell(r.at_chunks[i]->time) : Cell();
                      }});
  const auto of_best = [](auto value) {
    return [value](const R& r) { return r.best ? Cell(value(*r.best)) : Cell(); };
  };
  const auto of_replay = [](auto value) {
    return [value](const R& r) { return r.best ? Cell(value(*r.replay())) : Cell(); };
  };
  extend(
      fields,
      {{shared("algorithm",
               "Algorithm whose correct schedule is the fastest; null where none has one")
            .as(metric),
        of_best([](const Evaluation& e) { return e.algorithm; })},
       {shared("chunks_per_shard", "K of that schedule").shown(4),
        of_best([](const Evaluation& e) { return e.chunks_per_shard; })},
       {shared("collective_time_ps",
               "Simulated time of that schedule, on the native engine under `fifo`"),
        of_replay([](const Replay& r) { return r.report.completion; })},
       {shared("gap", "`collective_time_ps / lower_bound_ps` of that schedule"),
        of_replay([](const Replay& r) { return r.gap(); })},
       {shared("gap_at_chunks",
               "Collective time of that schedule over the best bound for schedules of its chunks")
            .shown(2),
        of_replay([](const Replay& r) { return r.gap_at_chunks(); })},
       {{"algorithms", count, metric, always,
         "Number of algorithms that have a correct schedule which no limit cut short", 6},
        [](const R& r) { return r.algorithms; }},
       {shared("bound_seconds", "CPU time of `lower_bound_ps`").shown(7, "bound CPU"),
        [](const R& r) { return r.bound_seconds; }},
       {{"at_chunks_seconds", effort, cost, sometimes,
         "CPU time of the bounds at all given numbers of chunks together", 8, "at chunks CPU"},
        [](const R& r) { return r.at_chunks_seconds; }},
       {shared("synthesis_seconds", "CPU time of the synthesis of the fastest schedule").shown(8),
        of_best([](const Evaluation& e) { return e.synthesis_seconds; })}});
  return fields;
}

/// How far the best known is above its bound, from "proven" on: the darker, the farther.
constexpr std::array<std::pair<double, int>, 5> gap_classes{
    {{1.01, 0xfbf0cf}, {1.1, 0xfbc87c}, {1.5, 0xec7f45}, {2, 0xb63550}, {1e9, 0x3a0f6b}}};

std::string class_name(std::size_t i) {
  if (i + 1 == gap_classes.size()) return "more";
  return fmt::format("within {:.0f} %", 100 * (gap_classes[i].first - 1));
}

std::array<std::size_t, gap_classes.size()> counts_within(const BoundResults& results) {
  std::array<std::size_t, gap_classes.size()> counts{};
  for (const BoundRow& row : results.rows)
    for (std::size_t i = 0; row.best && i < gap_classes.size(); ++i)
      counts[i] += row.replay()->gap() <= gap_classes[i].first ? 1 : 0;
  return counts;
}

/// A study that is alone has no label.
std::string label_prefix(const std::string& label) { return label.empty() ? "" : label + ": "; }

/// A row for each network, a column for each collective and size.
NamedFigure figure_of(const BoundResults& results) {
  const RunMatrix& matrix = results.study.matrix;
  const std::size_t columns = matrix.collectives.size() * matrix.sizes.size();
  std::array<std::size_t, gap_classes.size()> counts = counts_within(results);
  ChoiceMap map{label_prefix(results.study.label) +
                    fmt::format("best schedules known within 1 % in {} of {} cases, 10 % in {}, "
                                "50 % in {}",
                                counts[0], results.rows.size(), counts[1], counts[2]),
                "colours and numbers: time of the best schedule known over its lower bound",
                "collective and size",
                "",
                {},
                {},
                {},
                {}};
  for (std::size_t i = 0; i < gap_classes.size(); ++i)
    map.choices.push_back({class_name(i), gap_classes[i].second});
  for (std::size_t c = 0; c < columns; ++c)
    map.columns.push_back(fmt::format("{} {}", results.rows[c].problem->collective.text(),
                                      to_text(results.rows[c].size)));
  const std::size_t networks = results.rows.size() / columns;
  for (std::size_t n = networks; n-- > 0;) // the first on top
    map.rows.push_back(results.rows[n * columns].problem->topology_label);
  for (std::size_t r = 0; r < results.rows.size(); ++r) {
    const BoundRow& row = results.rows[r];
    if (!row.best) continue;
    const double gap = row.replay()->gap();
    const auto found =
        std::ranges::find_if(gap_classes, [gap](const auto& each) { return !(gap > each.first); });
    map.cells.push_back({r % columns, networks - 1 - r / columns,
                         static_cast<std::size_t>(found - gap_classes.begin()),
                         fmt::format("{:.3f}", gap), row.best->algorithm});
  }
  return {file_stem("bounds", results.study.label), choice_map_figure(map)};
}

std::string story_of(const Records& records, const BoundResults& results, const TableForm& form) {
  const std::array<std::size_t, gap_classes.size()> counts = counts_within(results);
  const std::string table = to_text(records_table(records), form);
  if (table.empty()) return ""; // nothing in it is asked for
  std::string text =
      label_prefix(results.study.label) +
      fmt::format("{} problem{}\n", results.rows.size(), results.rows.size() == 1 ? "" : "s") +
      table + "best schedule known over its bound:";
  for (std::size_t i = 0; i + 1 < gap_classes.size(); ++i)
    text += fmt::format("{} {} {}", i == 0 ? "" : ",", counts[i], class_name(i));
  return text + fmt::format(", of {}\n", results.rows.size());
}

} // namespace

void require_sound(const BoundStudy& study, Networks networks) {
  require_sound(study.matrix.cases(networks));
}

std::size_t BoundStudy::case_count() const {
  return matrix.topologies.size() * matrix.collectives.size() * matrix.sizes.size();
}

std::vector<RecordFile> BoundStudy::files() {
  Records records = records_of<BoundRow>(fields_of(BoundStudy()), {});
  const auto after = std::ranges::find(records.columns, "algorithm", &RecordColumn::name);
  records.columns.insert(after, bound_column("K", Presence::family));
  return {{"bounds", std::move(records)}};
}

std::vector<std::string> BoundStudy::table_columns() const {
  return column_names(records_of<BoundRow>(fields_of(*this), {}).columns, {});
}

StudyResult run_study(const BoundStudy& study, const StudyRun& how) {
  const auto made = std::make_shared<const BoundResults>(evaluate(study, how));
  const Records records = records_of<BoundRow>(fields_of(study), made->rows);
  StudyResult result;
  result.files = {{"bounds", records}};
  result.kind = BoundStudy::kind;
  result.story = [made, records](const TableForm& form) { return story_of(records, *made, form); };
  result.figures = [made] {
    const bool has_any =
        std::ranges::any_of(made->rows, [](const BoundRow& r) { return bool(r.best); });
    return has_any ? std::vector{figure_of(*made)} : std::vector<NamedFigure>{};
  };
  result.defects = problems_of(made->evaluations);
  result.nothing_made = nothing_made(made->evaluations);
  if (!result.nothing_made.empty())
    result.unanswered = {made->evaluations.front().status, result.nothing_made.front()};
  return result;
}

} // namespace tutti
