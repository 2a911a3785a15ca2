// What those who wait see of a frontier on stderr: a line for each point as it is found.
//   tutti: all_gather on dgx1: (6,3,7), 7/6 rounds per chunk, SAT, 4-fold symmetric, 0.063 s
#pragma once

#include "synth/sccl/frontier.hpp"

#include <functional>
#include <iosfwd>
#include <string>

namespace tutti {

/// For FrontierRequest::found. `what` stands before each point; `out` must outlive it.
[[nodiscard]] std::function<void(const FrontierPoint&)> point_announcer(std::string what,
                                                                        std::ostream& out);

/// The same on stderr where that is a terminal or lines are wanted; else it says nothing.
[[nodiscard]] std::function<void(const FrontierPoint&)> point_announcer(std::string what,
                                                                        bool lines_wanted);

} // namespace tutti
