// The [[frontiers]] tables of an experiment's file.
#pragma once

#include "experiments/driver/studies/experiment.hpp"
#include "experiments/driver/studies/frontiers/study.hpp"
#include "sim/files/config.hpp"

namespace tutti {

/// Pre: the experiment has its topologies, and the frontiers before this one.
/// Errors: InputError with file:line:column, also for a label that another frontier has, or that
/// gives the same file name.
[[nodiscard]] FrontierStudy read_frontier(ConfigTable table, const Experiment& experiment);

} // namespace tutti
