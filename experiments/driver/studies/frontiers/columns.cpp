// Two kinds of row: a frontier's points at each size, and the algorithms of the paper that it
// belongs to with what became of them.
#include "experiments/driver/studies/frontiers/columns.hpp"

#include "experiments/driver/studies/runs/records.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tutti {

namespace {

struct PointRow {
  const FrontierEvaluation* e;
  std::size_t p; ///< index of the point
  const SizedPoint* sized;

  [[nodiscard]] const FrontierPoint& point() const { return e->frontier.points[p]; }
  [[nodiscard]] const PointEvaluation& evaluation() const { return e->points[p]; }
};

/// Whether the point is best at its size.
bool is_best(const PointRow& row) {
  std::optional<std::size_t> best;
  for (const BestFrom& from : row.e->best)
    if (from.size <= row.sized->size) best = from.which;
  return best == row.p;
}

Fields<PointRow> point_fields() {
  using enum Quantity;
  using enum ColumnRole;
  using R = PointRow;
  return {
      {{"label", text, key}, [](const R& r) { return r.e->label; }},
      {{"topology", text, key}, [](const R& r) { return r.e->topology; }},
      {{"npus", count, key}, [](const R& r) { return r.e->npus; }},
      {{"collective", text, key}, [](const R& r) { return r.e->collective; }},
      {{"chunks", count, key}, [](const R& r) { return r.point().chunks; }},
      {{"steps", count, key}, [](const R& r) { return r.point().steps; }},
      {{"rounds", count, key}, [](const R& r) { return r.point().rounds; }},
      {{"rounds_per_chunk", text, metric}, [](const R& r) { return to_text(r.point().cost()); }},
      {{"chunks_per_shard", count, metric}, [](const R& r) { return r.point().chunks_per_shard; }},
      {{"proof", text, metric}, [](const R& r) { return to_text(r.point().proof); }},
      {{"optimal_in", text, metric},
       [](const R& r) {
         return to_text(Optimality{r.point().latency_optimal, r.point().bandwidth_optimal});
       }},
      {{"method", text, note}, [](const R& r) { return r.point().method; }},
      {{"transfers", count, metric}, [](const R& r) { return r.evaluation().transfers; }},
      {{"verified", truth, note}, [](const R& r) { return r.evaluation().verified; }},
      {{"size_bytes", bytes, key}, [](const R& r) { return r.sized->size; }},
      {{"model_time_ps", time, metric}, [](const R& r) { return r.sized->model; }}};
}

/// What differs from point to point of one frontier.
Fields<Replay> sized_replay_fields() {
  using enum Quantity;
  using enum ColumnRole;
  Fields<Replay> fields = replay_fields();
  std::erase_if(fields, [](const Field<Replay>& field) {
    return field.column.name == "discipline" || field.column.name.ends_with("_utilisation");
  });
  return fields;
}

struct PaperRow {
  const FrontierStudyEvaluation* study;
  const InstanceEvaluation* instance;
};

Fields<PaperRow> paper_fields() {
  using enum Quantity;
  using enum ColumnRole;
  using R = PaperRow;
  return {
      {{"label", text, key}, [](const R& r) { return r.study->frontier.label; }},
      {{"topology", text, key}, [](const R& r) { return r.study->frontier.topology; }},
      {{"collective", text, key}, [](const R& r) { return r.study->frontier.collective; }},
      {{"chunks", count, key}, [](const R& r) { return r.instance->paper.chunks; }},
      {{"steps", count, key}, [](const R& r) { return r.instance->paper.steps; }},
      {{"rounds", count, key}, [](const R& r) { return r.instance->paper.rounds; }},
      {{"rounds_per_chunk", text, metric},
       [](const R& r) { return to_text(r.instance->paper.cost()); }},
      {{"paper_optimal_in", text, metric},
       [](const R& r) { return to_text(r.instance->paper.claimed); }},
      {{"proven_optimal_in", text, metric}, [](const R& r) { return to_text(r.instance->proven); }},
      {{"answer", text, metric}, [](const R& r) { return r.instance->answer; }},
      {{"verified", truth, note}, [](const R& r) { return r.instance->verified; }},
      {{"method", text, note}, [](const R& r) { return r.instance->method; }},
      {{"better", text, metric},
       [](const R& r) {
         const std::vector<FrontierPoint>& points = r.study->frontier.frontier.points;
         return r.instance->better ? Cell(instance_text(points[*r.instance->better])) : Cell();
       }},
      {{"verdict", text, metric}, [](const R& r) { return to_text(r.instance->agreement); }},
      {{"explanation", text, note}, [](const R& r) { return r.instance->paper.explanation; }},
      {{"paper_seconds", number, metric},
       [](const R& r) { return Cell(r.instance->paper.seconds); }},
      {{"synthesis_seconds", effort, cost}, [](const R& r) { return r.instance->seconds; }}};
}

} // namespace

Records frontier_records(std::span<const FrontierStudyEvaluation> studies) {
  using enum Quantity;
  using enum ColumnRole;
  Fields<PointRow> fields = point_fields();
  extend(fields, fields_through<PointRow>(sized_replay_fields(),
                                          [](const PointRow& r) { return &r.sized->replay; }));
  fields.push_back({{"best", truth, note}, is_best});
  fields.push_back(
      {{"synthesis_seconds", effort, cost}, [](const PointRow& r) { return r.point().seconds; }});
  std::vector<PointRow> rows;
  for (const FrontierStudyEvaluation& study : studies)
    for (std::size_t p = 0; p < study.frontier.points.size(); ++p)
      for (const SizedPoint& sized : study.frontier.points[p].at)
        rows.push_back({&study.frontier, p, &sized});
  return records_of<PointRow>(fields, rows);
}

Records paper_records(std::span<const FrontierStudyEvaluation> studies) {
  std::vector<PaperRow> rows;
  for (const FrontierStudyEvaluation& study : studies)
    for (const InstanceEvaluation& instance : study.instances) rows.push_back({&study, &instance});
  return records_of<PaperRow>(paper_fields(), rows);
}

} // namespace tutti
