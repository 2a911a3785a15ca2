// SCCL's second lowering: every step is a call of the host's, and streams wait for each other's
// events where blocks would for flags.
#include "runtime/cuda/last_resort.cuh"
#include "runtime/cuda/runs.cuh"
#include "sim/error.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

namespace tutti::runtime {

namespace {

constexpr unsigned move_threads = 512;
constexpr unsigned most_move_blocks = 64;
constexpr std::uint64_t bytes_of_move_block = 32 << 10;

/// Where an exception leaves the scope, the copies that were issued end before anything is freed.
class EndOfCopies {
public:
  explicit EndOfCopies(const std::vector<int>& devices) : devices_(devices) {}
  ~EndOfCopies() {
    for (const int device : devices_)
      if (cudaSetDevice(device) == cudaSuccess) (void)cudaDeviceSynchronize();
    (void)cudaSetDevice(devices_.front());
    (void)cudaGetLastError();
  }
  EndOfCopies(const EndOfCopies&) = delete;
  EndOfCopies& operator=(const EndOfCopies&) = delete;

private:
  const std::vector<int>& devices_;
};

/// Errors: CudaError of what comes before it on its stream.
bool has_come(const Event& event) {
  const cudaError_t state = cudaEventQuery(event.get());
  if (state == cudaErrorNotReady) {
    (void)cudaGetLastError();
    return false;
  }
  check_cuda(state, "running a copy for each step");
  return true;
}

} // namespace

CopyRun::CopyRun(LoadedPlan& loaded, const Kernels& kernels) : loaded_(loaded), kernels_(kernels) {
  const Plan& plan = loaded.plan();
  if (!plan.links.empty())
    throw InputError("a copy for each step can't be throttled to emulated links: run without one "
                     "of the two");
  order_ = issue_order(plan);
  const std::vector<int>& device_of = loaded.devices().of_rank;
  for (const PlannedBlock& block : plan.blocks) {
    const OnDevice current(device_of[block.rank]);
    streams_.push_back(make_stream());
    ends_.push_back(make_event(cudaEventDisableTiming));
  }
  std::vector<bool> awaited(plan.steps.size());
  for (const IssuedStep& ordered : order_)
    for (const std::uint32_t other : {ordered.after, ordered.sent, ordered.emptied})
      if (other != nobody) awaited[other] = true;
  over_.resize(plan.steps.size());
  for (const IssuedStep& ordered : order_)
    if (awaited[ordered.step]) {
      const OnDevice current(device_of[plan.blocks[ordered.block].rank]);
      over_[ordered.step] = make_event(cudaEventDisableTiming);
    }
  const OnDevice current(loaded.devices().distinct.front());
  main_ = make_stream();
  begin_ = make_event();
  end_ = make_event();
}

double CopyRun::perform(double watchdog_seconds) {
  const Patience patience(watchdog_seconds);
  LastResort resort(patience.last_after(Clock::now() + patience.without_progress), [] {
    return "a call to CUDA doesn't return in a run by a copy for each step; the process ends";
  });
  loaded_.reset();
  const EndOfCopies end(loaded_.devices().distinct);
  issue_all(patience, resort);
  watch(patience, resort);
  float milliseconds = 0;
  check_cuda(cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()), "timing a run");
  return milliseconds * 1e-3;
}

void CopyRun::issue_all(const Patience& patience, LastResort& resort) {
  check_cuda(cudaEventRecord(begin_.get(), main_.get()), "timing a run");
  for (const Stream& stream : streams_)
    check_cuda(cudaStreamWaitEvent(stream.get(), begin_.get(), 0), "starting a block's copies");
  for (const IssuedStep& ordered : order_) {
    issue(ordered);
    resort.put_off(patience.last_after(Clock::now() + patience.without_progress));
  }
  for (std::size_t block = 0; block < streams_.size(); ++block) {
    check_cuda(cudaEventRecord(ends_[block].get(), streams_[block].get()), "ending a block");
    check_cuda(cudaStreamWaitEvent(main_.get(), ends_[block].get(), 0), "ending a block");
  }
  check_cuda(cudaEventRecord(end_.get(), main_.get()), "timing a run");
}

void CopyRun::issue(const IssuedStep& ordered) {
  const Plan& plan = loaded_.plan();
  const PlannedBlock& block = plan.blocks[ordered.block];
  const PlannedStep& step = plan.steps[ordered.step];
  cudaStream_t stream = streams_[ordered.block].get();
  const OnDevice current(loaded_.devices().of_rank[block.rank]);
  for (const std::uint32_t other : {ordered.after, ordered.sent, ordered.emptied})
    if (other != nobody)
      check_cuda(cudaStreamWaitEvent(stream, over_[other].get(), 0), "waiting for a step");
  const std::uint32_t receiver = sends(step.kind) ? plan.connections[block.sends].to : block.rank;
  std::byte* there = sends(step.kind) ? loaded_.arena(receiver).data() : nullptr;
  move(step_operands(step, loaded_.arena(block.rank).data(), there),
       loaded_.devices().of_rank[block.rank], loaded_.devices().of_rank[receiver], stream);
  if (over_[ordered.step] != nullptr)
    check_cuda(cudaEventRecord(over_[ordered.step].get(), stream), "ending a step");
}

/// Returns when all copies have ended; ends the process where none has for so long.
void CopyRun::watch(const Patience& patience, LastResort& resort) const {
  auto deadline = Clock::now() + patience.without_progress;
  resort.put_off(patience.last_after(deadline));
  std::size_t over = 0;
  while (!has_come(end_)) {
    std::this_thread::sleep_for(Patience::between_looks);
    const auto now = Clock::now();
    if (now < deadline) continue;
    const std::size_t now_over = events_over();
    if (now_over == over)
      end_process("a run by a copy for each step hangs: " + unended_blocks() +
                  "; the process ends, as copies can't be told to stop");
    over = now_over;
    deadline = now + patience.without_progress;
    resort.put_off(patience.last_after(deadline));
  }
}

/// How many of the events with which steps and blocks end have come.
std::size_t CopyRun::events_over() const {
  const auto over = [](const Event& event) { return event != nullptr && has_come(event); };
  return static_cast<std::size_t>(std::ranges::count_if(over_, over) +
                                  std::ranges::count_if(ends_, over));
}

std::string CopyRun::unended_blocks() const {
  constexpr std::size_t most_told = 8;
  const std::vector<PlannedBlock>& blocks = loaded_.plan().blocks;
  std::string text;
  std::size_t unended = 0;
  for (std::size_t b = 0; b < blocks.size(); ++b)
    if (!has_come(ends_[b]) && ++unended <= most_told)
      text += (text.empty() ? "rank " : "; rank ") + std::to_string(blocks[b].rank) + ", block " +
              std::to_string(b - blocks[b].first_block) + " doesn't end";
  if (unended > most_told) text += "; and " + std::to_string(unended - most_told) + " more";
  return text.empty() ? "all blocks have ended, but not the run" : text;
}

/// `from` and `to`: the devices of the rank and of the one that it sends to.
void CopyRun::move(const Operands& data, int from, int to, cudaStream_t stream) {
  if (data.bytes == 0) return;
  if (data.second != nullptr) {
    const std::uint64_t blocks = (data.bytes + bytes_of_move_block - 1) / bytes_of_move_block;
    Operands argument = data;
    void* arguments[] = {&argument};
    check_cuda(cudaLaunchKernel(
                   reinterpret_cast<const void*>(kernels_.move_step),
                   dim3(static_cast<unsigned>(std::min<std::uint64_t>(blocks, most_move_blocks))),
                   dim3(move_threads), arguments, 0, stream),
               "combining a step's data");
    return;
  }
  if (data.target != nullptr && data.target != data.first)
    check_cuda(
        cudaMemcpyAsync(data.target, data.first, data.bytes, cudaMemcpyDeviceToDevice, stream),
        "copying within a rank");
  if (data.out == nullptr) return;
  check_cuda(from == to ? cudaMemcpyAsync(data.out, data.first, data.bytes,
                                          cudaMemcpyDeviceToDevice, stream)
                        : cudaMemcpyPeerAsync(data.out, to, data.first, from, data.bytes, stream),
             "copying to another rank");
}

} // namespace tutti::runtime
