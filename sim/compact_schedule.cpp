// Between the list of transfers and the compact form. Expanding needs an order of all transfers in
// which every sender has its chunk: rounds, in which each link whose next chunk has reached its
// sender sends it. Links that wait stand in a list at the transfer that brings their chunk, so that
// work follows the transfers: O(transfers + chunks + links).

#include "sim/compact_schedule.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <numeric>

namespace tutti {

namespace {

constexpr std::uint32_t none = UINT32_MAX;

/// The positions 0 .. count-1 of a list, sorted by key; those of one key keep their order.
struct Buckets {
  template <typename KeyOf> Buckets(std::size_t count, std::size_t keys, const KeyOf& key_of) {
    assert(count < none - 1);
    begin.assign(keys + 1, 0);
    for (std::size_t i = 0; i < count; ++i) ++begin[key_of(i) + std::size_t{1}];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
    positions.resize(count);
    for (std::size_t i = 0; i < count; ++i)
      positions[next[key_of(i)]++] = static_cast<std::uint32_t>(i);
  }
  [[nodiscard]] std::span<const std::uint32_t> of(std::size_t key) const {
    return {positions.data() + begin[key], begin[key + 1] - begin[key]};
  }
  std::vector<std::size_t> begin;
  std::vector<std::uint32_t> positions;
};

bool single_hops_only(const Topology& topology, const Collective& collective,
                      const Schedule& schedule) {
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    const Transfer t = schedule[i];
    if (t.together || t.contiguous || t.path.value >= topology.link_count() ||
        t.chunk.value >= collective.chunks.size())
      return false;
  }
  return true;
}

/// No link carries a reduction after a copy.
bool reductions_come_first(const Topology& topology, const Schedule& schedule) {
  std::vector<bool> copies(topology.link_count());
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    const std::uint32_t link = schedule[i].path.value;
    if (schedule[i].op == Op::copy)
      copies[link] = true;
    else if (copies[link])
      return false;
  }
  return true;
}

/// Whether several contribute to the chunk.
bool is_sum(const Collective& collective, ChunkId chunk) {
  return collective.chunks[chunk.value].reduces && collective.sources(chunk).size() > 1;
}

/// Every sender has the chunk by then, and every receiver of a copy gets it for the first time;
/// sums leave once, after all that comes to them. Otherwise order across links would matter (or the
/// schedule be wrong), and expanded() would change it.
bool each_arrives_once(const Topology& topology, const Collective& collective,
                       const Schedule& schedule) {
  const Buckets by_chunk(schedule.size(), collective.chunks.size(),
                         [&](std::size_t i) { return schedule[i].chunk.value; });
  // Per node the last chunk that reached it, the last that moved on from it for good, and the last
  // whose sum did.
  std::vector<std::uint32_t> reached(topology.node_count(), none),
      gone(topology.node_count(), none), summed(topology.node_count(), none);
  for (std::uint32_t c = 0; c < collective.chunks.size(); ++c) {
    for (const NodeId source : collective.sources(ChunkId{c})) reached[source.value] = c;
    bool copied = false;
    for (const std::uint32_t i : by_chunk.of(c)) {
      const Link& link = topology.link(LinkId{schedule[i].path.value});
      const std::uint32_t from = link.from.value, to = link.to.value;
      if (reached[from] != c || gone[from] == c) return false;
      if (schedule[i].op == Op::reduce) {
        if (copied || summed[to] == c || !is_sum(collective, ChunkId{c})) return false;
        summed[from] = c;
        reached[from] = none;
      } else {
        if (reached[to] == c) return false;
        copied = true;
        if (!topology.node(link.from).can.copy) gone[from] = c;
      }
      reached[to] = c;
    }
  }
  return true;
}

std::string on_link(const Topology& topology, LinkId link) {
  return fmt::format("link {} ({} > {})", link.value, topology.node(topology.link(link).from).name,
                     topology.node(topology.link(link).to).name);
}

/// Transfers in lists are named by their position in ChunkLists::chunks.
constexpr std::uint32_t never = none, at_start = none - 1;

/// The link of each transfer; `none` between the blocks.
std::vector<std::uint32_t> links_of(const ChunkLists& lists, std::size_t places) {
  std::vector<std::uint32_t> links(places, none);
  for (std::uint32_t l = 0; l < lists.link_count(); ++l)
    std::fill(links.begin() + static_cast<std::ptrdiff_t>(lists.begin[l]),
              links.begin() + static_cast<std::ptrdiff_t>(lists.end[l]), l);
  return links;
}

template <typename ChunkNumber>
Buckets transfers_by_chunk(const std::vector<ChunkNumber>& chunks,
                           const std::vector<std::uint32_t>& links, std::size_t chunk_count) {
  return {chunks.size(), chunk_count + 1,
          [&](std::size_t i) { return links[i] == none ? chunk_count : std::size_t{chunks[i]}; }};
}

/// What is the case of one chunk at a node.
struct AtNode {
  std::uint32_t chunk = none, transfer = never;
};

/// What copies wait for: the one that brings the chunk to their sender. A link that waits for a
/// chunk costs nothing until then.
class Bringers {
public:
  template <typename ChunkNumber>
  Bringers(const Topology& topology, const ChunkLists& lists,
           const std::vector<ChunkNumber>& chunks, const std::vector<std::vector<NodeId>>& holders)
      : bringer_(chunks.size(), never), sent_(chunks.size()), first_waiting_(chunks.size(), none),
        next_waiting_(topology.link_count(), none) {
    const std::vector<std::uint32_t> links = links_of(lists, chunks.size());
    const auto link = [&](std::uint32_t transfer) {
      return topology.link(LinkId{links[transfer]});
    };
    const Buckets by_chunk = transfers_by_chunk(chunks, links, holders.size());
    std::vector<AtNode> arrival(topology.node_count());
    for (std::uint32_t c = 0; c < holders.size(); ++c) {
      for (const NodeId holder : holders[c]) arrival[holder.value] = {c, at_start};
      for (const std::uint32_t t : by_chunk.of(c)) {
        AtNode& there = arrival[link(t).to.value];
        if (there.chunk == c)
          throw InputError(fmt::format("{} brings chunk {} to a node that has it already",
                                       on_link(topology, LinkId{links[t]}), c));
        there = {c, t};
      }
      for (const std::uint32_t t : by_chunk.of(c)) {
        const AtNode& here = arrival[link(t).from.value];
        if (here.chunk == c) bringer_[t] = here.transfer;
      }
    }
  }

  /// Whether the transfer, the next of its link, can be sent; if not, the link waits.
  bool is_ready(std::uint32_t transfer, std::uint32_t link) {
    const std::uint32_t bringer = bringer_[transfer];
    if (bringer == never) return false;
    if (bringer == at_start || sent_[bringer]) return true;
    next_waiting_[link] = first_waiting_[bringer];
    first_waiting_[bringer] = link;
    return false;
  }
  /// Calls wake(link) for all that wait for it.
  template <typename Wake>
  void send(std::uint32_t transfer, const std::vector<std::size_t>&, const Wake& wake) {
    sent_[transfer] = true;
    for (std::uint32_t l = first_waiting_[transfer]; l != none; l = next_waiting_[l]) wake(l);
  }

private:
  std::vector<std::uint32_t> bringer_;       // per transfer
  std::vector<bool> sent_;                   // per transfer
  std::vector<std::uint32_t> first_waiting_; // per transfer: a link whose next it brings, or none
  std::vector<std::uint32_t> next_waiting_;  // per link: another link that waits for the same
};

/// What reductions wait for: as many of their chunk as come to their sender.
class Parts {
public:
  template <typename ChunkNumber>
  Parts(const Topology& topology, const ChunkLists& lists, const std::vector<ChunkNumber>& chunks,
        const Collective& collective)
      : owed_(chunks.size()), goes_on_(chunks.size(), never),
        links_(links_of(lists, chunks.size())) {
    const Buckets by_chunk = transfers_by_chunk(chunks, links_, collective.chunks.size());
    const auto link = [&](std::uint32_t transfer) {
      return topology.link(LinkId{links_[transfer]});
    };
    std::vector<AtNode> sending(topology.node_count());
    for (std::uint32_t c = 0; c < collective.chunks.size(); ++c) {
      for (const std::uint32_t t : by_chunk.of(c)) {
        AtNode& here = sending[link(t).from.value];
        if (here.chunk == c)
          throw InputError(fmt::format("{} sends a part of chunk {} that went elsewhere",
                                       on_link(topology, LinkId{links_[t]}), c));
        here = {c, t};
        owed_[t] = never;
      }
      for (const NodeId source : collective.sources(ChunkId{c}))
        if (const AtNode& here = sending[source.value]; here.chunk == c) owed_[here.transfer] = 0;
      for (const std::uint32_t t : by_chunk.of(c))
        if (const AtNode& there = sending[link(t).to.value]; there.chunk == c) {
          goes_on_[t] = there.transfer;
          std::uint32_t& owed = owed_[there.transfer];
          owed = owed == never ? 1 : owed + 1;
        }
    }
  }

  [[nodiscard]] bool is_ready(std::uint32_t transfer, std::uint32_t /*link*/) const {
    return owed_[transfer] == 0;
  }
  template <typename Wake>
  void send(std::uint32_t transfer, const std::vector<std::size_t>& next, const Wake& wake) {
    const std::uint32_t on = goes_on_[transfer];
    if (on != never && --owed_[on] == 0 && next[links_[on]] == on) wake(links_[on]);
  }

private:
  std::vector<std::uint32_t> owed_;    // per transfer: what must come first; never: it has nothing
  std::vector<std::uint32_t> goes_on_; // per transfer: what sends its sum on, or never
  std::vector<std::uint32_t> links_;   // per transfer
};

/// Appends the transfers of the lists round by round.
template <typename ChunkNumber, typename Waiting> class Expansion {
public:
  Expansion(const Topology& topology, const ChunkLists& lists,
            const std::vector<ChunkNumber>& chunks, Waiting waiting, Op op, Schedule& schedule)
      : topology_(topology), lists_(lists), chunks_(chunks), waiting_(std::move(waiting)), op_(op),
        schedule_(schedule), next_(lists.begin) {}

  void run() {
    for (std::uint32_t l = 0; l < topology_.link_count(); ++l) queue(l);
    std::vector<std::uint32_t> round;
    while (!next_round_.empty()) {
      round.swap(next_round_);
      next_round_.clear();
      std::sort(round.begin(), round.end());
      for (const std::uint32_t link : round) send(link);
    }
    require_all_sent();
  }

private:
  void queue(std::uint32_t link) {
    if (next_[link] != lists_.end[link] &&
        waiting_.is_ready(static_cast<std::uint32_t>(next_[link]), link))
      next_round_.push_back(link);
  }

  void send(std::uint32_t link) {
    const auto transfer = static_cast<std::uint32_t>(next_[link]++);
    schedule_.push(ChunkId{chunks_[transfer]}, LinkId{link}, op_);
    waiting_.send(transfer, next_, [&](std::uint32_t other) { next_round_.push_back(other); });
    queue(link);
  }

  void require_all_sent() const {
    for (std::uint32_t l = 0; l < topology_.link_count(); ++l)
      if (next_[l] != lists_.end[l])
        throw InputError(fmt::format("{}: chunk {} never reaches its sender",
                                     on_link(topology_, LinkId{l}), chunks_[next_[l]]));
  }

  const Topology& topology_;
  const ChunkLists& lists_;
  const std::vector<ChunkNumber>& chunks_;
  Waiting waiting_;
  Op op_;
  Schedule& schedule_;
  std::vector<std::size_t> next_;         // per link: its next transfer
  std::vector<std::uint32_t> next_round_; // links
};

/// Who can send copies of each chunk, once all reductions are done.
template <typename ChunkNumber>
std::vector<std::vector<NodeId>>
holders_after(const Topology& topology, const Collective& collective, const ChunkLists& reductions,
              const std::vector<ChunkNumber>& chunks) {
  const std::vector<std::uint32_t> links = links_of(reductions, chunks.size());
  const Buckets by_chunk = transfers_by_chunk(chunks, links, collective.chunks.size());
  std::vector<std::vector<NodeId>> holders(collective.chunks.size());
  std::vector<std::uint32_t> sent(topology.node_count(), none), added = sent; // the last chunk
  for (std::uint32_t c = 0; c < holders.size(); ++c) {
    const auto add = [&](NodeId node) {
      if (sent[node.value] != c && added[node.value] != c) holders[c].push_back(node);
      added[node.value] = c;
    };
    for (const std::uint32_t t : by_chunk.of(c))
      sent[topology.link(LinkId{links[t]}).from.value] = c;
    for (const NodeId source : collective.sources(ChunkId{c})) add(source);
    for (const std::uint32_t t : by_chunk.of(c)) add(topology.link(LinkId{links[t]}).to);
  }
  return holders;
}

/// So many at most have numbers of their own.
void require_numbered(std::size_t places, const CompactSchedule& compact) {
  if (places >= at_start)
    throw InputError(fmt::format("{} transfers are too many to list", compact.size()));
}

} // namespace

ChunkLists::ChunkLists(std::uint32_t link_count, std::size_t chunk_count)
    : begin(link_count), end(link_count) {
  if (chunk_count > std::size_t{UINT16_MAX} + 1) chunks.emplace<std::vector<std::uint32_t>>();
}

std::size_t ChunkLists::size() const {
  std::size_t transfers = 0;
  for (std::size_t l = 0; l < end.size(); ++l) transfers += end[l] - begin[l];
  return transfers;
}

ChunkId ChunkLists::chunk_at(std::size_t position) const {
  return std::visit([&](const auto& all) { return ChunkId{all[position]}; }, chunks);
}

CompactSchedule::CompactSchedule(std::uint32_t link_count, std::size_t chunk_count)
    : reductions(link_count, chunk_count), copies(link_count, chunk_count) {}

CompactSchedule inverted(CompactSchedule compact) {
  assert(compact.reductions.size() == 0);
  std::visit(
      [&](auto& chunks) {
        for (std::uint32_t l = 0; l < compact.link_count(); ++l)
          std::reverse(chunks.begin() + static_cast<std::ptrdiff_t>(compact.copies.begin[l]),
                       chunks.begin() + static_cast<std::ptrdiff_t>(compact.copies.end[l]));
      },
      compact.copies.chunks);
  std::swap(compact.reductions, compact.copies);
  return compact;
}

CompactSchedule by_link(const Schedule& schedule, std::size_t chunk_count) {
  CompactSchedule compact(schedule.paths().link_count(), chunk_count);
  const auto lists_of = [&](Op op) -> ChunkLists& {
    return op == Op::reduce ? compact.reductions : compact.copies;
  };
  for (std::size_t i = 0; i < schedule.size(); ++i)
    ++lists_of(schedule[i].op).end[schedule.path_of(i).value];
  for (const Op op : {Op::reduce, Op::copy}) {
    ChunkLists& lists = lists_of(op);
    if (std::ranges::all_of(lists.end, [](std::size_t count) { return count == 0; })) continue;
    std::partial_sum(lists.end.begin(), lists.end.end(), lists.end.begin());
    std::copy(lists.end.begin(), lists.end.end() - 1, lists.begin.begin() + 1);
    std::vector<std::size_t> next = lists.begin;
    std::visit(
        [&]<typename ChunkNumber>(std::vector<ChunkNumber>& chunks) {
          chunks.resize(lists.end.back());
          for (std::size_t i = 0; i < schedule.size(); ++i)
            if (schedule[i].op == op)
              chunks[next[schedule.path_of(i).value]++] =
                  static_cast<ChunkNumber>(schedule[i].chunk.value);
        },
        lists.chunks);
  }
  return compact;
}

std::optional<CompactSchedule> compacted(const Topology& topology, const Collective& collective,
                                         const Schedule& schedule) {
  assert(schedule.paths().link_count() == topology.link_count());
  if (schedule.has_dependencies() || !single_hops_only(topology, collective, schedule) ||
      !reductions_come_first(topology, schedule) ||
      !each_arrives_once(topology, collective, schedule))
    return std::nullopt;
  return by_link(schedule, collective.chunks.size());
}

Schedule expanded(const Topology& topology, const Collective& collective,
                  const CompactSchedule& compact) {
  assert(compact.link_count() == topology.link_count());
  Schedule schedule(topology.link_count());
  require_numbered(compact.size(), compact);
  schedule.reserve(compact.size());
  std::vector<std::vector<NodeId>> holders;
  std::visit(
      [&](const auto& chunks) {
        require_numbered(chunks.size(), compact);
        holders = holders_after(topology, collective, compact.reductions, chunks);
        Expansion(topology, compact.reductions, chunks,
                  Parts(topology, compact.reductions, chunks, collective), Op::reduce, schedule)
            .run();
      },
      compact.reductions.chunks);
  std::visit(
      [&](const auto& chunks) {
        require_numbered(chunks.size(), compact);
        Expansion(topology, compact.copies, chunks,
                  Bringers(topology, compact.copies, chunks, holders), Op::copy, schedule)
            .run();
      },
      compact.copies.chunks);
  return schedule;
}

} // namespace tutti
