// What coordinator, point servers and point processes send each other, as bytes.
#pragma once

#include "experiments/driver/sweep/space/point_results.hpp"
#include "experiments/driver/sweep/space/value.hpp"
#include "experiments/driver/sweep/store/store.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tutti::sweep {

/// One point to be simulated.
struct PointRequest {
  std::size_t position = 0;
  std::uint64_t seed = 1;
  std::map<std::string, Value> values;
};

/// What came of points.
struct PointAnswers {
  std::vector<FinishedPoint> finished;
  std::vector<std::size_t> dropped; ///< positions of those that were not begun
};

/// Numbers that aren't finite are left out.
[[nodiscard]] std::string message_of(PointResults results);
[[nodiscard]] std::string message_of(const PointRequest& request);
[[nodiscard]] std::string message_of(const PointAnswers& answers);
/// Pre: made by message_of().
[[nodiscard]] PointResults parse_results(const std::string& message);
[[nodiscard]] PointRequest parse_request(const std::string& message);
[[nodiscard]] PointAnswers parse_answers(const std::string& message);

} // namespace tutti::sweep
