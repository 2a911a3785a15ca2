// Where the time of an iteration goes, as stacked bars: one group per topology, variant and
// condition, one bar per algorithm; and which links are hot.
#pragma once

#include "experiments/driver/studies/study.hpp"
#include "experiments/driver/studies/training/evaluation.hpp"

#include <span>
#include <vector>

namespace tutti {

/// Pre for all: has_report(evaluation).

/// Mean over NPUs, in ms.
[[nodiscard]] Figure account_figure(const TrainingEvaluation& evaluation);
/// Each group over its reference, or its fastest.
[[nodiscard]] Figure normalized_account_figure(const TrainingEvaluation& evaluation);

/// Both of them, and a link map where there are at most 16 undisturbed runs on networks of one
/// size, of at most 512 nodes; by the study's label. Networks as for evaluate_training().
[[nodiscard]] std::vector<NamedFigure> training_figures(const TrainingEvaluation& evaluation,
                                                        std::span<const TrainingNetwork> networks);

/// Link utilisation of every undisturbed run: one panel each.
[[nodiscard]] Figure training_heatmap(const TrainingEvaluation& evaluation,
                                      std::span<const TrainingNetwork> networks);

/// Network use of the run with the shortest iteration on each network; they point to the
/// topologies.
[[nodiscard]] std::vector<NetworkUse> network_uses(const TrainingEvaluation& evaluation,
                                                   std::span<const TrainingNetwork> networks);

} // namespace tutti
