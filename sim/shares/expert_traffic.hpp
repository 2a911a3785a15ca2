// What experts of a mixture get sent: tokens that choose experts, experts in slots of ranks, and
// the bytes between ranks that follow.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti {

struct ExpertTraffic {
  std::uint32_t tokens = 0, top = 0,
                experts = 0;                  ///< tokens of each rank; experts that each chooses
  std::int64_t hidden = 0, element_bytes = 2; ///< of a token: elements, and bytes of each
  double zipf = 0; ///< the k-th most popular expert is chosen in proportion to k^-zipf
  std::uint64_t seed = 1, iteration = 0; ///< of which experts are popular; of the tokens' choices
  std::string trace; ///< a file with the experts that tokens chose, instead of a draw
  /// An expert takes so many times its fair share of tokens, the others are dropped; none: all.
  std::optional<double> capacity;
  std::uint32_t replicas = 0; ///< slots beside one for each expert, for copies of the hottest
  std::string placement =
      "linear";          ///< or "balanced", or a CSV file: a row of experts for each rank
  bool combines = false; ///< the way back
};

/// By pair of ranks, i * ranks + j: what i sends to j. A token goes once to a rank, however many of
/// its experts are there; what stays on a rank counts there. Cost: O(ranks * tokens * top *
/// (log experts + top)), and O((experts + replicas) * ranks). Errors: InputError for more choices
/// than experts, more of either than a minute of work, fewer slots than ranks, a file that can't be
/// read or is of another number of ranks.
[[nodiscard]] std::vector<std::int64_t> expert_bytes(const ExpertTraffic& traffic,
                                                     std::uint32_t ranks);

} // namespace tutti
