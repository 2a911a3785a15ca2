// A plan in the memory of its GPUs: arrays that kernels read, arenas, flags.
#pragma once

#include "runtime/cuda/devices.cuh"
#include "runtime/cuda/resources.cuh"
#include "runtime/cuda/timed_run.hpp"
#include "runtime/plans/plan.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti::runtime {

/// Blocks of a plan that one GPU performs.
struct BlocksOfGpu {
  std::size_t gpu = 0; ///< an index into Devices::distinct
  std::uint32_t first = 0, count = 0;
};

class LoadedPlan {
public:
  /// `beside`: bytes that the caller will need on each GPU, too. Errors: InputError where a GPU has
  /// too little memory for all that its ranks need. Pre: `plan` outlives this.
  LoadedPlan(const Plan& plan, const Devices& devices, std::uint64_t beside);

  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] const Devices& devices() const { return devices_; }
  /// The blocks of each GPU that has some, by GPU, ascending.
  [[nodiscard]] std::span<const BlocksOfGpu> shares() const { return shares_; }
  /// As a kernel for this share (an index into shares()) follows it.
  [[nodiscard]] const RunView& view(std::size_t share) const {
    return on_[shares_[share].gpu].view;
  }
  [[nodiscard]] StartBarrier start_barrier(std::size_t share) const;
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
  /// How many steps of all blocks are over in this run; while it runs, too.
  [[nodiscard]] std::uint64_t steps_over() const;
  /// [block]: where each was when the last run was stopped. Asks no device.
  [[nodiscard]] std::span<const Stopped> stopped() const { return stopped_.values(); }
  /// How many blocks of the share have come to the start barrier.
  [[nodiscard]] std::uint32_t came(std::size_t share) const;
  /// [block of the share]; while it runs, too.
  [[nodiscard]] std::vector<BlockTime> times(std::size_t share) const;
  /// No message that has been sent is due later than this; ns of the GPU's clock, 0 where none has
  /// been. While it runs, too.
  [[nodiscard]] std::uint64_t last_due() const;

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
    DeviceArray<std::uint32_t> came;       ///< one
    DeviceArray<std::uint32_t> ready;      ///< [share]
    DeviceArray<std::uint32_t*> all_ready; ///< [share]: `ready` there
    DeviceArray<BlockTime> times;          ///< [block]
    RunView view;                          ///< pointers to these
  };
  /// How many connections end at a device, and how many start there.
  struct FlagCounts {
    std::size_t arrived = 0, emptied = 0;
  };

  void share_blocks();
  [[nodiscard]] std::vector<FlagCounts> count_flags() const;
  template <typename Visit>
  void visit_arrays(std::size_t device, const FlagCounts& flags, const Visit& visit);
  void check_memory(std::size_t device, const FlagCounts& flags, std::uint64_t beside);
  void load(std::size_t device, const FlagCounts& flags);
  [[nodiscard]] std::vector<ConnectionFlags> connect(std::vector<FlagCounts> flags) const;
  void link_devices(const std::vector<FlagCounts>& flags);
  [[nodiscard]] std::size_t index_of(std::uint32_t rank) const; ///< into on_

  const Plan& plan_;
  const Devices& devices_;
  std::vector<DeviceArray<std::byte>> arenas_; ///< [rank]
  std::vector<OnOne> on_;                      ///< as Devices::distinct
  std::vector<BlocksOfGpu> shares_;
  SharedArray<Stopped> stopped_; ///< [block]
};

} // namespace tutti::runtime
