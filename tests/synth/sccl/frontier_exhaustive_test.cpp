// Frontiers compared with exhaustive search on random tiny problems: every answer to an instance
// is right, and nothing cheaper was missed.
#include "sim/engines/engine.hpp"
#include "sim/verify.hpp"
#include "synth/sccl/flows.hpp"
#include "synth/sccl/frontier.hpp"
#include "synth/sccl/problem.hpp"
#include "tests/catch.hpp"
#include "tests/synth/sccl/exhaustive_steps.hpp"
#include "tests/synth/sccl/random_steps.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace frontier_exhaustive_test {

using namespace tutti;
using namespace tutti::testing;

namespace {

constexpr std::uint64_t most_choices = 50'000;
constexpr std::uint32_t slack = 2, most_chunks_per_shard = 4;

Existence existence(const StepProblem& problem, const StepInstance& instance) {
  return try_all_schedules(problem, instance, most_choices).existence;
}

/// Where chunks cross one link at a time and links share nothing, a replay is never later than the
/// cost model: by the end of a step of r rounds each link has carried what it was given. (Through
/// switches a chunk may wait at the second link for one that came over another first, and groups
/// let one chunk start after the other, though each then takes as long as its link needs.)
void check_time(const StepCase& asked, const Collective& cut, const Frontier& frontier,
                const FrontierPoint& point) {
  if (!asked.topology.groups().empty()) return;
  for (std::size_t i = 0; i < point.schedule.size(); ++i)
    if (point.schedule.paths().links(point.schedule.path_of(i)).size() > 1) return;
  const Bytes largest = std::ranges::max_element(cut.chunks, {}, &Chunk::size)->size;
  const Report report = run_native(asked.topology, cut, point.schedule, {});
  const auto rounding = static_cast<std::int64_t>(point.schedule.size()); // a picosecond each
  CHECK(report.completion.ps <= frontier.model_time(point, largest).ps + rounding);
}

void check_schedule(const StepCase& asked, const Frontier& frontier, const FrontierPoint& point) {
  const Collective chunks_per_shard = cut(asked.topology, asked.collective, point.chunks_per_shard);
  const Verdict verdict = verify(asked.topology, chunks_per_shard, point.schedule);
  CHECK((verdict.fault ? verdict.fault->text : "") == "");
  CHECK(verdict.redundant == 0);
  if (verdict.correct()) check_time(asked, chunks_per_shard, frontier, point);
}

/// What reduces, backwards on the reversed topology; what copies, as it is.
StepProblem problem_of(const StepCase& asked, bool backwards) {
  if (!backwards) return step_problem(asked.topology, asked.collective, false);
  Collective turned = asked.collective;
  for (Chunk& chunk : turned.chunks) {
    std::swap(chunk.sources, chunk.destinations);
    chunk.reduces = false;
  }
  return step_problem(reversed(asked.topology), turned, true);
}

bool is_connected(const StepProblem& problem) { return fewest_steps(problem) != unreachable; }

/// The fewest rounds per chunk with at most so many steps.
std::optional<Ratio> best_cost(const Frontier& frontier, std::uint32_t steps) {
  std::optional<Ratio> best;
  for (const FrontierPoint& point : frontier.points)
    if (point.steps <= steps) best = point.cost();
  return best;
}

/// A frontier of all steps up to one more than the fewest. Returns how many cheaper instances
/// exhaustive search proved impossible.
std::uint32_t compare_frontier(const StepCase& asked, const StepProblem& problem) {
  const std::uint32_t fewest = fewest_steps(problem), last = fewest + 1;
  const std::uint32_t counted = counted_chunks(asked.collective.parts.front());
  FrontierRequest request;
  request.slack = slack;
  request.most_steps = last;
  request.effort = 1'000'000;
  const Frontier frontier = synthesize_frontier(asked.topology, asked.collective, request, {});
  INFO(frontier.stop);
  CHECK_FALSE(frontier.timed_out);
  for (const FrontierTrial& trial : frontier.trials) {
    INFO("trial " << trial.chunks << ' ' << trial.steps << ' ' << trial.rounds << ' '
                  << trial.method);
    const Existence truth = existence(problem, {trial.chunks / counted, trial.steps, trial.rounds});
    if (truth != Existence::undecided)
      CHECK(trial.answer == (truth == Existence::exists ? "sat" : "unsat"));
  }
  for (const FrontierPoint& point : frontier.points) {
    check_schedule(asked, frontier, point);
    CHECK(point.proof != PointProof::best_found);
    CHECK(point.latency_optimal == (point.steps == fewest));
    CHECK(point.cost() >= frontier.bandwidth_bound);
    CHECK(point.bandwidth_optimal == (point.cost() == frontier.bandwidth_bound));
  }
  std::uint32_t proven = 0;
  for (std::uint32_t steps = fewest; steps <= last; ++steps)
    for (std::uint32_t chunks_per_shard = 1; chunks_per_shard <= most_chunks_per_shard;
         ++chunks_per_shard)
      for (std::uint32_t rounds = steps; rounds <= steps + slack; ++rounds) {
        const std::optional<Ratio> best = best_cost(frontier, steps);
        if (best && Ratio(rounds, chunks_per_shard * counted) >= *best) continue;
        INFO(chunks_per_shard << " chunks per shard, " << steps << " steps, " << rounds
                              << " rounds");
        const Existence truth = existence(problem, {chunks_per_shard, steps, rounds});
        CHECK(truth != Existence::exists);
        proven += truth == Existence::impossible ? 1 : 0;
      }
  return proven;
}

std::uint32_t compare_frontiers(std::uint64_t first, std::uint64_t last) {
  std::uint32_t proven = 0;
  for (std::uint64_t seed = first; seed < last; ++seed) {
    const StepCase asked = random_step_case(seed);
    INFO("seed " << seed << ", " << asked.collective.name());
    proven += compare_frontier(asked, problem_of(asked, false));
  }
  return proven;
}

/// The same networks, for a collective that reduces; nothing where not all can take part.
std::optional<StepCase> reducing_case(std::uint64_t seed, CollectiveKind kind) {
  StepCase asked = random_step_case(seed);
  CollectiveSpec spec{kind, Bytes{4'000'000}, {}};
  if (seed % 2 == 0 && asked.collective.parts.front().group.size() > 1)
    spec.group = asked.collective.parts.front().group;
  if (has_root(kind) && !spec.group.empty())
    spec.root = static_cast<std::uint32_t>(seed % spec.group.size());
  asked.collective = make_collective(asked.topology, spec);
  if (!is_connected(problem_of(asked, is_reducing(kind)))) return std::nullopt;
  return asked;
}

std::uint32_t compare_inverses(std::uint64_t first, std::uint64_t last) {
  std::uint32_t proven = 0;
  for (std::uint64_t seed = first; seed < last; ++seed)
    for (const CollectiveKind kind : {CollectiveKind::reduce_scatter, CollectiveKind::reduce}) {
      const std::optional<StepCase> asked = reducing_case(seed, kind);
      if (!asked) continue;
      INFO("seed " << seed << ", " << asked->collective.name());
      proven += compare_frontier(*asked, problem_of(*asked, true));
    }
  return proven;
}

/// An All-Reduce of this instance is a Reduce-Scatter and an All-Gather that share its steps and
/// rounds.
Existence composed_existence(const StepProblem& back, const StepProblem& forth,
                             const StepInstance& whole) {
  Existence all = Existence::impossible;
  for (std::uint32_t steps = 1; steps < whole.steps; ++steps)
    for (std::uint32_t rounds = steps; rounds + whole.steps - steps <= whole.rounds; ++rounds) {
      const Existence first = existence(back, {whole.chunks_per_shard, steps, rounds});
      const Existence second =
          existence(forth, {whole.chunks_per_shard, whole.steps - steps, whole.rounds - rounds});
      if (first == Existence::exists && second == Existence::exists) return Existence::exists;
      if (first != Existence::impossible && second != Existence::impossible)
        all = Existence::undecided;
    }
  return all;
}

std::pair<std::uint32_t, std::uint32_t> compare_all_reduce(std::uint64_t first,
                                                           std::uint64_t last) {
  std::pair<std::uint32_t, std::uint32_t> found_and_not;
  for (std::uint64_t seed = first; seed < last; ++seed) {
    std::optional<StepCase> gather = reducing_case(seed, CollectiveKind::all_gather);
    std::optional<StepCase> scatter = reducing_case(seed, CollectiveKind::reduce_scatter);
    std::optional<StepCase> whole = reducing_case(seed, CollectiveKind::all_gather);
    if (!gather || !scatter) continue;
    const CollectivePart part = whole->collective.parts.front();
    whole->collective =
        make_collective(whole->topology, {CollectiveKind::all_reduce, part.size, part.group});
    const StepProblem back = problem_of(*scatter, true), forth = problem_of(*gather, false);
    FrontierRequest request;
    request.chunks_per_shard = 1 + static_cast<std::uint32_t>(seed % 2);
    request.steps =
        fewest_steps(back) + fewest_steps(forth) + static_cast<std::uint32_t>(seed % 3 == 0);
    for (std::uint32_t rounds = *request.steps; rounds <= *request.steps + 3; ++rounds) {
      request.rounds = rounds;
      INFO("seed " << seed << ", " << whole->collective.name() << " in "
                   << *request.chunks_per_shard << " chunks per shard, " << *request.steps
                   << " steps, " << rounds << " rounds");
      const Existence truth =
          composed_existence(back, forth, {*request.chunks_per_shard, *request.steps, rounds});
      const Frontier frontier =
          synthesize_frontier(whole->topology, whole->collective, request, {});
      CHECK_FALSE(frontier.timed_out);
      if (truth != Existence::undecided)
        CHECK(frontier.points.size() == (truth == Existence::exists ? 1 : 0));
      ++(frontier.points.empty() ? found_and_not.second : found_and_not.first);
      for (const FrontierPoint& point : frontier.points) {
        check_schedule(*whole, frontier, point);
        CHECK(point.steps == *request.steps);
        CHECK(point.rounds == rounds);
        CHECK(point.chunks_per_shard == *request.chunks_per_shard);
      }
    }
  }
  return found_and_not;
}

} // namespace

TEST_CASE("nothing cheaper than sccl's frontier exists") { CHECK(compare_frontiers(0, 40) > 50); }

TEST_CASE("nothing cheaper than sccl's frontier exists, at length", "[slow]") {
  CHECK(compare_frontiers(40, 600) > 1000);
}

TEST_CASE("nothing cheaper than sccl's Reduce-Scatter and Reduce exists") {
  CHECK(compare_inverses(0, 20) > 50);
}

TEST_CASE("nothing cheaper than sccl's Reduce-Scatter and Reduce exists, at length", "[slow]") {
  CHECK(compare_inverses(20, 300) > 1000);
}

TEST_CASE("sccl composes an All-Reduce exactly where its halves exist", "[heavy]") {
  const auto [found, not_found] = compare_all_reduce(0, 20);
  CHECK(found > 10);
  CHECK(not_found > 10);
}

TEST_CASE("sccl composes an All-Reduce exactly where its halves exist, at length", "[slow]") {
  const auto [found, not_found] = compare_all_reduce(20, 200);
  CHECK(found > 100);
  CHECK(not_found > 100);
}

} // namespace frontier_exhaustive_test
