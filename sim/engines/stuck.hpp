// Why transfers are stuck, in words.
#pragma once

#include "sim/report.hpp"
#include "sim/topology.hpp"
#include "sim/units.hpp"

#include <string>

namespace tutti {

/// "npu0>npu1, which is down since 3us"
[[nodiscard]] std::string down_text(const Topology& topology, LinkId link, Time since);

/// "waits for npu0>npu1, which is down since 3us"; empty where Dependencies knows it as well.
/// `down_since`: of the link that it waits for.
[[nodiscard]] std::string stuck_reason(const Topology& topology, const StuckTransfer& stuck,
                                       Time down_since);

} // namespace tutti
