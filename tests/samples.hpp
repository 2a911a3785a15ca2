// Small topologies built by hand, for tests that must not depend on topologies/.
#pragma once

#include "sim/compact_schedule.hpp"
#include "sim/topology.hpp"

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tutti::samples {

constexpr Time alpha{500'000};                 // 0.5 us
constexpr Bandwidth bandwidth{50'000'000'000}; // 50 GB/s: a byte takes 20 ps

inline TopologyParts npus(std::string name, std::uint32_t count) {
  TopologyParts parts;
  parts.name = std::move(name);
  for (std::uint32_t n = 0; n < count; ++n)
    parts.add_node({"npu" + std::to_string(n), NodeKind::npu, {}, {}});
  return parts;
}

inline Link link(std::uint32_t from, std::uint32_t to) {
  return {NodeId{from}, NodeId{to}, alpha, bandwidth};
}

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// A link from each pair's first to its second and, unless `one_way`, back.
inline Topology wired(std::string name, std::uint32_t count, const Pairs& pairs,
                      bool one_way = false) {
  TopologyParts parts = npus(std::move(name), count);
  for (const auto& [from, to] : pairs)
    if (one_way)
      parts.add_link(link(from, to));
    else
      parts.add_duplex(link(from, to));
  return Topology(std::move(parts));
}

inline Topology linked(std::string name, std::uint32_t count, const Pairs& pairs) {
  return wired(std::move(name), count, pairs, true);
}

/// Links i -> i + 1 and, unless `one_way`, back. Two NPUs: one link each way.
inline Topology ring(std::uint32_t n, bool one_way = false) {
  TopologyParts parts = npus("ring" + std::to_string(n) + (one_way ? " one-way" : ""), n);
  for (std::uint32_t i = 0; i < n; ++i) parts.add_link(link(i, (i + 1) % n));
  for (std::uint32_t i = 0; i < n && n > 2 && !one_way; ++i) parts.add_link(link((i + 1) % n, i));
  return Topology(std::move(parts));
}

inline Topology full(std::uint32_t n) {
  TopologyParts parts = npus("full" + std::to_string(n), n);
  for (std::uint32_t i = 0; i < n; ++i)
    for (std::uint32_t j = i + 1; j < n; ++j) parts.add_duplex(link(i, j));
  return Topology(std::move(parts));
}

/// All NPUs on one switch that can't store, copy or reduce.
inline Topology star(std::uint32_t n) {
  TopologyParts parts = npus("star" + std::to_string(n), n);
  const NodeId hub = parts.add_node({"hub", NodeKind::switching, {false, false, false}, {}});
  for (std::uint32_t i = 0; i < n; ++i) parts.add_duplex(link(i, hub.value));
  return Topology(std::move(parts));
}

/// rows x columns with coordinates; the last dimension is the column. A line: one row.
inline TopologyParts mesh_parts(int rows, int columns) {
  TopologyParts parts = npus("mesh" + std::to_string(rows) + "x" + std::to_string(columns),
                             static_cast<std::uint32_t>(rows * columns));
  parts.shape = {rows, columns};
  const auto id = [&](int r, int c) { return static_cast<std::uint32_t>(r * columns + c); };
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) {
      parts.coordinates.push_back({r, c});
      for (const auto& [to, dimension] : {std::pair{id(r + 1, c), 0}, std::pair{id(r, c + 1), 1}}) {
        if (dimension == 0 ? r + 1 == rows : c + 1 == columns) continue;
        Link here = link(id(r, c), to);
        here.dimension = static_cast<std::int8_t>(dimension);
        parts.add_duplex(here);
      }
    }
  return parts;
}

inline Topology mesh(int rows, int columns) { return Topology(mesh_parts(rows, columns)); }

/// Every link different: latency grows with its id, bandwidth takes three values.
inline Topology uneven_mesh(int rows, int columns) {
  TopologyParts parts = mesh_parts(rows, columns);
  parts.name = "uneven " + parts.name;
  for (std::size_t l = 0; l < parts.links.size(); ++l) {
    parts.links[l].latency = {100'000 * static_cast<std::int64_t>(1 + l)};
    parts.links[l].bandwidth = {25'000'000'000 * static_cast<std::int64_t>(1 + l % 3)};
  }
  return Topology(std::move(parts));
}

/// The first one; there has to be one.
inline LinkId link_between(const Topology& topology, std::uint32_t from, std::uint32_t to) {
  for (const LinkId id : topology.out_links(NodeId{from}))
    if (topology.link(id).to == NodeId{to}) return id;
  throw std::out_of_range("no such link");
}

/// The mesh without its first link (npu0 -> a neighbour; the way back stays).
inline Topology mesh_without_a_link(int rows, int columns) {
  const std::vector<LinkId> first{LinkId{0}};
  return without(mesh(rows, columns), {}, first);
}

/// The chunks of each link, in its order; one block after another.
template <typename ChunkNumber>
ChunkLists chunk_lists(const std::vector<std::vector<ChunkNumber>>& chunks_of_links) {
  ChunkLists lists(static_cast<std::uint32_t>(chunks_of_links.size()), 0);
  auto& chunks = lists.chunks.emplace<std::vector<ChunkNumber>>();
  for (std::size_t l = 0; l < chunks_of_links.size(); ++l) {
    lists.begin[l] = chunks.size();
    chunks.insert(chunks.end(), chunks_of_links[l].begin(), chunks_of_links[l].end());
    lists.end[l] = chunks.size();
  }
  return lists;
}

/// Copies, chunks_of_links[l] over link l.
template <typename ChunkNumber = std::uint16_t>
CompactSchedule compact(const std::vector<std::vector<ChunkNumber>>& chunks_of_links) {
  CompactSchedule schedule(static_cast<std::uint32_t>(chunks_of_links.size()), 0);
  schedule.copies = chunk_lists(chunks_of_links);
  return schedule;
}

} // namespace tutti::samples
