// Evaluations as JSON: what `--json` prints, what results files hold, and what a job's process
// sends back to the driver.
#pragma once

#include "experiments/driver/studies/runs/evaluation.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tutti {

enum class LinkDetail : std::uint8_t {
  none, ///< per replay: maximum, mean and the hottest link
  all,  ///< and the bytes, busy time and transfers of each link, in the order of LinkId
};

/// Details of each row of run_records(): what is no value of a column.
[[nodiscard]] nlohmann::ordered_json run_details(std::span<const Evaluation> evaluations,
                                                 LinkDetail links);
/// Rows with details, as runs_json().
[[nodiscard]] nlohmann::ordered_json run_rows_json(std::span<const Evaluation> evaluations,
                                                   LinkDetail links);

/// Details of one replay: what is no value of a column.
[[nodiscard]] nlohmann::ordered_json replay_details(const Replay& replay, LinkDetail links);

/// All of it on one line, for another process; parse_evaluation is the inverse.
[[nodiscard]] std::string evaluation_message(const Evaluation& evaluation);
/// Errors: InputError for malformed text.
[[nodiscard]] Evaluation parse_evaluation(std::string_view message);

} // namespace tutti
