// Evaluations as JSON: what `--json` prints, what results files hold, and what a job's process
// sends back to the driver.
#pragma once

#include "experiments/driver/studies/runs/evaluation.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace tutti {

enum class LinkDetail : std::uint8_t {
  none, ///< per replay: maximum, mean and the hottest link
  all,  ///< and the bytes, busy time and transfers of each link, in the order of LinkId
};

/// The first replay's figures stand at top level (collective_time_ps, lower_bound_ps, gap, ...),
/// all replays under "replays", facts by name under "facts". Times in ps, sizes in
/// bytes, rates in bytes/s; null where there is none.
[[nodiscard]] nlohmann::ordered_json evaluation_json(const Evaluation& evaluation,
                                                     LinkDetail links);

/// All of it on one line, for another process; parse_evaluation is the inverse.
[[nodiscard]] std::string evaluation_message(const Evaluation& evaluation);
/// Errors: InputError for malformed text.
[[nodiscard]] Evaluation parse_evaluation(std::string_view message);

/// Time model and figures of one replay, as under "replays".
[[nodiscard]] nlohmann::ordered_json replay_json(const Replay& replay, LinkDetail links);

/// Null for an empty text.
[[nodiscard]] nlohmann::ordered_json text_or_null(const std::string& text);

/// Two-space indented, with a newline at the end.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& json);

} // namespace tutti
