// CUDA's refusals as exceptions.
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

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

} // namespace tutti::runtime
