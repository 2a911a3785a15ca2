// Failures of a run are results: exceptions become rows, and the next run goes on. What of a figure
// needs a kernel is measured by small programs that the executor itself runs, so that the figures
// are those which its runs are made of.

#include "gpu/execute.hpp"

#include "gpu/hand_programs.hpp"
#include "runtime/executor.hpp"
#include "runtime/microbenchmarks.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

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

constexpr std::array<FigureKind, 13> figures{{
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

RunRow run_row(const Pack& pack, const std::string& file) {
  RunRow row;
  row.file = file;
  row.checksum = pack.checksum(file);
  const PackedRun packed = pack.load(file);
  const auto ended = [&](RunOutcome outcome, const std::exception& error) {
    row.outcome = outcome;
    row.words = error.what();
  };
  try {
    row.execution = run_on_cuda(packed.run, packed.settings);
  } catch (const InputError& error) {
    ended(RunOutcome::refused, error);
  } catch (const HungRun& error) {
    ended(RunOutcome::hung, error);
  } catch (const std::exception& error) {
    ended(RunOutcome::failed, error);
  }
  return row;
}

bool is_well(const RunRow& row) {
  if (row.outcome == RunOutcome::refused) return true;
  return row.outcome == RunOutcome::done && row.execution.check.wrong == 0;
}

std::string words_of(const RunRow& row) {
  const DataCheck& check = row.execution.check;
  const std::string how = check.wrong == 0
                              ? std::string(to_text(row.outcome))
                              : std::to_string(check.wrong) + " of " +
                                    std::to_string(check.checked) + " elements are wrong";
  return row.words.empty() ? how : how + ": " + row.words;
}

TestRow test_row(const GpuTest& test) {
  if (const auto why = why_no_cuda()) throw InputError(*why);
  TestRow row{std::string(test.name), TestOutcome::passed, ""};
  try {
    test.run();
  } catch (const InputError& error) { // too little memory, say: words that a person reads
    row = {row.name, TestOutcome::left_out, error.what()};
  } catch (const TestLeftOut& error) {
    row = {row.name, TestOutcome::left_out, error.what()};
  } catch (const HungRun& error) {
    row = {row.name, TestOutcome::hung, error.what()};
  } catch (const std::exception& error) {
    row = {row.name, TestOutcome::failed, error.what()};
  }
  return row;
}

std::span<const FigureKind> figure_kinds() { return figures; }

std::optional<FigureRow> figure_row(const FigureKind& kind) {
  const auto value = kind.measure();
  if (!value) return std::nullopt;
  return FigureRow{std::string(kind.name), *value, std::string(kind.unit),
                   gpu_machine().gpus.front().name};
}

} // namespace tutti::gpu
