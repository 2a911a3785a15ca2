#include "synth/teccl/capacity_calendar.hpp"

#include <algorithm>

namespace tutti {

CapacityCalendar::CapacityCalendar(const EpochNetwork& network)
    : network_(network), uses_(network.lanes.size()), used_(network.limits.size()) {
  for (std::uint32_t i = 0; i < network.limits.size(); ++i)
    for (const LaneUse& use : network.limits[i].uses) uses_[use.lane].push_back({i, use.offset});
}

void CapacityCalendar::clear() {
  for (std::vector<std::uint32_t>& used : used_) used.clear();
}

bool CapacityCalendar::has_room(std::uint32_t limit, std::size_t epoch) const {
  const std::vector<std::uint32_t>& used = used_[limit];
  const std::size_t window = network_.limits[limit].window, most = network_.limits[limit].most;
  const auto at = [&](std::size_t e) { return e < used.size() ? used[e] : 0; };
  std::size_t in_window = 0; // that ends with `epoch`; then all others that contain it
  for (std::size_t e = epoch + 1 - std::min(window, epoch + 1); e <= epoch; ++e) in_window += at(e);
  if (in_window >= most) return false;
  for (std::size_t end = epoch + 1; end < epoch + window; ++end) {
    in_window += at(end);
    if (end >= window) in_window -= at(end - window);
    if (in_window >= most) return false;
  }
  return true;
}

bool CapacityCalendar::take_lane(std::uint32_t lane, std::uint32_t epoch) {
  const std::vector<Use>& uses = uses_[lane];
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const std::size_t at = std::size_t{epoch} + uses[i].offset;
    if (!has_room(uses[i].limit, at)) {
      for (std::size_t j = 0; j < i; ++j) --used_[uses[j].limit][epoch + uses[j].offset];
      return false;
    }
    std::vector<std::uint32_t>& used = used_[uses[i].limit];
    if (used.size() <= at) used.resize(at + 1);
    ++used[at];
  }
  return true;
}

void CapacityCalendar::give_back_lane(std::uint32_t lane, std::uint32_t epoch) {
  for (const Use& use : uses_[lane]) --used_[use.limit][std::size_t{epoch} + use.offset];
}

bool CapacityCalendar::take(std::span<const std::uint32_t> lanes, std::uint32_t epoch) {
  ++questions_;
  std::uint32_t at = epoch;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    if (!take_lane(lanes[i], at)) {
      give_back(lanes.first(i), epoch);
      return false;
    }
    at += network_.lanes[lanes[i]].delay;
  }
  return true;
}

std::uint32_t CapacityCalendar::take_first(std::span<const std::uint32_t> lanes, std::uint32_t from,
                                           std::uint32_t stride) {
  std::uint32_t epoch = (from + stride - 1) / stride * stride;
  while (!take(lanes, epoch)) epoch += stride;
  return epoch;
}

std::optional<std::uint32_t> CapacityCalendar::take_last(std::span<const std::uint32_t> lanes,
                                                         std::uint32_t to, std::uint32_t stride) {
  for (std::uint32_t multiples = to / stride + 1; multiples-- > 0;)
    if (take(lanes, multiples * stride)) return multiples * stride;
  return std::nullopt;
}

void CapacityCalendar::give_back(std::span<const std::uint32_t> lanes, std::uint32_t epoch) {
  for (const std::uint32_t lane : lanes) {
    give_back_lane(lane, epoch);
    epoch += network_.lanes[lane].delay;
  }
}

} // namespace tutti
