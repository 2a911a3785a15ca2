// Each row names the paper in which the algorithm was published; its file explains the method.

#include "algorithms/list.hpp"

#include "algorithms/dimension_phases.hpp"
#include "algorithms/nccl/settings.hpp"

#include <array>

namespace tutti {

std::span<const AlgorithmRow> baseline_algorithms() {
  static constexpr std::array tree_collectives{CollectiveKind::broadcast, CollectiveKind::reduce,
                                               CollectiveKind::all_reduce};
  static constexpr std::array shard_collectives{
      CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce};
  static constexpr std::array spanning_tree_collectives{
      CollectiveKind::broadcast, CollectiveKind::reduce, CollectiveKind::all_gather,
      CollectiveKind::reduce_scatter, CollectiveKind::all_reduce};
  static constexpr std::array astra_collectives{
      CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce,
      CollectiveKind::all_to_all};
  static constexpr std::array unicast_collectives{CollectiveKind::all_to_all,
                                                  CollectiveKind::custom};
  static constexpr std::array astra_settings{
      Setting{"system", "ASTRA-sim's system file (JSON), which it needs", true},
      Setting{"queues", "of each dimension, as --num-queues-per-dim; default 1"}};
  static const std::array rows{
      AlgorithmRow{"ring", ring, basic_collectives(), 2, "any",
                   "Chan et al. 2006 (PPoPP); Patarasuk, Yuan 2009"},
      AlgorithmRow{"ring1", ring_unidirectional, basic_collectives(), 1, "any",
                   "Patarasuk, Yuan 2009 (JPDC 69(2))"},
      AlgorithmRow{"ring_hamiltonian", ring_hamiltonian, basic_collectives(), 2,
                   "a Hamiltonian cycle of direct links", "Patarasuk, Yuan 2009 (JPDC 69(2))"},
      AlgorithmRow{"direct", direct, all_collectives(), 1, "any", "TACOS (MICRO 2024), sec. V"},
      AlgorithmRow{"rhd", recursive_halving_doubling, basic_collectives(), 1, "2^k NPUs",
                   "Thakur, Rabenseifner, Gropp 2005 (IJHPCA 19(1))"},
      AlgorithmRow{"dbt", double_binary_tree, tree_collectives, 2, "any",
                   "Sanders, Speck, Traff 2009 (Parallel Computing 35(12))"},
      AlgorithmRow{"hierarchical", hierarchical, shard_collectives, 2, "coordinates",
                   "Cho et al. 2019 (BlueConnect, IBM JRD 63(6))", by_dimensions_settings},
      AlgorithmRow{"themis", themis, shard_collectives, 2, "coordinates",
                   "Rashidi et al. 2022 (ISCA)", by_dimensions_settings},
      AlgorithmRow{.name = "astra",
                   .run = astra_system,
                   .collectives = astra_collectives,
                   .chunk_multiple = 1,
                   .needs = "coordinates",
                   .source = "ASTRA-sim 518bd51, system/Sys.cc, system/astraccl",
                   .settings = astra_settings,
                   .chooses_chunks = true},
      AlgorithmRow{"multitree", multitree, spanning_tree_collectives, 1, "any",
                   "Huang et al. 2021 (ISCA)"},
      AlgorithmRow{"ccube", ccube, tree_collectives, 2, "any", "Cho, Son, Kim 2023 (HPCA)"},
      AlgorithmRow{"blink", blink, tree_collectives, 1, "any", "Wang et al. 2020 (MLSys)"},
      AlgorithmRow{"two_level", two_level, unicast_collectives, 1, "servers",
                   "PXN of NCCL 2.12 (NVIDIA 2022)"},
      AlgorithmRow{"fast", fast, unicast_collectives, 1, "servers",
                   "Lei et al. 2025 (FAST, arXiv 2505.09764)"},
      AlgorithmRow{.name = "nccl",
                   .run = nccl_algorithm,
                   .collectives = named_collectives(),
                   .chunk_multiple = 1,
                   .needs = "any; nodes alike",
                   .source = "NCCL 2.30.7 (NVIDIA), graph/search.cc, graph/tuning.cc",
                   .settings = nccl::setting_list,
                   .chooses_chunks = true,
                   .imitates = true},
      AlgorithmRow{.name = "rccl",
                   .run = rccl_algorithm,
                   .collectives = named_collectives(),
                   .chunk_multiple = 1,
                   .needs = "AMD GPUs; nodes alike",
                   .source = "RCCL 2.21.5 (AMD), graph/rome_models.cc, graph/tuning.cc",
                   .settings = nccl::setting_list,
                   .chooses_chunks = true,
                   .imitates = true}};
  return rows;
}

} // namespace tutti
