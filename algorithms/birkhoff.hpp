// A matrix of traffic as a sequence of stages in which nobody sends to two or hears from two.
#pragma once

#include "sim/work_limit.hpp"

#include <cstdint>
#include <vector>

namespace tutti {

struct BirkhoffStage {
  std::int64_t amount;           ///< that every row sends, virtual traffic included
  std::vector<std::uint32_t> to; ///< [row]: its column
};

struct BirkhoffStages {
  std::vector<BirkhoffStage> stages; ///< amounts add up to the largest sum of a row or column
  std::uint64_t entries_seen = 0;    ///< of the matrix by the searches for matchings: its cost
};

/// Stages that carry at least amounts[row * n + column] from each row to each column, at most
/// n^2 - 2 n + 2 of them; the larger ones come first, for the most part. Pre: amounts >= 0. Cost:
/// at most n^2 for each stage and row that is matched anew in it. Errors: LimitReached.
[[nodiscard]] BirkhoffStages birkhoff_stages(std::vector<std::int64_t> amounts, std::uint32_t n,
                                             const WorkLimit& limit);

} // namespace tutti
