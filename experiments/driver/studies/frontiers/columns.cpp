// A frontier is read as the paper's tables are: chunks, steps and rounds, what is proven of each
// point, and then what we add: model times beside replayed ones, what is best at which size, and
// the rows of the paper with our verdicts. A record is a point at one size, a row of the table for
// people all of a point. In JSON fractions are written twice, exactly as a text ("7/6") and as a
// number for plots.
#include "experiments/driver/studies/frontiers/columns.hpp"

#include "experiments/driver/records/json.hpp"
#include "experiments/driver/studies/runs/json.hpp"
#include "experiments/driver/studies/runs/records.hpp"
#include "experiments/driver/studies/runs/table.hpp"
#include "experiments/driver/studies/shared_columns.hpp"
#include "sim/engines/agreement.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace tutti {

namespace {

/// A point at a size.
struct PointRow {
  const FrontierEvaluation* e;
  std::size_t p;           ///< index of the point
  const SizedPoint* sized; ///< null: it can't be cut so finely

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
  using namespace column_words;
  using R = PointRow;
  Fields<R> fields{
      {shared("label"), [](const R& r) { return r.e->label; }},
      {shared("topology"), [](const R& r) { return r.e->topology; }},
      {shared("npus"), [](const R& r) { return r.e->npus; }},
      {shared("collective"), [](const R& r) { return r.e->collective; }},
      {shared("chunks", "C of SCCL: number of chunks that it cuts one NPU's buffer into: K n for "
                        "All-to-All and All-Reduce (n: members of the process group), else K")
           .shown(0, "C"),
       [](const R& r) { return r.point().chunks; }},
      {{"steps", count, key, sometimes, "S of SCCL: number of synchronous steps", 0, "S"},
       [](const R& r) { return r.point().steps; }},
      {shared("rounds"), [](const R& r) { return r.point().rounds; }},
      {shared("rounds_per_chunk"), [](const R& r) { return to_text(r.point().cost()); }},
      {shared("chunks_per_shard", "K: number of chunks that a shard is cut into"),
       [](const R& r) { return r.point().chunks_per_shard; }},
      {{"proof", text, metric, always,
        "Why no schedule of as many steps has fewer rounds per chunk. `LP-tight`: it meets the "
        "bound of a linear program, which holds for any chunks and rounds. `UNSAT-proven`: a SAT "
        "solver has refuted every better instance of up to S + k rounds. `best found`: better ones "
        "are undecided within the limits"},
       [](const R& r) { return to_text(r.point().proof); }},
      {{"optimal_in", text, metric, always,
        "`latency`: proven that no schedule has fewer steps. `bandwidth`: proven that none has "
        "fewer rounds per chunk. `both`; `-`: neither is proven"},
       [](const R& r) {
         return to_text(Optimality{r.point().latency_optimal, r.point().bandwidth_optimal});
       }},
      {shared("method"), [](const R& r) { return r.point().method; }},
      {shared("transfers"), [](const R& r) { return r.evaluation().transfers; }},
      {shared("verified"), [](const R& r) { return r.evaluation().verified; }},
      {shared("size_bytes"), [](const R& r) { return r.sized->size; }},
      {{"model_time_ps", time, metric, always,
        "SCCL's cost model: `steps * step_latency_ps + rounds * r`, where r is the time of the "
        "largest chunk at the rate of a round; both constants stand in `studies` of the JSON"},
       [](const R& r) { return r.sized->model; }}};
  Fields<Replay> of_replay = replay_fields(); // what differs from point to point of one frontier
  std::erase_if(of_replay, [](const Field<Replay>& field) {
    return field.column.name == "discipline" || field.column.name.ends_with("_utilisation");
  });
  extend(fields, fields_through<R>(of_replay, [](const R& r) {
           return r.sized == nullptr ? nullptr : &r.sized->replay;
         }));
  extend(fields,
         {{{"best", truth, note, always,
            "Whether the point has the least time on the native engine at this size; of equal ones "
            "the one with the fewest steps"},
           is_best},
          {shared("synthesis_seconds", "CPU time of this instance: to encode, solve and check it")
               .shown(0, "CPU"),
           [](const R& r) { return r.point().seconds; }}});
  return fields;
}

struct PaperRow {
  const FrontierStudyEvaluation* study;
  const InstanceEvaluation* instance;
};

Fields<PaperRow> paper_fields() {
  using namespace column_words;
  using R = PaperRow;
  return {
      {shared("label"), [](const R& r) { return r.study->frontier.label; }},
      {shared("topology"), [](const R& r) { return r.study->frontier.topology; }},
      {shared("collective"), [](const R& r) { return r.study->frontier.collective; }},
      {shared("chunks", "C of the paper"), [](const R& r) { return r.instance->paper.chunks; }},
      {{"steps", count, key, sometimes, "S of the paper"},
       [](const R& r) { return r.instance->paper.steps; }},
      {shared("rounds", "R of the paper"), [](const R& r) { return r.instance->paper.rounds; }},
      {shared("rounds_per_chunk"), [](const R& r) { return to_text(r.instance->paper.cost()); }},
      {{"paper_optimal_in", text, metric, always,
        "What the paper claims that it is optimal in: `latency`, `bandwidth`, `both` or `-`", 0,
        "claims"},
       [](const R& r) { return to_text(r.instance->paper.claimed); }},
      {{"proven_optimal_in", text, metric, always,
        "What of this is proven here: `latency`, `bandwidth`, `both` or `-`", 0, "proven"},
       [](const R& r) { return to_text(r.instance->proven); }},
      {{"answer", text, metric, always,
        "Whether there is such a schedule: `sat`, `unsat`, or `timed_out` where that is undecided",
        0, "ours"},
       [](const R& r) { return r.instance->answer; }},
      {shared("verified"), [](const R& r) { return r.instance->verified; }},
      {shared(
           "method",
           "What found the schedule, or decided that there is none; null where nothing was tried"),
       [](const R& r) { return r.instance->method; }},
      {{"better", text, metric, sometimes,
        "Point of the frontier that beats it, as `(C,S,R)`: fewer steps at no more rounds per "
        "chunk, or fewer rounds per chunk in no more steps; null where none does"},
       [](const R& r) {
         const std::vector<FrontierPoint>& points = r.study->frontier.frontier.points;
         return r.instance->better ? Cell(instance_text(points[*r.instance->better])) : Cell();
       }},
      {{"verdict", text, metric, always,
        "`match`: there is a schedule, and what the paper claims is proven; `differs`: ours "
        "falls short as `ours` says; `unexpected`: otherwise"},
       [](const R& r) { return to_text(r.instance->agreement); }},
      {{"explanation", text, note, sometimes, "A text of the experiment; null where there is none"},
       [](const R& r) { return r.instance->paper.explanation; }},
      {{"paper_seconds", number, metric, sometimes, "Time of synthesis that the paper states [s]"},
       [](const R& r) { return Cell(r.instance->paper.seconds); }},
      {shared("synthesis_seconds", "CPU time of this instance here").shown(0, "CPU"),
       [](const R& r) { return r.instance->seconds; }}};
}

} // namespace

Records frontier_records(const FrontierStudyEvaluation& study) {
  std::vector<PointRow> rows;
  for (std::size_t p = 0; p < study.frontier.points.size(); ++p)
    for (const SizedPoint& sized : study.frontier.points[p].at)
      rows.push_back({&study.frontier, p, &sized});
  return records_of<PointRow>(point_fields(), rows);
}

namespace {

std::vector<PaperRow> paper_rows(const FrontierStudyEvaluation& study) {
  std::vector<PaperRow> rows;
  for (const InstanceEvaluation& instance : study.instances) rows.push_back({&study, &instance});
  return rows;
}

} // namespace

Records paper_records(const FrontierStudyEvaluation& study) {
  return records_of<PaperRow>(paper_fields(), paper_rows(study));
}

namespace {

/// Those that a table shows, in its order, with its titles. The first of several of one name
/// counts. Whoever chooses columns gets every table that has one.
template <typename Row>
Fields<Row> shown_fields(const Fields<Row>& fields, std::span<const ShownColumn> shown) {
  Fields<Row> chosen;
  for (const ShownColumn& each : shown) {
    chosen.push_back(*std::ranges::find(fields, each.name, [](const Field<Row>& field) {
      return name_without_unit(field.column);
    }));
    RecordColumn& column = chosen.back().column;
    column.spare = each.spare;
    if (column.role == ColumnRole::key) column.role = ColumnRole::metric;
  }
  return chosen;
}

/// R/C as a fraction and, where it isn't whole, as a number: "7/6 = 1.167".
std::string cost_text(const Ratio& cost) {
  if (cost.denominator() == 1) return to_text(cost);
  return fmt::format("{} = {:.3f}", to_text(cost), cost.value());
}

// Where the bound of the steps isn't met, it says how far off a better point could be.
std::string proof_text(const FrontierPoint& point) {
  const std::string text(to_text(point.proof));
  return point.proof == PointProof::lp_tight ? text : text + ", R/C >= " + to_text(point.least);
}

std::string range_text(std::span<const Bytes> sizes) {
  const std::string first = to_text(sizes.front());
  return sizes.size() == 1 ? first : first + ".." + to_text(sizes.back());
}

const SizedPoint* at_size(const PointEvaluation& point, Bytes size) {
  for (const SizedPoint& sized : point.at)
    if (sized.size == size) return &sized;
  return nullptr;
}

// The smallest and the largest size, or the only one.
std::vector<Bytes> shown_sizes(const std::vector<Bytes>& sizes) {
  if (sizes.size() == 1) return sizes;
  return {sizes.front(), sizes.back()};
}

std::string frontier_heading(const FrontierEvaluation& e) {
  std::string text = e.label.empty() ? "" : e.label + ": ";
  text +=
      fmt::format("{}, {} {} ({} NPUs)\n", e.topology, e.collective, range_text(e.sizes), e.npus);
  text += simulation_text(joined(e.engines, " and "), e.model);
  if (e.frontier.round.bytes_per_second > 0)
    text += fmt::format("; a step {}, a round one chunk at {}", to_text(e.frontier.step_latency),
                        to_text(e.frontier.round));
  return text + "\n";
}

/// What a table of points, at their largest size, says otherwise than a record; then all of the
/// record. Pre: one size or more.
Fields<PointRow> table_point_fields(std::span<const Bytes> sizes) {
  using namespace column_words;
  using R = PointRow;
  Fields<R> fields{{{"rounds_per_chunk", numeral, metric, 0, "R/C"},
                    [](const R& r) { return cost_text(r.point().cost()); }},
                   {{"proof", text, note}, [](const R& r) { return proof_text(r.point()); }}};
  std::vector<ShownColumn> shown{{"chunks"},           {"steps"},    {"rounds"},
                                 {"rounds_per_chunk"}, {"proof", 2}, {"optimal_in", 3}};
  for (const Bytes size : sizes) {
    const std::string model = "model " + to_text(size), replayed = "time " + to_text(size);
    fields.push_back({{model, time}, [size](const R& r) {
                        const SizedPoint* at = at_size(r.evaluation(), size);
                        return at == nullptr ? Cell() : Cell(at->model);
                      }});
    fields.push_back({{replayed, time}, [size](const R& r) {
                        const SizedPoint* at = at_size(r.evaluation(), size);
                        return at == nullptr ? Cell() : Cell(at->replay.report.completion);
                      }});
    shown.push_back({model, 4});
    shown.push_back({replayed});
  }
  for (const ShownColumn& each :
       {ShownColumn{"algbw", 1}, {"gap"}, {"gap_at_chunks", 5}, {"method", 6}, {"synthesis", 7}})
    shown.push_back(each);
  extend(fields, point_fields());
  return shown_fields(fields, shown);
}

Table point_table(const FrontierEvaluation& e) {
  std::vector<PointRow> rows;
  for (std::size_t p = 0; p < e.points.size(); ++p)
    rows.push_back({&e, p, at_size(e.points[p], e.sizes.back())});
  return whole_table(records_of<PointRow>(table_point_fields(shown_sizes(e.sizes)), rows));
}

std::string best_text(const FrontierEvaluation& e) {
  if (e.best.empty()) return "";
  std::string text = "best by time:";
  for (std::size_t i = 0; i < e.best.size(); ++i)
    text +=
        fmt::format("{} {} from {}", i == 0 ? "" : ",",
                    instance_text(e.frontier.points[e.best[i].which]), short_text(e.best[i].size));
  return text + "\n";
}

// What the search asked, and what all of it took.
std::string effort_text(const FrontierEvaluation& e) {
  const std::vector<FrontierTrial>& trials = e.frontier.trials;
  const auto count = [&trials](std::string_view answer) {
    return std::count_if(trials.begin(), trials.end(),
                         [answer](const FrontierTrial& trial) { return trial.answer == answer; });
  };
  return fmt::format("instances: {} sat, {} unsat, {} undecided; CPU: synthesis {}, verification "
                     "{}, replays {}\n",
                     count("sat"), count("unsat"), count("timed_out"),
                     seconds_text(e.synthesis_seconds), seconds_text(e.verify_seconds),
                     seconds_text(e.replay_seconds));
}

std::string end_text(const FrontierEvaluation& e) {
  const Frontier& frontier = e.frontier;
  std::string text;
  if (frontier.bandwidth_bound > Ratio(0))
    text +=
        fmt::format("nothing beats {} rounds per chunk{}\n", cost_text(frontier.bandwidth_bound),
                    frontier.in_class.empty() ? "" : " in this class");
  if (!frontier.in_class.empty()) text += fmt::format("optimal: {}\n", frontier.in_class);
  text += fmt::format("{}: {}\n",
                      frontier.timed_out  ? "timed out, points may be missing"
                      : frontier.complete ? "complete"
                                          : "ends here",
                      frontier.stop);
  return text;
}

/// Remark on the first replay in which an order depends on rounding; empty where none does.
std::string remark_text(const FrontierEvaluation& e) {
  for (std::size_t p = 0; p < e.points.size(); ++p)
    for (const SizedPoint& sized : e.points[p].at)
      if (sized.agreement && sized.agreement->depends_on_rounding)
        return fmt::format("{} at {}: {}\n", instance_text(e.frontier.points[p]),
                           to_text(sized.size), remark(*sized.agreement));
  return {};
}

} // namespace

std::string frontier_text(const FrontierEvaluation& e, const TableForm& form) {
  const std::string points =
      e.points.empty() ? "no point was found\n" : to_text(point_table(e), form);
  std::string words = end_text(e) + best_text(e) + effort_text(e);
  if (!e.problem.empty()) words += fmt::format("DEFECT: {}\n", e.problem);
  words += remark_text(e);
  return wrapped(frontier_heading(e), form) + points + wrapped(words, form);
}

namespace {

Fields<PaperRow> table_paper_fields() {
  using R = PaperRow;
  Fields<R> fields{{{"paper", Quantity::text},
                    [](const R& r) {
                      const PaperInstance& paper = r.instance->paper;
                      return instance_text(paper.chunks, paper.steps, paper.rounds);
                    }},
                   {{"time", Quantity::numeral}, [](const R& r) {
                      const std::optional<double>& seconds = r.instance->paper.seconds;
                      return seconds ? Cell(fmt::format("{:.1f} s", *seconds)) : Cell();
                    }}};
  extend(fields, paper_fields());
  return shown_fields(fields, std::vector<ShownColumn>{{"paper"},
                                                       {"paper_optimal_in", 2},
                                                       {"time", 4},
                                                       {"answer"},
                                                       {"proven_optimal_in", 1},
                                                       {"synthesis", 3},
                                                       {"better", 5},
                                                       {"method", 6},
                                                       {"verdict"}});
}

std::string gains_text(const FrontierStudyEvaluation& study) {
  std::string text;
  for (const std::size_t p : beyond_paper(study)) {
    const FrontierPoint& point = study.frontier.frontier.points[p];
    text += fmt::format("beyond the paper: {}, {} rounds per chunk in {} steps\n",
                        instance_text(point), cost_text(point.cost()), point.steps);
  }
  return text;
}

} // namespace

std::string instances_text(const FrontierStudyEvaluation& study, const TableForm& form) {
  if (study.instances.empty()) return "";
  return to_text(whole_table(records_of<PaperRow>(table_paper_fields(), paper_rows(study))), form) +
         gains_text(study);
}

std::vector<std::string> frontier_table_columns() {
  const std::vector<Bytes> any{Bytes{1}};
  std::vector<std::string> names =
      column_names(records_of<PointRow>(table_point_fields(any), {}).columns, {});
  for (std::string& name : column_names(records_of<PaperRow>(table_paper_fields(), {}).columns, {}))
    names.push_back(std::move(name));
  names.insert(names.end(), {"model_*", "time_*"}); // of each size
  return names;
}

namespace {

using Json = nlohmann::ordered_json;

Json instance_json(std::uint32_t chunks, std::uint32_t steps, std::uint32_t rounds) {
  const Ratio cost(rounds, chunks);
  return {{"chunks", chunks},
          {"steps", steps},
          {"rounds", rounds},
          {"rounds_per_chunk", to_text(cost)},
          {"rounds_per_chunk_value", cost.value()}};
}

Json point_json(const FrontierEvaluation& e, std::size_t p) {
  const FrontierPoint& point = e.frontier.points[p];
  Json json = instance_json(point.chunks, point.steps, point.rounds);
  json["chunks_per_shard"] = point.chunks_per_shard;
  json["proof"] = to_text(point.proof);
  json["least_rounds_per_chunk"] = to_text(point.least);
  json["latency_optimal"] = point.latency_optimal;
  json["bandwidth_optimal"] = point.bandwidth_optimal;
  json["method"] = point.method;
  json["seconds"] = point.seconds;
  json["transfers"] = e.points[p].transfers;
  json["verified"] = e.points[p].verified;
  return json;
}

Json trials_json(const Frontier& frontier) {
  Json trials = Json::array();
  for (const FrontierTrial& trial : frontier.trials) {
    Json json = instance_json(trial.chunks, trial.steps, trial.rounds);
    json["answer"] = trial.answer;
    json["method"] = trial.method;
    json["seconds"] = trial.seconds;
    trials.push_back(std::move(json));
  }
  return trials;
}

Json best_json(const FrontierEvaluation& e) {
  Json best = Json::array();
  for (const BestFrom& from : e.best)
    best.push_back({{"from_bytes", from.size.count}, {"point", from.which}});
  return best;
}

Json paper_json(const InstanceEvaluation& instance) {
  const PaperInstance& paper = instance.paper;
  Json json = instance_json(paper.chunks, paper.steps, paper.rounds);
  json["chunks_per_shard"] = paper.chunks_per_shard;
  json["paper_optimal_in"] = to_text(paper.claimed);
  json["paper_seconds"] = paper.seconds ? Json(*paper.seconds) : Json(nullptr);
  json["answer"] = instance.answer;
  json["method"] = text_or_null(instance.method);
  json["seconds"] = instance.seconds;
  json["verified"] = instance.verified;
  json["proven_optimal_in"] = to_text(instance.proven);
  json["better_point"] = instance.better ? Json(*instance.better) : Json(nullptr);
  json["verdict"] = to_text(instance.agreement);
  json["explanation"] = text_or_null(paper.explanation);
  json["problem"] = text_or_null(instance.problem);
  return json;
}

} // namespace

Json frontier_details(const FrontierStudyEvaluation& study) {
  const FrontierEvaluation& e = study.frontier;
  Json details = Json::array();
  for (std::size_t p = 0; p < e.points.size(); ++p)
    for (const SizedPoint& sized : e.points[p].at) {
      Json json = {{"point", p}};
      for (std::size_t i = 0; i < e.engines.size(); ++i)
        json[fmt::format("{}_time_ps", e.engines[i])] = sized.completions[i].ps;
      json.update(replay_details(sized.replay, LinkDetail::none));
      details.push_back(std::move(json));
    }
  return details;
}

Json about_frontier(const FrontierStudyEvaluation& study) {
  const FrontierEvaluation& e = study.frontier;
  const Frontier& frontier = e.frontier;
  const bool bounded = frontier.bandwidth_bound > Ratio(0);
  Json points = Json::array(), paper = Json::array();
  for (std::size_t p = 0; p < e.points.size(); ++p) points.push_back(point_json(e, p));
  for (const InstanceEvaluation& instance : study.instances) paper.push_back(paper_json(instance));
  return Json::array(
      {{{"label", text_or_null(e.label)},
        {"topology", e.topology},
        {"collective", e.collective},
        {"npus", e.npus},
        {"engine", joined(e.engines, "+")},
        {"link_busy", to_text(e.model.link_busy)},
        {"forwarding", to_text(e.model.forwarding)},
        {"step_latency_ps", frontier.step_latency.ps},
        {"round_bytes_per_s", frontier.round.bytes_per_second},
        {"points", std::move(points)},
        {"best", best_json(e)},
        {"bandwidth_bound", bounded ? Json(to_text(frontier.bandwidth_bound)) : Json(nullptr)},
        {"bandwidth_bound_value", bounded ? Json(frontier.bandwidth_bound.value()) : Json(nullptr)},
        {"complete", frontier.complete},
        {"timed_out", frontier.timed_out},
        {"stop", text_or_null(frontier.stop)},
        {"in_class", text_or_null(frontier.in_class)},
        {"trials", trials_json(frontier)},
        {"paper", std::move(paper)},
        {"beyond_paper", beyond_paper(study)},
        {"problem", text_or_null(e.problem)},
        {"synthesis_seconds", e.synthesis_seconds},
        {"verify_seconds", e.verify_seconds},
        {"replay_seconds", e.replay_seconds}}});
}

} // namespace tutti
