// RLIMIT_DATA counts what a process may write of its own (heap, private maps, stacks of threads)
// and, other than RLIMIT_AS, not what is only reserved: CUDA's and sanitizers' address space. It is
// inherited by child processes. `new` is replaced for what std::bad_alloc doesn't say: how much was
// asked for.
#include "experiments/driver/pool/process_memory.hpp"

#include "sim/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#ifndef TUTTI_ADDRESS_SANITIZER // which has its own
void* operator new(std::size_t size) {
  while (true) {
    if (void* memory = std::malloc(std::max<std::size_t>(size, 1))) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw tutti::OutOfMemory(size);
    handler();
  }
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace tutti {

namespace {

std::optional<std::int64_t> number_in(const std::string& file) {
  std::ifstream in(file);
  std::int64_t number = 0;
  if (in >> number) return number; // not "max", nor what is larger than any memory
  return std::nullopt;
}

/// The least of a limit file in a group's folder and all above it.
std::optional<std::int64_t> least_limit(const std::string& hierarchy, std::string group,
                                        const std::string& file) {
  std::optional<std::int64_t> least;
  while (true) {
    if (const auto limit = number_in(hierarchy + group + "/" + file))
      least = std::min(least.value_or(*limit), *limit);
    if (group.empty()) return least;
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
}

/// A line "hierarchy:controllers:/group" for each hierarchy; that of version 2 has no controllers.
std::optional<std::int64_t> control_group_limit(const std::string& root) {
  std::optional<std::int64_t> least;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first == std::string::npos ? first : first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    std::string group = line.substr(second + 1);
    if (group == "/") group.clear();
    std::optional<std::int64_t> limit;
    if (controllers == ",,")
      limit = least_limit(root + "/sys/fs/cgroup", group, "memory.max");
    else if (controllers.find(",memory,") != std::string::npos)
      limit = least_limit(root + "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
    if (limit) least = std::min(least.value_or(*limit), *limit);
  }
  return least;
}

} // namespace

MachineMemory machine_memory(const std::string& root) {
  MachineMemory memory;
  std::ifstream info(root + "/proc/meminfo");
  for (std::string line; std::getline(info, line);) {
    std::istringstream words(line);
    std::string name;
    std::int64_t kibibytes = 0;
    if (!(words >> name >> kibibytes)) continue;
    if (name == "MemTotal:") memory.total = kibibytes * 1024;
    if (name == "MemAvailable:" || name == "SwapFree:") memory.available += kibibytes * 1024;
  }
  if (const auto limit = control_group_limit(root); limit && *limit > 0)
    memory.total = memory.total > 0 ? std::min(memory.total, *limit) : *limit;
  return memory;
}

std::int64_t default_memory_limit(const MachineMemory& memory) {
  const std::int64_t share = memory.total / 4 * 3;
  return memory.available > 0 ? std::min(share, memory.available) : share;
}

namespace {

/// Nothing where this process may take what it likes.
std::optional<std::int64_t> limit_of(decltype(RLIMIT_DATA) resource) {
  rlimit most{};
  if (::getrlimit(resource, &most) != 0 || most.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return static_cast<std::int64_t>(std::min<rlim_t>(most.rlim_cur, INT64_MAX));
}
std::optional<std::int64_t> present_limit() { return limit_of(RLIMIT_DATA); }

} // namespace

void limit_memory([[maybe_unused]] std::int64_t bytes) {
#ifndef TUTTI_ADDRESS_SANITIZER // which takes far more than the program
  if (bytes <= 0) return;
  rlimit most{};
  if (::getrlimit(RLIMIT_DATA, &most) != 0) return;
  most.rlim_cur = std::min(static_cast<rlim_t>(bytes), most.rlim_max); // which may be given
  ::setrlimit(RLIMIT_DATA, &most);
#endif
}

void limit_memory_by_default() {
  const std::int64_t least = default_memory_limit(machine_memory());
  if (const auto set = present_limit(); !set || *set > least) limit_memory(least);
}

void offer_to_the_kernel() {
  const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  (void)!::write(file, "500", 3);
  ::close(file);
}

void allow_memory(const SynthesisOptions& options) {
  if (const auto set = present_limit(); set && *set < options.limit_bytes)
    limit_memory(options.limit_bytes);
}

std::string memory_text(const std::bad_alloc& error) {
  std::string text = "out of memory";
  if (const auto* known = dynamic_cast<const OutOfMemory*>(&error))
    text += fmt::format(": {} more were asked for", short_text(known->asked()));
  std::optional<std::int64_t> limit = present_limit();
  if (const auto mapped = limit_of(RLIMIT_AS)) limit = std::min(limit.value_or(*mapped), *mapped);
  if (limit) text += fmt::format("; it may take {} in all", short_text(Bytes{*limit}));
  return text;
}

} // namespace tutti
