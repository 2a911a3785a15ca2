// Instances of a number of steps are tried by rounds per chunk, from the lower bound on. Restricted
// searches come first, as a schedule that keeps a symmetry or takes given rounds is found sooner;
// only an unrestricted one proves that there is none.
#include "synth/sccl/pareto.hpp"

#include "sim/error.hpp"
#include "sim/out_of_reach.hpp"
#include "synth/sccl/fault.hpp"
#include "synth/sccl/flows.hpp"
#include "synth/sccl/multicast.hpp"
#include "synth/sccl/rounds.hpp"
#include "synth/sccl/unicast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <stdexcept>
#include <utility>

namespace tutti {

namespace {

constexpr std::size_t most_symmetries = 4;
constexpr std::uint32_t usual_slack = 6;           // k
constexpr std::int64_t most_rounds = 128;          // of the instance beyond k that meets a bound
constexpr std::int64_t most_unbounded_chunks = 64; // where no bound limits them
constexpr std::uint32_t steps_beyond = 4;          // the fewest, where nothing else ends the search
constexpr std::int64_t effort_restricted = 8;      // what keeps a symmetry gets one part in so many
constexpr std::int64_t usual_size = 5'000;         // chunks x lanes x steps that get all effort

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

} // namespace

ParetoSynthesis::ParetoSynthesis(StepProblem problem, const FrontierRequest& request, Bytes chunk,
                                 const WorkLimit& limit)
    : request_(request),
      step_worth_(problem.network.step_latency.ps, serialization(chunk, problem.network.round).ps),
      limit_(limit), whole_(std::move(problem)),
      fewest_(std::max(fewest_steps(whole_), 1U)), // 1 where nothing is wanted
      problem_(scope_.problem) {
  whole_.limit = &limit_;
  if (fewest_ == unreachable)
    throw OutOfReach("someone can't be reached through nodes that store, copy and, where the "
                     "collective reduces, reduce");
  const std::uint32_t last = std::max(fewest_, last_steps());
  scope_ = scope_within(whole_, request_.proof_file.empty() ? fewest_ : last, last);
  if (problem_.is_unicast()) flows_ = static_cast<std::int64_t>(step_flows(problem_).flows.size());
  automorphisms_ = automorphisms(problem_);
  limit_.require();
  if (request_.symmetric)
    symmetries_ = free_symmetries(problem_, automorphisms_, most_symmetries, limit_);
  limit_.require();
  outline_ = contracted(whole_, scope_);
  outline_automorphisms_ = is_whole() ? automorphisms_ : automorphisms(outline_);
  bandwidth_bound_ = least_rounds(outline_, outline_automorphisms_, std::nullopt, limit_);
}

std::uint32_t ParetoSynthesis::last_steps() const {
  if (request_.steps) return *request_.steps;
  return request_.most_steps.value_or(fewest_ + steps_beyond);
}

bool ParetoSynthesis::is_whole() const {
  return problem_.network.node_count() == whole_.network.node_count();
}

// Whether a schedule of so many steps has nothing to do outside of the scope.
bool ParetoSynthesis::in_scope(std::uint32_t steps) const {
  return steps <= scope_.steps || scope_.lanes.size() == whole_.network.lanes.size();
}

Ratio ParetoSynthesis::least(std::uint32_t steps) {
  const auto known = least_.find(steps);
  if (known != least_.end()) return known->second;
  return least_[steps] = in_scope(steps)
                             ? least_rounds(problem_, automorphisms_, steps, limit_)
                             : least_rounds(outline_, outline_automorphisms_, steps, limit_);
}

// A proof is a matter of clauses, for unicast collectives too.
ParetoSynthesis::Solved ParetoSynthesis::search(const StepInstance& instance,
                                                const StepSymmetry& symmetry,
                                                const StepSearch& how) const {
  const bool flows = problem_.is_unicast() && how.proof.empty();
  Solved solved{flows ? unicast_steps(problem_, instance, symmetry, how, limit_)
                      : multicast_steps(problem_, instance, symmetry, how, limit_),
                flows ? "integer flow" : "SAT"};
  if (!symmetry.empty()) solved.method += fmt::format(", {}-fold symmetric", symmetry.size());
  return solved;
}

// Schedules that keep a symmetry or have given rounds are found sooner; that there are none of them
// says nothing. Beyond the class of k nothing else is tried.
ParetoSynthesis::Solved ParetoSynthesis::answer(const StepInstance& instance, bool in_class) const {
  if (!request_.proof_file.empty())
    return search(instance, {}, {request_.effort, request_.proof_file, {}});
  std::vector<std::vector<std::uint32_t>> profiles{{}}; // of rounds over steps; empty: any
  if (!problem_.is_unicast())
    if (std::vector<std::uint32_t> rounds = earliest_rounds(problem_, instance); !rounds.empty())
      profiles.insert(profiles.begin(), std::move(rounds));
  std::vector<StepSymmetry> groups = symmetries_;
  if (in_class) groups.emplace_back(); // none
  Solved solved{StepAnswer{}, in_class ? "too large" : "not tried"};
  bool all = false; // whether the last search was for any schedule
  for (const StepSymmetry& symmetry : groups)
    for (const std::vector<std::uint32_t>& rounds : profiles) {
      if (size(instance, symmetry) > request_.largest || limit_.reached()) continue;
      all = symmetry.empty() && rounds.empty();
      const std::int64_t share = all ? 1 : effort_restricted;
      solved = search(instance, symmetry, {effort(instance, symmetry) / share + 1, {}, rounds});
      if (solved.answer.answer == SatAnswer::sat) return solved;
    }
  // Others may exist: without the symmetry, or over other nodes.
  if (!all || (solved.answer.answer == SatAnswer::unsat && !in_scope(instance.steps)))
    solved.answer = {};
  return solved;
}

// What can be sent when, of one chunk of each orbit.
std::int64_t ParetoSynthesis::size(const StepInstance& instance,
                                   const StepSymmetry& symmetry) const {
  const std::int64_t kinds =
      flows_ > 0 ? flows_
                 : static_cast<std::int64_t>(problem_.chunks.size()) * instance.chunks_per_shard;
  return kinds * static_cast<std::int64_t>(problem_.network.lanes.size()) * instance.steps /
         std::max<std::int64_t>(static_cast<std::int64_t>(symmetry.size()), 1);
}

// A conflict takes time in proportion to the instance.
std::int64_t ParetoSynthesis::effort(const StepInstance& instance,
                                     const StepSymmetry& symmetry) const {
  return request_.effort * usual_size / std::max(usual_size, size(instance, symmetry));
}

StepTrial ParetoSynthesis::attempt(const StepInstance& instance, bool in_class,
                                   StepFrontier& frontier) {
  const double start = cpu_seconds();
  StepTrial trial{instance, SatAnswer::unsat, "distances", 0};
  Solved solved;
  const bool shows_clauses = !request_.proof_file.empty();
  if (!shows_clauses && instance.steps >= fewest_ &&
      Ratio(instance.rounds, instance.chunks_per_shard) < least(instance.steps)) {
    trial.method = "LP";
  } else if (shows_clauses || instance.steps >= fewest_) {
    solved = answer(instance, in_class);
    trial.answer = solved.answer.answer;
    trial.method = solved.method;
  }
  if (solved.answer.schedule) {
    for (StepSend& send : solved.answer.schedule->sends) send.lane = scope_.lanes[send.lane.value];
    if (const std::string fault = step_fault(whole_, instance, *solved.answer.schedule);
        !fault.empty())
      throw std::logic_error("a defect of sccl: " + fault);
  }
  trial.seconds = cpu_seconds() - start;
  frontier.trials.push_back(trial);
  if (solved.answer.schedule)
    frontier.points.push_back({instance, PointProof::best_found, instance.steps == fewest_, false,
                               least(instance.steps), trial.method, trial.seconds,
                               std::move(*solved.answer.schedule)});
  return trial;
}

void ParetoSynthesis::solve(const StepInstance& instance, StepFrontier& frontier) {
  frontier.bandwidth_bound = bandwidth_bound_;
  StepTrial trial;
  try {
    trial = attempt(instance, true, frontier);
  } catch (const LimitReached&) { // it stays unknown
  }
  frontier.timed_out = frontier.timed_out || trial.answer == SatAnswer::unknown;
  if (trial.answer != SatAnswer::sat) return;
  StepPoint& point = frontier.points.back();
  if (point.cost() == least(instance.steps)) point.proof = PointProof::lp_tight;
  point.bandwidth_optimal = point.cost() == bandwidth_bound_;
}

// S + k; where no k is given, as many again beyond what one chunk, or those asked for, need at
// least.
std::int64_t ParetoSynthesis::last_rounds(std::uint32_t steps, Ratio lowest) const {
  if (request_.slack) return std::int64_t{steps} + *request_.slack;
  const std::int64_t needed = (lowest * request_.chunks_per_shard.value_or(1)).ceil();
  return std::max<std::int64_t>(steps, needed) + usual_slack;
}

// Beyond the class of k: the smallest instance that meets the bound, and the smallest that does
// with the rounds of earliest arrival.
void ParetoSynthesis::add_tight(std::uint32_t steps, Ratio lowest, std::int64_t last,
                                const std::function<void(std::int64_t, std::int64_t)>& add) const {
  const std::int64_t first = Ratio(steps, lowest.numerator()).ceil();
  for (std::int64_t times = first; times * lowest.numerator() <= most_rounds; ++times) {
    const std::int64_t chunks_per_shard = times * lowest.denominator(),
                       rounds = times * lowest.numerator();
    const bool is_earliest =
        !earliest_rounds(problem_, {static_cast<std::uint32_t>(chunks_per_shard), steps,
                                    static_cast<std::uint32_t>(rounds)})
             .empty();
    if (rounds > last && (times == first || is_earliest)) add(chunks_per_shard, rounds);
    if (is_earliest) return;
  }
}

namespace {

// The cheapest first, the smallest of equal cost first.
bool is_better(const StepInstance& a, const StepInstance& b) {
  return std::pair(Ratio(a.rounds, a.chunks_per_shard), a.chunks_per_shard) <
         std::pair(Ratio(b.rounds, b.chunks_per_shard), b.chunks_per_shard);
}

// The order of a heap with the best on top, as few of many candidates are tried.
bool is_worse(const StepInstance& a, const StepInstance& b) { return is_better(b, a); }

} // namespace

// All (C, R) with S <= R <= S + k that are neither proven impossible nor of no use, as a heap with
// the best on top.
std::vector<StepInstance> ParetoSynthesis::candidates(std::uint32_t steps, Ratio lowest,
                                                      std::optional<Ratio> below) const {
  std::vector<StepInstance> found;
  const auto add = [&](std::int64_t chunks_per_shard, std::int64_t rounds) {
    if (chunks_per_shard > request_.most_chunks_per_shard ||
        chunks_per_shard != request_.chunks_per_shard.value_or(chunks_per_shard))
      return;
    if (below && Ratio(rounds, chunks_per_shard) >= *below) return;
    found.push_back(
        {static_cast<std::uint32_t>(chunks_per_shard), steps, static_cast<std::uint32_t>(rounds)});
  };
  const std::int64_t last = last_rounds(steps, lowest);
  for (std::int64_t rounds = steps; rounds <= last; ++rounds) {
    limit_.require();
    const std::int64_t most =
        lowest == Ratio(0) ? most_unbounded_chunks : (Ratio(rounds) / lowest).floor();
    for (std::int64_t chunks_per_shard = 1; chunks_per_shard <= most; ++chunks_per_shard)
      add(chunks_per_shard, rounds);
  }
  if (!request_.slack && lowest > Ratio(0)) add_tight(steps, lowest, last, add);
  std::ranges::make_heap(found, is_worse);
  return found;
}

void ParetoSynthesis::improve(std::uint32_t steps, StepFrontier& frontier) {
  if (frontier.timed_out = limit_.reached(); frontier.timed_out) return;
  std::optional<Ratio> below;
  if (!frontier.points.empty()) below = frontier.points.back().cost();
  const std::int64_t last = last_rounds(steps, least(steps));
  bool all_decided = true; // of the class of k
  std::vector<StepInstance> open = candidates(steps, least(steps), below);
  for (; !open.empty(); open.pop_back()) {
    std::ranges::pop_heap(open, is_worse);
    const StepInstance instance = open.back();
    if (limit_.reached()) {
      frontier.timed_out = true;
      return;
    }
    const bool in_class = instance.rounds <= last;
    const StepTrial trial = attempt(instance, in_class, frontier);
    if (trial.answer == SatAnswer::unknown && in_class) all_decided = false;
    if (trial.answer != SatAnswer::sat) continue;
    StepPoint& point = frontier.points.back();
    point.proof = point.cost() == least(steps) ? PointProof::lp_tight
                  : all_decided                ? PointProof::unsat_proven
                                               : PointProof::best_found;
    point.bandwidth_optimal = point.cost() == bandwidth_bound_;
    return;
  }
}

bool ParetoSynthesis::ends(std::uint32_t steps, StepFrontier& frontier) const {
  const std::uint32_t last = last_steps();
  const bool all_decided = std::ranges::find(frontier.trials, SatAnswer::unknown,
                                             &StepTrial::answer) == frontier.trials.end();
  if (!frontier.points.empty() && frontier.points.back().bandwidth_optimal) {
    frontier.complete = all_decided;
    frontier.stop = "the last point has as few rounds per chunk as any schedule can";
  } else if (frontier.timed_out) {
    frontier.stop = "the limit was reached";
  } else if (request_.chunks_per_shard && !request_.steps && !frontier.points.empty() &&
             Ratio(std::int64_t{steps} + 1, *request_.chunks_per_shard) >=
                 frontier.points.back().cost()) {
    frontier.complete = all_decided;
    frontier.stop = "a step more takes no fewer rounds than the last point has";
  } else if (request_.most_steps || request_.steps) {
    if (steps >= last) frontier.stop = fmt::format("asked for at most {} steps", last);
  } else if (!frontier.points.empty() && bandwidth_bound_ > Ratio(0) &&
             frontier.points.back().cost() - bandwidth_bound_ < step_worth_) {
    frontier.stop = "one step more costs more time than fewer rounds could save at this size";
  } else if (steps >= last) {
    frontier.stop = fmt::format("{} steps more than the fewest; each further one may have fewer "
                                "rounds per chunk (max_steps sets another end)",
                                steps_beyond);
  }
  return !frontier.stop.empty();
}

StepFrontier ParetoSynthesis::frontier(const std::function<void(const StepPoint&)>& found) {
  StepFrontier frontier;
  frontier.bandwidth_bound = bandwidth_bound_;
  if (const auto steps = request_.steps ? request_.steps : request_.most_steps;
      steps && *steps < fewest_) {
    frontier.stop = fmt::format("the farthest are {} steps apart, more than {}", fewest_, *steps);
    return frontier;
  }
  for (std::uint32_t steps = request_.steps.value_or(fewest_);; ++steps) {
    const std::size_t before = frontier.points.size();
    try {
      improve(steps, frontier);
    } catch (const LimitReached&) {
      frontier.timed_out = true;
    }
    if (found && frontier.points.size() > before) found(frontier.points.back());
    if (ends(steps, frontier)) break;
  }
  return frontier;
}

} // namespace tutti
