// A thread for each block, alive from the first repetition to the last.
//
// Waits are for counters that only grow: the steps of a block, the messages of a connection that
// were sent, those that were emptied. They count on from one repetition to the next, so that
// nothing is reset while others run. A thread that waits gives way a few times, then sleeps in the
// kernel: there may be a hundred of them on two cores.
#pragma once

#include "runtime/cpu/links.hpp"
#include "runtime/cpu/memory.hpp"
#include "runtime/hung_run.hpp"
#include "runtime/plans/plan.hpp"
#include "sim/watch.hpp"

#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

namespace tutti::runtime {

class BlockThreads {
public:
  /// Starts them; they wait for run(). All arguments must outlive this.
  BlockThreads(const Plan& plan, const CpuMemory& memory, CombineLoop combine,
               double watchdog_seconds);
  ~BlockThreads();
  BlockThreads(const BlockThreads&) = delete;
  BlockThreads& operator=(const BlockThreads&) = delete;

  /// Performs the program once: seconds from when all threads are there until the last is done.
  /// The watch is asked some two hundred times a second, of progress that nobody knows.
  /// Errors: HungRun after watchdog_seconds without a step, Stopped; then no further run().
  double run(const Watch& watch);

private:
  struct alignas(64) Counter {
    std::atomic<std::uint32_t> value{0};
  };

  void live(std::uint32_t block);
  bool come_together();
  bool perform_steps(std::uint32_t block);
  WaitKind wait_to_start(const PlannedBlock& block, const PlannedStep& step, std::uint32_t message);
  bool wait_for(Counter& counter, std::uint32_t goal);
  bool wait_for_clock(std::int64_t nanoseconds) const;
  static void raise(Counter& counter);
  void stop();
  [[nodiscard]] std::uint64_t steps_done() const;
  void await_end(const Watch& watch);

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

} // namespace tutti::runtime
