// Why: Reduce-Scatter as an inverted All-Gather can't keep the order of its sends: an NPU sends to
// many at once, but reduces what comes in one after another (Shah et al. 2023, sec. 5.3). Idea:
// what has to wait for what is a graph, whichever way chunks go, and stages 2 and 3 see nothing
// else. An All-Reduce is one graph of both halves, joined at each sum's root; that they overlap,
// which TACCL's don't, follows by itself.
#include "synth/taccl/sends.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace tutti {

Sends::Sends(const LogicalTopology& logical, const Collective& collective, const TimeModel& model,
             std::optional<Bytes> chunk)
    : logical_(&logical), collective_(&collective),
      latency_is_busy_(model.link_busy == LinkBusy::latency_and_serialization), chunk_(chunk),
      parts_(logical.parts_of) {
  for (std::vector<std::uint32_t>& parts : parts_) {
    std::erase_if(parts, [&](std::uint32_t part) { return part >= logical.network_parts; });
    narrowest_.push_back(
        logical
            .parts[*std::ranges::min_element(
                parts, {},
                [&](std::uint32_t part) { return logical.parts[part].bandwidth.bytes_per_second; })]
            .bandwidth);
  }
}

SendId Sends::add(const Send& send) {
  sends_.push_back(send);
  for (auto* lists : {&before_, &after_, &earlier_, &later_}) lists->emplace_back();
  return size() - 1;
}

void Sends::wait(SendId later, SendId earlier) {
  before_[later].push_back(earlier);
  after_[earlier].push_back(later);
}

std::vector<SendId> Sends::add_tree(ChunkId chunk, std::span<const LinkId> links,
                                    std::span<const SendId> first) {
  std::vector<SendId> made;
  std::map<NodeId, SendId> arrival;
  for (const LinkId link : links) {
    const SendId id = add({chunk, link, Op::copy});
    made.push_back(id);
    const Link& on = logical_->topology.link(link);
    if (const auto found = arrival.find(on.from); found != arrival.end())
      wait(id, found->second);
    else
      for (const SendId other : first) wait(id, other);
    arrival[on.to] = id;
  }
  return made;
}

std::vector<SendId> Sends::add_inverted_tree(ChunkId chunk, std::span<const LinkId> links, Op op) {
  std::map<NodeId, std::vector<SendId>> arrivals;
  for (std::size_t i = links.size(); i-- > 0;) {
    const SendId id = add({chunk, links[i], op});
    const Link& on = logical_->topology.link(links[i]);
    if (const auto found = arrivals.find(on.from); found != arrivals.end())
      for (const SendId other : found->second) wait(id, other);
    arrivals[on.to].push_back(id);
  }
  std::vector<SendId> last;
  for (SendId id = 0; id < size(); ++id)
    if (sends_[id].chunk == chunk && after_[id].empty()) last.push_back(id);
  return last;
}

void Sends::put_own_chunks_first() {
  std::map<LinkId, std::vector<SendId>> own, relayed;
  for (SendId id = 0; id < size(); ++id) {
    if (!logical_->connections[sends_[id].link.value].between_machines) continue;
    (before_[id].empty() ? own : relayed)[sends_[id].link].push_back(id);
  }
  for (const auto& [link, ids] : relayed)
    for (const SendId id : ids)
      for (const SendId first : own[link]) {
        earlier_[id].push_back(first);
        later_[first].push_back(id);
      }
}

Bytes Sends::bytes(SendId id) const {
  return chunk_.value_or(collective_->chunks[sends_[id].chunk.value].size);
}

std::int64_t Sends::flight(LinkId link, Bytes size) const {
  return logical_->topology.link(link).latency.ps + serialization(size, narrowest_[link.value]).ps;
}

std::int64_t Sends::busy(std::uint32_t part, Bytes size) const {
  const NetworkPart& on = logical_->parts[part];
  return (latency_is_busy_ ? on.latency.ps : 0) + serialization(size, on.bandwidth).ps;
}

} // namespace tutti
