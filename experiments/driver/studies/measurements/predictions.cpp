// A curve up to 8 GiB has most of its cost in its last points, and these say nothing new: beyond
// some size a library cuts a buffer into more pieces of the same kind, and each takes as long as
// the one before. So the last points are the line through two sizes with few enough pieces, sent
// with the algorithm, the channels and the chunks that the library takes for the large one.
#include "experiments/driver/studies/measurements/predictions.hpp"

#include "algorithms/nccl/plan.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace tutti {

namespace {

constexpr double most_transfers = 1 << 15; // that are replayed whole

Forecast forecast_of(const Evaluation& e) {
  Forecast made;
  made.problem = e.problem;
  made.picked = e.planned_on.empty() ? e.note : e.planned_on;
  if (e.replays.empty()) {
    made.why_not = e.note.empty() ? std::string(to_text(e.status)) : e.note;
    made.picked.clear();
    return made;
  }
  const Replay& replay = e.replays.front();
  made.time = replay.report.completion;
  made.interval = replay.interval;
  made.sensitivities = replay.sensitivities;
  made.bound = replay.bound.time;
  made.bound_words = replay.bound.certificate;
  return made;
}

/// Where a size lies on the line through two smaller ones.
class Line {
public:
  Line(Bytes small, Bytes large, Bytes wanted)
      : beyond_(static_cast<double>(wanted.count - large.count) /
                static_cast<double>(large.count - small.count)) {}

  [[nodiscard]] double operator()(double small, double large) const {
    return large + beyond_ * (large - small);
  }
  [[nodiscard]] Time operator()(Time small, Time large) const {
    constexpr double most = 4e18; // 46 days
    return Time{std::llround(
        std::min((*this)(static_cast<double>(small.ps), static_cast<double>(large.ps)), most))};
  }

private:
  double beyond_;
};

/// What is known of both sizes, at the wanted one. Bounds grow at least in proportion, so that the
/// line stays below them.
Forecast extrapolated(const Line& line, const Forecast& small, const Forecast& large) {
  Forecast made = large;
  if (!small.problem.empty()) made.problem = small.problem;
  if (!small.time || !large.time) return small.time ? large : small;
  made.is_extrapolated = true;
  made.time = line(*small.time, *large.time);
  made.bound = std::min(line(small.bound, large.bound), *made.time);
  if (small.interval && large.interval)
    made.interval = interval_of(*made.time, line(small.interval->high, large.interval->high));
  if (made.interval) made.interval->low = std::max(made.interval->low, made.bound);
  // What moves only the smaller size counts for little at the wanted one.
  for (ConstantEffect& effect : made.sensitivities) {
    const auto moved = [&](const Forecast& of) {
      const auto same = std::ranges::find(of.sensitivities, effect.to, &ConstantEffect::to);
      const double moves = same == of.sensitivities.end() ? 0 : same->moves;
      return of.time->seconds() * std::exp(moves);
    };
    const double then = line(moved(small), moved(large));
    effect.moves = then > 0 ? std::log(then / made.time->seconds()) : effect.moves;
  }
  return made;
}

/// All sizes that a library sends in the same way, and what is known of it.
class Curve {
public:
  /// `like` is of a size that is sent so; sizes from `first` on are evaluated.
  Curve(Case like, Bytes first) : like_(std::move(like)), next_{first} {
    like_.options.settings["tuned_for"] = fmt::format("{}B", like_.collective.size.count);
    for (int doubled = 0; doubled < 2; ++doubled) next_.push_back({next_.back().count * 2});
  }

  void want(Bytes size) { most_ = std::max(most_, size); }
  /// What is to be evaluated before anything else can be said; none: all is known.
  [[nodiscard]] std::vector<Case> next() const {
    std::vector<Case> cases;
    for (const Bytes size : next_) {
      cases.push_back(like_);
      cases.back().collective.size = size;
    }
    return cases;
  }
  /// Pre: one for each case of next().
  void learn(std::span<const Forecast> answers) {
    for (std::size_t a = 0; a < answers.size(); ++a) known_.emplace_back(next_[a], answers[a]);
    next_.clear();
    const bool is_answer =
        std::ranges::all_of(known_, [](const auto& each) { return each.second.time.has_value(); });
    if (is_answer && !is_straight() && known_.back().first < most_)
      next_.push_back({known_.back().first.count * 2});
  }
  [[nodiscard]] Forecast at(Bytes size) const {
    std::size_t next = 1; // the first that is no smaller, else the last
    while (next + 1 < known_.size() && known_[next].first < size) ++next;
    const auto& [small, at_small] = known_[next - 1];
    const auto& [large, at_large] = known_[next];
    if (size == large) return at_large;
    return extrapolated(Line(small, large, size), at_small, at_large);
  }

private:
  /// Whether the last three sizes lie on a line: pipelines are filled.
  [[nodiscard]] bool is_straight() const {
    const std::size_t last = known_.size() - 1;
    const auto slope = [&](std::size_t from) {
      return (known_[from + 1].second.time->seconds() - known_[from].second.time->seconds()) /
             static_cast<double>(known_[from + 1].first.count - known_[from].first.count);
    };
    constexpr double straight = 0.01;
    return slope(last - 1) > 0 && std::abs(slope(last - 2) / slope(last - 1) - 1) <= straight;
  }

  Case like_;
  Bytes most_ = {};
  std::vector<Bytes> next_;
  std::vector<std::pair<Bytes, Forecast>> known_; // sizes double
};

/// How a case's answer is had: by one evaluation, or from a curve.
struct Road {
  bool is_curve = false;
  std::size_t index = 0; ///< of the evaluated cases, or of the curves
};

class Planner {
public:
  void add(const Case& c) {
    const std::optional<LibraryPlan> plan = plan_of(c);
    // The first three sizes have up to as many transfers as are replayed whole.
    const double halves = plan ? std::ceil(std::log2(plan->transfers / most_transfers)) + 1 : 0;
    const Bytes first{std::llround(
        std::ldexp(static_cast<double>(c.collective.size.count), -static_cast<int>(halves) - 1))};
    if (halves < 2 || first.count < least_first) {
      roads.push_back({false, cases.size()});
      cases.push_back(c);
      return;
    }
    const Key key{c.topology,
                  c.transport.get(),
                  std::string(c.algorithm.name),
                  c.collective.text(),
                  c.options.settings,
                  plan->picked,
                  std::llround(std::log2(plan->piece))};
    const auto [found, is_new] = known_.try_emplace(key, curves.size());
    if (is_new) curves.emplace_back(c, first);
    curves[found->second].want(c.collective.size);
    roads.push_back({true, found->second});
  }

  std::vector<Case> cases; // that are evaluated as they are
  std::vector<Curve> curves;
  std::vector<Road> roads; ///< [case that was added]

private:
  static constexpr std::int64_t least_first = 1 << 20; // below a curve isn't worth its three sizes

  using Key = std::tuple<const Topology*, const Transport*, std::string, std::string,
                         std::map<std::string, std::string>, std::string, long long>;

  /// Nothing where that isn't known, or the case says itself how it is cut.
  static std::optional<LibraryPlan> plan_of(const Case& c) {
    if (!c.algorithm.imitates || !c.transport || c.chunks ||
        c.options.settings.contains("tuned_for"))
      return std::nullopt;
    try {
      return library_plan(c.algorithm, *c.topology, make_collective(*c.topology, c.collective, 1),
                          c.options);
    } catch (const InputError&) {
      return std::nullopt; // its evaluation says why
    }
  }

  std::map<Key, std::size_t> known_;
};

std::vector<Forecast> forecasts_of(std::span<const Evaluation> evaluations) {
  std::vector<Forecast> made;
  for (const Evaluation& e : evaluations) made.push_back(forecast_of(e));
  return made;
}

} // namespace

std::vector<Forecast> predict(std::span<const Case> cases, const Evaluator& evaluate) {
  Planner planner;
  for (const Case& c : cases) planner.add(c);
  std::vector<Forecast> evaluated;
  for (bool is_first = true;; is_first = false) {
    std::vector<Case> wanted;
    if (is_first) wanted = planner.cases;
    std::vector<std::size_t> counts;
    for (const Curve& curve : planner.curves) {
      const std::vector<Case> next = curve.next();
      counts.push_back(next.size());
      wanted.insert(wanted.end(), next.begin(), next.end());
    }
    if (wanted.empty()) break;
    const std::vector<Forecast> answers = forecasts_of(evaluate(wanted));
    auto next = answers.begin();
    if (is_first) {
      next += static_cast<std::ptrdiff_t>(planner.cases.size());
      evaluated.assign(answers.begin(), next);
    }
    for (std::size_t c = 0; c < counts.size(); ++c) {
      if (counts[c] > 0)
        planner.curves[c].learn({next, next + static_cast<std::ptrdiff_t>(counts[c])});
      next += static_cast<std::ptrdiff_t>(counts[c]);
    }
  }
  std::vector<Forecast> made;
  for (std::size_t c = 0; c < cases.size(); ++c) {
    const Road& road = planner.roads[c];
    made.push_back(road.is_curve ? planner.curves[road.index].at(cases[c].collective.size)
                                 : evaluated[road.index]);
  }
  return made;
}

} // namespace tutti
