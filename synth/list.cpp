#include "synth/list.hpp"

#include <array>

namespace tutti {

std::span<const AlgorithmRow> synthesizers() {
  static constexpr std::array tacos_settings{
      Setting{"starts", "attempts, of which the best is kept; 1"},
      Setting{"candidates", "chunks that a link chooses among; auto: 1, then 8"},
      Setting{"degree", "of unwound switches, or ports: switches as they are; auto: the best"},
      Setting{"all_reduce", "sequential, pipelined; auto: the faster, if there is time to try"}};
  static const std::array rows{AlgorithmRow{.name = "tacos",
                                            .run = tacos,
                                            .collectives = all_collectives(),
                                            .pieces = 1,
                                            .needs = "any",
                                            .source = "Won et al. 2024 (MICRO), sec. IV",
                                            .settings = tacos_settings,
                                            .joint = true}};
  return rows;
}

} // namespace tutti
