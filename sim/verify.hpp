// Is this schedule a correct implementation of this collective? The checker shares no code with any
// algorithm or engine.
#pragma once

#include "sim/collective.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"
#include "sim/watch.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace tutti {

struct Fault {
  /// Position in the schedule (of a compact one: in its `chunks`), or its size where the
  /// postcondition is unmet.
  std::size_t transfer = 0;
  /// e.g. "transfer 12: node npu3 doesn't hold chunk 7"
  std::string text;
};

struct Verdict {
  std::optional<Fault> fault; ///< the first one in list order
  /// Copies that add nothing: allowed in foreign schedules, a defect in our own algorithms.
  std::uint64_t redundant = 0;
  [[nodiscard]] bool correct() const { return !fault; }
};

/// Performs the transfers in list order on sets of contributions, chunk by chunk.
/// State: which contributions each (chunk, node) holds. Transfers marked "together" read the state
/// from before their block. The sender keeps its value if it can copy, otherwise the value moves
/// on, once. A copy sets the receiver's set to the sender's and must not lose contributions; a
/// reduce unites disjoint sets (into an empty node it sets).
/// Chunks that share a send move as the list says, one by one: when they do is no question here.
/// Faults: sending what one doesn't hold, a missing ability, a broken path, a contribution counted
/// twice or lost, an unmet postcondition, an unknown chunk or link; of transfers that share a send,
/// another path, operation or part than the one before, a chunk that the send has already, a block
/// performed together with others, and a name within the send.
/// Cost: O(transfers + paths + chunks * nodes), times contributors / 64 for chunks that reduce.
/// Memory: 4 bytes a transfer plus the state of one chunk.
/// `watch` counts transfers. Errors: Stopped.
[[nodiscard]] Verdict verify(const Topology& topology, const Collective& collective,
                             const Schedule& schedule, const Watch& watch = {});

} // namespace tutti
