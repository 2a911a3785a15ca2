// What the end of a run hung on.
#pragma once

#include "sim/report.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// [hop]: the crossing before it of the same transfer, along its path; UINT32_MAX of a first one.
/// Cost: O(hops + transfers + what paths of several links take to sort).
[[nodiscard]] std::vector<std::uint32_t> hops_before(const Schedule& schedule,
                                                     const Report& report);

/// Indices into Report::hops, in the order of time: the last crossing of what arrives last, before
/// it what it waited for last (its data, or its link), and so on down to one that waited for
/// nothing. Empty where nothing crosses a link. Pre: the run recorded hops and deliveries; `before`
/// is its hops_before(). Cost: O(hops + transfers).
[[nodiscard]] std::vector<std::uint32_t> critical_path(const Topology& topology,
                                                       const Schedule& schedule,
                                                       const Report& report,
                                                       std::span<const std::uint32_t> before);

} // namespace tutti
