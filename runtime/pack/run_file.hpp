// A planned run as a file: numbers in as few bytes as they need, a checksum behind them.
#pragma once

#include "runtime/executor.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace tutti::runtime {

/// What a machine that has only an executor is asked to do. The settings have no watch.
struct PackedRun {
  PlannedRun run;
  RunSettings settings;
};

/// The same for the same run, on every machine.
[[nodiscard]] std::string to_bytes(const PackedRun& packed);

/// What tells such files apart.
[[nodiscard]] std::uint64_t checksum_of(std::string_view bytes);

/// Errors: InputError "NAME: ..." for what isn't such a file or of another version, for one that
/// was cut off or damaged, and for a run that isn't sound.
[[nodiscard]] PackedRun read_run(std::string_view bytes, const std::string& name);

} // namespace tutti::runtime
