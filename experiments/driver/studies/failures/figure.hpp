// Collectives through failures as pictures: what is in place over time under each policy, and the
// time over the number of failed links.
#pragma once

#include "experiments/driver/figures/gnuplot.hpp"
#include "experiments/driver/studies/failures/study.hpp"

#include <span>
#include <string>
#include <vector>

namespace tutti {

/// Progress of one run over time: how much of what is wanted is in place, with one curve per policy
/// and one undisturbed, and the events as vertical lines. Pre: a verified evaluation, a run of it.
[[nodiscard]] Figure progress_figure(const FailureEvaluation& evaluation,
                                     const ScenarioEvaluation& scenario);

/// Median times over the number of failed links, one curve per algorithm and policy; points that
/// aren't complete are left out. Errors: InputError where none is.
[[nodiscard]] Figure sweep_figure(std::span<const FailureEvaluation> evaluations);

/// The sweep where there is one, else the progress of every algorithm's run; none where nothing
/// ran, or several seeds make several runs.
[[nodiscard]] std::vector<NamedFigure>
failure_figures(std::span<const FailureEvaluation> evaluations);

/// Network use of each algorithm that has a single run, with what is dead in the end, under the
/// policy that is complete first (if none is, the one with the earliest last delivery); none where
/// nothing ran. They point to the topology.
[[nodiscard]] std::vector<NetworkUse> network_uses(std::span<const FailureEvaluation> evaluations,
                                                   const Topology& topology);

} // namespace tutti
