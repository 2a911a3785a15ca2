// Executions as text: a table of measured against predicted, nccl-tests' columns, CSV rows, and the
// profile of a network.
#pragma once

#include "experiments/driver/records/table.hpp"
#include "experiments/driver/studies/executions/evaluation.hpp"

#include <span>
#include <string>
#include <vector>

namespace tutti {

/// Heading, profile in short, a row for each run, the error of the predictions.
[[nodiscard]] std::string execution_text(const ExecutionEvaluation& evaluation,
                                         const TableForm& form = {});

/// What nccl-tests prints: a comment, a row for each run that has data, the average bus bandwidth.
/// The side (out of place, in place) that wasn't run is N/A. Several algorithms follow one another.
[[nodiscard]] std::string nccl_tests_text(const ExecutionEvaluation& evaluation);

/// A row for each link: latency, bandwidth, error of the fit; then the joint rate.
[[nodiscard]] std::string profile_text(const Topology& network, const runtime::Profile& profile,
                                       const TableForm& form = {});

/// How --columns may call what the table has. `copies`: the device's rate of copies is measured.
[[nodiscard]] std::vector<std::string> execution_table_columns(bool copies);

} // namespace tutti
