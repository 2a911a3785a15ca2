// Two views of the same rows. The terminal's table shows the columns in which its rows differ and
// is sorted for a reader (complete results first, the fastest on top); the CSV has every column,
// always in one order, measured values last, so that files of two runs can be compared.
#include "experiments/driver/studies/runs/table.hpp"

#include "experiments/driver/records/percentage.hpp"
#include "experiments/driver/records/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace tutti {

namespace {

using Row = std::vector<std::string>;

bool same_table(const Evaluation& a, const Evaluation& b) {
  return a.run == b.run && a.topology == b.topology && a.collective == b.collective;
}

std::string outcome_text(const Evaluation& e) {
  return e.problem.empty() ? std::string(to_text(e.status)) : "DEFECT";
}

// A picture of the network may leave out latencies: no schedule is as fast as what it promises.
std::string planned_text(const Evaluation& e) {
  std::string text = fmt::format("planned {}", short_text(*e.planned));
  if (!e.planned_on.empty()) text += " on " + e.planned_on;
  if (!e.replays.empty() && *e.planned < e.replays.front().bound.time)
    text += "; faster than the lower bound, as that picture leaves something out";
  return text;
}

// Has a correct schedule that nothing cut short.
bool is_complete(const Evaluation& e) {
  return !e.replays.empty() && e.problem.empty() &&
         (e.status == Status::optimal || e.status == Status::feasible);
}

std::string attempts_text(const AttemptSpread& attempts) {
  return fmt::format("{} attempts: best {}, median {}, worst {}", attempts.count,
                     short_text(attempts.best), short_text(attempts.median),
                     short_text(attempts.worst));
}

std::string note_text(const Evaluation& e) {
  if (!e.problem.empty()) return e.problem;
  std::string text = e.note;
  const auto add = [&text](const std::string& more) { text += text.empty() ? more : "; " + more; };
  if (e.planned) add(planned_text(e));
  if (e.attempts) add(attempts_text(*e.attempts));
  for (const auto& [name, value] : e.facts) add(fmt::format("{} {:.6g}", name, value));
  return text;
}

// Which columns a table has beyond the fixed ones: those in which its rows differ, and the chunks
// per shard that were chosen.
struct Shape {
  bool sizes = false, chunks = false, routing = false, synthesis = false, note = false;
  bool best = false; ///< of each size is marked
  std::vector<Discipline> disciplines;
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

std::vector<Column> columns_of(const Shape& shape) {
  std::vector<Column> columns;
  if (shape.sizes) columns.push_back({"size", Align::right});
  if (shape.best) columns.push_back({"best"});
  columns.push_back({"algorithm"});
  if (shape.chunks) columns.push_back({"chunks/shard", Align::right, 3});
  columns.push_back({"status", Align::left, 1});
  for (const Discipline discipline : shape.disciplines)
    columns.push_back({fmt::format("time {}", to_text(discipline)), Align::right});
  columns.push_back({"algbw", Align::right, 2});
  columns.push_back({"busbw", Align::right, 4});
  columns.push_back({"gap", Align::right});
  columns.push_back({"at chunks", Align::right, 5});
  columns.push_back({"max link", Align::right, 6});
  columns.push_back({"mean link", Align::right, 8});
  columns.push_back({"hottest link", Align::left, 7});
  if (shape.routing) columns.push_back({"routing", Align::left, 9});
  if (shape.synthesis) columns.push_back({"synthesis", Align::right, 4});
  if (shape.note) columns.push_back({"note", Align::left, 1, true});
  return columns;
}

/// `is_best`: of those of its size.
Row row_of(const Evaluation& e, const Shape& shape, bool is_best) {
  Row row;
  if (shape.sizes) row.push_back(to_text(e.size));
  if (shape.best) row.push_back(is_best ? "*" : "");
  row.push_back(e.algorithm);
  if (shape.chunks) row.push_back(chunks_text(e.chunks_per_shard, e.chose_chunks));
  row.push_back(outcome_text(e));
  for (std::size_t i = 0; i < shape.disciplines.size(); ++i)
    row.push_back(i < e.replays.size() ? short_text(e.replays[i].report.completion) : "-");
  if (e.replays.empty()) {
    row.insert(row.end(), 6, "-");
  } else {
    const Replay& first = e.replays.front();
    row.push_back(short_rate_text(first.algbw));
    row.push_back(short_rate_text(first.busbw));
    row.push_back(gap_text(first.gap()));
    row.push_back(gap_text(first.gap_at_chunks()));
    row.push_back(percent_text(first.max_utilisation()));
    row.push_back(percent_text(first.mean_utilisation()));
  }
  row.push_back(e.hottest_link.empty() ? "-" : e.hottest_link);
  if (shape.routing) row.push_back(e.routing.empty() ? "-" : e.routing);
  if (shape.synthesis) row.push_back(fmt::format("{:.3f} s", e.synthesis_seconds));
  if (shape.note) row.push_back(note_text(e));
  return row;
}

std::string heading(const Evaluation& e, const Shape& shape) {
  std::string text = e.run.empty() ? "" : e.run + ": ";
  text += fmt::format(
      "{}, {} ({} NPUs)", e.topology,
      shape.sizes ? e.collective : fmt::format("{} {}", e.collective, to_text(e.size)), e.npus);
  if (e.replays.empty()) return text + "\n";
  const Report& report = e.replays.front().report;
  return text + fmt::format("\nengine {}, links busy for {}, forwarding {}\n", report.engine,
                            to_text(report.model.link_busy), to_text(report.model.forwarding));
}

// The line that most readers want: what won, by how much it misses the bound, and why nothing could
// be faster.
std::string best_text(const Evaluation& e) {
  const Replay& replay = e.replays.front();
  std::string text = fmt::format("best: {}{}, {}, {} the lower bound {} ({})", e.algorithm,
                                 is_complete(e) ? "" : fmt::format(" ({})", to_text(e.status)),
                                 short_text(replay.report.completion), gap_text(replay.gap()),
                                 short_text(replay.bound.time), replay.bound.certificate);
  if (replay.bound_at_chunks.time > replay.bound.time)
    text +=
        fmt::format("; {} the bound at these chunks, {} ({})", gap_text(replay.gap_at_chunks()),
                    short_text(replay.bound_at_chunks.time), replay.bound_at_chunks.certificate);
  return text + "\n";
}

/// Whether a row is the first of its size, and has a complete schedule. Pre: rows are sorted.
bool is_best(std::span<const Evaluation> rows, std::size_t i) {
  return is_complete(rows[i]) && (i == 0 || rows[i - 1].size != rows[i].size);
}

std::string table_text(std::vector<Evaluation> rows, const TableForm& form) {
  // Complete rows first, then what a limit cut short, defects, and rows without a time.
  const auto key = [](const Evaluation& e) {
    const int rank = is_complete(e) ? 0 : e.replays.empty() ? 3 : e.problem.empty() ? 1 : 2;
    return std::pair{rank, e.replays.empty() ? Time{} : e.replays.front().report.completion};
  };
  std::stable_sort(rows.begin(), rows.end(), [&key](const Evaluation& a, const Evaluation& b) {
    return a.size != b.size ? a.size < b.size : key(a) < key(b);
  });
  const Shape shape = shape_of(rows);
  Table table{columns_of(shape), {}};
  for (std::size_t i = 0; i < rows.size(); ++i)
    table.rows.push_back(row_of(rows[i], shape, is_best(rows, i)));
  know_columns(form, {"size", "best", "chunks/shard", "routing", "synthesis", "note"});
  std::string text = wrapped(heading(rows.front(), shape), form) + to_text(table, form);
  const Evaluation& first = rows.front();
  if (!shape.sizes && rows.size() > 1 && !first.replays.empty() && first.problem.empty())
    text += wrapped(best_text(first), form);
  return text;
}

} // namespace

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
    if (begin > 0) text += "\n";
    text += table_text({evaluations.begin() + static_cast<std::ptrdiff_t>(begin),
                        evaluations.begin() + static_cast<std::ptrdiff_t>(end)},
                       form);
    begin = end;
  }
  return text;
}

} // namespace tutti
