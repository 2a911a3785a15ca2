// NCCL, where it is installed: loaded when asked for, as machines without it run the rest.
#pragma once

#include "runtime/nccl_times.hpp"

#include <string>

namespace tutti::gpu {

struct NcclLibrary {
  runtime::NcclFunctions functions;
  std::string version; ///< "2.27.3"
};

/// libnccl.so.2 as the loader finds it, else in toolkits' folders. It is never unloaded: threads of
/// its own may still be in its code.
/// Errors: std::runtime_error that says why there is none, or what it lacks.
[[nodiscard]] NcclLibrary load_nccl();

} // namespace tutti::gpu
