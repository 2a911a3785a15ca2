// Pieces are sorted by level: a transfer's is one above that of the last arrival that it sends on,
// and each piece is one above the piece before. A stable sort by level keeps the order of all that
// the order of the list means something for, since a level is never below that of
//   an arrival that the transfer sends on, or that comes before it at its receiver,
//   a send that a later arrival of the chunk there has to wait for,
//   a transfer that it names.
#include "sim/relays.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace tutti {

namespace {

class Relaying {
public:
  Relaying(const Topology& topology, const Schedule& schedule)
      : topology_(topology), schedule_(schedule), first_(schedule.size()), last_(schedule.size()) {}

  Schedule made() {
    for (std::size_t begin = 0; begin < schedule_.size();) {
      std::size_t end = begin + 1;
      while (end < schedule_.size() && schedule_[end].together) ++end;
      if (end == begin + 1) end = schedule_.send_end(begin);
      add_block(begin, end);
      begin = end;
    }
    return listed();
  }

private:
  struct Piece {
    std::uint32_t transfer = 0, level = 0;
    std::span<const LinkId> links;
  };
  struct Levels {
    std::uint32_t arrived = 0; ///< one above the last arrival
    std::uint32_t sent = 0;    ///< of the last send
  };

  Levels& levels_of(ChunkId chunk, NodeId node) {
    return levels_[std::uint64_t{chunk.value} << 32 | node.value];
  }

  /// Transfers that are performed together, or one send.
  void add_block(std::size_t begin, std::size_t end) {
    const auto first_piece = static_cast<std::uint32_t>(pieces_.size());
    const bool is_send = end == begin + 1 || schedule_[begin + 1].contiguous;
    std::uint32_t level = 0;
    for (std::size_t i = begin; i < end; ++i) {
      first_[i] = static_cast<std::uint32_t>(pieces_.size());
      cut(i, !is_send);
      last_[i] = static_cast<std::uint32_t>(pieces_.size()) - 1;
      level = std::max(level, least_level(i, pieces_[first_[i]]));
    }
    if (is_send) { // all of its transfers are cut alike
      for (std::uint32_t p = 0; p <= last_[begin] - first_[begin]; ++p, ++level) {
        for (std::size_t i = begin; i < end && p > 0; ++i)
          level = std::max(level, least_level(i, pieces_[first_[i] + p]));
        for (std::size_t i = begin; i < end; ++i) {
          pieces_[first_[i] + p].level = level;
          note(pieces_[first_[i] + p]);
        }
      }
      return;
    }
    for (std::uint32_t p = first_piece; p < pieces_.size(); ++p) pieces_[p].level = level;
    for (std::uint32_t p = first_piece; p < pieces_.size(); ++p) note(pieces_[p]);
  }

  /// Appends the pieces of a transfer.
  void cut(std::size_t i, bool in_block) {
    const Transfer transfer = schedule_[i];
    const std::span<const LinkId> links = schedule_.paths().links(transfer.path);
    std::size_t begin = 0;
    for (std::size_t l = 1; l <= links.size(); ++l) {
      const bool is_end = l == links.size();
      if (!is_end) {
        const Node& node = topology_.node(topology_.link(links[l]).from);
        if (!node.can.store) continue;
        if (transfer.op == Op::reduce || in_block)
          throw InputError(fmt::format(
              "transfer {} leads through {}, which can't relay it as a transfer of its own: {}", i,
              node.name,
              in_block ? "it is of a block" : "what it reduces has a contribution there"));
      }
      pieces_.push_back({static_cast<std::uint32_t>(i), 0, links.subspan(begin, l - begin)});
      begin = l;
    }
  }

  std::uint32_t least_level(std::size_t i, const Piece& piece) {
    const ChunkId chunk = schedule_[i].chunk;
    const Levels from = levels_of(chunk, topology_.link(piece.links.front()).from);
    const Levels to = levels_of(chunk, topology_.link(piece.links.back()).to);
    std::uint32_t level = std::max({from.arrived, to.sent, std::max(to.arrived, 1U) - 1});
    for (const Dependency& name : schedule_.dependencies(i))
      level = std::max(level, pieces_[named(name)].level);
    return level;
  }

  void note(const Piece& piece) {
    const ChunkId chunk = schedule_[piece.transfer].chunk;
    Levels& from = levels_of(chunk, topology_.link(piece.links.front()).from);
    from.sent = std::max(from.sent, piece.level);
    Levels& to = levels_of(chunk, topology_.link(piece.links.back()).to);
    to.arrived = std::max(to.arrived, piece.level + 1);
  }

  [[nodiscard]] std::uint32_t named(const Dependency& name) const {
    return name.milestone == Milestone::left ? first_[name.transfer] : last_[name.transfer];
  }

  [[nodiscard]] Schedule listed() const {
    std::vector<std::uint32_t> order(pieces_.size()), place(pieces_.size());
    for (std::uint32_t p = 0; p < order.size(); ++p) order[p] = p;
    std::ranges::stable_sort(order, {}, [&](std::uint32_t p) { return pieces_[p].level; });
    Schedule made(topology_.link_count());
    made.reserve(pieces_.size());
    for (std::uint32_t at = 0; at < order.size(); ++at) {
      const Piece& piece = pieces_[order[at]];
      Transfer transfer = schedule_[piece.transfer];
      transfer.path = made.paths().intern(piece.links);
      made.push(transfer);
      place[order[at]] = at;
    }
    for (std::uint32_t at = 0; at < order.size(); ++at) {
      const std::uint32_t transfer = pieces_[order[at]].transfer;
      if (order[at] != first_[transfer]) continue;
      for (const Dependency& name : schedule_.dependencies(transfer))
        made.add_dependency(at, {place[named(name)], name.milestone});
    }
    return made;
  }

  const Topology& topology_;
  const Schedule& schedule_;
  std::vector<Piece> pieces_;
  std::vector<std::uint32_t> first_, last_;          // by transfer, into pieces_
  std::unordered_map<std::uint64_t, Levels> levels_; // by chunk and node
};

} // namespace

Schedule relayed(const Topology& topology, const Schedule& schedule) {
  return Relaying(topology, schedule).made();
}

} // namespace tutti
