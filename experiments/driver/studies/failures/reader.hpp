// The [[failures]] tables of an experiment's file.
#pragma once

#include "experiments/driver/studies/experiment.hpp"
#include "experiments/driver/studies/failures/study.hpp"
#include "sim/files/config.hpp"

#include <string>

namespace tutti {

/// Pre: the experiment has its topologies, and the failures before this one. Files of events are
/// looked for beside `source_name`.
/// Errors: InputError with file:line:column, also for a label that another study has, or that gives
/// the same file name.
[[nodiscard]] FailureStudy read_failures(ConfigTable table, const Experiment& experiment,
                                         const std::string& source_name);

} // namespace tutti
