// A point of a frontier may take hours to find and is a result by itself: it is reported when it is
// found.
#include "experiments/driver/studies/frontiers/display.hpp"

#include "experiments/driver/studies/frontiers/evaluation.hpp"

#include <fmt/format.h>

#include <iostream>
#include <utility>

#include <unistd.h>

namespace tutti {

std::function<void(const FrontierPoint&)> point_announcer(std::string what, std::ostream& out) {
  return [what = std::move(what), &out](const FrontierPoint& point) {
    out << fmt::format("tutti: {}: {}, {} rounds per chunk, {}, {:.3f} s\n", what,
                       instance_text(point), to_text(point.cost()), point.method, point.seconds)
        << std::flush;
  };
}

std::function<void(const FrontierPoint&)> point_announcer(std::string what, bool lines_wanted) {
  if (!lines_wanted && isatty(STDERR_FILENO) == 0) return {};
  return point_announcer(std::move(what), std::cerr);
}

} // namespace tutti
