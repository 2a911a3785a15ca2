#include "sim/iteration/communicator_instances.hpp"

#include <algorithm>
#include <tuple>

namespace tutti {

namespace {

std::uint64_t key(std::uint32_t group, std::uint32_t tag) {
  return std::uint64_t{group} << 32 | tag;
}

} // namespace

std::uint32_t Meetings::come(std::uint32_t group, std::uint32_t tag, std::uint32_t rank,
                             std::uint32_t operation) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(meetings_.size()));
    meetings_.emplace_back();
  }
  const auto [known, is_new] = slots_.try_emplace(key(group, tag), free_.back());
  Meeting& meeting = meetings_[known->second];
  if (is_new) {
    free_.pop_back();
    const std::size_t members = groups_[group].size();
    meeting.group = group;
    meeting.tag = tag;
    meeting.came = 0;
    meeting.left = static_cast<std::uint32_t>(members);
    meeting.first = rank;
    meeting.sender = Meeting::none;
    meeting.begin = -1;
    meeting.operations.assign(members, Meeting::none);
    meeting.is_over.assign(members, false);
  }
  ++meeting.came;
  meeting.operations[rank] = operation;
  return known->second;
}

void Meetings::remove(std::uint32_t slot) {
  slots_.erase(key(meetings_[slot].group, meetings_[slot].tag));
  free_.push_back(slot);
}

std::vector<std::uint32_t> Meetings::all() const {
  std::vector<bool> is_free(meetings_.size());
  for (const std::uint32_t slot : free_) is_free[slot] = true;
  std::vector<std::uint32_t> slots;
  for (std::uint32_t slot = 0; slot < meetings_.size(); ++slot)
    if (!is_free[slot]) slots.push_back(slot);
  std::sort(slots.begin(), slots.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(meetings_[a].group, meetings_[a].tag) <
           std::tie(meetings_[b].group, meetings_[b].tag);
  });
  return slots;
}

} // namespace tutti
