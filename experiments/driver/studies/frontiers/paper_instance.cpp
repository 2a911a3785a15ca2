// A paper's claim has two parts, that an algorithm exists and that none is better. The first is
// settled by synthesizing (chunks, steps, rounds) on its own, the second by the bounds of that
// instance or of the frontier. A claim that is neither proven nor refuted is not confirmed.
#include "experiments/driver/studies/frontiers/paper_instance.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace tutti {

std::string_view to_text(Optimality optimality) {
  if (optimality.latency) return optimality.bandwidth ? "both" : "latency";
  return optimality.bandwidth ? "bandwidth" : "-";
}

Optimality parse_optimality(std::string_view text) {
  std::vector<std::string> known;
  for (const Optimality one : {Optimality{true, false}, {false, true}, {true, true}}) {
    if (to_text(one) == text) return one;
    known.emplace_back(to_text(one));
  }
  throw InputError(unknown_name("optimality", text, known));
}

std::optional<std::size_t> better_point(const PaperInstance& instance, const Frontier& frontier) {
  std::optional<std::size_t> better;
  for (std::size_t p = 0; p < frontier.points.size(); ++p) {
    const FrontierPoint& point = frontier.points[p];
    if (point.steps > instance.steps || point.cost() > instance.cost()) continue;
    if (point.steps == instance.steps && point.cost() == instance.cost()) continue;
    if (!better || point.cost() < frontier.points[*better].cost()) better = p;
  }
  return better;
}

std::vector<std::size_t> beyond_paper(const Frontier& frontier,
                                      std::span<const PaperInstance> paper) {
  std::vector<std::size_t> beyond;
  for (std::size_t p = 0; p < frontier.points.size(); ++p) {
    const FrontierPoint& point = frontier.points[p];
    const bool reached = std::any_of(paper.begin(), paper.end(), [&](const PaperInstance& row) {
      return row.steps <= point.steps && row.cost() <= point.cost();
    });
    if (!reached) beyond.push_back(p);
  }
  return beyond;
}

namespace {

// Whether the instance has the least steps or rounds per chunk, by what is known of it alone or of
// the frontier.
Optimality proven_of(const PaperInstance& paper, const Frontier& alone, const Frontier& frontier) {
  Optimality proven;
  for (const Frontier* known : {&alone, &frontier}) {
    proven.bandwidth |= known->bandwidth_bound == paper.cost();
    for (const FrontierPoint& point : known->points) {
      proven.latency |= point.latency_optimal && point.steps == paper.steps;
      proven.bandwidth |= point.bandwidth_optimal && point.cost() == paper.cost();
    }
  }
  return proven;
}

// By an algorithm that we have: a point with fewer steps, or fewer rounds per chunk.
Optimality refuted_of(const PaperInstance& paper, const Frontier& frontier) {
  Optimality refuted;
  for (const FrontierPoint& point : frontier.points) {
    refuted.latency |= point.steps < paper.steps;
    refuted.bandwidth |= point.cost() < paper.cost();
  }
  return refuted;
}

bool confirms(Optimality claimed, Optimality proven) {
  return (!claimed.latency || proven.latency) && (!claimed.bandwidth || proven.bandwidth);
}

// What one instance alone came to, where it has no schedule.
void note_trials(const Frontier& alone, InstanceEvaluation& result) {
  result.answer = alone.timed_out ? "timed_out" : "unsat";
  for (const FrontierTrial& trial : alone.trials) {
    result.seconds += trial.seconds;
    result.method = trial.method;
    if (trial.answer == "timed_out") result.answer = trial.answer;
  }
}

std::string claim_text(Optimality claimed) {
  if (claimed.latency && claimed.bandwidth) return "latency- and bandwidth-optimal";
  return claimed == Optimality{} ? "" : fmt::format("{}-optimal", to_text(claimed));
}

void add_words(std::string& text, const std::string& words) {
  if (!words.empty()) text += (text.empty() ? "" : ", ") + words;
}

// Doubts about the paper's claims: "fewer steps exist, least rounds per chunk unproven".
std::string doubts_text(const InstanceEvaluation& instance) {
  const Optimality claimed = instance.paper.claimed;
  std::string text;
  if (claimed.latency && !instance.proven.latency)
    add_words(text, instance.refuted.latency ? "fewer steps exist" : "fewest steps unproven");
  if (claimed.bandwidth && !instance.proven.bandwidth)
    add_words(text, instance.refuted.bandwidth ? "fewer rounds per chunk exist"
                                               : "least rounds per chunk unproven");
  return text;
}

std::string paper_text(const PaperInstance& paper) {
  std::string text = claim_text(paper.claimed);
  if (paper.seconds) add_words(text, fmt::format("{:.1f} s", *paper.seconds));
  return text.empty() ? "-" : text;
}

std::string ours_text(const InstanceEvaluation& instance, const Frontier& frontier) {
  if (instance.answer != "sat") return instance.answer;
  std::string text = claim_text(instance.proven);
  add_words(text, instance.shortfall);
  add_words(text, fmt::format("{:.3f} s", instance.seconds));
  if (instance.better)
    add_words(text, fmt::format("beaten by {}", instance_text(frontier.points[*instance.better])));
  return text;
}

} // namespace

// At one size only: whether an algorithm exists doesn't depend on it.
InstanceEvaluation evaluate_instance(const FrontierCase& c, const PaperInstance& paper,
                                     const Frontier& frontier, const FrontierFunction& function) {
  FrontierCase alone = c;
  alone.sizes = {c.sizes.back()};
  FrontierRequest request = request_of(c);
  request.chunks_per_shard = paper.chunks_per_shard;
  request.steps = paper.steps;
  request.rounds = paper.rounds;
  const FrontierEvaluation made = evaluate_frontier(alone, request, function);
  InstanceEvaluation result;
  result.paper = paper;
  result.problem = made.problem;
  if (made.points.empty()) {
    note_trials(made.frontier, result);
  } else {
    result.answer = "sat";
    result.method = made.frontier.points.front().method;
    result.seconds = made.frontier.points.front().seconds;
    result.verified = made.points.front().verified;
  }
  result.proven = proven_of(paper, made.frontier, frontier);
  result.refuted = refuted_of(paper, frontier);
  result.better = better_point(paper, frontier);
  result.shortfall = result.answer == "sat" ? doubts_text(result) : result.answer;
  const bool holds = result.verified && confirms(paper.claimed, result.proven);
  result.agreement = !paper.ours.empty() && paper.ours == result.shortfall ? Agreement::differs
                     : paper.ours.empty() && holds                         ? Agreement::match
                                                                           : Agreement::unexpected;
  return result;
}

Comparison comparison_of(const std::string& label, const InstanceEvaluation& instance,
                         const Frontier& frontier) {
  const PaperInstance& paper = instance.paper;
  Comparison comparison;
  comparison.label =
      fmt::format("{} {}", label, instance_text(paper.chunks, paper.steps, paper.rounds));
  comparison.paper = paper_text(paper);
  comparison.ours = ours_text(instance, frontier);
  comparison.value = comparison.deviation = std::numeric_limits<double>::quiet_NaN();
  comparison.agreement = instance.agreement;
  comparison.explanation = paper.explanation;
  if (instance.agreement == Agreement::unexpected && !paper.ours.empty())
    comparison.explanation = fmt::format("ours is known to be \"{}\"", paper.ours);
  return comparison;
}

} // namespace tutti
