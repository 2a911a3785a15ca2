// How long NCCL takes for a collective, as nccl-tests times it. Its functions come from whoever has
// loaded it: their signatures and constants have been the same since NCCL 2.0.
#pragma once

#include "sim/units.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

struct CUstream_st;

namespace tutti::runtime {

/// As NCCL's, with a result of 0 for success.
struct NcclFunctions {
  using Communicator = struct NcclCommunicator*; ///< ncclComm_t
  using Stream = CUstream_st*;                   ///< cudaStream_t

  int (*comm_init_all)(Communicator* made, int gpus, const int* devices) = nullptr;
  int (*comm_destroy)(Communicator communicator) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  int (*all_reduce)(const void* send, void* receive, std::size_t count, int type, int combine,
                    Communicator communicator, Stream stream) = nullptr;
  int (*all_gather)(const void* send, void* receive, std::size_t send_count, int type,
                    Communicator communicator, Stream stream) = nullptr;
  const char* (*error_string)(int result) = nullptr;
};

struct NcclTiming {
  Bytes size; ///< as nccl-tests counts it
  double seconds = 0;
};

/// Over GPUs 0 to gpus - 1, float32, out of place: calls one after another, the host's time from
/// the first to the end of the last over their number. A size that GPUs lack the memory for has no
/// timing. `collective`: "all_reduce" or "all_gather".
/// Errors: InputError for another collective and without CUDA; std::runtime_error with NCCL's
/// words; those of CUDA.
[[nodiscard]] std::vector<NcclTiming> nccl_times(const NcclFunctions& nccl,
                                                 std::string_view collective, int gpus,
                                                 const std::vector<Bytes>& sizes);

} // namespace tutti::runtime
