// What CUDA lends, given back at the end of a scope.
#pragma once

#include "runtime/cuda/cuda_error.cuh"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace tutti::runtime {

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

/// Plain values in a device's memory, zero at first.
template <typename T> class DeviceArray {
  static_assert(std::is_trivially_copyable_v<T>);

public:
  DeviceArray() = default;
  /// On the current device.
  explicit DeviceArray(std::size_t size) : size_(size) {
    if (size == 0) return;
    void* memory = nullptr;
    check_cuda(cudaMalloc(&memory, size * sizeof(T)),
               "reserving " + std::to_string(size * sizeof(T)) + " bytes of the GPU's memory");
    memory_.reset(memory);
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

/// A number in the host's memory that all devices see at the same address.
class SharedFlag {
public:
  SharedFlag() {
    void* memory = nullptr;
    check_cuda(
        cudaHostAlloc(&memory, sizeof(std::uint32_t), cudaHostAllocPortable | cudaHostAllocMapped),
        "sharing the host's memory with the GPU");
    flag_.reset(static_cast<std::uint32_t*>(memory));
    *flag_ = 0;
  }
  [[nodiscard]] std::uint32_t* get() const { return flag_.get(); }
  void raise() { *const_cast<volatile std::uint32_t*>(flag_.get()) = 1; }
  void lower() { *const_cast<volatile std::uint32_t*>(flag_.get()) = 0; }

private:
  struct Release {
    void operator()(std::uint32_t* memory) const { (void)cudaFreeHost(memory); }
  };
  std::unique_ptr<std::uint32_t, Release> flag_;
};

} // namespace tutti::runtime
