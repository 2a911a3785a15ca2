// Two views of the same rows. The terminal's table shows the columns in which its rows differ and
// is sorted for a reader (complete results first, the fastest on top); the CSV has every column,
// always in one order, measured values last, so that files of two runs can be compared.
#include "experiments/driver/studies/runs/table.hpp"

#include "experiments/driver/records/records.hpp"
#include "experiments/driver/records/table.hpp"
#include "experiments/driver/studies/noise/draws.hpp"
#include "experiments/driver/studies/runs/records.hpp"
#include "experiments/driver/studies/runs/study.hpp"
#include "sim/engines/agreement.hpp"
#include "synth/bounds/bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <set>
#include <string_view>
#include <tuple>

namespace tutti {

namespace {

bool same_table(const Evaluation& a, const Evaluation& b) {
  return a.run == b.run && a.topology == b.topology && a.collective == b.collective;
}

std::string outcome_text(const Evaluation& e) {
  return e.problem.empty() ? std::string(to_text(e.status)) : "DEFECT";
}

// A fluid counts bandwidth alone, and other pictures leave out something else: no schedule is as
// fast as what they promise.
std::string planned_text(const Evaluation& e) {
  std::string text = fmt::format("planned {}", short_text(*e.planned));
  if (!e.planned_on.empty()) text += " on " + e.planned_on;
  if (e.replays.empty()) return text;
  const ShownBound& bound = e.replays.front().bound;
  if (bound.kind == to_text(BoundKind::late_start)) // nothing is late in a plan
    text += ", if all start at once";
  else if (*e.planned < bound.time)
    text += e.planned_on.starts_with("fluid")
                ? ", without latencies, and so below the lower bound"
                : ", a simpler picture of the network, and so below the lower bound";
  return text;
}

std::string attempts_text(const Evaluation& e) {
  const AttemptSpread& attempts = *e.attempts;
  const bool is_hashed = e.routing.starts_with("ecmp-hash");
  return fmt::format("{} {}: best {}, median {}, worst {}", attempts.count,
                     is_hashed ? "seeds of the hash" : "attempts", short_text(attempts.best),
                     short_text(attempts.median), short_text(attempts.worst));
}

// "epoch 1.000 us" of epoch_seconds: facts are in SI units, which their names end in.
std::string fact_text(std::string_view name, double value) {
  const auto named = [name](std::size_t unit, const std::string& text) {
    std::string words(name.substr(0, name.size() - unit));
    std::ranges::replace(words, '_', ' ');
    return fmt::format("{} {}", words, text);
  };
  constexpr std::string_view seconds = "_seconds", rate = "_bytes_per_second", traffic = "_gb";
  constexpr double least = 1e-9; // less is what floating point has left of nothing
  if (name.ends_with(seconds) && value >= 0 && value < 1e6)
    return named(seconds.size(), short_text(time_of_seconds(value)));
  if (name.ends_with(rate)) return named(rate.size(), short_rate_text(value));
  if (name.ends_with(traffic)) return named(traffic.size(), fmt::format("{:.6g} GB", value));
  return named(0, fmt::format("{:.6g}", std::abs(value) < least ? 0.0 : value));
}

std::string note_text(const Evaluation& e) {
  if (!e.problem.empty()) return e.problem;
  std::string text = e.note;
  const auto add = [&text](const std::string& more) { text += text.empty() ? more : "; " + more; };
  if (e.planned) add(planned_text(e));
  if (e.attempts) add(attempts_text(e));
  for (const auto& [name, value] : e.facts) add(fact_text(name, value));
  return text;
}

// Which columns a table has beyond the fixed ones: those in which its rows differ, and the chunks
// per shard that were chosen.
struct Shape {
  bool sizes = false, chunks = false, routing = false, synthesis = false, note = false;
  bool best = false; ///< the best of each size is marked
  bool over_nccl = false, interval = false;
  std::vector<Discipline> disciplines;
  bool bottleneck = false; ///< it is a shared group somewhere, and not the hottest link
};

Shape shape_of(std::span<const Evaluation> rows) {
  Shape shape;
  const Replay* first = nullptr;
  std::set<std::uint32_t> shards_of_one_algorithm;
  for (const Evaluation& e : rows) {
    shape.sizes |= e.size != rows.front().size;
    shape.routing |= !e.routing.empty();
    shape.synthesis |= e.synthesis_seconds > 0;
    shape.note |= !note_text(e).empty();
    shape.chunks |= e.chose_chunks;
    if (e.algorithm == rows.front().algorithm) shards_of_one_algorithm.insert(e.chunks_per_shard);
    shape.over_nccl |= !e.replays.empty() && e.replays.front().over_nccl.has_value();
    shape.bottleneck |= e.bottleneck != e.hottest_link;
    shape.interval |= !e.replays.empty() && e.replays.front().interval.has_value();
    if (first != nullptr || e.replays.empty()) continue;
    first = &e.replays.front();
    for (const Replay& replay : e.replays)
      shape.disciplines.push_back(replay.report.model.discipline);
  }
  shape.chunks |= shards_of_one_algorithm.size() > 1;
  for (std::size_t i = 1; i < rows.size(); ++i)
    shape.best |= shape.sizes && rows[i].size == rows[i - 1].size;
  return shape;
}

struct TableRow {
  RunRow run;   ///< a case and its first replay
  bool is_best; ///< among those of its size
};

std::string time_name(Discipline discipline) { return fmt::format("time_{}", to_text(discipline)); }

/// What a table says otherwise than a record, then all of the record.
Fields<TableRow> table_fields(Fields<RunRow> of_record, std::span<const Discipline> disciplines) {
  using namespace column_words;
  using R = TableRow;
  Fields<R> fields{
      {{"best", text}, [](const R& r) { return r.is_best ? "*" : ""; }},
      {{"chunks/shard", numeral},
       [](const R& r) { return chunks_text(r.run.e->chunks_per_shard, r.run.e->chose_chunks); }},
      {{"status", text}, [](const R& r) { return outcome_text(*r.run.e); }},
      {{"note", text, note}, [](const R& r) { return note_text(*r.run.e); }}};
  for (std::size_t d = 0; d < disciplines.size(); ++d)
    fields.push_back({{time_name(disciplines[d]) + "_ps", time}, [d](const R& r) {
                        const std::vector<Replay>& replays = r.run.e->replays;
                        return d < replays.size() ? Cell(replays[d].report.completion) : Cell();
                      }});
  extend(fields, fields_through<R>(std::move(of_record), [](const R& r) { return &r.run; }));
  return fields;
}

std::vector<ShownColumn> shown_columns(const Shape& shape) {
  std::vector<ShownColumn> shown;
  if (shape.sizes) shown.push_back({"size"});
  if (shape.best) shown.push_back({"best"});
  shown.push_back({"algorithm"});
  if (shape.chunks) shown.push_back({"chunks/shard", 3});
  shown.push_back({"status", 1});
  for (const Discipline discipline : shape.disciplines)
    shown.push_back({time_name(discipline), 0, "time"});
  if (shape.interval) {
    shown.push_back({"time_low", 3});
    shown.push_back({"time_high", 3});
  }
  for (const ShownColumn& column : std::initializer_list<ShownColumn>{{"algbw", 2},
                                                                      {"busbw", 4},
                                                                      {"over_nccl"},
                                                                      {"gap"},
                                                                      {"gap_at_chunks", 5},
                                                                      {"max_link_utilisation", 6},
                                                                      {"mean_link_utilisation", 8},
                                                                      {"hottest_link", 7}})
    if (column.name != "over_nccl" || shape.over_nccl) shown.push_back(column);
  if (shape.bottleneck) shown.push_back({"bottleneck", 6});
  if (shape.routing) shown.push_back({"routing", 9});
  if (shape.synthesis) shown.push_back({"synthesis", 4});
  if (shape.note) shown.push_back({"note", 1});
  return shown;
}

constexpr std::array noise_columns{"size", "algorithm", "discipline", "skew"}; // where they differ

std::vector<ShownColumn> shown_noise_columns(const Records& records) {
  std::vector<ShownColumn> shown;
  for (const char* name : noise_columns)
    for (std::size_t c = 0; c < records.columns.size(); ++c) {
      if (name_without_unit(records.columns[c]) != name) continue;
      const Quantity quantity = records.columns[c].quantity;
      const auto differs = [&](const std::vector<Cell>& row) {
        return exact_text(row[c], quantity) != exact_text(records.rows.front()[c], quantity);
      };
      if (name == std::string_view("algorithm") || records.rows.empty() ||
          std::ranges::any_of(records.rows, differs))
        shown.push_back({name});
    }
  for (ShownColumn& column : shown_noise(true)) shown.push_back(std::move(column));
  return shown;
}

/// What draws of start times and links came to; empty where there are none. By size, then by skew
/// as they were asked for, then by the median.
std::string noise_table(std::span<const Evaluation> evaluations, const TableForm& form) {
  struct Row {
    RunRow run;
    std::size_t skew;
  };
  std::vector<Row> rows;
  for (const Evaluation& e : evaluations)
    for (const Replay& replay : e.replays)
      for (std::size_t s = 0; s < replay.noises.size(); ++s)
        rows.push_back({{&e, &replay, &replay.noises[s]}, s});
  if (rows.empty()) return "";
  constexpr double median = 0.5;
  std::ranges::stable_sort(rows, {}, [&](const Row& row) {
    return std::tuple{row.run.e->size, row.run.replay->report.model.discipline, row.skew,
                      row.run.noise->time_at(median)};
  });
  std::vector<RunRow> shown;
  for (const Row& row : rows) shown.push_back(row.run);
  const Records records =
      records_of<RunRow>(run_fields(evaluations, optional_columns(evaluations)), shown);
  const std::string table =
      to_text(records_table(records, shown_noise_columns(records), form), form);
  if (table.empty()) return "";
  std::vector<const NoiseOutcome*> outcomes;
  for (const RunRow& row : shown) outcomes.push_back(row.noise);
  return wrapped(noise_heading(outcomes) + "\n", form) + table;
}

std::string run_heading(const Evaluation& e, const Shape& shape) {
  std::string text = e.run.empty() ? "" : e.run + ": ";
  text += fmt::format(
      "{}, {} ({} NPUs)", e.topology,
      shape.sizes ? e.collective : fmt::format("{} {}", e.collective, to_text(e.size)), e.npus);
  if (e.replays.empty()) return text + "\n";
  const Report& report = e.replays.front().report;
  text += "\n" + simulation_text(report.engine, report.model) + "\n";
  if (!e.replays.front().transport.empty())
    text +=
        fmt::format("transport {}\n",
                    e.replays.front().transport.substr(0, e.replays.front().transport.find(',')));
  for (const Replay& replay : e.replays)
    if (!replay.report.network_parameters.empty())
      text += fmt::format("{}: {}\n", discipline_text(replay.report.model),
                          replay.report.network_parameters);
  return text;
}

/// How far two engines agree, where that was asked for: of the row in which they are farthest
/// apart.
std::string agreement_text(std::span<const Evaluation> rows) {
  const EngineAgreement* worst = nullptr;
  for (const Evaluation& e : rows)
    for (const Replay& replay : e.replays)
      if (const auto& agreement = replay.report.agreement;
          agreement && (worst == nullptr || std::pair(!agreement->holds, agreement->largest.ps) >
                                                std::pair(!worst->holds, worst->largest.ps)))
        worst = &*agreement;
  return worst == nullptr ? "" : to_text(*worst) + "\n";
}

// The line that most readers want: what won, by how much it misses the bound, and why nothing could
// be faster.
std::string best_text(const Evaluation& e) {
  const Replay& replay = e.replays.front();
  std::string text = fmt::format("best: {}{}, {}, {} the lower bound {} ({})", e.algorithm,
                                 e.is_complete() ? "" : fmt::format(" ({})", to_text(e.status)),
                                 short_text(replay.report.completion), gap_text(replay.gap()),
                                 short_text(replay.bound.time), replay.bound.certificate);
  if (replay.interval)
    text += fmt::format("; 90 % of what is measured is expected from {} to {}",
                        short_text(replay.interval->low), short_text(replay.interval->high));
  if (replay.over_nccl && e.algorithm != "nccl" && e.algorithm != "rccl")
    text += fmt::format("; {} over NCCL", ratio_text(*replay.over_nccl));
  else if (e.note.find("no runtime takes it") != std::string::npos)
    text += "; no runtime takes it, so not over NCCL";
  if (replay.bound_at_chunks.time > replay.bound.time)
    text +=
        fmt::format("; {} the bound at these chunks, {} ({})", gap_text(replay.gap_at_chunks()),
                    short_text(replay.bound_at_chunks.time), replay.bound_at_chunks.certificate);
  return text + "\n";
}

/// Whether a row is the first of its size, and has a complete schedule. Pre: rows are sorted.
bool is_best(std::span<const Evaluation> rows, std::size_t i) {
  return rows[i].is_complete() && (i == 0 || rows[i - 1].size != rows[i].size);
}

std::string table_text(std::vector<Evaluation> rows, const TableForm& form) {
  // Complete rows first, then what a limit cut short, defects, and rows without a time.
  const auto key = [](const Evaluation& e) {
    const int rank = e.is_complete() ? 0 : e.replays.empty() ? 3 : e.problem.empty() ? 1 : 2;
    return std::pair{rank, e.replays.empty() ? Time{} : e.replays.front().report.completion};
  };
  std::stable_sort(rows.begin(), rows.end(), [&key](const Evaluation& a, const Evaluation& b) {
    return a.size != b.size ? a.size < b.size : key(a) < key(b);
  });
  Shape shape = shape_of(rows);
  OptionalRunColumns optional = optional_columns(rows);
  optional.noise = false;                                          // has a table of its own
  if (!form.columns.empty()) shape.interval |= optional.transport; // empty where nothing is fitted
  std::vector<TableRow> table_rows;
  for (std::size_t i = 0; i < rows.size(); ++i)
    table_rows.push_back({{&rows[i], rows[i].replays.empty() ? nullptr : &rows[i].replays.front()},
                          is_best(rows, i)});
  const Records records =
      records_of<TableRow>(table_fields(run_fields(rows, optional), shape.disciplines), table_rows);
  const std::string table = to_text(records_table(records, shown_columns(shape), form), form);
  if (table.empty()) return noise_table(rows, form); // nothing in it is asked for
  std::string text = wrapped(run_heading(rows.front(), shape), form) + table;
  const Evaluation& first = rows.front();
  if (!shape.sizes && rows.size() > 1 && !first.replays.empty() && first.problem.empty())
    text += wrapped(best_text(first), form);
  text += wrapped(agreement_text(rows), form);
  return text + noise_table(rows, form);
}

} // namespace

std::vector<std::string> run_table_columns(const std::vector<Discipline>& disciplines,
                                           const OptionalRunColumns& optional) {
  const Shape all{true,        true, true, true, true, true, optional.over_nccl, optional.transport,
                  disciplines, true};
  const Fields<TableRow> fields =
      table_fields(run_fields({}, {optional.transport, optional.over_nccl, false}), disciplines);
  std::vector<std::string> names =
      column_names(records_of<TableRow>(fields, {}).columns, shown_columns(all));
  names.emplace_back("fact:*");
  if (!optional.noise) return names;
  const Records drawn{columns_of<RunStudy>(), {}};
  for (std::string& name : column_names(drawn.columns, shown_noise_columns(drawn)))
    names.push_back(std::move(name));
  return names;
}

std::string simulation_text(const std::string& engines, const TimeModel& model) {
  return fmt::format("engine {}, links busy for {}, forwarding {}", engines,
                     to_text(model.link_busy), to_text(model.forwarding));
}

std::string chunks_text(std::uint32_t chunks_per_shard, bool chosen) {
  return fmt::format("{}{}", chosen ? "auto: " : "", chunks_per_shard);
}

std::string ratio_text(double ratio) { return fmt::format("{:.3f}x", ratio); }

std::string gap_text(double gap) { return std::isfinite(gap) ? ratio_text(gap) : "-"; }

std::string report_text(std::span<const Evaluation> evaluations, const TableForm& form) {
  std::string text;
  for (std::size_t begin = 0; begin < evaluations.size();) {
    std::size_t end = begin + 1;
    while (end < evaluations.size() && same_table(evaluations[begin], evaluations[end])) ++end;
    const std::string table = table_text({evaluations.begin() + static_cast<std::ptrdiff_t>(begin),
                                          evaluations.begin() + static_cast<std::ptrdiff_t>(end)},
                                         form);
    text += (text.empty() || table.empty() ? "" : "\n") + table;
    begin = end;
  }
  return text;
}

} // namespace tutti
