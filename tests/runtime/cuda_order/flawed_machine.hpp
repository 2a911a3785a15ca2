// The device's machine on CPU threads, sound or with one flaw in its memory order.
#pragma once

#include "runtime/cuda/device_machine.cuh"
#include "tests/runtime/host_machine.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <thread>
#include <vector>

namespace tutti::runtime {

enum class Flaw : std::uint8_t {
  none,
  no_publish,           ///< flags are raised without a fence
  narrow_publish,       ///< for the own GPU only
  narrow_scope,         ///< so are all flags and fences
  emptied_first,        ///< before the fence
  step_over_first,      ///< likewise
  no_fence_at_least,    ///< after a counter was seen
  no_fence_at_flag,     ///< after a message was
  no_barrier_after,     ///< a move: the leader goes on
  no_order_after,       ///< a move: threads meet without memory order
  no_order_before,      ///< a move, likewise
  no_order_overwriting, ///< steps ahead while the leader reads them, likewise
  no_order_reading,     ///< steps ahead that others have read, likewise
};
inline constexpr Flaw last_flaw = Flaw::no_order_reading;

template <typename T, Combine combine> class FlawedMachine : public DeviceMachine<T, combine> {
  using Sound = DeviceMachine<T, combine>;

public:
  FlawedMachine(const RunView& run, std::uint32_t blocks, std::uint32_t* stop, StepsAhead& ahead,
                Flaw flaw)
      : Sound(run.crosses_devices && flaw != Flaw::narrow_scope, stop, ahead),
        steps_over_(run.steps_over), blocks_(blocks), flaw_(flaw) {}

  const PlannedStep& step(const PlannedStep* steps, std::uint32_t count, std::uint32_t at) {
    if (flaw_ == Flaw::no_order_overwriting) host_gpu::self->set_unordered_barrier(1);
    if (flaw_ == Flaw::no_order_reading) host_gpu::self->set_unordered_barrier(2);
    const PlannedStep& step = Sound::step(steps, count, at);
    host_gpu::self->set_unordered_barrier(0);
    return step;
  }

  bool together(bool ok) {
    const bool after = moved_;
    moved_ = false;
    if (after && flaw_ == Flaw::no_barrier_after) return ok;
    if (flaw_ == (after ? Flaw::no_order_after : Flaw::no_order_before))
      host_gpu::self->set_unordered_barrier(1);
    return Sound::together(ok);
  }

  bool await_least(std::uint32_t* counter, std::uint32_t least) {
    host_gpu::self->set_fences(flaw_ != Flaw::no_fence_at_least);
    const bool ok = Sound::await_least(counter, least);
    host_gpu::self->set_fences(true);
    return ok;
  }
  bool await_flag(std::uint64_t* flag, std::uint64_t& value) {
    host_gpu::self->set_fences(flaw_ != Flaw::no_fence_at_flag);
    const bool ok = Sound::await_flag(flag, value);
    host_gpu::self->set_fences(true);
    return ok;
  }
  bool await_time(std::uint64_t ns) {
    while (now() < ns) std::this_thread::yield();
    return true;
  }
  std::uint64_t now() const {
    return static_cast<std::uint64_t>(
        std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
  }

  void publish(bool elsewhere) {
    if (flaw_ == Flaw::no_publish) return;
    if (flaw_ == Flaw::narrow_publish) elsewhere = false;
    if (flaw_ == Flaw::emptied_first || flaw_ == Flaw::step_over_first) {
      late_ = true;
      elsewhere_ = elsewhere;
    } else {
      Sound::publish(elsewhere);
    }
  }
  template <typename Flag> void set(Flag* flag, Flag value) {
    const bool first =
        late_ && flaw_ == (is_step_over(flag) ? Flaw::step_over_first : Flaw::emptied_first);
    if (first) Sound::set(flag, value);
    if (late_) Sound::publish(elsewhere_);
    late_ = false;
    if (!first) Sound::set(flag, value);
  }

  void move(const Operands& data) {
    Sound::move(data);
    moved_ = true;
  }

private:
  bool is_step_over(const void* flag) const {
    return flag >= steps_over_ && flag < steps_over_ + blocks_;
  }

  const std::uint32_t* steps_over_;
  std::uint32_t blocks_;
  Flaw flaw_;
  bool moved_ = false;                    ///< since threads met
  bool late_ = false, elsewhere_ = false; ///< a fence that is still to come
};

/// How a plan is performed.
struct HostGpus {
  std::uint32_t gpus = 1; ///< ranks are dealt out to them in turn
  std::uint32_t threads = 1;
  std::uint64_t seed = 0;
};

/// Where blocks of several GPUs meet, and which flags cross.
class HostStartBarriers {
public:
  HostStartBarriers(const Plan& plan, const RunView& run, std::uint32_t gpus)
      : came_(gpus), ready_(gpus, std::vector<std::uint32_t>(gpus)), barriers_(gpus),
        times_(plan.blocks.size()) {
    for (auto& ready : ready_) all_ready_.push_back(ready.data());
    for (std::uint32_t gpu = 0; gpu < gpus; ++gpu)
      barriers_[gpu] = {gpu, gpus, 0, &came_[gpu], all_ready_.data(), times_.data()};
    for (const PlannedBlock& block : plan.blocks) ++barriers_[block.rank % gpus].blocks;
    for (std::size_t c = 0; c < plan.connections.size(); ++c) {
      const Connection& connection = plan.connections[c];
      if (connection.from % gpus == connection.to % gpus) continue;
      crossing_.insert(run.flags[c].emptied);
      for (std::uint32_t m = 0; m <= connection.messages; ++m)
        crossing_.insert(run.flags[c].arrived + m);
    }
    for (std::uint32_t to = 0; to < gpus; ++to)
      for (std::uint32_t from = 0; from < gpus; ++from)
        if (to != from) crossing_.insert(&ready_[to][from]);
  }

  [[nodiscard]] const StartBarrier& of(std::uint32_t gpu) const { return barriers_[gpu]; }
  [[nodiscard]] const host_gpu::CrossingFlags& crossing() const { return crossing_; }

private:
  std::vector<std::uint32_t> came_;
  std::vector<std::vector<std::uint32_t>> ready_;
  std::vector<std::uint32_t*> all_ready_;
  std::vector<StartBarrier> barriers_;
  std::vector<BlockTime> times_;
  host_gpu::CrossingFlags crossing_;
};

/// Performs the plan once, as the persistent kernel does. Pre: each GPU has blocks.
template <typename T, Combine combine>
void run_on_host_gpus(const Plan& plan, HostMemory& memory, const HostGpus& how, Flaw flaw) {
  RunView run = memory.view();
  run.crosses_devices = how.gpus > 1;
  const HostStartBarriers starts(plan, run, how.gpus);
  std::uint32_t stop = 0;
  std::deque<host_gpu::Barrier> barriers;
  std::deque<StepsAhead> ahead(plan.blocks.size());
  std::vector<std::thread> threads;
  for (std::uint32_t b = 0; b < plan.blocks.size(); ++b) {
    host_gpu::Barrier& barrier = barriers.emplace_back(how.threads);
    for (std::uint32_t t = 0; t < how.threads; ++t)
      threads.emplace_back([&, b, t] {
        host_gpu::Thread thread(barrier, starts.crossing(), t == 0, how.seed + b * 1024 + t);
        host_gpu::self = &thread;
        threadIdx.x = t;
        blockDim.x = how.threads;
        FlawedMachine<T, combine> machine(run, static_cast<std::uint32_t>(plan.blocks.size()),
                                          &stop, ahead[b], flaw);
        perform_timed(machine, run, starts.of(plan.blocks[b].rank % how.gpus), b);
      });
  }
  for (std::thread& thread : threads) thread.join();
}

} // namespace tutti::runtime
