// A frontier is read as the paper's tables are: chunks, steps and rounds, what is proven of each
// point, and then what we add: model times beside replayed ones, what is best at which size, and
// the rows of the paper with our verdicts.
#include "experiments/driver/studies/frontiers/table.hpp"

#include "experiments/driver/records/table.hpp"
#include "experiments/driver/studies/runs/table.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

namespace tutti {

std::string cost_text(const Ratio& cost) {
  if (cost.denominator() == 1) return to_text(cost);
  return fmt::format("{} = {:.3f}", to_text(cost), cost.value());
}

namespace {

using Row = std::vector<std::string>;

Optimality optimality_of(const FrontierPoint& point) {
  return {point.latency_optimal, point.bandwidth_optimal};
}

// Where the bound of the steps isn't met, it says how far off a better point could be.
std::string proof_text(const FrontierPoint& point) {
  const std::string text(to_text(point.proof));
  return point.proof == PointProof::lp_tight ? text : text + ", R/C >= " + to_text(point.least);
}

std::string seconds_text(double seconds) { return fmt::format("{:.3f} s", seconds); }
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
std::vector<Bytes> shown_sizes(const FrontierEvaluation& evaluation) {
  if (evaluation.sizes.size() == 1) return evaluation.sizes;
  return {evaluation.sizes.front(), evaluation.sizes.back()};
}

std::string heading(const FrontierEvaluation& e) {
  std::string text = e.label.empty() ? "" : e.label + ": ";
  text +=
      fmt::format("{}, {} {} ({} NPUs)\n", e.topology, e.collective, range_text(e.sizes), e.npus);
  text += fmt::format("engine {}, links busy for {}, forwarding {}", joined(e.engines, " = "),
                      to_text(e.model.link_busy), to_text(e.model.forwarding));
  if (e.frontier.round.bytes_per_second > 0)
    text += fmt::format("; a step {}, a round one chunk at {}", to_text(e.frontier.step_latency),
                        to_text(e.frontier.round));
  return text + "\n";
}

Table point_table(const FrontierEvaluation& e) {
  Table table;
  for (const char* title : {"C", "S", "R", "R/C"}) table.columns.push_back({title, Align::right});
  table.columns.push_back({"proof", Align::left, 2, true});
  table.columns.push_back({"optimal in", Align::left, 3});
  const std::vector<Bytes> sizes = shown_sizes(e);
  for (const Bytes size : sizes)
    for (const std::string_view title : {"model", "time"})
      table.columns.push_back({fmt::format("{} {}", title, to_text(size)), Align::right,
                               static_cast<std::uint8_t>(title == "model" ? 4 : 0)});
  table.columns.push_back({"algbw", Align::right, 1});
  table.columns.push_back({"gap", Align::right});
  table.columns.push_back({"at chunks", Align::right, 5});
  table.columns.push_back({"found by", Align::left, 6, true});
  table.columns.push_back({"CPU", Align::right, 7});
  for (std::size_t p = 0; p < e.points.size(); ++p) {
    const FrontierPoint& point = e.frontier.points[p];
    Row row{fmt::to_string(point.chunks),
            fmt::to_string(point.steps),
            fmt::to_string(point.rounds),
            cost_text(point.cost()),
            proof_text(point),
            std::string(to_text(optimality_of(point)))};
    const SizedPoint* last = nullptr;
    for (const Bytes size : sizes) {
      last = at_size(e.points[p], size);
      row.push_back(last == nullptr ? "-" : short_text(last->model));
      row.push_back(last == nullptr ? "-" : short_text(last->replay.report.completion));
    }
    row.push_back(last == nullptr ? "-" : short_rate_text(last->replay.algbw));
    row.push_back(last == nullptr ? "-" : gap_text(last->replay.gap()));
    row.push_back(last == nullptr ? "-" : gap_text(last->replay.gap_at_chunks()));
    row.push_back(point.method);
    row.push_back(seconds_text(point.seconds));
    table.rows.push_back(std::move(row));
  }
  return table;
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

} // namespace

std::string frontier_text(const FrontierEvaluation& e, const TableForm& form) {
  const std::string points =
      e.points.empty() ? "no point was found\n" : to_text(point_table(e), form);
  std::string words = end_text(e) + best_text(e) + effort_text(e);
  if (!e.problem.empty()) words += fmt::format("DEFECT: {}\n", e.problem);
  return wrapped(heading(e), form) + points + wrapped(words, form);
}

namespace {

std::string paper_seconds_text(const PaperInstance& paper) {
  return paper.seconds ? fmt::format("{:.1f} s", *paper.seconds) : "-";
}

std::string better_text(const InstanceEvaluation& instance, const Frontier& frontier) {
  return instance.better ? instance_text(frontier.points[*instance.better]) : "-";
}

Table instance_table(const FrontierStudyEvaluation& study) {
  Table table{{{"paper"},
               {"claims", Align::left, 2},
               {"time", Align::right, 4},
               {"ours"},
               {"proven", Align::left, 1},
               {"CPU", Align::right, 3},
               {"better", Align::left, 5},
               {"found by", Align::left, 6, true},
               {"verdict"}},
              {}};
  for (const InstanceEvaluation& instance : study.instances) {
    const PaperInstance& paper = instance.paper;
    table.rows.push_back({instance_text(paper.chunks, paper.steps, paper.rounds),
                          std::string(to_text(paper.claimed)), paper_seconds_text(paper),
                          instance.answer, std::string(to_text(instance.proven)),
                          seconds_text(instance.seconds),
                          better_text(instance, study.frontier.frontier), instance.method,
                          std::string(to_text(instance.agreement))});
  }
  return table;
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

} // namespace tutti
