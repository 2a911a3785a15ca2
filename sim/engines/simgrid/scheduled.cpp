// Who joins late holds the connections that begin there, and what arrives there waits in a list of
// its own.
#include "sim/engines/simgrid/scheduled.hpp"

namespace tutti {

ScheduledOnSimGrid::ScheduledOnSimGrid(const Topology& topology, const Collective& collective,
                                       const Schedule& schedule, const RunOptions& options)
    : ScheduledOnSimGrid(topology, collective, schedule, options,
                         tutti::ends_of(topology, schedule.paths())) {}

ScheduledOnSimGrid::ScheduledOnSimGrid(const Topology& topology, const Collective& collective,
                                       const Schedule& schedule, const RunOptions& options,
                                       std::vector<PathEnds> ends)
    : Precedence(ends, collective, schedule, options.jobs.empty() ? Parts::as_one : Parts::apart),
      topology_(topology), collective_(collective), schedule_(schedule), options_(options),
      ends_(std::move(ends)), chunk_done_(collective.chunks.size()),
      deliveries_(options.record_deliveries ? schedule.size() : 0) {
  if (!options.jobs.empty()) {
    part_of_chunk_.resize(collective.chunks.size());
    for (std::uint32_t p = 0; p < collective.parts.size(); ++p)
      std::fill_n(part_of_chunk_.begin() + collective.parts[p].first.value,
                  collective.parts[p].chunk_count, p);
  }
  if (!options.starts.empty()) find_joins();
}

void ScheduledOnSimGrid::find_joins() {
  const std::size_t parts = options_.jobs.empty() ? 1 : options_.jobs.size();
  const auto start_of = [&](std::size_t part, NodeId node) {
    return options_.starts[node.value] +
           (options_.jobs.empty() ? Time{} : options_.jobs[part].start);
  };
  join_of_.assign(parts * topology_.node_count(), none);
  for (std::uint32_t p = 0; p < parts; ++p)
    for (std::uint32_t v = 0; v < topology_.node_count(); ++v) {
      const Time at = start_of(p, NodeId{v});
      if (options_.starts[v] == Time{} || at <= options_.begin) continue;
      join_of_[place(p, NodeId{v})] = static_cast<std::uint32_t>(joins_.size());
      joins_.push_back({at, {}, {}});
    }
  std::vector<bool> is_known(connection_count());
  for (std::uint32_t i = 0; i < schedule_.size(); ++i) {
    if (is_known[connection(i)]) continue;
    is_known[connection(i)] = true;
    const std::uint32_t j = join_of_[place(part_of(i), ends_of_path(i).sender)];
    if (j == none) continue;
    hold_connection(connection(i));
    joins_[j].connections.push_back(connection(i));
  }
  // The collective ends with the last of its members' starts, if not later.
  for (std::uint32_t c = 0; c < collective_.chunks.size(); ++c)
    for (const auto members :
         {collective_.sources(ChunkId{c}), collective_.destinations(ChunkId{c})})
      for (const NodeId node : members)
        completion_ =
            std::max(completion_, start_of(part_of_chunk_.empty() ? 0 : part_of_chunk_[c], node));
}

} // namespace tutti
