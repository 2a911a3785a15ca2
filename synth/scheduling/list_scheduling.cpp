// Priorities are the longest chains of transfers that must follow (critical paths), computed once
// from the precedence. Several orders are tried, since list scheduling has anomalies (Graham):
// these priorities, the same with a random precedence of whole chunks, the order given, and that at
// its own pace. What counts is how long a replay takes that keeps the order.

#include "synth/scheduling/list_scheduling.hpp"

#include "sim/engines/engine.hpp"
#include "sim/random.hpp"
#include "synth/scheduling/kept_order.hpp"
#include "synth/scheduling/link_dispatch.hpp"
#include "synth/scheduling/transfer_precedence.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace tutti {

namespace {

/// How long transfers take on links that nobody else uses, in ps.
class Durations {
public:
  Durations(const Topology& topology, const TimeModel& model, const PathTable& paths)
      : topology_(topology), model_(model), paths_(paths), known_(paths.size()) {}

  [[nodiscard]] std::int64_t of(PathId path, Bytes size) {
    Known& known = known_[path.value];
    if (known.size != size) known = {size, computed(path, size)};
    return known.duration;
  }

private:
  struct Known {
    Bytes size;
    std::int64_t duration = 0;
  };

  [[nodiscard]] std::int64_t computed(PathId path, Bytes size) const {
    std::int64_t head = 0, tail = 0;
    for (const LinkId id : paths_.links(path)) {
      const Link& link = topology_.link(id);
      const std::int64_t sent = serialization(size, topology_.effective_bandwidth(id)).ps;
      tail = std::max(head + sent, tail) + link.latency.ps;
      head = cuts_through(topology_.node(link.to), model_) ? head + link.latency.ps : tail;
    }
    return tail;
  }

  const Topology& topology_;
  const TimeModel& model_;
  const PathTable& paths_;
  std::vector<Known> known_;
};

/// 0 .. count-1 for each chunk's class, in order.
struct Classes {
  std::vector<std::uint32_t> of_chunk; // empty: all alike
  std::uint64_t count = 1;
};

Classes classes_of(std::span<const std::int64_t> chunk_priority) {
  Classes classes;
  std::vector<std::int64_t> distinct(chunk_priority.begin(), chunk_priority.end());
  std::ranges::sort(distinct);
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  if (distinct.size() < 2) return classes;
  classes.count = distinct.size();
  for (const std::int64_t priority : chunk_priority)
    classes.of_chunk.push_back(static_cast<std::uint32_t>(
        std::ranges::lower_bound(distinct, priority) - distinct.begin()));
  return classes;
}

/// Lower keys for lower classes, within each for longer tails.
void set_keys(TransferPrecedence& precedence, const Classes& classes,
              const std::vector<std::int64_t>& tails) {
  const std::uint64_t levels = (std::uint64_t{1} << 32) / classes.count;
  std::int64_t longest = 1;
  for (const std::int64_t tail : tails) longest = std::max(longest, tail);
  const double scale = static_cast<double>(levels - 1) / static_cast<double>(longest);
  for (std::uint32_t i = 0; i < tails.size(); ++i) {
    const auto level = static_cast<std::uint64_t>(static_cast<double>(longest - tails[i]) * scale);
    const std::uint64_t its_class =
        classes.of_chunk.empty() ? 0 : classes.of_chunk[precedence.chunk(i).value];
    precedence.set_key(i, static_cast<std::uint32_t>(its_class * levels + level));
  }
}

/// All of a chunk longer by the same, at random up to 0.7 of the longest: where every link is full,
/// it helps that one chunk has precedence over another wherever they meet (Leighton, Maggs, Rao
/// 1994, "Packet routing and job-shop scheduling in O(congestion + dilation) steps").
std::vector<std::int64_t> with_precedence(std::vector<std::int64_t> tails, const Schedule& schedule,
                                          std::size_t chunks, Random& random) {
  std::int64_t longest = 0;
  for (const std::int64_t tail : tails) longest = std::max(longest, tail);
  std::vector<std::int64_t> extra(chunks);
  for (std::int64_t& time : extra)
    time =
        static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(longest) / 10 * 7 + 1));
  for (std::size_t i = 0; i < tails.size(); ++i) tails[i] += extra[schedule[i].chunk.value];
  return tails;
}

Schedule reordered(const Schedule& schedule, std::span<const std::uint32_t> order) {
  Schedule made(schedule.paths().link_count());
  made.paths() = schedule.paths();
  made.reserve(schedule.size());
  for (const std::uint32_t i : order) made.push(schedule[i]);
  return made;
}

/// When the busiest link or group ends, if it never waits.
Time busiest(const Topology& topology, const Collective& collective, const Schedule& schedule) {
  std::vector<Time> links(topology.link_count()), groups(topology.groups().size());
  Time most;
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    const Bytes size = collective.chunks[schedule[i].chunk.value].size;
    for (const LinkId link : schedule.paths().links(schedule.path_of(i))) {
      links[link.value] += serialization(size, topology.link(link).bandwidth);
      most = std::max(most, links[link.value]);
      for (const std::uint32_t g : topology.groups_of(link)) {
        groups[g] += serialization(size, topology.groups()[g].bandwidth);
        most = std::max(most, groups[g]);
      }
    }
  }
  return most;
}

/// Tries orders, and keeps the one whose replay ends first.
class OrderTrials {
public:
  OrderTrials(const Topology& topology, const Collective& collective, const Schedule& given,
              const TimeModel& model, const Classes& classes, const WorkLimit& limit)
      : topology_(topology), collective_(collective), given_(given), model_(model),
        classes_(classes), limit_(limit), precedence_(topology, collective.chunks.size(), given) {}

  [[nodiscard]] const TransferPrecedence& precedence() const { return precedence_; }

  void attempt(const std::vector<std::int64_t>& tails, const std::optional<Pace>& pace = {}) {
    set_keys(precedence_, classes_, tails);
    const Dispatched made =
        dispatched(topology_, collective_, given_, model_, precedence_, pace, limit_);
    limit_.require();
    if (best_ && made.makespan >= best_->makespan) return;
    Schedule schedule = reordered(given_, made.order);
    try {
      replay(made, schedule, pace);
    } catch (const LimitReached&) { // it holds, and only its time isn't known
      if (!best_) best_ = Timed{std::move(schedule), made.makespan, made.makespan, true};
      throw;
    }
  }
  void attempt_given() {
    const Time as_given =
        run_native(topology_, collective_, given_, model_, {.watch = limit_.watch()}).completion;
    take({given_, as_given, !needs_kept_order(topology_, given_)}, as_given);
  }

  [[nodiscard]] bool has_one() const { return best_.has_value(); }
  /// Whether no order is faster by more than 0.2 %: the busiest link or group hardly waits.
  [[nodiscard]] bool is_at_load(Time busiest) const {
    return best_ && best_->makespan.ps <= busiest.ps + busiest.ps / 500;
  }
  [[nodiscard]] Timed best() && {
    if (!is_done_ && needs_kept_order(topology_, best_->schedule)) {
      try {
        best_ = timed(
            with_kept_plan(topology_, collective_, best_->schedule, model_, nullptr, {}, limit_),
            best_->planned);
      } catch (const LimitReached&) {
        best_->is_queued = true;
      }
    }
    return *std::move(best_);
  }

private:
  /// The schedule has the order that was made.
  void replay(const Dispatched& made, const Schedule& schedule, const std::optional<Pace>& pace) {
    if (pace) {
      const PlannedTimes plan = times_of(made);
      const auto kept_within = [&](Time tolerance) {
        return with_kept_plan(topology_, collective_, schedule, model_, &plan, tolerance, limit_);
      };
      KeptOrder kept = kept_within({});
      // Clocks that are late themselves delay what they hold back.
      if (is_longer(kept.completion, made.makespan)) take(kept_within(pace->lead), made.makespan);
      take(std::move(kept), made.makespan);
    } else if (made.as_replayed) {
      best_ = Timed{schedule, made.makespan, made.makespan};
      is_done_ = false;
    } else {
      take(with_kept_plan(topology_, collective_, schedule, model_, nullptr, {}, limit_),
           made.makespan);
    }
  }

  /// In order of start.
  static PlannedTimes times_of(const Dispatched& made) {
    PlannedTimes plan;
    for (const std::uint32_t i : made.order) {
      plan.starts.push_back(made.starts[i]);
      plan.lefts.push_back(made.lefts[i]);
      plan.deliveries.push_back(made.deliveries[i]);
    }
    return plan;
  }

  /// By more than 1 %.
  static bool is_longer(Time time, Time than) { return time.ps > than.ps + than.ps / 100; }

  void take(KeptOrder made, Time planned) {
    if (best_ && made.completion >= best_->makespan) return;
    best_ = timed(std::move(made), planned);
    is_done_ = true;
  }

  static Timed timed(KeptOrder made, Time planned) {
    return {std::move(made.schedule), made.is_kept ? planned : made.completion, made.completion,
            !made.is_kept};
  }

  const Topology& topology_;
  const Collective& collective_;
  const Schedule& given_;
  const TimeModel& model_;
  const Classes& classes_;
  const WorkLimit& limit_;
  TransferPrecedence precedence_;
  std::optional<Timed> best_;
  bool is_done_ = true; // whether best_ has the dependencies that it needs
};

} // namespace

Timed list_scheduled(const Topology& topology, const Collective& collective,
                     const Schedule& any_valid_order, const TimeModel& model,
                     const ListSchedulingOptions& options, const WorkLimit& limit) {
  constexpr std::array leads{0.04, 0.02}; // of the whole
  limit.require();
  const Schedule& given = any_valid_order;
  const Classes classes = classes_of(options.chunk_priority);
  Durations durations(topology, model, given.paths());
  OrderTrials trials(topology, collective, given, model, classes, limit);
  const Time whole = busiest(topology, collective, given);
  const auto at_pace = [&](double lead) {
    const Time early{static_cast<std::int64_t>(lead * static_cast<double>(whole.ps))};
    trials.attempt(std::vector<std::int64_t>(given.size()), Pace{whole, early});
  };
  try {
    if (options.is_even) at_pace(leads[0]);
    if (options.effort == 0 || trials.is_at_load(whole)) return std::move(trials).best();
    const std::vector<std::int64_t> tails = trials.precedence().tails([&](std::uint32_t i) {
      return durations.of(given.path_of(i), collective.chunks[given[i].chunk.value].size);
    });
    limit.require();
    trials.attempt(tails);
    Random random(given.size());
    for (unsigned e = 1; e < options.effort; ++e)
      if (e != 2 && !trials.is_at_load(whole))
        trials.attempt(with_precedence(tails, given, collective.chunks.size(), random));
    if (trials.is_at_load(whole)) return std::move(trials).best();
    if (options.effort > 2 && options.is_even) at_pace(leads[1]);
    // Where much is decided by entry, luck counts.
    if (options.effort > 2 && classes.of_chunk.empty() && !limit.reached()) trials.attempt_given();
  } catch (const LimitReached&) { // the best so far
    if (!trials.has_one()) throw;
  }
  return std::move(trials).best();
}

} // namespace tutti
