// What a case's process sends back to the driver.
#pragma once

#include "experiments/driver/studies/runs/evaluation.hpp"

#include <string>
#include <string_view>

namespace tutti {

/// All of it, in the bytes of this machine.
[[nodiscard]] std::string evaluation_message(const Evaluation& evaluation);
/// Errors: std::runtime_error where the message ends before.
[[nodiscard]] Evaluation parse_evaluation(std::string_view message);

} // namespace tutti
