// Some of many combinations, evenly: what a fast test takes of all that a [slow] one tries.
#pragma once

#include <cstdint>

namespace tutti::testing {

/// Every `step`-th turn, the first included. Where the lengths of nested loops have no divisor in
/// common with `step`, each pair of values comes up once there are enough turns.
class OneIn {
public:
  explicit OneIn(std::uint32_t step) : step_(step) {}
  [[nodiscard]] bool operator()() { return turn_++ % step_ == 0; }

private:
  std::uint32_t step_, turn_ = 0;
};

} // namespace tutti::testing
