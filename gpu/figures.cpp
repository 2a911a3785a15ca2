// What needs a kernel is measured by small programs that the executor itself runs, so that the
// figures are those which its runs are made of.

#include "gpu/figures.hpp"

#include "gpu/gpu_tests.hpp"
#include "gpu/hand_programs.hpp"
#include "runtime/executor.hpp"
#include "runtime/microbenchmarks.hpp"

#include <algorithm>
#include <array>

namespace tutti::gpu {

using namespace tutti::runtime;

namespace {

using Figure = std::optional<double>;

Figure gpus() { return static_cast<double>(gpu_machine().gpus.size()); }
Figure peer_count() { return static_cast<double>(gpu_machine().peers); }
/// 12040 is 12.4.
double version_number(int version) { return version / 1000 + version % 1000 / 10 / 10.0; }
Figure driver() { return version_number(gpu_machine().driver); }
Figure cuda_runtime() { return version_number(gpu_machine().runtime); }
Figure capability() {
  const GpuFacts gpu = gpu_machine().gpus.front();
  return gpu.major + gpu.minor / 10.0;
}
Figure memory() { return static_cast<double>(gpu_machine().gpus.front().memory); }
Figure processors() { return gpu_machine().gpus.front().processors; }
Figure tick() { return static_cast<double>(timer_tick()) * 1e-9; }
Figure copy_rate() { return device_copy_rate(); }
Figure launch() { return launch_seconds(); }

/// So many that GPUs which reach each other don't get one each: all run on the first.
std::uint32_t ranks_of_one_gpu() {
  return std::max(2U, static_cast<std::uint32_t>(gpu_machine().peers) + 1);
}

/// The median time of some repetitions, in s. Errors: TestFailed where the data is wrong.
double median_of(const PlannedRun& run) {
  RunSettings settings;
  settings.repetitions = 5;
  const Execution execution = run_on_cuda(run, settings);
  if (execution.check.wrong > 0) throw TestFailed("wrong data");
  return execution.median_seconds();
}

Figure block_copy() {
  constexpr std::size_t bytes = std::size_t{64} << 20U;
  return static_cast<double>(bytes) / median_of(planned(one_message(ranks_of_one_gpu()), bytes));
}

/// The time in s of a message of one element, one way.
double message_seconds(std::uint32_t ranks) {
  constexpr std::uint32_t times = 100;
  return median_of(planned(ping_pong(ranks, times), sizeof(float))) / (2 * times);
}
Figure signal() { return message_seconds(ranks_of_one_gpu()); }
Figure signal_of_peers() {
  if (gpu_machine().peers < 2) return std::nullopt;
  return message_seconds(2);
}

constexpr std::array<FigureKind, 13> kinds{{
    {"gpus", "", "GPUs in this machine", gpus},
    {"peers", "", "GPUs that all reach each other's memory", peer_count},
    {"driver", "", "the newest CUDA that the driver knows", driver},
    {"runtime", "", "the CUDA that this program was built with", cuda_runtime},
    {"compute_capability", "", "of the first GPU", capability},
    {"memory", "bytes", "of the first GPU", memory},
    {"processors", "", "multiprocessors of the first GPU", processors},
    {"tick", "s", "the least by which its timer goes on", tick},
    {"block_copy", "bytes/s", "that one thread block sends to another rank on its GPU", block_copy},
    {"copy_rate", "bytes/s", "that cudaMemcpy copies within its memory", copy_rate},
    {"signal", "s", "one message of one element between two ranks on one GPU", signal},
    {"signal_peers", "s", "the same between two GPUs", signal_of_peers},
    {"launch", "s", "from the launch of a kernel that does nothing until its end is known", launch},
}};

} // namespace

std::span<const FigureKind> figure_kinds() { return kinds; }

} // namespace tutti::gpu
