// Points that are asked for by a condition, after a sweep has run.
#pragma once

#include "experiments/driver/records/table.hpp"
#include "experiments/driver/sweep/analysis/analysed_points.hpp"

#include <nlohmann/json.hpp>

namespace tutti::sweep {

/// A row for each: the parameters that vary, what the condition names, objectives; with `all` every
/// other column behind these.
[[nodiscard]] Table points_table(const Sweep& sweep, const PointTable& table,
                                 const ChosenPoints& chosen, bool all);

/// An object for each, with all columns in SI units: {"kind": "point", "values": {"size": 65536,
/// ...}}.
[[nodiscard]] nlohmann::ordered_json points_json(const PointTable& table,
                                                 const ChosenPoints& chosen);

} // namespace tutti::sweep
