#include "synth/list.hpp"

#include <array>

namespace tutti {

std::span<const AlgorithmRow> synthesizers() {
  static constexpr std::array tacos_collectives{
      CollectiveKind::broadcast, CollectiveKind::reduce, CollectiveKind::all_gather,
      CollectiveKind::reduce_scatter, CollectiveKind::all_reduce};
  static constexpr std::array tacos_settings{
      Setting{"candidates", "chunks that a link chooses among; auto: 1, then 8"},
      Setting{"degree", "of unwound switches, or ports: switches as they are; auto: the best"},
      Setting{"starts", "attempts, of which the best is kept; 1"}};
  static const std::array rows{AlgorithmRow{"tacos", tacos, tacos_collectives, 1, "any",
                                            "Won et al. 2024 (MICRO), sec. IV", tacos_settings}};
  return rows;
}

} // namespace tutti
