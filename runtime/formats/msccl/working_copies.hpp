// Programs that overwrite a caller's buffer, as programs that work on a copy of it.
#pragma once

#include "runtime/program.hpp"

namespace tutti::runtime {

/// Copies each rank's input into scratch before anything else happens there, and does there all
/// that was done to the input. What it sends and when is the same. Pre: not in place.
[[nodiscard]] Program on_copies_of_inputs(const Program& program);

/// The same for both buffers as one, in which a unit of the input and the unit of the output with
/// its index are the same: copied back to the output when all else is over. Result: not in place.
[[nodiscard]] Program on_copies_of_both(const Program& program);

} // namespace tutti::runtime
