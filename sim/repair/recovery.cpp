// The four policies. Report and reroute leave the schedule as it is and need one replay; the others
// plan anew: the rest from who holds what, or everything from the beginning.
//
// Each of those answers is a choice: the present plan goes on, or a plan for the residual
// collective replaces it. Resynthesis replays both under the events known so far and takes the new
// plan only where it leaves less missing, then less lost, then ends sooner; a restart takes it
// wherever the old one can't go on. Synthesis is handed in as a function (Reaction), so that sim/
// knows no algorithm.

#include "sim/repair/recovery.hpp"

#include "sim/compact_schedule.hpp"
#include "sim/error.hpp"
#include "sim/feasibility.hpp"
#include "sim/repair/conclusion.hpp"
#include "sim/repair/rerouting.hpp"
#include "sim/repair/running_plan.hpp"
#include "sim/repair/survivors.hpp"
#include "sim/text.hpp"
#include "sim/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <utility>

namespace tutti {

namespace {

Schedule on_whole_network(const Schedule& schedule, const PresentNetwork& present,
                          std::uint32_t link_count) {
  Schedule mapped(link_count);
  mapped.reserve(schedule.size());
  std::vector<PathId> path_of(schedule.paths().size());
  std::vector<LinkId> links;
  for (std::uint32_t p = 0; p < path_of.size(); ++p) {
    links.clear();
    for (const LinkId link : schedule.paths().links(PathId{p}))
      links.push_back(present.original[link.value]);
    path_of[p] = mapped.paths().intern(links);
  }
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    Transfer transfer = schedule[i];
    transfer.path = path_of[transfer.path.value];
    mapped.push(transfer);
    for (const Dependency& dependency : schedule.dependencies(i))
      mapped.add_dependency(i, dependency);
  }
  return mapped;
}

/// Where a plan is missing, why.
struct Planned {
  std::optional<Segment> segment;
  std::string why_not;
};

/// Policy::resynthesize and Policy::restart. Events whose answer would come before the last answer
/// has taken effect are answered together. Restart answers only where, as far as is known,
/// something can't go on.
class Replanning {
public:
  Replanning(const RecoveryCase& asked, const Schedule& schedule)
      : asked_(asked), restarts_(asked.reaction.policy == Policy::restart),
        running_(asked, first_segment(asked.collective, schedule)) {}

  Recovery run() {
    bool something_left = true;
    for (std::size_t next = 0; something_left && next < asked_.events.size();) {
      const std::size_t first = next;
      const Time begin = running_.plan().begin;
      next = asked_.events_by(asked_.events[first].at);
      while (next < asked_.events.size() && asked_.events[next].at + asked_.delay() <= begin)
        next = asked_.events_by(asked_.events[next].at);
      const Time at = std::max(asked_.events[next - 1].at + asked_.delay(), begin);
      something_left = answer(first, next, at);
    }
    const Report last = running_.run(asked_.events.size());
    history_.add(performed(running_.plan(), last, running_.plan().begin), last);
    Recovery made = concluded(asked_, std::move(history_), last, std::move(problem_));
    made.decisions = std::move(decisions_);
    return made;
  }

private:
  /// What a plan leads to, as far as events are known: smaller is better.
  struct Prospect {
    std::size_t missing = 0; ///< values that survive, and NPUs alive want and don't get
    std::size_t lost = 0;    ///< contributions to what someone alive wants
    Time end;                ///< when all that doesn't stay missing is in place
    auto operator<=>(const Prospect&) const = default;
  };

  /// To the events first .. known - 1; earlier ones are answered, later ones aren't known.
  /// False where nothing is left to do.
  bool answer(std::size_t first, std::size_t known, Time at) {
    const Report given_up = running_.run_until(at);
    if (given_up.stuck.empty() && !left_out_) return false;
    if (restarts_ && goes_on(asked_.events_by(at))) return true;

    const NetworkState network = asked_.network(known);
    Segment ended = performed(running_.plan(), given_up, at);
    const Time begin = ended.end;
    const Residual left = left_after(ended, network, restarts_);
    if (!restarts_ && left.chunk.empty() && left.out_of_reach.empty()) return false;
    Decision decision{at, at, {}, {}, false, 0};
    for (std::size_t i = first; i < known; ++i) decision.causes.push_back(asked_.events[i].at);
    Planned planned = plan(left, network, begin, decision);
    if (!planned.segment) {
      decision.what = std::move(planned.why_not);
    } else {
      RunningPlan next(asked_, *std::move(planned.segment));
      decision.in_force = comes_to_an_end(next, network, known) &&
                          (restarts_ || is_better(next, ended, given_up, left, known));
      decision.what = what_is_done(left, next.plan().schedule.empty(), decision.in_force);
      if (decision.in_force) {
        decision.begin = begin;
        history_.add(std::move(ended), given_up);
        history_.give_up(left.lost);
        left_out_ = !left.out_of_reach.empty();
        running_ = std::move(next);
      }
    }
    decisions_.push_back(std::move(decision));
    return true;
  }

  [[nodiscard]] Residual left_after(const Segment& last, const NetworkState& network, bool anew) {
    history_.segments.push_back(last);
    Residual left = residual(asked_.topology, history_.segments, network, anew, history_.lost);
    history_.segments.pop_back();
    return left;
  }
  /// Whether the present plan brings everyone all that can be brought, under the first `count`
  /// events.
  bool goes_on(std::size_t count) {
    const Report& report = running_.run(count);
    if (report.stuck.empty() && !left_out_) return true;
    return left_after(performed(running_.plan(), report, running_.plan().begin),
                      asked_.network(count), false)
        .chunk.empty();
  }

  /// Whether a new plan comes to its end, under the events that it knows. If not: a defect.
  bool comes_to_an_end(RunningPlan& running, const NetworkState& network, std::size_t known) {
    const Segment& plan = running.plan();
    if (plan.schedule.empty()) return true;
    const Report& report = running.run(known);
    if (!report.stuck.empty()) {
      note_problem(fmt::format("a new plan comes to a halt: {} of {} transfers",
                               report.stuck.size(), plan.schedule.size()));
      return false;
    }
    note_problem(beaten_bound(asked_, present_network(asked_.topology, network).topology,
                              plan.collective, plan.schedule, report.completion - plan.begin));
    return true;
  }

  /// Whether to go on with `next`, after the present plan `ended` so, rather than as before.
  bool is_better(RunningPlan& next, const Segment& ended, const Report& given_up,
                 const Residual& left, std::size_t known) {
    History with = history_;
    const Prospect as_before = prospect(with, running_, known);
    with.add(ended, given_up);
    with.give_up(left.lost);
    Prospect anew = prospect(with, next, known);
    // Where all else that is left is out of reach, to take something in sooner is no reason to give
    // up what is on its way towards the link that failed.
    if (next.plan().schedule.empty() && !left.out_of_reach.empty()) anew.end = as_before.end;
    return anew < as_before;
  }

  /// The prospect of a plan performed after this history, under the first `count` events. The
  /// history's segments are extended for as long as that takes.
  Prospect prospect(History& history, RunningPlan& running, std::size_t count) const {
    const Report& report = running.run(count);
    history.segments.push_back(performed(running.plan(), report, running.plan().begin));
    history.deliveries.push_back(report.deliveries);
    const Account account = account_of(asked_, history, count);
    history.segments.pop_back();
    history.deliveries.pop_back();
    const NetworkState network = asked_.network(count);
    const auto counts = [&](const ChunkAt& lost) {
      return std::ranges::any_of(asked_.collective.destinations(lost.chunk),
                                 [&](NodeId npu) { return network.is_up(npu); });
    };
    return {account.achievement.missing.size(),
            static_cast<std::size_t>(std::ranges::count_if(account.lost, counts)),
            account.achievement.progress.empty() ? Time{} : account.achievement.progress.back().at};
  }

  void note_problem(std::string text) {
    if (problem_.empty()) problem_ = std::move(text);
  }

  /// Everything anew is the named collective where it can be: not every algorithm knows others.
  Planned plan(const Residual& left, const NetworkState& network, Time begin, Decision& decision) {
    if (restarts_ && left.chunk.empty())
      return {std::nullopt, left.out_of_reach.empty() ? "what there was to begin with is gone"
                                                      : out_of_reach_text(left)};
    const PresentNetwork present = present_network(asked_.topology, network);
    if (restarts_ && left.out_of_reach.empty()) {
      if (std::optional<SurvivingCollective> same = among_survivors(asked_.collective, network)) {
        Segment segment{begin,
                        {},
                        std::move(same->collective),
                        std::move(same->chunk),
                        {},
                        Schedule(asked_.topology.link_count()),
                        {},
                        restarts_};
        for (std::size_t c = 0; c < segment.chunk.size(); ++c) segment.starts.add(Start::input);
        Planned planned = plan_segment(std::move(segment), present, decision);
        if (planned.segment) return planned;
      }
    }
    return plan_segment({begin,
                         {},
                         left.collective,
                         left.chunk,
                         left.starts,
                         Schedule(asked_.topology.link_count()),
                         {},
                         restarts_,
                         {},
                         left.takes_in},
                        present, decision);
  }

  Planned plan_segment(Segment segment, const PresentNetwork& present, Decision& decision) {
    if (!moves(segment.collective)) return {std::move(segment), {}};
    const std::clock_t started = std::clock();
    Outcome outcome = outcome_of(asked_.reaction.plan, present.topology, segment.collective);
    decision.by_fallback =
        asked_.reaction.fallback && hands_over(outcome, present.topology, segment.collective);
    if (decision.by_fallback)
      outcome = outcome_of(asked_.reaction.fallback, present.topology, segment.collective);
    decision.planning_seconds +=
        static_cast<double>(std::clock() - started) / static_cast<double>(CLOCKS_PER_SEC);
    if (outcome.compact)
      outcome.schedule = expanded(present.topology, segment.collective, *outcome.compact);
    if (!outcome.schedule || outcome.parts_per_chunk != 1)
      return {std::nullopt,
              "no plan: " +
                  (outcome.note.empty() ? std::string(to_text(outcome.status)) : outcome.note)};
    segment.schedule = on_whole_network(*outcome.schedule, present, asked_.topology.link_count());
    const Verdict verdict = verify(asked_.topology, segment.collective, segment.schedule);
    if (verdict.fault || verdict.redundant > 0) {
      note_problem(verdict.fault ? "a new plan isn't correct: " + verdict.fault->text
                                 : fmt::format("a new plan has {} copies that add nothing",
                                               verdict.redundant));
      if (verdict.fault) return {std::nullopt, problem_};
    }
    return {std::move(segment), {}};
  }

  static Outcome outcome_of(const Planner& planner, const Topology& network,
                            const Collective& collective) {
    try {
      return planner(network, collective);
    } catch (const InputError& error) { // what it is asked for isn't for it
      return unsupported(error.what());
    }
  }

  /// Whether others may find a plan where this planner has none: it isn't made for this, or what it
  /// was asked for in particular doesn't exist.
  static bool hands_over(const Outcome& outcome, const Topology& network,
                         const Collective& collective) {
    return outcome.status == Status::unsupported ||
           (outcome.status == Status::infeasible && infeasibility(network, collective).empty());
  }

  /// Whether anyone wants what it doesn't hold: going back to inputs, or taking in what waits, may
  /// be all that is to do.
  [[nodiscard]] static bool moves(const Collective& collective) {
    return std::ranges::any_of(collective.chunks, [&](const Chunk& chunk) {
      return chunk.reduces || !std::ranges::includes(collective.sets[chunk.sources],
                                                     collective.sets[chunk.destinations]);
    });
  }

  [[nodiscard]] std::string what_is_done(const Residual& left, bool is_empty, bool in_force) const {
    if (restarts_) return "started over";
    if (!is_empty) return fmt::format("{} chunks planned anew", left.chunk.size());
    if (!in_force && !left.out_of_reach.empty()) return out_of_reach_text(left);
    return "given up without a new plan: what has come is let in";
  }

  [[nodiscard]] std::string out_of_reach_text(const Residual& left) const {
    return fmt::format("nothing can be planned: chunk {} is out of reach for {}, and {} more such",
                       left.out_of_reach.front().chunk.value,
                       asked_.topology.node(left.out_of_reach.front().npu).name,
                       left.out_of_reach.size() - 1);
  }

  const RecoveryCase& asked_;
  bool restarts_;
  RunningPlan running_;
  bool left_out_ = false; // the present plan leaves out what was out of reach
  History history_;
  std::vector<Decision> decisions_;
  std::string problem_;
};

/// Report and reroute: the schedule stays what it is.
Recovery unchanged(const RecoveryCase& asked, Schedule schedule) {
  Rerouting rerouting;
  if (asked.reaction.policy == Policy::reroute) rerouting = rerouted(asked, schedule);
  RunningPlan running(asked, first_segment(asked.collective, std::move(schedule)));
  const Report& report = running.run(asked.events.size(), rerouting.changes);
  History history;
  history.add(performed(running.plan(), report, {}), report);
  history.route_changes = std::move(rerouting.changes);
  Recovery made = concluded(asked, std::move(history), report, {});
  made.decisions = std::move(rerouting.decisions);
  if (report.stuck.empty()) { // what would have come into force later found nothing to do
    const Time last = made.deliveries.front().empty()
                          ? Time{}
                          : std::ranges::max(made.deliveries.front()); // not the last start
    std::erase_if(made.decisions, [&](const Decision& decision) { return decision.at > last; });
  }
  return made;
}

} // namespace

Recovery recover(const EngineRow& engine, const Topology& topology, const Collective& collective,
                 const Schedule& schedule, const TimeModel& model,
                 std::span<const NetworkEvent> events, const Reaction& reaction) {
  const RecoveryCase asked{engine, topology, collective,
                           model,  reaction, sorted_events(topology, events)};
  const bool plans = reaction.policy == Policy::resynthesize || reaction.policy == Policy::restart;
  Recovery made = plans ? Replanning(asked, schedule).run() : unchanged(asked, schedule);
  made.policy = reaction.policy;
  return made;
}

std::vector<std::string> missing_text(const Topology& topology, const Collective& collective,
                                      const Recovery& recovery, std::size_t most) {
  std::vector<std::size_t> wanted(topology.npu_count()), missing(topology.npu_count());
  for (const Chunk& chunk : collective.chunks)
    for (const NodeId npu : collective.sets[chunk.destinations]) ++wanted[npu.value];
  for (const ChunkAt& one : recovery.missing) ++missing[one.npu.value];
  std::vector<std::string> lines;
  for (std::uint32_t n = 0; n < missing.size(); ++n) {
    if (missing[n] == 0) continue;
    if (lines.size() == most) {
      lines.push_back(fmt::format("and {} more NPUs",
                                  std::count_if(missing.begin() + n, missing.end(),
                                                [](std::size_t count) { return count > 0; })));
      break;
    }
    lines.push_back(fmt::format(
        "{} lacks {} of {} chunks, {}", topology.node(NodeId{n}).name, missing[n], wanted[n],
        recovery.last_came[n] == Time{} ? std::string("none came")
                                        : "the last came at " + short_text(recovery.last_came[n])));
  }
  return lines;
}

} // namespace tutti
