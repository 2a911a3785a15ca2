// What ASTRA-sim does for a collective, as its system file (JSON) says: an implementation for each
// dimension (ring, direct, halvingDoubling, doubleBinaryTree), the number of chunks that the buffer
// is cut into, and how many of them are under way in a dimension at once. This plans which chunk
// takes its next step when; astra_steps.hpp says what a step sends.
//
// All-Gather goes through the dimensions from the last to the first, Reduce-Scatter and All-to-All
// from the first to the last. All-Reduce is one in each dimension, of all data ("baseline"), or
// Reduce-Scatter up to the last but one, All-Reduce in the last, and All-Gather back
// ("localBWAware"), all three as its own list says. A dimension's queue takes chunks in the order
// in which they come; the first half of its queues serve rings upwards, the others downwards, and a
// single one upwards, but for that All-Gather back.
// Source: astra-sim 518bd51, system/Sys.cc (generate_collective), system/astraccl.
//
// Links keep list order, so that steps are listed as a plan has them come, in which each direction
// of a dimension serves one step after another. Left out, as it is no matter of who sends what:
// delays at endpoints, local memory and reduction, LogGP's bus.
// Cost: that of the implementations; O(chunks) for each step of a chunk in the plan.
#include "algorithms/astra_steps.hpp"
#include "algorithms/astra_system_file.hpp"
#include "algorithms/list.hpp"
#include "algorithms/member_grid.hpp"
#include "algorithms/routed_schedule.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tutti {

namespace {

/// What a chunk does in one dimension.
struct AstraPhase {
  CollectiveKind kind;
  std::size_t axis;
  std::size_t queue;
  bool downwards;   ///< rings go from higher coordinates to lower ones
  bool of_all_data; ///< the dimensions before are whole: All-Reduce, one in each dimension
};

class AstraCollective {
public:
  AstraCollective(RoutedSchedule& schedule, const Topology& topology, MemberGrid grid,
                  std::vector<AstraImplementation> implementations, const AstraSystem& system,
                  std::size_t queues)
      : schedule_(schedule), topology_(topology), grid_(std::move(grid)),
        implementations_(std::move(implementations)), local_bw_aware_(system.local_bw_aware),
        queues_(queues), active_((system.active + queues - 1) / queues) {
    if (implementations_.front().of_all_npus) grid_.axes = {{0, grid_.size(), 1}};
    for (std::size_t axis = 0; axis < grid_.axes.size(); ++axis) plan(axis);
  }

  /// Why an implementation can't do what it has to; empty: it can. Errors: InputError where none
  /// of its kind can.
  [[nodiscard]] std::string obstacle() const {
    for (const AstraPhase& phase : phases(0)) {
      const AstraMethod method = implementations_[phase.axis].method;
      const bool is_tree = method == AstraMethod::double_binary_tree;
      if (is_tree && phase.kind != CollectiveKind::all_reduce)
        throw implementations_[phase.axis].place->error(
            fmt::format("a double binary tree has no {}", to_text(phase.kind)));
      if (!is_tree && method != AstraMethod::halving_doubling) continue;
      if (phase.kind == CollectiveKind::all_to_all)
        throw implementations_[phase.axis].place->error("halving and doubling has no all_to_all");
      if (!std::has_single_bit(extent(phase.axis)))
        return fmt::format("{}{} needs a power of two of NPUs, not {}",
                           implementations_[phase.axis].place->place(),
                           is_tree ? "a double binary tree" : "halving and doubling",
                           extent(phase.axis));
    }
    for (std::size_t axis = 0; axis < planned_.size(); ++axis)
      if (planned_[axis].all.bytes_per_second == 0)
        return fmt::format("{} has no links along dimension {}", topology_.name(),
                           grid_.axes[axis].dimension);
    return "";
  }

  /// Lists all steps of all chunks as the plan has them.
  void send() {
    for (std::uint32_t c = 0; c < schedule_.part().chunks_per_shard; ++c)
      pending_.push_back({c, phases(c)});
    under_way_.resize(grid_.axes.size() * queues_);
    for (Progress& progress : pending_) enter(progress);
    std::vector<Time> free(2 * grid_.axes.size());
    while (!pending_.empty()) {
      const auto start = [&](const Progress& progress) {
        return std::max(progress.ready, free[server_of(progress.phase())]);
      };
      const auto next = std::ranges::min_element(pending_, {}, [&](const Progress& progress) {
        return std::tuple(!progress.is_in, start(progress), progress.came, progress.chunk);
      });
      assert(next->is_in);
      const Time end = start(*next) + step_time(*next);
      free[server_of(next->phase())] = end;
      send_step(*next);
      advance(*next, end);
      std::erase_if(pending_, [](const Progress& p) { return p.at == p.phases.size(); });
    }
  }

private:
  /// How far a chunk has come: the step that it takes next.
  struct Progress {
    std::uint32_t chunk;
    std::vector<AstraPhase> phases;
    std::size_t at = 0;   ///< into phases
    std::size_t step = 0; ///< of the phase
    Time came = {};       ///< when it came to this phase
    Time ready = {};      ///< when this step can begin
    bool is_in = false;   ///< its queue has taken it

    [[nodiscard]] const AstraPhase& phase() const { return phases[at]; }
  };
  /// What an NPU has of a dimension.
  struct Planned {
    Bandwidth link, all; ///< its fastest link, and all of them together
    Time latency;
  };

  [[nodiscard]] std::size_t extent(std::size_t axis) const { return grid_.axes[axis].extent; }
  [[nodiscard]] std::size_t stride(std::size_t axis) const { return grid_.axes[axis].stride; }

  void plan(std::size_t axis) {
    Planned planned;
    for (const NodeId npu : schedule_.part().group) {
      Bandwidth all;
      for (const LinkId id : topology_.out_links(npu)) {
        const Link& link = topology_.link(id);
        if (!implementations_.front().of_all_npus &&
            link.dimension != static_cast<int>(grid_.axes[axis].dimension))
          continue;
        const Bandwidth rate = topology_.effective_bandwidth(id);
        all.bytes_per_second += rate.bytes_per_second;
        planned.link = std::max(planned.link, rate);
        planned.latency = std::max(planned.latency, link.latency);
      }
      planned.all = std::max(planned.all, all);
    }
    planned_.push_back(planned);
  }

  [[nodiscard]] std::vector<AstraPhase> phases(std::size_t chunk) const {
    using enum CollectiveKind;
    const CollectiveKind kind = schedule_.part().kind;
    const std::size_t last = grid_.axes.size() - 1, half = std::max<std::size_t>(1, queues_ / 2);
    const std::size_t any = chunk % queues_, first_half = chunk % half,
                      other_half = queues_ == 1 ? 0 : half + chunk % (queues_ - half);
    const bool downwards = queues_ > 1 && any >= half;
    std::vector<AstraPhase> found;
    if (kind == all_gather) {
      for (std::size_t axis = last + 1; axis-- > 0;)
        found.push_back({kind, axis, any, downwards, false});
    } else if (kind != all_reduce || !local_bw_aware_) {
      for (std::size_t axis = 0; axis <= last; ++axis)
        found.push_back({kind, axis, any, downwards, kind == all_reduce});
    } else {
      for (std::size_t axis = 0; axis < last; ++axis)
        found.push_back({reduce_scatter, axis, first_half, false, false});
      found.push_back({all_reduce, last, first_half, false, false});
      for (std::size_t axis = last; axis-- > 0;)
        found.push_back({all_gather, axis, other_half, true, false});
    }
    return found;
  }

  [[nodiscard]] AstraLine line(const AstraPhase& phase, std::size_t chunk) const {
    return {implementations_[phase.axis].method, phase.kind, extent(phase.axis), chunk,
            phase.downwards};
  }

  // The plan.

  [[nodiscard]] std::size_t slot_of(const AstraPhase& phase) const {
    return phase.axis * queues_ + phase.queue;
  }
  [[nodiscard]] std::size_t server_of(const AstraPhase& phase) const {
    const bool is_ring = implementations_[phase.axis].method == AstraMethod::ring;
    return 2 * phase.axis + (is_ring && phase.downwards ? 1 : 0);
  }
  void enter(Progress& progress) {
    std::size_t& under_way = under_way_[slot_of(progress.phase())];
    if (under_way >= active_) return;
    ++under_way;
    progress.is_in = true;
  }
  /// Who waits for a place in the queue that has one free since `now`.
  void let_in(std::size_t slot, Time now) {
    Progress* next = nullptr;
    for (Progress& progress : pending_)
      if (progress.at < progress.phases.size() && !progress.is_in &&
          slot_of(progress.phase()) == slot &&
          (next == nullptr ||
           std::tuple(progress.came, progress.chunk) < std::tuple(next->came, next->chunk)))
        next = &progress;
    if (next == nullptr) return;
    next->ready = std::max(next->ready, now);
    enter(*next);
  }

  /// Moves on after a step that ended at `end`.
  void advance(Progress& progress, Time end) {
    const AstraPhase phase = progress.phase();
    const Time arrival = end + planned_[phase.axis].latency;
    const bool independent = implementations_[phase.axis].method == AstraMethod::direct;
    progress.ready = independent ? end : arrival;
    if (++progress.step < astra_step_count(line(phase, progress.chunk))) return;
    progress.came = progress.ready = arrival;
    progress.step = 0;
    progress.is_in = false;
    ++progress.at;
    --under_way_[slot_of(phase)];
    let_in(slot_of(phase), arrival);
    if (progress.at < progress.phases.size()) enter(progress);
  }

  /// How long an NPU sends in the step.
  [[nodiscard]] Time step_time(const Progress& progress) const {
    const AstraPhase& phase = progress.phase();
    const auto all = astra_messages(line(phase, progress.chunk), progress.step);
    const std::int64_t messages =
        all.empty() ? 0 : std::ranges::count(all, all.front().from, &AstraMessage::from);
    std::size_t blocks = 1; // of a message
    for (std::size_t axis = 0; axis < grid_.axes.size(); ++axis)
      if (phase.kind == CollectiveKind::all_to_all || phase.of_all_data || axis > phase.axis)
        blocks *= axis == phase.axis ? 1 : extent(axis);
    const std::int64_t chunk = schedule_.part().size.count / schedule_.part().chunk_count;
    const Planned& planned = planned_[phase.axis];
    const bool at_once = implementations_[phase.axis].method == AstraMethod::direct;
    return serialization(Bytes{messages * static_cast<std::int64_t>(blocks) * chunk},
                         at_once ? planned.all : planned.link);
  }

  // The sends.

  void send_step(const Progress& progress) {
    const AstraPhase& phase = progress.phase();
    const auto messages = astra_messages(line(phase, progress.chunk), progress.step);
    for (std::size_t first = 0; first < grid_.size(); ++first)
      if (grid_.coordinate(first, phase.axis) == 0)
        for (const AstraMessage& message : messages)
          send_blocks(phase, first, message, progress.chunk);
  }

  /// In the line whose first place is `first`.
  void send_blocks(const AstraPhase& phase, std::size_t first, const AstraMessage& message,
                   std::uint32_t chunk) {
    const std::size_t axis = phase.axis, n = grid_.size();
    const Rank from = grid_.rank_at[first + message.from * stride(axis)],
               to = grid_.rank_at[first + message.to * stride(axis)];
    const std::uint32_t chunks = schedule_.part().chunks_per_shard;
    const std::size_t before = first % stride(axis), // all coordinates of lower axes
        after = first - before;                      // and of higher ones
    const std::size_t row = stride(axis) * extent(axis);
    const std::size_t source = message.source * stride(axis),
                      target = message.target * stride(axis);
    if (phase.kind == CollectiveKind::all_to_all) {
      // Where it has been sent along already, data stands by its destination, else by its source.
      for (std::size_t low = 0; low < stride(axis); ++low)
        for (std::size_t high = 0; high < n; high += row) {
          const Rank owner = grid_.rank_at[low + source + after],
                     receiver = grid_.rank_at[before + target + high];
          schedule_.send(from, to, owner * static_cast<Rank>(n) + receiver, message.op, chunk,
                         chunks);
        }
      return;
    }
    for (std::size_t low = 0; low < stride(axis); ++low) {
      if (!phase.of_all_data && low != before) continue;
      for (std::size_t high = 0; high < n; high += row)
        schedule_.send(from, to, grid_.rank_at[low + target + high], message.op, chunk, chunks);
    }
  }

  RoutedSchedule& schedule_;
  const Topology& topology_;
  MemberGrid grid_;
  std::vector<AstraImplementation> implementations_; // by axis
  bool local_bw_aware_;
  std::size_t queues_, active_;  // of a dimension; chunks of a queue at once
  std::vector<Planned> planned_; // by axis
  std::vector<Progress> pending_;
  std::vector<std::size_t> under_way_; // by slot
};

/// By axis of the grid: the file has one for each dimension, or for each of several NPUs.
std::vector<AstraImplementation> implementations_by_axis(const AstraSystem& system,
                                                         const Topology& topology,
                                                         const MemberGrid& grid) {
  const std::vector<AstraImplementation>& given = system.implementations;
  if (given.front().of_all_npus) return {given.front()};
  std::vector<std::size_t> position; // of each dimension
  std::size_t wide = 0;
  for (const int extent : topology.shape()) {
    position.push_back(wide);
    wide += extent > 1 ? 1U : 0U;
  }
  const bool counts_all = given.size() == position.size();
  if (!counts_all && given.size() != wide)
    throw given.front().place->error(fmt::format("{} implementations for the {} dimensions of {}",
                                                 given.size(), wide, topology.name()));
  std::vector<AstraImplementation> found;
  for (const MemberGrid::Axis& axis : grid.axes) {
    found.push_back(given[counts_all ? axis.dimension : position[axis.dimension]]);
    if (found.back().of_all_npus)
      throw found.back().place->error("only the first can be one of all NPUs");
  }
  return found;
}

/// The same in so many times as many chunks.
Collective in_splits(Collective collective, std::uint32_t splits) {
  CollectivePart& part = collective.parts.front();
  part.chunks_per_shard *= splits;
  part.chunk_count *= splits;
  return collective;
}

} // namespace

Outcome astra_system(const Topology& topology, const Collective& collective,
                     const SynthesisOptions& options) {
  const std::string* const file = find_setting(options, "system");
  if (file == nullptr || file->empty())
    return unsupported("it does what a system file of ASTRA-sim says: --set system=FILE");
  const std::int64_t queue_count = find_count(options, "queues", 1, 64).value_or(1);

  const AstraSystem system = read_astra_system(*file, collective.parts.front().kind);
  MemberGridSearch search = find_member_grid(topology, collective.parts.front().group);
  if (!search.obstacle.empty()) return unsupported(std::move(search.obstacle));
  std::vector<AstraImplementation> implementations =
      implementations_by_axis(system, topology, search.grid);
  std::uint32_t splits = 1;
  if (options.choose_chunks)
    splits = static_cast<std::uint32_t>(std::clamp<std::int64_t>(
        collective.smallest_chunk().count, 1, static_cast<std::int64_t>(system.splits)));
  const Collective finer = in_splits(collective, splits);
  RoutedSchedule schedule(topology, finer, options);
  AstraCollective made(schedule, topology, std::move(search.grid), std::move(implementations),
                       system, static_cast<std::size_t>(queue_count));
  if (std::string obstacle = made.obstacle(); !obstacle.empty())
    return unsupported(std::move(obstacle));
  made.send();
  Outcome outcome = std::move(schedule).outcome();
  outcome.parts_per_chunk = splits;
  outcome.facts = system.left_out;
  return outcome;
}

} // namespace tutti
