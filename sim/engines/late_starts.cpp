// A join is one event: it releases the connections that begin at the node, which Dependencies holds
// until then, and hands over what has arrived. Nodes that are there from the beginning cost
// nothing.

#include "sim/engines/late_starts.hpp"

#include "sim/engines/event_queue.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti {

namespace {

std::vector<std::uint32_t> parts_of_chunks(const Collective& collective) {
  std::vector<std::uint32_t> parts(collective.chunks.size());
  for (std::uint32_t p = 0; p < collective.parts.size(); ++p) {
    const CollectivePart& part = collective.parts[p];
    for (std::uint32_t c = 0; c < part.chunk_count; ++c) parts[part.first.value + c] = p;
  }
  return parts;
}

} // namespace

LateStarts::LateStarts(const Topology& topology, const Collective& collective,
                       const Schedule& schedule, const RunOptions& options,
                       Dependencies& dependencies) {
  if (options.starts.empty()) return;
  nodes_ = topology.node_count();
  const std::size_t parts = options.jobs.empty() ? 1 : options.jobs.size();
  if (!options.jobs.empty()) part_of_chunk_ = parts_of_chunks(collective);
  join_of_.assign(parts * nodes_, none);
  for (std::size_t p = 0; p < parts; ++p)
    for (std::uint32_t n = 0; n < nodes_; ++n) {
      if (options.starts[n] == Time{}) continue;
      const std::int64_t job_start = options.jobs.empty() ? 0 : options.jobs[p].start.ps;
      const Time at = Time{job_start} + options.starts[n];
      if (at <= options.begin) continue;
      join_of_[p * nodes_ + n] = static_cast<std::uint32_t>(joins_.size());
      joins_.push_back({at, NodeId{n}, {}, {}});
    }
  if (joins_.empty()) return;
  std::vector<bool> is_known(dependencies.connection_count());
  for (std::uint32_t i = 0; i < schedule.size(); ++i) {
    const std::uint32_t connection = dependencies.connection(i);
    if (is_known[connection]) continue;
    is_known[connection] = true;
    const NodeId sender = topology.link(schedule.paths().first(schedule.path_of(i))).from;
    const std::uint32_t join = join_of_[place(schedule[i].chunk, sender)];
    if (join == none) continue;
    dependencies.hold_connection(connection);
    joins_[join].connections.push_back(connection);
  }
}

Time last_start(const Collective& collective, std::span<const Time> starts,
                std::span<const JobTiming> jobs) {
  Time last;
  if (starts.empty()) return last;
  for (std::size_t p = 0; p < collective.parts.size(); ++p) {
    const CollectivePart& part = collective.parts[p];
    std::vector<bool> is_seen(collective.sets.size());
    const Time job_start = jobs.empty() ? Time{} : jobs[p].start;
    for (std::uint32_t c = 0; c < part.chunk_count; ++c) {
      const Chunk& chunk = collective.chunks[part.first.value + c];
      for (const SetId set : {chunk.sources, chunk.destinations}) {
        if (is_seen[set]) continue;
        is_seen[set] = true;
        for (const NodeId node : collective.sets[set]) {
          if (node.value >= starts.size())
            throw InputError(
                fmt::format("{} start times don't reach to node {}", starts.size(), node.value));
          require_representable(job_start.ps, starts[node.value]);
          last = std::max(last, job_start + starts[node.value]);
        }
      }
    }
  }
  return last;
}

} // namespace tutti
