// Matching on switches as they are: a transfer goes from NPU to NPU through all that lies between,
// and occupies each link of its path in turn. Any two NPUs on a switch are neighbours then,
// with the whole bandwidth of a port, where unwinding has to choose between few neighbours and
// little bandwidth for each. (TACOS leaves connectivity that changes over time as future work, sec.
// IV.G, footnote 6.)
//
// An NPU's in-links look for a sender in turn, beginning behind the last one: on a lone switch all
// NPUs so shift their partners together and never collide. Which chunk it is is decided at the
// start here, since ports that are shared can't wait to know. The rule is that of
// matching.hpp.

#include "synth/tacos/ports.hpp"

#include "sim/engines/event_queue.hpp"
#include "sim/random.hpp"
#include "synth/tacos/arrivals.hpp"

#include <algorithm>
#include <utility>

namespace tutti {

namespace {

class Ports {
public:
  explicit Ports(const PortProblem& problem)
      : problem_(problem), topology_(problem.topology),
        chunks_(static_cast<std::uint32_t>(problem.collective.chunks.size())),
        schedule_(topology_.link_count()), npus_(topology_.npu_count()),
        promised_(topology_.npu_count(), chunks_), held_(topology_.npu_count(), chunks_),
        link_free_(topology_.link_count()), group_free_(topology_.groups().size()) {
    for (const Chunk& chunk : problem.collective.chunks) size_ = std::max(size_, chunk.size);
    promised_.set_all(); // or not wanted
    for (std::uint32_t c = 0; c < chunks_; ++c) {
      for (const NodeId npu : problem.collective.destinations(ChunkId{c}))
        promised_.clear(npu.value, c);
      for (const NodeId source : problem.collective.sources(ChunkId{c})) {
        promised_.set(source.value, c);
        receive(source.value, c, 0);
      }
      for (const NodeId npu : problem.collective.destinations(ChunkId{c}))
        npus_[npu.value].demand += !promised_.test(npu.value, c);
    }
    for (const NodeId npu : problem.participants) missing_ += npus_[npu.value].demand;
    total_ = missing_;
    schedule_.reserve(missing_);
  }

  std::optional<PortMatches> run(const std::vector<std::vector<LinkId>>& paths) {
    if (!add_ports(paths)) return std::nullopt;
    for (std::uint32_t l = 0; l < ports_.size(); ++l) wake(l, 0);
    std::int64_t now = 0;
    for (std::size_t i = 0; missing_ > 0; ++i) {
      serve(now);
      if (missing_ == 0) break;
      if (events_.next_time() == EventQueue::never) serve_all(now);
      now = events_.next_time();
      if (now == EventQueue::never) return std::nullopt; // not connected
      if (i % 256 == 0) {
        if (problem_.limit.reached()) return std::nullopt;
        problem_.limit.report(total_ - missing_, total_, Time{now});
      }
      while (events_.next_time() == now) handle(events_.pop());
    }
    return PortMatches{std::move(schedule_), Time{makespan_}};
  }

private:
  struct Hop { // of a path
    LinkId link;
    std::int64_t head = 0; // when the head gets there, after the start
    std::int64_t busy = 0; // for how long
  };
  struct Sender {
    std::uint32_t npu = 0;
    PathId path;
    std::uint32_t first_hop = 0, hops = 0; // in hops_
    std::int64_t cost = 0;                 // until the chunk has arrived
    std::uint32_t scanned = 0;             // of the sender's chunks: all before are promised
  };
  struct InPort { // a link into an NPU, with all that can send over it
    std::uint32_t to = 0;
    std::uint32_t first = 0, senders = 0; // in senders_
    std::uint32_t next = 0;               // whom to ask first
    std::int64_t cost = 0, busy = 0;      // of its first sender
  };
  struct NpuState {
    std::vector<std::uint32_t> chunks;     // held, in order of arrival
    std::vector<std::uint32_t> ports;      // into it, fastest first
    std::vector<std::uint32_t> serves;     // ports that it can send over
    std::vector<std::uint32_t> neighbours; // with a port of their own into it
    std::uint32_t demand = 0;              // chunks not yet promised to it
  };
  enum Kind : std::uint32_t { sender_free, port_free, chunk_arrives };
  static constexpr std::int64_t waiting = INT64_MAX; // is woken already, or done
  struct Flight {
    std::uint32_t sender, port, chunk;
  };

  /// Nothing usable where it returns false: behind a switch each pair of NPUs has a path, and the
  /// limit can end before all are added.
  [[nodiscard]] bool add_ports(const std::vector<std::vector<LinkId>>& paths) {
    std::vector<std::vector<std::size_t>> paths_over(topology_.link_count()); // by last link
    for (std::size_t w = 0; w < paths.size(); ++w) paths_over[paths[w].back().value].push_back(w);
    Random random(problem_.seed);
    for (std::uint32_t l = 0; l < topology_.link_count(); ++l) {
      if (paths_over[l].empty()) continue;
      if (problem_.limit.reached()) return false;
      InPort port;
      port.to = topology_.link(LinkId{l}).to.value;
      port.first = static_cast<std::uint32_t>(senders_.size());
      port.senders = static_cast<std::uint32_t>(paths_over[l].size());
      order_by_distance(paths, paths_over[l], port.to);
      for (const std::size_t w : paths_over[l]) senders_.push_back(sender_over(paths[w]));
      if (problem_.seed != 0) port.next = static_cast<std::uint32_t>(random.below(port.senders));
      const Sender& sender = senders_[port.first];
      port.cost = sender.cost;
      port.busy = hops_[sender.first_hop + sender.hops - 1].busy;
      const auto id = static_cast<std::uint32_t>(ports_.size());
      npus_[port.to].ports.push_back(id);
      if (port.senders == 1) npus_[port.to].neighbours.push_back(sender.npu);
      for (std::uint32_t s = 0; s < port.senders; ++s)
        npus_[senders_[port.first + s].npu].serves.push_back(id);
      ports_.push_back(port);
      ready_.push_back(0);
    }
    for (NpuState& npu : npus_)
      std::ranges::stable_sort(npu.ports, {}, [&](std::uint32_t l) { return ports_[l].cost; });
    return true;
  }

  /// By how far before `to` the sender comes, so that all in-links shift their partners alike.
  void order_by_distance(const std::vector<std::vector<LinkId>>& paths,
                         std::vector<std::size_t>& over, std::uint32_t to) const {
    std::ranges::sort(over, {}, [&](std::size_t w) {
      const std::uint32_t from = topology_.link(paths[w].front()).from.value;
      return from < to ? to - from : to + topology_.npu_count() - from;
    });
  }

  Sender sender_over(const std::vector<LinkId>& path) {
    Sender sender;
    sender.npu = topology_.link(path.front()).from.value;
    sender.path = schedule_.paths().intern(path);
    sender.first_hop = static_cast<std::uint32_t>(hops_.size());
    sender.hops = static_cast<std::uint32_t>(path.size());
    entangled_ = entangled_ || path.size() > 2 || !topology_.groups().empty();
    std::int64_t head = 0, tail = 0;
    for (const LinkId id : path) {
      const Link& link = topology_.link(id);
      const std::int64_t sent = serialization(size_, topology_.effective_bandwidth(id)).ps;
      const bool latency_too = problem_.link_busy == LinkBusy::latency_and_serialization;
      hops_.push_back({id, head, sent + (latency_too ? link.latency.ps : 0)});
      tail = std::max(tail, head + sent) + link.latency.ps;
      head = topology_.node(link.to).can.store ? tail : head + link.latency.ps;
    }
    sender.cost = tail;
    return sender;
  }

  void receive(std::uint32_t npu, std::uint32_t chunk, std::int64_t now) {
    held_.set(npu, chunk);
    npus_[npu].chunks.push_back(chunk);
    for (const std::uint32_t port : npus_[npu].serves) wake(port, now);
  }

  /// A port that is busy now is woken again when it is free.
  void wake(std::uint32_t l, std::int64_t now) {
    if (ready_[l] > now) return;
    ready_[l] = waiting;
    woken_.push_back(l);
  }

  void handle(const Event& event) {
    const Flight flight = flights_[event.subject];
    if (event.kind == chunk_arrives) {
      receive(ports_[flight.port].to, flight.chunk, event.at);
      --missing_;
      return;
    }
    if (entangled_) {
      for (std::uint32_t port = 0; port < ports_.size(); ++port) wake(port, event.at);
      return;
    }
    wake(flight.port, event.at);
    if (event.kind == port_free) return;
    for (const std::uint32_t port : npus_[senders_[flight.sender].npu].serves) wake(port, event.at);
  }

  void serve(std::int64_t now) {
    std::ranges::sort(woken_, {}, [&](std::uint32_t l) {
      return std::pair(ports_[l].cost, l); // fast ones first
    });
    for (const std::uint32_t port : woken_) {
      ready_[port] = now;
      try_start(port, now, false);
    }
    woken_.clear();
  }

  /// When nothing is in flight: slow ports take what they left to faster ones that can't get it.
  void serve_all(std::int64_t now) {
    for (std::uint32_t port = 0; port < ports_.size(); ++port) try_start(port, now, true);
  }

  void try_start(std::uint32_t l, std::int64_t now, bool slow_ones_too) {
    InPort& port = ports_[l];
    if (npus_[port.to].demand == 0) {
      ready_[l] = waiting;
      return;
    }
    if (!slow_ones_too && others_finish_first(l)) return;
    for (std::uint32_t i = 0; i < port.senders; ++i) {
      const std::uint32_t s = port.first + (port.next + i) % port.senders;
      if (!is_free(senders_[s], now)) continue;
      const std::optional<std::uint32_t> chunk = choose(senders_[s], port.to);
      if (!chunk) continue;
      start(l, s, *chunk, now);
      port.next = (port.next + i + 1) % port.senders;
      return;
    }
  }

  [[nodiscard]] bool is_free(const Sender& sender, std::int64_t now) const {
    for (std::uint32_t h = sender.first_hop; h < sender.first_hop + sender.hops; ++h) {
      const std::int64_t at = now + hops_[h].head;
      if (link_free_[hops_[h].link.value] > at) return false;
      for (const std::uint32_t group : topology_.groups_of(hops_[h].link))
        if (group_free_[group] > at) return false;
    }
    return true;
  }

  /// Whether the NPU's other ports could deliver its whole demand before this one delivers a chunk.
  [[nodiscard]] bool others_finish_first(std::uint32_t l) const {
    const NpuState& npu = npus_[ports_[l].to];
    if (ports_[l].cost <= ports_[npu.ports.front()].cost) return false;
    std::int64_t deliveries = 0;
    for (const std::uint32_t other : npu.ports) {
      if (other == l || ports_[other].cost > ports_[l].cost) continue;
      deliveries += 1 + (ports_[l].cost - ports_[other].cost) / ports_[other].busy;
      if (deliveries >= npu.demand) return true;
    }
    return false;
  }

  /// The sender's chunk that fewest of the receiver's neighbours hold, among the first few that the
  /// receiver demands.
  std::optional<std::uint32_t> choose(Sender& sender, std::uint32_t to) {
    const std::vector<std::uint32_t>& chunks = npus_[sender.npu].chunks;
    while (sender.scanned < chunks.size() && promised_.test(to, chunks[sender.scanned]))
      ++sender.scanned;
    std::uint32_t found = 0, least = UINT32_MAX;
    std::optional<std::uint32_t> chosen;
    for (std::size_t k = sender.scanned;
         k < chunks.size() && found < problem_.candidates && least > 0; ++k) {
      if (promised_.test(to, chunks[k])) continue;
      ++found;
      std::uint32_t supply = 0;
      for (const std::uint32_t neighbour : npus_[to].neighbours)
        supply += neighbour != sender.npu && held_.test(neighbour, chunks[k]);
      if (supply >= least) continue;
      least = supply;
      chosen = chunks[k];
    }
    return chosen;
  }

  void start(std::uint32_t l, std::uint32_t s, std::uint32_t chunk, std::int64_t now) {
    const Sender& sender = senders_[s];
    InPort& port = ports_[l];
    promised_.set(port.to, chunk);
    --npus_[port.to].demand;
    require_representable(now, Time{sender.cost});
    const auto flight = static_cast<std::uint32_t>(flights_.size());
    flights_.push_back({s, l, chunk});
    for (std::uint32_t h = sender.first_hop; h < sender.first_hop + sender.hops; ++h) {
      const Hop& hop = hops_[h];
      const std::int64_t free = now + hop.head + hop.busy;
      link_free_[hop.link.value] = free;
      for (const std::uint32_t group : topology_.groups_of(hop.link)) {
        group_free_[group] =
            now + hop.head + serialization(size_, topology_.groups()[group].bandwidth).ps;
        events_.push(now, {group_free_[group], flight, sender_free});
      }
      // The next transfer's head may cross the earlier links while this one is still busy.
      const bool first = h == sender.first_hop;
      const std::int64_t lead = first ? 0 : hop.head;
      events_.push(now, {free - lead, flight, first ? sender_free : port_free});
      ready_[l] = free - lead; // that of the last link remains
    }
    events_.push(now, {now + sender.cost, flight, chunk_arrives});
    schedule_.push({ChunkId{chunk}, sender.path, Op::copy, false});
    makespan_ = std::max(makespan_, now + sender.cost);
  }

  const PortProblem& problem_;
  const Topology& topology_;
  std::uint32_t chunks_;
  Bytes size_;
  Schedule schedule_;
  std::vector<NpuState> npus_;
  ChunkBits promised_, held_;
  std::vector<std::int64_t> link_free_, group_free_;
  std::vector<InPort> ports_;
  std::vector<std::int64_t> ready_; // per port: when its next transfer can start, or `waiting`
  std::vector<Sender> senders_;
  std::vector<Hop> hops_;
  bool entangled_ = false;           // ports share more than an NPU's own links
  std::vector<std::uint32_t> woken_; // ports that may be able to start
  std::vector<Flight> flights_;      // all that started; events name them
  EventQueue events_;
  std::uint64_t total_ = 0, missing_ = 0;
  std::int64_t makespan_ = 0;
};

} // namespace

std::optional<PortMatches> match_at_ports(const PortProblem& problem,
                                          const std::vector<std::vector<LinkId>>& paths) {
  return Ports(problem).run(paths);
}

} // namespace tutti
