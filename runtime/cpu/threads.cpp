// All threads meet before each repetition, and the last one to come takes the time, so that
// starting and waking threads isn't part of what is measured.

#include "runtime/cpu/threads.hpp"

#include <algorithm>
#include <chrono>

namespace tutti::runtime {

namespace {

constexpr int yields_before_sleep = 32;
constexpr std::int64_t timer_slack = 120'000; ///< ns: a sleep may end so late

bool count_reached(std::uint32_t count, std::uint32_t goal) { // they may wrap around
  return static_cast<std::int32_t>(count - goal) >= 0;
}

} // namespace

BlockThreads::BlockThreads(const Plan& plan, const CpuMemory& memory, CombineLoop combine,
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

BlockThreads::~BlockThreads() { stop(); }

double BlockThreads::run(const Watch& watch) {
  if (thread_count_ == 0) return 0;
  ++runs_;
  raise(begun_);
  await_end(watch);
  std::int64_t end = start_;
  for (std::uint32_t b = 0; b < ends_.size(); ++b)
    if (plan_.blocks[b].steps > 0) end = std::max(end, ends_[b]);
  return static_cast<double>(end - start_) * 1e-9;
}

/// Until all threads are through. It polls: what it would learn earlier isn't timed.
void BlockThreads::await_end(const Watch& watch) {
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

std::uint64_t BlockThreads::steps_done() const {
  std::uint64_t steps = 0;
  for (const Counter& block : done_) steps += block.value.load(std::memory_order_relaxed);
  return steps;
}

/// Every wait ends: counters jump, so that sleepers wake and see the flag.
void BlockThreads::stop() {
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

void BlockThreads::live(std::uint32_t block) {
  for (std::uint32_t run = 1;; ++run) {
    if (!wait_for(begun_, run) || !come_together() || !perform_steps(block)) return;
    ends_[block] = steady_now();
    ended_.value.fetch_add(1, std::memory_order_acq_rel);
  }
}

/// The last to come takes the time and starts all: those that are there by then are awake.
bool BlockThreads::come_together() {
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

bool BlockThreads::perform_steps(std::uint32_t index) {
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
WaitKind BlockThreads::wait_to_start(const PlannedBlock& block, const PlannedStep& step,
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

bool BlockThreads::wait_for(Counter& counter, std::uint32_t goal) {
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
bool BlockThreads::wait_for_clock(std::int64_t nanoseconds) const {
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

void BlockThreads::raise(Counter& counter) {
  counter.value.fetch_add(1, std::memory_order_acq_rel);
  counter.value.notify_all();
}

} // namespace tutti::runtime
