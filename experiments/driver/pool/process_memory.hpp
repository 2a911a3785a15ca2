// How much memory this process may take, and what to say where that isn't enough.
#pragma once

#include "sim/synthesizer.hpp"
#include "sim/units.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>

namespace tutti {

/// What the machine has, and what of it nobody uses, in bytes. A control group's limit counts as
/// the machine's.
struct MachineMemory {
  std::int64_t total = 0, available = 0; ///< 0: not known
};

/// As Linux says below `root`: /proc/meminfo, and the control groups (of both versions) that the
/// process is in.
[[nodiscard]] MachineMemory machine_memory(const std::string& root = "");

/// What a process may take where nobody says anything: three quarters of what there is, but no more
/// than what is available. 0 where neither is known.
[[nodiscard]] std::int64_t default_memory_limit(const MachineMemory& memory);

/// Allocations of this process, and of those that it starts, beyond so many bytes fail, so that
/// OutOfMemory and not the kernel ends what it does. Nothing where `bytes` is 0.
void limit_memory(std::int64_t bytes);
/// To the default, unless it is limited to less already.
void limit_memory_by_default();
/// Where memory is short, the kernel is to end this process rather than others.
void offer_to_the_kernel();
/// Where a user allows a synthesis more than the default.
void allow_memory(const SynthesisOptions& options);

/// What `new` throws in this program where there is no more memory.
class OutOfMemory : public std::bad_alloc {
public:
  explicit OutOfMemory(std::size_t asked) noexcept
      : asked_{static_cast<std::int64_t>(std::min<std::size_t>(asked, INT64_MAX))} {}
  [[nodiscard]] Bytes asked() const { return asked_; }
  [[nodiscard]] const char* what() const noexcept override { return "out of memory"; }

private:
  Bytes asked_;
};

/// "out of memory: 32.0 GiB more were asked for; it may take 17.3 GiB in all", as far as known.
[[nodiscard]] std::string memory_text(const std::bad_alloc& error);

} // namespace tutti
