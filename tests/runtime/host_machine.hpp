// The interpreter of runtime/cuda/ on CPU threads: the control flow that runs on GPUs, where there
// is none. Some threads for each block, as a GPU has.
#pragma once

#include "runtime/cuda/interpreter.hpp"
#include "runtime/cuda/move.hpp"
#include "runtime/plans/planned_run.hpp"

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

namespace tutti::runtime {

struct HostBlock {
  explicit HostBlock(std::uint32_t threads) : barrier(threads) {}
  std::barrier<> barrier;
  std::atomic<bool> ok = true;
};

/// One thread of a block.
template <typename T, Combine combine> class HostMachine {
public:
  HostMachine(HostBlock& block, std::uint32_t thread, std::uint32_t threads,
              const std::atomic<bool>& stop)
      : block_(block), thread_(thread), threads_(threads), stop_(stop) {}

  const PlannedStep& step(const PlannedStep* steps, std::uint32_t, std::uint32_t at) const {
    return steps[at];
  }
  bool leader() const { return thread_ == 0; }
  bool together(bool ok) {
    if (leader()) block_.ok = ok;
    block_.barrier.arrive_and_wait();
    const bool all = block_.ok;
    block_.barrier.arrive_and_wait(); // before the leader sets it again
    return all;
  }
  bool await_least(std::uint32_t* counter, std::uint32_t least) {
    return spin([&] { return std::atomic_ref(*counter).load() >= least; });
  }
  bool await_flag(std::uint64_t* flag, std::uint64_t& value) {
    return spin([&] { return (value = std::atomic_ref(*flag).load()) != 0; });
  }
  bool await_time(std::uint64_t ns) {
    return spin([&] { return now() >= ns; });
  }
  std::uint64_t now() const {
    return static_cast<std::uint64_t>(
        std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
  }
  std::uint64_t claim(std::uint64_t* clock, std::uint64_t from, std::uint64_t span) {
    std::atomic_ref free(*clock);
    std::uint64_t seen = free.load();
    while (!free.compare_exchange_weak(seen, std::max(seen, from) + span)) {
    }
    return std::max(seen, from);
  }
  void publish(bool) {} // set() does
  template <typename Flag> void set(Flag* flag, Flag value) { std::atomic_ref(*flag).store(value); }
  void move(const Operands& data) { tutti::runtime::move<T, combine>(data, thread_, threads_); }

private:
  template <typename Condition> bool spin(Condition condition) {
    while (!condition()) {
      if (stop_) return false;
      std::this_thread::yield();
    }
    return true;
  }

  HostBlock& block_;
  std::uint32_t thread_, threads_;
  const std::atomic<bool>& stop_;
};

/// A plan's arenas and flags in the host's memory.
class HostMemory {
public:
  HostMemory(const Program& program, const Plan& plan, ElementType type)
      : program_(program), plan_(plan), type_(type), steps_over_(plan.blocks.size()),
        link_free_(plan.links.size()), group_free_(plan.groups.size()),
        ready_at_(plan.steps.size()), stopped_(plan.blocks.size()) {
    for (std::uint32_t rank = 0; rank < plan.arenas.size(); ++rank) {
      const Arena& arena = plan.arenas[rank];
      auto& words = memory_.emplace_back(arena.size / sizeof(Vector) + 1);
      arenas_.push_back(reinterpret_cast<std::byte*>(words.data()));
      std::fill_n(arenas_.back(), arena.size, std::byte{0xA5});
      fill_input(input_chunks(program, rank, type, plan.unit_bytes), type,
                 {arenas_.back() + arena.input, program.ranks[rank].input * plan.unit_bytes});
    }
    for (const Connection& connection : plan.connections)
      flags_.push_back(
          {arrived_.emplace_back(connection.messages + 1).data(), &emptied_.emplace_back()});
  }

  [[nodiscard]] RunView view() {
    RunView run;
    run.blocks = plan_.blocks.data();
    run.steps = plan_.steps.data();
    run.connections = plan_.connections.data();
    run.path_links = plan_.path_links.data();
    run.links = plan_.links.empty() ? nullptr : plan_.links.data();
    run.groups = plan_.groups.data();
    run.link_groups = plan_.link_groups.data();
    run.arenas = arenas_.data();
    run.flags = flags_.data();
    run.steps_over = steps_over_.data();
    run.link_free = link_free_.data();
    run.group_free = group_free_.data();
    run.ready_at = ready_at_.data();
    run.stopped = stopped_.data();
    return run;
  }
  [[nodiscard]] std::byte* arena(std::uint32_t rank) const { return arenas_[rank]; }
  [[nodiscard]] std::span<const Stopped> stopped() const { return stopped_; }

  [[nodiscard]] DataCheck check(Combine combine) const {
    DataCheck all;
    for (std::uint32_t rank = 0; rank < arenas_.size(); ++rank) {
      const DataCheck one = check_output(expected_output(program_, rank, type_, plan_.unit_bytes),
                                         rank, type_, combine,
                                         {arenas_[rank] + plan_.arenas[rank].output,
                                          program_.ranks[rank].output * plan_.unit_bytes});
      all.checked += one.checked;
      all.wrong += one.wrong;
    }
    return all;
  }

private:
  const Program& program_;
  const Plan& plan_;
  ElementType type_;
  std::vector<std::vector<Vector>> memory_;
  std::vector<std::byte*> arenas_;
  std::deque<std::vector<std::uint64_t>> arrived_;
  std::deque<std::uint32_t> emptied_;
  std::vector<ConnectionFlags> flags_;
  std::vector<std::uint32_t> steps_over_;
  std::vector<std::uint64_t> link_free_, group_free_, ready_at_;
  std::vector<Stopped> stopped_;
};

/// Performs the plan once; stops it when it has taken `watchdog`.
template <typename T, Combine combine>
void interpret_on_host(const Plan& plan, HostMemory& memory, std::uint32_t threads,
                       std::chrono::milliseconds watchdog = std::chrono::minutes(1)) {
  const RunView run = memory.view();
  std::atomic<bool> stop = false;
  std::atomic<std::size_t> ended = 0;
  std::deque<HostBlock> blocks;
  std::vector<std::thread> workers;
  for (std::uint32_t b = 0; b < plan.blocks.size(); ++b) {
    HostBlock& block = blocks.emplace_back(threads);
    for (std::uint32_t t = 0; t < threads; ++t)
      workers.emplace_back([&, b, t, threads] {
        HostMachine<T, combine> machine(block, t, threads, stop);
        Interpreter(machine, run, b).perform_all();
        ++ended;
      });
  }
  const auto deadline = std::chrono::steady_clock::now() + watchdog;
  while (ended < workers.size() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  stop = true;
  for (std::thread& worker : workers) worker.join();
}

} // namespace tutti::runtime
