// Transfers that share a path keep list order, so chunks that are in different phases must be
// listed in the order in which they come to a link: by_dimensions() plans the phases with every
// dimension as one server, whose step of a phase is the step of all its lines. A dimension serves
// the chunks that wait for it in order of arrival; while a chunk's next step waits for the latency
// of the last one, the next chunk's step is served.

#include "algorithms/dimension_phases.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <optional>
#include <tuple>
#include <utility>

namespace tutti {

namespace {

enum class Exchange {
  ring,                ///< both directions
  unidirectional_ring, ///< in the order of coordinates
  direct,              ///< everyone to everyone
};

/// Whether a link joins the two, or one link each to a switch between them.
bool adjacent(const Topology& topology, NodeId from, NodeId to) {
  return std::ranges::any_of(topology.out_links(from), [&](LinkId link) {
    const NodeId next = topology.link(link).to;
    if (next == to) return true;
    return topology.node(next).kind == NodeKind::switching &&
           std::ranges::any_of(topology.out_links(next),
                               [&](LinkId last) { return topology.link(last).to == to; });
  });
}

/// What a line does whose ends aren't linked.
Exchange exchange_of_open_lines(const SynthesisOptions& options) {
  const std::string* const setting = find_setting(options, "line");
  if (setting == nullptr || *setting == "ring") return Exchange::ring;
  if (*setting == "direct") return Exchange::direct;
  const std::vector<std::string> known{"ring", "direct"};
  throw InputError(unknown_name("line", *setting, known));
}

/// One dimension that a chunk goes through, in one of its two phases.
struct Phase {
  std::size_t axis;
  Op op;
  std::vector<std::size_t> done; ///< axes that Reduce-Scatter has behind it here
  std::vector<std::size_t> free; ///< offsets of the places that share all coordinates but those
                                 ///< of the axes that it has still ahead
  Time step;                     ///< how long an NPU sends in each of extent - 1 steps
};

class DimensionPhases {
public:
  DimensionPhases(RoutedSchedule& schedule, const Topology& topology, MemberGrid grid,
                  Exchange open_lines)
      : schedule_(schedule), topology_(topology), grid_(std::move(grid)) {
    for (std::size_t axis = 0; axis < grid_.axes.size(); ++axis) {
      planned_.push_back(plan(axis));
      exchange_.push_back(exchange_along(axis, open_lines));
    }
  }

  [[nodiscard]] std::span<const PlannedDimension> planned() const { return planned_; }

  /// The first axis without any link of its own dimension.
  [[nodiscard]] std::optional<std::size_t> axis_without_links() const {
    for (std::size_t axis = 0; axis < planned_.size(); ++axis)
      if (planned_[axis].bandwidth.bytes_per_second == 0) return axis;
    return std::nullopt;
  }

  /// Lists all steps of all chunks in the order in which dimensions serve them.
  void send(std::span<const DimensionOrder> orders, std::span<const Bytes> chunks) {
    std::vector<Progress> pending;
    for (std::size_t c = 0; c < orders.size(); ++c)
      pending.push_back({c, phases(orders[c], chunks[c]), 0, 1, {}, {}});
    std::vector<Time> free(planned_.size());
    while (!pending.empty()) {
      const auto start = [&](const Progress& progress) {
        return std::max(progress.ready, free[progress.axis()]);
      };
      const auto next = std::ranges::min_element(pending, {}, [&](const Progress& progress) {
        return std::tuple(start(progress), progress.came, progress.chunk);
      });
      const Time end = start(*next) + next->phase().step;
      free[next->axis()] = end;
      send_step(*next);
      if (!advance(*next, end)) pending.erase(next);
    }
  }

private:
  /// How far a chunk has come: the step that it takes next.
  struct Progress {
    std::size_t chunk;
    std::vector<Phase> phases;
    std::size_t at;   ///< into phases
    std::size_t step; ///< 1 .. extent - 1
    Time came;        ///< when it came to this phase
    Time ready;       ///< when this step can begin

    [[nodiscard]] const Phase& phase() const { return phases[at]; }
    [[nodiscard]] std::size_t axis() const { return phase().axis; }
  };

  [[nodiscard]] std::size_t extent(std::size_t axis) const { return grid_.axes[axis].extent; }
  [[nodiscard]] NodeId npu(std::size_t place) const {
    return schedule_.part().group[grid_.rank_at[place]];
  }

  /// Calls body(first place) for every line along the axis.
  template <typename Body> void each_line(std::size_t axis, const Body& body) const {
    for (std::size_t place = 0; place < grid_.size(); ++place)
      if (grid_.coordinate(place, axis) == 0) body(place);
  }

  /// NPUs at an end of a line may have fewer links than others: the most that one has counts.
  [[nodiscard]] PlannedDimension plan(std::size_t axis) const {
    PlannedDimension planned{extent(axis), {}, {}};
    for (std::size_t place = 0; place < grid_.size(); ++place) {
      Bandwidth own;
      for (const LinkId id : topology_.out_links(npu(place))) {
        const Link& link = topology_.link(id);
        if (link.dimension != static_cast<int>(grid_.axes[axis].dimension)) continue;
        own.bytes_per_second += topology_.effective_bandwidth(id).bytes_per_second;
        planned.latency = std::max(planned.latency, link.latency);
      }
      planned.bandwidth = std::max(planned.bandwidth, own);
    }
    return planned;
  }

  [[nodiscard]] bool adjacent_places(std::size_t from, std::size_t to) const {
    return adjacent(topology_, npu(from), npu(to));
  }

  /// The exchange that all lines along the axis use, so that they keep step.
  [[nodiscard]] Exchange exchange_along(std::size_t axis, Exchange open_lines) {
    const std::size_t n = extent(axis), stride = grid_.axes[axis].stride;
    bool all_adjacent = true, closed = true, longer_back = false;
    each_line(axis, [&](std::size_t first) {
      const std::size_t last = first + (n - 1) * stride;
      closed = closed && (adjacent_places(last, first) || adjacent_places(first, last));
      for (std::size_t x = first; x <= last && all_adjacent; x += stride)
        for (std::size_t y = first; y <= last && all_adjacent; y += stride)
          all_adjacent = x == y || adjacent_places(x, y);
      const Rank one = grid_.rank_at[first], other = grid_.rank_at[first + stride];
      longer_back = longer_back || schedule_.hops(other, one) > schedule_.hops(one, other);
    });
    if (all_adjacent) return Exchange::direct;
    if (!closed && open_lines == Exchange::direct) return Exchange::direct;
    return longer_back ? Exchange::unidirectional_ring : Exchange::ring;
  }

  [[nodiscard]] std::vector<Phase> phases(const DimensionOrder& order, Bytes chunk) const {
    std::vector<Phase> scatter;
    std::int64_t rest = chunk.count;
    for (std::size_t k = 0; k < order.size(); ++k) {
      const auto parts = static_cast<std::int64_t>(extent(order[k]));
      const Time sending = sending_time(planned_[order[k]], Bytes{rest});
      scatter.push_back({order[k],
                         Op::reduce,
                         {order.begin(), order.begin() + static_cast<std::ptrdiff_t>(k)},
                         offsets(std::span(order).subspan(k + 1)),
                         Time{sending.ps / (parts - 1)}});
      rest /= parts;
    }
    std::vector<Phase> gather(scatter.rbegin(), scatter.rend());
    for (Phase& phase : gather) phase.op = Op::copy;
    switch (schedule_.part().kind) {
    case CollectiveKind::reduce_scatter: return scatter;
    case CollectiveKind::all_gather: return gather;
    default: scatter.insert(scatter.end(), gather.begin(), gather.end()); return scatter;
    }
  }

  /// The offsets of all combinations of coordinates along the axes.
  [[nodiscard]] std::vector<std::size_t> offsets(std::span<const std::size_t> axes) const {
    std::vector<std::size_t> found{0};
    for (const std::size_t axis : axes) {
      const std::size_t before = found.size();
      for (std::size_t x = 1; x < extent(axis); ++x)
        for (std::size_t k = 0; k < before; ++k)
          found.push_back(found[k] + x * grid_.axes[axis].stride);
    }
    return found;
  }

  /// Moves on after a step that ended at `end`; false after the last.
  bool advance(Progress& progress, Time end) const {
    const PlannedDimension& dimension = planned_[progress.axis()];
    const bool independent = exchange_[progress.axis()] == Exchange::direct;
    progress.ready = independent ? end : end + dimension.latency;
    if (++progress.step < dimension.extent) return true;
    progress.came = progress.ready = end + dimension.latency;
    progress.step = 1;
    return ++progress.at < progress.phases.size();
  }

  void send_step(const Progress& progress) {
    const std::uint32_t chunks_per_shard = schedule_.part().chunks_per_shard;
    const auto first = static_cast<std::uint32_t>(2 * progress.chunk);
    for (std::uint32_t k = first; k < std::min(first + 2, chunks_per_shard); ++k)
      each_line(progress.axis(), [&](std::size_t line) { send_step(progress, line, k); });
  }

  /// Sends the k-th chunk of shards along one line.
  void send_step(const Progress& progress, std::size_t line, std::uint32_t k) {
    const std::size_t n = extent(progress.axis()), step = progress.step;
    if (exchange_[progress.axis()] == Exchange::direct) {
      for (std::size_t x = 0; x < n; ++x)
        send_shards(progress.phase(), line, k, x, (x + step) % n,
                    progress.phase().op == Op::reduce ? (x + step) % n : x);
      return;
    }
    // A shard of x in Reduce-Scatter goes from x + 1 around to x, in All-Gather from x to x - 1.
    const std::size_t gone = progress.phase().op == Op::reduce ? step : step - 1;
    const bool backward = k % 2 == 1 && exchange_[progress.axis()] == Exchange::ring;
    for (std::size_t x = 0; x < n; ++x) {
      const std::size_t from = (backward ? x + n - gone : x + gone) % n;
      send_shards(progress.phase(), line, k, from, (backward ? from + n - 1 : from + 1) % n, x);
    }
  }

  /// From one coordinate of a line to another, the shards that the one with coordinate `owner`
  /// has (All-Gather) or shall have (Reduce-Scatter).
  void send_shards(const Phase& phase, std::size_t line, std::uint32_t k, std::size_t from,
                   std::size_t to, std::size_t owner) {
    const std::size_t stride = grid_.axes[phase.axis].stride;
    std::size_t shared = owner * stride;
    for (const std::size_t axis : phase.done)
      shared += grid_.coordinate(line, axis) * grid_.axes[axis].stride;
    const std::uint32_t chunks_per_shard = schedule_.part().chunks_per_shard;
    for (const std::size_t offset : phase.free)
      schedule_.send(grid_.rank_at[line + from * stride], grid_.rank_at[line + to * stride],
                     grid_.rank_at[shared + offset], phase.op, k, chunks_per_shard);
  }

  RoutedSchedule& schedule_;
  const Topology& topology_;
  MemberGrid grid_;
  std::vector<PlannedDimension> planned_; // by axis
  std::vector<Exchange> exchange_;        // by axis
};

/// Bytes of each slice of the whole buffer: two chunks of every shard; one in the last slice where
/// their number is odd.
std::vector<Bytes> chunk_sizes(const CollectivePart& part) {
  std::vector<Bytes> sizes;
  for (std::uint32_t k = 0; k < part.chunks_per_shard; k += 2)
    sizes.push_back({part.size.count / part.chunks_per_shard *
                     std::min<std::int64_t>(2, part.chunks_per_shard - k)});
  return sizes;
}

} // namespace

Time sending_time(const PlannedDimension& dimension, Bytes size) {
  const auto parts = static_cast<std::int64_t>(dimension.extent);
  return serialization(Bytes{size.count - size.count / parts}, dimension.bandwidth);
}

Outcome by_dimensions(const Topology& topology, const Collective& collective,
                      const SynthesisOptions& options, const ChooseOrders& choose) {
  const Exchange open_lines = exchange_of_open_lines(options);
  RoutedSchedule schedule(topology, collective, options);
  MemberGridSearch search = find_member_grid(topology, schedule.part().group);
  if (!search.obstacle.empty()) return unsupported(std::move(search.obstacle));
  const std::vector<MemberGrid::Axis> axes = search.grid.axes;
  DimensionPhases phases(schedule, topology, std::move(search.grid), open_lines);
  if (const auto axis = phases.axis_without_links())
    return unsupported(
        fmt::format("{} has no links along dimension {}", topology.name(), axes[*axis].dimension));
  const std::vector<Bytes> chunks = chunk_sizes(schedule.part());
  phases.send(choose(phases.planned(), chunks), chunks);
  return std::move(schedule).outcome();
}

} // namespace tutti
