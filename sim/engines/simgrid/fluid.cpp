// Fluid sharing on SimGrid: a transfer moves over all links of its path at once, at the rate that
// max-min fairness over links and shared groups gives it (a group that the path crosses twice
// counts twice); the path's latency is added once, at the end. A connection carries one transfer at
// a time, in list order. LinkBusy and Forwarding don't apply. A transfer that a node forwards
// without storing it (in-network multicast) starts with its head and ends no earlier than the data
// that it follows. Transfers that share a send move as one, under the number of the first. Under
// SimGrid's own models (NetworkModel) latency is part of how long SimGrid
// says that a transfer takes, which has left and arrived at once then.

#include "sim/engines/simgrid/fluid.hpp"

#include "sim/engines/dependencies.hpp"
#include "sim/engines/late_starts.hpp"
#include "sim/engines/simgrid/fluid_network.hpp"
#include "sim/error.hpp"
#include "sim/sends.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tutti {

namespace {

class FluidRun {
public:
  FluidRun(const Topology& topology, const Collective& collective, const Schedule& schedule,
           const TimeModel& model, const RunOptions& options)
      : topology_(topology), collective_(collective), schedule_(schedule), model_(model),
        options_(options), dependencies_(topology, collective, schedule),
        late_(topology, collective, schedule, options, dependencies_),
        network_(topology, model.network), connections_(schedule.paths().size()),
        reduction_free_(topology.node_count()) {
    report_.model = model;
    report_.network_parameters = network_.parameters();
    report_.completion = last_start(collective, options.starts);
    report_.links.resize(topology.link_count());
    report_.chunk_done.resize(collective.chunks.size());
    if (options.record_deliveries) report_.deliveries.resize(schedule.size());
    network_.on_done = [this](std::size_t slot) { sent(slot); };
    find_followers();
  }

  Report run() {
    network_.at(0, [this] { dependencies_.start(*this); });
    for (std::uint32_t k = 0; k < late_.joins().size(); ++k)
      network_.at(late_.joins()[k].at.ps, [this, k] { join(k); });
    network_.run();
    if (dependencies_.undelivered() > 0) throw InputError(dependencies_.stuck_text(topology_));
    std::sort(report_.hops.begin(), report_.hops.end(), [](const HopRecord& a, const HopRecord& b) {
      return std::tie(a.start, a.link, a.transfer) < std::tie(b.start, b.link, b.transfer);
    });
    return std::move(report_);
  }

  // What Dependencies calls.
  void enter(std::uint32_t transfer) {
    Connection& connection = connections_[schedule_.path_of(transfer).value];
    connection.waiting.push_back(transfer);
    if (!connection.busy) send_next(connection);
  }
  void delivered(std::uint32_t transfer) {
    const Time at{now()};
    Time& done = report_.chunk_done[schedule_[transfer].chunk.value];
    done = std::max(done, at);
    report_.completion = std::max(report_.completion, at);
    if (options_.record_deliveries) report_.deliveries[transfer] = at;
  }

private:
  struct Connection {
    std::deque<std::uint32_t> waiting;
    bool busy = false;
  };
  /// A transfer that leaves a node that can't store: it can't end before what it passes on is in.
  struct Follower {
    std::uint32_t missing = 0; // earlier arrivals of the chunk at the node that are not yet in
    bool sent = false;
  };

  [[nodiscard]] std::int64_t now() const { return std::llround(network_.now()); }
  [[nodiscard]] std::span<const LinkId> path(std::uint32_t transfer) const {
    return schedule_.paths().links(schedule_.path_of(transfer));
  }
  [[nodiscard]] NodeId sender(std::uint32_t transfer) const {
    return topology_.link(path(transfer).front()).from;
  }
  [[nodiscard]] NodeId receiver(std::uint32_t transfer) const {
    return topology_.link(path(transfer).back()).to;
  }
  [[nodiscard]] std::int64_t latency(std::uint32_t transfer) const {
    std::int64_t sum = 0;
    for (const LinkId link : path(transfer)) sum += topology_.link(link).latency.ps;
    return sum;
  }

  void find_followers() {
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> arrivals; // by chunk and node
    const auto key = [&](std::uint32_t transfer, NodeId node) {
      return std::uint64_t{schedule_[transfer].chunk.value} << 32 | node.value;
    };
    const auto count = static_cast<std::uint32_t>(schedule_.size());
    for (std::uint32_t block = 0, end = 0; block < count; block = end) {
      for (end = block + 1; end < count && schedule_[end].together;) ++end;
      for (std::uint32_t i = block; i < end; ++i) {
        if (topology_.node(sender(i)).can.store) continue;
        const std::vector<std::uint32_t>& passed_on = arrivals[key(i, sender(i))];
        const std::uint32_t first = dependencies_.first_of_send(i);
        followers_[first].missing += static_cast<std::uint32_t>(passed_on.size());
        for (const std::uint32_t before : passed_on) followed_by_[before].push_back(first);
      }
      for (std::uint32_t i = block; i < end; ++i)
        if (!topology_.node(receiver(i)).can.store)
          arrivals[key(i, receiver(i))].push_back(dependencies_.first_of_send(i));
    }
  }

  void send_next(Connection& connection) {
    const std::uint32_t transfer = connection.waiting.front();
    connection.waiting.pop_front();
    connection.busy = true;
    const Bytes size = send_size(collective_, schedule_, transfer);
    for (const LinkId link : path(transfer)) {
      LinkUse& use = report_.links[link.value];
      use.bytes += size;
      use.busy += serialization(size, topology_.link(link).bandwidth);
      ++use.transfers;
      ++report_.link_transfers;
    }
    std::size_t slot = slots_.size();
    if (free_slots_.empty()) {
      slots_.push_back({transfer, now()});
    } else {
      slot = free_slots_.back();
      free_slots_.pop_back();
      slots_[slot] = {transfer, now()};
    }
    network_.communicate(path(transfer), size, slot);
    if (!topology_.node(receiver(transfer)).can.store)
      network_.at(now() + latency(transfer),
                  [this, transfer] { dependencies_.cut_through(transfer, 0, *this); });
  }

  /// The last byte has left: the connection is free, the arrival follows after the latency.
  void sent(std::size_t slot) {
    const auto [transfer, since] = slots_[slot];
    free_slots_.push_back(slot);
    if (options_.record_hops)
      for (const LinkId link : path(transfer))
        report_.hops.push_back({transfer, link, Time{since}, Time{now()}});
    Connection& connection = connections_[schedule_.path_of(transfer).value];
    connection.busy = false;
    if (!connection.waiting.empty()) send_next(connection);
    if (dependencies_.watched(transfer)) dependencies_.left(transfer, *this);

    const auto follower = followers_.find(transfer);
    if (follower != followers_.end()) {
      follower->second.sent = true;
      if (follower->second.missing > 0) return;
    }
    arrive_after_latency(transfer);
  }

  void arrive_after_latency(std::uint32_t transfer) {
    const bool has_passed =
        model_.network != NetworkModel::ideal; // SimGrid's models have counted it
    network_.at(now() + (has_passed ? 0 : latency(transfer)),
                [this, transfer] { arrive(transfer); });
  }

  void join(std::uint32_t k) {
    for (const std::uint32_t connection : late_.joins()[k].connections)
      dependencies_.release_connection(connection, *this);
    for (const std::uint32_t transfer : std::exchange(late_.joins()[k].waiting, {}))
      take_in(transfer);
  }

  void arrive(std::uint32_t transfer) {
    const NodeId node = receiver(transfer);
    if (const auto join = late_.join_of(schedule_[transfer].chunk, node, now()))
      late_.joins()[*join].waiting.push_back(transfer);
    else
      take_in(transfer);
  }

  void take_in(std::uint32_t transfer) {
    const NodeId node = receiver(transfer);
    if (!topology_.node(node).can.store)
      for (const std::uint32_t next : followed_by_[transfer]) {
        Follower& follower = followers_[next];
        if (--follower.missing == 0 && follower.sent) arrive_after_latency(next);
      }
    const Bandwidth rate = reduction_rate(topology_.node(node), model_);
    if (schedule_[transfer].op == Op::copy || rate.bytes_per_second == 0) {
      dependencies_.arrived(transfer, *this);
      return;
    }
    const Bytes size = send_size(collective_, schedule_, transfer);
    std::int64_t& free_at = reduction_free_[node.value];
    free_at = std::max(free_at, now()) + serialization(size, rate).ps;
    network_.at(free_at, [this, transfer] { dependencies_.arrived(transfer, *this); });
  }

  const Topology& topology_;
  const Collective& collective_;
  const Schedule& schedule_;
  const TimeModel model_;
  const RunOptions options_;
  Dependencies dependencies_;
  LateStarts late_;
  FluidNetwork network_;
  Report report_;
  std::vector<Connection> connections_;                       // per path
  std::vector<std::int64_t> reduction_free_;                  // per node, ps
  std::vector<std::pair<std::uint32_t, std::int64_t>> slots_; // transfer and start, by token
  std::vector<std::size_t> free_slots_;
  std::unordered_map<std::uint32_t, Follower> followers_;                     // by transfer
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> followed_by_; // by transfer
};

} // namespace

Report run_simgrid_fluid(const Topology& topology, const Collective& collective,
                         const Schedule& schedule, const TimeModel& model,
                         const RunOptions& options) {
  return FluidRun(topology, collective, schedule, model, options).run();
}

} // namespace tutti
