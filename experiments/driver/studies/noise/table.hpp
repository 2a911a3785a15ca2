// What draws came to, as tables on the terminal have it.
#pragma once

#include "experiments/driver/records/records.hpp"
#include "experiments/driver/studies/noise/draws.hpp"

#include <span>
#include <string>
#include <vector>

namespace tutti {

/// Columns of noise_fields(), to stand after those that tell rows apart. `causes`: also what draws
/// depended on.
[[nodiscard]] std::vector<ShownColumn> shown_noise(bool causes);

/// "skew uniform:20us, jitter none, seed 1, 200 draws", of a table of these: without the skew where
/// they have several. Pre: they differ in their skew only; not empty.
[[nodiscard]] std::string noise_heading(std::span<const NoiseOutcome* const> outcomes);

} // namespace tutti
