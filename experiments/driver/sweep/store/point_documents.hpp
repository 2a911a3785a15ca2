// A point's two documents in the store: its values, and what came of it. Each is one flat JSON
// object of numbers and texts, for the eyes and the SQL of users: results ->> 'collective_time_s'.
#pragma once

#include "experiments/driver/sweep/space/point_results.hpp"
#include "experiments/driver/sweep/space/points.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace tutti::sweep {

/// Its values by their names in the space, true and false as 1 and 0, and `experiment_seed`.
[[nodiscard]] std::string entered_document(const PointSpace& space, const Point& point);
/// `message`, the finite numbers, `cpu_seconds`, `synthesis_seconds`, `peak_bytes`, and the
/// versions: `tutti`, `commit_id`.
[[nodiscard]] std::string results_document(const PointResults& results, const std::string& tutti,
                                           const std::string& commit);

/// Calls `each` with name and value (a number without a unit, or a text) of every member. Numbers
/// are those that were written, bit by bit but for -0. Pre: the document was made by these.
void read_document(std::string_view document,
                   const std::function<void(const std::string&, Value)>& each);

} // namespace tutti::sweep
