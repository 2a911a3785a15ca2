// A run's time begins at a barrier of all blocks of all GPUs and not at the launch, since a launch
// takes as long as a small run, and GPUs start one after another.
//
// The blocks of a GPU count how many of them have come; the last one sets a flag in every GPU's
// memory, so that peers need nothing but plain stores. Written over the interpreter's machine, of
// which it uses leader(), together(), await_least(), set(), now(), and
//   uint32 add_one(counter)            atomic among the GPU's blocks; returns the value before
#pragma once

#include "runtime/cuda/device_code.hpp"
#include "runtime/cuda/interpreter.hpp"
#include "runtime/cuda/run_view.hpp"

#include <cstdint>

namespace tutti::runtime {

/// When a block began and ended, by its GPU's clock; ns, 0: not yet.
struct BlockTime {
  std::uint64_t begin = 0, end = 0;
};

/// Where the blocks of one GPU wait for those of all; counters are 0 before a run.
struct StartBarrier {
  std::uint32_t gpu = 0, gpus = 0;       ///< this one, of those that have blocks
  std::uint32_t blocks = 0;              ///< of this GPU
  std::uint32_t* came = nullptr;         ///< how many of them have come
  std::uint32_t* const* ready = nullptr; ///< [gpu][gpu]: in the memory of the first, of the second
  BlockTime* times = nullptr;            ///< [block of the plan]
};

/// False: the run was stopped before all had come.
template <typename Machine>
[[nodiscard]] TUTTI_DEVICE bool pass(Machine& machine, const StartBarrier& start) {
  bool ok = true;
  if (machine.leader()) {
    if (machine.add_one(start.came) + 1 == start.blocks)
      for (std::uint32_t gpu = 0; gpu < start.gpus; ++gpu)
        machine.set(&start.ready[gpu][start.gpu], 1U);
    for (std::uint32_t gpu = 0; ok && gpu < start.gpus; ++gpu)
      ok = machine.await_least(&start.ready[start.gpu][gpu], 1);
  }
  return machine.together(ok);
}

/// What a block of the persistent kernel does, in all.
template <typename Machine>
TUTTI_DEVICE void perform_timed(Machine& machine, const RunView& run, const StartBarrier& start,
                                std::uint32_t block) {
  Interpreter<Machine> interpreter(machine, run, block);
  if (!pass(machine, start)) return;
  BlockTime& time = start.times[block];
  if (machine.leader()) machine.set(&time.begin, machine.now()); // the host may look meanwhile
  interpreter.perform_all();
  if (machine.leader()) machine.set(&time.end, machine.now());
}

} // namespace tutti::runtime
