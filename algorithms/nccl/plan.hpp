// What NCCL and RCCL would take, without the list of what that sends.
#pragma once

#include "sim/collective.hpp"
#include "sim/synthesizer.hpp"
#include "sim/topology.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace tutti {

struct LibraryPlan {
  std::string picked;      ///< "ring, simple, 24 channels"
  double piece = 0;        ///< bytes that are sent at once
  double loops = 1;        ///< of its kernel: so often the same is sent again
  std::int64_t pieces = 1; ///< that each rank's part is cut into; as many: the same schedule
  double transfers = 0;    ///< of a schedule, within a factor of two
};

/// Pre: the algorithm is nccl or rccl. Nothing where it has no schedule. Errors: as the
/// algorithm's. Cost: that of the search for channels.
[[nodiscard]] std::optional<LibraryPlan> library_plan(const AlgorithmRow& library,
                                                      const Topology& topology,
                                                      const Collective& collective,
                                                      SynthesisOptions options);

} // namespace tutti
