// The checker of what SCCL and TE-CCL share: sends over lanes, each at a time. Written from the
// definition (Cai et al. 2021, sec. 3.3; Liu et al. 2024, sec. 3.1); it reads a network's lanes and
// abilities, nothing that is derived from them, and shares no code with what makes plans.
#pragma once

#include "synth/timed/lane_network.hpp"
#include "synth/timed/timed_chunk.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti {

/// A chunk enters a lane.
struct TimedSend {
  std::uint32_t time = 0;
  LaneId lane;
  ChunkId chunk;
};

/// What is checked. Chunk c is a part of the chunk c / chunks_per_shard that is asked for.
struct TimedPlan {
  std::span<const Lane> lanes;
  std::vector<bool> stores, copies; ///< [node]
  std::span<const TimedChunk> chunks;
  std::uint32_t chunks_per_shard = 1;
  std::vector<TimedSend> sends;
};

/// The rule that a plan breaks.
enum class PlanRule : std::uint8_t {
  lanes_exist,
  chunks_exist,
  in_order,          ///< sends stand by time, lane, chunk
  none_had_it,       ///< nobody who stores receives what it held from the start
  once,              ///< ... or what arrives there anyway, at `time`
  sender_has_it,     ///< who stores sends what it held at the start or what comes at all
  sender_has_it_yet, ///< ... from when that arrived on, at `time`
  something_arrives, ///< who doesn't store passes on at a time what arrives for that time
  passed_on_once,    ///< ... once for each arrival unless it copies
  demands_met,       ///< each destination has its chunk in the end
};

struct PlanFault {
  PlanRule rule = PlanRule::in_order;
  std::size_t send = 0;                ///< the first one at fault: index
  std::uint64_t time = 0;              ///< the arrival that the rule speaks of
  std::uint32_t node = 0;              ///< the destination, or who passes on too often
  ChunkId chunk{};                     ///< what is wanted, or passed on
  std::size_t passed = 0, arrived = 0; ///< how often that was passed on, and had arrived
};

/// The first rule in the order of PlanRule that is broken; nothing where none is. Cost: O(sends *
/// log(sends) + chunks * nodes).
[[nodiscard]] std::optional<PlanFault> plan_fault(const TimedPlan& plan);

} // namespace tutti
