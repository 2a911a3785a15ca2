// The native engine on a compact schedule: what a link sends next is the next entry of its own
// list, and it may go when its node holds the chunk. Memory beside the schedule: one bit per
// (chunk, node) and what is in flight; nothing per transfer.

#include "sim/engines/engine.hpp"
#include "sim/engines/event_queue.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace tutti {

namespace {

class CompactRun {
public:
  CompactRun(const Topology& topology, const Collective& collective,
             const CompactSchedule& schedule, const TimeModel& model)
      : topology_(topology), collective_(collective), schedule_(schedule),
        latency_occupies_(model.link_busy == LinkBusy::latency_and_serialization),
        links_(topology.link_count()), held_(collective.chunks.size() * topology.node_count()) {
    report_.engine = "native";
    report_.model = model;
    report_.links.resize(topology.link_count());
    report_.chunk_done.resize(collective.chunks.size());
    for (std::uint32_t c = 0; c < collective.chunks.size(); ++c)
      for (const NodeId holder : collective.held_by(ChunkId{c}))
        held_[bit(ChunkId{c}, holder)] = true;
    for (std::uint32_t l = 0; l < links_.size(); ++l)
      links_[l].next = links_[l].landed = schedule.begin[l];
  }

  Report run() {
    for (std::uint32_t l = 0; l < links_.size(); ++l)
      if (can_send(LinkId{l})) start(LinkId{l}, 0);
    while (events_.next_time() != EventQueue::never) {
      const Event event = events_.pop();
      const LinkId id{event.subject};
      if (event.kind == arrival) {
        arrive(id, event.at);
      } else {
        links_[id.value].awaited = false;
        start(id, event.at);
      }
    }
    for (std::uint32_t l = 0; l < links_.size(); ++l)
      if (links_[l].next < schedule_.begin[l + 1])
        throw InputError(fmt::format("chunk {} never reaches {}, which has to send it to {}",
                                     schedule_.chunks[links_[l].next].value,
                                     topology_.node(topology_.link(LinkId{l}).from).name,
                                     topology_.node(topology_.link(LinkId{l}).to).name));
    return std::move(report_);
  }

private:
  enum Kind : std::uint32_t { arrival, link_free };

  struct LinkState {
    std::size_t next = 0, landed = 0; // positions in the schedule: to send, to arrive
    std::int64_t free_at = 0;
    Bytes last_size;
    std::int64_t last_duration = 0;
    bool awaited = false;
  };

  [[nodiscard]] std::size_t bit(ChunkId chunk, NodeId node) const {
    return std::size_t{chunk.value} * topology_.node_count() + node.value;
  }

  [[nodiscard]] bool can_send(LinkId id) const {
    const std::size_t next = links_[id.value].next;
    return next < schedule_.begin[id.value + 1] &&
           held_[bit(schedule_.chunks[next], topology_.link(id).from)];
  }

  void start(LinkId id, std::int64_t now) {
    LinkState& state = links_[id.value];
    const Link& link = topology_.link(id);
    const Bytes size = collective_.chunks[schedule_.chunks[state.next++].value].size;
    if (size != state.last_size) {
      state.last_size = size;
      state.last_duration = serialization(size, link.bandwidth).ps;
    }
    const std::int64_t sent = now + state.last_duration;
    require_representable(sent, link.latency);
    state.free_at = sent + (latency_occupies_ ? link.latency.ps : 0);
    LinkUse& use = report_.links[id.value];
    use.bytes += size;
    use.busy += Time{state.free_at - now};
    ++use.transfers;
    ++report_.link_transfers;
    events_.push(now, {sent + link.latency.ps, id.value, arrival});
    if (can_send(id)) await(id, now);
  }

  void await(LinkId id, std::int64_t now) {
    links_[id.value].awaited = true;
    events_.push(now, {links_[id.value].free_at, id.value, link_free});
  }

  void arrive(LinkId id, std::int64_t now) {
    const ChunkId chunk = schedule_.chunks[links_[id.value].landed++];
    const NodeId node = topology_.link(id).to;
    held_[bit(chunk, node)] = true;
    report_.chunk_done[chunk.value] = std::max(report_.chunk_done[chunk.value], Time{now});
    report_.completion = std::max(report_.completion, Time{now});
    for (const LinkId out : topology_.out_links(node)) {
      const LinkState& state = links_[out.value];
      if (state.awaited || state.next == schedule_.begin[out.value + 1] ||
          schedule_.chunks[state.next] != chunk)
        continue;
      if (state.free_at <= now)
        start(out, now);
      else
        await(out, now);
    }
  }

  const Topology& topology_;
  const Collective& collective_;
  const CompactSchedule& schedule_;
  bool latency_occupies_;
  Report report_;
  std::vector<LinkState> links_;
  std::vector<bool> held_; // by chunk, then node
  EventQueue events_;
};

/// Whether order across links decides nothing: no link shares bandwidth, and every node stores what
/// it sends on.
bool links_are_independent(const Topology& topology) {
  return topology.groups().empty() &&
         std::ranges::all_of(topology.nodes(), [](const Node& node) { return node.can.store; });
}

} // namespace

Report run_native_compact(const Topology& topology, const Collective& collective,
                          const CompactSchedule& schedule, const TimeModel& model) {
  if (model.discipline == Discipline::fifo && links_are_independent(topology))
    return CompactRun(topology, collective, schedule, model).run();
  return run_native(topology, collective, expanded(topology, collective, schedule), model);
}

} // namespace tutti
