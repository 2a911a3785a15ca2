// The whole collective from its halves: what reduces is inverted from the reversed topology, an
// All-Reduce is a Reduce-Scatter and an All-Gather of as many chunks per shard, and instances of
// the whole are divided into instances of the halves.
#include "synth/sccl/frontier.hpp"

#include "sim/error.hpp"
#include "sim/transforms.hpp"
#include "sim/work_limit.hpp"
#include "synth/direct_paths.hpp"
#include "synth/inversion.hpp"
#include "synth/sccl/flows.hpp"
#include "synth/sccl/pareto.hpp"
#include "synth/sccl/transfers.hpp"
#include "synth/tacos/multicasts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace tutti {

namespace {

/// Whether the networks differ in nothing but the order of their limits.
bool same_network(const StepNetwork& a, const StepNetwork& b) {
  const auto limits = [](const StepNetwork& network) {
    std::vector<std::pair<Ratio, std::vector<LaneId>>> all;
    for (const StepLimit& limit : network.limits) all.emplace_back(limit.per_round, limit.lanes);
    std::ranges::sort(all);
    return all;
  };
  const auto ends = [](const StepNetwork& network) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> all;
    for (const Lane& lane : network.lanes) all.emplace_back(lane.from, lane.to);
    return all;
  };
  return a.nodes == b.nodes && ends(a) == ends(b) && limits(a) == limits(b);
}

/// The same on a network that is its own reverse, at no further cost.
StepFrontier mirrored(StepFrontier frontier) {
  frontier.trials.clear();
  for (StepPoint& point : frontier.points) point.seconds = 0;
  return frontier;
}

std::string_view answer_text(SatAnswer answer) {
  switch (answer) {
  case SatAnswer::sat: return "sat";
  case SatAnswer::unsat: return "unsat";
  case SatAnswer::unknown: break;
  }
  return "timed_out";
}

/// Before anything is built: switches join every node with every other.
std::string size_obstacle(const Topology& topology, const Collective& collective) {
  constexpr std::uint64_t most_sends = 20'000'000;
  const auto storing = static_cast<std::uint64_t>(
      std::ranges::count_if(topology.nodes(), [](const Node& node) { return node.can.store; }));
  const std::uint64_t paths = storing < topology.node_count()
                                  ? storing * (storing - 1)
                                  : std::uint64_t{topology.link_count()};
  std::uint64_t deliveries = 0;
  for (std::uint32_t c = 0; c < collective.chunks.size(); ++c)
    deliveries +=
        std::max(collective.sources(ChunkId{c}).size(), collective.destinations(ChunkId{c}).size());
  if (deliveries <= most_sends / std::max<std::uint64_t>(paths, 1)) return {};
  return fmt::format("too large for sccl: {} deliveries by {} paths between nodes", deliveries,
                     paths);
}

void require_consistent(const FrontierRequest& request) {
  if (request.rounds && !(request.steps && request.chunks_per_shard))
    throw InputError("rounds need steps, and chunks that are not \"auto\"");
  if (request.rounds && *request.rounds < *request.steps)
    throw InputError(fmt::format("{} rounds for {} steps: every step takes at least one",
                                 *request.rounds, *request.steps));
  if (!request.proof_file.empty() && !request.rounds)
    throw InputError("a proof is of one instance: it needs steps, rounds and chunks");
}

class FrontierSynthesis {
public:
  FrontierSynthesis(const Topology& topology, const Collective& collective,
                    const FrontierRequest& request, const SynthesisOptions& options)
      : topology_(topology), reversed_(reversed(topology)), collective_(collective),
        request_(request), limit_(options), counted_(counted_chunks(collective.parts.front())) {}

  Frontier run() {
    try {
      search();
    } catch (const LimitReached&) {
      frontier_.timed_out = true;
      frontier_.stop = "the limit was reached";
    }
    return std::move(frontier_);
  }

private:
  void search() {
    const CollectivePart& part = collective_.parts.front();
    if (part.kind == CollectiveKind::all_reduce) {
      const Collective gather =
          make_collective(topology_, {CollectiveKind::all_gather, part.size, part.group});
      frontier_.in_class = "Reduce-Scatter, then All-Gather";
      compose(gather, gather);
    } else if (part.kind == CollectiveKind::custom && reduces(collective_)) {
      const std::optional<Multicasts> custom = as_multicasts(topology_, collective_);
      assert(custom); // frontier_obstacle() has asked
      if (custom->reductions && custom->copies) {
        frontier_.in_class = "reductions, then copies";
        compose(*custom->reductions, *custom->copies);
      } else if (custom->reductions) {
        alone(step_problem(reversed_, *custom->reductions, true), true);
      } else {
        alone(step_problem(topology_, *custom->copies, false), false);
      }
    } else if (reduces(collective_)) {
      alone(step_problem(reversed_, inverted(collective_), true), true);
    } else {
      alone(step_problem(topology_, collective_, false), false);
    }
  }

  /// A collective that copies, or the inverse of one.
  void alone(const StepProblem& problem, bool inverse) {
    set_cost_model(problem.network);
    ParetoSynthesis synthesis(inverse ? unturned(problem) : problem, request_,
                              collective_.largest_chunk(), limit_);
    const auto add = [&](const StepPoint& point) {
      Schedule schedule = as_schedule(topology_, problem, point.schedule);
      if (inverse) schedule = inverted(topology_, schedule, Op::reduce);
      add_point(point, std::move(schedule));
    };
    StepFrontier found;
    if (request_.rounds) {
      synthesis.solve({*request_.chunks_per_shard, *request_.steps, *request_.rounds}, found);
      for (const StepPoint& point : found.points) add(point);
      found.stop = "one instance was asked for";
    } else {
      found = synthesis.frontier(add);
    }
    add_trials(found);
    frontier_.bandwidth_bound = found.bandwidth_bound / counted_;
    frontier_.complete = found.complete;
    frontier_.stop = found.stop;
  }

  /// The problem on the network as it is, where that is its own reverse: limits then stand in
  /// the order of an All-Gather's or a Broadcast's, and a search takes as long as theirs.
  [[nodiscard]] StepProblem unturned(const StepProblem& problem) const {
    StepProblem forth = step_problem(topology_, inverted(collective_), true);
    return same_network(forth.network, problem.network) ? forth : problem;
  }

  /// First what is reduced, inverted, then what is copied (an All-Reduce: Reduce-Scatter, then
  /// All-Gather), of as many chunks per shard; where theirs differ, both are cut finer.
  void compose(const Collective& reductions, const Collective& copies) {
    if (!request_.proof_file.empty())
      throw InputError("a proof is of one instance: All-Reduce is composed of two");
    const StepProblem forth = step_problem(topology_, copies, false);
    const StepProblem back = step_problem(reversed_, reductions, true);
    set_cost_model(forth.network);
    const bool alike = collective_.parts.front().kind == CollectiveKind::all_reduce &&
                       same_network(forth.network, back.network);
    FrontierRequest half = request_;
    half.most_steps = half.rounds ? half.steps : std::nullopt;
    half.steps = half.rounds = std::nullopt;
    if (request_.rounds) {
      ParetoSynthesis gathering(forth, half, collective_.largest_chunk(), limit_);
      ParetoSynthesis scattering(back, half, collective_.largest_chunk(), limit_);
      compose_instance(back, scattering, forth, gathering, alike);
      return;
    }
    const auto most = request_.steps ? request_.steps : request_.most_steps;
    const auto frontier_of = [&](const StepProblem& problem, const StepProblem& other) {
      const std::uint32_t elsewhere = fewest_steps(other);
      if (most) half.most_steps = *most > elsewhere ? *most - elsewhere : 0;
      return ParetoSynthesis(problem, half, collective_.largest_chunk(), limit_).frontier();
    };
    const StepFrontier second = frontier_of(forth, back);
    const StepFrontier first = alike ? mirrored(second) : frontier_of(back, forth);
    add_trials(first);
    add_trials(second);
    frontier_.bandwidth_bound = (first.bandwidth_bound + second.bandwidth_bound) / counted_;
    frontier_.complete = first.complete && second.complete;
    frontier_.stop = second.stop;
    if (most && !frontier_.complete && !second.timed_out)
      frontier_.stop = fmt::format("asked for at most {} steps in both halves together", *most);
    add_pairs(back, first, forth, second);
  }

  /// Adds the pairs that no other one beats, by steps.
  void add_pairs(const StepProblem& back, const StepFrontier& first, const StepProblem& forth,
                 const StepFrontier& second) {
    std::vector<std::pair<const StepPoint*, const StepPoint*>> pairs;
    for (const StepPoint& a : first.points)
      for (const StepPoint& b : second.points) pairs.emplace_back(&a, &b);
    const auto steps = [](const auto& pair) {
      return pair.first->instance.steps + pair.second->instance.steps;
    };
    const auto cost = [](const auto& pair) { return pair.first->cost() + pair.second->cost(); };
    std::ranges::stable_sort(pairs, {},
                             [&](const auto& pair) { return std::pair(steps(pair), cost(pair)); });
    for (const auto& pair : pairs) {
      const bool better =
          frontier_.points.empty() || cost(pair) / counted_ < frontier_.points.back().cost();
      const bool wanted = request_.steps ? steps(pair) == *request_.steps
                                         : steps(pair) <= request_.most_steps.value_or(UINT32_MAX);
      if (better && wanted) add_pair(back, *pair.first, forth, *pair.second);
    }
  }

  void add_pair(const StepProblem& back, const StepPoint& first, const StepProblem& forth,
                const StepPoint& second) {
    const std::uint32_t chunks_per_shard =
        std::lcm(first.instance.chunks_per_shard, second.instance.chunks_per_shard);
    StepPoint both;
    both.instance.chunks_per_shard = chunks_per_shard;
    both.instance.steps = first.instance.steps + second.instance.steps;
    both.instance.rounds =
        first.instance.rounds * (chunks_per_shard / first.instance.chunks_per_shard) +
        second.instance.rounds * (chunks_per_shard / second.instance.chunks_per_shard);
    both.proof = std::max(first.proof, second.proof);
    both.latency_optimal = first.latency_optimal && second.latency_optimal;
    both.bandwidth_optimal = first.bandwidth_optimal && second.bandwidth_optimal;
    both.least = first.least + second.least;
    both.method =
        first.method == second.method ? first.method : first.method + "; " + second.method;
    both.seconds = first.seconds + second.seconds;
    const auto cut = [&](const StepProblem& problem, const StepPoint& point) {
      return split_chunks(as_schedule(topology_, problem, point.schedule),
                          chunks_per_shard / point.instance.chunks_per_shard);
    };
    add_point(both,
              concatenated(inverted(topology_, cut(back, first), Op::reduce), cut(forth, second)));
  }

  /// Steps and rounds in halves first, then divided in all other ways. Where the network is the
  /// same reversed, one half is the other inverted.
  void compose_instance(const StepProblem& back, ParetoSynthesis& scattering,
                        const StepProblem& forth, ParetoSynthesis& gathering, bool alike) {
    const std::uint32_t steps = *request_.steps, rounds = *request_.rounds;
    std::vector<std::pair<StepInstance, StepInstance>> divisions;
    for (std::uint32_t s = scattering.fewest(); s + gathering.fewest() <= steps; ++s)
      for (std::uint32_t r = s; r + (steps - s) <= rounds; ++r)
        divisions.push_back({{*request_.chunks_per_shard, s, r},
                             {*request_.chunks_per_shard, steps - s, rounds - r}});
    const auto imbalance = [](std::uint32_t a, std::uint32_t b) { return a > b ? a - b : b - a; };
    std::ranges::stable_sort(divisions, {}, [&](const auto& both) {
      return std::pair(imbalance(both.first.steps, both.second.steps),
                       imbalance(both.first.rounds, both.second.rounds));
    });
    frontier_.stop = "one instance was asked for";
    StepFrontier first, second;
    for (const auto& [scatter, gather] : divisions) {
      gathering.solve(gather, second);
      if (second.points.empty()) continue;
      if (alike && scatter == gather)
        first.points = mirrored(second).points;
      else
        scattering.solve(scatter, first);
      if (!first.points.empty()) break;
      second.points.clear();
    }
    add_trials(first);
    add_trials(second);
    frontier_.bandwidth_bound =
        (scattering.bandwidth_bound() + gathering.bandwidth_bound()) / counted_;
    if (first.points.empty()) return;
    frontier_.timed_out = false; // by other divisions
    add_pair(back, first.points.back(), forth, second.points.back());
  }

  void set_cost_model(const StepNetwork& network) {
    frontier_.step_latency = network.step_latency;
    frontier_.round = network.round;
  }

  void add_point(const StepPoint& point, Schedule schedule) {
    frontier_.points.push_back({point.instance.chunks_per_shard,
                                point.instance.chunks_per_shard * counted_, point.instance.steps,
                                point.instance.rounds, point.proof, point.latency_optimal,
                                point.bandwidth_optimal, point.least / counted_, point.method,
                                point.seconds, std::move(schedule)});
    if (request_.found) request_.found(frontier_.points.back());
  }

  void add_trials(const StepFrontier& found) {
    for (const StepTrial& trial : found.trials)
      frontier_.trials.push_back({trial.instance.chunks_per_shard * counted_, trial.instance.steps,
                                  trial.instance.rounds, std::string(answer_text(trial.answer)),
                                  trial.method, trial.seconds});
    frontier_.timed_out = frontier_.timed_out || found.timed_out;
  }

  const Topology& topology_;
  Topology reversed_;
  const Collective& collective_;
  FrontierRequest request_;
  WorkLimit limit_;
  std::uint32_t counted_;
  Frontier frontier_;
};

} // namespace

std::string_view to_text(PointProof proof) {
  switch (proof) {
  case PointProof::lp_tight: return "LP-tight";
  case PointProof::unsat_proven: return "UNSAT-proven";
  case PointProof::best_found: break;
  }
  return "best found";
}

Ratio FrontierPoint::cost() const { return {rounds, chunks}; }

Time Frontier::model_time(const FrontierPoint& point, Bytes chunk_size) const {
  const Time each = serialization(chunk_size, round);
  return {static_cast<std::int64_t>(point.steps) * step_latency.ps +
          static_cast<std::int64_t>(point.rounds) * each.ps};
}

std::uint32_t counted_chunks(const CollectivePart& part) {
  const bool by_member =
      part.kind == CollectiveKind::all_to_all || part.kind == CollectiveKind::all_reduce;
  return by_member ? static_cast<std::uint32_t>(part.group.size()) : 1;
}

std::string frontier_obstacle(const Topology& topology, const Collective& collective) {
  if (collective.parts.size() != 1)
    return "sccl makes one collective at a time, not several at once";
  if (std::string large = size_obstacle(topology, collective); !large.empty()) return large;
  if (needs_direct_paths(topology, collective))
    return "sccl lets every member store, copy and reduce";
  if (reduces(collective) && collective.parts.front().kind == CollectiveKind::custom &&
      !as_multicasts(topology, collective))
    return std::string(no_multicasts);
  return {};
}

Frontier synthesize_frontier(const Topology& topology, const Collective& collective,
                             const FrontierRequest& request, const SynthesisOptions& options) {
  require_consistent(request);
  if (const std::string obstacle = frontier_obstacle(topology, collective); !obstacle.empty())
    throw InputError(obstacle);
  return FrontierSynthesis(topology, collective, request, options).run();
}

FrontierRequest frontier_request(const SynthesisOptions& options) {
  constexpr std::uint32_t most_rounds = 100'000;
  FrontierRequest request;
  const auto number = [&](const char* key, std::uint32_t low, std::uint32_t high = 1'000'000'000) {
    return find_count(options, key, low, high);
  };
  request.slack = number("k", 0, 1000); // there are some k^2 instances
  request.most_steps = number("max_steps", 1);
  request.steps = number("steps", 1);
  request.rounds = number("rounds", 1);
  if (request.rounds.value_or(0) > most_rounds)
    throw InputError(
        fmt::format("rounds {} is out of range (1 .. {})", *request.rounds, most_rounds));
  if (const auto effort = number("effort", 1)) request.effort = *effort;
  if (const auto largest = number("largest", 1)) request.largest = *largest;
  request.symmetric = find_yes(options, "symmetric").value_or(request.symmetric);
  if (const auto* proof = find_setting(options, "proof")) request.proof_file = *proof;
  if (request.rounds && !request.steps) throw InputError("the setting rounds needs steps");
  return request;
}

} // namespace tutti
