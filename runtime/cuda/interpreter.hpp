// What every block of a persistent run does: its steps one after another, by flags alone.
//
// Written over a machine that waits, signals and moves data, so that the same control flow runs in
// a CUDA kernel (kernels.cuh) and, in tests, on CPU threads. The machine has:
//   const PlannedStep& step(steps, count, at)
//                                      a block's step `at` of `count`, asked for by all its threads
//                                      one step after another; the one before is gone then
//   bool leader()                      one thread of the block, which waits and signals for all
//   bool together(bool ok)             a barrier of the block; the leader's `ok`, to all
//   bool await_least(counter, n)       until *counter >= n; false: the run was stopped. What was
//                                      written before the counter was raised can be read after it
//   bool await_flag(flag, value)       until *flag != 0, its value
//   bool await_time(ns)                until now() >= ns
//   uint64 now()                       ns, one clock for all blocks
//   uint64 claim(clock, from, span)    see take_links.hpp
//   void publish(bool elsewhere)       what the block wrote can be read by whoever sees what is
//                                      set() from here on; `elsewhere`: on other devices, too
//   void set(counter or flag, value)
//   void move(operands)                by all threads of the block
#pragma once

#include "runtime/cuda/device_code.hpp"
#include "runtime/cuda/run_view.hpp"
#include "runtime/cuda/step_operands.hpp"
#include "runtime/cuda/take_links.hpp"
#include "runtime/hung_run.hpp"
#include "runtime/plans/plan.hpp"

#include <cstddef>
#include <cstdint>

namespace tutti::runtime {

/// ns: what waits, polls and flags of a message may cost without being counted.
inline constexpr std::uint64_t most_look_back = 20'000;

/// One block at its work. On emulated links, a step is ready at a time that follows from those
/// before it; its data moves as soon as it is there, and only what takes a link waits for its time.
/// So waits, polls and copies don't add up, if the GPU is as fast as its links.
/// Only its leader's state counts.
template <typename Machine> class Interpreter {
public:
  TUTTI_DEVICE Interpreter(Machine& machine, const RunView& run, std::uint32_t block)
      : machine_(machine), run_(run), index_(block), block_(run.blocks[block]),
        own_(run.arenas[block_.rank]),
        there_(block_.sends == nobody ? nullptr : run.arenas[run.connections[block_.sends].to]) {}

  TUTTI_DEVICE void perform_all() {
    bool ok = true; // the leader's
    if (machine_.leader() && is_emulated()) begin_ = ready_ = machine_.now();
    for (at_ = 0; at_ < block_.steps; ++at_) {
      const PlannedStep& step = machine_.step(run_.steps + block_.first_step, block_.steps, at_);
      if (machine_.leader()) ok = ok && wait_for_turn(step);
      if (!machine_.together(ok)) return;
      if (step.kind != StepKind::wait) {
        machine_.move(operands(step));
        machine_.together(true);
      }
      if (machine_.leader()) ok = tell_others(step);
    }
    if (!machine_.leader() || !is_emulated() || !ok || at_ == 0) return;
    --at_; // the last: busy until its link has taken the message
    (void)wait_until_ready();
  }

private:
  [[nodiscard]] TUTTI_DEVICE bool is_emulated() const { return run_.links != nullptr; }

  /// Where messages take turns in one slot, it is taken until an emulated link would have brought
  /// what is in it.
  [[nodiscard]] TUTTI_DEVICE bool is_one_by_one(std::uint32_t id) const {
    const Connection& connection = run_.connections[id];
    return connection.slots == 1 && connection.slot_messages > 1;
  }

  /// False: the run was stopped meanwhile.
  TUTTI_DEVICE bool wait_for_turn(const PlannedStep& step) {
    if (step.after_block != nobody) {
      const std::uint32_t other = block_.first_block + step.after_block;
      if (!machine_.await_least(&run_.steps_over[other], step.after_step + 1))
        return stop_at(WaitKind::step);
      if (is_emulated())
        postpone(run_.ready_at[run_.blocks[other].first_step + step.after_step], WaitKind::step);
    }
    if (gets(step.kind) && !wait_for_message()) return false;
    if (!sends_on(step.kind) || !step.takes_slot) return true;
    const Connection& connection = run_.connections[block_.sends];
    if (step.slot_messages >= connection.slots &&
        !machine_.await_least(run_.flags[block_.sends].emptied,
                              step.slot_messages - connection.slots + 1))
      return stop_at(WaitKind::slot);
    // The slot was emptied just now, so that it can't be sent into from before.
    if (is_emulated() && step.slot_messages > 0 && is_one_by_one(block_.sends))
      postpone(machine_.now(), WaitKind::slot);
    return true;
  }

  /// The data is there with the flag, before an emulated link would have brought it.
  TUTTI_DEVICE bool wait_for_message() {
    std::uint64_t arrived = 0;
    if (!machine_.await_flag(&run_.flags[block_.receives].arrived[received_], arrived))
      return stop_at(WaitKind::message);
    ++received_;
    sent_at_ = arrived - 1;
    return true;
  }

  /// The message that was received crosses its path; its sender took the first link.
  TUTTI_DEVICE bool cross_links(double bytes) {
    const Connection& connection = run_.connections[block_.receives];
    const auto link = [&](std::uint32_t i) { return run_.path_links[connection.first_link + i]; };
    Crossing crossing = pass_link(run_.links[link(0)], sent_at_, 0, bytes);
    for (std::uint32_t i = 1; i < connection.links; ++i) {
      if (!machine_.await_time(crossing.head)) return stop_at(WaitKind::arrival);
      const std::uint64_t start = take_link(machine_, run_, link(i), crossing.head, bytes);
      crossing = pass_link(run_.links[link(i)], start, crossing.due, bytes);
    }
    postpone(crossing.due, WaitKind::arrival);
    return true;
  }

  /// Until then, and no more than `most_look_back` behind: a GPU that can't keep up shows.
  TUTTI_DEVICE bool wait_until_ready() {
    if (!machine_.await_time(ready_)) return stop_at(cause_);
    const std::uint64_t now = machine_.now();
    if (now - begin_ > most_look_back) ready_ = later(ready_, now - most_look_back);
    return true;
  }

  TUTTI_DEVICE Operands operands(const PlannedStep& step) const {
    return step_operands(step, own_, sends_on(step.kind) ? there_ : nullptr);
  }

  /// Flags what this step wrote and read. False: the run was stopped meanwhile.
  TUTTI_DEVICE bool tell_others(const PlannedStep& step) {
    const bool sent = sends_on(step.kind);
    if (is_emulated()) {
      if (gets(step.kind) && !cross_links(static_cast<double>(step.bytes))) return false;
      run_.ready_at[block_.first_step + at_] = ready_;
      if (step.frees_slot && is_one_by_one(block_.receives) && !wait_until_ready()) return false;
    }
    machine_.publish(sent || step.frees_slot);
    if (step.frees_slot) machine_.set(run_.flags[block_.receives].emptied, ++emptied_);
    machine_.set(&run_.steps_over[index_], at_ + 1);
    if (!sent) return true;
    std::uint64_t flag = 1;
    if (is_emulated() && !send_out(static_cast<double>(step.bytes), flag)) return false;
    machine_.set(&run_.flags[block_.sends].arrived[sent_++], flag);
    return true;
  }

  /// Takes the first link of the message's path, not before it is ready: links are taken in order.
  TUTTI_DEVICE bool send_out(double bytes, std::uint64_t& flag) {
    if (!wait_until_ready()) return false;
    const std::uint32_t first = run_.path_links[run_.connections[block_.sends].first_link];
    const std::uint64_t start = take_link(machine_, run_, first, ready_, bytes);
    postpone(pass_link(run_.links[first], start, 0, bytes).taken, WaitKind::link);
    flag = start + 1;
    return true;
  }

  TUTTI_DEVICE void postpone(std::uint64_t until, WaitKind cause) {
    if (until <= ready_) return;
    ready_ = until;
    cause_ = cause;
  }

  TUTTI_DEVICE bool stop_at(WaitKind wait) {
    run_.stopped[index_] = {wait, at_};
    return false;
  }

  Machine& machine_;
  const RunView& run_;
  std::uint32_t index_;
  PlannedBlock block_;
  std::byte* own_;   ///< arena
  std::byte* there_; ///< that of the rank to which it sends
  std::uint32_t at_ = 0, sent_ = 0, received_ = 0, emptied_ = 0;
  /// Emulated time, in ns: the run's begin; when the step can start, and because of what; when the
  /// message that was received set out.
  std::uint64_t begin_ = 0, ready_ = 0, sent_at_ = 0;
  WaitKind cause_ = WaitKind::link;
};

} // namespace tutti::runtime
