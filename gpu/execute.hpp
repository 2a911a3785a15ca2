// Runs of a pack, tests, and figures of a machine's GPUs that are no runs of a pack, as rows,
// whatever becomes of them.
#pragma once

#include "gpu/gpu_tests.hpp"
#include "runtime/pack/pack.hpp"
#include "runtime/pack/rows.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tutti::gpu {

/// Performs a run of the pack. What goes wrong is in its row.
/// Errors: InputError for a file that isn't in the pack, or is damaged.
[[nodiscard]] runtime::RunRow run_row(const runtime::Pack& pack, const std::string& file);

/// Whether what was measured of a run counts as it should: data that is right, or a refusal.
[[nodiscard]] bool is_well(const runtime::RunRow& row);

/// "hung: rank 1 waits", "3 of 10 elements are wrong"
[[nodiscard]] std::string words_of(const runtime::RunRow& row);

/// What goes wrong is in its row. Errors: InputError where no GPU can be used.
[[nodiscard]] runtime::TestRow test_row(const GpuTest& test);

struct FigureKind {
  std::string_view name, unit, what;
  /// Nothing where it doesn't apply. Errors: InputError, and those of CUDA and of run_on_cuda().
  std::optional<double> (*measure)() = nullptr;
};
/// First what the machine is, then what it takes.
[[nodiscard]] std::span<const FigureKind> figure_kinds();

/// Nothing where the figure doesn't apply here. Errors: those of measuring.
[[nodiscard]] std::optional<runtime::FigureRow> figure_row(const FigureKind& kind);

} // namespace tutti::gpu
