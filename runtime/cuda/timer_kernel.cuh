// A kernel that looks at the GPU's timer.
#pragma once

#include "runtime/cuda/device_code.hpp"

#include <cstdint>

namespace tutti::runtime {

/// Thread 0 writes the first `count` values that the timer has, one after another; where it stands
/// still for `most_looks`, the rest stay as they are.
using TimerKernel = void (*)(std::uint64_t* values, std::uint32_t count, std::uint32_t most_looks);
[[nodiscard]] TimerKernel timer_kernel();

/// What it does, over the interpreter's machine.
template <typename Machine>
TUTTI_DEVICE void watch_timer(const Machine& machine, std::uint64_t* values, std::uint32_t count,
                              std::uint32_t most_looks) {
  std::uint64_t last = machine.now();
  for (std::uint32_t i = 0, looks = 0; i < count && looks < most_looks; ++looks) {
    const std::uint64_t now = machine.now();
    if (now == last) continue;
    values[i++] = last = now;
    looks = 0;
  }
}

} // namespace tutti::runtime
