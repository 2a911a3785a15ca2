// SCCL's constraints (sec. 3.4: C1 to C6) as clauses. The paper has an integer for the step in
// which a node has a chunk first, for Z3's theory of integers; here a Boolean says it for each
// step, and one for each (chunk, lane, step) that it is sent, which the paper found too slow for Z3
// (sec. 3.4 and 5.4.3).
//
// Why SCCL and TE-CCL have an encoding each: here a variable says in which step a node has a chunk,
// and the number of rounds of a step is itself unknown, in order encoding; TE-CCL's say in which
// epoch a chunk enters a lane, with delays, windows and nodes that don't store. What they share is
// in solvers/cardinality and timed/symmetry.
#include "synth/sccl/multicast.hpp"

#include "synth/solvers/cardinality.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace tutti {

namespace {

std::vector<bool> wanted(const StepProblem& problem) {
  std::vector<bool> wanted;
  for (const TimedChunk& chunk : problem.chunks) wanted.push_back(!chunk.destinations.empty());
  return wanted;
}

class MulticastEncoding {
public:
  MulticastEncoding(const StepProblem& problem, const StepInstance& instance,
                    const StepSymmetry& symmetry, const StepSearch& search)
      : problem_(problem), network_(problem.network), instance_(instance), search_(search),
        symmetry_(symmetry.empty() ? no_symmetry(network_.node_count(), network_.lanes.size(),
                                                 network_.limits.size(), problem.chunks.size())
                                   : symmetry),
        orbits_(symmetry_, wanted(problem)), solver_(search.proof) {
    true_ = solver_.new_variable();
    solver_.add({true_});
    sends_.assign(orbits_.chosen().size() * instance_.chunks_per_shard * network_.lanes.size() *
                      instance_.steps,
                  never);
    for (std::uint32_t i = 0; i < orbits_.chosen().size(); ++i) add_chunk(i);
    add_rounds();
    for (std::uint32_t i = 0; i < network_.limits.size(); ++i)
      if (std::ranges::all_of(symmetry_, [&](const auto& one) { return one.limits[i] >= i; }))
        add_limit(network_.limits[i]);
  }

  StepAnswer solve(const WorkLimit& limit) {
    StepAnswer result;
    result.answer = solver_.solve(limit, {search_.effort});
    if (result.answer == SatAnswer::sat)
      result.schedule = without_dead_ends(problem_, instance_, decoded());
    return result;
  }

private:
  static constexpr Literal never = 0;

  /// has[node][steps done] of one chunk: literals; `never` where it can't be, true_ where it must.
  using Places = std::vector<std::vector<Literal>>;

  [[nodiscard]] Literal& send(std::uint32_t chosen, std::uint32_t piece, std::uint32_t lane,
                              std::uint32_t step) {
    const std::size_t which = std::size_t{chosen} * instance_.chunks_per_shard + piece;
    return sends_[(which * network_.lanes.size() + lane) * instance_.steps + step];
  }

  void add_chunk(std::uint32_t chosen) {
    const TimedChunk& chunk = problem_.chunks[orbits_.chosen()[chosen]];
    const std::vector<std::uint32_t> from = network_.distances_from(chunk.sources);
    std::vector<std::uint32_t> to(network_.node_count(), unreachable); // the nearest destination
    for (const std::uint32_t destination : chunk.destinations) {
      const std::vector<std::uint32_t> distance = network_.distances_to({destination});
      for (std::uint32_t n = 0; n < to.size(); ++n) to[n] = std::min(to[n], distance[n]);
    }
    for (std::uint32_t k = 0; k < instance_.chunks_per_shard; ++k) {
      problem_.require_time();
      const Places has = add_places(chunk, from, to);
      for (std::uint32_t n = 0; n < network_.node_count(); ++n)
        if (from[n] > 0 && from[n] != unreachable && to[n] != unreachable)
          add_receipts(chosen, k, n, from, to, has);
    }
  }

  /// The paper's time(chunk, node), a literal for each value; C1 (sources have it at 0) and C2
  /// (destinations have it at the end).
  Places add_places(const TimedChunk& chunk, const std::vector<std::uint32_t>& from,
                    const std::vector<std::uint32_t>& to) {
    Places has(network_.node_count(), std::vector<Literal>(instance_.steps + 1, never));
    for (std::uint32_t n = 0; n < network_.node_count(); ++n) {
      const bool is_destination = std::ranges::binary_search(chunk.destinations, n);
      if (is_destination && from[n] > instance_.steps) solver_.add({}); // too far away
      if (from[n] == unreachable || to[n] == unreachable) continue;
      for (std::uint32_t s = from[n]; s <= instance_.steps; ++s) {
        has[n][s] = from[n] == 0 || (is_destination && s == instance_.steps)
                        ? true_
                        : solver_.new_variable();
        if (s > from[n]) solver_.add({-has[n][s - 1], has[n][s]});
      }
    }
    return has;
  }

  /// The paper's snd(node, chunk, node'). A node gets a chunk in the step in which it has it first,
  /// over one lane (C3), from who has had it before (C4).
  void add_receipts(std::uint32_t chosen, std::uint32_t k, std::uint32_t n,
                    const std::vector<std::uint32_t>& from, const std::vector<std::uint32_t>& to,
                    const Places& has) {
    for (std::uint32_t s = from[n] - 1; s < instance_.steps; ++s) {
      if (s % 1024 == 0) problem_.require_time();
      const Literal before = has[n][s], after = has[n][s + 1];
      std::vector<Literal> receipts;
      if (to[n] + s < instance_.steps) // it still reaches someone in time
        for (const auto [l] : network_.in_lanes[n]) {
          const Literal held = has[network_.lanes[l].from][s];
          if (held == never) continue;
          const Literal sent = solver_.new_variable();
          send(chosen, k, l, s) = sent;
          receipts.push_back(sent);
          solver_.add({-sent, held});
          solver_.add({-sent, after});
          if (before != never) solver_.add({-sent, -before});
        }
      at_most_one(solver_, receipts);
      std::vector<Literal> got = receipts; // has it after: had it before, or got it
      got.push_back(-after);
      if (before != never) got.push_back(before);
      solver_.add(got);
    }
  }

  /// The paper's r_s, whose sum is R (C6). more_[s][j]: step s has at least j + 2 rounds. None
  /// where the rounds are given.
  void add_rounds() {
    if (!search_.rounds.empty()) return;
    const std::uint32_t spare = instance_.rounds - instance_.steps;
    std::vector<Literal> all;
    more_.resize(instance_.steps);
    for (std::vector<Literal>& more : more_)
      for (std::uint32_t j = 0; j < spare; ++j) {
        more.push_back(solver_.new_variable());
        if (j > 0) solver_.add({-more[j], more[j - 1]});
        all.push_back(more[j]);
      }
    at_most(solver_, all, spare);
  }

  /// The bandwidth constraint of one set of lanes in every step (C5).
  void add_limit(const StepLimit& limit) {
    const std::uint32_t spare = instance_.rounds - instance_.steps;
    const auto capacity = [&](std::uint32_t rounds) {
      return static_cast<std::uint32_t>((limit.per_round * rounds).floor());
    };
    for (std::uint32_t s = 0; s < instance_.steps; ++s) {
      problem_.require_time();
      const std::vector<Literal> inputs = sends_over(limit, s);
      if (!search_.rounds.empty()) {
        at_most(solver_, inputs, capacity(search_.rounds[s]));
        continue;
      }
      if (inputs.size() <= capacity(1)) continue;
      const std::vector<Literal> sum = totalized(solver_, inputs, capacity(spare + 1) + 1);
      for (std::uint32_t rounds = 1; rounds <= spare + 1; ++rounds) {
        const std::uint32_t carried = capacity(rounds);
        if (carried >= sum.size()) break;
        if (rounds <= spare)
          solver_.add({-sum[carried], more_[s][rounds - 1]});
        else
          solver_.add({-sum[carried]});
      }
    }
  }

  std::vector<Literal> sends_over(const StepLimit& limit, std::uint32_t step) {
    std::vector<Literal> inputs;
    for (const ChunkOrbits::Role& role : orbits_.roles()) {
      if (role.by == nullptr) continue;
      for (const LaneId l : limit.lanes)
        for (std::uint32_t k = 0; k < instance_.chunks_per_shard; ++k)
          if (const Literal sent = send(role.chosen, k, role.by->lanes[l.value], step);
              sent != never)
            inputs.push_back(sent);
    }
    return inputs;
  }

  StepSchedule decoded() {
    StepSchedule schedule;
    schedule.rounds = search_.rounds;
    std::uint32_t rounds = std::accumulate(search_.rounds.begin(), search_.rounds.end(), 0U);
    for (const std::vector<Literal>& more : more_) {
      schedule.rounds.push_back(1);
      for (const Literal literal : more) schedule.rounds.back() += solver_.value(literal) ? 1 : 0;
      rounds += schedule.rounds.back();
    }
    schedule.rounds.back() += instance_.rounds - rounds; // spare ones cost nothing to keep
    for (std::uint32_t i = 0; i < orbits_.chosen().size(); ++i)
      for (std::uint32_t k = 0; k < instance_.chunks_per_shard; ++k)
        for (std::uint32_t l = 0; l < network_.lanes.size(); ++l)
          for (std::uint32_t s = 0; s < instance_.steps; ++s) {
            const Literal sent = send(i, k, l, s);
            if (sent == never || !solver_.value(sent)) continue;
            for (const StepAutomorphism& one : symmetry_)
              schedule.sends.push_back(
                  {ChunkId{one.chunks[orbits_.chosen()[i]] * instance_.chunks_per_shard + k},
                   LaneId{one.lanes[l]}, Step{s}});
          }
    sort_sends(schedule);
    return schedule;
  }

  const StepProblem& problem_;
  const StepNetwork& network_;
  StepInstance instance_;
  const StepSearch& search_;
  StepSymmetry symmetry_;
  ChunkOrbits orbits_; // chosen chunks have variables of their own
  SatSolver solver_;
  Literal true_ = 0;
  std::vector<Literal> sends_; // [chosen][chunk][lane][step]
  std::vector<std::vector<Literal>> more_;
};

} // namespace

StepAnswer multicast_steps(const StepProblem& problem, const StepInstance& instance,
                           const StepSymmetry& symmetry, const StepSearch& search,
                           const WorkLimit& limit) {
  return MulticastEncoding(problem, instance, symmetry, search).solve(limit);
}

} // namespace tutti
