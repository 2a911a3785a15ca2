// Before each run all memory is poisoned, so that data which no step wrote can't pass for right.

#include "runtime/cpu/memory.hpp"

#include "runtime/with_type.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <type_traits>

#include <unistd.h>

namespace tutti::runtime {

namespace {

constexpr std::align_val_t memory_alignment{4096};
constexpr int poison = 0xa5; // as a float, -2.9e-16: no value of the reference; single bytes may be
                             // 165, whole chunks of them not

template <typename T, Combine how>
void combine_elements(std::byte* target, const std::byte* a, const std::byte* b,
                      std::size_t bytes) {
  auto* to = reinterpret_cast<T*>(target);
  const auto* left = reinterpret_cast<const T*>(a);
  const auto* right = reinterpret_cast<const T*>(b);
  for (std::size_t i = 0; i < bytes / sizeof(T); ++i) {
    if constexpr (how == Combine::max)
      to[i] = left[i] < right[i] ? right[i] : left[i];
    else if constexpr (std::is_floating_point_v<T>)
      to[i] = left[i] + right[i];
    else // wraps
      to[i] = static_cast<T>(static_cast<std::make_unsigned_t<T>>(left[i]) +
                             static_cast<std::make_unsigned_t<T>>(right[i]));
  }
}

double machine_bytes() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

} // namespace

CombineLoop combine_loop(ElementType type, Combine combine) {
  return with_type(type, combine, [](auto zero, auto how) -> CombineLoop {
    return combine_elements<decltype(zero), how()>;
  });
}

void CpuMemory::Free::operator()(std::byte* memory) const {
  ::operator delete(memory, memory_alignment);
}

CpuMemory::CpuMemory(const Plan& plan) {
  double bytes = 0;
  for (const Arena& arena : plan.arenas) bytes += static_cast<double>(arena.size);
  if (bytes > 0.75 * machine_bytes())
    throw InputError(fmt::format("the ranks' buffers need {:.1f} GB, more than three quarters of "
                                 "this machine's {:.1f} GB",
                                 bytes / 1e9, machine_bytes() / 1e9));
  for (const Arena& arena : plan.arenas)
    arenas_.emplace_back(static_cast<std::byte*>(::operator new(arena.size, memory_alignment)));
}

void CpuMemory::fill(const PlannedRun& run) {
  for (std::uint32_t r = 0; r < arenas_.size(); ++r) {
    const Arena& at = run.plan.arenas[r];
    std::memset(arena(r), poison, at.size);
    fill_input(run.data[r].input, run.type, {arena(r) + at.input, run.data[r].input_bytes});
  }
}

DataCheck CpuMemory::check(const PlannedRun& run) const {
  DataCheck all;
  for (std::uint32_t r = 0; r < arenas_.size(); ++r) {
    const DataCheck one =
        check_output(run.data[r].output, r, run.type, run.combine,
                     {arena(r) + run.plan.arenas[r].output, run.data[r].output_bytes});
    all.checked += one.checked;
    all.wrong += one.wrong;
    if (!all.first) all.first = one.first;
  }
  return all;
}

void move_data(const PlannedStep& step, std::byte* own, std::byte* peer, CombineLoop combine) {
  const std::size_t bytes = step.bytes;
  switch (step.kind) {
  case StepKind::send: std::memcpy(peer + step.landing, own + step.source, bytes); break;
  case StepKind::receive:
  case StepKind::receive_copy_send:
    if (!step.got_in_place) std::memcpy(own + step.target, own + step.got, bytes);
    if (step.kind == StepKind::receive_copy_send)
      std::memcpy(peer + step.landing, own + step.target, bytes);
    break;
  case StepKind::receive_reduce_copy:
  case StepKind::receive_reduce_copy_send:
    combine(own + step.target, own + step.got, own + step.source, bytes);
    if (step.kind == StepKind::receive_reduce_copy_send)
      std::memcpy(peer + step.landing, own + step.target, bytes);
    break;
  case StepKind::receive_reduce_send:
    combine(peer + step.landing, own + step.got, own + step.source, bytes);
    break;
  case StepKind::copy: std::memmove(own + step.target, own + step.source, bytes); break;
  case StepKind::reduce:
    combine(own + step.target, own + step.target, own + step.source, bytes);
    break;
  case StepKind::wait: break;
  }
}

} // namespace tutti::runtime
