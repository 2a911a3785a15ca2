// A flow is decomposed from its destinations back: from a node the path goes to where the largest
// of what came last came from, so that nothing earlier is lost to those who ask later. Cycles on
// the way are taken out of the flow; amounts that end nowhere are a solver's noise and dropped.
#include "synth/teccl/flows/paths.hpp"

#include <algorithm>
#include <tuple>

namespace tutti {

FlowTracer::FlowTracer(const EpochNetwork& network, NodeId source,
                       std::span<const TimedAmount> amounts)
    : network_(network), source_(source) {
  for (const TimedAmount& sent : amounts) {
    const Lane& lane = network.lanes[sent.lane.value];
    entries_.push_back({NodeId{lane.to}, sent.epoch + lane.delay, sent});
  }
  std::ranges::sort(entries_, {}, [](const Entry& entry) {
    return std::tuple(entry.to, entry.arrival, entry.sent.lane, entry.sent.epoch);
  });
}

/// The largest of what came last; of equal ones the first.
std::optional<std::size_t> FlowTracer::supply(NodeId node, Epoch epoch) const {
  const auto place = [](const Entry& entry) { return std::pair(entry.to, entry.arrival); };
  const auto end = std::ranges::upper_bound(entries_, std::pair(node, epoch), {}, place);
  std::optional<std::size_t> best;
  for (auto i = static_cast<std::size_t>(end - entries_.begin()); i-- > 0;) {
    const Entry& entry = entries_[i];
    if (entry.to != node || (best && entry.arrival < entries_[*best].arrival)) break;
    if (!network_.stores[node.value] && entry.arrival < epoch) break;
    if (entry.sent.amount < least_flow) continue;
    if (!best || entry.sent.amount >= entries_[*best].sent.amount) best = i;
  }
  return best;
}

double FlowTracer::least(std::span<const Visit> visits) const {
  double amount = entries_[visits.front().entry].sent.amount;
  for (const Visit& visit : visits) amount = std::min(amount, entries_[visit.entry].sent.amount);
  return amount;
}

void FlowTracer::take_out(std::span<const Visit> visits, double amount) {
  for (const Visit& visit : visits) entries_[visit.entry].sent.amount -= amount;
}

/// What leaves a node that stores and returns could have stayed.
void FlowTracer::cancel_cycle(std::vector<Visit>& back, NodeId node, Epoch epoch) {
  const auto again = std::ranges::find_if(back, [&](const Visit& visit) {
    return visit.node == node && (network_.stores[node.value] || visit.epoch == epoch);
  });
  if (again == back.end()) return;
  const auto begin = static_cast<std::size_t>(again - back.begin());
  const auto cycle = std::span(back).subspan(begin);
  take_out(cycle, least(cycle));
  back.resize(begin);
}

std::optional<TimedPath> FlowTracer::take(NodeId destination, Epoch epoch, double most) {
  std::vector<Visit> back;
  while (true) {
    const NodeId node =
        back.empty() ? destination
                     : NodeId{network_.lanes[entries_[back.back().entry].sent.lane.value].from};
    if (node == source_) break;
    Epoch by = back.empty() ? epoch : entries_[back.back().entry].sent.epoch;
    const std::size_t visits = back.size();
    cancel_cycle(back, node, by);
    if (back.size() < visits) continue;
    const std::optional<std::size_t> from = supply(node, by);
    if (from) {
      back.push_back({node, by, *from});
    } else if (back.empty()) {
      return std::nullopt;
    } else { // noise: what should have come there was too little
      entries_[back.back().entry].sent.amount = 0;
      back.pop_back();
    }
  }
  TimedPath path;
  path.amount = std::min(most, least(back));
  take_out(back, path.amount);
  for (auto visit = back.rbegin(); visit != back.rend(); ++visit)
    path.steps.push_back({entries_[visit->entry].sent.epoch, entries_[visit->entry].sent.lane});
  return path;
}

} // namespace tutti
