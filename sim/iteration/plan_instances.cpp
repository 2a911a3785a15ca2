// Transfers are numbered in blocks, each of which belongs to one instance, and a window over the
// blocks in use says to which, so that a transfer finds its instance without a search.
#include "sim/iteration/plan_instances.hpp"

#include "sim/error.hpp"

#include <algorithm>

namespace tutti {

std::uint32_t PlanInstances::add(std::uint32_t plan, std::size_t level) {
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<std::uint32_t>(instances_.size()));
    instances_.emplace_back();
  }
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  Instance& instance = instances_[slot];
  instance.plan = plan;
  instance.level = static_cast<std::uint32_t>(level);
  instance.shape = &shapes_->shape_of(plan);
  instance.transfers = instance.shape->transfers.data();
  instance.sizes = instance.shape->sizes.data();
  instance.paths = (*shapes_)[plan].paths.data();
  const std::uint64_t blocks = blocks_of(instance);
  if ((next_block_ + blocks) * block > UINT32_MAX)
    throw InputError("a run has more transfers than an engine can number (4 * 10^9)");
  make_room(blocks);
  instance.is_there = true;
  instance.first = static_cast<std::uint32_t>(next_block_ * block);
  next_block_ += blocks;
  note_blocks(slot);
  return slot;
}

void PlanInstances::prepare(std::uint32_t slot, std::span<const std::uint32_t> absent) {
  Instance& instance = instances_[slot];
  const PlanShape& shape = *instance.shape;
  instance.dependencies = shape.before;
  instance.left_of_member = shape.awaited_of;
  instance.is_absent.clear();
  instance.waiting_for.clear();
  if (absent.empty()) return;
  instance.is_absent.resize(shape.transfers_of.size());
  instance.waiting_for.resize(shape.transfers_of.size());
  for (const std::uint32_t member : absent) {
    instance.is_absent[member] = true;
    for (const std::uint32_t route : shape.routes_from[member])
      instance.dependencies->hold_connection(route);
  }
}

void PlanInstances::remove(std::uint32_t slot) {
  Instance& instance = instances_[slot];
  instance.is_there = false;
  instance.dependencies.reset();
  free_slots_.push_back(slot);
}

std::uint64_t PlanInstances::blocks_of(const Instance& instance) const {
  return (instance.shape->transfers.size() + block - 1) / block;
}

void PlanInstances::note_blocks(std::uint32_t slot) {
  const Instance& instance = instances_[slot];
  const std::uint64_t first = instance.first / block;
  for (std::uint64_t b = first; b < first + blocks_of(instance); ++b)
    slot_of_block_[b & (slot_of_block_.size() - 1)] = slot;
}

void PlanInstances::make_room(std::uint64_t blocks) {
  if (next_block_ + blocks - oldest_block_ <= slot_of_block_.size()) return;
  oldest_block_ = next_block_;
  for (const Instance& instance : instances_)
    if (instance.is_there)
      oldest_block_ = std::min<std::uint64_t>(oldest_block_, instance.first / block);
  std::size_t length = slot_of_block_.size();
  while (length < 2 * (next_block_ + blocks - oldest_block_)) length *= 2; // not soon again
  if (length == slot_of_block_.size()) return;
  slot_of_block_.assign(length, 0);
  for (std::uint32_t slot = 0; slot < instances_.size(); ++slot)
    if (instances_[slot].is_there) note_blocks(slot);
}

} // namespace tutti
