// Limits are kept by a calendar, arrivals per chunk and node, and what passes through a node that
// doesn't store by node, epoch and chunk, counted in and out.
#include "synth/teccl/rounds/ledger.hpp"

#include <algorithm>
#include <array>
#include <cassert>

namespace tutti {

EpochLedger::EpochLedger(const EpochProblem& problem, std::span<const EpochSend> past)
    : problem_(&problem), calendar_(problem.network),
      arrivals_(problem.chunks.size() * problem.network.node_count(), no_epoch) {
  for (std::uint32_t chunk = 0; chunk < problem.chunks.size(); ++chunk)
    for (const std::uint32_t source : problem.chunks[chunk].sources)
      arrival_of(ChunkId{chunk}, NodeId{source}) = Epoch{0};
  for (const EpochSend& send : past) add(send);
}

bool EpochLedger::has_room(LaneId lane, Epoch epoch) {
  if (!calendar_.take({&lane, 1}, epoch)) return false;
  calendar_.give_back({&lane, 1}, epoch);
  return true;
}

void EpochLedger::add(const EpochSend& send) {
  [[maybe_unused]] const bool taken = calendar_.take(std::array{send.lane}, send.epoch);
  assert(taken);
  ++sent_[send];
  const EpochNetwork& network = problem_->network;
  const Lane& lane = network.lane(send.lane);
  const NodeId from{lane.from}, to{lane.to};
  const Epoch there = send.epoch + lane.delay;
  if (!network.stores[lane.from]) ++passing_[{from, send.epoch, send.chunk}].passed;
  if (!network.stores[lane.to]) {
    ++passing_[{to, there, send.chunk}].arrived;
    return;
  }
  assert(arrival_of(send.chunk, to) == no_epoch); // nobody receives twice
  arrival_of(send.chunk, to) = there;
}

void EpochLedger::remove(const EpochSend& send) {
  calendar_.give_back(std::array{send.lane}, send.epoch);
  --sent_[send];
  const EpochNetwork& network = problem_->network;
  const Lane& lane = network.lane(send.lane);
  const NodeId from{lane.from}, to{lane.to};
  if (!network.stores[lane.from]) --passing_[{from, send.epoch, send.chunk}].passed;
  if (!network.stores[lane.to])
    --passing_[{to, send.epoch + lane.delay, send.chunk}].arrived;
  else
    arrival_of(send.chunk, to) = no_epoch;
}

bool EpochLedger::is_sent(const EpochSend& send) const {
  const auto found = sent_.find(send);
  return found != sent_.end() && found->second > 0;
}

bool EpochLedger::can_pass(ChunkId chunk, NodeId node, Epoch epoch) const {
  const auto found = passing_.find({node, epoch, chunk});
  if (found == passing_.end() || found->second.arrived == 0) return false;
  return problem_->network.copies[node.value] || found->second.passed < found->second.arrived;
}

} // namespace tutti
