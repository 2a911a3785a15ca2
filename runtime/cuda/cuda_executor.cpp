// Loads, performs and checks a planned run on GPUs; what it can't do here, it says before.
#include "runtime/cuda/devices.cuh"
#include "runtime/cuda/kernels.cuh"
#include "runtime/cuda/loaded_plan.cuh"
#include "runtime/cuda/runs.cuh"
#include "runtime/executor.hpp"
#include "runtime/plans/traffic.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tutti::runtime {

namespace {

/// One run on the GPUs, with its data.
class CudaRun {
public:
  CudaRun(const PlannedRun& run, const RunSettings& settings)
      : run_(run), plan_(run.plan), settings_(settings),
        devices_(choose_devices(static_cast<std::uint32_t>(run.data.size()), !plan_.links.empty())),
        loaded_(plan_, devices_, bytes_to_check()), kernels_(kernels_for(run.type, run.combine)) {}

  Execution execute() {
    Execution execution;
    execution.device = devices_.name;
    execution.seconds = time_runs(performer());
    const PlanTraffic traffic = traffic_of(plan_);
    execution.bytes_moved = traffic.sent;
    execution.memory_bytes = traffic.memory;
    check(execution.check);
    return execution;
  }

private:
  std::function<double()> performer() {
    if (settings_.copy_per_step) return performer_of(std::make_shared<CopyRun>(loaded_, kernels_));
    return performer_of(std::make_shared<PersistentRun>(loaded_, kernels_));
  }

  template <typename Run> std::function<double()> performer_of(std::shared_ptr<Run> run) const {
    return [run, watchdog = settings_.watchdog_seconds] { return run->perform(watchdog); };
  }

  std::vector<double> time_runs(const std::function<double()>& perform) {
    set_up();
    for (std::uint32_t i = 0; i < settings_.warmups; ++i) {
      ask_watch(i);
      perform();
    }
    std::vector<double> seconds;
    for (std::uint32_t i = 0; i < settings_.repetitions; ++i) {
      ask_watch(settings_.warmups + i);
      if (i + 1 == settings_.repetitions) set_up(); // what earlier runs left can't pass for its own
      seconds.push_back(perform());
    }
    return seconds;
  }

  /// Between runs only: a kernel that runs is ended by its watchdog.
  void ask_watch(std::uint32_t runs) const {
    if (settings_.watch && settings_.watch({runs, settings_.warmups + settings_.repetitions}))
      throw tutti::Stopped(); // runtime::Stopped is of a run that hangs
  }

  /// Inputs as the reference has them, and no meaning anywhere else.
  void set_up() {
    loaded_.poison();
    std::vector<std::byte> input;
    for (std::uint32_t rank = 0; rank < run_.data.size(); ++rank) {
      input.resize(run_.data[rank].input_bytes);
      fill_input(run_.data[rank].input, run_.type, input);
      const OnDevice current(devices_.of_rank[rank]);
      loaded_.write_arena(rank, input, plan_.arenas[rank].input);
    }
  }

  /// On the host, and on the devices, which must find the same.
  void check(DataCheck& all) {
    std::uint64_t wrong_on_devices = 0;
    std::vector<std::byte> output;
    for (std::uint32_t rank = 0; rank < run_.data.size(); ++rank) {
      output.resize(run_.data[rank].output_bytes);
      const OnDevice current(devices_.of_rank[rank]);
      loaded_.arena(rank).read(output, plan_.arenas[rank].output);
      const DataCheck one =
          check_output(run_.data[rank].output, rank, run_.type, run_.combine, output);
      all.checked += one.checked;
      all.wrong += one.wrong;
      if (!all.first) all.first = one.first;
      wrong_on_devices += wrong_on_device(rank);
    }
    if (wrong_on_devices != all.wrong)
      throw std::runtime_error("the GPU counts " + std::to_string(wrong_on_devices) +
                               " wrong elements, the host " + std::to_string(all.wrong));
  }

  /// What wrong_on_device() takes at most; each allocation is rounded up.
  [[nodiscard]] std::uint64_t bytes_to_check() const {
    constexpr std::uint64_t rounded_up = 3 * 512;
    std::uint64_t most = 0;
    for (const RankData& data : run_.data) {
      const std::uint64_t bytes = data.output.chunks.size() * sizeof(ExpectedChunk) +
                                  data.output.contributors.size() * sizeof(std::uint32_t);
      most = std::max(most, bytes + sizeof(unsigned long long) + rounded_up);
    }
    return most;
  }

  std::uint64_t wrong_on_device(std::uint32_t rank) {
    const Expected& expected = run_.data[rank].output;
    if (expected.chunks.empty()) return 0;
    const DeviceArray<ExpectedChunk> chunks(expected.chunks);
    const DeviceArray<std::uint32_t> contributors(expected.contributors);
    const DeviceArray<unsigned long long> wrong(1);
    const std::byte* output = loaded_.arena(rank).data() + plan_.arenas[rank].output;
    const ExpectedChunk* chunk_data = chunks.data();
    auto count = static_cast<std::uint32_t>(expected.chunks.size());
    const std::uint32_t* contributor_data = contributors.data();
    unsigned long long* wrong_data = wrong.data();
    void* arguments[] = {&output, &chunk_data, &count, &contributor_data, &wrong_data};
    check_cuda(cudaLaunchKernel(reinterpret_cast<const void*>(kernels_.count_wrong),
                                dim3(std::min(count, most_check_blocks), slices),
                                dim3(check_threads), arguments, 0, nullptr),
               "checking the results on the GPU");
    unsigned long long found = 0;
    wrong.read({&found, 1}, 0);
    return found;
  }

  static constexpr unsigned most_check_blocks = 1024, slices = 32, check_threads = 256;

  const PlannedRun& run_;
  const Plan& plan_;
  const RunSettings& settings_;
  Devices devices_;
  LoadedPlan loaded_;
  Kernels kernels_;
};

/// Errors: InputError where launches return only when their kernels have ended: those of several
/// GPUs would wait for each other for ever, and no watchdog would see it.
void require_asynchronous_launches() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody sets it
  const char* value = std::getenv("CUDA_LAUNCH_BLOCKING");
  if (value == nullptr || *value == '\0' || std::string_view(value) == "0") return;
  throw InputError("CUDA_LAUNCH_BLOCKING=" + std::string(value) +
                   " lets every launch wait for the end of its kernel, and a run that hangs "
                   "couldn't be ended: unset it");
}

} // namespace

Execution run_on_cuda(const PlannedRun& run, const RunSettings& settings) {
  require_asynchronous_launches();
  if (settings.repetitions == 0) throw InputError("at least one timed run is needed");
  if (!(settings.watchdog_seconds > 0)) throw InputError("the watchdog needs more than 0 s");
  return CudaRun(run, settings).execute();
}

} // namespace tutti::runtime
