// Collectives and schedules written out by hand, for tests of engines. Chunks of 1 MB: 20 us on a
// link of samples::bandwidth.
#pragma once

#include "sim/collective.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"
#include "tests/samples.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace tutti::testing {

constexpr Bytes megabyte{1'000'000};

/// Chunks of 1 MB, each with its holders and wanters.
inline Collective
chunks(const std::vector<std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>>&
           held_and_wanted,
       bool reduces = false) {
  Collective collective;
  const auto add_set = [&](const std::vector<std::uint32_t>& nodes) {
    collective.sets.emplace_back();
    for (const std::uint32_t node : nodes) collective.sets.back().emplace_back(node);
    return static_cast<SetId>(collective.sets.size() - 1);
  };
  CollectivePart part;
  for (const auto& [held, wanted] : held_and_wanted) {
    const SetId holders = add_set(held), wanters = add_set(wanted);
    collective.chunks.push_back({megabyte, holders, wanters, reduces});
    part.size += megabyte;
    ++part.chunk_count;
  }
  collective.parts.push_back(part);
  return collective;
}

struct Step {
  std::uint32_t chunk;
  std::vector<std::uint32_t> path;
  Op op = Op::copy;
  bool together = false;
  bool contiguous = false;
};

inline Schedule steps(const Topology& topology, const std::vector<Step>& list) {
  Schedule schedule(topology.link_count());
  for (const Step& step : list) {
    std::vector<LinkId> path;
    for (const std::uint32_t l : step.path) path.emplace_back(l);
    schedule.push({ChunkId{step.chunk}, schedule.paths().intern(path), step.op, step.together,
                   step.contiguous});
  }
  return schedule;
}

/// NPUs 0 > 1 > 2 ..., one way.
inline Topology line(std::uint32_t npus) {
  TopologyParts parts = samples::npus("line", npus);
  for (std::uint32_t i = 0; i + 1 < npus; ++i) parts.add_link(samples::link(i, i + 1));
  return Topology(std::move(parts));
}

} // namespace tutti::testing
