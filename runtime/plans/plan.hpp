// A program made ready for execution: plain arrays that a CPU thread and a CUDA kernel interpret
// alike. Data is pushed: the sender writes where the receiver wants it, then raises a flag.
//
// Every message has a landing at its receiver: directly in the target where nothing at the receiver
// reads or writes that place before (so that a push can't come too early), else one of the
// connection's slots, which the receiver empties in order. Before the sender writes the k-th
// message that takes a slot, the receiver has emptied the (k - slots)-th.
#pragma once

#include "runtime/data.hpp"
#include "runtime/program.hpp"
#include "sim/topology.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::runtime {

inline constexpr std::uint32_t nobody = UINT32_MAX;

/// One step of a block, 64 bytes. Addresses are bytes into the rank's arena: its input, output,
/// scratch and slots in one allocation.
struct PlannedStep {
  std::uint64_t source = 0, target = 0; ///< in the own arena
  std::uint64_t landing = 0;            ///< where what is sent goes in the receiver's arena
  std::uint64_t got = 0;                ///< where what is received lies in the own arena
  std::uint64_t bytes = 0;
  StepKind kind = StepKind::wait;
  bool got_in_place = false; ///< what is received lands in the target: nothing is copied
  bool takes_slot = false;   ///< what is sent waits for a slot of the connection
  bool frees_slot = false;   ///< what is received took a slot
  std::uint32_t after_block = nobody, after_step = 0; ///< as Step::after
  std::uint32_t unused = 0;
  std::uint32_t slot_messages = 0; ///< to send: messages of the connection in slots before this
};
static_assert(sizeof(PlannedStep) == 64);

/// One thread block. Its connections are indices into Plan::connections; nobody where it has none.
struct PlannedBlock {
  std::uint32_t rank = 0;
  std::uint32_t first_step = 0, steps = 0; ///< into Plan::steps
  std::uint32_t first_block = 0;           ///< its rank's first, into Plan::blocks
  std::uint32_t sends = nobody, receives = nobody;
};

struct Connection {
  std::uint32_t from = 0, to = 0, channel = 0;
  std::uint32_t messages = 0; ///< in one run of the program
  std::uint32_t slots = 0;
  std::uint32_t slot_messages = 0; ///< those with takes_slot, in one run
  /// Links that it crosses, for emulation: into Plan::path_links.
  std::uint32_t first_link = 0, links = 0;
};

/// A link that copies are throttled to: n bytes take it n * seconds_per_byte, and are there a
/// latency later.
struct EmulatedLink {
  double latency_seconds = 0, seconds_per_byte = 0; ///< the least bandwidth of it and its groups
  bool stores = true; ///< its end has all of a message before it passes it on; else cut-through
  std::uint32_t first_group = 0, groups = 0; ///< into Plan::link_groups
};

/// Links that share a bandwidth: n bytes over any of them take it n * seconds_per_byte.
struct EmulatedGroup {
  double seconds_per_byte = 0;
};

struct Arena {
  std::uint64_t input = 0, output = 0, scratch = 0, slots = 0, size = 0; ///< byte offsets; all
};

struct Plan {
  std::vector<Arena> arenas;        ///< [rank]
  std::vector<PlannedBlock> blocks; ///< by rank
  std::vector<PlannedStep> steps;
  std::vector<Connection> connections;
  std::vector<std::uint32_t> path_links;  ///< into links
  std::vector<EmulatedLink> links;        ///< [LinkId]; empty: copies aren't throttled
  std::vector<EmulatedGroup> groups;      ///< as the network's
  std::vector<std::uint32_t> link_groups; ///< into groups
  std::size_t unit_bytes = 0;
};

struct PlanOptions {
  std::uint32_t slots = 4; ///< of a connection, >= 1
  /// Each message of a connection waits until the one before has been received, wherever it lands:
  /// all of them take the one slot (for the profiler).
  bool one_by_one = false;
  /// Throttles every connection to the path that it takes in this network: the program's, else its
  /// link, else the shortest path (as schedule_of() chooses it).
  const Topology* emulated = nullptr;
};

/// Bytes of a unit for a collective of `size` bytes. Errors: InputError where the size isn't a
/// multiple of units times the element (names the next that is).
[[nodiscard]] std::size_t unit_bytes_for(const Program& program, Bytes size, ElementType type);

/// Pre: the program passes verify_program (one that would hang is planned as well, for the watchdog
/// to tell). Units start at multiples of 16 bytes where unit_bytes does.
/// Errors: InputError for slots == 0, for an emulated network of fewer NPUs than the program has
/// ranks, or where it has no path between two that talk.
/// Cost: O(units that steps touch).
[[nodiscard]] Plan make_plan(const Program& program, std::size_t unit_bytes,
                             const PlanOptions& options = {});

/// The plan without emulated links, which needs neither a collective nor a network. Errors:
/// InputError for slots == 0.
[[nodiscard]] Plan plan_program(const Program& program, std::size_t unit_bytes,
                                const PlanOptions& options);

} // namespace tutti::runtime
