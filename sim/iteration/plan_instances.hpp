// The transfers of many plan instances that come and go, as the cores see them. An instance's
// transfers are numbered in one row, and later instances after earlier ones, so that ties at queues
// go by the order in which instances begin, then by list position.
#pragma once

#include "sim/engines/dependencies.hpp"
#include "sim/iteration/placed_shapes.hpp"
#include "sim/schedule.hpp"
#include "sim/units.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace tutti {

/// An instance is named by its slot, which is used again when the instance has ended. Memory: 16
/// bytes for each transfer of the instances that are under way.
class PlanInstances {
public:
  /// A member of an instance for whom it is over.
  struct MemberOver {
    std::uint32_t slot = 0, member = 0;
  };

  /// `levels`: how many levels of priority there are.
  PlanInstances(const PlacedShapes& shapes, std::size_t levels)
      : shapes_(&shapes), levels_(levels), slot_of_block_(64) {}

  /// Numbers the transfers of one more instance; they don't enter yet.
  /// Errors: InputError where numbers run out (after 4 * 10^9 transfers).
  std::uint32_t add(std::uint32_t plan, std::size_t level);
  /// From now on its transfers happen; start_part() lets them enter. Members that are absent send
  /// nothing until start_member(), and what arrives at them waits there.
  void prepare(std::uint32_t slot, std::span<const std::uint32_t> absent = {});
  void remove(std::uint32_t slot);

  [[nodiscard]] std::size_t count() const { return instances_.size() - free_slots_.size(); }
  [[nodiscard]] std::uint32_t plan_of_slot(std::uint32_t slot) const {
    return instances_[slot].plan;
  }
  [[nodiscard]] std::uint32_t slot_of(std::uint32_t id) const {
    return slot_of_block_[(id / block) & (slot_of_block_.size() - 1)];
  }

  /// Since clear_news(): who is over, and instances of which everything is delivered.
  [[nodiscard]] std::span<const MemberOver> members_over() const { return members_over_; }
  [[nodiscard]] std::span<const std::uint32_t> finished() const { return finished_; }
  void clear_news() { members_over_.clear(), finished_.clear(); }
  /// Of an instance that isn't prepared.
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
    if (instance.dependencies->undelivered() == 0) finished_.push_back(slot);
  }

  /// Nothing is there from the start.
  template <typename Sink> void start(Sink&) {}
  template <typename Sink> void start_part(std::size_t slot, Sink& sink) {
    Instance& instance = instances_[slot];
    Shifted<Sink> shifted{sink, instance.first};
    instance.dependencies->start_part(0, shifted);
  }

  /// Returns what has arrived at the member, in that order.
  template <typename Sink>
  std::vector<std::uint32_t> start_member(std::size_t slot, std::uint32_t member, Sink& sink) {
    Instance& instance = instances_[slot];
    instance.is_absent[member] = false;
    Shifted<Sink> shifted{sink, instance.first};
    for (const std::uint32_t route : instance.shape->routes_from[member])
      instance.dependencies->release_connection(route, shifted);
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
    instance.dependencies->left(id - instance.first, shifted);
  }
  [[nodiscard]] bool watched(std::uint32_t id) const {
    const Instance& instance = of(id);
    return instance.dependencies->watched(id - instance.first);
  }
  template <typename Sink> void arrived(std::uint32_t id, Sink& sink) {
    Instance& instance = of(id);
    Shifted<Sink> shifted{sink, instance.first};
    instance.dependencies->arrived(id - instance.first, shifted);
  }
  void lose(std::uint32_t id) {
    Instance& instance = of(id);
    instance.dependencies->lose(id - instance.first);
  }
  template <typename Sink> void head_in(std::uint32_t id, Sink& sink) {
    Instance& instance = of(id);
    Shifted<Sink> shifted{sink, instance.first};
    instance.dependencies->head_in(id - instance.first, shifted);
  }
  template <typename Sink> void tail_in(std::uint32_t id, Sink& sink) {
    Instance& instance = of(id);
    Shifted<Sink> shifted{sink, instance.first};
    instance.dependencies->tail_in(id - instance.first, shifted);
  }
  [[nodiscard]] bool may_end(std::uint32_t id) const {
    const Instance& instance = of(id);
    return instance.dependencies->may_end(id - instance.first);
  }

private:
  /// Instances are numbered in whole blocks, so that a block belongs to one of them.
  static constexpr std::uint32_t block = 64;

  struct Instance {
    std::uint32_t first = 0; ///< number of its first transfer
    std::uint32_t plan = 0, level = 0;
    bool is_there = false;
    const PlanShape* shape = nullptr;
    const PlanShape::Movement* transfers = nullptr; ///< of the shape
    const Bytes* sizes = nullptr;                   ///< of the shape
    const PathId* paths = nullptr;                  ///< per route, of the placed shape
    std::optional<Dependencies> dependencies;       ///< once it is prepared
    std::vector<std::uint32_t> left_of_member;      ///< transfers that it awaits
    // Per member; empty where all were there from the start.
    std::vector<bool> is_absent;
    std::vector<std::vector<std::uint32_t>> waiting_for; ///< transfers that have arrived there
  };

  /// Dependencies count from 0 in each instance.
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
  [[nodiscard]] std::uint64_t blocks_of(const Instance& instance) const;
  void note_blocks(std::uint32_t slot);
  void make_room(std::uint64_t blocks);

  const PlacedShapes* shapes_;
  std::size_t levels_;
  std::vector<Instance> instances_; // by slot
  std::vector<std::uint32_t> free_slots_;
  // A window over the blocks in use: block b is at b modulo its length, a power of two.
  std::vector<std::uint32_t> slot_of_block_;
  std::uint64_t oldest_block_ = 0, next_block_ = 0;
  std::vector<MemberOver> members_over_;
  std::vector<std::uint32_t> finished_;
};

} // namespace tutti
