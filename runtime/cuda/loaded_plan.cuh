// A plan in the memory of its GPUs: arrays that kernels read, arenas, flags.
#pragma once

#include "runtime/cuda/devices.cuh"
#include "runtime/cuda/interpreter.hpp"
#include "runtime/cuda/resources.cuh"
#include "runtime/plan.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::runtime {

class LoadedPlan {
public:
  /// Errors: InputError where a GPU has too little memory. Pre: `plan` outlives this.
  LoadedPlan(const Plan& plan, const Devices& devices);

  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] const Devices& devices() const { return devices_; }
  /// As a kernel on this device (an index into Devices::distinct) follows it.
  [[nodiscard]] RunView view(std::size_t device) const;
  [[nodiscard]] const DeviceArray<std::byte>& arena(std::uint32_t rank) const {
    return arenas_[rank];
  }
  void write_arena(std::uint32_t rank, std::span<const std::byte> bytes, std::uint64_t at) {
    arenas_[rank].write(bytes, at);
  }
  /// Fills all arenas with a byte that no result is made of.
  void poison();
  /// No message sent, no step over; returns when that is so on all devices.
  void reset();
  /// Of all blocks in this run; while it runs, too.
  [[nodiscard]] std::uint64_t steps_over() const;
  /// [block]: where each was when the last run was stopped.
  [[nodiscard]] std::vector<Stopped> stopped() const;

private:
  struct OnOne { ///< device
    DeviceArray<PlannedBlock> blocks;
    DeviceArray<PlannedStep> steps;
    DeviceArray<Connection> connections;
    DeviceArray<std::uint32_t> path_links;
    DeviceArray<EmulatedLink> links;
    DeviceArray<EmulatedGroup> groups;
    DeviceArray<std::uint32_t> link_groups;
    DeviceArray<std::byte*> arenas;        ///< [rank]
    DeviceArray<ConnectionFlags> flags;    ///< [connection]
    DeviceArray<std::uint64_t> arrived;    ///< of connections that end here
    DeviceArray<std::uint32_t> emptied;    ///< of connections that start here
    DeviceArray<std::uint32_t> steps_over; ///< [block]
    DeviceArray<std::uint64_t> link_free;  ///< [link]
    DeviceArray<std::uint64_t> group_free; ///< [group]
    DeviceArray<std::uint64_t> ready_at;   ///< [step]; of emulated links
    DeviceArray<Stopped> stopped;          ///< [block]
  };

  void make_arenas();
  void load_arrays();
  void connect();
  [[nodiscard]] std::size_t index_of(std::uint32_t rank) const; ///< into on_

  const Plan& plan_;
  const Devices& devices_;
  std::vector<DeviceArray<std::byte>> arenas_; ///< [rank]
  std::vector<OnOne> on_;                      ///< as Devices::distinct
};

} // namespace tutti::runtime
