// The kernels on CPU threads, by the code that nvcc compiles.
#include "runtime/cuda/kernels.cuh"
#include "runtime/cuda/timer_kernel.cuh"
#include "runtime/cuda/wrong_elements.hpp"
#include "runtime/with_type.hpp"
#include "tests/runtime/fake_cuda/fake_cuda.hpp"
#include "tests/runtime/host_machine.hpp"

#include <atomic>
#include <chrono>
#include <deque>
#include <thread>
#include <vector>

namespace tutti::runtime {

namespace {

/// A block of one thread, of a GPU whose blocks count themselves.
template <typename T, Combine combine> class FakeMachine : public HostMachine<T, combine> {
public:
  using HostMachine<T, combine>::HostMachine;
  static std::uint32_t add_one(std::uint32_t* counter) {
    return std::atomic_ref(*counter).fetch_add(1);
  }
};

// Never called: their addresses tell kernels apart.
template <typename T, Combine combine>
void run_blocks(RunView, StartBarrier, std::uint32_t, std::uint32_t*) {}
template <typename T, Combine combine> void move_step(Operands) {}
template <typename T, Combine combine>
void count_wrong(const std::byte*, const ExpectedChunk*, std::uint32_t, const std::uint32_t*,
                 unsigned long long*) {}

void read_timer(std::uint64_t*, std::uint32_t, std::uint32_t) {}

template <typename T> T argument(void** arguments, std::size_t i) {
  return *static_cast<T*>(arguments[i]);
}

/// All blocks of the grid; the one who calls this looks at the stop flag for them.
template <typename T, Combine combine>
void run_grid(const RunView& run, const StartBarrier& barrier, std::uint32_t first,
              std::uint32_t* stop, std::uint32_t blocks, fake_cuda::Start start,
              std::chrono::milliseconds stop_delay, const std::atomic<bool>& dead) {
  std::atomic<bool> stopped = false;
  std::atomic<std::uint32_t> ended = 0;
  std::deque<HostBlock> states;
  std::vector<std::thread> threads;
  if (start) std::this_thread::sleep_for(*start);
  for (std::uint32_t b = 0; start && b < blocks; ++b)
    threads.emplace_back([&, b, &state = states.emplace_back(1)] {
      FakeMachine<T, combine> machine(state, 0, 1, stopped);
      perform_timed(machine, run, barrier, first + b);
      ++ended;
    });
  while (ended < blocks && !stopped) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    if (dead) stopped = true;
    if (std::atomic_ref(*stop).load() == 0) continue;
    std::this_thread::sleep_for(stop_delay);
    stopped = true;
  }
  for (std::thread& thread : threads) thread.join();
}

template <typename T, Combine combine> Kernels kernels_of() {
  const Kernels kernels{run_blocks<T, combine>, move_step<T, combine>, count_wrong<T, combine>};
  fake_cuda::define_kernel(
      reinterpret_cast<const void*>(kernels.run_blocks),
      [](int gpu, dim3 grid, void** a) -> fake_cuda::Work {
        return [=, start = fake_cuda::start_on(gpu), stop_delay = fake_cuda::stop_delay(),
                run = argument<RunView>(a, 0), barrier = argument<StartBarrier>(a, 1),
                first = argument<std::uint32_t>(a, 2),
                stop = argument<std::uint32_t*>(a, 3)](const std::atomic<bool>& dead) {
          run_grid<T, combine>(run, barrier, first, stop, grid.x, start, stop_delay, dead);
        };
      });
  fake_cuda::define_kernel(reinterpret_cast<const void*>(kernels.move_step),
                           [](int, dim3, void** a) -> fake_cuda::Work {
                             return [data = argument<Operands>(a, 0)](const std::atomic<bool>&) {
                               move<T, combine>(data, 0, 1);
                             };
                           });
  fake_cuda::define_kernel(
      reinterpret_cast<const void*>(kernels.count_wrong),
      [](int, dim3, void** a) -> fake_cuda::Work {
        return [output = argument<const std::byte*>(a, 0),
                chunks = argument<const ExpectedChunk*>(a, 1),
                count = argument<std::uint32_t>(a, 2),
                contributors = argument<const std::uint32_t*>(a, 3),
                wrong = argument<unsigned long long*>(a, 4)](const std::atomic<bool>&) {
          for (std::uint32_t c = 0; c < count; ++c)
            *wrong += wrong_elements<T, combine>(output, chunks[c],
                                                 contributors + chunks[c].first_contributor, 0, 1);
        };
      });
  return kernels;
}

} // namespace

Kernels kernels_for(ElementType type, Combine combine) {
  return with_type(type, combine,
                   [](auto zero, auto how) { return kernels_of<decltype(zero), how()>(); });
}

TimerKernel timer_kernel() {
  fake_cuda::define_kernel(
      reinterpret_cast<const void*>(&read_timer), [](int, dim3, void** a) -> fake_cuda::Work {
        return [values = argument<std::uint64_t*>(a, 0), count = argument<std::uint32_t>(a, 1),
                most_looks = argument<std::uint32_t>(a, 2)](const std::atomic<bool>&) {
          const std::atomic<bool> stop = false;
          HostBlock block(1);
          watch_timer(HostMachine<float, Combine::sum>(block, 0, 1, stop), values, count,
                      most_looks);
        };
      });
  return read_timer;
}

} // namespace tutti::runtime
