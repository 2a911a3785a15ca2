// Builds the chains chunk by chunk, with one end per node that is reset by the chunk's number, so
// that the cost is O(transfers) whatever the number of nodes. What the tokens would do before
// anything has started is done here: flags for whoever has no earlier step.

#include "synth/scheduling/transfer_precedence.hpp"

#include <cassert>

namespace tutti {

namespace {

/// The end of the chain of one node, while the chains of one chunk are being built.
struct ChainEnd {
  std::uint32_t last_step = UINT32_MAX;
  std::uint32_t first_unfollowed_send = UINT32_MAX; // since the last arrival
  std::uint32_t first_arrival = UINT32_MAX;         // since the last send
  std::uint32_t chunk = UINT32_MAX;                 // whose chain this is; else out of date
  bool has_send = false, has_arrival = false;
  bool copied = false; // one of the arrivals since the last send is a copy
};

} // namespace

TransferPrecedence::TransferPrecedence(const Topology& topology, std::size_t chunk_count,
                                       const Schedule& schedule)
    : steps_(schedule.size()) {
  assert(schedule.size() < none / 2);
  const auto count = static_cast<std::uint32_t>(schedule.size());
  std::vector<ChainEnd> ends(topology.node_count());
  const auto append = [&](std::uint32_t chunk, NodeId node, std::uint32_t step) {
    ChainEnd& end = ends[node.value];
    if (end.chunk != chunk) end = {none, none, none, chunk};
    if (end.last_step != none) {
      Step& before = steps_[end.last_step / 2];
      (end.last_step % 2 == sends ? before.next_at_sender : before.next_at_receiver) = step;
    }
    end.last_step = step;
    const std::uint32_t i = step / 2;
    if (step % 2 == sends) {
      if (!end.has_arrival) steps_[i].flags |= has_data;
      if (!end.has_send) steps_[i].flags |= start_token | departure_token;
      if (end.first_unfollowed_send == none) end.first_unfollowed_send = i;
      end.has_send = true;
      end.first_arrival = none;
      end.copied = false;
    } else {
      if (!end.has_send) steps_[i].flags |= is_clear | may_deliver;
      if (!end.has_arrival) steps_[i].flags |= data_token;
      for (std::uint32_t s = end.first_unfollowed_send; s != none;) {
        steps_[s].flags |= is_followed;
        const std::uint32_t after = steps_[s].next_at_sender;
        s = after == none || after % 2 == arrives ? none : after / 2;
      }
      end.first_unfollowed_send = none;
      end.has_arrival = true;
      end.copied |= schedule[i].op == Op::copy;
      if (end.first_arrival == none)
        end.first_arrival = i;
      else if (end.copied)
        keep_order(end.first_arrival);
    }
  };

  // Transfers by chunk, in list order within each.
  std::vector<std::uint32_t> next(chunk_count + 1), by_chunk(count);
  for (std::uint32_t i = 0; i < count; ++i) ++next[schedule[i].chunk.value + 1];
  for (std::size_t c = 1; c < next.size(); ++c) next[c] += next[c - 1];
  for (std::uint32_t i = 0; i < count; ++i) by_chunk[next[schedule[i].chunk.value]++] = i;
  const PathTable& paths = schedule.paths();
  for (const std::uint32_t i : by_chunk) {
    const Transfer transfer = schedule[i];
    assert(!transfer.together && !transfer.contiguous);
    steps_[i].path = transfer.path.value;
    steps_[i].chunk = transfer.chunk.value;
    append(transfer.chunk.value, topology.link(paths.first(transfer.path)).from, 2 * i + sends);
    append(transfer.chunk.value, topology.link(paths.last(transfer.path)).to, 2 * i + arrives);
  }
  for (std::uint32_t i = 0; i < count; ++i)
    if ((steps_[i].flags & (has_data | is_clear)) == has_data) waited_for_receiver_ = true;
}

void TransferPrecedence::keep_order(std::uint32_t first) {
  if (steps_[first].flags & is_clear) steps_[first].flags |= start_token_behind;
  for (std::uint32_t i = first;;) {
    steps_[i].flags |= is_ordered | is_followed;
    const std::uint32_t after = steps_[i].next_at_receiver;
    if (after == none) return;
    i = after / 2;
    steps_[i].flags &= ~is_clear;
  }
}

} // namespace tutti
