// Chunks don't touch each other's state, so the transfers are sorted by chunk and each chunk is
// replayed alone; the fault that comes first in list order is reported.

#include "sim/verify.hpp"

#include "sim/verify_in_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <compare>
#include <span>
#include <utility>
#include <vector>

namespace tutti {

namespace {

/// Where a fault stands in the order of the semantics: of a block of transfers performed together,
/// all have waited before any is sent, and all are sent before any is received.
enum class Phase { waited, sent, received };

struct Position {
  std::size_t block; // its first transfer
  Phase phase;
  std::size_t transfer;
  auto operator<=>(const Position&) const = default;
};

struct FoundFault {
  Position position;
  std::string text;
};

/// What a path means for the state: where it starts and ends, and whether it is one.
struct PathEnds {
  NodeId from, to;
  std::uint32_t broken_at = UINT32_MAX; // hop after which the links don't meet
};

std::vector<PathEnds> path_ends(const Topology& topology, const PathTable& paths) {
  std::vector<PathEnds> ends(paths.size());
  for (std::uint32_t p = 0; p < paths.size(); ++p) {
    const std::span<const LinkId> links = paths.links(PathId{p});
    ends[p].from = topology.link(links.front()).from;
    ends[p].to = topology.link(links.back()).to;
    for (std::uint32_t hop = 1; hop < links.size(); ++hop)
      if (topology.link(links[hop - 1]).to != topology.link(links[hop]).from) {
        ends[p].broken_at = hop - 1;
        break;
      }
  }
  return ends;
}

/// Replays one chunk after another. The state of a chunk is a bit set per node: one bit for each
/// contributor of a chunk that reduces, a single bit ("has it") otherwise.
class Checker {
public:
  Checker(const Topology& topology, const Collective& collective, const Schedule& schedule)
      : topology_(topology), collective_(collective), schedule_(schedule),
        ends_(path_ends(topology, schedule.paths())), contributor_(topology.node_count()) {}

  /// `transfers`: those of the chunk, ascending. `block_of` gives a transfer's block.
  template <typename BlockOf>
  void check_chunk(ChunkId chunk, std::span<const std::uint32_t> transfers,
                   const BlockOf& block_of) {
    prepare(chunk);
    for (std::size_t i = 0; i < transfers.size();) {
      const std::size_t block = block_of(transfers[i]);
      std::size_t end = i + 1;
      while (end < transfers.size() && block_of(transfers[end]) == block) ++end;
      if (!perform(chunk, transfers.subspan(i, end - i), block)) return;
      i = end;
    }
    check_postcondition(chunk);
  }

  /// Whoever waits for another can store, and what it waits for is listed before its block, or
  /// before the send that it shares.
  template <typename BlockOf> void check_dependencies(const BlockOf& block_of) {
    for (std::size_t k = 0; k < schedule_.waiting().size(); ++k) {
      const std::uint32_t i = schedule_.waiting()[k];
      const Dependency dependency = schedule_.all_dependencies()[k];
      const NodeId sender = ends_[schedule_.path_of(i).value].from;
      std::size_t block = block_of(i);
      while (block > 0 && schedule_[block].contiguous) --block;
      if (!topology_.node(sender).can.store)
        note({block, Phase::waited, i},
             fmt::format("transfer {}: its sender {} can't store, so it can't wait for another", i,
                         name(sender)));
      else if (dependency.transfer >= block)
        note({block, Phase::waited, i},
             fmt::format("transfer {}: it waits for transfer {}, which isn't listed before it", i,
                         dependency.transfer));
      else
        continue;
      return;
    }
  }

  /// What shares a send can do so.
  void check_sends() {
    std::vector<std::uint32_t> part_of(collective_.chunks.size());
    for (std::uint32_t p = 0; p < collective_.parts.size(); ++p)
      std::fill_n(part_of.begin() + collective_.parts[p].first.value,
                  collective_.parts[p].chunk_count, p);
    std::vector<std::size_t> last_send(collective_.chunks.size(), SIZE_MAX); // by its first
    std::size_t first = 0;
    for (std::size_t i = 0; i < schedule_.size(); ++i) {
      const Transfer transfer = schedule_[i];
      if (!transfer.contiguous) first = i;
      const bool has_chunk =
          std::exchange(last_send[transfer.chunk.value], first) == first && first < i;
      const std::string why = unshareable(i, part_of, has_chunk);
      if (why.empty()) continue;
      note({i, Phase::waited, i}, fmt::format("transfer {}: {}", i, why));
      return;
    }
  }

  [[nodiscard]] Verdict verdict() const {
    Verdict verdict;
    verdict.redundant = redundant_;
    if (first_) verdict.fault = Fault{first_->position.transfer, first_->text};
    return verdict;
  }

private:
  using Word = std::uint64_t;

  void note(Position position, std::string text) {
    if (!first_ || position < first_->position) first_ = FoundFault{position, std::move(text)};
  }

  /// Why transfer i can't go with the one before as it says; empty: it can, or says nothing.
  [[nodiscard]] std::string unshareable(std::size_t i, const std::vector<std::uint32_t>& part_of,
                                        bool has_chunk) const {
    const Transfer transfer = schedule_[i];
    if (transfer.contiguous && i == 0) return "it is contiguous, and none is listed before it";
    if (transfer.contiguous && transfer.together)
      return "it can't be contiguous with the one before and also together with it";
    if (transfer.together && schedule_[i - (i > 0 ? 1 : 0)].contiguous)
      return "it is together with one that is contiguous";
    if (!transfer.contiguous) return "";
    const Transfer before = schedule_[i - 1];
    if (before.together) return "it is contiguous with one that is together with others";
    if (before.path != transfer.path)
      return "it is contiguous with the one before and takes another path";
    if (before.op != transfer.op)
      return "it is contiguous with the one before, and only one of them reduces";
    if (part_of[before.chunk.value] != part_of[transfer.chunk.value])
      return "it is contiguous with the one before, whose chunk is another collective's";
    if (has_chunk)
      return fmt::format("it is contiguous with those before, which have chunk {} already",
                         transfer.chunk.value);
    return "";
  }

  [[nodiscard]] Word* set_of(NodeId node) { return state_.data() + node.value * words_; }
  [[nodiscard]] static bool is_empty(const Word* set, std::size_t words) {
    for (std::size_t w = 0; w < words; ++w)
      if (set[w] != 0) return false;
    return true;
  }
  [[nodiscard]] const std::string& name(NodeId node) const { return topology_.node(node).name; }

  void prepare(ChunkId chunk) {
    const std::span<const NodeId> sources = collective_.sources(chunk);
    const bool reduces = collective_.chunks[chunk.value].reduces;
    const std::size_t bits = reduces ? sources.size() : 1;
    words_ = (bits + 63) / 64;
    state_.assign(topology_.node_count() * words_, 0);
    full_.assign(words_, 0);
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const std::size_t bit = reduces ? i : 0;
      contributor_[bit] = sources[i];
      set_of(sources[i])[bit / 64] |= Word{1} << (bit % 64);
      full_[bit / 64] |= Word{1} << (bit % 64);
    }
  }

  /// One block: read all, then write all. False where a fault ends this chunk's replay.
  bool perform(ChunkId chunk, std::span<const std::uint32_t> block_transfers, std::size_t block) {
    sent_.clear();
    moved_.clear();
    for (const std::uint32_t i : block_transfers)
      if (!send(chunk, i, block)) return false;
    for (const NodeId from : moved_) std::fill_n(set_of(from), words_, Word{0});
    for (std::size_t k = 0; k < block_transfers.size(); ++k)
      if (!receive(chunk, block_transfers[k], block, sent_.data() + k * words_)) return false;
    return true;
  }

  bool send(ChunkId chunk, std::uint32_t i, std::size_t block) {
    const PathEnds& path = ends_[schedule_[i].path.value];
    const auto fault = [&](const std::string& text) {
      note({block, Phase::sent, i}, fmt::format("transfer {}: {}", i, text));
      return false;
    };
    if (path.broken_at != UINT32_MAX)
      return fault(fmt::format("the path breaks after its hop {}", path.broken_at));
    const Word* held = set_of(path.from);
    if (is_empty(held, words_))
      return fault(fmt::format("node {} doesn't hold chunk {}", name(path.from), chunk.value));
    if (!topology_.node(path.from).can.copy) {
      if (std::ranges::find(moved_, path.from) != moved_.end())
        return fault(fmt::format("node {} can't copy and has sent chunk {} already",
                                 name(path.from), chunk.value));
      moved_.push_back(path.from);
    }
    sent_.insert(sent_.end(), held, held + words_);
    return true;
  }

  bool receive(ChunkId chunk, std::uint32_t i, std::size_t block, const Word* got) {
    const NodeId node = ends_[schedule_[i].path.value].to;
    Word* have = set_of(node);
    const auto fault = [&](const std::string& text) {
      note({block, Phase::received, i}, fmt::format("transfer {}: {}", i, text));
      return false;
    };
    if (schedule_[i].op == Op::reduce && !is_empty(have, words_)) {
      if (!topology_.node(node).can.reduce)
        return fault(fmt::format("node {} can't reduce chunk {}", name(node), chunk.value));
      for (std::size_t w = 0; w < words_; ++w)
        if (const Word twice = have[w] & got[w])
          return fault(fmt::format("contribution of {} to chunk {} is counted twice at {}",
                                   contributor_name(chunk, w, twice), chunk.value, name(node)));
      for (std::size_t w = 0; w < words_; ++w) have[w] |= got[w];
      return true;
    }
    bool same = true;
    for (std::size_t w = 0; w < words_; ++w) {
      if (const Word lost = have[w] & ~got[w])
        return fault(fmt::format("the copy of chunk {} loses the contribution of {} at {}",
                                 chunk.value, contributor_name(chunk, w, lost), name(node)));
      same = same && have[w] == got[w];
    }
    if (same) ++redundant_;
    std::copy_n(got, words_, have);
    return true;
  }

  [[nodiscard]] std::string contributor_name(ChunkId chunk, std::size_t word, Word bits) const {
    if (!collective_.chunks[chunk.value].reduces) return "its data";
    return name(contributor_[word * 64 + static_cast<std::size_t>(std::countr_zero(bits))]);
  }

  void check_postcondition(ChunkId chunk) {
    for (const NodeId node : collective_.destinations(chunk)) {
      const Word* have = set_of(node);
      for (std::size_t w = 0; w < words_; ++w) {
        const Word missing = full_[w] & ~have[w];
        if (missing == 0) continue;
        note({SIZE_MAX, Phase::received, schedule_.size()},
             is_empty(have, words_)
                 ? fmt::format("chunk {} never reaches {}", chunk.value, name(node))
                 : fmt::format("chunk {} is not complete at {}: the contribution of {} is missing",
                               chunk.value, name(node), contributor_name(chunk, w, missing)));
        return;
      }
    }
  }

  const Topology& topology_;
  const Collective& collective_;
  const Schedule& schedule_;
  std::vector<PathEnds> ends_;
  std::vector<NodeId> contributor_; // of this chunk, by bit
  std::vector<NodeId> moved_;       // of this block: nodes that can't copy and have sent
  std::size_t words_ = 1;
  std::vector<Word> state_, full_, sent_;
  std::uint64_t redundant_ = 0;
  std::optional<FoundFault> first_;
};

/// Ids that don't exist make every other question moot, so they are looked for first.
std::optional<Fault> unknown_id(const Topology& topology, const Collective& collective,
                                const Schedule& schedule) {
  if (schedule.paths().link_count() != topology.link_count())
    return Fault{0, fmt::format("the schedule speaks of {} links, the topology has {}",
                                schedule.paths().link_count(), topology.link_count())};
  for (std::size_t i = 0; i < schedule.size(); ++i)
    if (schedule[i].chunk.value >= collective.chunks.size())
      return Fault{i, fmt::format("transfer {}: there is no chunk {} (the collective has {})", i,
                                  schedule[i].chunk.value, collective.chunks.size())};
  return std::nullopt;
}

/// For each transfer the first one of its block; empty where every transfer is its own block.
std::vector<std::uint32_t> block_starts(const Schedule& schedule) {
  std::vector<std::uint32_t> start;
  for (std::uint32_t i = 1; i < schedule.size(); ++i) {
    if (!schedule[i].together) continue;
    if (start.empty()) {
      start.resize(schedule.size());
      for (std::uint32_t j = 0; j < schedule.size(); ++j) start[j] = j;
    }
    start[i] = start[i - 1];
  }
  return start;
}

} // namespace

Verdict verify(const Topology& topology, const Collective& collective, const Schedule& schedule,
               const Watch& watch) {
  if (std::optional<Fault> fault = unknown_id(topology, collective, schedule))
    return {std::move(fault), 0};
  if (is_proven_in_order(topology, collective, schedule, watch)) return {};

  const std::size_t chunks = collective.chunks.size();
  std::vector<std::uint32_t> begin(chunks + 1), sorted(schedule.size());
  for (std::size_t i = 0; i < schedule.size(); ++i) ++begin[schedule[i].chunk.value + 1];
  for (std::size_t c = 0; c < chunks; ++c) begin[c + 1] += begin[c];
  std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
  for (std::uint32_t i = 0; i < schedule.size(); ++i) sorted[next[schedule[i].chunk.value]++] = i;

  Checker checker(topology, collective, schedule);
  const std::vector<std::uint32_t> starts = block_starts(schedule);
  const auto block_of = [&](std::uint32_t i) { return starts.empty() ? i : starts[i]; };
  if (schedule.has_contiguous()) checker.check_sends();
  checker.check_dependencies(block_of);
  WatchedSteps steps(watch);
  for (std::uint32_t c = 0; c < chunks; ++c) {
    checker.check_chunk(ChunkId{c}, std::span(sorted).subspan(begin[c], begin[c + 1] - begin[c]),
                        block_of);
    steps.take(begin[c + 1] - begin[c] + std::uint64_t{topology.node_count()}, [&] {
      return WorkProgress{begin[c + 1], schedule.size()};
    });
  }
  return checker.verdict();
}

} // namespace tutti
