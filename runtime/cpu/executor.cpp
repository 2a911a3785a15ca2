// Two lowerings of one plan, as in SCCL (Cai et al. 2021, section 4): a thread per block that runs
// the whole program, or one memory copy for each step from a single thread.
//
// Threads are alive from the first repetition to the last. All meet before each repetition, and the
// last one to come takes the time, so that starting and waking threads isn't part of what is
// measured. Waits are for counters that only grow: the steps of a block, the messages of a
// connection that were sent, those that were emptied. They count on from one repetition to the
// next, so that nothing is reset while others run. A thread that waits gives way a few times, then
// sleeps in the kernel: there may be a hundred of them on two cores.

#include "runtime/executor.hpp"
#include "runtime/cpu/links.hpp"
#include "runtime/cpu/memory.hpp"
#include "runtime/hung_run.hpp"
#include "runtime/plans/issue_order.hpp"
#include "runtime/plans/traffic.hpp"
#include "sim/error.hpp"
#include "sim/watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

namespace tutti::runtime {

namespace {

constexpr std::size_t most_cpu_blocks = 4096;
constexpr int yields_before_sleep = 32;
constexpr std::int64_t timer_slack = 120'000; ///< ns: a sleep may end so late

bool count_reached(std::uint32_t count, std::uint32_t goal) { // they may wrap around
  return static_cast<std::int32_t>(count - goal) >= 0;
}

/// A thread for each block (SCCL's first lowering).
class BlockThreads {
public:
  /// Starts them; they wait for run(). All arguments must outlive this.
  BlockThreads(const Plan& plan, const CpuMemory& memory, CombineLoop combine,
               double watchdog_seconds)
      : plan_(plan), memory_(memory), combine_(combine),
        watchdog_(static_cast<std::int64_t>(watchdog_seconds * 1e9)), done_(plan.blocks.size()),
        sent_(plan.connections.size()), emptied_(plan.connections.size()),
        due_(plan.connections.size()), ends_(plan.blocks.size()), waits_(plan.blocks.size()) {
    if (!plan.links.empty()) {
      links_.emplace(plan);
      for (std::size_t c = 0; c < due_.size(); ++c) due_[c].resize(plan.connections[c].messages);
    }
    for (const PlannedBlock& block : plan.blocks) thread_count_ += block.steps > 0 ? 1U : 0U;
    try {
      for (std::uint32_t b = 0; b < plan.blocks.size(); ++b)
        if (plan.blocks[b].steps > 0) threads_.emplace_back([this, b] { live(b); });
    } catch (...) { // no more threads to be had
      stop();
      throw;
    }
  }

  ~BlockThreads() { stop(); }
  BlockThreads(const BlockThreads&) = delete;
  BlockThreads& operator=(const BlockThreads&) = delete;

  /// Performs the program once: seconds from when all threads are there until the last is done.
  /// The watch is asked some two hundred times a second, of progress that nobody knows.
  /// Errors: HungRun after watchdog_seconds without a step, Stopped; then no further run().
  double run(const Watch& watch) {
    if (thread_count_ == 0) return 0;
    ++runs_;
    raise(begun_);
    await_end(watch);
    std::int64_t end = start_;
    for (std::uint32_t b = 0; b < ends_.size(); ++b)
      if (plan_.blocks[b].steps > 0) end = std::max(end, ends_[b]);
    return static_cast<double>(end - start_) * 1e-9;
  }

private:
  struct alignas(64) Counter {
    std::atomic<std::uint32_t> value{0};
  };

  void live(std::uint32_t block) {
    for (std::uint32_t run = 1;; ++run) {
      if (!wait_for(begun_, run) || !come_together() || !perform_steps(block)) return;
      ends_[block] = steady_now();
      ended_.value.fetch_add(1, std::memory_order_acq_rel);
    }
  }

  /// The last to come takes the time and starts all: those that are there by then are awake.
  bool come_together() {
    const std::uint32_t there = together_.value.fetch_add(1, std::memory_order_acq_rel) + 1;
    if (there == runs_ * thread_count_) {
      start_ = steady_now();
      raise(started_);
      return true;
    }
    while (!count_reached(started_.value.load(std::memory_order_acquire), runs_)) {
      if (stopped_.load(std::memory_order_acquire)) return false;
      std::this_thread::yield();
    }
    return true;
  }

  bool perform_steps(std::uint32_t index) {
    const PlannedBlock& block = plan_.blocks[index];
    std::byte* const own = memory_.arena(block.rank);
    std::byte* const peer =
        block.sends == nobody ? nullptr : memory_.arena(plan_.connections[block.sends].to);
    std::uint32_t got = 0, sent = 0; // messages of this run
    for (std::uint32_t s = 0; s < block.steps; ++s) {
      const PlannedStep& step = plan_.steps[block.first_step + s];
      waits_[index] = {wait_to_start(block, step, got), s};
      if (waits_[index].wait != WaitKind::nothing) return false;
      if (receives(step.kind)) ++got;
      EmulatedLinks::Crossing crossing;
      if (links_ && sends(step.kind)) {
        crossing = links_->send(plan_.connections[block.sends], step.bytes);
        due_[block.sends][sent++] = crossing.due;
      }
      move_data(step, own, peer, combine_);
      if (step.frees_slot) raise(emptied_[block.receives]);
      if (sends(step.kind)) raise(sent_[block.sends]);
      // Others may go on with what has been read and written; this block is busy until the link has
      // taken the message.
      raise(done_[index]);
      if (!wait_for_clock(crossing.taken)) return true;
    }
    return true;
  }

  /// What the run was stopped at; nothing where the step may start.
  WaitKind wait_to_start(const PlannedBlock& block, const PlannedStep& step,
                         std::uint32_t message) {
    const std::uint32_t before = runs_ - 1;
    if (step.after_block != nobody) {
      const std::uint32_t other = block.first_block + step.after_block;
      const std::uint32_t goal = before * plan_.blocks[other].steps + step.after_step + 1;
      if (!wait_for(done_[other], goal)) return WaitKind::step;
    }
    if (receives(step.kind)) {
      const std::uint32_t c = block.receives;
      const std::uint32_t goal = before * plan_.connections[c].messages + message + 1;
      if (!wait_for(sent_[c], goal)) return WaitKind::message;
      if (links_ && !wait_for_clock(due_[c][message])) return WaitKind::arrival;
    }
    if (step.takes_slot && step.slot_messages >= plan_.connections[block.sends].slots) {
      const Connection& c = plan_.connections[block.sends];
      const std::uint32_t goal = before * c.slot_messages + step.slot_messages - c.slots + 1;
      if (!wait_for(emptied_[block.sends], goal)) return WaitKind::slot;
    }
    return WaitKind::nothing;
  }

  bool wait_for(Counter& counter, std::uint32_t goal) {
    for (int tries = 0;; ++tries) {
      const std::uint32_t count = counter.value.load(std::memory_order_acquire);
      if (count_reached(count, goal)) return !stopped_.load(std::memory_order_acquire);
      if (tries < yields_before_sleep)
        std::this_thread::yield();
      else
        counter.value.wait(count, std::memory_order_acquire);
    }
  }

  /// Sleeps most of the way, and gives way for the rest. False where the run is stopped.
  bool wait_for_clock(std::int64_t nanoseconds) const {
    for (;;) {
      const std::int64_t left = nanoseconds - steady_now();
      if (left <= 0) return true;
      if (stopped_.load(std::memory_order_acquire)) return false;
      constexpr std::int64_t longest_sleep = 50'000'000; // so that a stop is seen
      if (left > timer_slack)
        std::this_thread::sleep_for(
            std::chrono::nanoseconds(std::min(left - timer_slack, longest_sleep)));
      else
        std::this_thread::yield();
    }
  }

  static void raise(Counter& counter) {
    counter.value.fetch_add(1, std::memory_order_acq_rel);
    counter.value.notify_all();
  }

  /// Every wait ends: counters jump, so that sleepers wake and see the flag.
  void stop() {
    constexpr std::uint32_t jump = 1U << 30;
    stopped_.store(true);
    const auto release = [](Counter& counter) {
      counter.value.fetch_add(jump, std::memory_order_acq_rel);
      counter.value.notify_all();
    };
    for (std::vector<Counter>* counters : {&done_, &sent_, &emptied_})
      std::ranges::for_each(*counters, release);
    for (Counter* counter : {&begun_, &started_}) release(*counter);
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  [[nodiscard]] std::uint64_t steps_done() const {
    std::uint64_t steps = 0;
    for (const Counter& block : done_) steps += block.value.load(std::memory_order_relaxed);
    return steps;
  }

  /// Until all threads are through. It polls: what it would learn earlier isn't timed.
  void await_end(const Watch& watch) {
    std::int64_t progress_at = steady_now();
    std::uint64_t progress = steps_done();
    auto pause = std::chrono::microseconds(50);
    while (!count_reached(ended_.value.load(std::memory_order_acquire), runs_ * thread_count_)) {
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 2, std::chrono::microseconds(5000));
      if (watch && watch({})) {
        stop();
        throw tutti::Stopped(); // runtime::Stopped is of a run that hangs
      }
      const std::uint64_t now_done = steps_done();
      const std::int64_t now = steady_now();
      if (now_done != progress) {
        progress = now_done;
        progress_at = now;
      }
      if (links_) progress_at = std::max(progress_at, links_->last_due());
      if (now - progress_at <= watchdog_) continue;
      stop();
      throw HungRun("the run hangs: " + waiting_steps(plan_, waits_));
    }
  }

  const Plan& plan_;
  const CpuMemory& memory_;
  CombineLoop combine_;
  std::int64_t watchdog_;
  std::optional<EmulatedLinks> links_;
  std::vector<Counter> done_;                  // [block]: steps
  std::vector<Counter> sent_, emptied_;        // [connection]: messages, slots
  std::vector<std::vector<std::int64_t>> due_; // [connection][message]: published by sent_
  Counter begun_, together_, started_, ended_; // runs; threads; runs; threads
  std::uint32_t runs_ = 0;                     // published by begun_
  std::int64_t start_ = 0;                     // published by started_ and ended_
  std::vector<std::int64_t> ends_;             // [block]: published by ended_
  std::vector<Stopped> waits_;                 // [block]: of a run that was stopped
  std::atomic<bool> stopped_{false};
  std::uint32_t thread_count_ = 0;
  std::vector<std::thread> threads_;
};

/// One memory copy for each step, in an order that the waits allow (SCCL's second lowering).
class StepCopies {
public:
  StepCopies(const Plan& plan, const CpuMemory& memory, CombineLoop combine)
      : plan_(plan), memory_(memory), combine_(combine), order_(issue_order(plan)) {}

  double run(const Watch& watch) {
    WatchedSteps steps(watch);
    const std::int64_t start = steady_now();
    for (const IssuedStep& issued : order_) {
      steps.take(1, [] { return WorkProgress{}; });
      const PlannedBlock& block = plan_.blocks[issued.block];
      const PlannedStep& step = plan_.steps[issued.step];
      std::byte* const peer =
          sends(step.kind) ? memory_.arena(plan_.connections[block.sends].to) : nullptr;
      move_data(step, memory_.arena(block.rank), peer, combine_);
    }
    return static_cast<double>(steady_now() - start) * 1e-9;
  }

private:
  const Plan& plan_;
  const CpuMemory& memory_;
  CombineLoop combine_;
  std::vector<IssuedStep> order_;
};

void check_request(const Program& program, const ExecutionRequest& request) {
  std::size_t blocks = 0;
  for (const RankProgram& rank : program.ranks) blocks += rank.blocks.size();
  if (blocks > most_cpu_blocks)
    throw InputError(
        fmt::format("{} blocks: on CPU threads a program has at most {}", blocks, most_cpu_blocks));
  if (request.repetitions == 0) throw InputError("an execution needs at least one repetition");
  if (!(request.watchdog_seconds > 0)) throw InputError("the watchdog needs more than 0 s");
  if (request.copy_per_step && request.plan.emulated != nullptr)
    throw InputError("with one copy for each step links can't be emulated");
}

} // namespace

Execution run_on_cpu(const Program& program, const ExecutionRequest& request) {
  check_request(program, request);
  const PlannedRun planned = planned_run(program, request);
  const Plan& plan = planned.plan;
  CpuMemory memory(plan);
  const CombineLoop combine = combine_loop(request.type, request.combine);

  std::optional<BlockThreads> threads;
  std::optional<StepCopies> copies;
  if (request.copy_per_step)
    copies.emplace(plan, memory, combine);
  else
    threads.emplace(plan, memory, combine, request.watchdog_seconds);
  Execution execution;
  const std::uint32_t runs = request.warmups + request.repetitions;
  for (std::uint32_t run = 0; run < runs; ++run) {
    const Watch watch = [&](const WorkProgress&) {
      return request.watch && request.watch({run, runs});
    };
    memory.fill(planned);
    const double seconds = copies ? copies->run(watch) : threads->run(watch);
    if (run >= request.warmups) execution.seconds.push_back(seconds);
  }
  execution.check = memory.check(planned);
  const PlanTraffic traffic = traffic_of(plan);
  execution.bytes_moved = traffic.sent;
  execution.memory_bytes = traffic.memory;
  execution.device = fmt::format("{} CPU threads", std::thread::hardware_concurrency());
  return execution;
}

double cpu_copy_rate() {
  constexpr std::size_t bytes = std::size_t{1} << 28, copies = 5;
  const std::vector<std::byte> source(bytes, std::byte{1});
  std::vector<std::byte> target(bytes);
  Execution execution;
  for (std::size_t i = 0; i < copies; ++i) {
    const std::int64_t start = steady_now();
    std::memcpy(target.data(), source.data(), bytes);
    execution.seconds.push_back(static_cast<double>(steady_now() - start) * 1e-9);
  }
  return static_cast<double>(bytes) / execution.median_seconds();
}

} // namespace tutti::runtime
