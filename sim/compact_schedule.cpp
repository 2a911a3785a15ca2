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

bool single_copies_only(const Topology& topology, const Collective& collective,
                        const Schedule& schedule) {
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    const Transfer t = schedule[i];
    if (t.op != Op::copy || t.together || t.contiguous || t.path.value >= topology.link_count() ||
        t.chunk.value >= collective.chunks.size())
      return false;
  }
  return true;
}

/// Every sender has the chunk by then, and every receiver gets it for the first time. Otherwise
/// order across links would matter (or the schedule be wrong), and expanded() would change it.
bool each_arrives_once(const Topology& topology, const Collective& collective,
                       const Schedule& schedule) {
  const Buckets by_chunk(schedule.size(), collective.chunks.size(),
                         [&](std::size_t i) { return schedule[i].chunk.value; });
  // Per node the last chunk that reached it, and the last that moved on from it for good.
  std::vector<std::uint32_t> reached(topology.node_count(), none),
      gone(topology.node_count(), none);
  for (std::uint32_t c = 0; c < collective.chunks.size(); ++c) {
    for (const NodeId source : collective.sources(ChunkId{c})) reached[source.value] = c;
    for (const std::uint32_t i : by_chunk.of(c)) {
      const Link& link = topology.link(LinkId{schedule[i].path.value});
      if (reached[link.from.value] != c || gone[link.from.value] == c ||
          reached[link.to.value] == c)
        return false;
      if (!topology.node(link.from).can.copy) gone[link.from.value] = c;
      reached[link.to.value] = c;
    }
  }
  return true;
}

std::string on_link(const Topology& topology, LinkId link) {
  return fmt::format("link {} ({} > {})", link.value, topology.node(topology.link(link).from).name,
                     topology.node(topology.link(link).to).name);
}

/// Puts the transfers of a compact schedule in order. A transfer is named by its position in
/// CompactSchedule::chunks. Work follows the transfers: a link that waits for a chunk costs nothing
/// until the transfer that brings it.
template <typename ChunkNumber> class Expansion {
public:
  Expansion(const Topology& topology, const Collective& collective, const CompactSchedule& compact,
            const std::vector<ChunkNumber>& chunks)
      : topology_(topology), compact_(compact), chunks_(chunks), schedule_(topology.link_count()),
        bringer_(chunks.size(), never), sent_(chunks.size()), first_waiting_(chunks.size(), none),
        next_waiting_(topology.link_count(), none), head_(compact.begin) {
    assert(compact.link_count() == topology.link_count());
    find_bringers(collective);
  }

  Schedule run() {
    schedule_.reserve(compact_.size());
    for (std::uint32_t l = 0; l < topology_.link_count(); ++l) queue(l);
    std::vector<std::uint32_t> round;
    while (!next_round_.empty()) {
      round.swap(next_round_);
      next_round_.clear();
      std::sort(round.begin(), round.end());
      for (const std::uint32_t link : round) send(link);
    }
    require_all_sent();
    return std::move(schedule_);
  }

private:
  static constexpr std::uint32_t never = none, at_start = none - 1;

  /// For each transfer the one that brings the chunk to its sender.
  void find_bringers(const Collective& collective) {
    std::vector<std::uint32_t> link_of(chunks_.size(), none); // none between the blocks
    for (std::uint32_t l = 0; l < topology_.link_count(); ++l)
      std::fill(link_of.begin() + static_cast<std::ptrdiff_t>(compact_.begin[l]),
                link_of.begin() + static_cast<std::ptrdiff_t>(compact_.end[l]), l);
    const auto link = [&](std::uint32_t transfer) {
      return topology_.link(LinkId{link_of[transfer]});
    };

    const std::size_t chunk_count = collective.chunks.size();
    const Buckets by_chunk(chunks_.size(), chunk_count + 1, [&](std::size_t i) {
      return link_of[i] == none ? chunk_count : std::size_t{chunks_[i]};
    });
    struct Arrival {
      std::uint32_t chunk = none, transfer = never;
    };
    std::vector<Arrival> arrival(topology_.node_count());
    for (std::uint32_t c = 0; c < chunk_count; ++c) {
      for (const NodeId source : collective.sources(ChunkId{c}))
        arrival[source.value] = {c, at_start};
      for (const std::uint32_t t : by_chunk.of(c)) {
        Arrival& there = arrival[link(t).to.value];
        if (there.chunk == c)
          throw InputError(fmt::format("{} brings chunk {} to a node that has it already",
                                       on_link(topology_, LinkId{link_of[t]}), c));
        there = {c, t};
      }
      for (const std::uint32_t t : by_chunk.of(c)) {
        const Arrival& here = arrival[link(t).from.value];
        if (here.chunk == c) bringer_[t] = here.transfer;
      }
    }
  }

  /// The link's next transfer goes in the next round, or waits for the one that brings its chunk.
  void queue(std::uint32_t link) {
    if (head_[link] == compact_.end[link]) return;
    const std::uint32_t bringer = bringer_[head_[link]];
    if (bringer == never) return;
    if (bringer == at_start || sent_[bringer]) {
      next_round_.push_back(link);
    } else {
      next_waiting_[link] = first_waiting_[bringer];
      first_waiting_[bringer] = link;
    }
  }

  void send(std::uint32_t link) {
    const std::size_t transfer = head_[link]++;
    schedule_.push(ChunkId{chunks_[transfer]}, LinkId{link}, Op::copy);
    sent_[transfer] = true;
    for (std::uint32_t l = first_waiting_[transfer]; l != none; l = next_waiting_[l])
      next_round_.push_back(l);
    queue(link);
  }

  void require_all_sent() const {
    for (std::uint32_t l = 0; l < topology_.link_count(); ++l)
      if (head_[l] != compact_.end[l])
        throw InputError(fmt::format("{}: chunk {} never reaches its sender",
                                     on_link(topology_, LinkId{l}), chunks_[head_[l]]));
  }

  const Topology& topology_;
  const CompactSchedule& compact_;
  const std::vector<ChunkNumber>& chunks_;
  Schedule schedule_;
  std::vector<std::uint32_t> bringer_;       // per transfer
  std::vector<bool> sent_;                   // per transfer
  std::vector<std::uint32_t> first_waiting_; // per transfer: a link whose head it brings, or none
  std::vector<std::uint32_t> next_waiting_;  // per link: another link that waits for the same
  std::vector<std::size_t> head_;            // per link: its next transfer
  std::vector<std::uint32_t> next_round_;    // links
};

} // namespace

CompactSchedule::CompactSchedule(std::uint32_t link_count, std::size_t chunk_count)
    : begin(link_count), end(link_count) {
  if (chunk_count > std::size_t{UINT16_MAX} + 1) chunks.emplace<std::vector<std::uint32_t>>();
}

std::size_t CompactSchedule::size() const {
  std::size_t transfers = 0;
  for (std::size_t l = 0; l < end.size(); ++l) transfers += end[l] - begin[l];
  return transfers;
}

ChunkId CompactSchedule::chunk_at(std::size_t position) const {
  return std::visit([&](const auto& all) { return ChunkId{all[position]}; }, chunks);
}

std::string unlisted_text(const CompactSchedule& compact, std::string_view use) {
  return fmt::format("{} transfers are too many to list{}{}", compact.size(),
                     use.empty() ? "" : " for ", use);
}

CompactSchedule by_link(const Schedule& schedule, std::size_t chunk_count) {
  CompactSchedule compact(schedule.paths().link_count(), chunk_count);
  for (std::size_t i = 0; i < schedule.size(); ++i) ++compact.end[schedule.path_of(i).value];
  std::partial_sum(compact.end.begin(), compact.end.end(), compact.end.begin());
  std::copy(compact.end.begin(), compact.end.end() - 1, compact.begin.begin() + 1);
  std::vector<std::size_t> next = compact.begin;
  std::visit(
      [&]<typename ChunkNumber>(std::vector<ChunkNumber>& chunks) {
        chunks.resize(schedule.size());
        for (std::size_t i = 0; i < schedule.size(); ++i)
          chunks[next[schedule.path_of(i).value]++] =
              static_cast<ChunkNumber>(schedule[i].chunk.value);
      },
      compact.chunks);
  return compact;
}

std::optional<CompactSchedule> compacted(const Topology& topology, const Collective& collective,
                                         const Schedule& schedule) {
  assert(schedule.paths().link_count() == topology.link_count());
  if (schedule.has_dependencies() || !single_copies_only(topology, collective, schedule) ||
      !each_arrives_once(topology, collective, schedule))
    return std::nullopt;
  return by_link(schedule, collective.chunks.size());
}

Schedule expanded(const Topology& topology, const Collective& collective,
                  const CompactSchedule& compact) {
  return std::visit(
      [&](const auto& chunks) {
        if (chunks.size() >= none - 1) throw InputError(unlisted_text(compact));
        return Expansion(topology, collective, compact, chunks).run();
      },
      compact.chunks);
}

} // namespace tutti
