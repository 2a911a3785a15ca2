#include "synth/sccl/fault.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <span>
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

bool in_order(const StepSend& a, const StepSend& b) {
  if (a.step != b.step) return a.step < b.step;
  return a.lane != b.lane ? a.lane < b.lane : a.chunk <= b.chunk;
}

/// Chunks, lanes and steps that exist, by step, lane, chunk.
std::string order_fault(const StepProblem& problem, const StepInstance& instance,
                        const StepSchedule& schedule) {
  const std::uint64_t chunks = std::uint64_t{problem.chunks.size()} * instance.chunks_per_shard;
  const std::span<const StepSend> sends = schedule.sends;
  for (std::size_t i = 0; i < sends.size(); ++i) {
    if (sends[i].step >= instance.steps)
      return fmt::format("send {}: there is no step {} (of {})", i, sends[i].step, instance.steps);
    if (sends[i].lane >= problem.network.lanes.size())
      return fmt::format("send {}: there is no lane {} (of {})", i, sends[i].lane,
                         problem.network.lanes.size());
    if (sends[i].chunk >= chunks)
      return fmt::format("send {}: there is no chunk {} (of {})", i, sends[i].chunk, chunks);
    if (i > 0 && !in_order(sends[i - 1], sends[i]))
      return fmt::format("send {}: step {}, lane {}, chunk {} comes after step {}, lane {}, "
                         "chunk {}",
                         i, sends[i].step, sends[i].lane, sends[i].chunk, sends[i - 1].step,
                         sends[i - 1].lane, sends[i - 1].chunk);
  }
  return "";
}

/// The run V_0, V_1, ..., V_S of sec. 3.3: for each chunk and node the first step before which it
/// is there.
class Run {
public:
  Run(const StepProblem& problem, const StepInstance& instance)
      : problem_(problem), chunks_per_shard_(instance.chunks_per_shard),
        nodes_(problem.network.node_count()),
        since_(problem.chunks.size() * chunks_per_shard_ * nodes_, never) {
    for (std::size_t c = 0; c < problem.chunks.size(); ++c)
      for (const std::uint32_t source : problem.chunks[c].sources)
        for (std::size_t k = 0; k < chunks_per_shard_; ++k)
          since(c * chunks_per_shard_ + k, source) = 0;
  }

  /// Performs a send; says why it can't.
  std::string perform(const StepSend& send) {
    const Lane& lane = problem_.network.lanes[send.lane];
    if (since(send.chunk, lane.from) > send.step)
      return fmt::format("step {}: node {} sends chunk {} to node {} over lane {}, but doesn't "
                         "hold it{}",
                         send.step, name(lane.from), send.chunk, name(lane.to), send.lane,
                         since(send.chunk, lane.from) == never ? "" : " before the step");
    std::uint32_t& arrival = since(send.chunk, lane.to);
    if (arrival == 0)
      return fmt::format("step {}: node {} receives chunk {}, which it holds from the start",
                         send.step, name(lane.to), send.chunk);
    if (arrival != never)
      return fmt::format("step {}: node {} receives chunk {}, which came in step {} already",
                         send.step, name(lane.to), send.chunk, arrival - 1);
    arrival = send.step + 1;
    return "";
  }

  [[nodiscard]] std::string unmet() const {
    for (std::size_t c = 0; c < problem_.chunks.size(); ++c)
      for (const std::uint32_t destination : problem_.chunks[c].destinations)
        for (std::size_t k = 0; k < chunks_per_shard_; ++k)
          if (since_[(c * chunks_per_shard_ + k) * nodes_ + destination] == never)
            return fmt::format("node {} doesn't hold chunk {} in the end", name(destination),
                               c * chunks_per_shard_ + k);
    return "";
  }

private:
  static constexpr std::uint32_t never = UINT32_MAX;

  [[nodiscard]] std::uint32_t& since(std::size_t chunk, std::uint32_t node) {
    return since_[chunk * nodes_ + node];
  }
  [[nodiscard]] std::uint32_t name(std::uint32_t node) const {
    return problem_.network.nodes[node].value;
  }

  const StepProblem& problem_;
  std::size_t chunks_per_shard_, nodes_;
  std::vector<std::uint32_t> since_;
};

/// Counts the sends of one step against the limits of their lanes.
class LimitCount {
public:
  explicit LimitCount(const StepNetwork& network)
      : limits_(network.limits), limits_of_(network.lanes.size()), sends_(limits_.size()) {
    for (std::uint32_t l = 0; l < limits_.size(); ++l)
      for (const std::uint32_t lane : limits_[l].lanes) limits_of_[lane].push_back(l);
  }

  void add(const StepSend& send) {
    for (const std::uint32_t limit : limits_of_[send.lane])
      if (sends_[limit]++ == 0) touched_.push_back(limit);
  }

  /// Ends the step; says which limit was exceeded.
  std::string end(std::uint32_t step, std::uint32_t rounds) {
    std::string fault;
    for (const std::uint32_t l : touched_) {
      const Ratio capacity = limits_[l].per_round * Ratio(rounds);
      if (fault.empty() && Ratio(sends_[l]) > capacity)
        fault = fmt::format("step {}: {} sends over {}, which carries {} in {} {}", step, sends_[l],
                            limits_[l].name, capacity.floor(), rounds,
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
  if (std::string fault = order_fault(problem, instance, schedule); !fault.empty()) return fault;

  Run run(problem, instance);
  LimitCount count(problem.network);
  for (std::size_t i = 0; i < schedule.sends.size(); ++i) {
    const StepSend& send = schedule.sends[i];
    if (std::string fault = run.perform(send); !fault.empty()) return fault;
    count.add(send);
    if (i + 1 < schedule.sends.size() && schedule.sends[i + 1].step == send.step) continue;
    if (std::string fault = count.end(send.step, schedule.rounds[send.step]); !fault.empty())
      return fault;
  }
  return run.unmet();
}

} // namespace tutti
