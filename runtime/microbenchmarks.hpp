// What a machine's GPUs are, and what its simplest operations take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tutti::runtime {

struct GpuFacts {
  std::string name;
  int major = 0, minor = 0; ///< compute capability
  int processors = 0;       ///< multiprocessors
  std::uint64_t memory = 0; ///< bytes
};

struct GpuMachine {
  int driver = 0, runtime = 0; ///< CUDA versions: 12040 is 12.4
  std::vector<GpuFacts> gpus;
  std::size_t peers = 0; ///< GPUs that all reach each other, as executions use them
};

/// Errors: InputError where no GPU can be used.
[[nodiscard]] GpuMachine gpu_machine();

/// The least by which the first GPU's timer goes on, ns. Errors: InputError, no GPU, or a timer
/// that stands still.
[[nodiscard]] std::uint64_t timer_tick();

/// From the launch of a kernel that does nothing until the host knows of its end, the median of
/// some. Errors: InputError, no GPU.
[[nodiscard]] double launch_seconds();

} // namespace tutti::runtime
