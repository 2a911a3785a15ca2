// Two lowerings of one plan, as in SCCL (Cai et al. 2021, section 4): a thread per block that runs
// the whole program, or one memory copy for each step from a single thread.

#include "runtime/executor.hpp"
#include "runtime/cpu/memory.hpp"
#include "runtime/cpu/threads.hpp"
#include "runtime/plans/issue_order.hpp"
#include "runtime/plans/traffic.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <cstring>
#include <optional>
#include <thread>
#include <vector>

namespace tutti::runtime {

namespace {

constexpr std::size_t most_cpu_blocks = 4096;

/// One memory copy for each step, in an order that the waits allow (SCCL's second lowering).
class StepCopies {
public:
  StepCopies(const Plan& plan, const CpuMemory& memory, CombineLoop combine)
      : plan_(plan), memory_(memory), combine_(combine), order_(issue_order(plan)) {}

  double run(const Watch& watch) {
    WatchedSteps steps(watch);
    const std::int64_t start = steady_now();
    for (const IssuedStep& issued : order_) {
      steps.take(1, [] { return WorkProgress{}; });
      const PlannedBlock& block = plan_.blocks[issued.block];
      const PlannedStep& step = plan_.steps[issued.step];
      std::byte* const peer =
          sends(step.kind) ? memory_.arena(plan_.connections[block.sends].to) : nullptr;
      move_data(step, memory_.arena(block.rank), peer, combine_);
    }
    return static_cast<double>(steady_now() - start) * 1e-9;
  }

private:
  const Plan& plan_;
  const CpuMemory& memory_;
  CombineLoop combine_;
  std::vector<IssuedStep> order_;
};

void check_request(const Program& program, const ExecutionRequest& request) {
  std::size_t blocks = 0;
  for (const RankProgram& rank : program.ranks) blocks += rank.blocks.size();
  if (blocks > most_cpu_blocks)
    throw InputError(
        fmt::format("{} blocks: on CPU threads a program has at most {}", blocks, most_cpu_blocks));
  if (request.repetitions == 0) throw InputError("an execution needs at least one repetition");
  if (!(request.watchdog_seconds > 0)) throw InputError("the watchdog needs more than 0 s");
  if (request.copy_per_step && request.plan.emulated != nullptr)
    throw InputError("with one copy for each step links can't be emulated");
}

} // namespace

Execution run_on_cpu(const Program& program, const ExecutionRequest& request) {
  check_request(program, request);
  const PlannedRun planned = planned_run(program, request);
  const Plan& plan = planned.plan;
  CpuMemory memory(plan);
  const CombineLoop combine = combine_loop(request.type, request.combine);

  std::optional<BlockThreads> threads;
  std::optional<StepCopies> copies;
  if (request.copy_per_step)
    copies.emplace(plan, memory, combine);
  else
    threads.emplace(plan, memory, combine, request.watchdog_seconds);
  Execution execution;
  const std::uint32_t runs = request.warmups + request.repetitions;
  for (std::uint32_t run = 0; run < runs; ++run) {
    const Watch watch = [&](const WorkProgress&) {
      return request.watch && request.watch({run, runs});
    };
    memory.fill(planned);
    const double seconds = copies ? copies->run(watch) : threads->run(watch);
    if (run >= request.warmups) execution.seconds.push_back(seconds);
  }
  execution.check = memory.check(planned);
  const PlanTraffic traffic = traffic_of(plan);
  execution.bytes_moved = traffic.sent;
  execution.memory_bytes = traffic.memory;
  execution.device = fmt::format("{} CPU threads", std::thread::hardware_concurrency());
  return execution;
}

double cpu_copy_rate() {
  constexpr std::size_t bytes = std::size_t{1} << 28, copies = 5;
  const std::vector<std::byte> source(bytes, std::byte{1});
  std::vector<std::byte> target(bytes);
  Execution execution;
  for (std::size_t i = 0; i < copies; ++i) {
    const std::int64_t start = steady_now();
    std::memcpy(target.data(), source.data(), bytes);
    execution.seconds.push_back(static_cast<double>(steady_now() - start) * 1e-9);
  }
  return static_cast<double>(bytes) / execution.median_seconds();
}

} // namespace tutti::runtime
