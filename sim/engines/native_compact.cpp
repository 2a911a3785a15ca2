// The native engine on a compact schedule. A link sends the chunks of its list one after another,
// each as soon as its sender holds it: a transfer's time follows from the one before it on its link
// and from the one that brought its chunk, in whatever order they are looked at. So nothing is done
// in the order of time: node by node, each link into a node goes on until its sender lacks the next
// chunk, and a node is looked at again when that is there; a visit works on the rows of that node
// and its neighbours. Reductions, which come before the copies of their links, are done first; a
// node has a sum when all of its parts have come. Several threads have a part of the nodes each,
// and the links into them; times are the same, as they follow from the lists alone. Memory beside
// the schedule: 8 bytes a (chunk, node). All-Gathers by TACOS, CPU time: mesh2d:64x64 (16.8 million
// transfers) 38 ns a transfer, with the way there from a list, mesh2d:100x100 (10^8) 33 to 41 ns,
// its All-Reduce 40, mesh2d:200x200 63 ns; an event queue on the compact form took 70 ns on the
// first and 390 on the second.
//
// Between threads: a (chunk, node) is written by the thread of the node, or, when its sum is sent
// on, by that of the receiver; a link's position by the thread of the node that it leads to. Who
// has brought a chunk to a node looks at the positions of the links out of it, by a
// read-modify-write, and wakes the receiver where the chunk there is the next; who can't go on
// publishes its position likewise and looks once more whether the chunk has come. One of the two
// operations is the later one, and sees what the other did: no chunk is overlooked.

#include "sim/engines/engine.hpp"
#include "sim/engines/event_queue.hpp"
#include "sim/engines/in_order.hpp"
#include "sim/error.hpp"
#include "sim/side_by_side.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

namespace tutti {

namespace {

class CompactRun {
public:
  CompactRun(const Topology& topology, const Collective& collective,
             const CompactSchedule& schedule, const TimeModel& model, const Watch& watch,
             unsigned threads)
      : topology_(topology), schedule_(schedule),
        latency_occupies_(model.link_busy == LinkBusy::latency_and_serialization), steps_(watch),
        total_(schedule.size()), links_(topology.link_count()), next_(topology.link_count()),
        row_(collective.chunks.size()), held_since_(row_ * topology.node_count(), never),
        waiting_(topology.node_count() / 64 + 1),
        workers_(std::clamp<std::size_t>(waiting_.size() / least_words, 1, threads)) {
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      workers_[w].first = waiting_.size() * w / workers_.size();
      workers_[w].last = waiting_.size() * (w + 1) / workers_.size();
      workers_[w].chunk_done.resize(row_);
    }
    report_.engine = "native";
    report_.model = model;
    report_.links.resize(topology.link_count());
    report_.chunk_done.resize(row_);
    for (const Chunk& chunk : collective.chunks) sizes_.push_back(chunk.size);
    std::visit([&](const auto& chunks) { owe(schedule.reductions, chunks); },
               schedule.reductions.chunks);
    for (std::uint32_t c = 0; c < row_; ++c)
      for (const NodeId source : collective.sources(ChunkId{c}))
        if (std::int64_t& since = row_of(source)[c]; since == never) since = 0;
  }

  /// When a chunk came to a node. Pre: it has.
  [[nodiscard]] Time held_since(ChunkId chunk, NodeId node) const {
    return Time{held_since_[row_ * node.value + chunk.value]};
  }

  /// Nothing where a copy comes to a node twice (who sends it on then is decided by the list), or
  /// numbers are too large for how parts of sums are counted.
  std::optional<Report> run() {
    if (schedule_.reductions.size() > 0) replay<Op::reduce>(schedule_.reductions);
    replay<Op::copy>(schedule_.copies);
    if (is_for_list_) return std::nullopt;
    for (std::size_t c = 0; c < row_; ++c) {
      for (const Worker& worker : workers_)
        report_.chunk_done[c] = std::max(report_.chunk_done[c], worker.chunk_done[c]);
      report_.completion = std::max(report_.completion, report_.chunk_done[c]);
    }
    report_.link_transfers = total_;
    return std::move(report_);
  }

private:
  /// Since when a node has a chunk, ps. Where n parts of a sum are still to come: since when it has
  /// the others, less n `part`s.
  static constexpr std::int64_t never = -1, part = std::int64_t{1} << 55, most_parts = 254;
  static constexpr std::size_t least_words = 16; ///< of `waiting_`, for a thread

  struct LinkState {
    std::size_t end = 0; // position in the lists: one past the last
    std::int64_t free_at = 0;
    Bytes last_size{};
    std::int64_t last_duration = 0;
  };

  /// A thread: of the nodes of these words of `waiting_`.
  struct alignas(64) Worker {
    std::size_t first = 0, last = 0;
    std::vector<Time> chunk_done;
    std::atomic<std::uint64_t> arrived = 0; ///< transfers
  };

  [[nodiscard]] std::int64_t* row_of(NodeId node) { return held_since_.data() + row_ * node.value; }
  static std::int64_t at(std::int64_t& cell) {
    return std::atomic_ref(cell).load(std::memory_order_acquire);
  }
  static void put(std::int64_t& cell, std::int64_t value) {
    std::atomic_ref(cell).store(value, std::memory_order_release);
  }
  [[nodiscard]] bool is_alone() const { return workers_.size() == 1; }
  /// The link's position. Between threads each change of it and each look is one operation.
  [[nodiscard]] std::size_t next(LinkId link) {
    std::size_t& place = next_[link.value];
    return is_alone() ? place : std::atomic_ref(place).fetch_add(0, std::memory_order_acq_rel);
  }
  void publish(LinkId link, std::size_t position) {
    std::size_t& place = next_[link.value];
    if (is_alone())
      place = position;
    else
      std::atomic_ref(place).exchange(position, std::memory_order_acq_rel);
  }
  void look_again_at(NodeId node) {
    std::uint64_t& word = waiting_[node.value / 64];
    const std::uint64_t bit = std::uint64_t{1} << node.value % 64;
    if (is_alone())
      word |= bit;
    else
      std::atomic_ref(word).fetch_or(bit, std::memory_order_acq_rel);
  }
  [[nodiscard]] std::uint64_t waiting(std::size_t word) {
    return std::atomic_ref(waiting_[word]).load(std::memory_order_acquire);
  }

  template <typename ChunkNumber>
  void owe(const ChunkLists& reductions, const std::vector<ChunkNumber>& chunks) {
    for (std::uint32_t l = 0; l < topology_.link_count(); ++l) {
      std::int64_t* const here = row_of(topology_.link(LinkId{l}).to);
      for (std::size_t i = reductions.begin[l]; i < reductions.end[l]; ++i) {
        std::int64_t& since = here[chunks[i]];
        is_for_list_ = is_for_list_ || since < -most_parts * part;
        if (is_for_list_) return;
        since = (since == never ? 0 : since) - part;
      }
    }
  }

  template <Op op> void replay(const ChunkLists& lists) {
    if (is_for_list_) return;
    in_links_.clear(), out_links_.clear(), in_end_.clear(), out_end_.clear();
    for (std::uint32_t l = 0; l < topology_.link_count(); ++l) {
      next_[l] = lists.begin[l];
      links_[l].end = lists.end[l];
    }
    // A network may have many more links than are in use.
    for (std::uint32_t n = 0; n < topology_.node_count(); ++n) {
      for (const LinkId in : topology_.in_links(NodeId{n}))
        if (lists.on(in) > 0) in_links_.push_back(in);
      for (const LinkId out : topology_.out_links(NodeId{n}))
        if (lists.on(out) > 0) out_links_.push_back(out);
      in_end_.push_back(in_links_.size());
      out_end_.push_back(out_links_.size());
    }
    std::visit(
        [&](const auto& chunks) {
          send_all<op>(chunks);
          if (!is_for_list_) require_all_sent(chunks);
        },
        lists.chunks);
  }

  template <Op op, typename ChunkNumber> void send_all(const std::vector<ChunkNumber>& chunks) {
    for (std::uint32_t n = 0; n < topology_.node_count(); ++n) look_again_at(NodeId{n});
    idle_ = 0;
    run_side_by_side(static_cast<unsigned>(workers_.size()), [&](unsigned w) {
      try {
        do send_on<op>(chunks, workers_[w]);
        while (has_more(workers_[w]));
      } catch (...) {
        is_stopped_ = true; // nobody waits for this thread
        throw;
      }
    });
  }

  /// Until none of the worker's nodes is waiting.
  template <Op op, typename ChunkNumber>
  void send_on(const std::vector<ChunkNumber>& chunks, Worker& worker) {
    const auto look_at = [&](std::size_t word, int bit) {
      const std::uint64_t others = ~(std::uint64_t{1} << bit);
      if (is_alone())
        waiting_[word] &= others;
      else
        std::atomic_ref(waiting_[word]).fetch_and(others, std::memory_order_acq_rel);
      const auto node = static_cast<std::uint32_t>(word * 64) + static_cast<std::uint32_t>(bit);
      receive_all<op>(chunks, NodeId{node}, worker);
    };
    for (bool goes_on = true; goes_on && !is_stopped_;) {
      goes_on = false;
      for (std::size_t w = worker.first; w < worker.last; ++w)
        for (; const std::uint64_t bits = waiting(w); goes_on = true)
          look_at(w, std::countr_zero(bits));
      for (std::size_t w = worker.last; w-- > worker.first;) // and back, for what goes that way
        for (; const std::uint64_t bits = waiting(w); goes_on = true)
          look_at(w, 63 - std::countl_zero(bits));
    }
  }

  /// Waits until the worker has something to do again: false where nobody has, or will. Only who
  /// isn't idle gives others work: so all is done if all are idle, nothing waits, and nobody has
  /// left off being idle meanwhile.
  bool has_more(const Worker& worker) {
    if (is_alone()) return false;
    const auto any = [&](std::size_t first, std::size_t last) {
      while (first < last && waiting(first) == 0) ++first;
      return first < last;
    };
    ++idle_;
    for (;; std::this_thread::yield()) {
      if (is_stopped_) return false;
      if (any(worker.first, worker.last)) {
        ++wakings_, --idle_;
        return true;
      }
      const std::uint64_t wakings = wakings_;
      if (idle_ == workers_.size() && !any(0, waiting_.size()) && wakings == wakings_) return false;
      if (&worker == workers_.data()) tell(1);
    }
  }

  /// Pre: the first worker's thread, which began the replay.
  void tell(std::uint64_t steps) {
    steps_.take(steps, [this] {
      std::uint64_t arrived = 0;
      for (const Worker& worker : workers_) arrived += worker.arrived;
      return WorkProgress{arrived, total_};
    });
  }

  /// A node's links, in a list of all nodes' that ends there.
  static std::span<const LinkId> of(NodeId node, const std::vector<LinkId>& links,
                                    const std::vector<std::size_t>& end) {
    const std::size_t begin = node.value == 0 ? 0 : end[node.value - 1];
    return std::span(links).subspan(begin, end[node.value] - begin);
  }

  template <Op op, typename ChunkNumber>
  void receive_all(const std::vector<ChunkNumber>& chunks, NodeId node, Worker& worker) {
    bool received = false;
    for (const LinkId in : of(node, in_links_, in_end_))
      while (receive<op>(chunks, in, worker)) {
        received = true;
        if (is_alone()) break; // nothing came meanwhile
      }
    if (!received) return;
    for (const LinkId out : of(node, out_links_, out_end_)) {
      const std::size_t position = next(out);
      if (position < links_[out.value].end && at(row_of(node)[chunks[position]]) >= 0)
        look_again_at(topology_.link(out).to);
    }
  }

  /// Sends what can be sent over the link; whether that is anything.
  template <Op op, typename ChunkNumber>
  bool receive(const std::vector<ChunkNumber>& chunks, LinkId id, Worker& worker) {
    const Link& link = topology_.link(id);
    LinkState state = links_[id.value];
    const std::int64_t after = latency_occupies_ ? link.latency.ps : 0;
    std::int64_t *const there = row_of(link.from), *const here = row_of(link.to);
    LinkUse& use = report_.links[id.value];
    const std::size_t before = // nobody else changes it
        std::atomic_ref(next_[id.value]).load(std::memory_order_relaxed);
    std::size_t position = before;
    for (; position < state.end; ++position) {
      const ChunkNumber chunk = chunks[position];
      const std::int64_t since = at(there[chunk]);
      if (since < 0) break;
      if (const Bytes size = sizes_[chunk]; size != state.last_size) {
        state.last_size = size;
        state.last_duration = serialization(size, link.bandwidth).ps;
      }
      const std::int64_t sent = std::max(state.free_at, since) + state.last_duration;
      require_representable(sent, link.latency);
      state.free_at = sent + after;
      const std::int64_t arrival = sent + link.latency.ps;
      if constexpr (op == Op::reduce) {
        put(there[chunk], never); // a part goes once
        if (arrival >= part - 1) is_for_list_ = true;
        const std::int64_t others = at(here[chunk]);
        put(here[chunk],
            others + part + std::max<std::int64_t>(arrival - (others & (part - 1)), 0));
      } else {
        if (at(here[chunk]) != never) is_for_list_ = true;
        put(here[chunk], arrival);
      }
      use.bytes += state.last_size;
      use.busy += Time{state.last_duration + after};
      Time& done = worker.chunk_done[chunk];
      done = std::max(done, Time{arrival});
    }
    const std::size_t moved = position - before;
    if (moved == 0) return false;
    LinkState& kept = links_[id.value]; // others read its end
    kept.free_at = state.free_at;
    kept.last_size = state.last_size;
    kept.last_duration = state.last_duration;
    publish(id, position);
    use.transfers += moved;
    worker.arrived.store(worker.arrived.load(std::memory_order_relaxed) + moved,
                         std::memory_order_relaxed);
    if (&worker == workers_.data()) tell(1 + moved);
    return true;
  }

  template <typename ChunkNumber>
  void require_all_sent(const std::vector<ChunkNumber>& chunks) const {
    for (std::uint32_t l = 0; l < links_.size(); ++l) {
      if (next_[l] == links_[l].end) continue;
      const Link& link = topology_.link(LinkId{l});
      throw InputError(fmt::format("chunk {} never reaches {}, which has to send it to {}",
                                   chunks[next_[l]], topology_.node(link.from).name,
                                   topology_.node(link.to).name));
    }
  }

  const Topology& topology_;
  const CompactSchedule& schedule_;
  bool latency_occupies_;
  WatchedSteps steps_;
  std::uint64_t total_ = 0; // transfers
  std::atomic<bool> is_for_list_ = false, is_stopped_ = false;
  std::atomic<std::size_t> idle_ = 0; // threads
  std::atomic<std::uint64_t> wakings_ = 0;
  Report report_;
  std::vector<Bytes> sizes_; // per chunk
  std::vector<LinkState> links_;
  std::vector<std::size_t> next_;             // per link: position in the lists
  std::vector<LinkId> in_links_, out_links_;  // that carry something, node by node
  std::vector<std::size_t> in_end_, out_end_; // per node
  std::size_t row_;
  std::vector<std::int64_t> held_since_; // by node, then chunk
  std::vector<std::uint64_t> waiting_;   // a bit per node: some link into it may go on
  std::vector<Worker> workers_;
};

/// `listed`: the same as a list, whose deliveries are wanted; or null.
std::optional<Report> replay_by_node(const Topology& topology, const Collective& collective,
                                     const CompactSchedule& schedule, const TimeModel& model,
                                     const Watch& watch, unsigned threads, const Schedule* listed) {
  CompactRun run(topology, collective, schedule, model, watch, threads);
  std::optional<Report> report = run.run();
  if (report && listed != nullptr)
    for (const Schedule::Packed& transfer : listed->packed()) {
      const LinkId link{transfer.path & Schedule::path_mask};
      report->deliveries.push_back(run.held_since(ChunkId{transfer.chunk}, topology.link(link).to));
    }
  return report;
}

} // namespace

std::optional<Report> replay_copies(const Topology& topology, const Collective& collective,
                                    const Schedule& schedule, const TimeModel& model,
                                    const RunOptions& options) {
  const CompactSchedule compact = by_link(schedule, collective.chunks.size());
  const Schedule* const listed = options.record_deliveries ? &schedule : nullptr;
  return is_dense(topology, collective.chunks.size(), schedule.size())
             ? replay_by_node(topology, collective, compact, model, options.watch, options.threads,
                              listed)
             : replay_sparse(topology, collective, compact, model, options.watch, listed);
}

Report run_native_compact(const Topology& topology, const Collective& collective,
                          const CompactSchedule& schedule, const TimeModel& model,
                          const Watch& watch, unsigned threads) {
  const bool sums_take_time =
      schedule.reductions.size() > 0 && reductions_take_time(topology, model);
  if (model.discipline == Discipline::fifo && links_are_independent(topology) && !sums_take_time) {
    std::optional<Report> report;
    if (is_dense(topology, collective.chunks.size(), schedule.size()))
      report = replay_by_node(topology, collective, schedule, model, watch, threads, nullptr);
    else if (schedule.reductions.size() == 0)
      report = replay_sparse(topology, collective, schedule, model, watch, nullptr);
    if (report) return std::move(*report);
  }
  RunOptions options;
  options.watch = watch;
  options.threads = threads;
  return run_native(topology, collective, expanded(topology, collective, schedule), model, options);
}

} // namespace tutti
