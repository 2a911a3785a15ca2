// A frontier's points are proven in SCCL's model of steps and rounds. Here each becomes a schedule
// like any other: verified, bounded, and replayed over the sizes by engines that must agree. Model
// times stand beside, so that a reader sees what the model leaves out.
#include "experiments/driver/studies/frontiers/evaluation.hpp"

#include "experiments/driver/pool/process_memory.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "sim/engines/agreement.hpp"
#include "sim/engines/simgrid/worker.hpp"
#include "sim/error.hpp"
#include "sim/feasibility.hpp"
#include "sim/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

namespace tutti {

Collective collective_of(const FrontierCase& c, Bytes size, std::uint32_t chunks_per_shard) {
  if (chunks_per_shard > 1 && is_collective_file(c.collective))
    throw InputError(fmt::format("{}: a collective from a file isn't cut", c.collective));
  return make_collective(*c.topology, CollectiveRequest{{c.collective}, size}, chunks_per_shard);
}

FrontierRequest request_of(const FrontierCase& c) {
  const AlgorithmRow sccl = find_algorithm("sccl"); // a frontier is what it chooses from
  require_known_settings({&sccl, 1}, c.options);
  FrontierRequest request = frontier_request(c.options);
  if (is_collective_file(c.collective) || has_shares(parse_collective(c.collective).kind))
    request.chunks_per_shard = 1; // others have other chunks than these, cut
  return request;
}

void require_sound(const FrontierCase& c) {
  require_feasible(*c.topology, collective_of(c, c.sizes.back(), 1));
}

std::string instance_text(std::uint32_t chunks, std::uint32_t steps, std::uint32_t rounds) {
  return fmt::format("({},{},{})", chunks, steps, rounds);
}

std::string instance_text(const FrontierPoint& point) {
  return instance_text(point.chunks, point.steps, point.rounds);
}

namespace {

std::optional<Collective> collective_if_fine(const FrontierCase& c, Bytes size,
                                             std::uint32_t chunks_per_shard) {
  try {
    return collective_of(c, size, chunks_per_shard);
  } catch (const InputError&) { // so fine that parts would be below a byte
    return std::nullopt;
  }
}

// The collective at a size that can be cut so finely; correctness doesn't depend on the size.
Collective collective_to_verify(const FrontierCase& c, std::uint32_t chunks_per_shard) {
  const Bytes largest = c.sizes.back();
  const std::size_t chunks = collective_of(c, largest, 1).chunks.size();
  const Bytes enough{static_cast<std::int64_t>(chunks) * chunks_per_shard};
  return collective_of(c, std::max(largest, enough), chunks_per_shard);
}

// The model's time is of the largest chunk, since a step lasts as long as its longest transfer.
SizedPoint sized_point(const FrontierCase& c, const Frontier& frontier, const FrontierPoint& point,
                       const Collective& collective, Bytes size, SimGridSession& simgrid) {
  Bytes largest_chunk;
  for (const Chunk& chunk : collective.chunks) largest_chunk = std::max(largest_chunk, chunk.size);
  const EngineRow& first = *c.engines.front();
  RunOptions run;
  run.simgrid = &simgrid;
  run.watch = watch_of(c.options.stage, fmt::format("replays of {}", instance_text(point)));
  SizedPoint sized{size,
                   frontier.model_time(point, largest_chunk),
                   replay(*c.topology, collective, point.schedule, c.options.model, first, run),
                   {}};
  const Report& report = sized.replay.report;
  sized.completions.push_back(report.completion);
  for (std::size_t e = 1; e < c.engines.size(); ++e) {
    const Report other =
        c.engines[e]->run(*c.topology, collective, point.schedule, c.options.model, run);
    sized.completions.push_back(other.completion);
    sized.agreement = judged_agreement(*c.topology, collective, point.schedule, c.options.model,
                                       run, report, other);
  }
  sized.replay.report.chunk_done.clear();
  return sized;
}

std::string problem_of(const SizedPoint& point) {
  if (point.agreement && !point.agreement->holds) return disagreement(*point.agreement);
  return replay_problem(point.replay);
}

// Keeps the first problem of all.
void add_problem(FrontierEvaluation& result, const FrontierPoint& point, const std::string& at,
                 const std::string& problem) {
  if (!problem.empty() && result.problem.empty())
    result.problem = fmt::format("{}{}: {}", instance_text(point), at, problem);
}

PointEvaluation evaluate_point(const FrontierCase& c, const FrontierPoint& point,
                               FrontierEvaluation& result) {
  PointEvaluation made;
  made.transfers = point.schedule.size();
  const double start = cpu_seconds();
  const Verdict verdict =
      verify(*c.topology, collective_to_verify(c, point.chunks_per_shard), point.schedule,
             watch_of(c.options.stage, "verification of " + instance_text(point)));
  made.verified = verdict.correct();
  add_problem(result, point, "", verdict_problem(verdict));
  const double verified = cpu_seconds();
  result.verify_seconds += verified - start;
  if (!made.verified) return made;
  std::optional<SimGridSession> simgrid(std::in_place); // its time counts when it has ended
  for (const Bytes size : c.sizes) {
    const auto collective = collective_if_fine(c, size, point.chunks_per_shard);
    if (!collective) continue;
    const std::string at = " at " + to_text(size);
    try {
      made.at.push_back(sized_point(c, result.frontier, point, *collective, size, *simgrid));
      add_problem(result, point, at, problem_of(made.at.back()));
    } catch (const std::runtime_error& error) { // an engine gave up: other sizes may do
      add_problem(result, point, at, error.what());
    }
  }
  simgrid.reset();
  result.replay_seconds += cpu_seconds() - verified;
  return made;
}

// The point with the least time, of equal ones that with the fewest steps; none where all are cut
// too finely.
std::optional<std::size_t> best_point(const FrontierCase& c, const FrontierEvaluation& result,
                                      Bytes size) {
  std::optional<std::size_t> best;
  Time least;
  for (std::size_t p = 0; p < result.points.size(); ++p) {
    if (!result.points[p].verified) continue;
    const FrontierPoint& point = result.frontier.points[p];
    const auto collective = collective_if_fine(c, size, point.chunks_per_shard);
    if (!collective) continue;
    RunOptions run;
    run.watch = watch_of(c.options.stage, "replays, to find the best at each size");
    const Time time =
        run_native(*c.topology, *collective, point.schedule, c.options.model, run).completion;
    if (best && time >= least) continue;
    best = p;
    least = time;
  }
  return best;
}

} // namespace

// Interrupted, only points that were checked remain, and the frontier counts as incomplete.
FrontierEvaluation evaluate_points(const FrontierCase& c, Frontier frontier) {
  FrontierEvaluation result;
  result.label = c.label;
  result.topology = c.topology_label;
  result.collective = c.collective;
  result.npus = c.topology->npu_count();
  result.sizes = c.sizes;
  for (const EngineRow* engine : c.engines) result.engines.emplace_back(engine->name);
  result.model = c.options.model;
  result.frontier = std::move(frontier);
  try {
    for (const FrontierPoint& point : result.frontier.points)
      result.points.push_back(evaluate_point(c, point, result));
    const double start = cpu_seconds();
    result.best = best_by_size(c.sizes, [&](Bytes size) { return best_point(c, result, size); });
    result.replay_seconds += cpu_seconds() - start;
  } catch (const Stopped&) { // points that weren't checked aren't reported
    auto& points = result.frontier.points;
    points.erase(points.begin() + std::ssize(result.points), points.end());
    result.frontier.complete = false;
    result.frontier.timed_out = true;
    result.frontier.stop = ended_text(c.options, "the replays of its points");
  }
  return result;
}

namespace {

// Members that can't pass on chunks have no frontier; running out of memory ends one.
Frontier synthesized(const FrontierCase& c, const FrontierRequest& request,
                     const FrontierFunction& function) {
  const Collective whole = collective_of(c, c.sizes.back(), 1);
  Frontier frontier;
  frontier.stop = missing_ability(*c.topology, whole);
  if (!frontier.stop.empty()) return frontier;
  if (c.options.stage) (void)c.options.stage("synthesis of the frontier", {});
  try {
    return function(*c.topology, whole, request, c.options);
  } catch (const std::bad_alloc& error) {
    frontier.timed_out = true;
    frontier.stop = memory_text(error);
    return frontier;
  }
}

} // namespace

FrontierEvaluation evaluate_frontier(const FrontierCase& c, const FrontierRequest& request,
                                     const FrontierFunction& function) {
  FrontierCase limited = c;
  limited.options.stage = stages_within_limit(c.options);
  const double start = cpu_seconds();
  Frontier frontier = synthesized(limited, request, function);
  const double seconds = cpu_seconds() - start;
  FrontierEvaluation result = evaluate_points(limited, std::move(frontier));
  result.synthesis_seconds = seconds;
  return result;
}

} // namespace tutti
