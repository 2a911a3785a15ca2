// A job shop whose machines are limits: jobs are stretches of paths, serial schedule generation
// places each at the first epoch that its calendar lets, and forward-backward improvement (Li and
// Willis 1992) shortens the plan. Choices of paths are balanced by prices that grow steeply with
// the load.
#include "synth/teccl/flows/path_planner.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace tutti {

namespace {

std::vector<PathStretch> cut_at_stores(const EpochNetwork& network, std::span<const LaneId> lanes) {
  std::vector<PathStretch> stretches;
  PathStretch next;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const Lane& lane = network.lanes[lanes[i].value];
    next.delay += lane.delay;
    for (const auto [l] : network.limits_of[lanes[i].value])
      if (network.limits[l].most == 1)
        next.stride = std::max(next.stride, network.limits[l].window);
    if (!network.stores[lane.to]) continue;
    next.lanes = lanes.subspan(begin, i + 1 - begin);
    stretches.push_back(next);
    next = {};
    begin = i + 1;
  }
  return stretches;
}

/// Prices by which the highest load is kept low: as it grows to a high power of the load.
class PathPrices {
public:
  explicit PathPrices(const EpochNetwork& network)
      : uses_(network.lanes.size()), loads_(network.limits.size()) {
    for (std::uint32_t i = 0; i < network.limits.size(); ++i) {
      const EpochLimit& limit = network.limits[i];
      for (const LaneUse& use : limit.uses)
        uses_[use.lane.value].push_back({i, static_cast<double>(limit.window) / limit.most});
    }
  }

  void add(std::span<const LaneId> lanes, double amount) {
    for (const LaneId lane : lanes)
      for (const Use& use : uses_[lane.value]) loads_[use.limit] += amount * use.epochs;
  }
  /// Prices are relative to the present highest load from now on.
  void set_scale() {
    scale_ = 0;
    for (const double load : loads_) scale_ = std::max(scale_, load);
  }
  void clear() { std::ranges::fill(loads_, 0); }
  /// The price of one more chunk on these lanes.
  [[nodiscard]] double price(std::span<const LaneId> lanes) const {
    double price = 0;
    for (const LaneId lane : lanes)
      for (const Use& use : uses_[lane.value])
        price += power((loads_[use.limit] + use.epochs) / scale_) -
                 power(loads_[use.limit] / scale_) + use.epochs / (scale_ * 1e3);
    return price;
  }

private:
  struct Use {
    std::uint32_t limit = 0;
    double epochs = 0; ///< that a chunk takes of its bandwidth
  };
  static double power(double load) {
    for (int doublings = 0; doublings < 4; ++doublings) load *= load;
    return load;
  }

  std::vector<std::vector<Use>> uses_;
  std::vector<double> loads_;
  double scale_ = 1;
};

} // namespace

bool is_passable(const EpochNetwork& network, CapacityCalendar& calendar,
                 std::span<const LaneId> lanes) {
  return std::ranges::all_of(cut_at_stores(network, lanes), [&](const PathStretch& stretch) {
    const bool fits = calendar.take(stretch.lanes, Epoch{0});
    if (fits) calendar.give_back(stretch.lanes, Epoch{0});
    return fits;
  });
}

PathPlanner::PathPlanner(const EpochProblem& problem, std::span<const ChunkChoices> paths)
    : problem_(problem), paths_(paths), calendar_(problem.network),
      kept_(problem.network.node_count()) {
  for (const ChunkChoices& chunk : paths) {
    auto& choices = stretches_.emplace_back();
    for (const PathChoice& choice : chunk.choices)
      choices.push_back(cut_at_stores(problem.network, choice.lanes));
  }
}

std::vector<std::uint32_t> PathPlanner::even_choice() const {
  constexpr int most_sweeps = 8;
  PathPrices prices(problem_.network);
  for (const ChunkChoices& chunk : paths_)
    for (const PathChoice& choice : chunk.choices) prices.add(choice.lanes, choice.amount);
  prices.set_scale();
  prices.clear();
  std::vector<std::uint32_t> chosen(paths_.size(), no_path_yet);
  bool is_settled = false;
  for (int sweep = 0; sweep < most_sweeps && !is_settled; ++sweep) {
    is_settled = true;
    for (std::size_t c = 0; c < paths_.size(); ++c) {
      const std::vector<PathChoice>& choices = paths_[c].choices;
      if (chosen[c] != no_path_yet) prices.add(choices[chosen[c]].lanes, -1);
      std::vector<double> price;
      for (const PathChoice& choice : choices) price.push_back(prices.price(choice.lanes));
      const auto best = static_cast<std::uint32_t>(std::ranges::min_element(price) - price.begin());
      constexpr double less = 1 - 1e-9; // so that it settles
      if (chosen[c] == no_path_yet || price[best] < price[chosen[c]] * less) {
        chosen[c] = best;
        is_settled = false;
      }
      prices.add(choices[chosen[c]].lanes, 1);
    }
  }
  return chosen;
}

std::vector<PathPlanner::Job>
PathPlanner::jobs(const std::vector<std::uint32_t>& choice,
                  const std::vector<std::vector<double>>& keys) const {
  std::vector<Job> jobs;
  for (std::uint32_t c = 0; c < paths_.size(); ++c)
    for (std::uint32_t i = 0; i < stretches_[c][choice[c]].size(); ++i)
      jobs.push_back({keys[c][i], c, i});
  std::ranges::sort(jobs, {},
                    [](const Job& job) { return std::tuple(job.key, job.chunk, job.stretch); });
  return jobs;
}

PathPlan PathPlanner::as_early(const std::vector<std::uint32_t>& choice,
                               const std::vector<std::vector<double>>& keys) {
  calendar_.clear();
  PathPlan plan{choice, std::vector<std::vector<Epoch>>(paths_.size()), 0};
  std::vector<Epoch> ready(paths_.size());
  for (const Job& job : jobs(choice, keys)) {
    const PathStretch& stretch = stretches_[job.chunk][choice[job.chunk]][job.stretch];
    const Epoch start = calendar_.take_first(stretch.lanes, ready[job.chunk], stride_of(stretch));
    plan.epochs[job.chunk].push_back(start);
    ready[job.chunk] = start + stretch.delay;
    plan.length = std::max(plan.length, ready[job.chunk].value);
  }
  return plan;
}

std::optional<std::vector<std::vector<double>>> PathPlanner::as_late(const PathPlan& plan,
                                                                     std::uint32_t end) {
  calendar_.clear();
  std::vector<std::vector<double>> minus_finish(paths_.size()), starts(paths_.size());
  for (std::size_t c = 0; c < paths_.size(); ++c) {
    const std::vector<PathStretch>& path = stretches_[c][plan.choice[c]];
    starts[c].resize(path.size());
    for (std::size_t i = 0; i < path.size(); ++i)
      minus_finish[c].push_back(-static_cast<double>((plan.epochs[c][i] + path[i].delay).value));
  }
  std::vector<Epoch> due(paths_.size(), Epoch{end});
  for (const Job& job : jobs(plan.choice, minus_finish)) {
    const PathStretch& stretch = stretches_[job.chunk][plan.choice[job.chunk]][job.stretch];
    if (due[job.chunk] < Epoch{stretch.delay}) return std::nullopt;
    const auto start =
        calendar_.take_last(stretch.lanes, due[job.chunk] - stretch.delay, stride_of(stretch));
    if (!start) return std::nullopt;
    starts[job.chunk][job.stretch] = start->value;
    due[job.chunk] = *start;
  }
  return starts;
}

void PathPlanner::improve(PathPlan& plan) {
  constexpr int patience = 2; // rounds without success
  for (int failures = 0; failures < patience;) {
    const auto late = as_late(plan, 2 * plan.length);
    if (!late) return;
    PathPlan better = as_early(plan.choice, *late);
    if (better.length > plan.length) return;
    failures = better.length < plan.length ? 0 : failures + 1;
    plan = std::move(better);
  }
}

/// Nothing where a stretch can't follow the one before because of buffers, in any epoch.
std::optional<std::vector<Epoch>> PathPlanner::first_epochs(std::span<const PathStretch> path) {
  std::size_t quiet = 0; // from then on nothing else is at any node
  for (const std::vector<std::uint32_t>& kept : kept_) quiet = std::max(quiet, kept.size());
  std::vector<Epoch> epochs;
  for (Epoch first;; ++first) {
    Epoch ready = first;
    epochs.clear();
    for (const PathStretch& stretch : path) {
      epochs.push_back(calendar_.take_first(stretch.lanes, ready, stride_of(stretch)));
      ready = epochs.back() + stretch.delay;
    }
    if (has_buffers(path, epochs)) return epochs;
    first = epochs.front();
    const bool was_alone =
        first.value > quiet && std::ranges::all_of(path, [&](const PathStretch& each) {
          const auto i = static_cast<std::size_t>(&each - path.data());
          return i == 0 || epochs[i] == epochs[i - 1] + path[i - 1].delay;
        });
    for (std::size_t i = 0; i < path.size(); ++i) calendar_.give_back(path[i].lanes, epochs[i]);
    if (was_alone) return std::nullopt;
  }
}

// A chunk counts at a node between two stretches from its arrival to its leaving, both included.
bool PathPlanner::has_buffers(std::span<const PathStretch> path,
                              std::span<const Epoch> epochs) const {
  if (!problem_.buffer_limit) return true;
  for (std::size_t i = 1; i < path.size(); ++i) {
    const std::uint32_t node = problem_.network.lanes[path[i].lanes.front().value].from;
    for (std::uint32_t k = (epochs[i - 1] + path[i - 1].delay).value; k <= epochs[i].value; ++k)
      if ((k < kept_[node].size() ? kept_[node][k] : 0) >= *problem_.buffer_limit) return false;
  }
  return true;
}

void PathPlanner::use_buffers(std::span<const PathStretch> path, std::span<const Epoch> epochs) {
  if (!problem_.buffer_limit) return;
  for (std::size_t i = 1; i < path.size(); ++i) {
    std::vector<std::uint32_t>& kept =
        kept_[problem_.network.lanes[path[i].lanes.front().value].from];
    if (kept.size() <= epochs[i].value) kept.resize(epochs[i].value + std::size_t{1});
    for (std::uint32_t k = (epochs[i - 1] + path[i - 1].delay).value; k <= epochs[i].value; ++k)
      ++kept[k];
  }
}

std::optional<PathPlan> PathPlanner::inserted(std::span<const std::uint32_t> order) {
  calendar_.clear();
  for (std::vector<std::uint32_t>& kept : kept_) kept.clear();
  PathPlan plan{std::vector<std::uint32_t>(paths_.size(), no_path_yet),
                std::vector<std::vector<Epoch>>(paths_.size()), 0};
  for (const std::uint32_t c : order) {
    Epoch there = no_epoch;
    for (std::uint32_t w = 0; w < stretches_[c].size(); ++w) {
      const std::vector<PathStretch>& path = stretches_[c][w];
      const std::optional<std::vector<Epoch>> epochs = first_epochs(path);
      if (!epochs) continue;
      for (std::size_t i = 0; i < path.size(); ++i)
        calendar_.give_back(path[i].lanes, (*epochs)[i]);
      if (epochs->back() + path.back().delay >= there) continue;
      there = epochs->back() + path.back().delay;
      plan.choice[c] = w;
      plan.epochs[c] = *epochs;
    }
    if (plan.choice[c] == no_path_yet) return std::nullopt;
    const std::vector<PathStretch>& path = stretches_[c][plan.choice[c]];
    for (std::size_t i = 0; i < path.size(); ++i) calendar_.take(path[i].lanes, plan.epochs[c][i]);
    use_buffers(path, plan.epochs[c]);
    plan.length = std::max(plan.length, there.value);
  }
  return plan;
}

EpochPlan PathPlanner::sends(const PathPlan& plan) const {
  EpochPlan sends;
  for (std::size_t c = 0; c < paths_.size(); ++c) {
    const std::vector<PathStretch>& path = stretches_[c][plan.choice[c]];
    for (std::size_t i = 0; i < path.size(); ++i) {
      Epoch epoch = plan.epochs[c][i];
      for (const LaneId lane : path[i].lanes) {
        sends.push_back({epoch, lane, ChunkId{paths_[c].chunk}});
        epoch += problem_.network.lane(lane).delay;
      }
    }
  }
  std::ranges::sort(sends);
  return sends;
}

} // namespace tutti
