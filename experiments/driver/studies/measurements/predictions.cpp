// A curve up to 8 GiB has most of its cost in its last points, and these say nothing new: beyond
// some size a library cuts a buffer into more pieces of the same kind, and each takes as long as
// the one before. So the last points are the line through two sizes with few enough pieces, sent
// with the algorithm, the channels and the chunks that the library takes for the large one. Sizes
// that are cut into as many pieces are sent by one schedule, whose time is that of its longest
// path: a convex function of the size. So between two sizes it lies below the line through them and
// above those through each of them and the next one outside, and where these are as good as one,
// nothing needs to be replayed.
#include "experiments/driver/studies/measurements/predictions.hpp"

#include "algorithms/nccl/plan.hpp"
#include "sim/error.hpp"
#include "synth/bounds/bounds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
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

/// What is known of both sizes, at the wanted one; but for the bound, of which both are none.
Forecast on_line(const Line& line, const Forecast& small, const Forecast& large) {
  Forecast made = large;
  if (!small.problem.empty()) made.problem = small.problem;
  if (!small.time || !large.time) return small.time ? large : small;
  made.is_on_line = true;
  made.time = line(*small.time, *large.time);
  if (small.interval && large.interval)
    made.interval = interval_of(*made.time, line(small.interval->high, large.interval->high));
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

/// Sets the bound of one that is from a line.
void set_bound(const Case& of, Forecast& made) {
  TimeModel model = of.options.model;
  model.discipline = of.disciplines.front();
  const Bound bound = lower_bound(*of.topology, make_collective(*of.topology, of.collective, 1),
                                  model, Chunking::any, of.bound);
  made.bound = bound.time;
  made.bound_words = bound.certificate;
  made.time = std::max(*made.time, made.bound);
  if (made.interval) made.interval->low = std::max(made.interval->low, made.bound);
}

constexpr double straight = 0.01; // what a line may be off

/// All sizes that a library sends in the same way, and what is known of it.
class Curve {
public:
  /// `like` is of a size that is sent so. `first`: the least size that pipelines are filled from;
  /// the line through the last sizes is gone on with. None: sizes are of one schedule.
  Curve(Case like, std::optional<Bytes> first) : like_(std::move(like)), first_(first) {
    if (first_)
      like_.options.settings["tuned_for"] = fmt::format("{}B", like_.collective.size.count);
  }

  void want(Bytes size) { wanted_.insert(size); }
  /// What is to be evaluated before anything else can be said; none: all is known.
  [[nodiscard]] std::vector<Case> next() {
    if (known_.empty()) begin();
    std::vector<Case> cases;
    for (const Bytes size : next_) {
      cases.push_back(like_);
      cases.back().collective.size = size;
    }
    return cases;
  }
  /// Pre: one for each case of next().
  void learn(std::span<const Forecast> answers) {
    for (std::size_t a = 0; a < answers.size(); ++a) known_.emplace(next_[a], answers[a]);
    next_.clear();
    first_ ? extend() : divide();
  }
  /// Pre: a size that is wanted; all is known.
  [[nodiscard]] Forecast at(Bytes size) const {
    const auto [small, large] = around(size);
    if (size == large->first) return large->second;
    Forecast made = on_line(Line(small->first, large->first, size), small->second, large->second);
    if (!made.is_on_line) return made;
    Case of = like_;
    of.collective.size = size;
    set_bound(of, made);
    return made;
  }

private:
  using Known = std::map<Bytes, Forecast>;
  void begin() {
    if (first_) {
      for (int doubled = 0; doubled < 3; ++doubled) next_.push_back({first_->count << doubled});
      return;
    }
    next_ = {*wanted_.begin(), middle_of(wanted_.begin(), wanted_.end()), *wanted_.rbegin()};
    next_.erase(std::unique(next_.begin(), next_.end()), next_.end());
  }
  static Bytes middle_of(std::set<Bytes>::const_iterator begin,
                         std::set<Bytes>::const_iterator end) {
    return *std::next(begin, std::distance(begin, end) / 2);
  }
  void extend() {
    const bool is_answer =
        std::ranges::all_of(known_, [](const auto& each) { return each.second.time.has_value(); });
    const Bytes last = known_.rbegin()->first;
    if (is_answer && !is_straight() && last < *wanted_.rbegin()) next_.push_back({last.count * 2});
  }
  /// Asks for a size between such two that a line doesn't hold between.
  void divide() {
    for (auto large = std::next(known_.begin()); large != known_.end(); ++large) {
      const auto begin = wanted_.upper_bound(std::prev(large)->first),
                 end = wanted_.lower_bound(large->first);
      if (begin != end &&
          !std::all_of(begin, end, [&](Bytes size) { return is_near(large, size); }))
        next_.push_back(middle_of(begin, end));
    }
  }
  /// Whether what is known says enough of a size below `large`, and above the one before.
  [[nodiscard]] bool is_near(Known::const_iterator large, Bytes size) const {
    const auto small = std::prev(large);
    std::vector<std::array<Known::const_iterator, 2>> outside;
    if (small != known_.begin()) outside.push_back({std::prev(small), small});
    if (std::next(large) != known_.end()) outside.push_back({large, std::next(large)});
    const auto on = [size](Known::const_iterator one, Known::const_iterator other, auto seconds) {
      return Line(one->first, other->first, size)(seconds(one->second), seconds(other->second));
    };
    const auto is_narrow = [&](auto seconds) {
      const double most = on(small, large, seconds);
      double least = -std::numeric_limits<double>::infinity();
      for (const auto& [one, other] : outside) least = std::max(least, on(one, other, seconds));
      return std::abs(most - least) <= straight * most;
    };
    for (const auto& [bytes, known] : known_)
      if (!known.time) return false;
    return is_narrow([](const Forecast& f) { return f.time->seconds(); }) &&
           is_narrow([](const Forecast& f) {
             return f.interval ? f.interval->high.seconds() : f.time->seconds();
           });
  }
  /// Whether the last three sizes lie on a line: pipelines are filled.
  [[nodiscard]] bool is_straight() const {
    auto last = known_.rbegin();
    const auto large = last++, middle = last++, small = last;
    const auto slope = [&](const auto& from, const auto& to) {
      return (to->second.time->seconds() - from->second.time->seconds()) /
             static_cast<double>(to->first.count - from->first.count);
    };
    const double before = slope(small, middle), after = slope(middle, large);
    return after > 0 && std::abs(before / after - 1) <= straight;
  }
  /// The two that are known nearest to a size: around it, or both below. The second may be it.
  [[nodiscard]] std::pair<Known::const_iterator, Known::const_iterator> around(Bytes size) const {
    auto large = known_.lower_bound(size);
    if (large == known_.end()) --large;
    if (large == known_.begin()) return {large, large};
    return {std::prev(large), large};
  }

  Case like_;
  std::optional<Bytes> first_;
  std::set<Bytes> wanted_;
  std::vector<Bytes> next_;
  Known known_;
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
    if (!plan) {
      roads.push_back({false, cases.size()});
      cases.push_back(c);
      return;
    }
    // The first three sizes have up to as many transfers as are replayed whole, and a loop at
    // least.
    const double halves = std::min(std::ceil(std::log2(plan->transfers / most_transfers)) + 2,
                                   std::floor(std::log2(plan->loops)));
    std::optional<Bytes> first;
    if (halves >= least_halves)
      first = Bytes{std::llround(
          std::ldexp(static_cast<double>(c.collective.size.count), -static_cast<int>(halves)))};
    const auto [found, is_new] =
        known_.try_emplace({c.topology, c.transport.get(), std::string(c.algorithm.name),
                            c.collective.text(), c.options.settings, plan->picked, !first,
                            first ? std::llround(std::log2(plan->piece)) : plan->pieces},
                           curves.size());
    if (is_new) curves.emplace_back(c, first);
    curves[found->second].want(c.collective.size);
    roads.push_back({true, found->second});
  }

  std::vector<Case> cases; // that are evaluated as they are
  std::vector<Curve> curves;
  std::vector<Road> roads; ///< [case that was added]

private:
  static constexpr double least_halves = 3; // three sizes are less than the one that is wanted

  using Key = std::tuple<const Topology*, const Transport*, std::string, std::string,
                         std::map<std::string, std::string>, std::string, bool, long long>;

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
    for (Curve& curve : planner.curves) {
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
