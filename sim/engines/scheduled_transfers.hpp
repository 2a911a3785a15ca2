// The transfers of one schedule, as the cores see them: what each is, and what it waits for.
#pragma once

#include "sim/collective.hpp"
#include "sim/engines/changes.hpp"
#include "sim/engines/dependencies.hpp"
#include "sim/engines/engine.hpp"
#include "sim/engines/late_starts.hpp"
#include "sim/report.hpp"
#include "sim/schedule.hpp"
#include "sim/sends.hpp"
#include "sim/topology.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tutti {

/// Numbered as the schedule lists them.
class ScheduledTransfers : public Dependencies {
public:
  ScheduledTransfers(const Topology& topology, const Collective& collective,
                     const Schedule& schedule, const RunOptions& options)
      : Dependencies(topology, collective, schedule,
                     options.jobs.empty() ? Parts::as_one : Parts::apart, options.watch),
        collective_(collective), schedule_(schedule), levels_(collective, options.jobs),
        chunk_done_(collective.chunks.size()),
        deliveries_(options.record_deliveries ? schedule.size() : 0), topology_(topology),
        late_(topology, collective, schedule, options, *this),
        completion_(last_start(collective, options.starts, options.jobs)) {}

  [[nodiscard]] std::size_t size() const { return schedule_.size(); }
  [[nodiscard]] const PathTable& paths() const { return schedule_.paths(); }
  [[nodiscard]] PathId path_of(std::uint32_t i) const { return schedule_.path_of(i); }
  [[nodiscard]] Op op_of(std::uint32_t i) const { return schedule_[i].op; }
  /// Pre: i is the first of its send.
  [[nodiscard]] Bytes size_of(std::uint32_t i) const {
    return send_size(collective_, schedule_, i);
  }
  [[nodiscard]] std::size_t level_count() const { return levels_.count(); }
  [[nodiscard]] std::size_t level_of(std::uint32_t i) const {
    return levels_.of(schedule_[i].chunk);
  }

  /// Who joins late.
  [[nodiscard]] std::span<const LateStarts::Join> joins() const { return late_.joins(); }
  /// From now on the node sends. Returns what has arrived there, in that order.
  template <typename Sink> std::vector<std::uint32_t> join(std::uint32_t k, Sink& sink) {
    for (const std::uint32_t connection : late_.joins()[k].connections)
      release_connection(connection, sink);
    return std::exchange(late_.joins()[k].waiting, {});
  }
  /// Whether what has just arrived waits for its receiver to join.
  [[nodiscard]] bool keeps_waiting(std::uint32_t i, std::int64_t now) {
    if (late_.joins().empty()) return false;
    const auto join = late_.join_of(schedule_[i].chunk, receiver_of(i), now);
    if (join) late_.joins()[*join].waiting.push_back(i);
    return join.has_value();
  }

  void delivered(std::uint32_t i, Time now) {
    Time& done = chunk_done_[schedule_[i].chunk.value];
    done = std::max(done, now);
    completion_ = std::max(completion_, now);
    if (!deliveries_.empty()) deliveries_[i] = now;
  }
  /// Once, at the end.
  void move_deliveries_to(Report& report) {
    report.completion = completion_;
    report.chunk_done = std::move(chunk_done_);
    report.deliveries = std::move(deliveries_);
  }

private:
  [[nodiscard]] NodeId receiver_of(std::uint32_t i) const {
    return topology_.link(paths().last(path_of(i))).to;
  }

  const Collective& collective_;
  const Schedule& schedule_;
  Levels levels_;
  std::vector<Time> chunk_done_, deliveries_;
  const Topology& topology_;
  LateStarts late_;
  Time completion_;
};

} // namespace tutti
