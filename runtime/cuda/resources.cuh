// What CUDA lends, given back at the end of a scope, and its refusals as exceptions.
#pragma once

#include "sim/error.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace tutti::runtime {

/// A call that CUDA refused: the device is at fault, or its driver, not the input.
class CudaError : public std::runtime_error {
public:
  CudaError(const std::string& doing, cudaError_t error)
      : std::runtime_error(doing + ": " + cudaGetErrorString(error)) {}
};

/// `doing`: what the caller is about, e.g. "copying rank 3's output back".
inline void check_cuda(cudaError_t error, const std::string& doing) {
  if (error == cudaSuccess) return;
  (void)cudaGetLastError(); // what can be forgotten shall not fail the next call
  throw CudaError(doing, error);
}

/// Makes a device current for the scope.
class OnDevice {
public:
  explicit OnDevice(int device) {
    check_cuda(cudaGetDevice(&before_), "asking for the current GPU");
    check_cuda(cudaSetDevice(device), "choosing GPU " + std::to_string(device));
  }
  ~OnDevice() { (void)cudaSetDevice(before_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

private:
  int before_ = 0;
};

struct CudaRelease {
  void operator()(void* memory) const { (void)cudaFree(memory); }
  void operator()(cudaStream_t stream) const { (void)cudaStreamDestroy(stream); }
  void operator()(cudaEvent_t event) const { (void)cudaEventDestroy(event); }
};
using Stream = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, CudaRelease>;
using Event = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, CudaRelease>;

/// On the current device.
[[nodiscard]] inline Stream make_stream() {
  cudaStream_t stream = nullptr;
  check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  return Stream(stream);
}
[[nodiscard]] inline Event make_event(unsigned flags = cudaEventDefault) {
  cudaEvent_t event = nullptr;
  check_cuda(cudaEventCreateWithFlags(&event, flags), "making an event");
  return Event(event);
}

/// Bytes of a device's memory: those that are free, and all.
struct DeviceMemory {
  std::size_t free = 0, all = 0;
};
/// The current device's memory.
[[nodiscard]] inline DeviceMemory device_memory() {
  DeviceMemory memory;
  check_cuda(cudaMemGetInfo(&memory.free, &memory.all), "asking for the GPU's free memory");
  return memory;
}

/// Memory of the current device. Errors: InputError where it has too little, with the numbers.
[[nodiscard]] inline void* allocate(std::size_t bytes) {
  void* memory = nullptr;
  const cudaError_t error = cudaMalloc(&memory, bytes);
  if (error == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    const DeviceMemory left = device_memory();
    throw InputError("the GPU is out of memory: " + std::to_string(bytes) +
                     " more bytes were asked for, of " + std::to_string(left.all) + " are " +
                     std::to_string(left.free) + " free");
  }
  check_cuda(error, "reserving " + std::to_string(bytes) + " bytes of the GPU's memory");
  return memory;
}

/// Plain values in a device's memory, zero at first.
template <typename T> class DeviceArray {
  static_assert(std::is_trivially_copyable_v<T>);

public:
  DeviceArray() = default;
  /// On the current device. Errors: as allocate().
  explicit DeviceArray(std::size_t size) : size_(size) {
    if (size == 0) return;
    memory_.reset(allocate(size * sizeof(T)));
    set_bytes(0);
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    write(std::span<const T>(values), 0);
  }

  [[nodiscard]] T* data() const { return static_cast<T*>(memory_.get()); }
  [[nodiscard]] std::size_t size() const { return size_; }

  void set_bytes(int value) {
    if (size_ == 0) return;
    check_cuda(cudaMemset(data(), value, size_ * sizeof(T)), "filling the GPU's memory");
    check_cuda(cudaDeviceSynchronize(), "filling the GPU's memory");
  }
  void write(std::span<const T> values, std::size_t at) {
    if (values.empty()) return;
    check_cuda(cudaMemcpy(data() + at, values.data(), values.size_bytes(), cudaMemcpyDefault),
               "copying to the GPU");
    check_cuda(cudaDeviceSynchronize(), "copying to the GPU"); // out of the staging memory, too
  }
  void read(std::span<T> values, std::size_t at) const {
    if (values.empty()) return;
    check_cuda(cudaMemcpy(values.data(), data() + at, values.size_bytes(), cudaMemcpyDefault),
               "copying from the GPU");
  }

private:
  std::unique_ptr<void, CudaRelease> memory_;
  std::size_t size_ = 0;
};

/// Plain values in the host's memory that all devices see at the same address, zero at first. The
/// host reads them without a call to CUDA, so that it can where a device no longer answers.
template <typename T> class SharedArray {
  static_assert(std::is_trivially_copyable_v<T>);

public:
  explicit SharedArray(std::size_t size) : size_(size) {
    if (size == 0) return;
    void* memory = nullptr;
    check_cuda(
        cudaHostAlloc(&memory, size * sizeof(T), cudaHostAllocPortable | cudaHostAllocMapped),
        "sharing the host's memory with the GPU");
    memory_.reset(static_cast<T*>(memory));
    clear();
  }
  [[nodiscard]] T* data() const { return memory_.get(); }
  [[nodiscard]] std::span<const T> values() const { return {data(), size_}; }
  void clear() { std::fill_n(data(), size_, T{}); }

private:
  struct Release {
    void operator()(T* memory) const { (void)cudaFreeHost(memory); }
  };
  std::unique_ptr<T, Release> memory_;
  std::size_t size_ = 0;
};

/// A flag that the host raises while devices look at it.
class SharedFlag {
public:
  [[nodiscard]] std::uint32_t* get() const { return flag_.data(); }
  void raise() { std::atomic_ref(*get()).store(1); }
  void lower() { std::atomic_ref(*get()).store(0); }

private:
  SharedArray<std::uint32_t> flag_{1};
};

} // namespace tutti::runtime
