// What a symmetry of a flow problem exchanges.
#pragma once

#include "synth/flows/fluid/fluid.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// A demand that stands for all that the symmetry makes of it.
struct Representative {
  std::uint32_t demand = 0;
  std::uint32_t images = 1;         ///< demands that it stands for, itself among them
  std::vector<std::uint32_t> roots; ///< for both: where it may come together, one for each orbit
};

struct FlowOrbits {
  std::vector<std::uint32_t> of_resource; ///< [resource]: its orbit's number
  std::vector<double> size, bandwidth;    ///< [orbit]: resources; bytes/s of each
  std::vector<Representative> representatives;
};

/// `symmetry`: all elements of a group or generators; may be empty. Cost: elements x resources.
[[nodiscard]] FlowOrbits flow_orbits(const FlowProblem& problem,
                                     std::span<const FlowAutomorphism> symmetry);

/// Where the contributions of `demand` (both) may come together: members that copy and reduce, and
/// others that do, unless they are more than the members.
[[nodiscard]] std::vector<std::uint32_t> combining_roots(const FlowProblem& problem,
                                                         const FlowDemand& demand);

} // namespace tutti
