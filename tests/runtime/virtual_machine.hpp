// The interpreter of runtime/cuda/ in virtual time: each block has a clock of its own, every
// operation costs what the test says, and the block that is furthest behind goes first. So the
// times of emulated links are exact, whatever the machine that runs the test is doing.
#pragma once

#include "runtime/cuda/interpreter.hpp"
#include "runtime/cuda/move.hpp"
#include "tests/runtime/host_machine.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tutti::runtime {

/// What operations of a block take, in ns.
struct Costs {
  std::uint64_t wait = 0;    ///< to see a flag or a counter after it was set
  std::uint64_t publish = 0; ///< a fence
  std::uint64_t claim = 0;   ///< to take a link or a group
  double byte = 0;           ///< to move one
};

/// Lets one block go on at a time: of those that can, the one with the least clock.
class VirtualTime {
public:
  explicit VirtualTime(std::size_t blocks) : blocks_(blocks) {}

  /// Returns when it is this block's turn, with everything before its clock done by the others.
  void turn(std::size_t block) {
    std::unique_lock lock(mutex_);
    blocks_[block].state = State::ready;
    pass_on();
    blocks_[block].changed.wait(lock, [&] { return turn_ == block; });
    blocks_[block].state = State::running;
  }
  /// False where nobody can go on any more.
  bool await(std::size_t block, const std::function<bool()>& condition) {
    turn(block);
    if (condition()) return true;
    std::unique_lock lock(mutex_);
    blocks_[block].state = State::waiting;
    blocks_[block].condition = condition;
    pass_on();
    blocks_[block].changed.wait(lock, [&] { return turn_ == block || stuck_; });
    blocks_[block].state = State::running;
    return !stuck_;
  }
  /// After something was set at this block's clock.
  void tell(std::size_t block) {
    const std::scoped_lock lock(mutex_);
    for (Block& other : blocks_)
      if (other.state == State::waiting && other.condition()) {
        other.state = State::ready;
        other.clock = std::max(other.clock, blocks_[block].clock);
      }
  }
  void end(std::size_t block) {
    const std::scoped_lock lock(mutex_);
    blocks_[block].state = State::over;
    pass_on();
  }
  std::uint64_t& clock(std::size_t block) { return blocks_[block].clock; }
  [[nodiscard]] std::uint64_t latest() const {
    return std::ranges::max_element(blocks_, {}, &Block::clock)->clock;
  }

private:
  enum class State : std::uint8_t { starting, ready, running, waiting, over };
  struct Block {
    State state = State::starting;
    std::uint64_t clock = 0;
    std::function<bool()> condition;
    std::condition_variable changed; // it may go on
  };

  void pass_on() {
    const auto is = [&](State state) {
      return std::ranges::find(blocks_, state, &Block::state) != blocks_.end();
    };
    if (is(State::starting)) return;
    auto next = blocks_.end();
    for (auto at = blocks_.begin(); at != blocks_.end(); ++at)
      if (at->state == State::ready && (next == blocks_.end() || at->clock < next->clock))
        next = at;
    stuck_ = next == blocks_.end() && is(State::waiting);
    turn_ = static_cast<std::size_t>(next - blocks_.begin());
    if (next != blocks_.end()) next->changed.notify_one();
    if (stuck_)
      for (Block& block : blocks_) block.changed.notify_one();
  }

  std::mutex mutex_;
  std::deque<Block> blocks_;
  std::size_t turn_ = SIZE_MAX;
  bool stuck_ = false;
};

/// The one thread of a block.
template <typename T, Combine combine> class VirtualMachine {
public:
  VirtualMachine(VirtualTime& time, std::size_t block, const Costs& costs)
      : time_(time), block_(block), costs_(costs) {}

  bool leader() const { return true; }
  bool together(bool ok) { return ok; }
  const PlannedStep& step(const PlannedStep* steps, std::uint32_t, std::uint32_t at) const {
    return steps[at];
  }
  bool await_least(std::uint32_t* counter, std::uint32_t least) {
    return await([=] { return *counter >= least; });
  }
  bool await_flag(std::uint64_t* flag, std::uint64_t& value) {
    if (!await([=] { return *flag != 0; })) return false;
    value = *flag;
    return true;
  }
  bool await_time(std::uint64_t ns) {
    spend(0);
    time_.clock(block_) = std::max(time_.clock(block_), ns);
    return true;
  }
  std::uint64_t now() { return time_.clock(block_); }
  std::uint64_t claim(std::uint64_t* clock, std::uint64_t from, std::uint64_t span) {
    spend(costs_.claim);
    const std::uint64_t start = std::max(*clock, from);
    *clock = start + span;
    return start;
  }
  void publish(bool) { spend(costs_.publish); }
  template <typename Flag> void set(Flag* flag, Flag value) {
    spend(0);
    *flag = value;
    time_.tell(block_);
  }
  void move(const Operands& data) {
    spend(static_cast<std::uint64_t>(costs_.byte * static_cast<double>(data.bytes)));
    tutti::runtime::move<T, combine>(data, 0, 1);
  }

private:
  void spend(std::uint64_t ns) {
    time_.clock(block_) += ns;
    time_.turn(block_);
  }
  bool await(const std::function<bool()>& condition) {
    if (!time_.await(block_, condition)) return false;
    time_.clock(block_) += costs_.wait;
    return true;
  }

  VirtualTime& time_;
  std::size_t block_;
  const Costs& costs_;
};

/// Performs the plan once; ns from its begin to its end.
template <typename T, Combine combine>
std::uint64_t interpret_in_virtual_time(const Plan& plan, HostMemory& memory, const Costs& costs) {
  const RunView run = memory.view();
  VirtualTime time(plan.blocks.size());
  std::vector<std::thread> blocks;
  for (std::uint32_t b = 0; b < plan.blocks.size(); ++b)
    blocks.emplace_back([&, b] {
      VirtualMachine<T, combine> machine(time, b, costs);
      time.turn(b);
      Interpreter(machine, run, b).perform_all();
      time.end(b);
    });
  for (std::thread& block : blocks) block.join();
  return time.latest();
}

} // namespace tutti::runtime
