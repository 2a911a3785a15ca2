// The smallest and the largest of some values, for axes.
#pragma once

#include <algorithm>
#include <limits>

namespace tutti {

/// Empty: from infinity to 0, since figures begin there.
struct Extent {
  double smallest = std::numeric_limits<double>::infinity(), largest = 0;
  void add(double value) {
    smallest = std::min(smallest, value);
    largest = std::max(largest, value);
  }
};

} // namespace tutti
