// On links of their own, crossed by single hops, no queue has anything to decide: a connection
// keeps the list's order, and all that a transfer waits for is listed before it. So one pass over
// the list says when each happens. All-Reduces by TACOS, CPU time: mesh2d:32x32 14 ns a transfer,
// 64x64 32 ns, 100x100 77 ns, where its states no longer fit the cache; an event queue took 400 and
// 920 ns on the first two. Copies are replayed by node (native_compact.cpp), and by chunk where few
// nodes get each (native_sparse.cpp).
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

bool reductions_take_time(const Topology& topology, const TimeModel& model) {
  return std::ranges::any_of(topology.nodes(), [&](const Node& node) {
    return reduction_rate(node, model).bytes_per_second > 0;
  });
}

bool is_dense(const Topology& topology, std::size_t chunks, std::size_t transfers) {
  constexpr std::size_t most_states = 8; // a transfer
  return chunks <= most_states * transfers / topology.node_count();
}

namespace {

bool is_in_order(const Topology& topology, const Schedule& schedule, const TimeModel& model,
                 const RunOptions& options) {
  return options.is_plain() && options.starts.empty() && !options.record_hops &&
         !schedule.has_contiguous() && !schedule.has_dependencies() &&
         links_are_independent(topology) && !reductions_take_time(topology, model) &&
         std::ranges::all_of(schedule.packed(), [&](const Schedule::Packed& transfer) {
           return (transfer.path & Schedule::path_mask) < topology.link_count(); // a single hop
         });
}

class InOrder {
public:
  InOrder(const Topology& topology, const Collective& collective, const Schedule& schedule,
          const TimeModel& model, const RunOptions& options)
      : schedule_(schedule), nodes_(topology.node_count()),
        latency_occupies_(model.link_busy == LinkBusy::latency_and_serialization),
        steps_(options.watch), states_(collective.chunks.size() * nodes_) {
    report_.model = model;
    report_.chunk_done.resize(collective.chunks.size());
    if (options.record_deliveries) report_.deliveries.resize(schedule.size());
    for (const Chunk& chunk : collective.chunks) sizes_.push_back(chunk.size);
    for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
      const Link& link = topology.link(LinkId{l});
      links_.push_back(
          {.latency = link.latency, .bandwidth = link.bandwidth, .from = link.from, .to = link.to});
    }
  }

  Report run() {
    std::vector<std::int64_t> arrivals; // of a block
    for (std::size_t i = 0; i < schedule_.size();) {
      look_ahead_of(i);
      const std::int64_t arrival = send(schedule_[i]);
      std::size_t end = i + 1;
      if (end < schedule_.size() && schedule_[end].together) [[unlikely]] {
        arrivals.assign(1, arrival);
        for (; end < schedule_.size() && schedule_[end].together; ++end)
          arrivals.push_back(send(schedule_[end]));
        for (const std::int64_t at : arrivals) deliver(i++, at);
      } else {
        deliver(i++, arrival);
      }
      steps_.take(1, [&] { return WorkProgress{end, schedule_.size()}; });
    }
    for (const Time done : report_.chunk_done)
      report_.completion = std::max(report_.completion, done);
    for (const LinkState& link : links_)
      report_.links.push_back({link.bytes, link.busy, link.transfers});
    report_.link_transfers = schedule_.size();
    return std::move(report_);
  }

private:
  /// When the last of a chunk's arrivals at a node so far was delivered, and when the last of its
  /// sends from there left; ps.
  struct State {
    std::int64_t delivered = 0, left = 0;
  };
  /// All that a transfer needs of its link, in one line of the cache.
  struct alignas(64) LinkState {
    std::int64_t free_at = 0;
    Bytes last_size = {};
    std::int64_t last_duration = 0;
    Time latency;
    Bandwidth bandwidth;
    Bytes bytes = {};
    Time busy = {};
    std::uint32_t transfers = 0;
    NodeId from, to;
  };

  [[nodiscard]] State& state(ChunkId chunk, NodeId node) {
    return states_[chunk.value * nodes_ + node.value];
  }

  /// The states are all over the memory, and the list says which ones are next: half the time on
  /// mesh2d:64x64 (2.13 and 1.07 s).
  void look_ahead_of(std::size_t i) {
    constexpr std::size_t far = 24;
    if (i + far >= schedule_.size()) return;
    const Transfer transfer = schedule_[i + far];
    const LinkState& link = links_[transfer.path.value];
    __builtin_prefetch(&state(transfer.chunk, link.from), 1);
    __builtin_prefetch(&state(transfer.chunk, link.to), 1);
  }

  /// When it arrives, in ps.
  std::int64_t send(const Transfer& transfer) {
    LinkState& link = links_[transfer.path.value];
    if (const Bytes size = sizes_[transfer.chunk.value]; size != link.last_size) {
      link.last_size = size;
      link.last_duration = serialization(size, link.bandwidth).ps;
    }
    State& from = state(transfer.chunk, link.from);
    const std::int64_t start = std::max(link.free_at, from.delivered),
                       left = start + link.last_duration;
    require_representable(left, link.latency);
    from.left = std::max(from.left, left);
    link.free_at = left + (latency_occupies_ ? link.latency.ps : 0);
    link.bytes += link.last_size;
    link.busy += Time{link.free_at - start};
    ++link.transfers;
    return left + link.latency.ps;
  }

  /// Not before the receiver's earlier sends of the chunk have left.
  void deliver(std::size_t i, std::int64_t arrival) {
    const Transfer transfer = schedule_[i];
    State& to = state(transfer.chunk, links_[transfer.path.value].to);
    const Time at{std::max(arrival, to.left)};
    to.delivered = std::max(to.delivered, at.ps);
    Time& done = report_.chunk_done[transfer.chunk.value];
    done = std::max(done, at);
    if (!report_.deliveries.empty()) report_.deliveries[i] = at;
  }

  const Schedule& schedule_;
  std::size_t nodes_;
  bool latency_occupies_;
  WatchedSteps steps_;
  Report report_;
  std::vector<Bytes> sizes_; // per chunk
  std::vector<LinkState> links_;
  std::vector<State> states_; // by chunk, then node
};

} // namespace

std::optional<Report> replay_in_order(const Topology& topology, const Collective& collective,
                                      const Schedule& schedule, const TimeModel& model,
                                      const RunOptions& options) {
  if (!is_in_order(topology, schedule, model, options)) return std::nullopt;
  const bool are_copies = std::ranges::none_of(schedule.packed(), [](const auto& transfer) {
    return (transfer.path & Schedule::reduce_bit) != 0;
  });
  if (are_copies)
    if (std::optional<Report> report =
            replay_copies(topology, collective, schedule, model, options))
      return report;
  if (!is_dense(topology, collective.chunks.size(), schedule.size())) return std::nullopt;
  return InOrder(topology, collective, schedule, model, options).run();
}

} // namespace tutti
