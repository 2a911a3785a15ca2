// Tables and timelines as the page reads them.
#pragma once

#include "experiments/driver/figures/explorer.hpp"

#include <string>

namespace tutti {

/// A Results object of explorer/src/format.ts as JSON. Each value is a column's own number: the
/// page writes it with a unit, as tables do.
[[nodiscard]] std::string results_text(const Exploration& exploration);

} // namespace tutti
