// A named collective is given by rules for who holds and who wants shard i, which make_collective()
// turns into chunks; a buffer that its shards don't divide is cut into parts that differ by at most
// one byte. Chunks with equal sets of sources (destinations) share one set.
// Sizes are those that nccl-tests prints; sendrecv and hypercube are as in its sendrecv.cu and
// hypercube.cu, the counts of alltoallv those of rccl-tests (alltoallv.cu).

#include "sim/collective.hpp"

#include "sim/error.hpp"
#include "sim/hash.hpp"
#include "sim/text.hpp"
#include "sim/topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace tutti {

namespace {

__extension__ typedef __int128 int128;

constexpr std::array all_kinds{
    CollectiveKind::broadcast,  CollectiveKind::reduce,     CollectiveKind::gather,
    CollectiveKind::scatter,    CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
    CollectiveKind::all_reduce, CollectiveKind::all_to_all, CollectiveKind::sendrecv,
    CollectiveKind::hypercube,  CollectiveKind::alltoallv,  CollectiveKind::custom};
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
  case CollectiveKind::alltoallv: return "alltoallv";
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
  for (const CollectiveKind kind : named_collectives())
    if (plain(to_text(kind)) == plain(text)) return kind;
  return std::nullopt;
}

CollectiveKind parse_collective_kind(std::string_view text) {
  if (const auto found = find_collective_kind(text)) return *found;
  std::vector<std::string> known;
  for (const CollectiveKind kind : named_collectives()) known.emplace_back(to_text(kind));
  throw InputError(unknown_name("collective", text, known));
}

std::span<const CollectiveKind> named_collectives() {
  return std::span(all_kinds).first(all_kinds.size() - 1);
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
         kind == CollectiveKind::all_reduce;
}

std::uint64_t block_count(CollectiveKind kind, std::uint64_t members) {
  if (kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce) return 1;
  return is_by_pairs(kind) ? members * members : members;
}

bool is_by_pairs(CollectiveKind kind) {
  return kind == CollectiveKind::all_to_all || kind == CollectiveKind::alltoallv;
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
    std::string text = fmt::format("{} {}", to_text(part.kind), to_text(part.size));
    if (has_root(part.kind)) text += fmt::format(",root={}", part.group[part.root].value);
    std::vector<std::uint32_t> members;
    for (const NodeId node : part.group) members.push_back(node.value);
    if (!members.empty()) text += ",group=" + ranges_text(members);
    names.push_back(std::move(text));
  }
  return joined(names, " + ");
}

Collective make_collective(const Topology& topology, const CollectiveSpec& spec) {
  Collective made;
  CollectivePart part{
      spec.kind,  spec.size, checked_group(topology, spec), spec.root, spec.chunks_per_shard,
      ChunkId{0}, 0};
  const std::vector<NodeId>& group = part.group;
  const auto n = static_cast<std::uint32_t>(group.size());
  part.chunk_count = static_cast<std::uint32_t>(chunk_total(spec.kind, n, spec.chunks_per_shard));

  // Sets 0 .. n-1 are the single members in rank order, set n is the whole group.
  for (const NodeId member : group) made.sets.push_back({member});
  made.sets.push_back(group);
  std::sort(made.sets.back().begin(), made.sets.back().end());
  const SetId everyone = n, root = spec.root;

  const auto add_chunks = [&](Bytes size, std::uint32_t shards, const auto& holds,
                              const auto& wants) {
    const Cut cut(size, std::uint64_t{shards} * spec.chunks_per_shard);
    made.chunks.reserve(part.chunk_count); // only now: the cut has refused what makes no sense
    for (std::uint32_t i = 0; i < shards; ++i)
      for (std::uint32_t k = 0; k < spec.chunks_per_shard; ++k)
        made.chunks.push_back({cut.part(std::uint64_t{i} * spec.chunks_per_shard + k), holds(i),
                               wants(i), is_reducing(spec.kind)});
  };
  const auto add_shards = [&](std::uint32_t shards, const auto& holds, const auto& wants) {
    add_chunks(spec.size, shards, holds, wants);
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
  case CollectiveKind::alltoallv: {
    // In elements of its default type, float, where the buffer has whole ones.
    constexpr std::int64_t of_float = 4;
    const std::int64_t unit =
        spec.size.count % of_float == 0 && spec.size.count / n / of_float * 2 >= n ? of_float : 1;
    const std::int64_t step = spec.size.count / n / unit * 2 / n * unit;
    const std::int64_t rest = spec.size.count - step * n * (n - 1) / 2;
    if (step == 0)
      throw InputError(fmt::format("{} can't be cut into the shards of alltoallv over {} NPUs",
                                   to_text(spec.size), n));
    for (std::uint32_t i = 0; i < n; ++i)
      for (std::uint32_t j = 0; j < n; ++j) {
        const std::uint32_t steps = (i + j) % n;
        add_chunks(steps == 0 ? Bytes{rest} : Bytes{step * steps}, 1, always(i), always(j));
      }
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
  spec.kind = parse_collective_kind(trimmed(words.front()));
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
    } else {
      const std::vector<std::string> known = has_root(spec.kind)
                                                 ? std::vector<std::string>{"root", "group"}
                                                 : std::vector<std::string>{"group"};
      throw InputError(unknown_name(fmt::format("key of {}", to_text(spec.kind)), key, known));
    }
  }
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
