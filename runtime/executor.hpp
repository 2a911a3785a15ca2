// Runs a program with real data, checks every element, and takes the time.
#pragma once

#include "runtime/data.hpp"
#include "runtime/plans/plan.hpp"
#include "runtime/plans/planned_run.hpp"
#include "runtime/program.hpp"
#include "sim/watch.hpp"

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace tutti::runtime {

/// How a planned run is performed.
struct RunSettings {
  std::uint32_t warmups = 1, repetitions = 5; ///< timed runs: repetitions >= 1
  double watchdog_seconds = 30;               ///< a run without end is ended, its waits are named
  /// One copy call for each step instead of one persistent run (CUDA: cudaMemcpyPeerAsync).
  bool copy_per_step = false;
  Watch watch = {}; ///< counts runs, warm-ups too
};

struct ExecutionRequest : RunSettings {
  Bytes size; ///< of the collective, as nccl-tests counts it
  ElementType type = ElementType::float32;
  Combine combine = Combine::sum;
  PlanOptions plan;
};

/// Errors: those of make_plan() and unit_bytes_for().
[[nodiscard]] PlannedRun planned_run(const Program& program, const ExecutionRequest& request);

struct Execution {
  std::vector<double> seconds;   ///< of each timed run
  DataCheck check;               ///< of the last run, all ranks; buffers were poisoned before
  std::uint64_t bytes_moved = 0; ///< over connections, in one run
  /// Read and written in one run at least, each place once: see PlanTraffic::memory.
  std::uint64_t memory_bytes = 0;
  std::string device; ///< "2 CPU threads", "NVIDIA H200", ...
  [[nodiscard]] double median_seconds() const;
};

/// A run that was begun and didn't end with times and data: the device's fault, or the program's.
class FailedRun : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Thrown when the watchdog ends a run. The text says which steps wait, and for what.
class HungRun : public FailedRun {
public:
  using FailedRun::FailedRun;
};

/// Ranks as groups of threads over shared memory: a thread for each block, in one persistent run.
/// Errors: InputError for sizes that don't divide, for more than 4,096 blocks; HungRun; Stopped.
[[nodiscard]] Execution run_on_cpu(const Program& program, const ExecutionRequest& request);

/// Whether this build has the CUDA executor and a device is there; else why not, in a line.
[[nodiscard]] std::optional<std::string> why_no_cuda();

/// Bytes/s of a core that copies a buffer larger than its caches: the median of several copies.
[[nodiscard]] double cpu_copy_rate();

/// On GPUs: a rank for each where peers reach each other, else all as virtual ranks on one.
/// Errors: as above; no GPU; more blocks than can be resident at once (a persistent kernel would
/// hang), with the number that can.
[[nodiscard]] Execution run_on_cuda(const PlannedRun& run, const RunSettings& settings);
[[nodiscard]] Execution run_on_cuda(const Program& program, const ExecutionRequest& request);

/// Bytes/s that the first GPU copies within its memory by cudaMemcpy, as they arrive (each is read
/// and written once): what virtual ranks can move together at most. Errors: InputError, no GPU.
[[nodiscard]] double device_copy_rate();

} // namespace tutti::runtime
