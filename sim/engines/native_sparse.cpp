// The native engine on copies of which each chunk comes to few of the nodes, as in an All-to-All:
// 8 bytes a (chunk, node), which native_compact.cpp takes, are 8 GB for 1,024 NPUs, and 0.5 TB for
// 4,096. Idea: a place for each arrival alone, those of a chunk side by side, by node. As there,
// nothing is done in the order of time: node by node, each link out of a node goes on until the
// node lacks its next chunk, and a node to which something came is looked at again. Memory beside
// the schedule: 12 bytes a transfer, 28 a chunk. torus2d:32x32, All-to-All (16.8 million
// transfers): 0.2 us a transfer.

#include "sim/engines/event_queue.hpp"
#include "sim/engines/in_order.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace tutti {

namespace {

class SparseRun {
public:
  SparseRun(const Topology& topology, const Collective& collective, const CompactSchedule& schedule,
            const TimeModel& model, const Watch& watch)
      : topology_(topology), collective_(collective), lists_(schedule.copies),
        latency_occupies_(model.link_busy == LinkBusy::latency_and_serialization), steps_(watch),
        total_(schedule.size()), free_at_(topology.link_count()), next_(lists_.begin),
        begin_(collective.chunks.size() + 1), node_(total_), since_(total_, never),
        is_waiting_(topology.node_count()) {
    report_.engine = "native";
    report_.model = model;
    report_.links.resize(topology.link_count());
    report_.chunk_done.resize(collective.chunks.size());
  }

  /// Nothing where a copy comes to a node twice.
  std::optional<Report> run() {
    std::visit(
        [&](const auto& chunks) {
          find_places(chunks);
          find_repeated();
          if (comes_twice_) return;
          send_all(chunks);
          require_all_sent(chunks);
        },
        lists_.chunks);
    if (comes_twice_) return std::nullopt;
    report_.link_transfers = total_;
    for (const Time done : report_.chunk_done)
      report_.completion = std::max(report_.completion, done);
    return std::move(report_);
  }

  /// When a chunk came to a node. Pre: it has.
  [[nodiscard]] Time held_since(std::size_t chunk, NodeId node) const {
    return Time{since_[place(chunk, node)]};
  }

private:
  static constexpr std::int64_t never = -1;

  /// A place for each arrival: by chunk, then by node.
  template <typename ChunkNumber> void find_places(const std::vector<ChunkNumber>& chunks) {
    for (std::uint32_t l = 0; l < topology_.link_count(); ++l)
      for (std::size_t at = lists_.begin[l]; at < lists_.end[l]; ++at) ++begin_[chunks[at] + 1];
    for (std::size_t c = 1; c < begin_.size(); ++c) begin_[c] += begin_[c - 1];
    std::vector<std::size_t> end(begin_.begin(), begin_.end() - 1);
    for (std::uint32_t n = 0; n < topology_.node_count(); ++n)
      for (const LinkId in : topology_.in_links(NodeId{n}))
        for (std::size_t at = lists_.begin[in.value]; at < lists_.end[in.value]; ++at)
          node_[end[chunks[at]]++] = n;
  }

  /// What comes to a node twice, or where it was from the start.
  void find_repeated() {
    for (std::uint32_t c = 0; c < collective_.chunks.size() && !comes_twice_; ++c) {
      const auto its = arrivals(c);
      comes_twice_ = std::ranges::adjacent_find(its) != its.end() ||
                     std::ranges::any_of(collective_.sources(ChunkId{c}), [&](NodeId source) {
                       return std::ranges::binary_search(its, source.value);
                     });
    }
  }

  [[nodiscard]] std::span<const std::uint32_t> arrivals(std::size_t chunk) const {
    return std::span(node_).subspan(begin_[chunk], begin_[chunk + 1] - begin_[chunk]);
  }
  /// The place of an arrival; the end where the chunk never comes there.
  [[nodiscard]] std::size_t place(std::size_t chunk, NodeId node) const {
    const auto its = arrivals(chunk);
    const auto found = std::ranges::lower_bound(its, node.value);
    if (found == its.end() || *found != node.value) return node_.size();
    return begin_[chunk] + static_cast<std::size_t>(found - its.begin());
  }
  [[nodiscard]] std::int64_t since(std::size_t chunk, NodeId node) const {
    const std::size_t its = place(chunk, node);
    if (its < node_.size()) return since_[its];
    const auto sources = collective_.sources(ChunkId{static_cast<std::uint32_t>(chunk)});
    return std::ranges::binary_search(sources, node) ? 0 : never;
  }

  template <typename ChunkNumber> void send_all(const std::vector<ChunkNumber>& chunks) {
    std::vector<NodeId> now, later;
    const auto look_again_at = [&](NodeId node) {
      if (is_waiting_[node.value]) return;
      is_waiting_[node.value] = true;
      later.push_back(node);
    };
    for (std::uint32_t n = 0; n < topology_.node_count(); ++n) look_again_at(NodeId{n});
    while (!later.empty()) {
      now.clear();
      std::swap(now, later);
      for (const NodeId node : now) {
        is_waiting_[node.value] = false;
        for (const LinkId out : topology_.out_links(node))
          if (next_[out.value] < lists_.end[out.value] && send(chunks, out))
            look_again_at(topology_.link(out).to);
      }
    }
  }

  /// What can be sent over the link; whether that is anything.
  template <typename ChunkNumber> bool send(const std::vector<ChunkNumber>& chunks, LinkId id) {
    const Link& link = topology_.link(id);
    const std::int64_t after = latency_occupies_ ? link.latency.ps : 0;
    LinkUse& use = report_.links[id.value];
    const std::size_t first = next_[id.value];
    std::size_t at = first;
    Bytes last_size{};
    std::int64_t duration = 0;
    for (; at < lists_.end[id.value]; ++at) {
      const std::size_t chunk = chunks[at];
      const std::int64_t there = since(chunk, link.from);
      if (there == never) break;
      if (const Bytes size = collective_.chunks[chunk].size; size != last_size) {
        last_size = size;
        duration = serialization(size, link.bandwidth).ps;
      }
      const std::int64_t sent = std::max(free_at_[id.value], there) + duration;
      require_representable(sent, link.latency);
      free_at_[id.value] = sent + after;
      const Time arrival{sent + link.latency.ps};
      since_[place(chunk, link.to)] = arrival.ps;
      use.bytes += last_size;
      use.busy += Time{duration + after};
      report_.chunk_done[chunk] = std::max(report_.chunk_done[chunk], arrival);
    }
    next_[id.value] = at;
    use.transfers += at - first;
    sent_ += at - first;
    steps_.take(1 + at - first, [&] { return WorkProgress{sent_, total_}; });
    return at > first;
  }

  template <typename ChunkNumber>
  void require_all_sent(const std::vector<ChunkNumber>& chunks) const {
    for (std::uint32_t l = 0; l < topology_.link_count(); ++l) {
      if (next_[l] == lists_.end[l]) continue;
      const Link& link = topology_.link(LinkId{l});
      throw InputError(fmt::format("chunk {} never reaches {}, which has to send it to {}",
                                   chunks[next_[l]], topology_.node(link.from).name,
                                   topology_.node(link.to).name));
    }
  }

  const Topology& topology_;
  const Collective& collective_;
  const ChunkLists& lists_;
  bool latency_occupies_, comes_twice_ = false;
  WatchedSteps steps_;
  std::uint64_t total_, sent_ = 0; // transfers
  Report report_;
  std::vector<std::int64_t> free_at_; // per link
  std::vector<std::size_t> next_;     // per link: position in the lists
  std::vector<std::size_t> begin_;    // per chunk: its first arrival
  std::vector<std::uint32_t> node_;   // per arrival: where
  std::vector<std::int64_t> since_;   // per arrival: when, ps
  std::vector<bool> is_waiting_;      // per node: some link out of it may go on
};

} // namespace

std::optional<Report> replay_sparse(const Topology& topology, const Collective& collective,
                                    const CompactSchedule& schedule, const TimeModel& model,
                                    const Watch& watch, const Schedule* listed) {
  SparseRun run(topology, collective, schedule, model, watch);
  std::optional<Report> report = run.run();
  if (report && listed != nullptr)
    for (const Schedule::Packed& transfer : listed->packed()) {
      const LinkId link{transfer.path & Schedule::path_mask};
      report->deliveries.push_back(run.held_since(transfer.chunk, topology.link(link).to));
    }
  return report;
}

} // namespace tutti
