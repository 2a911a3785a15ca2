// Search for a cycle that visits every vertex of a directed graph once.
#pragma once

#include <cstdint>
#include <vector>

namespace tutti {

struct HamiltonianSearch {
  std::vector<std::uint32_t> cycle; ///< all vertices in order; empty where none was found
  bool exhaustive = false;          ///< nothing found: whether that proves that there is none
};

/// successors[v]: ascending, without v itself. Deterministic; work is counted in links looked at.
/// Pre: at least two vertices.
[[nodiscard]] HamiltonianSearch
find_hamiltonian_cycle(const std::vector<std::vector<std::uint32_t>>& successors,
                       std::uint64_t work_limit = 200'000'000);

} // namespace tutti
