// TACOS's greedy link-chunk matching over time (TACOS sec. IV.D-F), for chunks that every
// participating NPU wants.
#pragma once

#include "sim/ids.hpp"
#include "sim/schedule.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"
#include "sim/work_limit.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti {

struct MatchingProblem {
  const Topology& topology;
  std::vector<NodeId> holders;      ///< holders[chunk]: who has it at the start
  std::vector<NodeId> participants; ///< NPUs that all want every chunk; connected by direct links
  Bytes chunk_size;                 ///< the largest; decides when things happen
  LinkBusy link_busy = LinkBusy::serialization;
  std::uint64_t seed = 0;       ///< order of equally fast links: by id for 0, else shuffled
  std::uint32_t candidates = 8; ///< chunks that a link chooses among
  const WorkLimit& limit;
};

struct Matches {
  Schedule schedule;
  Time makespan; ///< the last arrival, all chunks taken as `chunk_size`
};

/// Copies over single links, in order of their start. Each NPU receives each chunk once, and only
/// from an NPU that holds it when the transfer starts.
/// Pre: every participant can be reached from every holder through participants.
/// Cost: O(links * chunks * (candidates * in-degree + log events)), more where slow links are often
/// asked in vain. Memory: 2 bits and 4 bytes per
/// (chunk, NPU).
/// Nothing where the limit is reached first.
[[nodiscard]] std::optional<Matches> match_links_and_chunks(const MatchingProblem& problem);

} // namespace tutti
