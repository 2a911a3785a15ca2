#include "synth/list.hpp"

#include <array>

namespace tutti {

std::span<const AlgorithmRow> synthesizers() {
  static constexpr std::array tacos_collectives{
      CollectiveKind::broadcast, CollectiveKind::reduce, CollectiveKind::all_gather,
      CollectiveKind::reduce_scatter, CollectiveKind::all_reduce};
  static const std::array rows{AlgorithmRow{"tacos", tacos, tacos_collectives, 1,
                                            "NPU-to-NPU links",
                                            "Won et al. 2024 (MICRO), sec. IV"}};
  return rows;
}

} // namespace tutti
