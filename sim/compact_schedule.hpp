// The compact form of a schedule: for each link the chunks that it carries, in order. 2 bytes a
// transfer (4 where there are more than 65,536 chunks); only for single hops, where each NPU sends
// its part of a sum once, when it has all that comes to it, and copies bring each chunk to a node
// once (Reduce-Scatter, All-Gather, All-Reduce, Broadcast, Scatter by TACOS, Ring, ...). Which link
// carries what in which order is all that decides such a schedule: order across links follows from
// the data.
#pragma once

#include "sim/collective.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace tutti {

/// What each link carries, in order.
struct ChunkLists {
  /// Empty lists, with ids of 2 bytes where they do for that many chunks.
  ChunkLists(std::uint32_t link_count, std::size_t chunk_count);

  /// Per link where its block of `chunks` begins and ends. Blocks may lie in any order (those of
  /// the links into one node side by side, say); what lies between them means nothing.
  std::vector<std::size_t> begin, end;
  /// ChunkId::value of chunks[begin[l] .. end[l]) cross link l, in that order.
  std::variant<std::vector<std::uint16_t>, std::vector<std::uint32_t>> chunks;

  [[nodiscard]] std::uint32_t link_count() const { return static_cast<std::uint32_t>(end.size()); }
  [[nodiscard]] std::size_t on(LinkId link) const { return end[link.value] - begin[link.value]; }
  /// Transfers. Cost: O(links).
  [[nodiscard]] std::size_t size() const;
  /// A look at one place of `chunks`; loops go over the vector that the variant holds instead.
  [[nodiscard]] ChunkId chunk_at(std::size_t position) const;
};

/// A link sends its reductions first, then its copies. A reduction waits for all reductions of its
/// chunk into its sender; a copy, for the copy that brings its chunk to its sender, or for all
/// reductions into it.
struct CompactSchedule {
  CompactSchedule(std::uint32_t link_count, std::size_t chunk_count);

  ChunkLists reductions, copies;

  [[nodiscard]] std::uint32_t link_count() const { return copies.link_count(); }
  /// Transfers. Cost: O(links).
  [[nodiscard]] std::size_t size() const { return reductions.size() + copies.size(); }
};

/// Copies on the reversed topology become reductions on the topology. Pre: it has copies only.
[[nodiscard]] CompactSchedule inverted(CompactSchedule compact);

/// The transfers of each link, as they are listed. Pre: single hops. Cost: O(transfers).
[[nodiscard]] CompactSchedule by_link(const Schedule& schedule, std::size_t chunk_count);

/// Nothing where the schedule has several hops, "together", shared sends, dependencies, a copy
/// before a reduction on one link or of one chunk, a sum that is sent before all of it is there, or
/// twice; where it brings a chunk to a node twice (or to one that holds it), or sends one that its
/// sender doesn't have by then. Cost: O(transfers + chunks + what the sets hold).
[[nodiscard]] std::optional<CompactSchedule>
compacted(const Topology& topology, const Collective& collective, const Schedule& schedule);

/// An ordered list with the same meaning: first the reductions, then the copies, both round by
/// round over the links, by ascending LinkId, each sending the next chunk that its node holds from
/// before the round. Pre: link and chunk ids in range. Errors: InputError naming link and chunk
/// where a chunk never reaches its sender, reaches a node twice, or leaves one twice for its sum;
/// or saying that a list of that many transfers is too long (2^32 - 2).
/// Cost: O(links + transfers log links).
[[nodiscard]] Schedule expanded(const Topology& topology, const Collective& collective,
                                const CompactSchedule& compact);

} // namespace tutti
