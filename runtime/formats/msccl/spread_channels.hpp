// Connections on as many channels as their peers need.
#pragma once

#include "runtime/formats/msccl/xml.hpp"
#include "runtime/program.hpp"

namespace tutti::runtime {

/// Where a rank has more peers on a channel than a runtime takes there, moves connections to the
/// lowest channel that both ends and all who share a block with them have left. Where the channels
/// don't suffice the program stays as it is. Cost: O(connections * channels).
[[nodiscard]] Program spread_channels(Program program, const MscclLimits& limits);

} // namespace tutti::runtime
