// The calls themselves. There is one machine at a time, as there is one to CUDA.
#include "tests/runtime/fake_cuda/fake_cuda.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <thread>
#include <utility>
#include <vector>

struct CUstream_st {
  int gpu = 0;
  std::thread kernel;
  std::atomic<bool> runs{false}, dead{false};
};
struct CUevent_st {};

namespace tutti::fake_cuda {

namespace {

constexpr std::align_val_t alignment{512};
constexpr std::size_t allocation_step = 512;

struct Block {
  int gpu = 0;
  std::size_t taken = 0;
};

struct State {
  Settings settings;
  std::uint64_t calls = 0, releases = 0;
  bool polls = false, freed_under_kernel = false;
  int current = 0;
  std::map<void*, Block> device, host;
  std::map<cudaStream_t, std::unique_ptr<CUstream_st>> streams;
  std::map<cudaEvent_t, std::unique_ptr<CUevent_st>> events;
  std::map<int, std::size_t> taken, most_taken;

  [[nodiscard]] bool broken() const {
    return settings.stays_broken && settings.failing_call != 0 && calls >= settings.failing_call;
  }
};

std::unique_ptr<State>& state() {
  static std::unique_ptr<State> one;
  return one;
}
std::map<const void*, Kernel>& kernels() {
  static std::map<const void*, Kernel> all;
  return all;
}

void end_kernel(CUstream_st& stream) {
  stream.dead = true;
  if (stream.kernel.joinable()) stream.kernel.join();
}

/// Counts a call; what it returns without doing anything, or success.
cudaError_t called() {
  State& now = *state();
  now.polls = false;
  if (++now.calls == now.settings.hanging_call)
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
  if (now.calls == now.settings.crashing_call) std::abort();
  if (now.broken()) {
    for (auto& [handle, stream] : now.streams) end_kernel(*stream);
    return now.settings.error;
  }
  const bool fails = now.settings.failing_call != 0 && now.calls >= now.settings.failing_call &&
                     now.calls < now.settings.failing_call + now.settings.failures;
  return fails ? now.settings.error : cudaSuccess;
}

/// body() where the call doesn't fail.
template <typename Body> cudaError_t call(const Body& body) {
  if (const cudaError_t error = called(); error != cudaSuccess) return error;
  return body();
}

/// A call that gives something back: it does so even where it fails.
template <typename Body> cudaError_t release(const Body& body) {
  ++state()->releases;
  const cudaError_t error = called();
  for (auto& [handle, stream] : state()->streams)
    if (stream->runs) {
      state()->freed_under_kernel = true;
      end_kernel(*stream);
    }
  body();
  return error;
}

void* allocate(std::size_t bytes) {
  void* memory = ::operator new(bytes, alignment);
  std::memset(memory, 0xCD, bytes);
  return memory;
}

template <typename Value> cudaError_t give(Value* to, Value value) {
  return call([&] {
    *to = value;
    return cudaSuccess;
  });
}

/// Word by word: a kernel may write there meanwhile.
void copy_words(std::uint32_t* to, std::uint32_t* from, std::size_t words) {
  for (std::size_t i = 0; i < words; ++i)
    to[i] = std::atomic_ref(from[i]).load(std::memory_order_relaxed);
}

cudaError_t copy(void* to, const void* from, std::size_t bytes) {
  return call([&] {
    constexpr std::size_t word = sizeof(std::uint32_t);
    const bool runs = std::ranges::any_of(
        state()->streams, [](const auto& each) { return each.second->runs.load(); });
    if (runs && bytes % word == 0)
      copy_words(static_cast<std::uint32_t*>(to),
                 static_cast<std::uint32_t*>(const_cast<void*>(from)), bytes / word);
    else
      std::memmove(to, from, bytes);
    return cudaSuccess;
  });
}

cudaError_t nothing_to_do() {
  return call([] { return cudaSuccess; });
}

} // namespace

FakeGpus::FakeGpus(const Settings& settings) {
  state() = std::make_unique<State>();
  state()->settings = settings;
}

FakeGpus::~FakeGpus() {
  for (auto& [handle, stream] : state()->streams) end_kernel(*stream);
  for (auto* blocks : {&state()->device, &state()->host})
    for (const auto& [memory, block] : *blocks) ::operator delete(memory, alignment);
  state().reset();
}

std::uint64_t FakeGpus::calls() const { return state()->calls; }
std::uint64_t FakeGpus::releases() const { return state()->releases; }
Left FakeGpus::left() const {
  const State& now = *state();
  return {now.device.size(), now.host.size(), now.streams.size(), now.events.size()};
}
bool FakeGpus::freed_under_kernel() const { return state()->freed_under_kernel; }
std::size_t FakeGpus::most_taken(int gpu) const {
  const auto at = state()->most_taken.find(gpu);
  return at == state()->most_taken.end() ? 0 : at->second;
}

void define_kernel(const void* address, Kernel kernel) { kernels()[address] = std::move(kernel); }
std::chrono::milliseconds stop_delay() { return state()->settings.stop_delay; }
Start start_on(int gpu) {
  const Settings& settings = state()->settings;
  if (settings.never_starts == gpu) return std::nullopt;
  return gpu * settings.start_delay;
}

} // namespace tutti::fake_cuda

using namespace tutti::fake_cuda;

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
  case cudaErrorMemoryAllocation: return "out of memory";
  case cudaErrorInsufficientDriver:
    return "CUDA driver version is insufficient for CUDA runtime version";
  case cudaErrorNoDevice: return "no CUDA-capable device is detected";
  case cudaErrorNoKernelImageForDevice: return "no kernel image is available for execution";
  default: return "unknown error";
  }
}
cudaError_t cudaGetLastError() { return cudaSuccess; }
cudaError_t cudaDriverGetVersion(int* version) { return give(version, state()->settings.driver); }
cudaError_t cudaRuntimeGetVersion(int* version) { return give(version, 13000); }

cudaError_t cudaGetDeviceCount(int* count) {
  return call([&] {
    *count = state()->settings.gpus;
    return state()->settings.counting;
  });
}
cudaError_t cudaGetDevice(int* device) { return give(device, state()->current); }
cudaError_t cudaSetDevice(int device) { return give(&state()->current, device); }
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  return give(value, attribute == cudaDevAttrCooperativeLaunch ? 1 : state()->settings.processors);
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  return call([&] {
    (void)std::snprintf(properties->name, sizeof properties->name, "fake GPU");
    properties->major = 9;
    properties->minor = 0;
    properties->multiProcessorCount = state()->settings.processors;
    properties->totalGlobalMem = state()->settings.memory;
    return cudaSuccess;
  });
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) { return give(can, 1); }
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return nothing_to_do(); }
cudaError_t cudaDeviceSynchronize() { return nothing_to_do(); }

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* all) {
  return call([&] {
    *all = state()->settings.memory;
    *free = *all - state()->taken[state()->current];
    return cudaSuccess;
  });
}
cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  return call([&] {
    State& now = *state();
    const std::size_t taken = (bytes + allocation_step - 1) / allocation_step * allocation_step;
    std::size_t& all = now.taken[now.current];
    if (all + taken > now.settings.memory) return cudaErrorMemoryAllocation;
    all += taken;
    now.most_taken[now.current] = std::max(now.most_taken[now.current], all);
    *memory = allocate(bytes);
    now.device[*memory] = {now.current, taken};
    return cudaSuccess;
  });
}
cudaError_t cudaFree(void* memory) {
  return release([&] {
    const auto at = state()->device.find(memory);
    state()->taken[at->second.gpu] -= at->second.taken;
    state()->device.erase(at);
    ::operator delete(memory, alignment);
  });
}
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned) {
  return call([&] {
    *memory = allocate(bytes);
    state()->host[*memory] = {};
    return cudaSuccess;
  });
}
cudaError_t cudaFreeHost(void* memory) {
  return release([&] {
    state()->host.erase(memory);
    ::operator delete(memory, alignment);
  });
}
cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
  return call([&] {
    std::memset(memory, value, bytes);
    return cudaSuccess;
  });
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  return copy(to, from, bytes);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t) {
  return copy(to, from, bytes);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t bytes,
                                cudaStream_t) {
  return copy(to, from, bytes);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return call([&] {
    auto made = std::make_unique<CUstream_st>();
    *stream = made.get();
    made->gpu = state()->current;
    state()->streams[*stream] = std::move(made);
    return cudaSuccess;
  });
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return release([&] {
    end_kernel(*stream);
    state()->streams.erase(stream);
  });
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  State& now = *state();
  if (!std::exchange(now.polls, stream->runs.load()))
    if (const cudaError_t error = called(); error != cudaSuccess) return error;
  now.polls = stream->runs;
  return now.polls || now.settings.never_ends ? cudaErrorNotReady : cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return nothing_to_do(); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return call([&] {
    auto made = std::make_unique<CUevent_st>();
    *event = made.get();
    state()->events[*event] = std::move(made);
    return cudaSuccess;
  });
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return release([&] { state()->events.erase(event); });
}
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return nothing_to_do(); }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return nothing_to_do(); }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  return give(milliseconds, 1.0F);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes*, const void*) { return nothing_to_do(); }
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int,
                                                          std::size_t) {
  return give(blocks, 1);
}
cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3, void** arguments, std::size_t,
                             cudaStream_t) {
  return call([&] {
    kernels().at(kernel)(state()->current, grid, arguments)(std::atomic<bool>{false});
    return cudaSuccess;
  });
}
cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3, void** arguments,
                                        std::size_t, cudaStream_t stream) {
  return call([&] {
    end_kernel(*stream);
    stream->dead = false;
    stream->runs = true;
    stream->kernel =
        std::thread([stream, work = kernels().at(kernel)(stream->gpu, grid, arguments)] {
          work(stream->dead);
          stream->runs = false;
        });
    return cudaSuccess;
  });
}
