// Iterations of training for people and programs: records, JSON, tables, figures.
#pragma once

#include "experiments/driver/records/records.hpp"
#include "experiments/driver/studies/training/evaluation.hpp"

#include <nlohmann/json_fwd.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// Sums over NPUs, which add up to the number of NPUs times the duration.
[[nodiscard]] TimeAccount summed_accounts(const IterationReport& report);
/// The NPU that computes longest; the first of several.
[[nodiscard]] NodeId busiest_npu(const IterationReport& report);
/// Time of all purposes.
[[nodiscard]] Time exposed_time(const TimeAccount& account);
/// Part of all communication, over all NPUs and purposes, that was hidden behind computing: 0 .. 1;
/// 1 where there was none.
[[nodiscard]] double hidden_part(const IterationReport& report);
/// What a link map is drawn of.
[[nodiscard]] Report link_report(const IterationReport& report);

/// One row per run, of those with draws one per skew. Times per iteration are means over NPUs; sums
/// over NPUs are exact. What draws came to has columns where some run has draws.
[[nodiscard]] Records training_records(const TrainingEvaluation& evaluation);

/// The column of that name, of a run with a report. Pre: it is one of times, rates and parts.
[[nodiscard]] Field<TrainingRun> run_field(std::string_view name);

/// One for each row of the run: null where it has no draws.
[[nodiscard]] std::vector<const NoiseOutcome*> noises_of(const TrainingRun& run);

/// One row per run and NPU: its account, exact, of all iterations.
[[nodiscard]] Records npu_records(const TrainingEvaluation& evaluation);

/// Details of each row of training_records(): its workload, accounts, links and plans, with the
/// detail of NPUs also its draws. Times in ps, of all iterations.
[[nodiscard]] nlohmann::ordered_json training_details(const TrainingEvaluation& evaluation,
                                                      NpuDetail detail);

/// What each run takes, where its time goes, what was planned, memory, hot links and the work of
/// simulating.
[[nodiscard]] std::string training_text(const TrainingEvaluation& evaluation,
                                        const TableForm& form = {});

/// How it was simulated: "engine native, links busy for serialization, forwarding auto", and what
/// else is not by default.
[[nodiscard]] std::string conditions_text(const TrainingEvaluation& evaluation,
                                          const std::string& engine);

// Figures. Pre for all: has_report(evaluation).

/// Where the time of an iteration goes, as stacked bars: a group for each topology, variant and
/// condition, a bar for each algorithm; mean over NPUs, in ms.
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
