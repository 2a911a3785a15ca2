// What is still free of each limit in each epoch.
#pragma once

#include "synth/teccl/network.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti {

/// `network` must outlive it.
class CapacityCalendar {
public:
  explicit CapacityCalendar(const EpochNetwork& network);

  /// Takes the room that a chunk needs which enters the first lane in `epoch` and each next one as
  /// soon as it is through; false where there is not enough: then nothing is taken. Cost: the
  /// lanes' limits times their windows.
  bool take(std::span<const std::uint32_t> lanes, std::uint32_t epoch);
  /// Takes the first such epoch >= `from` that is a multiple of `stride`. Pre: an empty room has
  /// enough.
  std::uint32_t take_first(std::span<const std::uint32_t> lanes, std::uint32_t from,
                           std::uint32_t stride);
  /// Takes the last such epoch <= `to`; nothing where there is none.
  std::optional<std::uint32_t> take_last(std::span<const std::uint32_t> lanes, std::uint32_t to,
                                         std::uint32_t stride);
  void give_back(std::span<const std::uint32_t> lanes, std::uint32_t epoch);
  void clear();

  /// Questions of take() so far.
  [[nodiscard]] std::uint64_t questions() const { return questions_; }

private:
  struct Use {
    std::uint32_t limit = 0, offset = 0;
  };
  [[nodiscard]] bool has_room(std::uint32_t limit, std::size_t epoch) const;
  bool take_lane(std::uint32_t lane, std::uint32_t epoch);
  void give_back_lane(std::uint32_t lane, std::uint32_t epoch);

  const EpochNetwork& network_;
  std::vector<std::vector<Use>> uses_;           ///< [lane]
  std::vector<std::vector<std::uint32_t>> used_; ///< [limit][epoch]; as far as any is used
  std::uint64_t questions_ = 0;
};

} // namespace tutti
