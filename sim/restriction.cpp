// Restriction of a schedule to a process group. Each chunk is replayed alone: forwards with the
// members' contributions only, to find the transfers that still carry something new; backwards from
// what members want, to find those whose content reaches someone. What passes both stays.

#include "sim/restriction.hpp"

#include "sim/error.hpp"
#include "sim/transforms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

namespace {

const CollectivePart& only_named_part(const Collective& collective) {
  if (collective.parts.size() != 1 || collective.parts.front().kind == CollectiveKind::custom)
    throw InputError("only a schedule for one named collective can be restricted to a group");
  return collective.parts.front();
}

/// For each rank in the group its rank in the whole.
std::vector<std::size_t> ranks_in_whole(const Topology& topology, const CollectivePart& whole,
                                        const CollectivePart& group) {
  std::vector<std::size_t> ranks;
  for (const NodeId member : group.group) {
    const auto found = std::ranges::find(whole.group, member);
    if (found == whole.group.end())
      throw InputError(fmt::format("{} is in the group but not in the schedule's collective",
                                   topology.node(member).name));
    ranks.push_back(static_cast<std::size_t>(found - whole.group.begin()));
  }
  return ranks;
}

/// For each chunk of the whole its id in the restricted collective, or an invalid one.
std::vector<ChunkId> chunk_map(const Topology& topology, const Collective& whole,
                               const Collective& restricted) {
  const CollectivePart& all = only_named_part(whole);
  const CollectivePart& some = only_named_part(restricted);
  if (all.kind != some.kind)
    throw InputError(fmt::format("a schedule for {} can't be restricted to {}", to_text(all.kind),
                                 to_text(some.kind)));
  if (all.chunks_per_shard != some.chunks_per_shard)
    throw InputError(fmt::format("a schedule with {} chunks per shard can't be restricted to {}",
                                 all.chunks_per_shard, some.chunks_per_shard));
  const std::vector<std::size_t> rank = ranks_in_whole(topology, all, some);
  if (has_root(all.kind) && all.group[all.root] != some.group[some.root])
    throw InputError(fmt::format("a schedule with root {} can't be restricted to root {}",
                                 topology.node(all.group[all.root]).name,
                                 topology.node(some.group[some.root]).name));

  std::vector<ChunkId> map(whole.chunks.size());
  std::uint32_t next = 0; // chunk of the restricted collective
  const auto add_block = [&](std::size_t block_of_whole) {
    for (std::uint32_t k = 0; k < all.chunks_per_shard; ++k)
      map[block_of_whole * all.chunks_per_shard + k] = ChunkId{next++};
  };
  if (all.kind == CollectiveKind::broadcast || all.kind == CollectiveKind::reduce)
    add_block(0);
  else if (all.kind == CollectiveKind::all_to_all)
    for (const std::size_t i : rank)
      for (const std::size_t j : rank) add_block(i * all.group.size() + j);
  else
    for (const std::size_t i : rank) add_block(i);
  return map;
}

struct Step {
  std::size_t position; // in the schedule
  NodeId from, to;
  Op op;
  bool together; // with the previous step of the same chunk
};

/// What each node holds of one chunk: one bit per contributing member (or one bit in all, where the
/// chunk doesn't reduce).
class Holdings {
public:
  Holdings(std::uint32_t nodes, std::size_t contributions)
      : words_((contributions + 63) / 64), bits_(nodes * words_) {}

  using Set = std::vector<std::uint64_t>;

  void add(NodeId node, std::size_t contribution) {
    at(node)[contribution / 64] |= std::uint64_t{1} << (contribution % 64);
  }
  [[nodiscard]] Set of(NodeId node) const {
    const auto begin = bits_.begin() + static_cast<std::ptrdiff_t>(node.value * words_);
    return {begin, begin + static_cast<std::ptrdiff_t>(words_)};
  }
  void clear(NodeId node) { std::ranges::fill(at(node), 0); }
  /// Whether anything changed.
  bool unite(NodeId node, const Set& more) {
    bool changed = false;
    for (std::size_t w = 0; w < words_; ++w) {
      std::uint64_t& word = at(node)[w];
      changed = changed || (more[w] & ~word) != 0;
      word |= more[w];
    }
    return changed;
  }

private:
  [[nodiscard]] std::span<std::uint64_t> at(NodeId node) {
    return std::span(bits_).subspan(node.value * words_, words_);
  }
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

/// Decides which transfers of one chunk stay.
class ChunkRestriction {
public:
  ChunkRestriction(const Topology& topology, const Collective& restricted, ChunkId chunk)
      : topology_(topology), wanted_by_(restricted.destinations(chunk)),
        holds_(topology.node_count(),
               restricted.chunks[chunk.value].reduces ? restricted.sources(chunk).size() : 1),
        needed_(topology.node_count()) {
    const std::span<const NodeId> sources = restricted.sources(chunk);
    for (std::size_t i = 0; i < sources.size(); ++i)
      holds_.add(sources[i], restricted.chunks[chunk.value].reduces ? i : 0);
    for (const NodeId node : wanted_by_) needed_[node.value] = true;
  }

  /// Sets keep[step.position] for all steps.
  void decide(std::span<const Step> steps, std::vector<bool>& keep) {
    std::vector<std::span<const Step>> blocks;
    for (std::size_t begin = 0, end = 0; begin < steps.size(); begin = end) {
      for (end = begin + 1; end < steps.size() && steps[end].together;) ++end;
      blocks.push_back(steps.subspan(begin, end - begin));
    }
    for (const auto block : blocks) forward(block, keep);
    for (std::size_t b = blocks.size(); b-- > 0;) backward(blocks[b], keep);
  }

private:
  [[nodiscard]] bool keeps_its_value(NodeId node) const { return topology_.node(node).can.copy; }

  void forward(std::span<const Step> block, std::vector<bool>& keep) {
    std::vector<Holdings::Set> sent;
    for (const Step& step : block) sent.push_back(holds_.of(step.from));
    for (const Step& step : block)
      if (!keeps_its_value(step.from)) holds_.clear(step.from);
    for (std::size_t i = 0; i < block.size(); ++i)
      keep[block[i].position] = holds_.unite(block[i].to, sent[i]);
  }

  void backward(std::span<const Step> block, std::vector<bool>& keep) {
    for (std::size_t i = block.size(); i-- > 0;) {
      const Step& step = block[i];
      if (!keep[step.position]) continue;
      keep[step.position] = needed_[step.to.value];
      if (step.op == Op::copy) needed_[step.to.value] = false; // whatever it held is overwritten
    }
    for (const Step& step : block)
      if (!keeps_its_value(step.from)) needed_[step.from.value] = false; // it ends up empty
    for (const Step& step : block)
      if (keep[step.position]) needed_[step.from.value] = true;
  }

  const Topology& topology_;
  std::span<const NodeId> wanted_by_;
  Holdings holds_;
  std::vector<bool> needed_; // per node: its value, at this point of the list, reaches a member
};

} // namespace

Schedule restricted_to_group(const Topology& topology, const Schedule& schedule,
                             const Collective& whole, const Collective& restricted) {
  const std::vector<ChunkId> map = chunk_map(topology, whole, restricted);
  std::vector<std::vector<Step>> steps(restricted.chunks.size());
  std::vector<std::size_t> last_block(restricted.chunks.size(), SIZE_MAX);
  std::size_t block = 0; // position of its first transfer
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    const Transfer transfer = schedule[i];
    if (!transfer.together) block = i;
    const ChunkId chunk = map[transfer.chunk.value];
    if (!chunk.valid()) continue;
    steps[chunk.value].push_back({i, topology.link(schedule.paths().first(transfer.path)).from,
                                  topology.link(schedule.paths().last(transfer.path)).to,
                                  transfer.op, last_block[chunk.value] == block});
    last_block[chunk.value] = block;
  }
  std::vector<bool> keep(schedule.size());
  for (std::uint32_t c = 0; c < steps.size(); ++c)
    ChunkRestriction(topology, restricted, ChunkId{c}).decide(steps[c], keep);

  Schedule rest(schedule.paths().link_count());
  std::vector<std::uint32_t> place(schedule.size(), UINT32_MAX);
  bool block_started = false, send_started = false; // by a transfer that stays
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    Transfer transfer = schedule[i];
    if (!transfer.together) block_started = false;
    if (!transfer.contiguous) send_started = false;
    if (!keep[i]) continue;
    transfer.together = block_started;
    transfer.contiguous = send_started;
    block_started = send_started = true;
    transfer.chunk = map[transfer.chunk.value];
    transfer.path = rest.paths().intern(schedule.paths().links(transfer.path));
    place[i] = static_cast<std::uint32_t>(rest.size());
    rest.push(transfer);
  }
  carry_dependencies(schedule, place, rest);
  return rest;
}

} // namespace tutti
