// Figures of a machine's GPUs that are no runs of a pack.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace tutti::gpu {

struct FigureKind {
  std::string_view name, unit, what;
  /// Nothing where it doesn't apply. Errors: InputError, and those of CUDA and of run_on_cuda().
  std::optional<double> (*measure)() = nullptr;
};
/// First what the machine is, then what it takes.
[[nodiscard]] std::span<const FigureKind> figure_kinds();

} // namespace tutti::gpu
