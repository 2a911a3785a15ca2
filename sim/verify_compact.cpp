// Which link carries what in which order is all that a compact schedule says, so it is right if
// its transfers can happen in some order. Bringing a chunk to a node never hinders another
// transfer, so any order that goes on as long as something can go on ends in the same state: node
// by node, every link into a node advances until its sender lacks the next chunk, and a node is
// looked at again when a link that waited for one of its chunks can go on. Bits lie by node, so
// that such a visit works on few rows.
//
// A node that can't copy gives a chunk away with its first send, so a second send is a fault in
// whatever order, and first sends hinder nothing either.

#include "sim/verify_compact.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

namespace {

/// One bit per (node, chunk), a row of whole words per node.
class BitRows {
public:
  using Word = std::uint64_t;

  BitRows(std::size_t rows, std::size_t columns)
      : words_((columns + 63) / 64), bits_(rows * words_) {}
  [[nodiscard]] Word* row(NodeId node) { return bits_.data() + words_ * node.value; }
  [[nodiscard]] std::size_t words() const { return words_; }

private:
  std::size_t words_;
  std::vector<Word> bits_;
};

using Word = BitRows::Word;

bool test(const Word* row, std::size_t column) {
  return (row[column / 64] >> column % 64 & 1) != 0;
}
void set(Word* row, std::size_t column) { row[column / 64] |= Word{1} << column % 64; }

/// Nodes that wait to be looked at, each once; first come, first served.
class NodeQueue {
public:
  explicit NodeQueue(std::uint32_t nodes) : ring_(nodes), waits_(nodes) {}
  [[nodiscard]] bool empty() const { return count_ == 0; }
  void push(NodeId node) {
    if (waits_[node.value]) return;
    waits_[node.value] = true;
    ring_[(first_ + count_++) % ring_.size()] = node;
  }
  NodeId pop() {
    const NodeId node = ring_[first_];
    first_ = (first_ + 1) % ring_.size();
    --count_;
    waits_[node.value] = false;
    return node;
  }

private:
  std::vector<NodeId> ring_;
  std::vector<bool> waits_;
  std::size_t first_ = 0, count_ = 0;
};

template <typename ChunkNumber> class CompactChecker {
public:
  CompactChecker(const Topology& topology, const Collective& collective,
                 const CompactSchedule& schedule, const std::vector<ChunkNumber>& chunks,
                 const Watch& watch)
      : topology_(topology), collective_(collective), schedule_(schedule), chunks_(chunks),
        next_(schedule.begin), held_(topology.node_count(), collective.chunks.size()),
        given_away_(some_node_cannot_copy() ? topology.node_count() : 0, collective.chunks.size()),
        steps_(watch) {}

  std::optional<Fault> first_fault() {
    for (std::uint32_t c = 0; c < collective_.chunks.size(); ++c)
      for (const NodeId source : collective_.sources(ChunkId{c})) set(held_.row(source), c);
    NodeQueue queue(topology_.node_count());
    for (std::uint32_t n = 0; n < topology_.node_count(); ++n) queue.push(NodeId{n});
    while (!queue.empty()) {
      const NodeId node = queue.pop();
      if (!receive_all(node)) continue;
      if (fault_) return std::move(fault_);
      for (const LinkId out : topology_.out_links(node))
        if (next_[out.value] < schedule_.end[out.value] &&
            holds(held_.row(node), chunks_[next_[out.value]]))
          queue.push(topology_.link(out).to);
    }
    check_all_sent();
    if (!fault_) check_postcondition();
    return std::move(fault_);
  }

private:
  [[nodiscard]] bool some_node_cannot_copy() const {
    for (const Node& node : topology_.nodes())
      if (!node.can.copy) return true;
    return false;
  }
  [[nodiscard]] const std::string& name(NodeId node) const { return topology_.node(node).name; }
  [[nodiscard]] bool holds(const Word* row, std::size_t chunk) const {
    return chunk < collective_.chunks.size() && test(row, chunk);
  }

  void fail(LinkId id, const std::string& text) {
    const Link& link = topology_.link(id);
    const std::size_t at = next_[id.value];
    fault_ = Fault{at, fmt::format("transfer {} of link {} ({} > {}): {}",
                                   at - schedule_.begin[id.value], id.value, name(link.from),
                                   name(link.to), text)};
  }

  /// Advances every link into the node as far as it can go; whether anything was received (or is
  /// wrong).
  bool receive_all(NodeId node) {
    Word* here = held_.row(node);
    bool received = false;
    for (const LinkId in : topology_.in_links(node)) {
      const NodeId from = topology_.link(in).from;
      const Word* there = held_.row(from);
      const bool moves = !topology_.node(from).can.copy;
      std::size_t at = next_[in.value];
      const std::size_t end = schedule_.end[in.value];
      const std::size_t before = at;
      for (; at < end; ++at) {
        const std::size_t chunk = chunks_[at];
        if (!holds(there, chunk)) break;
        next_[in.value] = at;
        if (test(here, chunk)) {
          fail(in, fmt::format("chunk {} is at node {} already", chunk, name(node)));
          return true;
        }
        if (moves) {
          if (test(given_away_.row(from), chunk)) {
            fail(in, fmt::format("node {} can't copy and has sent chunk {} already", name(from),
                                 chunk));
            return true;
          }
          set(given_away_.row(from), chunk);
        }
        set(here, chunk);
      }
      next_[in.value] = at;
      received = received || at > before;
      checked_ += at - before;
      steps_.take(1 + at - before, [this] { return WorkProgress{checked_, chunks_.size()}; });
    }
    return received;
  }

  void check_all_sent() {
    for (std::uint32_t l = 0; l < topology_.link_count(); ++l) {
      if (next_[l] == schedule_.end[l]) continue;
      const std::size_t chunk = chunks_[next_[l]];
      if (chunk >= collective_.chunks.size())
        return fail(LinkId{l}, fmt::format("there is no chunk {} (the collective has {})", chunk,
                                           collective_.chunks.size()));
      return fail(LinkId{l}, fmt::format("node {} doesn't hold chunk {}",
                                         name(topology_.link(LinkId{l}).from), chunk));
    }
  }

  void check_postcondition() {
    // Chunks that the same nodes want are looked for together, a word of them at a time.
    std::vector<std::vector<std::uint32_t>> destinations(collective_.sets.size());
    for (std::uint32_t c = 0; c < collective_.chunks.size(); ++c)
      destinations[collective_.chunks[c].destinations].push_back(c);
    struct Part {
      std::size_t word;
      Word bits;
    };
    std::vector<Part> parts;
    for (SetId s = 0; s < destinations.size(); ++s) {
      parts.clear();
      for (const std::uint32_t c : destinations[s]) {
        if (parts.empty() || parts.back().word != c / 64) parts.push_back({c / 64, 0});
        parts.back().bits |= Word{1} << c % 64;
      }
      if (parts.empty()) continue;
      for (const NodeId node : collective_.sets[s]) {
        const Word* row = held_.row(node);
        const Word* gone = topology_.node(node).can.copy ? nullptr : given_away_.row(node);
        for (const Part& part : parts) {
          const Word there = row[part.word] & ~(gone ? gone[part.word] : 0);
          if (const Word missing = part.bits & ~there)
            return fail_at_end(part.word * 64 + static_cast<std::size_t>(std::countr_zero(missing)),
                               node);
        }
      }
    }
    check_contributions();
  }

  void fail_at_end(std::size_t chunk, NodeId node) {
    fault_ = Fault{chunks_.size(), fmt::format("chunk {} never reaches {}", chunk, name(node))};
  }

  /// Copies never combine contributions, so what several contribute to is complete nowhere.
  void check_contributions() {
    for (std::uint32_t c = 0; c < collective_.chunks.size(); ++c) {
      const std::span<const NodeId> contributors = collective_.sources(ChunkId{c}),
                                    wanted = collective_.destinations(ChunkId{c});
      if (!collective_.chunks[c].reduces || contributors.size() < 2 || wanted.empty()) continue;
      const NodeId node = wanted.front();
      fault_ = Fault{chunks_.size(),
                     fmt::format("chunk {} is not complete at {}: nothing combines the "
                                 "contributions of {} and {}",
                                 c, name(node), name(contributors[0]), name(contributors[1]))};
      return;
    }
  }

  const Topology& topology_;
  const Collective& collective_;
  const CompactSchedule& schedule_;
  const std::vector<ChunkNumber>& chunks_;
  std::vector<std::size_t> next_; // per link: the first that hasn't happened
  BitRows held_;                  // what has ever been at a node
  BitRows given_away_; // what a node that can't copy has sent; no rows without such nodes
  WatchedSteps steps_;
  std::uint64_t checked_ = 0; // transfers
  std::optional<Fault> fault_;
};

std::optional<Fault> broken_blocks(const Topology& topology, const CompactSchedule& schedule,
                                   std::size_t places) {
  if (schedule.begin.size() != topology.link_count() ||
      schedule.end.size() != topology.link_count())
    return Fault{0, fmt::format("the schedule speaks of {} links, the topology has {}",
                                schedule.end.size(), topology.link_count())};
  for (std::uint32_t l = 0; l < topology.link_count(); ++l)
    if (schedule.begin[l] > schedule.end[l] || schedule.end[l] > places)
      return Fault{schedule.begin[l],
                   fmt::format("the transfers {} .. {} of link {} aren't there (there are {})",
                               schedule.begin[l], schedule.end[l], l, places)};
  return std::nullopt;
}

} // namespace

Verdict verify(const Topology& topology, const Collective& collective,
               const CompactSchedule& schedule, const Watch& watch) {
  return std::visit(
      [&](const auto& chunks) -> Verdict {
        if (std::optional<Fault> fault = broken_blocks(topology, schedule, chunks.size()))
          return {std::move(fault), 0};
        return {CompactChecker(topology, collective, schedule, chunks, watch).first_fault(), 0};
      },
      schedule.chunks);
}

} // namespace tutti
