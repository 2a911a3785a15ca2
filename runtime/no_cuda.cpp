// What builds without nvcc have in place of runtime/cuda/.
#include "runtime/executor.hpp"
#include "runtime/microbenchmarks.hpp"
#include "runtime/nccl_times.hpp"
#include "sim/error.hpp"

namespace tutti::runtime {

std::optional<std::string> why_no_cuda() {
  return "this build has no CUDA: CMake found no nvcc, or was told to leave it out";
}

Execution run_on_cuda(const PlannedRun&, const RunSettings&) { throw InputError(*why_no_cuda()); }

double device_copy_rate() { throw InputError(*why_no_cuda()); }

GpuMachine gpu_machine() { throw InputError(*why_no_cuda()); }

std::uint64_t timer_tick() { throw InputError(*why_no_cuda()); }

double launch_seconds() { throw InputError(*why_no_cuda()); }

std::vector<NcclTiming> nccl_times(const NcclFunctions&, std::string_view, int,
                                   const std::vector<Bytes>&) {
  throw InputError(*why_no_cuda());
}

} // namespace tutti::runtime
