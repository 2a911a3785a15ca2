// What the readers of MSCCL's XML need of their runtimes' headers, in our words: types that they
// name, and nothing that decides whether a program is taken.
#pragma once

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

enum ncclResult_t { ncclSuccess, ncclSystemError, ncclInternalError, ncclInvalidUsage };
using ncclComm_t = void*;
using ncclDataType_t = int;
using ncclRedOp_t = int;
using mscclAlgoHandle_t = int;
using hipStream_t = void*;
using hipGraph_t = void*;
using cudaStream_t = void*;
using cudaGraph_t = void*;

enum { NCCL_PROTO_LL, NCCL_PROTO_LL128, NCCL_PROTO_SIMPLE };
enum { NCCL_GRAPH = 1, NCCL_INIT = 2 };
constexpr int WARP_SIZE = 32;
enum ncclFunc_t {
  ncclFuncBroadcast,
  ncclFuncReduce,
  ncclFuncAllGather,
  ncclFuncReduceScatter,
  ncclFuncAllReduce,
  ncclFuncAllToAll,
  ncclFuncCustomCollective
};
using cudaError_t = int;
constexpr int NCCL_STEPS = 8;
#define REDUCE_CHUNKSTEPS 1
#define REDUCE_SLICESTEPS 1
#define BROADCAST_CHUNKSTEPS 1
#define BROADCAST_SLICESTEPS 1
#define ALLREDUCE_CHUNKSTEPS 4
#define ALLREDUCE_SLICESTEPS 2
#define REDUCESCATTER_CHUNKSTEPS 4
#define REDUCESCATTER_SLICESTEPS 2
#define ALLGATHER_CHUNKSTEPS 4
#define ALLGATHER_SLICESTEPS 2

void note_warning(const char* format, ...);
#define WARN(...) note_warning(__VA_ARGS__)
#define INFO(flags, ...) static_cast<void>(0)
#define NCCLCHECK(call)                                                                            \
  do {                                                                                             \
    const ncclResult_t result_of_call = (call);                                                    \
    if (result_of_call != ncclSuccess) return result_of_call;                                      \
  } while (0)

template <typename T> ncclResult_t ncclCalloc(T** memory, std::size_t count) {
  *memory = static_cast<T*>(std::calloc(count, sizeof(T)));
  return *memory == nullptr ? ncclSystemError : ncclSuccess;
}
