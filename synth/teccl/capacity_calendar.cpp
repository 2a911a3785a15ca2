// A limit lets `most` uses into any `window` epochs one after another, so a use is possible where
// all windows that contain its epoch have room: these are summed by sliding one window over them.
#include "synth/teccl/capacity_calendar.hpp"

#include <algorithm>
#include <cstddef>

namespace tutti {

CapacityCalendar::CapacityCalendar(const EpochNetwork& network)
    : network_(network), uses_(network.lanes.size()), used_(network.limits.size()) {
  for (std::uint32_t i = 0; i < network.limits.size(); ++i)
    for (const LaneUse& use : network.limits[i].uses)
      uses_[use.lane.value].push_back({LimitId{i}, use.offset});
}

void CapacityCalendar::clear() {
  for (std::vector<std::uint32_t>& used : used_) used.clear();
}

bool CapacityCalendar::has_room(LimitId limit, Epoch epoch) const {
  const std::vector<std::uint32_t>& used = used_[limit.value];
  const std::size_t window = network_.limits[limit.value].window,
                    most = network_.limits[limit.value].most, middle = epoch.value;
  const auto at = [&](std::size_t e) { return e < used.size() ? used[e] : 0; };
  std::size_t in_window = 0; // that ends with `epoch`; then all others that contain it
  for (std::size_t e = middle + 1 - std::min(window, middle + 1); e <= middle; ++e)
    in_window += at(e);
  if (in_window >= most) return false;
  for (std::size_t end = middle + 1; end < middle + window; ++end) {
    in_window += at(end);
    if (end >= window) in_window -= at(end - window);
    if (in_window >= most) return false;
  }
  return true;
}

bool CapacityCalendar::take_lane(LaneId lane, Epoch epoch) {
  const std::vector<Use>& uses = uses_[lane.value];
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const Epoch at = epoch + uses[i].offset;
    if (!has_room(uses[i].limit, at)) {
      for (std::size_t j = 0; j < i; ++j)
        --used_[uses[j].limit.value][(epoch + uses[j].offset).value];
      return false;
    }
    std::vector<std::uint32_t>& used = used_[uses[i].limit.value];
    if (used.size() <= at.value) used.resize(at.value + std::size_t{1});
    ++used[at.value];
  }
  return true;
}

void CapacityCalendar::give_back_lane(LaneId lane, Epoch epoch) {
  for (const Use& use : uses_[lane.value]) --used_[use.limit.value][(epoch + use.offset).value];
}

bool CapacityCalendar::take(std::span<const LaneId> lanes, Epoch epoch) {
  ++questions_;
  Epoch at = epoch;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    if (!take_lane(lanes[i], at)) {
      give_back(lanes.first(i), epoch);
      return false;
    }
    at += network_.lanes[lanes[i].value].delay;
  }
  return true;
}

Epoch CapacityCalendar::take_first(std::span<const LaneId> lanes, Epoch from,
                                   std::uint32_t stride) {
  Epoch epoch{(from.value + stride - 1) / stride * stride};
  while (!take(lanes, epoch)) epoch += stride;
  return epoch;
}

std::optional<Epoch> CapacityCalendar::take_last(std::span<const LaneId> lanes, Epoch to,
                                                 std::uint32_t stride) {
  for (std::uint32_t multiples = to.value / stride + 1; multiples-- > 0;)
    if (const Epoch epoch{multiples * stride}; take(lanes, epoch)) return epoch;
  return std::nullopt;
}

void CapacityCalendar::give_back(std::span<const LaneId> lanes, Epoch epoch) {
  for (const LaneId lane : lanes) {
    give_back_lane(lane, epoch);
    epoch += network_.lanes[lane.value].delay;
  }
}

} // namespace tutti
