// Fluid sharing on SimGrid: a transfer moves over all links of its path at once, at the rate that
// max-min fairness over links and shared groups gives it (a group that the path crosses twice
// counts twice); the path's latency is added once, at the end. A connection carries one transfer at
// a time, in list order. LinkBusy and Forwarding don't apply. A transfer that a node forwards
// without storing it (in-network multicast) starts with its head and ends no earlier than the data
// that it follows. Transfers that share a send move as one, under the number of the first. Under
// SimGrid's own models (NetworkModel) latency is part of how long SimGrid says that a transfer
// takes, which has left and arrived at once then.
//
// Routes on SimGrid's network are not tables: a communication runs over the list of links that was
// set just before it starts (PathZone). Our max-min is CM02 without cross-traffic and TCP's window,
// with the finest time precision, so that bandwidth alone is shared, and latency is left to timers.
// SimGrid's own models are as SimGrid has them: its configuration is left alone but for its name
// and the precision, a communication goes from host to host, and what comes back takes the opposite
// links.

#include "sim/engines/simgrid/library/replay.hpp"

#include "sim/engines/dependencies.hpp"
#include "sim/engines/late_starts.hpp"
#include "sim/engines/simgrid/library/path_zone.hpp"
#include "sim/engines/simgrid/library/process.hpp"
#include "sim/engines/simgrid/library/versions.hpp"
#include "sim/error.hpp"
#include "sim/sends.hpp"
#include "sim/text.hpp"
#include "sim/units.hpp"

#include <fmt/format.h>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tutti {

namespace {

namespace sg4 = simgrid::s4u;
namespace kernel = simgrid::kernel;

/// One SimGrid engine with one zone. Only one may be made per process.
class FluidNetwork {
public:
  /// Errors: InputError where SimGrid doesn't know the model.
  FluidNetwork(const Topology& topology, NetworkModel model);

  /// Starts to move so many bytes along the path. When it is done, on_done is called with `token`.
  /// On SimGrid's models the path's latency is part of that, otherwise not.
  void communicate(std::span<const LinkId> path, Bytes size, std::size_t token);
  std::function<void(std::size_t token)> on_done;

  /// Calls `body` when the clock shows `picoseconds`.
  void at(std::int64_t picoseconds, std::function<void()> body);

  /// The clock in picoseconds.
  [[nodiscard]] double now() const { return sg4::Engine::get_clock() * 1e12; }

  /// SimGrid's version, model and parameters, as its command line takes them; of ideal "".
  [[nodiscard]] std::string parameters() const;

  /// Runs until nothing is left to happen. What a callback throws ends the run and is thrown here.
  /// Errors: InputError where SimGrid's clock is too coarse to go on.
  void run();

private:
  void add_resources();

  /// SimGrid's frames are no place for exceptions: keeps the first and lets the rest fall silent.
  template <typename Body> void guarded(const Body& body) {
    if (failure_) return;
    try {
      body();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  const Topology& topology_;
  NetworkModel model_;
  sg4::Engine engine_;
  PathZone* zone_ = nullptr;                        // owned by the engine
  std::vector<sg4::Host*> hosts_;                   // per node
  std::vector<std::vector<std::uint32_t>> of_link_; // per link: it and its groups, in the zone
  std::vector<LinkId> opposite_;                    // per link; invalid where there is none
  std::vector<std::uint32_t> route_, back_;         // of the communication that begins
  std::vector<sg4::CommPtr> comms_;                 // by token
  std::size_t under_way_ = 0;
  std::vector<sg4::CommPtr> done_; // may still be in use by SimGrid's present step
  std::exception_ptr failure_;
};

/// As SimGrid calls it.
std::string name_of(NetworkModel model) {
  std::string name(to_text(model));
  std::ranges::transform(name, name.begin(), [](unsigned char c) {
    return static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  });
  return name;
}

FluidNetwork::FluidNetwork(const Topology& topology, NetworkModel model)
    : topology_(topology), model_(model),
      engine_(&simgrid_arguments().count, simgrid_arguments().values.data()) {
  if (model == NetworkModel::ideal)
    set_up_simgrid("1e-13");
  else
    set_up_simgrid_model(name_of(model), "1e-13");
  add_resources();
  sg4::Comm::on_completion_cb([this](const sg4::Activity& comm) {
    const auto token = reinterpret_cast<std::size_t>(comm.get_data<void>());
    if (token >= comms_.size() || comms_[token].get() != &comm) return;
    done_.clear();
    done_.push_back(std::move(comms_[token]));
    --under_way_;
    guarded([&] { on_done(token); });
  });
}

void FluidNetwork::add_resources() {
  zone_ = new PathZone; // the engine owns its zones
  sg4::NetZone& network = simgrid_versions::attached(*zone_);
  for (std::uint32_t n = 0; n < topology_.node_count(); ++n)
    hosts_.push_back(simgrid_versions::add_host(network, fmt::format("n{}", n)));
  const auto add = [&](const std::string& name, Bandwidth rate, Time latency) {
    sg4::Link* link = simgrid_versions::add_link(
        network, name, static_cast<double>(rate.bytes_per_second), sg4::Link::SharingPolicy::SHARED,
        model_ == NetworkModel::ideal ? 0 : latency.seconds());
    zone_->links.push_back(link->get_impl());
  };
  for (std::uint32_t l = 0; l < topology_.link_count(); ++l)
    add(fmt::format("l{}", l), topology_.link(LinkId{l}).bandwidth,
        topology_.link(LinkId{l}).latency);
  for (std::size_t g = 0; g < topology_.groups().size(); ++g)
    add(fmt::format("g{}", g), topology_.groups()[g].bandwidth, Time{});
  if (model_ == NetworkModel::ideal) simgrid_versions::ignore_latency(network);
  zone_->seal();

  std::map<std::pair<NodeId, NodeId>, std::vector<LinkId>> between;
  for (std::uint32_t l = 0; l < topology_.link_count(); ++l) {
    const Link& link = topology_.link(LinkId{l});
    between[{link.from, link.to}].emplace_back(l);
    of_link_.push_back({l});
    for (const std::uint32_t group : topology_.groups_of(LinkId{l}))
      of_link_.back().push_back(topology_.link_count() + group);
  }
  opposite_.resize(topology_.link_count());
  for (const auto& [ends, links] : between) // the first of parallel links goes with the first back
    if (const auto back = between.find({ends.second, ends.first}); back != between.end())
      for (std::size_t k = 0; k < links.size(); ++k)
        opposite_[links[k].value] = back->second[std::min(k, back->second.size() - 1)];
}

void FluidNetwork::communicate(std::span<const LinkId> path, Bytes size, std::size_t token) {
  route_.clear();
  back_.clear();
  Time latency;
  for (const LinkId link : path) {
    const std::vector<std::uint32_t>& its = of_link_[link.value];
    route_.insert(route_.end(), its.begin(), its.end());
    latency += topology_.link(link).latency;
    if (!opposite_[link.value].valid()) continue;
    const std::vector<std::uint32_t>& backwards = of_link_[opposite_[link.value].value];
    back_.insert(back_.begin(), backwards.begin(), backwards.end());
  }
  sg4::Host* const from = hosts_[topology_.link(path.front()).from.value];
  sg4::Host* const to = hosts_[topology_.link(path.back()).to.value];
  zone_->route = route_;
  if (model_ != NetworkModel::ideal) {
    zone_->back = back_;
    zone_->receiver = to->get_netpoint();
    zone_->latency = latency.seconds();
  }
  if (comms_.size() <= token) comms_.resize(token + 1);
  sg4::CommPtr comm = sg4::Comm::sendto_init();
  comm->set_payload_size(static_cast<std::uint64_t>(size.count));
  comm->set_data(reinterpret_cast<void*>(token));
  comms_[token] = comm;
  ++under_way_;
  comm->set_source(from)->set_destination(to); // the last call starts it
}

void FluidNetwork::at(std::int64_t picoseconds, std::function<void()> body) {
  // A present picosecond may lie a rounding before the clock, and SimGrid refuses the past.
  const double date = std::max(static_cast<double>(picoseconds) * 1e-12, sg4::Engine::get_clock());
  kernel::timer::Timer::set(date, [this, body = std::move(body)] { guarded(body); });
}

std::string FluidNetwork::parameters() const {
  if (model_ == NetworkModel::ideal) return "";
  return fmt::format(
      "SimGrid {}, network/model:{} {}", simgrid_versions::version(), name_of(model_),
      simgrid_versions::model_parameters(model_ == NetworkModel::smpi || model_ == NetworkModel::ib,
                                         model_ == NetworkModel::ib));
}

void FluidNetwork::run() {
  engine_.run();
  if (failure_) std::rethrow_exception(failure_);
  if (under_way_ > 0)
    throw InputError(
        fmt::format("SimGrid stopped at {} s with {} communications under way: a double "
                    "can't resolve this run; engine native, of fifo only, can",
                    sg4::Engine::get_clock(), under_way_));
}

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

Report replay_fluid_on_simgrid(const Topology& topology, const Collective& collective,
                               const Schedule& schedule, const TimeModel& model,
                               const RunOptions& options) {
  return FluidRun(topology, collective, schedule, model, options).run();
}

} // namespace tutti
