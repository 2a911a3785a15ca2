// The transfers of one schedule, as the cores see them: what each is, and what it waits for.
#pragma once

#include "sim/collective.hpp"
#include "sim/engines/changes.hpp"
#include "sim/engines/dependencies.hpp"
#include "sim/engines/engine.hpp"
#include "sim/report.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tutti {

/// Numbered as the schedule lists them.
class ScheduledTransfers : public Dependencies {
public:
  ScheduledTransfers(const Topology& topology, const Collective& collective,
                     const Schedule& schedule, const RunOptions& options)
      : Dependencies(topology, collective, schedule,
                     options.jobs.empty() ? Parts::as_one : Parts::apart),
        collective_(collective), schedule_(schedule), levels_(collective, options.jobs),
        chunk_done_(collective.chunks.size()),
        deliveries_(options.record_deliveries ? schedule.size() : 0) {}

  [[nodiscard]] std::size_t size() const { return schedule_.size(); }
  [[nodiscard]] const PathTable& paths() const { return schedule_.paths(); }
  [[nodiscard]] PathId path_of(std::uint32_t i) const { return schedule_.path_of(i); }
  [[nodiscard]] Op op_of(std::uint32_t i) const { return schedule_[i].op; }
  [[nodiscard]] Bytes size_of(std::uint32_t i) const {
    return collective_.chunks[schedule_[i].chunk.value].size;
  }
  [[nodiscard]] std::size_t level_count() const { return levels_.count(); }
  [[nodiscard]] std::size_t level_of(std::uint32_t i) const {
    return levels_.of(schedule_[i].chunk);
  }

  /// Everyone is there from the start.
  static constexpr bool takes_delivery(std::uint32_t) { return true; }
  void keep_waiting(std::uint32_t) {}

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
  const Collective& collective_;
  const Schedule& schedule_;
  Levels levels_;
  Time completion_;
  std::vector<Time> chunk_done_, deliveries_;
};

} // namespace tutti
