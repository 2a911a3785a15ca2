// What coordinator, point servers and point processes tell each other: JSON texts, on a stream each
// behind its length.
#pragma once

#include "experiments/driver/sweep/space/value.hpp"
#include "experiments/driver/sweep/store/point_results.hpp"
#include "experiments/driver/sweep/store/store.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
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
[[nodiscard]] std::string message_of(const PointResults& results);
[[nodiscard]] std::string message_of(const PointRequest& request);
[[nodiscard]] std::string message_of(const PointAnswers& answers);
/// Pre: made by message_of().
[[nodiscard]] PointResults parse_results(const std::string& message);
[[nodiscard]] PointRequest parse_request(const std::string& message);
[[nodiscard]] PointAnswers parse_answers(const std::string& message);

/// A text as it goes on a stream.
[[nodiscard]] std::string framed(std::string_view text);
/// Takes the first text off what a stream has brought; nothing where it isn't there as a whole.
[[nodiscard]] std::optional<std::string> take_frame(std::string& stream);

} // namespace tutti::sweep
