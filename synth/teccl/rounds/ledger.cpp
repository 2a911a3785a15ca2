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
  const EpochNetwork& network = problem.network;
  for (std::size_t chunk = 0; chunk < problem.chunks.size(); ++chunk)
    for (const std::uint32_t source : problem.chunks[chunk].sources)
      arrivals_[chunk * network.node_count() + source] = Epoch{0};
  for (const EpochSend& send : past) add(send);
}

bool EpochLedger::has_room(LaneId lane, Epoch epoch) {
  if (!calendar_.take({&lane, 1}, epoch)) return false;
  calendar_.give_back({&lane, 1}, epoch);
  return true;
}

void EpochLedger::add(const EpochSend& send) {
  [[maybe_unused]] const bool taken =
      calendar_.take(std::array{LaneId{send.lane}}, Epoch{send.epoch});
  assert(taken);
  ++sent_[send];
  const EpochNetwork& network = problem_->network;
  const Lane& lane = network.lanes[send.lane];
  const std::uint32_t arrival = send.epoch + lane.delay;
  if (!network.stores[lane.from]) ++passing_[{lane.from, send.epoch, send.chunk}].passed;
  if (!network.stores[lane.to]) {
    ++passing_[{lane.to, arrival, send.chunk}].arrived;
    return;
  }
  Epoch& known = arrivals_[std::size_t{send.chunk} * network.node_count() + lane.to];
  assert(known == no_epoch); // nobody receives twice
  known = Epoch{arrival};
}

void EpochLedger::remove(const EpochSend& send) {
  calendar_.give_back(std::array{LaneId{send.lane}}, Epoch{send.epoch});
  --sent_[send];
  const EpochNetwork& network = problem_->network;
  const Lane& lane = network.lanes[send.lane];
  if (!network.stores[lane.from]) --passing_[{lane.from, send.epoch, send.chunk}].passed;
  if (!network.stores[lane.to])
    --passing_[{lane.to, send.epoch + lane.delay, send.chunk}].arrived;
  else
    arrivals_[std::size_t{send.chunk} * network.node_count() + lane.to] = no_epoch;
}

bool EpochLedger::is_sent(const EpochSend& send) const {
  const auto found = sent_.find(send);
  return found != sent_.end() && found->second > 0;
}

bool EpochLedger::can_pass(ChunkId chunk, NodeId node, Epoch epoch) const {
  const auto found = passing_.find({node.value, epoch.value, chunk.value});
  if (found == passing_.end() || found->second.arrived == 0) return false;
  return problem_->network.copies[node.value] || found->second.passed < found->second.arrived;
}

} // namespace tutti
