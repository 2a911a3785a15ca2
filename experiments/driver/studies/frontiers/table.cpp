// A frontier is read as the paper's tables are: chunks, steps and rounds, what is proven of each
// point, and then what we add: model times beside replayed ones, what is best at which size, and
// the rows of the paper with our verdicts.
#include "experiments/driver/studies/frontiers/table.hpp"

#include "experiments/driver/records/records.hpp"
#include "experiments/driver/records/table.hpp"
#include "experiments/driver/studies/runs/table.hpp"
#include "sim/engines/agreement.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace tutti {

std::string cost_text(const Ratio& cost) {
  if (cost.denominator() == 1) return to_text(cost);
  return fmt::format("{} = {:.3f}", to_text(cost), cost.value());
}

namespace {

Optimality optimality_of(const FrontierPoint& point) {
  return {point.latency_optimal, point.bandwidth_optimal};
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
  text += fmt::format("engine {}, links busy for {}, forwarding {}", joined(e.engines, " and "),
                      to_text(e.model.link_busy), to_text(e.model.forwarding));
  if (e.frontier.round.bytes_per_second > 0)
    text += fmt::format("; a step {}, a round one chunk at {}", to_text(e.frontier.step_latency),
                        to_text(e.frontier.round));
  return text + "\n";
}

struct TablePoint {
  const FrontierEvaluation* e;
  std::size_t p; ///< index of the point

  [[nodiscard]] const FrontierPoint& point() const { return e->frontier.points[p]; }
  [[nodiscard]] const SizedPoint* at(Bytes size) const { return at_size(e->points[p], size); }
};

/// What is said of a point at the largest size.
Fields<Replay> last_size_fields() {
  using enum Quantity;
  using enum ColumnRole;
  using R = Replay;
  return {{{"algbw", rate, metric, 1}, [](const R& r) { return r.algbw; }},
          {{"gap", ratio}, [](const R& r) { return r.gap(); }},
          {{"gap_at_chunks", ratio, metric, 5, "at chunks"},
           [](const R& r) { return r.gap_at_chunks(); }}};
}

/// Pre: one size or more.
Fields<TablePoint> table_point_fields(std::span<const Bytes> sizes) {
  using enum Quantity;
  using enum ColumnRole;
  using R = TablePoint;
  Fields<R> fields{{{"chunks", count, metric, 0, "C"}, [](const R& r) { return r.point().chunks; }},
                   {{"steps", count, metric, 0, "S"}, [](const R& r) { return r.point().steps; }},
                   {{"rounds", count, metric, 0, "R"}, [](const R& r) { return r.point().rounds; }},
                   {{"rounds_per_chunk", numeral, metric, 0, "R/C"},
                    [](const R& r) { return cost_text(r.point().cost()); }},
                   {{"proof", text, note, 2}, [](const R& r) { return proof_text(r.point()); }},
                   {{"optimal in", text, metric, 3},
                    [](const R& r) { return to_text(optimality_of(r.point())); }}};
  for (const Bytes size : sizes) {
    fields.push_back({{"model " + to_text(size), time, metric, 4}, [size](const R& r) {
                        const SizedPoint* at = r.at(size);
                        return at == nullptr ? Cell() : Cell(at->model);
                      }});
    fields.push_back({{"time " + to_text(size), time}, [size](const R& r) {
                        const SizedPoint* at = r.at(size);
                        return at == nullptr ? Cell() : Cell(at->replay.report.completion);
                      }});
  }
  extend(fields, fields_through<R>(last_size_fields(), [last = sizes.back()](const R& r) {
           const SizedPoint* at = r.at(last);
           return at == nullptr ? nullptr : &at->replay;
         }));
  extend(fields,
         {{{"method", text, note, 6, "found by"}, [](const R& r) { return r.point().method; }},
          {{"synthesis_seconds", effort, metric, 7, "CPU"},
           [](const R& r) { return r.point().seconds; }}});
  return fields;
}

Table point_table(const FrontierEvaluation& e) {
  std::vector<TablePoint> rows;
  for (std::size_t p = 0; p < e.points.size(); ++p) rows.push_back({&e, p});
  return whole_table(records_of<TablePoint>(table_point_fields(shown_sizes(e.sizes)), rows));
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

struct TableInstance {
  const FrontierStudyEvaluation* study;
  const InstanceEvaluation* instance;
};

Fields<TableInstance> table_instance_fields() {
  using enum Quantity;
  using enum ColumnRole;
  using R = TableInstance;
  return {{{"paper", text},
           [](const R& r) {
             const PaperInstance& paper = r.instance->paper;
             return instance_text(paper.chunks, paper.steps, paper.rounds);
           }},
          {{"paper_optimal_in", text, metric, 2, "claims"},
           [](const R& r) { return to_text(r.instance->paper.claimed); }},
          {{"time", numeral, metric, 4},
           [](const R& r) {
             const std::optional<double>& seconds = r.instance->paper.seconds;
             return seconds ? Cell(fmt::format("{:.1f} s", *seconds)) : Cell();
           }},
          {{"answer", text, metric, 0, "ours"}, [](const R& r) { return r.instance->answer; }},
          {{"proven_optimal_in", text, metric, 1, "proven"},
           [](const R& r) { return to_text(r.instance->proven); }},
          {{"synthesis_seconds", effort, metric, 3, "CPU"},
           [](const R& r) { return r.instance->seconds; }},
          {{"better", text, metric, 5},
           [](const R& r) {
             const std::vector<FrontierPoint>& points = r.study->frontier.frontier.points;
             return r.instance->better ? Cell(instance_text(points[*r.instance->better])) : Cell();
           }},
          {{"method", text, note, 6, "found by"}, [](const R& r) { return r.instance->method; }},
          {{"verdict", text}, [](const R& r) { return to_text(r.instance->agreement); }}};
}

Table instance_table(const FrontierStudyEvaluation& study) {
  std::vector<TableInstance> rows;
  for (const InstanceEvaluation& instance : study.instances) rows.push_back({&study, &instance});
  return whole_table(records_of<TableInstance>(table_instance_fields(), rows));
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
  return to_text(instance_table(study), form) + gains_text(study);
}

std::vector<std::string> frontier_table_columns() {
  const std::vector<Bytes> any{Bytes{1}};
  std::vector<std::string> names =
      column_names(records_of<TablePoint>(table_point_fields(any), {}).columns, {});
  for (std::string& name :
       column_names(records_of<TableInstance>(table_instance_fields(), {}).columns, {}))
    names.push_back(std::move(name));
  names.insert(names.end(), {"model_*", "time_*"}); // of each size
  return names;
}

} // namespace tutti
