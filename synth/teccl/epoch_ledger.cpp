#include "synth/teccl/epoch_ledger.hpp"

#include <algorithm>
#include <cassert>

namespace tutti {

EpochLedger::EpochLedger(const EpochProblem& problem, std::span<const EpochSend> past)
    : problem_(&problem), needs_(problem.network.lanes.size()),
      used_(problem.network.limits.size()),
      arrivals_(problem.chunks.size() * problem.network.node_count, out_of_epochs) {
  const EpochNetwork& network = problem.network;
  for (std::uint32_t limit = 0; limit < network.limits.size(); ++limit)
    for (const LaneUse& use : network.limits[limit].uses)
      needs_[use.lane].push_back({limit, use.offset});
  for (std::size_t chunk = 0; chunk < problem.chunks.size(); ++chunk)
    for (const std::uint32_t holder : problem.chunks[chunk].holders)
      arrivals_[chunk * network.node_count + holder] = 0;
  for (const EpochSend& send : past) add(send);
}

bool EpochLedger::has_room(std::uint32_t lane, std::uint32_t epoch) const {
  const std::vector<Need>& needs = needs_[lane];
  for (const Need& need : needs) {
    const EpochLimit& limit = problem_->network.limits[need.limit];
    const std::vector<std::uint32_t>& used = used_[need.limit];
    const std::uint32_t at = epoch + need.offset;
    for (std::uint32_t end = at; end < at + limit.window; ++end) {
      // A way that crosses a group twice needs it twice within some windows.
      std::uint32_t sum = end < used.size() ? used[end] : 0;
      for (const Need& other : needs)
        if (other.limit == need.limit && end - (epoch + other.offset) < limit.window) ++sum;
      if (sum > limit.most) return false;
    }
  }
  return true;
}

void EpochLedger::count(const EpochSend& send, int change) {
  for (const Need& need : needs_[send.lane]) {
    const std::uint32_t at = send.epoch + need.offset;
    const std::uint32_t end = at + problem_->network.limits[need.limit].window;
    std::vector<std::uint32_t>& used = used_[need.limit];
    if (used.size() < end) used.resize(end);
    for (std::uint32_t e = at; e < end; ++e) used[e] += static_cast<std::uint32_t>(change);
  }
}

void EpochLedger::add(const EpochSend& send) {
  count(send, 1);
  ++sent_[send];
  const EpochNetwork& network = problem_->network;
  const EpochLane& lane = network.lanes[send.lane];
  const std::uint32_t arrival = send.epoch + lane.delay;
  if (!network.stores[lane.from]) ++passing_[{lane.from, send.epoch, send.chunk}].passed;
  if (!network.stores[lane.to]) {
    ++passing_[{lane.to, arrival, send.chunk}].arrived;
    return;
  }
  std::uint32_t& known = arrivals_[std::size_t{send.chunk} * network.node_count + lane.to];
  assert(known == out_of_epochs); // nobody receives twice
  known = arrival;
}

void EpochLedger::remove(const EpochSend& send) {
  count(send, -1);
  --sent_[send];
  const EpochNetwork& network = problem_->network;
  const EpochLane& lane = network.lanes[send.lane];
  if (!network.stores[lane.from]) --passing_[{lane.from, send.epoch, send.chunk}].passed;
  if (!network.stores[lane.to])
    --passing_[{lane.to, send.epoch + lane.delay, send.chunk}].arrived;
  else
    arrivals_[std::size_t{send.chunk} * network.node_count + lane.to] = out_of_epochs;
}

bool EpochLedger::is_sent(const EpochSend& send) const {
  const auto found = sent_.find(send);
  return found != sent_.end() && found->second > 0;
}

bool EpochLedger::can_pass(std::uint32_t chunk, std::uint32_t node, std::uint32_t epoch) const {
  const auto found = passing_.find({node, epoch, chunk});
  if (found == passing_.end() || found->second.arrived == 0) return false;
  return problem_->network.copies[node] || found->second.passed < found->second.arrived;
}

} // namespace tutti
