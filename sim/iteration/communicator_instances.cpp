// The slots of instances that are over are used again, so that memory is that of the communication
// under way, not that of the whole iteration.
#include "sim/iteration/communicator_instances.hpp"

#include <algorithm>
#include <tuple>

namespace tutti {

namespace {

std::uint64_t key(std::uint32_t group, std::uint32_t tag) {
  return std::uint64_t{group} << 32 | tag;
}

} // namespace

std::uint32_t CommunicatorInstances::come(std::uint32_t group, std::uint32_t tag,
                                          std::uint32_t rank, std::uint32_t operation) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(communicators_.size()));
    communicators_.emplace_back();
  }
  const auto [known, is_new] = slots_.try_emplace(key(group, tag), free_.back());
  CommunicatorInstance& communicator = communicators_[known->second];
  if (is_new) {
    free_.pop_back();
    const std::size_t members = groups_[group].size();
    communicator.group = group;
    communicator.tag = tag;
    communicator.came = 0;
    communicator.left = static_cast<std::uint32_t>(members);
    communicator.first = rank;
    communicator.sender = CommunicatorInstance::none;
    communicator.begin = -1;
    communicator.operations.assign(members, CommunicatorInstance::none);
    communicator.is_over.assign(members, false);
  }
  ++communicator.came;
  communicator.operations[rank] = operation;
  return known->second;
}

void CommunicatorInstances::remove(std::uint32_t slot) {
  slots_.erase(key(communicators_[slot].group, communicators_[slot].tag));
  free_.push_back(slot);
}

std::vector<std::uint32_t> CommunicatorInstances::all() const {
  std::vector<bool> is_free(communicators_.size());
  for (const std::uint32_t slot : free_) is_free[slot] = true;
  std::vector<std::uint32_t> slots;
  for (std::uint32_t slot = 0; slot < communicators_.size(); ++slot)
    if (!is_free[slot]) slots.push_back(slot);
  std::sort(slots.begin(), slots.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(communicators_[a].group, communicators_[a].tag) <
           std::tie(communicators_[b].group, communicators_[b].tag);
  });
  return slots;
}

} // namespace tutti
