// A system file of ASTRA-sim, as far as it says who sends what.
#pragma once

#include "algorithms/astra_steps.hpp"
#include "sim/collective.hpp"
#include "sim/files/tree_value.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tutti {

struct AstraImplementation {
  AstraMethod method;
  bool of_all_npus = false; ///< "oneRing"
  std::int64_t window = 0;  ///< of "direct8"; 0: none
  std::optional<TreeValue> place = {};
};

/// What of a system file matters for one kind of collective.
struct AstraSystem {
  std::uint32_t splits = 1;
  std::size_t active = 1; ///< chunks at once in a dimension
  bool local_bw_aware = false;
  std::vector<AstraImplementation> implementations;
  std::map<std::string, double> left_out; ///< as facts
};

/// Errors: InputError with the place: unknown keys and words, what isn't read, a file of more than
/// 1 MiB.
[[nodiscard]] AstraSystem read_astra_system(const std::string& file, CollectiveKind kind);

} // namespace tutti
