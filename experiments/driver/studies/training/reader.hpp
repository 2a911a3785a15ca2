// What the command line has in common with the reader of [[training]].
#pragma once

#include "experiments/driver/studies/training/study.hpp"

#include <string>
#include <vector>

namespace tutti {

/// Of a list of names, "auto" among them. Errors: InputError for an unknown or repeated name.
[[nodiscard]] std::vector<TrainingPlan>
parse_training_plans(const std::vector<std::string>& names,
                     const std::vector<AlgorithmRow>& candidates);
/// Of `auto`, where nothing is said: quick ones that plan most collectives.
[[nodiscard]] std::vector<AlgorithmRow> default_candidates();

/// At which an NPU reduces whose memory has this rate: two operands are read, one is written.
/// Errors: InputError for a rate of next to nothing.
[[nodiscard]] Bandwidth reduction_rate(Bandwidth local_memory);

/// What is done where cables have failed: reroute or resynthesize. Errors: InputError.
[[nodiscard]] Policy parse_training_policy(const std::string& text);

/// Errors: InputError where an NPU goes down.
void refuse_dead_npus(const EventPlan& plan);

/// All that plan something in the study: for settings.
[[nodiscard]] std::vector<AlgorithmRow> algorithms_of(const TrainingStudy& study);

} // namespace tutti
