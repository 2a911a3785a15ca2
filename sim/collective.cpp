// A named collective is given by rules for who holds and who wants shard i, which make_collective()
// turns into chunks; a buffer that its shards don't divide is cut into parts that differ by at most
// one byte. Chunks with equal sets of sources (destinations) share one set. Sizes are those that
// nccl-tests prints; sendrecv and hypercube are as in its sendrecv.cu and hypercube.cu. Shares that
// differ (sim/shares/) are cut evenly, so that chunks are about as large as equal shares' would be.

#include "sim/collective.hpp"

#include "sim/error.hpp"
#include "sim/hash.hpp"
#include "sim/shares/shares.hpp"
#include "sim/text.hpp"
#include "sim/topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <utility>

namespace tutti {

namespace {

__extension__ typedef __int128 int128;

constexpr std::array all_kinds{
    CollectiveKind::broadcast,        CollectiveKind::reduce,       CollectiveKind::gather,
    CollectiveKind::scatter,          CollectiveKind::all_gather,   CollectiveKind::reduce_scatter,
    CollectiveKind::all_reduce,       CollectiveKind::all_to_all,   CollectiveKind::sendrecv,
    CollectiveKind::hypercube,        CollectiveKind::all_to_all_v, CollectiveKind::all_gather_v,
    CollectiveKind::reduce_scatter_v, CollectiveKind::custom};
constexpr std::array basic_kinds{
    CollectiveKind::broadcast,  CollectiveKind::reduce,     CollectiveKind::gather,
    CollectiveKind::scatter,    CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
    CollectiveKind::all_reduce, CollectiveKind::all_to_all, CollectiveKind::custom};

/// Cuts `size` into `count` parts that differ by at most one byte.
class Cut {
public:
  Cut(Bytes size, std::uint64_t count) : size_(size), count_(static_cast<std::int64_t>(count)) {
    if (size.count < count_)
      throw InputError(fmt::format("{} can't be cut into {} chunks of at least one byte",
                                   to_text(size), count_));
  }
  [[nodiscard]] Bytes part(std::uint64_t i) const {
    return {edge(static_cast<std::int64_t>(i) + 1) - edge(static_cast<std::int64_t>(i))};
  }

private:
  [[nodiscard]] std::int64_t edge(std::int64_t i) const {
    return static_cast<std::int64_t>(static_cast<int128>(size_.count) * i / count_);
  }
  Bytes size_;
  std::int64_t count_;
};

/// Members, checked: at least two, all NPUs, none twice.
std::vector<NodeId> checked_group(const Topology& topology, const CollectiveSpec& spec) {
  if (topology.npu_count() == 0)
    throw InputError(fmt::format("{} has no NPU that could take part", topology.name()));
  std::vector<NodeId> group = spec.group;
  if (group.empty())
    for (std::uint32_t n = 0; n < topology.npu_count(); ++n) group.push_back(NodeId{n});
  std::vector<NodeId> sorted = group;
  std::sort(sorted.begin(), sorted.end());
  if (sorted.back().value >= topology.npu_count()) // before any of them is looked up
    throw InputError(fmt::format("group member {} is not an NPU (the topology has {})",
                                 sorted.back().value, topology.npu_count()));
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    throw InputError(fmt::format("group member {} is named twice", twice->value));
  if (group.size() < 2)
    throw InputError(fmt::format("a collective over one NPU has nothing to do ({} over {})",
                                 to_text(spec.kind), topology.node(group.front()).name));
  if (spec.root >= group.size())
    throw InputError(fmt::format("root {} is outside the group of {}", spec.root, group.size()));
  return group;
}

/// Total number of chunks, refused where ids would overflow.
std::uint64_t chunk_total(CollectiveKind kind, std::uint64_t members,
                          std::uint64_t chunks_per_shard) {
  constexpr std::uint64_t most = 1ULL << 28; // 8 GB of them; ids and sums stay far from overflow
  const std::uint64_t shards = block_count(kind, members);
  if (chunks_per_shard == 0) throw InputError("a collective needs at least one chunk per shard");
  if (shards > most / chunks_per_shard)
    throw InputError(fmt::format("{} over {} NPUs in {} chunks per shard has too many chunks",
                                 to_text(kind), members, chunks_per_shard));
  return shards * chunks_per_shard;
}

} // namespace

std::string_view to_text(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::broadcast: return "broadcast";
  case CollectiveKind::reduce: return "reduce";
  case CollectiveKind::gather: return "gather";
  case CollectiveKind::scatter: return "scatter";
  case CollectiveKind::all_gather: return "all_gather";
  case CollectiveKind::reduce_scatter: return "reduce_scatter";
  case CollectiveKind::all_reduce: return "all_reduce";
  case CollectiveKind::all_to_all: return "all_to_all";
  case CollectiveKind::sendrecv: return "sendrecv";
  case CollectiveKind::hypercube: return "hypercube";
  case CollectiveKind::all_to_all_v: return "all_to_all_v";
  case CollectiveKind::all_gather_v: return "all_gather_v";
  case CollectiveKind::reduce_scatter_v: return "reduce_scatter_v";
  case CollectiveKind::custom: break;
  }
  return "custom";
}

std::optional<CollectiveKind> find_collective_kind(std::string_view text) {
  const auto plain = [](std::string_view name) {
    std::string letters;
    for (const char c : name)
      if (c != '_' && c != '-' && c != ' ') letters += c >= 'A' && c <= 'Z' ? char(c + 32) : c;
    return letters;
  };
  text = text.substr(0, text.find("_perf")); // also all_reduce_perf_mpi
  for (const CollectiveKind kind : std::span(all_kinds).first(all_kinds.size() - 1))
    if (plain(to_text(kind)) == plain(text)) return kind;
  return std::nullopt;
}

CollectiveKind parse_collective_kind(std::string_view text) {
  if (const auto found = find_collective_kind(text)) return *found;
  std::vector<std::string> known;
  for (const CollectiveKind kind : std::span(all_kinds).first(all_kinds.size() - 1))
    known.emplace_back(to_text(kind));
  throw InputError(unknown_name("collective", text, known));
}

std::span<const CollectiveKind> named_collectives() {
  return std::span(all_kinds).first(all_kinds.size() - 3);
}

std::span<const CollectiveKind> all_collectives() { return all_kinds; }

std::span<const CollectiveKind> basic_collectives() {
  return std::span(basic_kinds).first(basic_kinds.size() - 1);
}

std::span<const CollectiveKind> basic_and_custom() { return basic_kinds; }

bool has_root(CollectiveKind kind) {
  return kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce ||
         kind == CollectiveKind::gather || kind == CollectiveKind::scatter;
}

bool is_reducing(CollectiveKind kind) {
  return kind == CollectiveKind::reduce || kind == CollectiveKind::reduce_scatter ||
         kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce_scatter_v;
}

std::uint64_t block_count(CollectiveKind kind, std::uint64_t members) {
  if (kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce) return 1;
  return is_by_pairs(kind) ? members * members : members;
}

bool is_by_pairs(CollectiveKind kind) {
  return kind == CollectiveKind::all_to_all || kind == CollectiveKind::all_to_all_v;
}

bool has_shares(CollectiveKind kind) {
  return kind == CollectiveKind::all_to_all_v || kind == CollectiveKind::all_gather_v ||
         kind == CollectiveKind::reduce_scatter_v;
}

Bytes Collective::size() const {
  Bytes total;
  for (const CollectivePart& part : parts) total += part.size;
  return total;
}

Bytes Collective::smallest_chunk() const {
  if (chunks.empty()) return Bytes{};
  return std::ranges::min_element(chunks, {}, &Chunk::size)->size;
}

Bytes Collective::largest_chunk() const {
  Bytes largest;
  for (const Chunk& chunk : chunks) largest = std::max(largest, chunk.size);
  return largest;
}

std::uint64_t Collective::fingerprint() const {
  std::vector<std::uint64_t> set_hashes;
  for (const std::vector<NodeId>& set : sets) {
    Fingerprint hash;
    for (const NodeId node : set) hash.add(node.value);
    set_hashes.push_back(hash.value());
  }
  Fingerprint hash;
  for (const Chunk& chunk : chunks) {
    hash.add(chunk.size.count);
    hash.add(set_hashes[chunk.sources]);
    hash.add(set_hashes[chunk.destinations]);
    hash.add(chunk.reduces ? 1U : 0U);
  }
  for (const CollectivePart& part : parts) // all others differ from each other by their chunks
    if (part.kind == CollectiveKind::hypercube) hash.add(part.first.value);
  return hash.value();
}

std::string Collective::name() const {
  std::vector<std::string> names;
  for (const CollectivePart& part : parts) {
    const std::string_view words = part.shares.words; // begin with a name
    const std::size_t comma = words.find(',');
    std::string text = fmt::format(
        "{} {}", words.empty() ? to_text(part.kind) : words.substr(0, comma), to_text(part.size));
    if (comma != std::string_view::npos) text += words.substr(comma);
    if (has_root(part.kind)) text += fmt::format(",root={}", part.group[part.root].value);
    std::vector<std::uint32_t> members;
    for (const NodeId node : part.group) members.push_back(node.value);
    if (!members.empty()) text += ",group=" + ranges_text(members);
    names.push_back(std::move(text));
  }
  return joined(names, " + ");
}

CollectiveSpec spec_of(const CollectivePart& part, std::uint32_t chunks_per_shard) {
  return {part.kind, part.size, part.group, part.root, chunks_per_shard, part.shares};
}

std::vector<std::uint32_t> block_offsets(const Collective& collective, const CollectivePart& part) {
  const auto members = static_cast<std::uint32_t>(part.group.size());
  const std::uint64_t blocks =
      part.kind == CollectiveKind::custom ? part.chunk_count : block_count(part.kind, members);
  std::vector<std::uint32_t> offsets(blocks + 1);
  if (!has_shares(part.kind)) {
    for (std::uint32_t b = 0; b <= blocks; ++b)
      offsets[b] = b * static_cast<std::uint32_t>(part.chunk_count / blocks);
    return offsets;
  }
  std::unordered_map<std::uint32_t, std::uint32_t> rank; // looked up, never iterated
  for (std::uint32_t r = 0; r < members; ++r) rank[part.group[r].value] = r;
  for (std::uint32_t c = 0; c < part.chunk_count; ++c) {
    const ChunkId chunk{part.first.value + c};
    const std::uint32_t from = rank.at(collective.sources(chunk).front().value),
                        to = rank.at(collective.destinations(chunk).front().value);
    const std::uint32_t block = is_by_pairs(part.kind)   ? from * members + to
                                : is_reducing(part.kind) ? to
                                                         : from;
    offsets[block + 1] = c + 1;
  }
  for (std::size_t b = 1; b < offsets.size(); ++b)
    offsets[b] = std::max(offsets[b], offsets[b - 1]);
  return offsets;
}

namespace {

/// Shares in bytes, and the size that is theirs.
std::vector<std::int64_t> shares_of(const CollectiveSpec& spec, std::uint32_t members,
                                    CollectivePart& part) {
  if (!spec.shares.are_said() && spec.kind == CollectiveKind::all_to_all_v)
    return shares_of_rccl_tests(members, spec.size);
  require_share_words(spec.kind, spec.shares);
  std::vector<std::int64_t> shares = drawn_shares(spec.kind, spec.shares, members);
  const Bytes own = size_of_shares(spec.kind, shares, members);
  if (own.count == 0)
    throw InputError(fmt::format("no share of {} has a byte", to_text(spec.kind)));
  if (spec.size.count > 0)
    shares = scaled_shares(spec.kind, std::move(shares), members, spec.size);
  else
    part.size = own;
  part.shares = {spec.shares.words, shares};
  return shares;
}

} // namespace

Collective with_sizes_of(Collective planned, const Collective& sizes) {
  const auto blocks = [](const Collective& collective) {
    return collective.parts.size() == 1 ? block_offsets(collective, collective.parts.front())
                                        : std::vector<std::uint32_t>{};
  };
  const std::vector<std::uint32_t> chunks = blocks(planned), wanted = blocks(sizes);
  if (chunks.empty() || chunks.size() != wanted.size() ||
      planned.parts[0].group != sizes.parts[0].group ||
      is_by_pairs(planned.parts[0].kind) != is_by_pairs(sizes.parts[0].kind))
    throw InputError(
        fmt::format("chunks of {} can't have the sizes of {}", planned.name(), sizes.name()));
  const auto n = sizes.parts[0].group.size();
  for (std::size_t b = 0; b + 1 < chunks.size(); ++b) {
    Bytes share;
    for (std::uint32_t c = wanted[b]; c < wanted[b + 1]; ++c) share += sizes.chunks[c].size;
    const std::int64_t count = chunks[b + 1] - chunks[b];
    const bool stays = is_by_pairs(sizes.parts[0].kind) && b / n == b % n;
    if (count == 0 && share.count > 0 && !stays)
      throw InputError(fmt::format(
          "nothing was planned for share {}, which is {} now{}", b, to_text(share),
          is_by_pairs(sizes.parts[0].kind) ? fmt::format(" (from rank {} to rank {})", b / n, b % n)
                                           : ""));
    const Cut cut(std::max(share, Bytes{count}), static_cast<std::uint64_t>(count));
    for (std::int64_t k = 0; k < count; ++k)
      planned.chunks[chunks[b] + static_cast<std::size_t>(k)].size =
          cut.part(static_cast<std::uint64_t>(k));
  }
  if (has_shares(sizes.parts[0].kind)) planned.parts[0].kind = sizes.parts[0].kind;
  planned.parts[0].size = sizes.parts[0].size;
  planned.parts[0].shares = sizes.parts[0].shares;
  return planned;
}

Collective make_collective(const Topology& topology, const CollectiveSpec& spec) {
  Collective made;
  CollectivePart part{spec.kind,
                      spec.size,
                      checked_group(topology, spec),
                      spec.root,
                      spec.chunks_per_shard,
                      ChunkId{0},
                      0,
                      {}};
  const std::vector<NodeId>& group = part.group;
  const auto n = static_cast<std::uint32_t>(group.size());
  part.chunk_count = static_cast<std::uint32_t>(chunk_total(spec.kind, n, spec.chunks_per_shard));

  // Sets 0 .. n-1 are the single members in rank order, set n is the whole group.
  for (const NodeId member : group) made.sets.push_back({member});
  made.sets.push_back(group);
  std::sort(made.sets.back().begin(), made.sets.back().end());
  const SetId everyone = n, root = spec.root;

  const auto add_shards = [&](std::uint32_t shards, const auto& holds, const auto& wants) {
    const Cut cut(spec.size, std::uint64_t{shards} * spec.chunks_per_shard);
    made.chunks.reserve(part.chunk_count); // only now: the cut has refused what makes no sense
    for (std::uint32_t i = 0; i < shards; ++i)
      for (std::uint32_t k = 0; k < spec.chunks_per_shard; ++k)
        made.chunks.push_back({cut.part(std::uint64_t{i} * spec.chunks_per_shard + k), holds(i),
                               wants(i), is_reducing(spec.kind)});
  };
  const auto always = [](SetId set) { return [set](std::uint32_t) { return set; }; };
  const auto own = [](std::uint32_t i) -> SetId { return i; };
  switch (spec.kind) {
  case CollectiveKind::broadcast: add_shards(1, always(root), always(everyone)); break;
  case CollectiveKind::reduce: add_shards(1, always(everyone), always(root)); break;
  case CollectiveKind::gather: add_shards(n, own, always(root)); break;
  case CollectiveKind::scatter: add_shards(n, always(root), own); break;
  case CollectiveKind::hypercube:
  case CollectiveKind::all_gather: add_shards(n, own, always(everyone)); break;
  case CollectiveKind::reduce_scatter: add_shards(n, always(everyone), own); break;
  case CollectiveKind::all_reduce: add_shards(n, always(everyone), always(everyone)); break;
  case CollectiveKind::all_to_all:
    for (std::uint32_t i = 0; i < n; ++i) add_shards(n, always(i), own);
    break;
  case CollectiveKind::sendrecv:
    for (std::uint32_t i = 0; i < n; ++i) add_shards(1, always(i), always((i + 1) % n));
    break;
  case CollectiveKind::all_to_all_v:
  case CollectiveKind::all_gather_v:
  case CollectiveKind::reduce_scatter_v: {
    const std::vector<std::int64_t> shares = shares_of(spec, n, part);
    // A K-th of the mean of those who send, or receive, most.
    std::int64_t most = 0;
    for (std::uint32_t i = 0; i < (is_by_pairs(spec.kind) ? n : 1U); ++i) {
      std::int64_t moved = 0;
      for (std::uint32_t j = 0; j < n; ++j)
        if (!is_by_pairs(spec.kind) || i != j) moved += shares[std::size_t{i} * n + j];
      most = std::max(most, moved);
    }
    const std::int64_t blocks = is_by_pairs(spec.kind) ? n - 1 : n;
    if (most == 0) throw InputError(fmt::format("no share of {} has to move", to_text(spec.kind)));
    const std::int64_t piece = (most - 1) / (blocks * spec.chunks_per_shard) + 1;
    for (std::size_t b = 0; b < shares.size(); ++b) {
      if (shares[b] == 0) continue;
      const auto i = static_cast<SetId>(b / n), j = static_cast<SetId>(b % n);
      const bool stays = is_by_pairs(spec.kind) && i == j;
      const std::uint64_t chunks =
          stays ? 1 : static_cast<std::uint64_t>((shares[b] - 1) / piece + 1);
      const bool is_of_floats =
          shares[b] % 4 == 0 && shares[b] / 4 >= static_cast<std::int64_t>(chunks);
      const std::int64_t element = is_of_floats ? 4 : 1; // that no chunk ends within
      const Cut cut(Bytes{shares[b] / element}, chunks);
      for (std::uint64_t k = 0; k < chunks; ++k)
        made.chunks.push_back({Bytes{cut.part(k).count * element},
                               is_by_pairs(spec.kind)   ? i
                               : is_reducing(spec.kind) ? everyone
                                                        : j,
                               is_by_pairs(spec.kind) || is_reducing(spec.kind) ? j : everyone,
                               is_reducing(spec.kind)});
    }
    part.chunk_count = static_cast<std::uint32_t>(made.chunks.size());
    break;
  }
  case CollectiveKind::custom:
    throw InputError("a custom collective is given chunk by chunk, in a TOML file");
  }
  made.parts.push_back(std::move(part));
  return made;
}

Collective merge(std::span<const Collective> collectives) {
  Collective all;
  for (const Collective& one : collectives) {
    const auto set_shift = static_cast<SetId>(all.sets.size());
    const auto chunk_shift = static_cast<std::uint32_t>(all.chunks.size());
    all.sets.insert(all.sets.end(), one.sets.begin(), one.sets.end());
    for (Chunk chunk : one.chunks) {
      chunk.sources += set_shift;
      chunk.destinations += set_shift;
      all.chunks.push_back(chunk);
    }
    for (CollectivePart part : one.parts) {
      part.first.value += chunk_shift;
      all.parts.push_back(std::move(part));
    }
  }
  return all;
}

Collective part_alone(const Collective& collective, std::size_t part) {
  if (collective.parts.size() == 1) return collective;
  Collective alone;
  alone.sets = collective.sets;
  alone.parts = {collective.parts[part]};
  const std::uint32_t first = alone.parts[0].first.value;
  alone.chunks.assign(collective.chunks.begin() + first,
                      collective.chunks.begin() + first + alone.parts[0].chunk_count);
  alone.parts[0].first = ChunkId{0};
  return alone;
}

CollectiveSpec parse_collective(std::string_view text) {
  CollectiveSpec spec;
  const std::vector<std::string_view> words = split(text, ',');
  const std::string_view name = trimmed(words.front());
  const auto named = find_collective_name(name);
  spec.kind = named ? *named : parse_collective_kind(name);
  std::string shares;
  std::optional<std::uint32_t> root;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    const std::string_view key = trimmed(words[i].substr(0, equals));
    const std::string_view value =
        equals == std::string_view::npos ? "" : trimmed(words[i].substr(equals + 1));
    if ((key == "root" && root) || (key == "group" && !spec.group.empty()))
      throw InputError(fmt::format("key \"{}\" of {} is given twice", key, to_text(spec.kind)));
    if (key == "root" && has_root(spec.kind)) {
      root = static_cast<std::uint32_t>(parse_integer(value, "root", 0, INT32_MAX));
    } else if (key == "group") {
      for (const std::uint32_t member : parse_ranges(value, "group"))
        spec.group.emplace_back(member);
    } else if (has_shares(spec.kind)) {
      shares += fmt::format(",{}", trimmed(words[i]));
    } else {
      const std::vector<std::string> known = has_root(spec.kind)
                                                 ? std::vector<std::string>{"root", "group"}
                                                 : std::vector<std::string>{"group"};
      throw InputError(unknown_name(fmt::format("key of {}", to_text(spec.kind)), key, known));
    }
  }
  if (named != find_collective_kind(name)) // dispatch, combine
    shares.insert(0, name);
  else if (!shares.empty())
    shares.insert(0, to_text(spec.kind));
  spec.shares.words = std::move(shares);
  if (spec.shares.are_said()) require_share_words(spec.kind, spec.shares);
  if (!root) return spec;
  const auto member = std::find(spec.group.begin(), spec.group.end(), NodeId{*root});
  if (!spec.group.empty() && member == spec.group.end())
    throw InputError(fmt::format("root {} is not in the group", *root));
  spec.root = spec.group.empty() ? *root : static_cast<std::uint32_t>(member - spec.group.begin());
  return spec;
}

bool is_everyone(std::span<const NodeId> group, std::size_t npus) {
  if (group.size() != npus) return false;
  for (std::uint32_t i = 0; i < npus; ++i)
    if (group[i] != NodeId{i}) return false;
  return true;
}

} // namespace tutti
