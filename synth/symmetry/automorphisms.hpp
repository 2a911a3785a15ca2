// Automorphisms of coloured directed graphs by bliss.
#pragma once

#include "sim/work_limit.hpp"
#include "synth/symmetry/permutations.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace tutti {

/// Vertices are 0 .. colours.size() - 1; parallel arcs count once (give an arc that carries a
/// weight a vertex of its own).
struct ColouredGraph {
  std::vector<std::uint32_t> colours;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> arcs; ///< from, to
};

enum class AutomorphismSearch : std::uint8_t {
  plain,
  by_parts, ///< quick where many parts can be exchanged each on its own, as in clusters
};

/// Generators of the group of all permutations that keep colours and arcs; empty where that is only
/// the identity. Each is checked against the graph. Deterministic. Errors: LimitReached, by_parts.
[[nodiscard]] std::vector<Permutation>
automorphism_generators(const ColouredGraph& graph,
                        AutomorphismSearch how = AutomorphismSearch::plain,
                        const WorkLimit& limit = {});

} // namespace tutti
