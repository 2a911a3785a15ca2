// What SCCL adds to synth/timed/plan_fault: the rounds of steps, and the bandwidth relation, by
// counting the sends of each step against what each limit carries in the step's rounds.
#include "synth/sccl/fault.hpp"

#include "synth/timed/plan_fault.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tutti {

namespace {

std::string rounds_fault(const StepInstance& instance, const StepSchedule& schedule) {
  if (schedule.rounds.size() != instance.steps)
    return fmt::format("rounds are given for {} steps, not {}", schedule.rounds.size(),
                       instance.steps);
  std::uint64_t sum = 0;
  for (std::size_t step = 0; step < schedule.rounds.size(); ++step) {
    if (schedule.rounds[step] == 0) return fmt::format("step {}: has no round", step);
    sum += schedule.rounds[step];
  }
  if (sum == instance.rounds) return "";
  return fmt::format("the steps have {} rounds together, not {}", sum, instance.rounds);
}

std::string steps_fault(const StepInstance& instance, const StepSchedule& schedule) {
  for (std::size_t i = 0; i < schedule.sends.size(); ++i)
    if (schedule.sends[i].step.value >= instance.steps)
      return fmt::format("send {}: there is no step {} (of {})", i, schedule.sends[i].step.value,
                         instance.steps);
  return "";
}

/// A step is a time, before which all nodes store and copy what they have.
TimedPlan timed_plan(const StepProblem& problem, const StepInstance& instance,
                     const StepSchedule& schedule) {
  TimedPlan plan;
  plan.lanes = problem.network.lanes;
  plan.stores.assign(problem.network.nodes.size(), true);
  plan.copies = plan.stores;
  plan.chunks = problem.chunks;
  plan.chunks_per_shard = instance.chunks_per_shard;
  for (const StepSend& send : schedule.sends)
    plan.sends.push_back({send.step.value, send.lane, send.chunk});
  return plan;
}

std::string in_words(const PlanFault& fault, const StepProblem& problem, const TimedPlan& plan) {
  const auto name = [&](std::uint32_t node) { return problem.network.nodes[node].value; };
  if (fault.rule == PlanRule::demands_met)
    return fmt::format("node {} doesn't hold chunk {} in the end", name(fault.node),
                       fault.chunk.value);
  const TimedSend& send = plan.sends[fault.send];
  if (fault.rule == PlanRule::lanes_exist)
    return fmt::format("send {}: there is no lane {} (of {})", fault.send, send.lane.value,
                       plan.lanes.size());
  if (fault.rule == PlanRule::chunks_exist)
    return fmt::format("send {}: there is no chunk {} (of {})", fault.send, send.chunk.value,
                       plan.chunks.size() * plan.chunks_per_shard);
  const Lane& lane = plan.lanes[send.lane.value];
  switch (fault.rule) {
  case PlanRule::in_order: {
    const TimedSend& before = plan.sends[fault.send - 1];
    return fmt::format("send {}: step {}, lane {}, chunk {} comes after step {}, lane {}, chunk {}",
                       fault.send, send.time, send.lane.value, send.chunk.value, before.time,
                       before.lane.value, before.chunk.value);
  }
  case PlanRule::none_had_it:
    return fmt::format("step {}: node {} receives chunk {}, which it holds from the start",
                       send.time, name(lane.to), send.chunk.value);
  case PlanRule::once:
    return fmt::format("step {}: node {} receives chunk {}, which came in step {} already",
                       send.time, name(lane.to), send.chunk.value, fault.time - 1);
  default: // nothing passes through nodes that don't store: there are none
    return fmt::format("step {}: node {} sends chunk {} to node {} over lane {}, but doesn't hold "
                       "it{}",
                       send.time, name(lane.from), send.chunk.value, name(lane.to), send.lane.value,
                       fault.time == std::uint64_t{send.time} + 1 ? " before the step" : "");
  }
}

/// Counts the sends of one step against the limits of their lanes.
class LimitCount {
public:
  explicit LimitCount(const StepNetwork& network)
      : limits_(network.limits), limits_of_(network.lanes.size()), sends_(limits_.size()) {
    for (std::uint32_t l = 0; l < limits_.size(); ++l)
      for (const LaneId lane : limits_[l].lanes) limits_of_[lane.value].push_back(l);
  }

  void add(const StepSend& send) {
    for (const std::uint32_t limit : limits_of_[send.lane.value])
      if (sends_[limit]++ == 0) touched_.push_back(limit);
  }

  /// Ends the step; says which limit was exceeded.
  std::string end(Step step, std::uint32_t rounds) {
    std::string fault;
    for (const std::uint32_t l : touched_) {
      const Ratio capacity = limits_[l].per_round * Ratio(rounds);
      if (fault.empty() && Ratio(sends_[l]) > capacity)
        fault = fmt::format("step {}: {} sends over {}, which carries {} in {} {}", step.value,
                            sends_[l], limits_[l].name, capacity.floor(), rounds,
                            rounds == 1 ? "round" : "rounds");
      sends_[l] = 0;
    }
    touched_.clear();
    return fault;
  }

private:
  const std::vector<StepLimit>& limits_;
  std::vector<std::vector<std::uint32_t>> limits_of_; // per lane
  std::vector<std::int64_t> sends_;                   // per limit, of this step
  std::vector<std::uint32_t> touched_;
};

} // namespace

std::string step_fault(const StepProblem& problem, const StepInstance& instance,
                       const StepSchedule& schedule) {
  if (std::string fault = rounds_fault(instance, schedule); !fault.empty()) return fault;
  if (std::string fault = steps_fault(instance, schedule); !fault.empty()) return fault;
  const TimedPlan plan = timed_plan(problem, instance, schedule);
  if (const std::optional<PlanFault> fault = plan_fault(plan))
    return in_words(*fault, problem, plan);

  LimitCount count(problem.network);
  for (std::size_t i = 0; i < schedule.sends.size(); ++i) {
    const StepSend& send = schedule.sends[i];
    count.add(send);
    if (i + 1 < schedule.sends.size() && schedule.sends[i + 1].step == send.step) continue;
    if (std::string fault = count.end(send.step, schedule.rounds[send.step.value]); !fault.empty())
      return fault;
  }
  return "";
}

} // namespace tutti
