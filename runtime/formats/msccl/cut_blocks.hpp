// Blocks with more steps than a runtime takes, as several that follow one another.
#pragma once

#include "runtime/formats/msccl/xml.hpp"
#include "runtime/program.hpp"

namespace tutti::runtime {

/// Cuts each block that has more than `limits.steps` steps, where it serves one connection and the
/// block at the other end does, too, or where it serves none: both ends between the same two
/// messages, each part of a connection on a channel of its own, each block's part after the one
/// before it by a dependency. What happens, and in which order, stays the same. Other blocks stay
/// as they are. Pre: msccl_form(). Cost: O(steps * log).
[[nodiscard]] Program cut_long_blocks(const Program& program, const MscclLimits& limits);

} // namespace tutti::runtime
