// A list schedule with restarts: each chunk chooses among the paths that its fractions take, and
// stretches of paths are placed in a calendar by keys: the flows' own times, order of insertion,
// and random perturbations of the best plan so far, each improved forward and backward.
#include "synth/teccl/flows/integral_plan.hpp"

#include "sim/random.hpp"
#include "synth/teccl/flows/orbits.hpp"
#include "synth/teccl/flows/path_planner.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace tutti {

namespace {

/// All paths that the parts of a chunk take and the whole chunk can. `calendar`: empty.
std::vector<PathChoice> choices_of(const EpochNetwork& network, CapacityCalendar& calendar,
                                   const TimedChunk& chunk, std::span<const TimedAmount> amounts) {
  FlowTracer tracer(network, NodeId{chunk.sources.front()}, amounts);
  std::map<std::vector<LaneId>, PathChoice> by_lanes;
  while (auto path = tracer.take(NodeId{chunk.destinations.front()}, no_epoch - 1, 1)) {
    std::vector<LaneId> lanes;
    for (const TimedStep& step : path->steps) lanes.push_back(step.lane);
    const TimedStep& last = path->steps.back();
    const Epoch there = last.epoch + network.lanes[last.lane.value].delay;
    PathChoice& choice = by_lanes[lanes];
    choice.amount += path->amount;
    if (!choice.lanes.empty() && choice.there <= there) continue;
    choice.lanes = lanes;
    choice.there = there;
    choice.fastest = std::move(*path);
  }
  std::vector<PathChoice> choices;
  for (auto& [lanes, choice] : by_lanes)
    if (is_passable(network, calendar, lanes)) choices.push_back(std::move(choice));
  return choices;
}

std::vector<ChunkChoices> chunk_choices(const EpochProblem& problem, const EpochFlows& flows) {
  std::vector<std::vector<TimedAmount>> amounts(problem.chunks.size());
  for (const EpochFlows::Part& part : flows.parts)
    amounts[part.send.chunk.value].push_back({part.send.epoch, part.send.lane, part.amount});
  CapacityCalendar calendar(problem.network);
  std::vector<ChunkChoices> paths;
  for (std::uint32_t c = 0; c < amounts.size(); ++c) {
    problem.require_time();
    if (!amounts[c].empty())
      paths.push_back({c, choices_of(problem.network, calendar, problem.chunks[c], amounts[c])});
  }
  return paths;
}

/// Plans from several beginnings, as long as the effort lasts; the shortest stays.
class PlanSearch {
public:
  /// `enough`: a plan in so many epochs will do.
  PlanSearch(const EpochProblem& problem, std::span<const ChunkChoices> paths, std::uint32_t enough)
      : has_buffer_limit_(problem.buffer_limit.has_value()), enough_(enough), paths_(paths),
        planner_(problem, paths), order_(paths.size()) {
    std::iota(order_.begin(), order_.end(), 0U);
  }

  EpochPlan run() {
    constexpr std::uint64_t most_questions = 2'000'000;
    constexpr int most_rounds = 400;
    for (const bool aligned : {false, true}) {
      planner_.set_aligned(aligned);
      if (!is_done() && !has_buffer_limit_) try_flow_times(planner_.even_choice());
      sort_by([&](std::uint32_t c) { return first_arrival(c); });
      if (!is_done()) try_insertion();
      sort_by([&](std::uint32_t c) { return -first_arrival(c); });
      if (!is_done()) try_insertion();
    }
    for (int round = 0; best_ && !is_done() && round < most_rounds; ++round) {
      if (planner_.effort() >= most_questions) break;
      planner_.set_aligned(round % 4 >= 2);
      const double most_shake =
          1 + best_->length / shake_parts[static_cast<std::size_t>(round / 4) % shake_parts.size()];
      if (round % 2 == 0 && !has_buffer_limit_)
        try_shaken_times(most_shake);
      else
        try_shaken_order(most_shake);
    }
    return best_ ? planner_.sends(*best_) : EpochPlan{};
  }

private:
  using Keys = std::vector<std::vector<double>>;
  static constexpr std::array shake_parts{4.0, 16.0, 64.0}; ///< of the plan's length

  [[nodiscard]] bool is_done() const { return best_ && best_->length <= enough_; }

  [[nodiscard]] double first_arrival(std::uint32_t chunk) const {
    Epoch there = no_epoch;
    for (const PathChoice& choice : paths_[chunk].choices) there = std::min(there, choice.there);
    return there.value;
  }

  template <typename Key> void sort_by(const Key& key) {
    std::ranges::sort(order_, {}, [&](std::uint32_t c) { return std::pair(key(c), c); });
  }

  void keep(PathPlan plan) {
    if (!has_buffer_limit_) planner_.improve(plan);
    if (!best_ || plan.length < best_->length) best_ = std::move(plan);
  }

  /// In the order in which the flows send.
  void try_flow_times(const std::vector<std::uint32_t>& choice) {
    Keys keys(paths_.size());
    for (std::uint32_t c = 0; c < paths_.size(); ++c) {
      auto step = paths_[c].choices[choice[c]].fastest.steps.begin();
      for (const PathStretch& stretch : planner_.stretches(c, choice[c])) {
        keys[c].push_back(step->epoch.value);
        step += static_cast<std::ptrdiff_t>(stretch.lanes.size());
      }
    }
    keep(planner_.as_early(choice, keys));
  }

  void try_insertion() {
    if (std::optional<PathPlan> plan = planner_.inserted(order_)) keep(std::move(*plan));
  }

  /// As the best so far, each chunk somewhat earlier or later.
  void try_shaken_times(double most_shake) {
    Keys keys(paths_.size());
    for (std::size_t c = 0; c < paths_.size(); ++c) {
      const double later = shake(most_shake);
      for (const Epoch epoch : best_->epochs[c]) keys[c].push_back(epoch.value + later);
    }
    keep(planner_.as_early(best_->choice, keys));
  }

  void try_shaken_order(double most_shake) {
    std::vector<double> keys;
    for (std::size_t c = 0; c < paths_.size(); ++c)
      keys.push_back(best_->epochs[c].front().value + shake(most_shake));
    sort_by([&](std::uint32_t c) { return keys[c]; });
    try_insertion();
  }

  double shake(double most) {
    constexpr std::uint64_t steps = 1024;
    return most * static_cast<double>(random_.below(steps)) / steps;
  }

  bool has_buffer_limit_;
  std::uint32_t enough_;
  std::span<const ChunkChoices> paths_;
  PathPlanner planner_;
  std::vector<std::uint32_t> order_; ///< of chunks
  std::optional<PathPlan> best_;
  Random random_{1};
};

} // namespace

EpochPlan integral_plan(const EpochProblem& problem, const EpochFlows& flows) {
  const std::vector<ChunkChoices> paths = chunk_choices(problem, flows);
  if (std::ranges::any_of(paths, [](const auto& chunk) { return chunk.choices.empty(); }))
    return {};
  return PlanSearch(problem, paths, flows.epochs).run();
}

} // namespace tutti
