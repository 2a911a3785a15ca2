// The transfers of one schedule, for the rules of FIFO on SimGrid: what each is, what it waits for,
// who of its ends isn't there yet, and when it was delivered.
#pragma once

#include "sim/collective.hpp"
#include "sim/engines/engine.hpp"
#include "sim/engines/simgrid/precedence.hpp"
#include "sim/report.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tutti {

/// Numbered as the schedule lists them. Refers to the arguments.
class ScheduledOnSimGrid : public Precedence {
public:
  /// A node that isn't there when the run begins, in one part or in all.
  struct Join {
    Time at;
    std::vector<std::uint32_t> connections; ///< from there
    std::vector<std::uint32_t> waiting;     ///< transfers that have arrived there
  };

  ScheduledOnSimGrid(const Topology& topology, const Collective& collective,
                     const Schedule& schedule, const RunOptions& options);

  [[nodiscard]] const PathTable& paths() const { return schedule_.paths(); }
  [[nodiscard]] PathId path_of(std::uint32_t i) const { return schedule_.path_of(i); }
  [[nodiscard]] Op op_of(std::uint32_t i) const { return schedule_[i].op; }
  /// Bytes of transfer i and of all that are sent with it.
  [[nodiscard]] Bytes size_of(std::uint32_t i) const {
    Bytes size;
    for (auto [k, after] = send_of(i); k < after; ++k)
      size += collective_.chunks[schedule_[k].chunk.value].size;
    return size;
  }
  /// 0 is the highest.
  [[nodiscard]] std::uint32_t level_of(std::uint32_t i) const {
    return options_.jobs.empty() ? 0U
                                 : JobTiming::highest_priority - options_.jobs[part_of(i)].priority;
  }

  [[nodiscard]] const std::vector<Join>& joins() const { return joins_; }
  /// From now on the node sends. Returns what has arrived there, in that order.
  template <typename Sink> std::vector<std::uint32_t> join(std::uint32_t j, Sink& sink) {
    for (const std::uint32_t connection : joins_[j].connections)
      release_connection(connection, sink);
    return std::exchange(joins_[j].waiting, {});
  }
  /// What arrives when its receiver starts doesn't wait.
  [[nodiscard]] bool keeps_waiting(std::uint32_t i, std::int64_t now) {
    if (joins_.empty()) return false;
    const std::uint32_t j = join_of_[place(part_of(i), ends_of_path(i).receiver)];
    if (j == none || joins_[j].at.ps <= now) return false;
    joins_[j].waiting.push_back(i);
    return true;
  }

  void delivered(std::uint32_t i, Time now) {
    Time& done = chunk_done_[schedule_[i].chunk.value];
    done = std::max(done, now);
    completion_ = std::max(completion_, now);
    if (!deliveries_.empty()) deliveries_[i] = now;
  }
  void move_deliveries_to(Report& report) {
    report.completion = completion_;
    report.chunk_done = std::move(chunk_done_);
    report.deliveries = std::move(deliveries_);
  }

private:
  static constexpr std::uint32_t none = UINT32_MAX;

  void find_joins();
  [[nodiscard]] PathEnds ends_of_path(std::uint32_t i) const { return ends_[path_of(i).value]; }
  [[nodiscard]] std::uint32_t part_of(std::uint32_t i) const {
    return part_of_chunk_.empty() ? 0 : part_of_chunk_[schedule_[i].chunk.value];
  }
  [[nodiscard]] std::size_t place(std::uint32_t part, NodeId node) const {
    return std::size_t{part} * topology_.node_count() + node.value;
  }

  ScheduledOnSimGrid(const Topology& topology, const Collective& collective,
                     const Schedule& schedule, const RunOptions& options,
                     std::vector<PathEnds> ends);

  const Topology& topology_;
  const Collective& collective_;
  const Schedule& schedule_;
  const RunOptions options_;
  std::vector<PathEnds> ends_;
  std::vector<std::uint32_t> part_of_chunk_; // where parts are jobs
  std::vector<Join> joins_;
  std::vector<std::uint32_t> join_of_; // by part and node; empty where all are there at once
  std::vector<Time> chunk_done_, deliveries_;
  Time completion_;
};

} // namespace tutti
