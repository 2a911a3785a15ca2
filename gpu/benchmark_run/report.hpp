// What the steps of a day have found so far, for a person.
#pragma once

#include "gpu/benchmark_run/step_record.hpp"
#include "runtime/pack/pack.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tutti::gpu {

/// Markdown. records: [step]; nothing where it hasn't ended yet.
[[nodiscard]] std::string day_report(const runtime::Pack& pack,
                                     const std::vector<std::optional<StepRecord>>& records);

} // namespace tutti::gpu
