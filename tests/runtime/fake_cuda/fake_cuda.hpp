// A CUDA runtime without a GPU, in which any call may fail and kernels may never start or end.
//
// Memory is the host's, copies are done at once; a cooperative kernel runs on threads of its own
// until its stream is asked whether it has ended. What isn't given back can be counted, and a
// memory that is freed while a kernel runs is told.
#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

namespace tutti::fake_cuda {

/// What one machine does.
struct Settings {
  int gpus = 1;
  int processors = 64;
  int driver = 13000; ///< as cudaDriverGetVersion() tells it
  cudaError_t counting = cudaSuccess;
  std::size_t memory = std::size_t{1} << 30; ///< of each GPU
  /// From 1 on: the one that fails, without doing anything; a stream that is asked again before it
  /// has ended counts once. Releases do their work and then fail.
  std::uint64_t failing_call = 0;
  std::uint64_t failures = 1;      ///< so many calls fail, one after another
  std::uint64_t hanging_call = 0;  ///< counted alike: it never returns
  std::uint64_t crashing_call = 0; ///< counted alike: it ends the process
  bool stays_broken = false;       ///< all calls after it fail too, and kernels are dead
  cudaError_t error = cudaErrorUnknown;
  std::optional<int> never_starts; ///< a GPU whose kernels don't begin, and end when told to stop
  std::chrono::milliseconds start_delay{0}; ///< of GPU 1's kernels, twice as long of GPU 2's, ...
  std::chrono::milliseconds stop_delay{0};  ///< until blocks look at the stop flag
  bool never_ends = false;                  ///< streams say so whatever their kernels do
};

/// What hasn't been given back.
struct Left {
  std::size_t device_memory = 0, host_memory = 0, streams = 0, events = 0;
  bool operator==(const Left&) const = default;
};

/// The machine that calls find, for the scope.
class FakeGpus {
public:
  explicit FakeGpus(const Settings& settings);
  ~FakeGpus();
  FakeGpus(const FakeGpus&) = delete;
  FakeGpus& operator=(const FakeGpus&) = delete;

  [[nodiscard]] std::uint64_t calls() const;
  [[nodiscard]] std::uint64_t releases() const; ///< of the calls
  [[nodiscard]] Left left() const;
  /// Something was freed or destroyed while a kernel ran.
  [[nodiscard]] bool freed_under_kernel() const;
  /// The most that was taken of a GPU's memory at once.
  [[nodiscard]] std::size_t most_taken(int gpu) const;
};

/// What a launch does. `dead`: the GPU no longer executes.
using Work = std::function<void(const std::atomic<bool>& dead)>;
/// Work on copies of the arguments.
using Kernel = std::function<Work(int gpu, dim3 grid, void** arguments)>;
/// For launches of `address`.
void define_kernel(const void* address, Kernel kernel);
/// How long after its launch a kernel begins; nothing: never.
using Start = std::optional<std::chrono::milliseconds>;
[[nodiscard]] Start start_on(int gpu);
[[nodiscard]] std::chrono::milliseconds stop_delay();

} // namespace tutti::fake_cuda
