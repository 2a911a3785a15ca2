// NCCL, where it is installed: loaded when asked for, as machines without it run the rest. Its
// functions are declared here: their signatures and constants have been the same since NCCL 2.0.
#pragma once

#include <cstddef>
#include <string>

struct CUstream_st;

namespace tutti::gpu {

class NcclLibrary {
public:
  using Communicator = struct NcclCommunicator*; ///< ncclComm_t
  using Stream = CUstream_st*;                   ///< cudaStream_t
  static constexpr int success = 0, float32 = 7, sum = 0;

  /// libnccl.so.2 as the loader finds it, else in toolkits' folders.
  /// Errors: std::runtime_error that says where it was looked for, or what it lacks.
  NcclLibrary();

  [[nodiscard]] const std::string& version() const { return version_; } ///< "2.27.3"

  /// As NCCL's, with a result of 0 for success.
  int (*comm_init_all)(Communicator* made, int gpus, const int* devices) = nullptr;
  int (*comm_destroy)(Communicator communicator) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  int (*all_reduce)(const void* send, void* receive, std::size_t count, int type, int combine,
                    Communicator communicator, Stream stream) = nullptr;
  int (*all_gather)(const void* send, void* receive, std::size_t send_count, int type,
                    Communicator communicator, Stream stream) = nullptr;
  const char* (*error_string)(int result) = nullptr;

  /// Errors: std::runtime_error with NCCL's words.
  void check(int result, const std::string& doing) const;

private:
  std::string version_;
};

} // namespace tutti::gpu
