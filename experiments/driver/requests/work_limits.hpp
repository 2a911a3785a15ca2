// `--limit 60s`, `--limit 8GiB` or both: when a synthesis has to stop.
#pragma once

#include "sim/synthesizer.hpp"

#include <string>

namespace tutti {

/// Sets limit_seconds, limit_bytes or both from a time, a size, or both with a comma between.
/// Errors: InputError for a missing or unknown unit, or two of a kind.
void set_limits(SynthesisOptions& options, const std::string& text);

} // namespace tutti
