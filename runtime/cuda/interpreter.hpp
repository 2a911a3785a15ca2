// What every block of a persistent run does: its steps one after another, by flags alone.
//
// Written over a machine that waits, signals and moves data, so that the same control flow runs in
// a CUDA kernel (kernel.cuh) and, in tests, on CPU threads. The machine has:
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
#include "runtime/plan.hpp"

#include <cstddef>
#include <cstdint>

namespace tutti::runtime {

/// One block at its work. Only its leader's state counts.
template <typename Machine> class Interpreter {
public:
  TUTTI_DEVICE Interpreter(Machine& machine, const RunView& run, std::uint32_t block)
      : machine_(machine), run_(run), index_(block), block_(run.blocks[block]),
        own_(run.arenas[block_.rank]),
        there_(block_.sends == nobody ? nullptr : run.arenas[run.connections[block_.sends].to]) {}

  TUTTI_DEVICE void perform_all() {
    bool ok = true; // the leader's
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
  }

private:
  /// False: the run was stopped meanwhile.
  TUTTI_DEVICE bool wait_for_turn(const PlannedStep& step) {
    if (step.after_block != nobody &&
        !machine_.await_least(&run_.steps_over[block_.first_block + step.after_block],
                              step.after_step + 1))
      return stop_at(WaitKind::step);
    if (gets(step.kind) && !wait_for_message()) return false;
    if (!sends_on(step.kind)) return true;
    const Connection& connection = run_.connections[block_.sends];
    if (step.takes_slot && step.slot_messages >= connection.slots &&
        !machine_.await_least(run_.flags[block_.sends].emptied,
                              step.slot_messages - connection.slots + 1))
      return stop_at(WaitKind::slot);
    // Before the copy: it takes place while the emulated one does.
    if (run_.links != nullptr) passage_ = take_links(machine_, run_, connection, step.bytes);
    return true;
  }

  TUTTI_DEVICE bool wait_for_message() {
    std::uint64_t arrived = 0;
    if (!machine_.await_flag(&run_.flags[block_.receives].arrived[received_], arrived))
      return stop_at(WaitKind::message);
    ++received_;
    if (run_.links != nullptr && !machine_.await_time(arrived - 1))
      return stop_at(WaitKind::arrival);
    return true;
  }

  TUTTI_DEVICE Operands operands(const PlannedStep& step) const {
    return step_operands(step, own_, sends_on(step.kind) ? there_ : nullptr);
  }

  /// Flags what this step wrote and read. False: the run was stopped meanwhile.
  TUTTI_DEVICE bool tell_others(const PlannedStep& step) {
    const bool sent = sends_on(step.kind);
    machine_.publish(sent || step.frees_slot);
    if (step.frees_slot) machine_.set(run_.flags[block_.receives].emptied, ++emptied_);
    if (sent)
      machine_.set(&run_.flags[block_.sends].arrived[sent_++],
                   run_.links == nullptr ? std::uint64_t{1} : passage_.due + 1);
    machine_.set(&run_.steps_over[index_], at_ + 1);
    // Others may go on; this block is busy until the link has taken the message.
    if (sent && run_.links != nullptr && !machine_.await_time(passage_.taken))
      return stop_at(WaitKind::link);
    return true;
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
  Passage passage_;
};

} // namespace tutti::runtime
