// Files may name any numbers. The limit on chunks is therefore checked in floating point before
// make_collective() allocates anything, and sums of sizes are checked for overflow.

#include "sim/collective_builder.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <span>
#include <utility>

namespace tutti {

namespace {

Bytes checked_sum(Bytes a, Bytes b) {
  if (b.count > INT64_MAX - a.count)
    throw InputError("the sizes add up to more than 2^63 - 1 bytes");
  return a + b;
}

/// How many chunks make_collective would build (see CollectivePart); as a double, since the numbers
/// of a file may be anything.
double chunks_wanted(const CollectiveSpec& spec, const Topology& topology) {
  const std::uint64_t members = spec.group.empty() ? topology.npu_count() : spec.group.size();
  return static_cast<double>(block_count(spec.kind, members)) * spec.chunks_per_shard;
}

} // namespace

SetId CustomCollectiveBuilder::add_set(std::vector<NodeId> nodes) {
  if (!std::is_sorted(nodes.begin(), nodes.end())) std::sort(nodes.begin(), nodes.end());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].value >= topology_.node_count())
      throw InputError(fmt::format("there is no node {} (there are {})", nodes[i].value,
                                   topology_.node_count()));
    if (i > 0 && nodes[i] == nodes[i - 1])
      throw InputError(fmt::format("node \"{}\" is named twice", topology_.node(nodes[i]).name));
  }
  const auto [known, is_new] =
      set_ids_.try_emplace(std::move(nodes), static_cast<SetId>(made_.sets.size()));
  if (is_new) made_.sets.push_back(known->first);
  return known->second;
}

void CustomCollectiveBuilder::add_chunk(const Chunk& chunk) {
  assert(chunk.sources < made_.sets.size() && chunk.destinations < made_.sets.size());
  if (chunk.size.count < 1) throw InputError("a chunk has at least one byte");
  if (made_.sets[chunk.sources].empty() && !made_.sets[chunk.destinations].empty())
    throw InputError("a chunk that is wanted must be held by someone");
  size_ = checked_sum(size_, chunk.size);
  made_.chunks.push_back(chunk);
}

Collective CustomCollectiveBuilder::build() const {
  if (made_.chunks.empty()) throw InputError("a custom collective needs at least one chunk");
  std::vector<NodeId> group;
  for (const std::vector<NodeId>& set : made_.sets)
    group.insert(group.end(), set.begin(), set.end());
  std::sort(group.begin(), group.end());
  group.erase(std::unique(group.begin(), group.end()), group.end());
  Collective made = made_;
  made.parts.push_back({CollectiveKind::custom, size_, std::move(group), 0, 1, ChunkId{0},
                        static_cast<std::uint32_t>(made.chunks.size())});
  return made;
}

void CollectiveBuilder::add(const CollectiveSpec& spec) {
  const double wanted = chunks_wanted(spec, topology_);
  if (wanted > static_cast<double>(chunks_left_))
    throw InputError(
        fmt::format("{:.0f} chunks are too many (at most {} here)", wanted, chunks_left_));
  add(make_collective(topology_, spec));
}

void CollectiveBuilder::add(Collective part) {
  size_ = checked_sum(size_, part.size());
  chunks_left_ -= std::min<std::uint64_t>(chunks_left_, part.chunks.size());
  parts_.push_back(std::move(part));
}

Collective CollectiveBuilder::build() const {
  if (parts_.empty()) throw InputError("there is no collective");
  return parts_.size() == 1 ? parts_.front() : merge(parts_);
}

} // namespace tutti
