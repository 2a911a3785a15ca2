#include "sim/engines/dependencies.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <span>

namespace tutti {

namespace {

/// The end of the chain of one node, while the chains of one chunk are being built.
struct ChainEnd {
  std::uint32_t last_step = UINT32_MAX;
  std::uint32_t first_unwatched_send = UINT32_MAX; // since the last arrival
  std::uint32_t chunk = UINT32_MAX;                // whose chain this is; else out of date
  bool has_send = false, has_arrival = false;
};

} // namespace

Dependencies::Dependencies(const Topology& topology, const Collective& collective,
                           const Schedule& schedule)
    : schedule_(schedule), chains_(schedule.size()), next_(schedule.paths().size(), none),
      undelivered_(schedule.size()) {
  if (schedule.size() > none / 2)
    throw InputError(
        fmt::format("{} transfers are more than an engine can number", schedule.size()));
  const PathTable& paths = schedule.paths();
  std::vector<NodeId> sender(paths.size()), receiver(paths.size());
  for (std::uint32_t p = 0; p < paths.size(); ++p) {
    sender[p] = topology.link(paths.first(PathId{p})).from;
    receiver[p] = topology.link(paths.last(PathId{p})).to;
    stores_.push_back(topology.node(receiver[p]).can.store);
  }

  const auto count = static_cast<std::uint32_t>(schedule.size());
  for (std::uint32_t i = count; i-- > 0;) {
    std::uint32_t& next = next_[schedule.path_of(i).value];
    chains_[i].next_in_connection = next;
    next = i;
  }

  const auto mark = [&](std::uint32_t i, Flag flag) {
    chains_[i].flags = static_cast<std::uint8_t>(chains_[i].flags | flag);
  };
  std::vector<ChainEnd> ends(topology.node_count());
  const auto append = [&](std::uint32_t chunk, NodeId node, std::uint32_t step) {
    ChainEnd& end = ends[node.value];
    if (end.chunk != chunk) end = {none, none, chunk, false, false};
    if (end.last_step != none) {
      Chain& before = chains_[end.last_step / 2];
      (end.last_step % 2 == sends ? before.next_at_sender : before.next_at_receiver) = step;
    }
    end.last_step = step;
    const std::uint32_t i = step / 2;
    if (step % 2 == sends) {
      if (!end.has_arrival) mark(i, is_ready);
      if (!end.has_send) mark(i, departure_token);
      if (end.first_unwatched_send == none) end.first_unwatched_send = i;
      end.has_send = true;
    } else {
      if (!end.has_send) mark(i, may_deliver);
      if (!end.has_arrival) mark(i, data_token);
      for (std::uint32_t s = end.first_unwatched_send; s != none;) {
        mark(s, is_watched);
        const std::uint32_t after = chains_[s].next_at_sender;
        s = after == none || after % 2 == arrives ? none : after / 2;
      }
      end.first_unwatched_send = none;
      end.has_arrival = true;
    }
  };

  // Transfers by chunk, in list order within each.
  std::vector<std::uint32_t> begin(collective.chunks.size() + 1), by_chunk(count);
  for (std::uint32_t i = 0; i < count; ++i) ++begin[schedule[i].chunk.value + 1];
  for (std::size_t c = 1; c < begin.size(); ++c) begin[c] += begin[c - 1];
  for (std::uint32_t i = 0; i < count; ++i) by_chunk[begin[schedule[i].chunk.value]++] = i;

  // Of a block performed together (of this chunk: others don't matter to it) the sends come first.
  std::vector<std::uint32_t> block_of;
  for (std::uint32_t i = 1; i < count; ++i) {
    if (!schedule[i].together) continue;
    if (block_of.empty())
      for (std::uint32_t j = 0; j < count; ++j) block_of.push_back(j);
    block_of[i] = block_of[i - 1];
  }
  for (std::uint32_t first = 0; first < count;) {
    const std::uint32_t chunk = schedule[by_chunk[first]].chunk.value;
    std::uint32_t end = first + 1;
    while (!block_of.empty() && end < count && schedule[by_chunk[end]].chunk.value == chunk &&
           block_of[by_chunk[end]] == block_of[by_chunk[first]])
      ++end;
    const auto block = std::span(by_chunk).subspan(first, end - first);
    for (const std::uint32_t i : block)
      append(chunk, sender[schedule.path_of(i).value], 2 * i + sends);
    for (const std::uint32_t i : block)
      append(chunk, receiver[schedule.path_of(i).value], 2 * i + arrives);
    first = end;
  }
}

std::string Dependencies::stuck_text(const Topology& topology) const {
  constexpr std::size_t most_named = 5;
  std::string text =
      fmt::format("{} of {} transfers were never delivered:", undelivered_, chains_.size());
  std::size_t named = 0;
  for (std::uint32_t i = 0; i < chains_.size() && named < most_named; ++i) {
    const std::uint8_t flags = chains_[i].flags;
    if ((flags & has_arrived) && (flags & may_deliver)) continue;
    ++named;
    const Transfer transfer = schedule_[i];
    text += fmt::format(
        "{} transfer {} (chunk {}, {} > {}) {}", named > 1 ? ";" : "", i, transfer.chunk.value,
        topology.node(topology.link(schedule_.paths().first(transfer.path)).from).name,
        topology.node(topology.link(schedule_.paths().last(transfer.path)).to).name,
        (flags & has_arrived) ? "waits for its receiver's sends"
        : (flags & is_ready)  ? "is under way"
                              : "waits for data");
  }
  return text;
}

} // namespace tutti
