// Which memory a planned step reads and writes. `constexpr` makes it callable on the device, too
// (nvcc's --expt-relaxed-constexpr).
#pragma once

#include "runtime/plans/plan.hpp"

#include <cstddef>
#include <cstdint>

namespace tutti::runtime {

/// What a step does with data: `first`, or `first` combined with `second`, goes to `target` and to
/// `out`. Any but `first` may be null. `target` may be `first` or `second`, not overlap in part.
struct Operands {
  const std::byte* first = nullptr;
  const std::byte* second = nullptr;
  std::byte* target = nullptr;
  std::byte* out = nullptr; ///< in the receiver's arena
  std::uint64_t bytes = 0;  ///< a multiple of the element
};

[[nodiscard]] constexpr bool sends_on(StepKind kind) {
  return kind == StepKind::send || kind == StepKind::receive_copy_send ||
         kind == StepKind::receive_reduce_send || kind == StepKind::receive_reduce_copy_send;
}

[[nodiscard]] constexpr bool gets(StepKind kind) {
  return kind == StepKind::receive || kind == StepKind::receive_copy_send ||
         kind == StepKind::receive_reduce_copy || kind == StepKind::receive_reduce_send ||
         kind == StepKind::receive_reduce_copy_send;
}

/// `own`: the rank's arena; `there`: the receiver's, null where the step sends nothing.
[[nodiscard]] constexpr Operands step_operands(const PlannedStep& step, std::byte* own,
                                               std::byte* there) {
  const std::byte* source = own + step.source;
  const std::byte* got = own + step.got;
  std::byte* target = own + step.target;
  std::byte* out = there == nullptr ? nullptr : there + step.landing;
  std::byte* kept = step.got_in_place ? nullptr : target; // of what is received as it is
  switch (step.kind) {
  case StepKind::send: return {source, nullptr, nullptr, out, step.bytes};
  case StepKind::receive: return {got, nullptr, kept, nullptr, step.bytes};
  case StepKind::receive_copy_send: return {got, nullptr, kept, out, step.bytes};
  case StepKind::receive_reduce_send: return {got, source, nullptr, out, step.bytes};
  case StepKind::receive_reduce_copy:
  case StepKind::receive_reduce_copy_send: return {got, source, target, out, step.bytes};
  case StepKind::copy: return {source, nullptr, target, nullptr, step.bytes};
  case StepKind::reduce: return {target, source, target, nullptr, step.bytes};
  case StepKind::wait: break;
  }
  return {};
}

} // namespace tutti::runtime
