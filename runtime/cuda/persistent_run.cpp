#include "runtime/cuda/runs.cuh"
#include "runtime/executor.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <thread>

namespace tutti::runtime {

namespace {

/// Below this a block's copies are too slow to be worth a run.
constexpr std::array<unsigned, 4> thread_counts{most_threads, 512, 256, 128};

/// How many blocks of the kernel the current device keeps at once.
std::uint32_t resident_blocks(const Kernels& kernels, int device, unsigned threads) {
  int of_one = 0, processors = 0;
  check_cuda(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(
          &of_one, reinterpret_cast<const void*>(kernels.run_blocks), static_cast<int>(threads), 0),
      "asking how many blocks can be resident");
  check_cuda(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device),
             "asking for the number of multiprocessors");
  return static_cast<std::uint32_t>(of_one) * static_cast<std::uint32_t>(processors);
}

} // namespace

PersistentRun::PersistentRun(LoadedPlan& loaded, const Kernels& kernels)
    : loaded_(loaded), kernels_(kernels) {
  const Devices& devices = loaded.devices();
  const auto& blocks = loaded.plan().blocks;
  for (const int device : devices.distinct) {
    const auto here = [&](const PlannedBlock& b) { return devices.of_rank[b.rank] == device; };
    const auto first = std::ranges::find_if(blocks, here);
    const OnDevice current(device);
    launches_.push_back({device, static_cast<std::uint32_t>(first - blocks.begin()),
                         static_cast<std::uint32_t>(std::ranges::count_if(blocks, here)),
                         make_stream(), make_event(), make_event()});
  }
  choose_threads();
}

bool PersistentRun::fits(unsigned threads) const {
  return std::ranges::all_of(launches_, [&](const Launch& launch) {
    const OnDevice current(launch.device);
    return launch.blocks <= resident_blocks(kernels_, launch.device, threads);
  });
}

void PersistentRun::choose_threads() {
  for (const unsigned threads : thread_counts)
    if (fits(threads)) {
      threads_ = threads;
      return;
    }
  for (const Launch& launch : launches_) {
    const OnDevice current(launch.device);
    const std::uint32_t most = resident_blocks(kernels_, launch.device, thread_counts.back());
    if (launch.blocks > most)
      throw InputError("the program has " + std::to_string(launch.blocks) +
                       " thread blocks for GPU " + std::to_string(launch.device) + ", where " +
                       std::to_string(most) +
                       " can be resident at once: a persistent kernel would hang; take fewer "
                       "instances, channels or ranks, or a copy for each step");
  }
}

double PersistentRun::perform(double watchdog_seconds) {
  loaded_.reset();
  stop_.lower(); // a run before may have ended by itself just as it was stopped
  for (std::size_t launch = 0; launch < launches_.size(); ++launch) start(launch);
  watch(watchdog_seconds);
  double seconds = 0;
  for (const Launch& launch : launches_) {
    float milliseconds = 0;
    check_cuda(cudaEventElapsedTime(&milliseconds, launch.begin.get(), launch.end.get()),
               "timing a run");
    seconds = std::max(seconds, milliseconds * 1e-3);
  }
  return seconds;
}

void PersistentRun::start(std::size_t index) {
  Launch& launch = launches_[index];
  const OnDevice current(launch.device);
  RunView run = loaded_.view(index);
  std::uint32_t* stop = stop_.get();
  void* arguments[] = {&run, &launch.first_block, &stop};
  check_cuda(cudaEventRecord(launch.begin.get(), launch.stream.get()), "timing a run");
  if (launch.blocks > 0)
    check_cuda(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernels_.run_blocks),
                                           dim3(launch.blocks), dim3(threads_), arguments, 0,
                                           launch.stream.get()),
               "starting the persistent kernel");
  check_cuda(cudaEventRecord(launch.end.get(), launch.stream.get()), "timing a run");
}

/// Returns when all kernels have ended, by themselves or because nothing went on for so long.
void PersistentRun::watch(double watchdog_seconds) {
  using Clock = std::chrono::steady_clock;
  const auto patience =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(watchdog_seconds));
  auto deadline = Clock::now() + patience;
  std::uint64_t over = 0;
  bool stopped = false;
  for (const Launch& launch : launches_) {
    cudaError_t state = cudaErrorNotReady;
    while ((state = cudaEventQuery(launch.end.get())) == cudaErrorNotReady) {
      (void)cudaGetLastError();
      std::this_thread::sleep_for(std::chrono::microseconds(20));
      if (stopped || Clock::now() < deadline) continue;
      const std::uint64_t now_over = loaded_.steps_over();
      deadline = Clock::now() + patience;
      stopped = now_over == over;
      if (stopped) stop_.raise();
      over = now_over;
    }
    check_cuda(state, "running the persistent kernel");
  }
  if (!stopped) return;
  if (const std::string waits = waiting_steps(loaded_.plan(), loaded_.stopped()); !waits.empty())
    throw HungRun("the run hangs: " + waits);
}

} // namespace tutti::runtime
