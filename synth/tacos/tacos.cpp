// TACOS: Won et al., "TACOS: Topology-Aware Collective Algorithm Synthesizer for Distributed
// Machine Learning" (MICRO 2024). All-Gather and Broadcast by greedy matching (sec. IV.E-F; see
// matching.hpp) on the links, and on switches unwound (sec. IV.G; see plans.hpp). Reduce-Scatter
// and Reduce are their inverses on the reversed topology, All-Reduce is Reduce-Scatter then
// All-Gather (sec. IV.H), or both at once, chunk by chunk. Custom collectives are matched, too,
// from whatever state they begin in, where chunks have many sources or go to many NPUs (see
// multicasts.hpp). Everything else is routed (see routing.hpp). The native engine's replay picks
// the fastest of several schedules.

#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/renumbering.hpp"
#include "sim/transforms.hpp"
#include "sim/words.hpp"
#include "sim/work_limit.hpp"
#include "synth/bounds/bounds.hpp"
#include "synth/direct_paths.hpp"
#include "synth/list.hpp"
#include "synth/scheduling/kept_order.hpp"
#include "synth/scheduling/list_scheduling.hpp"
#include "synth/tacos/multicasts.hpp"
#include "synth/tacos/plans.hpp"
#include "synth/tacos/routing.hpp"
#include "synth/tacos/symmetric_unicasts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

namespace {

/// Up to so many transfers, a second method is tried without being asked for.
constexpr std::size_t worth_pipelining = 300'000, worth_routing = 10'000;
/// For what is planned while a network waits for it.
constexpr std::size_t worth_pipelining_again = 50'000, worth_routing_again = 2'500;

enum class AllReduceForm { automatic, sequential, pipelined };

AllReduceForm all_reduce_form(const SynthesisOptions& options) {
  const std::string* const setting = find_setting(options, "all_reduce");
  constexpr Words<AllReduceForm, 3> words{"form of all_reduce",
                                          {"auto", "sequential", "pipelined"}};
  return setting == nullptr ? AllReduceForm::automatic : words.parse(*setting);
}

PlanSettings plan_settings(const SynthesisOptions& options) {
  const auto number = [&](const char* key, std::uint32_t highest) -> std::optional<std::uint32_t> {
    const std::string* const setting = find_setting(options, key);
    if (setting != nullptr && *setting == "auto") return std::nullopt;
    return find_count(options, key, 1, highest);
  };
  PlanSettings settings;
  settings.starts = number("starts", 1'000'000).value_or(1);
  settings.candidates = number("candidates", 1024);
  const std::string* const degree = find_setting(options, "degree");
  settings.ports = degree != nullptr && *degree == "ports";
  if (!settings.ports) settings.degree = number("degree", UINT32_MAX);
  return settings;
}

/// NPUs with links that can do what a matching asks of everyone.
std::vector<NodeId> able_npus(const Topology& topology, bool reducing) {
  std::vector<NodeId> able;
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n) {
    const Abilities can = topology.node(NodeId{n}).can;
    const bool linked =
        !topology.in_links(NodeId{n}).empty() || !topology.out_links(NodeId{n}).empty();
    if (linked && can.store && can.copy && (can.reduce || !reducing)) able.emplace_back(n);
  }
  return able;
}

class Tacos {
public:
  Tacos(const Topology& topology, const Collective& collective, const SynthesisOptions& options)
      : topology_(topology), collective_(collective), options_(options),
        settings_(plan_settings(options)), form_(all_reduce_form(options)), limit_(options) {
    model_ = options.model;
    model_.discipline = Discipline::fifo;
  }

  Outcome run() {
    Outcome outcome = best_of_forms();
    if (is_cut_short_) outcome.status = Status::timed_out;
    return outcome;
  }

private:
  Outcome best_of_forms() {
    const std::optional<Multicasts> multicasts = as_multicasts(topology_, collective_);
    if (!multicasts) return best_of_routed_and_parts();
    if (is_custom()) return from_any_state(*multicasts);
    const std::vector<NodeId>& group = collective_.parts.front().group;
    Outcome matched = match(*multicasts, group);
    if (matched.compact || limit_.reached()) return matched;
    if (!matched.schedule) return matched.status == Status::timed_out ? matched : route();
    // What lies between the members may serve better by routes than by links of even shares.
    const bool between = group.size() < topology_.node_count();
    if (!between || asked_for_network() || matched.schedule->size() > worth_routing) return matched;
    return faster(std::move(matched), route());
  }

  [[nodiscard]] bool asked_for_network() const { return settings_.degree || settings_.ports; }

  [[nodiscard]] bool is_custom() const {
    return collective_.parts.front().kind == CollectiveKind::custom;
  }

  /// Who holds and wants what is anything; what a failure leaves, for example.
  Outcome from_any_state(const Multicasts& multicasts) {
    const std::vector<NodeId>& group = collective_.parts.front().group;
    const std::vector<NodeId> able = able_npus(topology_, multicasts.reductions.has_value());
    const bool all_able = std::ranges::all_of(
        group, [&](NodeId npu) { return std::ranges::binary_search(able, npu); });
    if (!all_able || !many_take_part(collective_, multicasts)) return route();
    const bool affordable = multicasts.deliveries <= worth_routing_again;
    Outcome matched = match(multicasts, group);
    if (matched.compact || limit_.reached()) return matched;
    if (able.size() > group.size() && (affordable || !matched.schedule))
      matched = faster(std::move(matched), match(multicasts, able)); // others relay
    if (limit_.reached()) return matched;
    if (!matched.schedule) return route();
    if (asked_for_network() || !affordable || is_near_bound(time_of(*matched.schedule), 0.02))
      return matched;
    return faster(std::move(matched), route());
  }

  /// Within a share of the lower bound, where a second method isn't worth its time.
  [[nodiscard]] bool is_near_bound(Time time, double share) const {
    const Time bound =
        lower_bound(topology_, collective_, model_, Chunking::given, BoundEffort::least).time;
    return static_cast<double>(time.ps) <= (1 + share) * static_cast<double>(bound.ps);
  }

  Outcome best_of_routed_and_parts() {
    if (std::optional<SymmetricPlan> plan =
            symmetric_unicasts(topology_, collective_, options_, limit_))
      return best_with(*std::move(plan));
    Outcome together = route();
    if (collective_.parts.size() == 1) return together;
    return faster(std::move(together),
                  synthesize_part_by_part(tacos, topology_, collective_, options_));
  }

  /// What is planned for all images at once, or, where that may be worth it, for each chunk alone.
  Outcome best_with(SymmetricPlan plan) {
    constexpr std::uint64_t worth_routing_each = 200'000; // transfers
    Outcome outcome;
    outcome.status = limit_.reached() ? Status::timed_out : Status::feasible;
    outcome.schedule = std::move(plan.schedule);
    outcome.compact = std::move(plan.compact);
    outcome.planned = plan.makespan;
    outcome.planned_on = fmt::format("the network itself, {}-fold symmetry", plan.symmetry);
    if (plan.transfers > worth_routing_each || limit_.reached() ||
        is_near_bound(plan.makespan, 0.001))
      return outcome;
    return faster(std::move(outcome), route());
  }

  Outcome route() {
    std::optional<Timed> timed = routed(topology_, collective_, options_, limit_);
    if (!timed && !limit_.reached())
      return unsupported(
          "some contribution has no path to a node where it can be reduced with the others");
    Outcome outcome;
    outcome.status = limit_.reached() ? Status::timed_out : Status::feasible;
    if (timed)
      outcome.schedule = std::move(timed->schedule);
    else
      outcome.note = "no schedule within the limit";
    return outcome;
  }

  Outcome match(const Multicasts& multicasts, std::span<const NodeId> participants) {
    if (!multicasts.reductions) return copies_on(topology_, *multicasts.copies, participants);
    const Topology reversed_network = reversed(topology_);
    // What is to be in an order of its own has to be listed.
    settings_.listed = form_ == AllReduceForm::pipelined;
    Outcome outcome = copies_on(reversed_network, *multicasts.reductions, participants);
    if (outcome.compact)
      outcome.compact = inverted(*std::move(outcome.compact));
    else if (outcome.schedule)
      outcome.schedule =
          kept(topology_, collective_, inverted(topology_, *outcome.schedule, Op::reduce));
    else
      return outcome;
    if (multicasts.copies) append_copies(outcome, *multicasts.copies, participants);
    return outcome;
  }

  Outcome copies_on(const Topology& network, const Collective& copying,
                    std::span<const NodeId> participants) {
    Planning planning = plan(network, copying, participants, options_, settings_, limit_);
    Outcome outcome;
    outcome.status = planning.timed_out   ? Status::timed_out
                     : planning.connected ? Status::feasible
                                          : Status::unsupported;
    if (!planning.plan) {
      if (planning.timed_out) outcome.note = "no schedule within the limit";
      return outcome;
    }
    if (planning.plan->schedule)
      outcome.schedule = kept(network, copying, *std::move(planning.plan->schedule));
    outcome.compact = std::move(planning.plan->compact);
    outcome.planned = planning.plan->planned;
    outcome.planned_on = planning.plan->planned_on;
    if (planning.plan->attempts.size() > 1) outcome.attempts = std::move(planning.plan->attempts);
    return outcome;
  }

  /// With what keeps its order where switches would change it.
  [[nodiscard]] Schedule kept(const Topology& network, const Collective& collective,
                              Schedule schedule) {
    if (!needs_kept_order(network, schedule)) return schedule;
    // Its replays take about as long as the matching did, and then comes the answer's.
    if (limit_.remaining_seconds() < options_.limit_seconds / 2) {
      is_cut_short_ = true;
      return schedule;
    }
    try {
      return with_kept_plan(network, collective, schedule, model_, nullptr, {}, limit_).schedule;
    } catch (const LimitReached&) { // it holds in any order
      is_cut_short_ = true;
      return schedule;
    }
  }

  /// A Reduce-Scatter becomes an All-Reduce.
  void append_copies(Outcome& outcome, const Collective& copying,
                     std::span<const NodeId> participants) {
    settings_.listed = outcome.schedule.has_value();
    Outcome copies = copies_on(topology_, copying, participants);
    if (!copies.schedule && !copies.compact) {
      outcome = std::move(copies);
      return;
    }
    if (copies.compact) {
      outcome.compact->copies = std::move(copies.compact->copies);
    } else {
      if (outcome.compact)
        outcome.schedule =
            expanded(topology_, collective_, *std::exchange(outcome.compact, std::nullopt));
      outcome.schedule = concatenated(*outcome.schedule, *copies.schedule);
    }
    outcome.planned = *outcome.planned + *copies.planned;
    for (std::size_t i = 0; i < outcome.attempts.size() && i < copies.attempts.size(); ++i)
      outcome.attempts[i] += copies.attempts[i];
    if (copies.status == Status::timed_out) outcome.status = copies.status;
    if (outcome.compact) return;
    const std::size_t most = is_custom() ? worth_pipelining_again : worth_pipelining;
    const bool affordable = outcome.schedule->size() <= most;
    if (form_ == AllReduceForm::pipelined || (form_ == AllReduceForm::automatic && affordable))
      pipeline(outcome);
  }

  /// Lets the All-Gather of a chunk begin when its reduction is done. That helps where both need
  /// different links at the same time, and most where chunks go through in groups, one after
  /// another: by the chunk's index in its shard, or some shards before others.
  void pipeline(Outcome& outcome) {
    const std::uint32_t chunks_per_shard = collective_.parts.front().chunks_per_shard;
    const std::size_t chunks = collective_.chunks.size();
    std::vector<std::size_t> groupings{1};
    for (std::size_t groups = chunks_per_shard > 1 ? chunks_per_shard : 2;
         groups <= std::min<std::size_t>(chunks, 16); groups *= 2)
      groupings.push_back(groups);
    std::optional<Timed> best;
    for (const std::size_t groups : groupings) {
      if (limit_.reached()) break;
      std::vector<std::int64_t> order;
      for (std::size_t c = 0; c < chunks; ++c)
        order.push_back(static_cast<std::int64_t>(c % groups));
      try {
        Timed timed = list_scheduled(topology_, collective_, *outcome.schedule, model_,
                                     {.chunk_priority = order, .effort = 1}, limit_);
        if (!best || timed.makespan < best->makespan) best = std::move(timed);
      } catch (const LimitReached&) {
        break;
      }
    }
    if (!best) return;
    try {
      if (form_ == AllReduceForm::automatic && best->makespan >= time_of(*outcome.schedule)) return;
    } catch (const LimitReached&) {
      is_cut_short_ = true;
      return;
    }
    outcome.schedule = std::move(best->schedule);
    outcome.planned = best->makespan;
    outcome.planned_on = "the network itself, pipelined";
  }

  /// The one whose replay is faster; the first where the limit comes before that is known.
  Outcome faster(Outcome a, Outcome b) {
    if (!a.schedule || !b.schedule) return a.schedule ? std::move(a) : std::move(b);
    try {
      Outcome& best = time_of(*b.schedule) < time_of(*a.schedule) ? b : a;
      if (a.status == Status::timed_out || b.status == Status::timed_out)
        best.status = Status::timed_out;
      return std::move(best);
    } catch (const LimitReached&) {
      is_cut_short_ = true;
      return a;
    }
  }

  /// Errors: LimitReached.
  [[nodiscard]] Time time_of(const Schedule& schedule) const {
    return run_native(topology_, collective_, schedule, model_, {.watch = limit_.watch()})
        .completion;
  }

  const Topology& topology_;
  const Collective& collective_;
  const SynthesisOptions& options_;
  PlanSettings settings_;
  AllReduceForm form_;
  WorkLimit limit_;
  TimeModel model_;
  bool is_cut_short_ = false; ///< the limit ended something that could have made it faster
};

} // namespace

Outcome tacos(const Topology& topology, const Collective& collective,
              const SynthesisOptions& options) {
  if (needs_direct_paths(topology, collective)) return direct_paths(topology, collective, options);
  const SynthesisFunction run = [](const Topology& network, const Collective& wanted,
                                   const SynthesisOptions& how) {
    return Tacos(network, wanted, how).run();
  };
  return or_direct_paths(planned_by_structure(run, topology, collective, options), topology,
                         collective, options);
}

} // namespace tutti
