// A plan and the state of one run of it, by addresses that its blocks can follow.
#pragma once

#include "runtime/hung_run.hpp"
#include "runtime/plans/plan.hpp"

#include <cstddef>
#include <cstdint>

namespace tutti::runtime {

/// What a connection's two ends tell each other; 0 before a run.
struct ConnectionFlags {
  /// [message], and one more, near the receiver: 0, or 1 + when it started on its first link (ns).
  std::uint64_t* arrived = nullptr;
  std::uint32_t* emptied = nullptr; ///< near the sender: slots that were emptied so far
};

struct RunView {
  bool crosses_devices = false; ///< some connection does
  const PlannedBlock* blocks = nullptr;
  const PlannedStep* steps = nullptr;
  const Connection* connections = nullptr;
  const std::uint32_t* path_links = nullptr;
  const EmulatedLink* links = nullptr; ///< null: copies aren't throttled
  const EmulatedGroup* groups = nullptr;
  const std::uint32_t* link_groups = nullptr;
  std::byte* const* arenas = nullptr;     ///< [rank]
  const ConnectionFlags* flags = nullptr; ///< [connection]
  std::uint32_t* steps_over = nullptr;    ///< [block]
  std::uint64_t* link_free = nullptr;     ///< [link]: ns
  std::uint64_t* group_free = nullptr;    ///< [group]: ns
  std::uint64_t* ready_at = nullptr;      ///< [step]: ns, of emulated links; before steps_over
  Stopped* stopped = nullptr;             ///< [block]
};

} // namespace tutti::runtime
