// A file says neither the sizes of a collective nor its root. Chunks per shard follow from
// nchunksperloop or the declared buffers; the root is the only rank that declares the larger
// buffer, else the only one that never receives (sends).

#include "runtime/formats/msccl/layout.hpp"

#include "runtime/formats/msccl/form.hpp"
#include "sim/error.hpp"
#include "sim/topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string_view>

namespace tutti::runtime {

namespace {

constexpr std::uint64_t most_foreign_chunks = 1U << 20;

CollectiveKind kind_of_word(std::string_view word) {
  if (word == "reduce_scatter") word = "reducescatter"; // as msccl-tools writes it
  std::vector<std::string> known;
  for (const MscclCollectiveRow& row : msccl_collectives()) {
    if (row.word == word) return row.kind;
    if (std::ranges::find(known, row.word) == known.end()) known.emplace_back(row.word);
  }
  throw InputError(unknown_name("collective", word, known));
}

/// Ranks and nothing between them: what a collective is built over.
Topology ranks_alone(std::size_t count) {
  TopologyParts parts;
  for (std::size_t r = 0; r < count; ++r) {
    Node node;
    node.name = fmt::format("rank{}", r);
    parts.add_node(node);
  }
  return Topology(std::move(parts));
}

/// The only rank for which `is` holds.
template <typename Condition>
std::optional<std::uint32_t> only_rank(std::size_t count, const Condition& is) {
  std::optional<std::uint32_t> found;
  for (std::uint32_t r = 0; r < count; ++r) {
    if (!is(r)) continue;
    if (found) return std::nullopt;
    found = r;
  }
  return found;
}

std::uint32_t root_of(CollectiveKind kind, const MscclLayout& layout,
                      const std::vector<RankProgram>& ranks) {
  const bool from_root = kind == CollectiveKind::broadcast || kind == CollectiveKind::scatter;
  const auto largest = from_root ? &RankProgram::input : &RankProgram::output;
  std::uint32_t most = 0;
  for (const RankProgram& rank : layout.declared) most = std::max(most, rank.*largest);
  const auto declares = [&](std::uint32_t r) {
    return most > 0 && layout.declared[r].*largest == most;
  };
  const auto never = [&](std::uint32_t r) {
    return std::ranges::none_of(ranks[r].blocks, [&](const Block& block) {
      return from_root ? block.receives_from.has_value() : block.sends_to.has_value();
    });
  };
  if (const auto root = only_rank(ranks.size(), declares)) return *root;
  if (const auto root = only_rank(ranks.size(), never)) return *root;
  throw InputError(fmt::format("several ranks could be the root of this {}", to_text(kind)));
}

/// Units that a rank's larger buffer has, at the rank where they are most.
std::uint32_t largest_declared(const MscclLayout& layout) {
  std::uint32_t most = 0;
  for (const RankProgram& rank : layout.declared) most = std::max({most, rank.input, rank.output});
  return most;
}

std::uint32_t divided(std::uint32_t chunks, std::size_t ranks, std::string_view coll) {
  if (chunks % ranks != 0)
    throw InputError(
        fmt::format("{} of {} chunks can't be divided among {} ranks", coll, chunks, ranks));
  return chunks / static_cast<std::uint32_t>(ranks);
}

MscclSkeleton custom_skeleton(const MscclLayout& layout, const Collective* custom) {
  const std::size_t ranks = layout.declared.size();
  if (custom == nullptr)
    throw InputError("coll=\"custom\" doesn't say who wants what: give its collective");
  for (const std::vector<NodeId>& set : custom->sets)
    for (const NodeId node : set)
      if (node.value >= ranks)
        throw InputError(
            fmt::format("the collective has NPU {}, the file {} ranks", node.value, ranks));
  const auto npus = static_cast<std::uint32_t>(ranks);
  std::uint32_t most = 0;
  for (const RankProgram& rank : empty_program(*custom, npus, 1, false).ranks)
    most = std::max({most, rank.input, rank.output});
  const std::uint32_t found = largest_declared(layout);
  if (most == 0 || found == 0 || found % most != 0)
    throw InputError(
        fmt::format("the collective has {} units in its largest buffer, the file {}", most, found));
  return {empty_program(*custom, npus, found / most, false), 1};
}

} // namespace

MscclSkeleton msccl_skeleton(const MscclLayout& layout, const std::vector<RankProgram>& ranks,
                             Bytes size, const Collective* custom) {
  CollectiveSpec spec{kind_of_word(layout.coll), size, {}, 0, 1};
  if (spec.kind == CollectiveKind::custom) return custom_skeleton(layout, custom);
  if (custom != nullptr)
    throw InputError(
        fmt::format("coll=\"{}\" says what the program is for: a collective is given to "
                    "custom ones only",
                    layout.coll));
  const std::size_t count = ranks.size();
  const auto npus = static_cast<std::uint32_t>(count);
  std::uint32_t scale = 1, chunks = layout.chunks_per_loop;
  switch (spec.kind) {
  case CollectiveKind::gather:
  case CollectiveKind::scatter: // calls count a shard, so files may say either
    chunks = largest_declared(layout);
    [[fallthrough]];
  case CollectiveKind::all_gather:
  case CollectiveKind::reduce_scatter:
  case CollectiveKind::all_to_all:
    spec.chunks_per_shard = divided(chunks, count, layout.coll);
    break;
  case CollectiveKind::all_reduce:
    scale = npus / std::gcd(npus, chunks);
    spec.chunks_per_shard = static_cast<std::uint32_t>(std::uint64_t{chunks} * scale / npus);
    break;
  default: spec.chunks_per_shard = chunks; break; // broadcast, reduce
  }
  const std::uint64_t shards = is_by_pairs(spec.kind) ? count * count : count;
  if (std::uint64_t{spec.chunks_per_shard} * shards > most_foreign_chunks)
    throw InputError(
        fmt::format("{} chunks are too many", std::uint64_t{spec.chunks_per_shard} * shards));
  if (has_root(spec.kind)) spec.root = root_of(spec.kind, layout, ranks);
  return {empty_program(make_collective(ranks_alone(count), spec), npus, 1, layout.in_place),
          scale};
}

} // namespace tutti::runtime
