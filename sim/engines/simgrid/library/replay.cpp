// Replays under FIFO: which transfers there are, who of their ends isn't there yet and when each
// was delivered (ScheduledOnSimGrid), and what sets the rules going (ReplayOnSimGrid): when the run
// begins, when its options change something, when it ends and what never happened.
//
// Who joins late holds the connections that begin there, and what arrives there waits in a list of
// its own.
//
// SimGrid's clock is a double in seconds, whose steps grow with the time, and whose rounding adds
// up along a chain of crossings. A run that is certain to last longer than
// SimGridNetwork::longest_run is refused before it begins, and any other as soon as it gets there.

#include "sim/engines/simgrid/library/replay.hpp"

#include "sim/engines/simgrid/library/changing_fifo.hpp"
#include "sim/engines/simgrid/library/network.hpp"
#include "sim/engines/simgrid/library/precedence.hpp"
#include "sim/engines/stuck.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tutti {

namespace {

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

/// No run is faster than the busiest of its links, whose rates don't change.
void require_resolvable(const Topology& topology, const Collective& collective,
                        const Schedule& schedule, const RunOptions& options) {
  const auto refuse = [](const std::string& what) {
    throw InputError(fmt::format("{}: {}", what, SimGridNetwork::too_long));
  };
  for (std::uint32_t n = 0; n < options.starts.size(); ++n)
    if (options.starts[n].seconds() > SimGridNetwork::longest_run)
      refuse(fmt::format("{} starts at {}", topology.node(NodeId{n}).name,
                         to_text(options.starts[n])));
  for (std::size_t p = 0; p < options.jobs.size(); ++p)
    if (options.jobs[p].start.seconds() > SimGridNetwork::longest_run)
      refuse(fmt::format("part {} ({}) begins at {}", p, to_text(collective.parts[p].kind),
                         to_text(options.jobs[p].start)));
  std::vector<double> busy(topology.link_count(), options.begin.seconds()); // s
  if (options.events.empty() && options.route_changes.empty() && !options.freeze)
    for (std::uint32_t i = 0; i < schedule.size(); ++i)
      for (const LinkId link : schedule.paths().links(schedule.path_of(i)))
        busy[link.value] += serialization(collective.chunks[schedule[i].chunk.value].size,
                                          topology.effective_bandwidth(link))
                                .seconds();
  const auto longest = std::ranges::max_element(busy);
  if (longest != busy.end() && *longest > SimGridNetwork::longest_run)
    refuse(fmt::format("it takes {:.4g} s at least", *longest));
}

class ReplayOnSimGrid : NetworkUser {
public:
  ReplayOnSimGrid(const Topology& topology, const Collective& collective, const Schedule& schedule,
                  const TimeModel& model, const RunOptions& options)
      : topology_(topology), schedule_(schedule), options_(options), network_(topology, *this),
        fifo_(topology, ScheduledOnSimGrid(topology, collective, schedule, options), model,
              options.record_hops, network_) {}

  Report run() {
    plan();
    network_.run();
    return finish();
  }

private:
  [[nodiscard]] ScheduledOnSimGrid& transfers() { return fifo_.transfers(); }

  void plan() {
    const auto at = [&](Time when, FifoKind kind, std::size_t subject) {
      network_.at(std::max(when, options_.begin),
                  {static_cast<std::uint32_t>(kind), static_cast<std::uint32_t>(subject)});
    };
    at(options_.begin, FifoKind::begin, 0);
    const auto change_at = [&](Time when) {
      if (when > options_.begin) at(when, FifoKind::change, 0);
    };
    for (const NetworkEvent& event : options_.events) change_at(event.at);
    for (const RouteChange& route : options_.route_changes) change_at(route.at);
    if (options_.freeze) change_at(*options_.freeze);
    for (std::size_t p = 0; p < options_.jobs.size(); ++p)
      at(options_.jobs[p].start, FifoKind::part, p);
    for (std::size_t j = 0; j < transfers().joins().size(); ++j)
      at(transfers().joins()[j].at, FifoKind::join, j);
  }

  void begin_instant() override {
    if (transfers().undelivered() > 0) network_.check_clock();
    fifo_.begin_instant();
  }
  void happened(const Happening& happening) override {
    switch (static_cast<FifoKind>(happening.kind)) {
    case FifoKind::begin:
      make_changes();
      if (options_.jobs.empty()) transfers().start(fifo_);
      break;
    case FifoKind::change: make_changes(); break;
    case FifoKind::part: transfers().start_part(happening.subject, fifo_); break;
    case FifoKind::join: join(happening.subject); break;
    default: fifo_.happened(happening);
    }
  }
  void serve() override { fifo_.serve(); }

  /// All of one instant at once: the network's, what may set out, and then the routes.
  void make_changes() {
    const Time now = std::max(network_.now(), options_.begin);
    const auto due = [now](auto list, std::size_t& next) {
      const std::size_t first = next;
      while (next < list.size() && list[next].at <= now) ++next;
      return list.subspan(first, next - first);
    };
    fifo_.apply(due(options_.events, next_event_));
    if (options_.freeze && !is_frozen_ && *options_.freeze <= now) {
      is_frozen_ = true;
      fifo_.freeze();
    }
    fifo_.replace(due(options_.route_changes, next_route_));
  }

  void join(std::uint32_t j) {
    for (const std::uint32_t i : transfers().join(j, fifo_)) {
      if (is_frozen_)
        transfers().keep(i);
      else
        fifo_.take_in_late(i);
    }
  }

  Report finish() {
    Report& report = fifo_.finish();
    transfers().move_deliveries_to(report);
    std::ranges::sort(report.hops, [](const HopRecord& a, const HopRecord& b) {
      return std::tie(a.start, a.link, a.transfer) < std::tie(b.start, b.link, b.transfer);
    });
    if (options_.may_halt) report.quiet = std::max(fifo_.quiet(), options_.begin);
    if (transfers().undelivered() > 0) {
      note_stuck(report);
      if (!options_.may_halt) throw InputError(stuck_text(report));
    }
    return std::move(report);
  }

  void note_stuck(Report& report) {
    using Why = StuckTransfer::Why;
    const auto standing = fifo_.standing();
    const std::set<std::uint32_t> frozen(fifo_.frozen().begin(), fifo_.frozen().end());
    const ScheduledOnSimGrid& all = transfers();
    for (std::uint32_t i = 0; i < schedule_.size(); ++i) {
      if (all.was_delivered(i)) continue;
      StuckTransfer stuck{i};
      const std::uint32_t first = all.send_of(i).first;
      const auto place = standing.find(first);
      if (all.was_lost(i))
        stuck.why = Why::lost;
      else if (all.has_reached_its_end(i))
        stuck.why = Why::held_back;
      else if (frozen.contains(first))
        stuck.why = Why::frozen;
      else if (place != standing.end())
        stuck = {i, Why::link_down, place->second.link, place->second.since};
      else if (const auto awaited = all.first_awaited(i)) {
        stuck.why = Why::named;
        stuck.awaited = awaited->transfer;
      }
      report.stuck.push_back(stuck);
    }
  }
  [[nodiscard]] std::string stuck_text(const Report& report) {
    constexpr std::size_t most_named = 5;
    std::string text = fmt::format("{} of {} transfers were never delivered:", report.stuck.size(),
                                   schedule_.size());
    for (std::size_t k = 0; k < std::min(most_named, report.stuck.size()); ++k) {
      const StuckTransfer& stuck = report.stuck[k];
      const Transfer transfer = schedule_[stuck.transfer];
      text += fmt::format(
          "{} transfer {} (chunk {}, {} > {}) {}", k > 0 ? ";" : "", stuck.transfer,
          transfer.chunk.value,
          topology_.node(topology_.link(schedule_.paths().first(transfer.path)).from).name,
          topology_.node(topology_.link(schedule_.paths().last(transfer.path)).to).name,
          reason(stuck));
    }
    return text;
  }
  [[nodiscard]] std::string reason(const StuckTransfer& stuck) {
    const ScheduledOnSimGrid& all = transfers();
    if (all.has_reached_its_end(stuck.transfer) && !all.was_lost(stuck.transfer))
      return "waits for its receiver's sends";
    const auto awaited = all.first_awaited(stuck.transfer);
    if (stuck.why == StuckTransfer::Why::named && awaited)
      return fmt::format("waits for transfer {}, which has not {}", awaited->transfer,
                         to_text(awaited->milestone));
    const Time since = stuck.link.valid() ? fifo_.down_since(stuck.link) : Time{};
    const std::string why = stuck_reason(topology_, stuck, since);
    if (!why.empty()) return why;
    return all.has_data(stuck.transfer) ? "is under way" : "waits for data";
  }

  const Topology& topology_;
  const Schedule& schedule_;
  const RunOptions options_;
  SimGridNetwork network_;
  ChangingFifo<ScheduledOnSimGrid> fifo_;
  std::size_t next_event_ = 0, next_route_ = 0;
  bool is_frozen_ = false;
};

} // namespace

Report replay_fifo_on_simgrid(const Topology& topology, const Collective& collective,
                              const Schedule& schedule, const TimeModel& model,
                              const RunOptions& options) {
  require_resolvable(topology, collective, schedule, options);
  return ReplayOnSimGrid(topology, collective, schedule, model, options).run();
}

} // namespace tutti
