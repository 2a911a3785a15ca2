// What is still free of each limit in each epoch.
#pragma once

#include "synth/teccl/network.hpp"
#include "synth/timed/ids.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti {

/// How often each limit is used in each epoch. `network` must outlive it.
class CapacityCalendar {
public:
  explicit CapacityCalendar(const EpochNetwork& network);

  /// Takes the room that a chunk needs which enters the first lane in `epoch` and each next one as
  /// soon as it is through; false where there is not enough: then nothing is taken. Cost: the
  /// lanes' limits times their windows.
  bool take(std::span<const LaneId> lanes, Epoch epoch);
  /// Takes the first such epoch >= `from` that is a multiple of `stride`. Pre: an empty
  /// calendar has enough room.
  Epoch take_first(std::span<const LaneId> lanes, Epoch from, std::uint32_t stride);
  /// Takes the last such epoch <= `to`; nothing where there is none.
  std::optional<Epoch> take_last(std::span<const LaneId> lanes, Epoch to, std::uint32_t stride);
  void give_back(std::span<const LaneId> lanes, Epoch epoch);
  void clear();

  /// Questions of take() so far.
  [[nodiscard]] std::uint64_t questions() const { return questions_; }

private:
  struct Use {
    LimitId limit;
    std::uint32_t offset = 0;
  };
  [[nodiscard]] bool has_room(LimitId limit, Epoch epoch) const;
  bool take_lane(LaneId lane, Epoch epoch);
  void give_back_lane(LaneId lane, Epoch epoch);

  const EpochNetwork& network_;
  std::vector<std::vector<Use>> uses_;           ///< [lane]
  std::vector<std::vector<std::uint32_t>> used_; ///< [limit][epoch]; as far as any is used
  std::uint64_t questions_ = 0;
};

} // namespace tutti
