// What coordinator, point servers and point processes send each other, as bytes.
#pragma once

#include "experiments/driver/sweep/space/point_results.hpp"
#include "experiments/driver/sweep/space/points.hpp"
#include "experiments/driver/sweep/store/store.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace tutti::sweep {

/// What came of points.
struct PointAnswers {
  std::vector<FinishedPoint> finished;
  std::vector<std::size_t> dropped; ///< positions of those that were not begun
};

/// Numbers that aren't finite are left out.
[[nodiscard]] std::string message_of(PointResults results);
[[nodiscard]] std::string message_of(const Point& point);
[[nodiscard]] std::string message_of(const PointAnswers& answers);
/// Pre: made by message_of().
[[nodiscard]] PointResults parse_results(const std::string& message);
[[nodiscard]] Point parse_point(const std::string& message);
[[nodiscard]] PointAnswers parse_answers(const std::string& message);

} // namespace tutti::sweep
