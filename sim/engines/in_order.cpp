// On links of their own, crossed by single hops, no queue has anything to decide: a connection keeps
// the list's order, and all that a transfer waits for is listed before it. So one pass over the list
// says when each happens, at 50 to 120 ns a transfer where an event queue takes 250 to 640 (All-Gathers
// by TACOS on mesh2d:32x32 and 64x64). Copies are faster still by node (native_compact.cpp).
#include "sim/engines/in_order.hpp"

#include "sim/engines/event_queue.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tutti {

bool links_are_independent(const Topology& topology) {
  return topology.groups().empty() &&
         std::ranges::all_of(topology.nodes(), [](const Node& node) { return node.can.store; });
}

bool is_dense(const Topology& topology, std::size_t chunks, std::size_t transfers) {
  constexpr std::size_t most_states = 8; // a transfer
  return chunks <= most_states * transfers / topology.node_count();
}

namespace {

bool is_in_order(const Topology& topology, const Collective& collective, const Schedule& schedule,
                 const TimeModel& model, const RunOptions& options) {
  return options.is_plain() && options.starts.empty() && !options.record_hops &&
         !schedule.has_contiguous() && !schedule.has_dependencies() &&
         is_dense(topology, collective.chunks.size(), schedule.size()) &&
         links_are_independent(topology) &&
         std::ranges::none_of(
             topology.nodes(),
             [&](const Node& node) { return reduction_rate(node, model).bytes_per_second > 0; }) &&
         std::ranges::all_of(schedule.packed(), [&](const Schedule::Packed& transfer) {
           return (transfer.path & Schedule::path_mask) < topology.link_count(); // a single hop
         });
}

class InOrder {
public:
  InOrder(const Topology& topology, const Collective& collective, const Schedule& schedule,
          const TimeModel& model, const RunOptions& options)
      : topology_(topology), collective_(collective), schedule_(schedule),
        latency_occupies_(model.link_busy == LinkBusy::latency_and_serialization),
        steps_(options.watch), links_(topology.link_count()),
        states_(collective.chunks.size() * topology.node_count()) {
    report_.model = model;
    report_.links.resize(topology.link_count());
    report_.chunk_done.resize(collective.chunks.size());
    if (options.record_deliveries) report_.deliveries.resize(schedule.size());
  }

  Report run() {
    std::vector<std::int64_t> arrivals; // of a block
    for (std::size_t i = 0; i < schedule_.size();) {
      arrivals.assign(1, send(schedule_[i]));
      std::size_t end = i + 1;
      for (; end < schedule_.size() && schedule_[end].together; ++end)
        arrivals.push_back(send(schedule_[end]));
      for (const std::int64_t at : arrivals) deliver(i++, at);
      steps_.take(arrivals.size(), [&] { return WorkProgress{end, schedule_.size()}; });
    }
    for (const Time done : report_.chunk_done)
      report_.completion = std::max(report_.completion, done);
    report_.link_transfers = schedule_.size();
    return std::move(report_);
  }

private:
  /// Of a chunk at a node: when the last of the arrivals so far was delivered, and when the last of
  /// the sends so far left; ps.
  struct State {
    std::int64_t delivered = 0, left = 0;
  };
  struct LinkState {
    std::int64_t free_at = 0;
    Bytes last_size{};
    std::int64_t last_duration = 0;
  };

  [[nodiscard]] State& state(ChunkId chunk, NodeId node) {
    return states_[std::size_t{chunk.value} * topology_.node_count() + node.value];
  }

  /// When it arrives, in ps.
  std::int64_t send(const Transfer& transfer) {
    const LinkId id{transfer.path.value};
    const Link& link = topology_.link(id);
    LinkState& on = links_[id.value];
    if (const Bytes size = collective_.chunks[transfer.chunk.value].size; size != on.last_size) {
      on.last_size = size;
      on.last_duration = serialization(size, link.bandwidth).ps;
    }
    State& from = state(transfer.chunk, link.from);
    const std::int64_t start = std::max(on.free_at, from.delivered),
                       left = start + on.last_duration;
    require_representable(left, link.latency);
    from.left = std::max(from.left, left);
    on.free_at = left + (latency_occupies_ ? link.latency.ps : 0);
    LinkUse& use = report_.links[id.value];
    use.bytes += on.last_size;
    use.busy += Time{on.free_at - start};
    ++use.transfers;
    return left + link.latency.ps;
  }

  /// Not before the receiver's earlier sends of the chunk have left.
  void deliver(std::size_t i, std::int64_t arrival) {
    const Transfer transfer = schedule_[i];
    State& to = state(transfer.chunk, topology_.link(LinkId{transfer.path.value}).to);
    const Time at{std::max(arrival, to.left)};
    to.delivered = std::max(to.delivered, at.ps);
    Time& done = report_.chunk_done[transfer.chunk.value];
    done = std::max(done, at);
    if (!report_.deliveries.empty()) report_.deliveries[i] = at;
  }

  const Topology& topology_;
  const Collective& collective_;
  const Schedule& schedule_;
  bool latency_occupies_;
  WatchedSteps steps_;
  Report report_;
  std::vector<LinkState> links_;
  std::vector<State> states_; // by chunk, then node
};

} // namespace

std::optional<Report> replay_in_order(const Topology& topology, const Collective& collective,
                                      const Schedule& schedule, const TimeModel& model,
                                      const RunOptions& options) {
  if (!is_in_order(topology, collective, schedule, model, options)) return std::nullopt;
  const bool are_copies = std::ranges::none_of(schedule.packed(), [](const auto& transfer) {
    return (transfer.path & Schedule::reduce_bit) != 0;
  });
  if (are_copies && !options.record_deliveries)
    if (std::optional<Report> report =
            replay_copies(topology, collective, schedule, model, options.watch))
      return report;
  return InOrder(topology, collective, schedule, model, options).run();
}

} // namespace tutti
