// Which link carries what in which order is all that a compact schedule says, so it is right if
// its transfers can happen in some order. Bringing a chunk to a node never hinders another
// transfer, so any order that goes on as long as something can go on ends in the same state: node
// by node, every link into a node advances until its sender lacks the next chunk, and a node is
// looked at again when a link that waited for one of its chunks can go on. Bits lie by node, so
// that such a visit works on few rows.
//
// Reductions come first. Each waits for all of its chunk that come to its sender, and takes away
// what that has: so the contributions to a chunk go up trees, each once, and are complete where a
// single node is left that has some.
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
void clear(Word* row, std::size_t column) { row[column / 64] &= ~(Word{1} << column % 64); }

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

class CompactChecker {
public:
  CompactChecker(const Topology& topology, const Collective& collective,
                 const CompactSchedule& schedule, const Watch& watch)
      : topology_(topology), collective_(collective), schedule_(schedule), total_(schedule.size()),
        held_(topology.node_count(), collective.chunks.size()),
        given_away_(some_node_cannot_copy() ? topology.node_count() : 0, collective.chunks.size()),
        holders_(collective.chunks.size()), steps_(watch) {}

  std::optional<Fault> first_fault() {
    for (std::uint32_t c = 0; c < collective_.chunks.size(); ++c)
      for (const NodeId source : collective_.sources(ChunkId{c})) {
        set(held_.row(source), c);
        ++holders_[c];
      }
    if (schedule_.reductions.size() > 0) check(schedule_.reductions, Op::reduce);
    if (!fault_) find_incomplete();
    if (!fault_) check(schedule_.copies, Op::copy);
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
  [[nodiscard]] bool is_known(std::size_t chunk) const { return chunk < collective_.chunks.size(); }
  [[nodiscard]] bool is_sum(std::size_t chunk) const {
    const ChunkId id{static_cast<std::uint32_t>(chunk)};
    return collective_.chunks[chunk].reduces && collective_.sources(id).size() > 1;
  }

  /// All transfers of the lists, in some order in which they can happen.
  void check(const ChunkLists& lists, Op op) {
    lists_ = &lists;
    next_ = lists.begin;
    std::visit(
        [&](const auto& chunks) {
          if (op == Op::reduce) count_parts(chunks);
          if (fault_) return;
          if (op == Op::reduce)
            move_all<Op::reduce>(chunks);
          else
            move_all<Op::copy>(chunks);
          if (!fault_) check_all_sent(chunks);
        },
        lists.chunks);
    parts_ = {};
  }

  /// How many of each sum come to each node.
  template <typename ChunkNumber> void count_parts(const std::vector<ChunkNumber>& chunks) {
    parts_.resize(collective_.chunks.size() * topology_.node_count());
    for (std::uint32_t l = 0; l < topology_.link_count(); ++l) {
      std::uint32_t* const here = parts_of(topology_.link(LinkId{l}).to);
      for (std::size_t at = lists_->begin[l]; at < lists_->end[l]; ++at) {
        next_[l] = at;
        const std::size_t chunk = chunks[at];
        if (!is_known(chunk)) return fail(LinkId{l}, unknown_chunk(chunk));
        if (!is_sum(chunk))
          return fail(LinkId{l}, fmt::format("chunk {} is the sum of nothing", chunk));
        ++here[chunk];
      }
      next_[l] = lists_->begin[l];
    }
  }
  [[nodiscard]] std::uint32_t* parts_of(NodeId node) {
    return parts_.data() + collective_.chunks.size() * node.value;
  }

  template <Op op, typename ChunkNumber> void move_all(const std::vector<ChunkNumber>& chunks) {
    NodeQueue queue(topology_.node_count());
    for (std::uint32_t n = 0; n < topology_.node_count(); ++n) queue.push(NodeId{n});
    while (!queue.empty()) {
      const NodeId node = queue.pop();
      if (!receive_all<op>(chunks, node)) continue;
      if (fault_) return;
      for (const LinkId out : topology_.out_links(node))
        if (next_[out.value] < lists_->end[out.value] && has<op>(node, chunks[next_[out.value]]))
          queue.push(topology_.link(out).to);
    }
  }

  /// Whether a node can send a chunk: it holds it, and all parts of a sum.
  template <Op op> [[nodiscard]] bool has(NodeId node, std::size_t chunk) {
    return is_known(chunk) && test(held_.row(node), chunk) &&
           (op == Op::copy || parts_of(node)[chunk] == 0);
  }

  void fail(LinkId id, const std::string& text) {
    const Link& link = topology_.link(id);
    const std::size_t at = next_[id.value];
    fault_ = Fault{at, fmt::format("{} {} of link {} ({} > {}): {}",
                                   lists_ == &schedule_.copies ? "transfer" : "reduction",
                                   at - lists_->begin[id.value], id.value, name(link.from),
                                   name(link.to), text)};
  }
  [[nodiscard]] std::string unknown_chunk(std::size_t chunk) const {
    return fmt::format("there is no chunk {} (the collective has {})", chunk,
                       collective_.chunks.size());
  }

  /// Advances every link into the node as far as it can go; whether anything was received (or is
  /// wrong).
  template <Op op, typename ChunkNumber>
  bool receive_all(const std::vector<ChunkNumber>& chunks, NodeId node) {
    bool received = false;
    for (const LinkId in : topology_.in_links(node)) {
      const NodeId from = topology_.link(in).from;
      std::size_t at = next_[in.value];
      const std::size_t end = lists_->end[in.value];
      const std::size_t before = at;
      for (; at < end && has<op>(from, chunks[at]); ++at) {
        next_[in.value] = at;
        const std::string problem =
            op == Op::reduce ? reduce(chunks[at], from, node) : copy(chunks[at], from, node);
        if (!problem.empty()) {
          fail(in, problem);
          return true;
        }
      }
      next_[in.value] = at;
      received = received || at > before;
      checked_ += at - before;
      steps_.take(1 + at - before, [this] { return WorkProgress{checked_, total_}; });
    }
    return received;
  }

  /// What is wrong with a copy; empty where nothing is.
  std::string copy(std::size_t chunk, NodeId from, NodeId to) {
    Word* const here = held_.row(to);
    if (test(here, chunk)) return fmt::format("chunk {} is at node {} already", chunk, name(to));
    if (!topology_.node(from).can.copy) {
      if (test(given_away_.row(from), chunk))
        return fmt::format("node {} can't copy and has sent chunk {} already", name(from), chunk);
      set(given_away_.row(from), chunk);
    }
    set(here, chunk);
    return {};
  }

  /// A node gives its sum away: nothing comes to it any more, and nothing of it is added twice.
  std::string reduce(std::size_t chunk, NodeId from, NodeId to) {
    clear(held_.row(from), chunk);
    --holders_[chunk];
    Word* const here = held_.row(to);
    if (test(here, chunk) && !topology_.node(to).can.reduce)
      return fmt::format("node {} can't reduce chunk {}", name(to), chunk);
    if (!test(here, chunk)) ++holders_[chunk];
    set(here, chunk);
    --parts_of(to)[chunk];
    return {};
  }

  template <typename ChunkNumber> void check_all_sent(const std::vector<ChunkNumber>& chunks) {
    for (std::uint32_t l = 0; l < topology_.link_count(); ++l) {
      if (next_[l] == lists_->end[l]) continue;
      const std::size_t chunk = chunks[next_[l]];
      const NodeId from = topology_.link(LinkId{l}).from;
      if (!is_known(chunk)) return fail(LinkId{l}, unknown_chunk(chunk));
      if (!test(held_.row(from), chunk))
        return fail(LinkId{l}, fmt::format("node {} doesn't hold chunk {}", name(from), chunk));
      return fail(LinkId{l}, fmt::format("node {} waits for {} more of chunk {}, which never comes",
                                         name(from), parts_of(from)[chunk], chunk));
    }
  }

  /// All contributions are together where one node alone has a part: each node's went up a tree.
  /// Copies combine nothing, so what isn't complete now is complete nowhere.
  void find_incomplete() {
    for (std::uint32_t c = 0; c < collective_.chunks.size() && !incomplete_; ++c) {
      const std::span<const NodeId> wanted = collective_.destinations(ChunkId{c});
      if (!is_sum(c) || holders_[c] == 1 || wanted.empty()) continue;
      std::vector<NodeId> holders;
      for (std::uint32_t n = 0; n < topology_.node_count() && holders.size() < 2; ++n)
        if (test(held_.row(NodeId{n}), c)) holders.emplace_back(n);
      incomplete_ = fmt::format("chunk {} is not complete at {}: nothing combines the "
                                "contributions of {} and {}",
                                c, name(wanted.front()), name(holders[0]), name(holders[1]));
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
            return fail_at_end(fmt::format(
                "chunk {} never reaches {}",
                part.word * 64 + static_cast<std::size_t>(std::countr_zero(missing)), name(node)));
        }
      }
    }
    if (incomplete_) fail_at_end(*incomplete_);
  }

  void fail_at_end(std::string text) { fault_ = Fault{total_, std::move(text)}; }

  const Topology& topology_;
  const Collective& collective_;
  const CompactSchedule& schedule_;
  std::size_t total_;                 // transfers
  const ChunkLists* lists_ = nullptr; // that are checked now
  std::vector<std::size_t> next_;     // per link: the first that hasn't happened
  BitRows held_;       // what has ever been at a node, but for what its sum went into
  BitRows given_away_; // what a node that can't copy has sent; no rows without such nodes
  std::vector<std::uint32_t> holders_; // per chunk: nodes with a contribution
  std::vector<std::uint32_t> parts_;   // by node, then chunk: reductions that haven't come
  WatchedSteps steps_;
  std::uint64_t checked_ = 0;             // transfers
  std::optional<std::string> incomplete_; // the first sum that nobody has
  std::optional<Fault> fault_;
};

std::optional<Fault> broken_blocks(const Topology& topology, const ChunkLists& lists) {
  if (lists.begin.size() != topology.link_count() || lists.end.size() != topology.link_count())
    return Fault{0, fmt::format("the schedule speaks of {} links, the topology has {}",
                                lists.end.size(), topology.link_count())};
  const std::size_t places =
      std::visit([](const auto& chunks) { return chunks.size(); }, lists.chunks);
  for (std::uint32_t l = 0; l < topology.link_count(); ++l)
    if (lists.begin[l] > lists.end[l] || lists.end[l] > places)
      return Fault{lists.begin[l],
                   fmt::format("the transfers {} .. {} of link {} aren't there (there are {})",
                               lists.begin[l], lists.end[l], l, places)};
  return std::nullopt;
}

} // namespace

Verdict verify(const Topology& topology, const Collective& collective,
               const CompactSchedule& schedule, const Watch& watch) {
  for (const ChunkLists* lists : {&schedule.reductions, &schedule.copies})
    if (std::optional<Fault> fault = broken_blocks(topology, *lists)) return {std::move(fault), 0};
  return {CompactChecker(topology, collective, schedule, watch).first_fault(), 0};
}

} // namespace tutti
