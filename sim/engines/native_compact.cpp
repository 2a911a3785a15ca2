// The native engine on a compact schedule. A link sends the chunks of its list one after another,
// each as soon as its sender holds it: a transfer's time follows from the one before it on its link
// and from the one that brought its chunk, in whatever order they are looked at. So nothing is done
// in the order of time: node by node, each link into a node goes on until its sender lacks the next
// chunk, and a node is looked at again when that is there; a visit works on the rows of that node
// and its neighbours. Reductions, which come before the copies of their links, are done first; a
// node has a sum when all of its parts have come. Memory beside the schedule: 8 bytes a (chunk,
// node). All-Gathers by TACOS, CPU time: mesh2d:64x64 (16.8 million transfers) 38 ns a transfer,
// with the way there from a list, mesh2d:100x100 (10^8) 33 to 41 ns, its All-Reduce 40,
// mesh2d:200x200 63 ns; an event queue on the compact form took 70 ns on the first and 390 on the
// second.

#include "sim/engines/engine.hpp"
#include "sim/engines/event_queue.hpp"
#include "sim/engines/in_order.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace tutti {

namespace {

class CompactRun {
public:
  CompactRun(const Topology& topology, const Collective& collective,
             const CompactSchedule& schedule, const TimeModel& model, const Watch& watch)
      : topology_(topology), schedule_(schedule),
        latency_occupies_(model.link_busy == LinkBusy::latency_and_serialization), steps_(watch),
        total_(schedule.size()), links_(topology.link_count()), row_(collective.chunks.size()),
        held_since_(row_ * topology.node_count(), never), waiting_(topology.node_count() / 64 + 1) {
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
    for (const Time done : report_.chunk_done)
      report_.completion = std::max(report_.completion, done);
    report_.link_transfers = total_;
    return std::move(report_);
  }

private:
  /// Since when a node has a chunk, ps. Where n parts of a sum are still to come: since when it has
  /// the others, less n `part`s.
  static constexpr std::int64_t never = -1, part = std::int64_t{1} << 55, most_parts = 254;

  struct LinkState {
    std::size_t next = 0, end = 0; // positions in the lists: to send, one past the last
    std::int64_t free_at = 0;
    Bytes last_size{};
    std::int64_t last_duration = 0;
  };

  [[nodiscard]] std::int64_t* row_of(NodeId node) { return held_since_.data() + row_ * node.value; }
  void look_again_at(NodeId node) {
    waiting_[node.value / 64] |= std::uint64_t{1} << node.value % 64;
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
      links_[l].next = lists.begin[l];
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
    const auto look_at = [&](std::size_t word, int bit) {
      waiting_[word] &= ~(std::uint64_t{1} << bit);
      const auto node = static_cast<std::uint32_t>(word * 64) + static_cast<std::uint32_t>(bit);
      receive_all<op>(chunks, NodeId{node});
    };
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (std::size_t w = 0; w < waiting_.size(); ++w)
        for (; waiting_[w] != 0; goes_on = true) look_at(w, std::countr_zero(waiting_[w]));
      for (std::size_t w = waiting_.size(); w-- > 0;) // and back, for what goes that way
        for (; waiting_[w] != 0; goes_on = true) look_at(w, 63 - std::countl_zero(waiting_[w]));
    }
  }

  /// A node's links, in a list of all nodes' that ends there.
  static std::span<const LinkId> of(NodeId node, const std::vector<LinkId>& links,
                                    const std::vector<std::size_t>& end) {
    const std::size_t begin = node.value == 0 ? 0 : end[node.value - 1];
    return std::span(links).subspan(begin, end[node.value] - begin);
  }

  template <Op op, typename ChunkNumber>
  void receive_all(const std::vector<ChunkNumber>& chunks, NodeId node) {
    bool received = false;
    for (const LinkId in : of(node, in_links_, in_end_))
      received = receive<op>(chunks, in) || received;
    if (!received) return;
    for (const LinkId out : of(node, out_links_, out_end_)) {
      const LinkState& state = links_[out.value];
      if (state.next < state.end && row_of(node)[chunks[state.next]] >= 0)
        look_again_at(topology_.link(out).to);
    }
  }

  /// Sends what can be sent over the link; whether that is anything.
  template <Op op, typename ChunkNumber>
  bool receive(const std::vector<ChunkNumber>& chunks, LinkId id) {
    const Link& link = topology_.link(id);
    LinkState state = links_[id.value];
    const std::int64_t after = latency_occupies_ ? link.latency.ps : 0;
    std::int64_t *const there = row_of(link.from), *const here = row_of(link.to);
    LinkUse& use = report_.links[id.value];
    const std::size_t before = state.next;
    for (; state.next < state.end; ++state.next) {
      const ChunkNumber chunk = chunks[state.next];
      const std::int64_t since = there[chunk];
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
        there[chunk] = never; // a part goes once
        is_for_list_ = is_for_list_ || arrival >= part - 1;
        here[chunk] += part + std::max<std::int64_t>(arrival - (here[chunk] & (part - 1)), 0);
      } else {
        is_for_list_ = is_for_list_ || here[chunk] != never;
        here[chunk] = arrival;
      }
      use.bytes += state.last_size;
      use.busy += Time{state.last_duration + after};
      Time& done = report_.chunk_done[chunk];
      done = std::max(done, Time{arrival});
    }
    const std::size_t moved = state.next - before;
    links_[id.value] = state;
    use.transfers += moved;
    arrived_ += moved;
    steps_.take(1 + moved, [this] { return WorkProgress{arrived_, total_}; });
    return moved > 0;
  }

  template <typename ChunkNumber>
  void require_all_sent(const std::vector<ChunkNumber>& chunks) const {
    for (std::uint32_t l = 0; l < links_.size(); ++l) {
      if (links_[l].next == links_[l].end) continue;
      const Link& link = topology_.link(LinkId{l});
      throw InputError(fmt::format("chunk {} never reaches {}, which has to send it to {}",
                                   chunks[links_[l].next], topology_.node(link.from).name,
                                   topology_.node(link.to).name));
    }
  }

  const Topology& topology_;
  const CompactSchedule& schedule_;
  bool latency_occupies_;
  WatchedSteps steps_;
  std::uint64_t arrived_ = 0, total_ = 0; // transfers
  bool is_for_list_ = false;
  Report report_;
  std::vector<Bytes> sizes_; // per chunk
  std::vector<LinkState> links_;
  std::vector<LinkId> in_links_, out_links_;  // that carry something, node by node
  std::vector<std::size_t> in_end_, out_end_; // per node
  std::size_t row_;
  std::vector<std::int64_t> held_since_; // by node, then chunk
  std::vector<std::uint64_t> waiting_;   // a bit per node: some link into it may go on
};

/// `listed`: the same as a list, whose deliveries are wanted; or null.
std::optional<Report> replay_by_node(const Topology& topology, const Collective& collective,
                                     const CompactSchedule& schedule, const TimeModel& model,
                                     const Watch& watch, const Schedule* listed) {
  CompactRun run(topology, collective, schedule, model, watch);
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
  return replay_by_node(topology, collective, by_link(schedule, collective.chunks.size()), model,
                        options.watch, options.record_deliveries ? &schedule : nullptr);
}

Report run_native_compact(const Topology& topology, const Collective& collective,
                          const CompactSchedule& schedule, const TimeModel& model,
                          const Watch& watch) {
  const bool sums_take_time =
      schedule.reductions.size() > 0 && reductions_take_time(topology, model);
  if (model.discipline == Discipline::fifo && links_are_independent(topology) && !sums_take_time &&
      is_dense(topology, collective.chunks.size(), schedule.size()))
    if (std::optional<Report> report =
            replay_by_node(topology, collective, schedule, model, watch, nullptr))
      return std::move(*report);
  RunOptions options;
  options.watch = watch;
  return run_native(topology, collective, expanded(topology, collective, schedule), model, options);
}

} // namespace tutti
