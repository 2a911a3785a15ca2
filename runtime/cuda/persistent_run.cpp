// Starts the persistent kernels, watches them, and ends them: nothing may be freed, nor a call be
// made that waits, while one of them spins.
#include "runtime/cuda/last_resort.cuh"
#include "runtime/cuda/runs.cuh"
#include "runtime/executor.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <optional>
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

/// Whether what was launched on the stream has ended. An error of this call says nothing of the
/// kernel, but one of the kernel, which has ended it, comes again.
bool is_idle(cudaStream_t stream) {
  cudaError_t state = cudaStreamQuery(stream);
  if (state != cudaSuccess && state != cudaErrorNotReady) state = cudaStreamQuery(stream);
  (void)cudaGetLastError();
  return state != cudaErrorNotReady;
}

/// Until when a run's emulated messages are under way, by the host's clock.
class MessagesDue {
public:
  explicit MessagesDue(const LoadedPlan& loaded) : loaded_(loaded) {}

  /// Nothing where none is.
  std::optional<std::chrono::steady_clock::time_point> until() {
    if (loaded_.plan().links.empty()) return std::nullopt;
    if (begin_ == 0) find_begin();
    const std::uint64_t due = loaded_.last_due();
    if (begin_ == 0 || due <= begin_) return std::nullopt;
    constexpr std::uint64_t most = 1'000'000'000'000'000'000; // what the clock can add to now
    return seen_ + std::chrono::nanoseconds(std::min(due - begin_, most));
  }

private:
  /// The run began before it is seen to have: what is due by the GPU's clock is so no later by the
  /// host's.
  void find_begin() {
    for (const BlockTime& time : loaded_.times(0))
      if (time.begin != 0 && (begin_ == 0 || time.begin < begin_)) begin_ = time.begin;
    seen_ = std::chrono::steady_clock::now();
  }

  const LoadedPlan& loaded_;
  std::uint64_t begin_ = 0; ///< ns of the GPU's clock
  std::chrono::steady_clock::time_point seen_;
};

} // namespace

PersistentRun::PersistentRun(LoadedPlan& loaded, const Kernels& kernels)
    : loaded_(loaded), kernels_(kernels) {
  for (const BlocksOfGpu& share : loaded.shares()) {
    const int device = loaded.devices().distinct[share.gpu];
    const OnDevice current(device);
    launches_.push_back({device, share.first, share.count, make_stream()});
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

/// Ends the kernels where an exception leaves the scope.
class PersistentRun::StopOnThrow {
public:
  StopOnThrow(PersistentRun& run, const Patience& patience) : run_(run), patience_(patience) {}
  ~StopOnThrow() {
    if (!over_) run_.end_kernels(patience_);
  }
  StopOnThrow(const StopOnThrow&) = delete;
  StopOnThrow& operator=(const StopOnThrow&) = delete;
  void over() { over_ = true; }

private:
  PersistentRun& run_;
  const Patience& patience_;
  bool over_ = false;
};

double PersistentRun::perform(double watchdog_seconds) {
  const Patience patience(watchdog_seconds);
  LastResort resort(patience.last_after(Clock::now() + patience.without_progress), [this] {
    return "a call to CUDA doesn't return: " + told_waits() + "; the process ends";
  });
  loaded_.reset();
  stop_.lower(); // a run before may have ended by itself just as it was stopped
  StopOnThrow guard(*this, patience);
  for (std::size_t launch = 0; launch < launches_.size(); ++launch) start(launch);
  watch(patience, resort);
  guard.over();
  return longest();
}

void PersistentRun::start(std::size_t index) {
  Launch& launch = launches_[index];
  const OnDevice current(launch.device);
  RunView run = loaded_.view(index);
  StartBarrier start = loaded_.start_barrier(index);
  std::uint32_t* stop = stop_.get();
  void* arguments[] = {&run, &start, &launch.first_block, &stop};
  check_cuda(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernels_.run_blocks),
                                         dim3(launch.blocks), dim3(threads_), arguments, 0,
                                         launch.stream.get()),
             "starting the persistent kernel");
}

/// Returns when all kernels have ended, by themselves or because nothing went on for so long.
void PersistentRun::watch(const Patience& patience, LastResort& resort) {
  MessagesDue due(loaded_);
  auto deadline = Clock::now() + patience.without_progress;
  resort.put_off(patience.last_after(deadline));
  std::uint64_t over = 0;
  while (!is_over()) {
    std::this_thread::sleep_for(Patience::between_looks);
    const auto now = Clock::now();
    if (now < deadline) continue;
    const std::uint64_t now_over = loaded_.steps_over();
    if (now_over != over) deadline = now + patience.without_progress;
    if (const auto until = due.until())
      deadline = std::max(deadline, *until + patience.without_progress);
    over = now_over;
    resort.put_off(patience.last_after(deadline));
    if (now < deadline) continue;
    end_kernels(patience);
    require_end();
    return;
  }
}

/// Errors: CudaError of a kernel.
bool PersistentRun::is_over() const {
  for (const Launch& launch : launches_) {
    const cudaError_t state = cudaStreamQuery(launch.stream.get());
    if (state == cudaErrorNotReady) {
      (void)cudaGetLastError();
      return false;
    }
    check_cuda(state, "running the persistent kernel");
  }
  return true;
}

/// Raises the stop flag, and returns when no kernel runs any more.
void PersistentRun::end_kernels(const Patience& patience) {
  stop_.raise();
  const auto deadline = Clock::now() + patience.to_stop;
  for (const Launch& launch : launches_)
    while (!is_idle(launch.stream.get())) {
      if (Clock::now() >= deadline)
        end_process("GPU " + std::to_string(launch.device) + " doesn't end its kernel, though " +
                    "told to stop: " + told_waits() +
                    "; the process ends, as the GPU's memory can't be freed");
      std::this_thread::sleep_for(Patience::between_looks);
    }
}

/// What blocks said when they stopped; asks no device.
std::string PersistentRun::told_waits() const {
  const std::string waits = waiting_steps(loaded_.plan(), loaded_.stopped());
  return waits.empty() ? "no step says that it waits" : waits;
}

/// Checks that a run which was stopped had ended by itself meanwhile. Errors: HungRun.
void PersistentRun::require_end() const {
  const std::string waits = waiting_steps(loaded_.plan(), loaded_.stopped());
  const std::string hangs = waits.empty() ? missing_blocks() : waits;
  if (!hangs.empty()) throw HungRun("the run hangs: " + hangs);
}

/// Which GPUs' blocks never came to the start barrier, or never ended; empty where all ended.
std::string PersistentRun::missing_blocks() const {
  std::string text;
  for (std::size_t share = 0; share < launches_.size(); ++share) {
    const Launch& launch = launches_[share];
    const auto ended = std::ranges::count_if(loaded_.times(share),
                                             [](const BlockTime& time) { return time.end != 0; });
    if (static_cast<std::uint32_t>(ended) == launch.blocks) continue;
    text += (text.empty() ? "of " : "; of ") + std::to_string(launch.blocks) + " blocks on GPU " +
            std::to_string(launch.device) + " " + std::to_string(loaded_.came(share)) +
            " started and " + std::to_string(ended) + " ended";
  }
  return text;
}

double PersistentRun::longest() const {
  std::uint64_t longest = 0;
  for (std::size_t share = 0; share < launches_.size(); ++share) {
    std::uint64_t begin = std::numeric_limits<std::uint64_t>::max(), end = 0;
    for (const BlockTime& time : loaded_.times(share)) {
      begin = std::min(begin, time.begin);
      end = std::max(end, time.end);
    }
    longest = std::max(longest, end - begin);
  }
  return static_cast<double>(longest) * 1e-9;
}

} // namespace tutti::runtime
