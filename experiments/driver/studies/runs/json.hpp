// Evaluations as JSON: what `--json` prints, and what results files hold.
#pragma once

#include "experiments/driver/studies/runs/evaluation.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <span>

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

} // namespace tutti
