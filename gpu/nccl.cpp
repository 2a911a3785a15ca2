// Cases that differ only in sizes are timed together, with one set of communicators or one call of
// nccl-tests. The library is loaded by dlopen() when it is asked for, so that the command starts,
// and does the rest, where no NCCL is installed.

#include "gpu/nccl.hpp"

#include "gpu/arguments.hpp"
#include "gpu/nccl_tests.hpp"
#include "gpu/toolkits.hpp"
#include "runtime/microbenchmarks.hpp"
#include "runtime/nccl_times.hpp"
#include "runtime/pack/pack.hpp"
#include "runtime/pack/rows.hpp"
#include "sim/error.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <vector>

#include <dlfcn.h>

namespace tutti::gpu {

namespace {

using runtime::NcclTiming;

/// NCCL, where it is installed.
struct NcclLibrary {
  runtime::NcclFunctions functions;
  std::string version; ///< "2.27.3"
};

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

template <typename Function>
void find_function(void* library, const char* name, Function& function) {
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

/// libnccl.so.2 as the loader finds it, else in toolkits' folders. It is never unloaded: threads of
/// its own may still be in its code.
/// Errors: std::runtime_error that says why there is none, or what it lacks.
NcclLibrary load_nccl() {
  void* library = open_library();
  NcclLibrary loaded;
  runtime::NcclFunctions& nccl = loaded.functions;
  find_function(library, "ncclCommInitAll", nccl.comm_init_all);
  find_function(library, "ncclCommDestroy", nccl.comm_destroy);
  find_function(library, "ncclGroupStart", nccl.group_start);
  find_function(library, "ncclGroupEnd", nccl.group_end);
  find_function(library, "ncclAllReduce", nccl.all_reduce);
  find_function(library, "ncclAllGather", nccl.all_gather);
  find_function(library, "ncclGetErrorString", nccl.error_string);
  int (*get_version)(int*) = nullptr;
  find_function(library, "ncclGetVersion", get_version);
  int version = 0;
  if (const int result = get_version(&version); result != 0)
    throw std::runtime_error(std::string("NCCL, asking for its version: ") +
                             nccl.error_string(result));
  loaded.version = version_text(version);
  return loaded;
}

/// What is timed together.
using Sizes = std::map<std::pair<int, std::string>, std::vector<Bytes>>; ///< [GPUs, collective]

/// The sizes of the pack's cases of peers for which `gpus` are enough; with one GPU those of all
/// such cases, on that GPU.
Sizes sizes_to_time(const runtime::Pack& pack, int gpus) {
  Sizes sizes;
  for (const runtime::PackLine& line : pack.lines())
    if (const auto shape = peer_case(line.case_label);
        shape && (shape->gpus <= gpus || gpus == 1)) {
      std::vector<Bytes>& list = sizes[{std::min(shape->gpus, gpus), shape->collective}];
      if (std::ranges::find(list, line.size) == list.end()) list.push_back(line.size);
    }
  for (auto& [shape, list] : sizes) std::ranges::sort(list);
  return sizes;
}

/// What a program prints. Errors: std::runtime_error where it fails.
std::string output_of(const std::string& command) {
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error(command + " can't be started");
  std::string text;
  std::array<char, 4096> buffer;
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    text.append(buffer.data(), got);
  const int status = ::pclose(pipe);
  std::printf("%s\n%s", command.c_str(), text.c_str());
  if (status != 0) throw std::runtime_error(command + " failed");
  return text;
}

/// By nccl-tests: what it has timed of the sizes.
std::vector<NcclTiming> times_by_tests(const std::string& program, int gpus,
                                       const std::vector<Bytes>& sizes) {
  const std::string command = "'" + program + "' -b " + std::to_string(sizes.front().count) +
                              " -e " + std::to_string(sizes.back().count) + " -f 2 -g " +
                              std::to_string(gpus);
  std::vector<NcclTiming> timings = read_nccl_tests(output_of(command));
  std::erase_if(timings, [&](const NcclTiming& timing) {
    return std::ranges::find(sizes, timing.size) == sizes.end();
  });
  return timings;
}

/// One of the ways in which NCCL can be timed here.
class Timer {
public:
  Timer() {
    try {
      library_ = load_nccl();
      name_ = "libnccl " + library_->version;
    } catch (const std::runtime_error& error) {
      why_not_ = error.what();
      name_ = "nccl-tests";
    }
  }
  [[nodiscard]] const std::string& name() const { return name_; }

  /// Why there is nothing; empty where there is.
  [[nodiscard]] std::string why_not(const std::string& collective) const {
    if (library_ || !program(collective).empty()) return "";
    return "no NCCL: " + why_not_ + ", and there is no " + collective + "_perf on PATH";
  }
  [[nodiscard]] std::vector<NcclTiming> times(const std::string& collective, int gpus,
                                              const std::vector<Bytes>& sizes) const {
    return library_ ? nccl_times(library_->functions, collective, gpus, sizes)
                    : times_by_tests(program(collective), gpus, sizes);
  }

private:
  [[nodiscard]] static std::string program(const std::string& collective) {
    return find_program(collective + "_perf");
  }

  std::optional<NcclLibrary> library_;
  std::string why_not_, name_;
};

} // namespace

std::optional<PeerCase> peer_case(std::string_view label) {
  constexpr std::string_view begin = "peers: ", between = ", ", end = " GPUs";
  if (label.size() < begin.size() + end.size() || !label.starts_with(begin) ||
      !label.ends_with(end))
    return std::nullopt;
  label.remove_prefix(begin.size());
  label.remove_suffix(end.size());
  const std::size_t comma = label.find(between);
  if (comma == label.npos) return std::nullopt;
  PeerCase found{std::string(label.substr(0, comma)), 0};
  label.remove_prefix(comma + between.size());
  const auto [stop, error] = std::from_chars(label.data(), label.data() + label.size(), found.gpus);
  if (error != std::errc() || stop != label.data() + label.size() || found.gpus < 1)
    return std::nullopt;
  return found;
}

std::string nccl_figure(const PeerCase& shape, Bytes size) {
  return "nccl " + shape.collective + ", " + std::to_string(shape.gpus) + " GPUs, " +
         std::to_string(size.count) + " B";
}

int nccl_command(std::span<const std::string> words) {
  const Arguments arguments(words, std::array<std::string_view, 1>{"--out"});
  const runtime::Pack pack = runtime::load_pack(arguments.first("a pack"));
  const std::vector<runtime::GpuFacts> gpus = runtime::gpu_machine().gpus;
  runtime::RowsFile rows(arguments.required("--out"), pack.name());
  const Sizes all = sizes_to_time(pack, static_cast<int>(gpus.size()));
  if (all.empty()) {
    rows.add(runtime::NoteRow{"nccl", "left out: the pack has no case for it"});
    return 0;
  }
  const Timer timer;
  std::string missing;
  std::size_t timed = 0;
  for (const auto& [shape, sizes] : all) {
    const auto& [count, collective] = shape;
    if (const std::string why = timer.why_not(collective); !why.empty()) {
      missing = why;
      continue;
    }
    std::printf("%s on %d GPUs by %s\n", collective.c_str(), count, timer.name().c_str());
    (void)std::fflush(stdout);
    const std::string device =
        (count > 1 ? std::to_string(count) + " x " : "") + gpus.front().name + ", " + timer.name();
    for (const NcclTiming& timing : timer.times(collective, count, sizes)) {
      ++timed;
      rows.add(runtime::FigureRow{nccl_figure({collective, count}, timing.size), timing.seconds,
                                  "s", device});
    }
  }
  if (!missing.empty())
    rows.add(runtime::NoteRow{"nccl", (timed == 0 ? "left out: " : "") + missing});
  if (gpus.size() == 1)
    rows.add(runtime::NoteRow{
        "nccl", "on one GPU NCCL's only rank copies within its memory: nothing to compare with"});
  return 0;
}

} // namespace tutti::gpu
