// The transfers of many plan instances that come and go, as the cores see them. An instance's
// transfers are numbered in one row as soon as they are simulated, and later instances after
// earlier ones that they can meet, so that ties at queues go by the order in which instances begin,
// then by list position. Numbers come in blocks, each of
// which belongs to one instance, and a window over the blocks in use says to which, so that a
// transfer finds its instance without a search.
#pragma once

#include "sim/error.hpp"
#include "sim/iteration/placed_shapes.hpp"
#include "sim/schedule.hpp"
#include "sim/units.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace tutti {

/// What the transfers of each shape wait for, before anything has happened. `Waiting`: the engine's
/// own Dependencies or Precedence.
template <typename Waiting>
[[nodiscard]] std::vector<Waiting> waiting_of(const PlacedShapes& shapes) {
  std::vector<Waiting> waiting;
  for (const PlanShape& shape : shapes.shapes())
    waiting.emplace_back(shape.path_ends, shape.plan->collective, shape.plan->schedule,
                         Waiting::Parts::apart);
  return waiting;
}

/// One of those who take part in an instance.
struct InstanceMember {
  std::uint32_t slot = 0, member = 0;
};

/// An instance is named by its slot, which is used again when the instance has ended. Memory: that
/// of `Waiting` for each instance that is under way.
template <typename Waiting> class PlanInstances {
public:
  /// `waiting`: of the shapes; `levels`: how many levels of priority there are. Refers to both.
  PlanInstances(const PlacedShapes& shapes, std::span<const Waiting> waiting, std::size_t levels)
      : shapes_(&shapes), waiting_(waiting), levels_(levels), slot_of_block_(64) {}

  /// One more instance, of which nothing happens yet.
  std::uint32_t add(std::uint32_t plan, std::size_t level) {
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
    return slot;
  }
  /// From now on its transfers happen; start_part() lets them enter. Members that are absent send
  /// nothing until start_member(), and what arrives at them waits there. Pre: it wasn't called for
  /// this instance. Errors: InputError where numbers run out (after 4 * 10^9 transfers).
  void prepare(std::uint32_t slot, std::span<const std::uint32_t> absent = {}) {
    number(slot);
    Instance& instance = instances_[slot];
    const PlanShape& shape = *instance.shape;
    instance.waiting = waiting_[(*shapes_)[instance.plan].shape];
    instance.left_of_member = shape.awaited_of;
    instance.is_absent.clear();
    instance.waiting_for.clear();
    if (absent.empty()) return;
    instance.is_absent.resize(shape.transfers_of.size());
    instance.waiting_for.resize(shape.transfers_of.size());
    for (const std::uint32_t member : absent) {
      instance.is_absent[member] = true;
      for (const std::uint32_t route : shape.routes_from[member])
        instance.waiting->hold_connection(route);
    }
  }
  void remove(std::uint32_t slot) {
    Instance& instance = instances_[slot];
    instance.is_numbered = false;
    instance.waiting.reset();
    free_slots_.push_back(slot);
  }

  [[nodiscard]] std::size_t count() const { return instances_.size() - free_slots_.size(); }
  [[nodiscard]] std::uint32_t plan_of_slot(std::uint32_t slot) const {
    return instances_[slot].plan;
  }
  [[nodiscard]] std::uint32_t slot_of(std::uint32_t id) const {
    return slot_of_block_[(id / block) & (slot_of_block_.size() - 1)];
  }

  /// Since clear_news(): who is over, and instances of which everything is delivered.
  [[nodiscard]] std::span<const InstanceMember> members_over() const { return members_over_; }
  [[nodiscard]] std::span<const std::uint32_t> finished() const { return finished_; }
  void clear_news() { members_over_.clear(), finished_.clear(); }
  /// Notes that a member is over in an instance that isn't prepared.
  void tell_over(std::uint32_t slot, std::uint32_t member) {
    members_over_.push_back({slot, member});
  }
  void tell_finished(std::uint32_t slot) { finished_.push_back(slot); }

  // What the cores ask of transfers.

  [[nodiscard]] const PathTable& paths() const { return shapes_->paths(); }
  [[nodiscard]] PathId path_of(std::uint32_t id) const {
    const Instance& instance = of(id);
    return instance.paths[instance.transfers[id - instance.first].route];
  }
  [[nodiscard]] Op op_of(std::uint32_t id) const {
    const Instance& instance = of(id);
    return instance.transfers[id - instance.first].reduces ? Op::reduce : Op::copy;
  }
  [[nodiscard]] Bytes size_of(std::uint32_t id) const {
    const Instance& instance = of(id);
    return instance.sizes[instance.transfers[id - instance.first].size];
  }
  [[nodiscard]] std::size_t level_count() const { return levels_; }
  [[nodiscard]] std::size_t level_of(std::uint32_t id) const {
    return levels_ == 1 ? 0 : of(id).level;
  }

  void delivered(std::uint32_t id, Time) {
    Instance& instance = of(id);
    const PlanShape& shape = *instance.shape;
    const PlanShape::Route& route = shape.routes[shape.transfers[id - instance.first].route];
    const std::uint32_t slot = slot_of(id);
    for (const std::uint32_t member : {route.sender, route.receiver}) {
      if (member == PlanShape::none) continue;
      if (member == route.sender && !shape.awaits_sends[member]) continue;
      if (--instance.left_of_member[member] == 0) members_over_.push_back({slot, member});
    }
    if (instance.waiting->undelivered() == 0) finished_.push_back(slot);
  }

  /// Nothing is there from the start.
  template <typename Sink> void start(Sink&) {}
  template <typename Sink> void start_part(std::size_t slot, Sink& sink) {
    Instance& instance = instances_[slot];
    Shifted<Sink> shifted{sink, instance.first};
    instance.waiting->start_part(0, shifted);
  }

  /// Returns what has arrived at the member, in that order.
  template <typename Sink>
  std::vector<std::uint32_t> start_member(std::size_t slot, std::uint32_t member, Sink& sink) {
    Instance& instance = instances_[slot];
    instance.is_absent[member] = false;
    Shifted<Sink> shifted{sink, instance.first};
    for (const std::uint32_t route : instance.shape->routes_from[member])
      instance.waiting->release_connection(route, shifted);
    return std::exchange(instance.waiting_for[member], {});
  }
  /// Whether what has just arrived waits for its receiver to start.
  [[nodiscard]] bool keeps_waiting(std::uint32_t id, std::int64_t) {
    Instance& instance = of(id);
    if (instance.is_absent.empty()) return false;
    const std::uint32_t member = receiver(instance, id);
    if (member == PlanShape::none || !instance.is_absent[member]) return false;
    instance.waiting_for[member].push_back(id);
    return true;
  }

  template <typename Sink> void left(std::uint32_t id, Sink& sink) {
    Instance& instance = of(id);
    Shifted<Sink> shifted{sink, instance.first};
    instance.waiting->left(id - instance.first, shifted);
  }
  [[nodiscard]] bool watched(std::uint32_t id) const {
    const Instance& instance = of(id);
    return instance.waiting->watched(id - instance.first);
  }
  template <typename Sink> void arrived(std::uint32_t id, Sink& sink) {
    Instance& instance = of(id);
    Shifted<Sink> shifted{sink, instance.first};
    instance.waiting->arrived(id - instance.first, shifted);
  }
  void lose(std::uint32_t id) {
    Instance& instance = of(id);
    instance.waiting->lose(id - instance.first);
  }
  template <typename Sink> void head_in(std::uint32_t id, Sink& sink) {
    Instance& instance = of(id);
    Shifted<Sink> shifted{sink, instance.first};
    instance.waiting->head_in(id - instance.first, shifted);
  }
  template <typename Sink> void tail_in(std::uint32_t id, Sink& sink) {
    Instance& instance = of(id);
    Shifted<Sink> shifted{sink, instance.first};
    instance.waiting->tail_in(id - instance.first, shifted);
  }
  [[nodiscard]] bool may_end(std::uint32_t id) const {
    const Instance& instance = of(id);
    return instance.waiting->may_end(id - instance.first);
  }

private:
  /// Instances are numbered in whole blocks, so that a block belongs to one of them.
  static constexpr std::uint32_t block = 64;

  struct Instance {
    std::uint32_t first = 0; ///< number of its first transfer
    std::uint32_t plan = 0, level = 0;
    bool is_numbered = false;
    const PlanShape* shape = nullptr;
    const PlanShape::Movement* transfers = nullptr; ///< of the shape
    const Bytes* sizes = nullptr;                   ///< of the shape
    const PathId* paths = nullptr;                  ///< per route, of the placed shape
    std::optional<Waiting> waiting;                 ///< once it is prepared
    std::vector<std::uint32_t> left_of_member;      ///< transfers that it awaits
    // Per member; empty where all were there from the start.
    std::vector<bool> is_absent;
    std::vector<std::vector<std::uint32_t>> waiting_for; ///< transfers that have arrived there
  };

  /// `Waiting` counts from 0 in each instance.
  template <typename Sink> struct Shifted {
    Sink& sink;
    std::uint32_t first;
    void enter(std::uint32_t i) { sink.enter(first + i); }
    void delivered(std::uint32_t i) { sink.delivered(first + i); }
    void tail_passed(std::uint32_t i) { sink.tail_passed(first + i); }
  };

  /// A member, or PlanShape::none.
  [[nodiscard]] static std::uint32_t receiver(const Instance& instance, std::uint32_t id) {
    return instance.shape->routes[instance.transfers[id - instance.first].route].receiver;
  }
  [[nodiscard]] Instance& of(std::uint32_t id) { return instances_[slot_of(id)]; }
  [[nodiscard]] const Instance& of(std::uint32_t id) const { return instances_[slot_of(id)]; }
  [[nodiscard]] std::uint64_t blocks_of(const Instance& instance) const {
    return (instance.shape->transfers.size() + block - 1) / block;
  }
  void number(std::uint32_t slot) {
    Instance& instance = instances_[slot];
    const std::uint64_t blocks = blocks_of(instance);
    if ((next_block_ + blocks) * block > UINT32_MAX)
      throw InputError("a run simulates more transfers than an engine can number (4 * 10^9)");
    make_room(blocks);
    instance.is_numbered = true;
    instance.first = static_cast<std::uint32_t>(next_block_ * block);
    next_block_ += blocks;
    note_blocks(slot);
  }
  void note_blocks(std::uint32_t slot) {
    const Instance& instance = instances_[slot];
    const std::uint64_t first = instance.first / block;
    for (std::uint64_t b = first; b < first + blocks_of(instance); ++b)
      slot_of_block_[b & (slot_of_block_.size() - 1)] = slot;
  }
  void make_room(std::uint64_t blocks) {
    if (next_block_ + blocks - oldest_block_ <= slot_of_block_.size()) return;
    oldest_block_ = next_block_;
    for (const Instance& instance : instances_)
      if (instance.is_numbered)
        oldest_block_ = std::min<std::uint64_t>(oldest_block_, instance.first / block);
    std::size_t length = slot_of_block_.size();
    while (length < 2 * (next_block_ + blocks - oldest_block_)) length *= 2; // not soon again
    if (length == slot_of_block_.size()) return;
    slot_of_block_.assign(length, 0);
    for (std::uint32_t slot = 0; slot < instances_.size(); ++slot)
      if (instances_[slot].is_numbered) note_blocks(slot);
  }

  const PlacedShapes* shapes_;
  std::span<const Waiting> waiting_; // per shape
  std::size_t levels_;
  std::vector<Instance> instances_; // by slot
  std::vector<std::uint32_t> free_slots_;
  // A window over the blocks in use: block b is at b modulo its length, a power of two.
  std::vector<std::uint32_t> slot_of_block_;
  std::uint64_t oldest_block_ = 0, next_block_ = 0;
  std::vector<InstanceMember> members_over_;
  std::vector<std::uint32_t> finished_;
};

} // namespace tutti
