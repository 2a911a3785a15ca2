// By dlopen(), so that the command starts where no NCCL is installed.

#include "gpu/nccl_library.hpp"

#include "gpu/toolkits.hpp"

#include <stdexcept>

#include <dlfcn.h>

namespace tutti::gpu {

namespace {

constexpr const char* library_name = "libnccl.so.2";

void* open_library() {
  if (void* library = ::dlopen(library_name, RTLD_NOW | RTLD_LOCAL)) return library;
  const std::string why = ::dlerror(); // NOLINT(concurrency-mt-unsafe): nobody else loads
  for (const std::string& toolkit : cuda_toolkits())
    for (const char* folder : {"/lib64/", "/lib/", "/targets/x86_64-linux/lib/"})
      if (void* library =
              ::dlopen((toolkit + folder + library_name).c_str(), RTLD_NOW | RTLD_LOCAL))
        return library;
  throw std::runtime_error(why + "; nor is it in a toolkit's folder");
}

template <typename Function> void find(void* library, const char* name, Function& function) {
  void* address = ::dlsym(library, name);
  if (address == nullptr) throw std::runtime_error(std::string(library_name) + " has no " + name);
  function = reinterpret_cast<Function>(address);
}

/// 21803 is 2.18.3, as since 2.9; 2708 was 2.7.8.
std::string version_text(int version) {
  const int major = version < 10'000 ? 1'000 : 10'000;
  return std::to_string(version / major) + "." + std::to_string(version % major / 100) + "." +
         std::to_string(version % 100);
}

} // namespace

NcclLibrary load_nccl() {
  void* library = open_library();
  NcclLibrary loaded;
  runtime::NcclFunctions& nccl = loaded.functions;
  find(library, "ncclCommInitAll", nccl.comm_init_all);
  find(library, "ncclCommDestroy", nccl.comm_destroy);
  find(library, "ncclGroupStart", nccl.group_start);
  find(library, "ncclGroupEnd", nccl.group_end);
  find(library, "ncclAllReduce", nccl.all_reduce);
  find(library, "ncclAllGather", nccl.all_gather);
  find(library, "ncclGetErrorString", nccl.error_string);
  int (*get_version)(int*) = nullptr;
  find(library, "ncclGetVersion", get_version);
  int version = 0;
  if (const int result = get_version(&version); result != 0)
    throw std::runtime_error(std::string("NCCL, asking for its version: ") +
                             nccl.error_string(result));
  loaded.version = version_text(version);
  return loaded;
}

} // namespace tutti::gpu
