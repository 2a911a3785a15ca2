#include "tests/synth/sccl/exhaustive_steps.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace tutti::testing {

namespace {

using NodeSet = std::uint32_t; // a bit for each node

NodeSet only(std::uint32_t node) { return NodeSet{1} << node; }

NodeSet set_of(const std::vector<std::uint32_t>& nodes) {
  NodeSet set = 0;
  for (const std::uint32_t node : nodes) set |= only(node);
  return set;
}

std::int64_t size(NodeSet set) {
  std::int64_t nodes = 0;
  for (; set != 0; set &= set - 1) ++nodes;
  return nodes;
}

/// What the sends over a limit's lanes may be in so many rounds.
std::int64_t capacity(const StepLimit& limit, std::uint32_t rounds) {
  return limit.per_round.numerator() * rounds / limit.per_round.denominator();
}

/// A node that could get a chunk in this step, and over which lanes.
struct Arrival {
  std::uint32_t chunk, node;
  std::vector<std::uint32_t> lanes;
  bool chosen = false;
};

/// A step that is being filled.
struct OpenStep {
  std::uint32_t step, rounds_after;
  std::vector<Arrival> arrivals;      // by chunk
  std::vector<std::int64_t> room;     // per limit
  std::vector<NodeSet> before, after; // per chunk: who holds it
};

class Search {
public:
  Search(const StepProblem& problem, const StepInstance& instance, std::uint64_t most_choices)
      : network_(problem.network), instance_(instance), most_choices_(most_choices),
        limits_of_(network_.lanes.size()) {
    for (const TimedChunk& chunk : problem.chunks)
      for (std::uint32_t k = 0; k < instance.chunks_per_shard; ++k) {
        start_.push_back(set_of(chunk.sources));
        wanted_.push_back(set_of(chunk.destinations));
      }
    for (std::uint32_t l = 0; l < network_.limits.size(); ++l)
      for (const LaneId lane : network_.limits[l].lanes) limits_of_[lane.value].push_back(l);
    measure();
  }

  ExhaustiveAnswer answer() {
    if (instance_.rounds < instance_.steps) return {Existence::impossible, {}};
    const bool found = from(0, instance_.rounds, start_);
    if (!found && choices_ > most_choices_) return {Existence::undecided, {}};
    if (!found) return {Existence::impossible, {}};
    std::ranges::sort(made_.sends, [](const StepSend& a, const StepSend& b) {
      return std::tuple(a.step, a.lane, a.chunk) < std::tuple(b.step, b.lane, b.chunk);
    });
    return {Existence::exists, made_};
  }

private:
  /// within_[d][n]: where a chunk of node n can be d steps later.
  void measure() {
    within_.emplace_back();
    for (std::uint32_t n = 0; n < network_.node_count(); ++n) within_[0].push_back(only(n));
    for (std::uint32_t d = 0; d < instance_.steps; ++d) {
      std::vector<NodeSet> next = within_[d];
      for (const Lane& lane : network_.lanes) next[lane.from] |= within_[d][lane.to];
      within_.push_back(std::move(next));
    }
  }

  [[nodiscard]] NodeSet reach(NodeSet sources, std::uint32_t steps) const {
    NodeSet reached = 0;
    for (std::uint32_t n = 0; n < network_.node_count(); ++n)
      if (sources & only(n)) reached |= within_[steps][n];
    return reached;
  }

  /// Whether a destination is too far away, or can't take in all that it lacks.
  [[nodiscard]] bool is_hopeless(const std::vector<NodeSet>& held, std::uint32_t steps,
                                 std::uint32_t rounds) const {
    std::vector<std::int64_t> lacking(network_.node_count());
    for (std::size_t c = 0; c < held.size(); ++c) {
      const NodeSet missing = wanted_[c] & ~held[c];
      if (missing & ~reach(held[c], steps)) return true;
      for (std::uint32_t n = 0; n < network_.node_count(); ++n)
        lacking[n] += size(missing & only(n));
    }
    for (std::uint32_t n = 0; n < network_.node_count(); ++n)
      if (lacking[n] > most_into(n, rounds)) return true;
    return false;
  }

  /// Over all lanes to the node, each by its narrowest limit.
  [[nodiscard]] std::int64_t most_into(std::uint32_t node, std::uint32_t rounds) const {
    std::int64_t sum = 0;
    for (std::uint32_t l = 0; l < network_.lanes.size(); ++l) {
      if (network_.lanes[l].to != node) continue;
      std::int64_t least = INT64_MAX;
      for (const std::uint32_t limit : limits_of_[l])
        least = std::min(least, capacity(network_.limits[limit], rounds));
      sum += least;
    }
    return sum;
  }

  /// Whether the end can be reached from this state with so many rounds.
  bool from(std::uint32_t step, std::uint32_t rounds, const std::vector<NodeSet>& held) {
    bool satisfied = true;
    for (std::size_t c = 0; c < held.size(); ++c) satisfied &= (wanted_[c] & ~held[c]) == 0;
    if (satisfied) {
      for (std::uint32_t left = instance_.steps - step; left > 0; --left)
        made_.rounds.push_back(left > 1 ? 1 : rounds - (instance_.steps - step - 1));
      return true;
    }
    if (step == instance_.steps || is_hopeless(held, instance_.steps - step, rounds)) return false;
    std::vector<NodeSet> state = without_order(held);
    state.push_back(step);
    state.push_back(rounds);
    if (failed_.contains(state)) return false;
    const std::uint32_t later = instance_.steps - step - 1;
    for (std::uint32_t now = later == 0 ? rounds : 1; now + later <= rounds; ++now) {
      made_.rounds.push_back(now);
      OpenStep filled = empty_step(step, now, rounds - now, held);
      if (choose(filled, 0)) return true;
      made_.rounds.pop_back();
    }
    failed_.insert(std::move(state));
    return false;
  }

  /// The pieces of a chunk are alike.
  [[nodiscard]] std::vector<NodeSet> without_order(std::vector<NodeSet> held) const {
    for (auto first = held.begin(); first != held.end(); first += instance_.chunks_per_shard)
      std::sort(first, first + instance_.chunks_per_shard);
    return held;
  }

  [[nodiscard]] OpenStep empty_step(std::uint32_t step, std::uint32_t rounds,
                                    std::uint32_t rounds_after,
                                    const std::vector<NodeSet>& held) const {
    OpenStep made{step, rounds_after, {}, {}, held, held};
    for (const StepLimit& limit : network_.limits) made.room.push_back(capacity(limit, rounds));
    for (std::uint32_t c = 0; c < held.size(); ++c)
      for (std::uint32_t n = 0; n < network_.node_count(); ++n) {
        if (held[c] & only(n)) continue;
        if ((reach(only(n), instance_.steps - step - 1) & wanted_[c] & ~held[c]) == 0) continue;
        Arrival arrival{c, n, {}};
        for (std::uint32_t l = 0; l < network_.lanes.size(); ++l)
          if (network_.lanes[l].to == n && (held[c] & only(network_.lanes[l].from)) != 0)
            arrival.lanes.push_back(l);
        if (!arrival.lanes.empty()) made.arrivals.push_back(std::move(arrival));
      }
    return made;
  }

  /// Decides the arrivals from `next` on, and what comes after the step.
  bool choose(OpenStep& step, std::size_t next) {
    if (++choices_ > most_choices_) return false;
    const bool ends_a_chunk =
        next > 0 && (next == step.arrivals.size() ||
                     step.arrivals[next].chunk != step.arrivals[next - 1].chunk);
    if (ends_a_chunk && !is_worth_trying(step, step.arrivals[next - 1].chunk)) return false;
    if (next == step.arrivals.size())
      return is_full(step) && from(step.step + 1, step.rounds_after, step.after);

    Arrival& arrival = step.arrivals[next];
    for (const std::uint32_t lane : arrival.lanes) {
      if (!has_room(step, lane)) continue;
      for (const std::uint32_t limit : limits_of_[lane]) --step.room[limit];
      step.after[arrival.chunk] |= only(arrival.node);
      arrival.chosen = true;
      made_.sends.push_back({ChunkId{arrival.chunk}, LaneId{lane}, Step{step.step}});
      if (choose(step, next + 1)) return true;
      made_.sends.pop_back();
      arrival.chosen = false;
      step.after[arrival.chunk] &= ~only(arrival.node);
      for (const std::uint32_t limit : limits_of_[lane]) ++step.room[limit];
    }
    return choose(step, next + 1);
  }

  /// A lane may count several times in a limit.
  [[nodiscard]] bool has_room(const OpenStep& step, std::uint32_t lane) const {
    const std::vector<std::uint32_t>& limits = limits_of_[lane];
    return std::ranges::all_of(limits, [&](std::uint32_t limit) {
      return step.room[limit] >= std::ranges::count(limits, limit);
    });
  }

  /// Of a chunk whose arrivals are decided: its destinations are near enough, and of pieces that
  /// were alike, earlier ones come to a larger set.
  [[nodiscard]] bool is_worth_trying(const OpenStep& step, std::uint32_t chunk) const {
    const NodeSet missing = wanted_[chunk] & ~step.after[chunk];
    if (missing & ~reach(step.after[chunk], instance_.steps - step.step - 1)) return false;
    for (std::uint32_t other = chunk - chunk % instance_.chunks_per_shard; other < chunk; ++other)
      if (step.before[other] == step.before[chunk] && step.after[other] < step.after[chunk])
        return false;
    return true;
  }

  /// Whether no further send fits in.
  [[nodiscard]] bool is_full(const OpenStep& step) const {
    return std::ranges::none_of(step.arrivals, [&](const Arrival& arrival) {
      return !arrival.chosen && std::ranges::any_of(arrival.lanes, [&](std::uint32_t lane) {
        return has_room(step, lane);
      });
    });
  }

  const StepNetwork& network_;
  StepInstance instance_;
  std::uint64_t choices_ = 0, most_choices_;
  std::vector<std::vector<std::uint32_t>> limits_of_; // per lane
  std::vector<NodeSet> start_, wanted_;               // per chunk
  std::vector<std::vector<NodeSet>> within_;
  std::set<std::vector<NodeSet>> failed_; // states, their step and rounds
  StepSchedule made_;
};

} // namespace

ExhaustiveAnswer try_all_schedules(const StepProblem& problem, const StepInstance& instance,
                                   std::uint64_t most_choices) {
  return Search(problem, instance, most_choices).answer();
}

} // namespace tutti::testing
