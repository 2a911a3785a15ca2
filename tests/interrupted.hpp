// Collectives that were interrupted on the way, for tests and benchmarks: what is left to do.
#pragma once

#include "sim/collective.hpp"
#include "sim/collective_builder.hpp"
#include "sim/engines/engine.hpp"
#include "sim/random.hpp"
#include "sim/schedule.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

namespace tutti::samples {

/// A custom collective from who has got what when a part of the time is over; nothing where nothing
/// is left. Pre: an NPU sends its partial sum of a chunk once at most, and when it is complete that
/// only (as inverted multicasts do).
inline std::optional<Collective> interrupted(const Topology& topology, const Collective& collective,
                                             const Schedule& schedule, const TimeModel& model,
                                             double part_of_time) {
  const Report report =
      run_native(topology, collective, schedule, model, {.record_deliveries = true});
  const auto end =
      static_cast<std::int64_t>(part_of_time * static_cast<double>(report.completion.ps));
  std::vector<std::size_t> order(schedule.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return report.deliveries[i]; });

  // Values that count: what is complete, and partial sums that nobody else's contains.
  std::vector<std::vector<bool>> has(collective.chunks.size());
  for (std::uint32_t c = 0; c < collective.chunks.size(); ++c) {
    has[c].resize(topology.node_count());
    for (const NodeId npu : collective.sources(ChunkId{c})) has[c][npu.value] = true;
  }
  for (const std::size_t i : order) {
    if (report.deliveries[i].ps > end) break;
    const Transfer transfer = schedule[i];
    std::vector<bool>& value = has[transfer.chunk.value];
    if (transfer.op == Op::reduce)
      value[topology.link(schedule.paths().first(transfer.path)).from.value] = false;
    value[topology.link(schedule.paths().last(transfer.path)).to.value] = true;
  }

  std::vector<bool> was_copied(collective.chunks.size());
  for (const std::size_t i : order)
    if (report.deliveries[i].ps <= end && schedule[i].op == Op::copy)
      was_copied[schedule[i].chunk.value] = true;
  CustomCollectiveBuilder builder(topology);
  bool any = false;
  for (std::uint32_t c = 0; c < collective.chunks.size(); ++c) {
    std::vector<NodeId> held;
    for (std::uint32_t n = 0; n < topology.npu_count(); ++n)
      if (has[c][n]) held.emplace_back(n);
    const auto wanted = collective.destinations(ChunkId{c});
    const bool reduces = collective.chunks[c].reduces && held.size() > 1 && !was_copied[c];
    const bool done = !reduces && std::ranges::includes(held, wanted);
    if (done) continue;
    any = true;
    builder.add_chunk({collective.chunks[c].size, builder.add_set(held),
                       builder.add_set({wanted.begin(), wanted.end()}), reduces});
  }
  return any ? std::optional(builder.build()) : std::nullopt;
}

/// Both directions of so many cables, at random. Pre: links come in pairs.
inline Topology without_cables(const Topology& topology, std::size_t cables, std::uint64_t seed) {
  Random random(seed);
  std::vector<LinkId> cut;
  while (cut.size() < 2 * cables) {
    const LinkId link{static_cast<std::uint32_t>(random.below(topology.link_count()))};
    if (std::ranges::find(cut, link) != cut.end()) continue;
    for (const LinkId back : topology.out_links(topology.link(link).to)) {
      if (topology.link(back).to != topology.link(link).from ||
          std::ranges::find(cut, back) != cut.end())
        continue;
      cut.push_back(link);
      cut.push_back(back);
      break;
    }
  }
  return without(topology, {}, cut);
}

} // namespace tutti::samples
