// Why: driver, help, tests and `tutti list` walk one written table, so that a synthesizer is
// plugged in by its row here: name, function, settings, what it needs of a topology, and its paper.

#include "synth/list.hpp"

#include <array>

namespace tutti {

std::span<const AlgorithmRow> synthesizers() {
  static constexpr std::array tacos_settings{
      Setting{"starts", "attempts, of which the best is kept; 1"},
      Setting{"candidates", "chunks that a link chooses among; auto: 1, then 8"},
      Setting{"degree", "of unwound switches, or ports: switches as they are; auto: the best"},
      Setting{"all_reduce", "sequential, pipelined; auto: the faster, if there is time to try"}};
  static constexpr std::array tacos_paper_settings{
      Setting{"starts", "attempts with different seeds, of which the best is kept; 10"},
      Setting{"degree", "of unwound switches; 1"}};
  static constexpr std::array sccl_settings{
      Setting{"steps", "S: only schedules with so many; else all"},
      Setting{"rounds", "R: only this instance; needs steps and chunks"},
      Setting{"k", "at most steps + k rounds; 6, and what meets the bound of the steps"},
      Setting{"max_steps", "where the frontier ends; 4 more than the fewest"},
      Setting{"symmetric", "try schedules that keep automorphisms first: yes, no; yes"},
      Setting{"effort", "conflicts (a tree node: 100) for each instance; 50000"},
      Setting{"largest", "sends (chunks x lanes x steps / symmetry) of what is tried; 40000"},
      Setting{"proof", "file for a DRAT proof that the instance has no schedule"}};
  static constexpr std::array teccl_settings{
      Setting{"method", "program (one shot), rounds, flows (without copies); auto: by size"},
      Setting{"epochs", "K: so many; bound: as Algorithm 1 bounds it; the fewest that are found"},
      Setting{"epoch", "fastest or slowest (link's time for a chunk), or a time; fastest"},
      Setting{"multiplier", "of the fastest or slowest link's time; 1"},
      Setting{"alpha", "model latencies: yes, no; yes"},
      Setting{"alpha_threshold", "a latency of so many epochs counts as none; 0.1"},
      Setting{"alpha_epochs", "epochs of the least latency, at most, else they get longer; 8"},
      Setting{"switches", "by_ability, no_copy, hyper_edges; by_ability"},
      Setting{"switch_exit", "a chunk's time out of a switch: free (overlaps), epoch; free"},
      Setting{"buffer", "chunks that a node keeps for others at once, at most; no limit"},
      Setting{"objective", "paper: what comes in epoch k earns 1/(k+1); public_code: each epoch 1"},
      Setting{"effort", "conflicts for each question whether there is a plan in K epochs; 2000"},
      Setting{"gap", "of the objective, at which one shot ends; 0"},
      Setting{"nodes", "of one shot's search tree; 500"},
      Setting{"largest", "variables (chunks x links x epochs) of one shot; 20000"},
      Setting{"round_epochs", "of each round; by size"},
      Setting{"round_nodes", "of each round's search tree; 20"}};
  static constexpr std::array taccl_settings{
      Setting{"sketch",
              "file with a communication sketch, TOML or TACCL's JSON; the best of those "
              "that `tutti sketch` proposes",
              true},
      Setting{"sketches", "proposals that are tried, where no sketch is given; all"},
      Setting{"search", "change the sketch for so long (60s), or so often (200); not at all"},
      Setting{"routes", "whose paths are ordered, the best of several joined by +: taccl, tacos, "
                        "flows; taccl, and flows where no sketch is given"},
      Setting{
          "slack",
          "paths may be so much longer than the shortest, as a part of it; the better of 0 and 1"},
      Setting{"instances", "subchunks of each chunk that go its paths; 1"},
      Setting{"contiguous", "chunks may share a send between machines: yes, no; yes"}};
  static constexpr std::array taccl_paper_settings{
      Setting{"sketch", "as for taccl; the first of those that `tutti sketch` proposes", true},
      Setting{"instances", "subchunks of each chunk that go its paths; 1"},
      Setting{"contiguous", "chunks may share a send between machines: yes, no; yes"}};
  static constexpr std::array teccl_paper_settings{
      Setting{"epoch", "fastest or slowest (link's time for a chunk), or a time; fastest"},
      Setting{"epochs", "K: so many; bound: as Algorithm 1 bounds it; the fewest that are found"},
      Setting{"switches", "by_ability, no_copy, hyper_edges; by_ability"}};
  static constexpr std::array flow_settings{
      Setting{"traffic",
              "whose bytes in and out are fewest among the fastest: npu, switch, memory, or how "
              "names of nodes start, joined by +; none; auto: npu, unless more replay faster"},
      Setting{"mirrored", "use symmetries: yes, no; yes"}};
  static constexpr std::array packing_settings{
      Setting{"traffic", "whose bytes in and out are counted, as for flows; npu"}};
  static constexpr std::array with_trees{CollectiveKind::broadcast, CollectiveKind::reduce,
                                         CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
                                         CollectiveKind::all_reduce};
  static constexpr std::array of_flows{CollectiveKind::broadcast,    CollectiveKind::reduce,
                                       CollectiveKind::gather,       CollectiveKind::scatter,
                                       CollectiveKind::all_gather,   CollectiveKind::reduce_scatter,
                                       CollectiveKind::all_reduce,   CollectiveKind::all_to_all,
                                       CollectiveKind::all_to_all_v, CollectiveKind::custom};
  static const std::array rows{
      AlgorithmRow{.name = "tacos",
                   .run = tacos,
                   .collectives = basic_and_custom(),
                   .chunk_multiple = 1,
                   .needs = "any",
                   .source = "Won et al. 2024 (MICRO), sec. IV",
                   .settings = tacos_settings,
                   .joint = true,
                   .any_abilities = true},
      AlgorithmRow{.name = "tacos_paper",
                   .run = tacos_paper,
                   .collectives = with_trees,
                   .chunk_multiple = 1,
                   .needs = "any",
                   .source = "Won et al. 2024 (MICRO), sec. IV as printed",
                   .settings = tacos_paper_settings},
      AlgorithmRow{.name = "sccl",
                   .run = sccl,
                   .collectives = basic_and_custom(),
                   .chunk_multiple = 1,
                   .needs = "any, some 16 NPUs",
                   .source = "Cai et al. 2021 (PPoPP), sec. 3",
                   .settings = sccl_settings,
                   .chooses_chunks = true},
      AlgorithmRow{.name = "teccl",
                   .run = teccl,
                   .collectives = basic_and_custom(),
                   .chunk_multiple = 1,
                   .needs = "any",
                   .source = "Liu et al. 2024 (TE-CCL), sec. 3-5",
                   .settings = teccl_settings,
                   .chooses_chunks = true, // one: each more multiplies the program's variables
                   .any_abilities = true},
      AlgorithmRow{.name = "taccl",
                   .run = taccl,
                   .collectives = basic_and_custom(),
                   .chunk_multiple = 1,
                   .needs = "any",
                   .source = "Shah et al. 2023 (NSDI), sec. 3-5, app. B",
                   .settings = taccl_settings,
                   .chooses_chunks = true,
                   .any_abilities = true},
      AlgorithmRow{.name = "taccl_paper",
                   .run = taccl_paper,
                   .collectives = basic_and_custom(),
                   .chunk_multiple = 1,
                   .needs = "any",
                   .source = "Shah et al. 2023 (NSDI), sec. 3-5 as printed",
                   .settings = taccl_paper_settings,
                   .chooses_chunks = true},
      AlgorithmRow{.name = "teccl_paper",
                   .run = teccl_paper,
                   .collectives = basic_and_custom(),
                   .chunk_multiple = 1,
                   .needs = "any",
                   .source = "Liu et al. 2024 (TE-CCL), sec. 3: the integer program",
                   .settings = teccl_paper_settings,
                   .chooses_chunks = true,
                   .any_abilities = true},
      AlgorithmRow{.name = "flows",
                   .run = flows,
                   .collectives = of_flows,
                   .chunk_multiple = 1,
                   .needs = "any",
                   .source = "Shapley 2025 (dissertation), ch. 3-5",
                   .settings = flow_settings,
                   .joint = true,
                   .chooses_chunks = true,
                   .any_abilities = true},
      AlgorithmRow{.name = "tree_packing",
                   .run = tree_packing,
                   .collectives = with_trees,
                   .chunk_multiple = 1,
                   .needs = "any; equal bandwidth into and out of switches",
                   .source = "Zhao et al. 2024 (ForestColl), sec. 4-5",
                   .settings = packing_settings}};
  return rows;
}

} // namespace tutti
