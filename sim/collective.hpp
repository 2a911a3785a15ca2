// What has to move: chunks, who holds or contributes to each, and who wants it.
// A named collective (All-Reduce, ...), a custom one, or several at once; all become chunks.
#pragma once

#include "sim/ids.hpp"
#include "sim/units.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

class Topology;

enum class CollectiveKind : std::uint8_t {
  broadcast,        ///< the root's buffer to everyone
  reduce,           ///< everyone's buffers, combined, to the root
  gather,           ///< everyone's shard to the root
  scatter,          ///< the root's shards, one to each
  all_gather,       ///< everyone's shard to everyone
  reduce_scatter,   ///< combined; shard i ends at member i
  all_reduce,       ///< combined; everything ends everywhere
  all_to_all,       ///< shard j of member i to member j
  sendrecv,         ///< everyone's buffer to the next member
  hypercube,        ///< an All-Gather, by exchanges with the members 1, 2, 4, ... away
  all_to_all_v,     ///< All-to-All whose shares differ: as said, else as in rccl-tests' alltoallv
  all_gather_v,     ///< All-Gather of shares that differ
  reduce_scatter_v, ///< Reduce-Scatter into shares that differ
  custom,           ///< any pre- and postcondition
};

[[nodiscard]] std::string_view to_text(CollectiveKind kind); ///< "all_reduce"
/// As people and programs write it: "all_reduce", "AllReduce", "all-reduce", "allreduce",
/// "all_reduce_perf"; nothing for what is no collective.
[[nodiscard]] std::optional<CollectiveKind> find_collective_kind(std::string_view text);
/// The same. Errors: InputError with the known names.
[[nodiscard]] CollectiveKind parse_collective_kind(std::string_view text);
/// Those that a name and a size define, in enum order: all but custom, all_gather_v and
/// reduce_scatter_v.
[[nodiscard]] std::span<const CollectiveKind> named_collectives();
[[nodiscard]] std::span<const CollectiveKind> all_collectives(); ///< custom last
/// What papers' algorithms define: broadcast to all_to_all.
[[nodiscard]] std::span<const CollectiveKind> basic_collectives();
[[nodiscard]] std::span<const CollectiveKind> basic_and_custom(); ///< custom last
[[nodiscard]] bool has_root(CollectiveKind kind);
[[nodiscard]] bool is_reducing(CollectiveKind kind);
/// Blocks of a buffer's parts that go to one place as a whole: shards, or one for each pair.
[[nodiscard]] std::uint64_t block_count(CollectiveKind kind, std::uint64_t members);
/// Whether each pair of members has a block of its own: all_to_all, all_to_all_v.
[[nodiscard]] bool is_by_pairs(CollectiveKind kind);
/// Whether its blocks may differ in size: all_to_all_v, all_gather_v, reduce_scatter_v.
[[nodiscard]] bool has_shares(CollectiveKind kind);

/// Index into Collective::sets.
using SetId = std::uint32_t;

/// The atomic unit of scheduling.
struct Chunk {
  Bytes size;             ///< >= 1
  SetId sources = 0;      ///< who holds it at the start; with `reduces`: who contributes
  SetId destinations = 0; ///< who must have it, complete, at the end
  bool reduces = false;
};

/// How the blocks of a collective differ: in words, which sim/shares/ reads, or in bytes.
struct Shares {
  std::string words = {}; ///< "dispatch,tokens=4096,top=8": all that was asked for but the group
  /// By block; for each pair of members i * n + j, from i to j. Empty: as `words` draw them.
  std::vector<std::int64_t> bytes = {};

  [[nodiscard]] bool are_said() const { return !words.empty() || !bytes.empty(); }
};

/// One collective among those of a Collective, with the layout of its chunks:
///   members n = group.size(), chunks per shard K = chunks_per_shard, first = f
///   broadcast, reduce        : chunk f + k                      k < K
///   gather, scatter, all_gather, reduce_scatter, all_reduce
///                            : chunk f + i * K + k              shard of group[i], k < K
///   sendrecv                 : chunk f + i * K + k              all of group[i]'s buffer
///   hypercube                : as all_gather
///   all_to_all               : chunk f + (i * n + j) * K + k    from group[i] to group[j]
///                              (i = j included: it stays where it is)
///   all_to_all_v, all_gather_v, reduce_scatter_v
///                            : block by block in the same order, each in as many nearly equal
///                              chunks as its share needs for none to be larger than a K-th of the
///                              mean, what stays where it is in one; see block_offsets()
///   custom                   : as given; K = 1
struct CollectivePart {
  CollectiveKind kind = CollectiveKind::custom;
  /// What nccl-tests prints: the total buffer; of pairs that differ, the largest of any member.
  Bytes size;
  std::vector<NodeId> group; ///< members in rank order
  std::uint32_t root = 0;    ///< index into group; 0 where the kind has none
  std::uint32_t chunks_per_shard = 1;
  ChunkId first{0};
  std::uint32_t chunk_count = 0;
  Shares shares = {}; ///< where they were said: in bytes, too
};

struct Collective {
  std::vector<std::vector<NodeId>> sets; ///< each ascending, without repeats
  std::vector<Chunk> chunks;
  std::vector<CollectivePart> parts; ///< cover `chunks` in order

  [[nodiscard]] std::span<const NodeId> sources(ChunkId c) const {
    return sets[chunks[c.value].sources];
  }
  [[nodiscard]] std::span<const NodeId> destinations(ChunkId c) const {
    return sets[chunks[c.value].destinations];
  }
  [[nodiscard]] Bytes size() const;           ///< sum over the parts
  [[nodiscard]] Bytes smallest_chunk() const; ///< 0 B without chunks
  [[nodiscard]] Bytes largest_chunk() const;  ///< 0 B without chunks
  /// 64-bit hash of chunks and conditions, the same on every machine.
  [[nodiscard]] std::uint64_t fingerprint() const;
  /// `all_reduce 1GiB`, `broadcast 1GiB,root=3,group=0-7`, several joined by ` + `.
  [[nodiscard]] std::string name() const;
};

/// What a named collective is made from.
struct CollectiveSpec {
  CollectiveKind kind = CollectiveKind::all_reduce;
  Bytes size{std::int64_t{1} << 30};
  std::vector<NodeId> group; ///< empty: all NPUs of the topology
  std::uint32_t root = 0;    ///< index into the group
  std::uint32_t chunks_per_shard = 1;
  /// Those of kinds that have some. A `size` scales them; 0 B leaves them as they are.
  Shares shares = {};
};

/// What a part was made from, cut otherwise.
[[nodiscard]] CollectiveSpec spec_of(const CollectivePart& part, std::uint32_t chunks_per_shard);

/// The first chunk of each block of a part, counted from part.first, and the end of the last.
/// Cost: O(blocks), where shares differ O(chunks).
[[nodiscard]] std::vector<std::uint32_t> block_offsets(const Collective& collective,
                                                       const CollectivePart& part);

/// Builds the chunks. A buffer that doesn't divide is cut into parts that differ by at most one
/// byte. Errors: InputError for fewer than two members, a member twice or that isn't an NPU, a root
/// outside the group, parts smaller than a byte, shares that aren't those of so many members, or
/// none of which moves.
[[nodiscard]] Collective make_collective(const Topology& topology, const CollectiveSpec& spec);

/// The chunks of one part as they are, but each block as large as that of `sizes`, its chunks
/// nearly equal and of a byte at least. Errors: InputError where the two aren't of the same members
/// and blocks, or a block that has no chunk has to move. Cost: O(chunks).
[[nodiscard]] Collective with_sizes_of(Collective planned, const Collective& sizes);

/// Several collectives at once on one network: parts and chunks one after another.
[[nodiscard]] Collective merge(std::span<const Collective> collectives);

/// The collective of one part alone, with chunk ids from 0.
[[nodiscard]] Collective part_alone(const Collective& collective, std::size_t part);

/// `name[,root=3][,group=0-7+16-23]`, and the words of shares (docs/formats/collective.md); the
/// root is a node of the group (by NPU id), size and chunks per shard come from the caller. Errors:
/// InputError for an unknown name or key, or a malformed value.
[[nodiscard]] CollectiveSpec parse_collective(std::string_view text);

/// A custom collective, or several named ones, from a TOML file (docs/formats/collective.md).
[[nodiscard]] Collective read_collective(const std::string& file, const Topology& topology);

/// Whether the group is all NPUs in the order of their ids: it communicates on the whole network.
[[nodiscard]] bool is_everyone(std::span<const NodeId> group, std::size_t npus);

} // namespace tutti
