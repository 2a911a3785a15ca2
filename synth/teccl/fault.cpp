// What TE-CCL adds to synth/timed/plan_fault: no send twice, limits by their windows, and buffers,
// each recounted from the sends. Reads nothing of EpochNetwork that is derived (limits_of).
#include "synth/teccl/fault.hpp"

#include "synth/timed/plan_fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace tutti {

namespace {

TimedPlan timed_plan(const EpochProblem& problem, const EpochPlan& sends) {
  TimedPlan plan;
  plan.lanes = problem.network.lanes;
  plan.stores = problem.network.stores;
  plan.copies = problem.network.copies;
  plan.chunks = problem.chunks;
  for (const EpochSend& send : sends)
    plan.sends.push_back({send.epoch.value, send.lane, send.chunk});
  return plan;
}

std::string order_in_words(const EpochPlan& plan, std::size_t i) {
  return fmt::format("send {}: epoch {}, lane {}, chunk {} comes after epoch {}, lane {}, chunk {}",
                     i, plan[i].epoch.value, plan[i].lane.value, plan[i].chunk.value,
                     plan[i - 1].epoch.value, plan[i - 1].lane.value, plan[i - 1].chunk.value);
}

std::string in_words(const PlanFault& fault, const TimedPlan& plan, const EpochPlan& sends) {
  if (fault.rule == PlanRule::demands_met)
    return fmt::format("node {} never gets chunk {}", fault.node, fault.chunk.value);
  if (fault.rule == PlanRule::in_order) return order_in_words(sends, fault.send);
  const EpochSend& send = sends[fault.send];
  if (fault.rule == PlanRule::lanes_exist)
    return fmt::format("send {}: there is no lane {} (of {})", fault.send, send.lane.value,
                       plan.lanes.size());
  if (fault.rule == PlanRule::chunks_exist)
    return fmt::format("send {}: there is no chunk {} (of {})", fault.send, send.chunk.value,
                       plan.chunks.size());
  if (fault.rule == PlanRule::passed_on_once)
    return fmt::format("epoch {}: node {} passes chunk {} on {} times, but can't copy, and it "
                       "arrives {} times",
                       fault.time, fault.node, fault.chunk.value, fault.passed, fault.arrived);
  const Lane& lane = plan.lanes[send.lane.value];
  const std::string which =
      fmt::format("epoch {}: node {} sends chunk {} to node {} over lane {}", send.epoch.value,
                  lane.from, send.chunk.value, lane.to, send.lane.value);
  switch (fault.rule) {
  case PlanRule::none_had_it: return which + ", which holds it from the start";
  case PlanRule::once:
    return fmt::format("{}, where it arrives for epoch {} already", which, fault.time);
  case PlanRule::sender_has_it: return which + ", but never has it";
  case PlanRule::sender_has_it_yet:
    return fmt::format("{}, but has it from epoch {} on", which, fault.time);
  default: return which + ", but can't store, and nothing of it arrives for that epoch";
  }
}

std::string repeat_fault(const EpochPlan& plan) {
  const auto again = std::ranges::adjacent_find(plan);
  if (again == plan.end()) return "";
  return order_in_words(plan, static_cast<std::size_t>(again - plan.begin()) + 1);
}

/// What a node keeps for others begins with its arrival, and ends with its last send. Pre: the plan
/// has no other fault.
std::string buffer_fault(const EpochProblem& problem, const EpochPlan& plan) {
  if (!problem.buffer_limit) return "";
  using Kept = std::pair<std::uint32_t, ChunkId>; // the first: node
  std::map<Kept, std::uint64_t> arrival, last;
  for (const EpochSend& send : plan) {
    const Lane& lane = problem.network.lanes[send.lane.value];
    arrival[{lane.to, send.chunk}] = std::uint64_t{send.epoch.value} + lane.delay;
    const TimedChunk& chunk = problem.chunks[send.chunk.value];
    if (problem.network.stores[lane.from] &&
        !std::ranges::binary_search(chunk.sources, lane.from) &&
        !std::ranges::binary_search(chunk.destinations, lane.from))
      last[{lane.from, send.chunk}] = send.epoch.value; // ascending
  }
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::int64_t> change; // by node, epoch
  for (const auto& [kept, epoch] : last) {
    ++change[{kept.first, arrival.at(kept)}];
    --change[{kept.first, epoch + 1}];
  }
  std::int64_t count = 0; // 0 again after a node's last change
  for (const auto& [when, by] : change) {
    count += by;
    if (count > std::int64_t{*problem.buffer_limit})
      return fmt::format("epoch {}: node {} keeps {} chunks for others, more than {}", when.second,
                         when.first, count, *problem.buffer_limit);
  }
  return "";
}

/// Where a limit is used more than `most` times within one window, in words; empty where none is.
std::string limits_fault(const EpochProblem& problem, const EpochPlan& plan) {
  std::vector<std::vector<std::uint64_t>> entries(problem.network.lanes.size()); // [lane]
  for (const EpochSend& send : plan) entries[send.lane.value].push_back(send.epoch.value);
  std::vector<std::uint64_t> used;
  for (const EpochLimit& limit : problem.network.limits) {
    used.clear();
    for (const LaneUse& use : limit.uses)
      for (const std::uint64_t epoch : entries[use.lane.value]) used.push_back(epoch + use.offset);
    std::ranges::sort(used);
    for (std::size_t i = limit.most; i < used.size(); ++i)
      if (used[i] - used[i - limit.most] < limit.window)
        return fmt::format("{} is used {} times in epochs {} to {}: {} times in {} {} are possible",
                           limit.name, std::size_t{limit.most} + 1, used[i - limit.most], used[i],
                           limit.most, limit.window, limit.window == 1 ? "epoch" : "epochs");
  }
  return "";
}

} // namespace

std::string epoch_fault(const EpochProblem& problem, const EpochPlan& plan) {
  if (std::string fault = repeat_fault(plan); !fault.empty()) return fault;
  const TimedPlan timed = timed_plan(problem, plan);
  if (const std::optional<PlanFault> fault = plan_fault(timed))
    return in_words(*fault, timed, plan);
  if (std::string fault = buffer_fault(problem, plan); !fault.empty()) return fault;
  return limits_fault(problem, plan);
}

} // namespace tutti
