// Steps of ASTRA-sim's implementations of collectives.
#pragma once

#include "sim/collective.hpp"
#include "sim/schedule.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti {

enum class AstraMethod : std::uint8_t { ring, direct, halving_doubling, double_binary_tree };

/// A chunk's collective in a line of NPUs along a dimension. Pre: `method` has `kind`, and the size
/// that it needs.
struct AstraLine {
  AstraMethod method;
  CollectiveKind kind;
  std::size_t size;  ///< NPUs
  std::size_t chunk; ///< trees take turns by it
  bool downwards;    ///< rings go from higher coordinates to lower ones
};

/// A message within a line of NPUs along a dimension, by coordinates.
struct AstraMessage {
  std::size_t from, to;
  std::size_t source; ///< All-to-All: whose data
  std::size_t target; ///< for whom; else: whose share of the line's data
  Op op;
};

[[nodiscard]] std::size_t astra_step_count(const AstraLine& line);

/// In order. Pre: step < astra_step_count(line).
[[nodiscard]] std::vector<AstraMessage> astra_messages(const AstraLine& line, std::size_t step);

} // namespace tutti
