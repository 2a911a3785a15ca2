// What ASTRA-sim does for a collective, as its system file (JSON) says: an implementation for each
// dimension (ring, direct, halvingDoubling, doubleBinaryTree), the number of chunks that the buffer
// is cut into, and how many of them are under way in a dimension at once.
//
//   {"preferred-dataset-splits": 4, "active-chunks-per-dimension": 1,
//    "collective-optimization": "localBWAware", "all-reduce-implementation": ["ring", "direct"], ...}
//
// All-Gather goes through the dimensions from the last to the first, Reduce-Scatter and All-to-All
// from the first to the last. All-Reduce is one in each dimension, of all data ("baseline"), or
// Reduce-Scatter up to the last but one, All-Reduce in the last, and All-Gather back
// ("localBWAware"), all three as its own list says. A dimension's queue takes chunks in the order
// in which they come; the first half of its queues serve rings upwards, the others downwards, and a
// single one upwards, but for that All-Gather back. oneRing and the like, as the first, are one
// dimension of all NPUs.
// Source: astra-sim 518bd51, system/Sys.cc (generate_collective), system/astraccl.
//
// Links keep list order, so that steps are listed as a plan has them come, in which each direction
// of a dimension serves one step after another. Left out, as it is no matter of who sends what:
// delays at endpoints, local memory and reduction, LogGP's bus, windows of direct exchange.
// scheduling-policy decides between several collectives only.
// Cost: that of the implementations; O(chunks) for each step of a chunk in the plan.
#include "algorithms/double_binary_tree.hpp"
#include "algorithms/list.hpp"
#include "algorithms/member_grid.hpp"
#include "algorithms/routed_schedule.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/files/json_value.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tutti {

namespace {

enum class AstraMethod : std::uint8_t { ring, direct, halving_doubling, double_binary_tree };

struct AstraImplementation {
  AstraMethod method;
  bool of_all_npus = false; ///< "oneRing"
  std::int64_t window = 0;  ///< of "direct8"; 0: none
  std::optional<JsonValue> place = {};
};

AstraImplementation astra_implementation(const JsonValue& value) {
  struct Name {
    std::string_view name;
    AstraMethod method;
    bool of_all_npus;
  };
  static constexpr std::array<Name, 7> names{
      {{"ring", AstraMethod::ring, false},
       {"oneRing", AstraMethod::ring, true},
       {"direct", AstraMethod::direct, false},
       {"oneDirect", AstraMethod::direct, true},
       {"halvingDoubling", AstraMethod::halving_doubling, false},
       {"oneHalvingDoubling", AstraMethod::halving_doubling, true},
       {"doubleBinaryTree", AstraMethod::double_binary_tree, false}}};
  const std::string text = value.string();
  std::vector<std::string> known;
  for (const Name& row : names) {
    known.emplace_back(row.name);
    if (!text.starts_with(row.name)) continue;
    const std::string_view rest = std::string_view(text).substr(row.name.size());
    AstraImplementation found{row.method, row.of_all_npus, 0, value};
    if (rest.empty()) return found;
    if (row.method != AstraMethod::direct) continue;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), found.window);
    if (error == std::errc() && end == rest.data() + rest.size() && found.window > 0) return found;
  }
  throw value.error(unknown_name("implementation", text, known));
}

/// What of a system file matters for one kind of collective.
struct AstraSystem {
  std::uint32_t splits = 1;
  std::size_t active = 1; ///< chunks at once in a dimension
  bool local_bw_aware = false;
  std::vector<AstraImplementation> implementations;
  std::map<std::string, double> left_out; ///< as facts
};

std::string_view astra_key(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::all_gather: return "all-gather-implementation";
  case CollectiveKind::reduce_scatter: return "reduce-scatter-implementation";
  case CollectiveKind::all_reduce: return "all-reduce-implementation";
  default: return "all-to-all-implementation";
  }
}

void require_astra_word(const JsonValue& root, const std::string& key,
                        const std::vector<std::string>& known) {
  if (const auto value = root.find(key))
    if (const std::string word = value->string(); std::ranges::find(known, word) == known.end())
      throw value->error(unknown_name(key, word, known));
}

AstraSystem read_astra_system(const std::string& file, CollectiveKind kind) {
  constexpr std::size_t most_bytes = std::size_t{1} << 20;
  constexpr std::int64_t most_chunks = 1024;
  const std::string text = read_file(file);
  if (text.size() > most_bytes)
    throw InputError(fmt::format("{}: {} bytes are no system file of ASTRA-sim (at most 1 MiB)",
                                 file, text.size()));
  const JsonValue root = parse_json(text, file);
  std::vector<std::string> keys{"scheduling-policy", "collective-optimization",
                                "active-chunks-per-dimension", "preferred-dataset-splits",
                                // of what is no matter here
                                "endpoint-delay", "local-reduction-delay", "local-mem-bw", "L", "o",
                                "g", "G", "model-shared-bus", "peak-perf", "roofline-enabled",
                                "trace-enabled", "replay-only", "track-local-mem",
                                "local-mem-trace-filename", "boost-mode"};
  for (const CollectiveKind each : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
                                    CollectiveKind::all_reduce, CollectiveKind::all_to_all}) {
    keys.emplace_back(astra_key(each));
    const std::string custom = fmt::format("{}-custom", astra_key(each));
    if (const auto value = root.find(custom))
      throw value->error("collectives of its users (Chakra traces) aren't read");
    if (const auto list = root.find(keys.back()))
      for (const JsonValue& name : list->list()) (void)astra_implementation(name);
  }
  if (const auto value = root.find("per-node-custom-implementation"))
    throw value->error("collectives of its users (Chakra traces) aren't read");
  root.allow_only(keys);
  require_astra_word(root, "scheduling-policy", {"LIFO", "FIFO", "EXPLICIT"});
  require_astra_word(root, "collective-optimization", {"baseline", "localBWAware"});

  AstraSystem system;
  system.splits =
      static_cast<std::uint32_t>(root.at("preferred-dataset-splits").integer(1, most_chunks));
  if (const auto active = root.find("active-chunks-per-dimension"))
    system.active = static_cast<std::size_t>(active->integer(1, most_chunks));
  if (kind == CollectiveKind::all_reduce)
    system.local_bw_aware = root.at("collective-optimization").string() == "localBWAware";
  for (const JsonValue& name : root.at(std::string(astra_key(kind))).list())
    system.implementations.push_back(astra_implementation(name));
  if (system.implementations.empty())
    throw root.at(std::string(astra_key(kind))).error("an implementation for each dimension");
  if (const auto delay = root.find("endpoint-delay"))
    system.left_out["left_out_endpoint_delay_seconds"] = delay->number(0, 1e18) * 1e-9;
  if (const auto bandwidth = root.find("local-mem-bw"))
    system.left_out["left_out_local_memory_bytes_per_second"] = bandwidth->number(0, 1e9) * 1e9;
  for (const AstraImplementation& each : system.implementations)
    if (each.window > 0) system.left_out["left_out_window"] = static_cast<double>(each.window);
  return system;
}

/// What a chunk does in one dimension.
struct AstraPhase {
  CollectiveKind kind;
  std::size_t axis;
  std::size_t queue;
  bool downwards;   ///< rings go from higher coordinates to lower ones
  bool of_all_data; ///< the dimensions before are whole: All-Reduce, one in each dimension
};

/// A message within a line of NPUs along a dimension, by coordinates.
struct AstraMessage {
  std::size_t from, to;
  std::size_t source; ///< All-to-All: whose data
  std::size_t target; ///< for whom; else: whose share of the line's data
  Op op;
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
    if (++progress.step < steps(phase, progress.chunk)) return;
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
    std::int64_t messages = 0;
    std::optional<std::size_t> sender;
    each_message(phase, progress.chunk, progress.step, [&](const AstraMessage& message) {
      if (!sender) sender = message.from;
      messages += message.from == *sender ? 1 : 0;
    });
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

  // The steps of a line.

  [[nodiscard]] std::size_t steps(const AstraPhase& phase, std::size_t chunk) const {
    const std::size_t n = extent(phase.axis);
    const std::size_t halves = phase.kind == CollectiveKind::all_reduce ? 2 : 1;
    switch (implementations_[phase.axis].method) {
    case AstraMethod::halving_doubling: return halves * (std::bit_width(n) - 1);
    case AstraMethod::double_binary_tree: return halves * tree_of(n, chunk).height_of_root();
    default: return halves * (n - 1);
    }
  }

  template <typename Body>
  void each_message(const AstraPhase& phase, std::size_t chunk, std::size_t step,
                    const Body& body) const {
    using enum CollectiveKind;
    const std::size_t n = extent(phase.axis);
    const AstraMethod method = implementations_[phase.axis].method;
    if (method == AstraMethod::double_binary_tree) {
      tree_step(tree_of(n, chunk), step, body);
      return;
    }
    const std::size_t half = phase.kind == all_reduce ? steps(phase, chunk) / 2 : 0;
    const CollectiveKind kind = phase.kind != all_reduce ? phase.kind
                                : step < half            ? reduce_scatter
                                                         : all_gather;
    const std::size_t at = phase.kind == all_reduce && step >= half ? step - half : step;
    if (method == AstraMethod::ring)
      ring_step(kind, n, at, phase.downwards, body);
    else if (method == AstraMethod::direct)
      direct_step(kind, n, at, body);
    else
      doubling_step(kind, n, at, body);
  }

  /// As send_around_ring() in one direction.
  template <typename Body>
  static void ring_step(CollectiveKind kind, std::size_t n, std::size_t step, bool downwards,
                        const Body& body) {
    const auto pass_on = [&](std::size_t from, std::size_t source, std::size_t target, Op op) {
      const auto at = [&](std::size_t p) { return downwards ? (2 * n - p % n) % n : p % n; };
      body(AstraMessage{at(from), at(from + 1), at(source), at(target), op});
    };
    for (std::size_t p = 0; p < n; ++p)
      if (kind == CollectiveKind::reduce_scatter)
        pass_on(p + step + 1, p, p, Op::reduce);
      else if (kind == CollectiveKind::all_gather)
        pass_on(p + step, p, p, Op::copy);
      else
        for (std::size_t distance = n - 1; distance > step; --distance)
          pass_on(p + step, p, p + distance, Op::copy);
  }

  template <typename Body>
  static void direct_step(CollectiveKind kind, std::size_t n, std::size_t step, const Body& body) {
    for (std::size_t x = 0; x < n; ++x) {
      const std::size_t y = (x + step + 1) % n;
      if (kind == CollectiveKind::reduce_scatter)
        body(AstraMessage{x, y, x, y, Op::reduce});
      else
        body(AstraMessage{x, y, x, kind == CollectiveKind::all_to_all ? y : x, Op::copy});
    }
  }

  /// Reduce-Scatter begins with the nearest and half of the data, All-Gather with the farthest.
  template <typename Body>
  static void doubling_step(CollectiveKind kind, std::size_t n, std::size_t step,
                            const Body& body) {
    const bool scatters = kind == CollectiveKind::reduce_scatter;
    const std::size_t bit = scatters ? std::size_t{1} << step : n >> (step + 1);
    for (std::size_t x = 0; x < n; ++x)
      for (std::size_t above = 0; above < n; above += 2 * bit) {
        const std::size_t owner = (scatters ? x ^ bit : x) ^ above;
        body(AstraMessage{x, x ^ bit, x, owner, scatters ? Op::reduce : Op::copy});
      }
  }

  /// Even chunks have the tree with the last one as its root, odd ones that with the first.
  struct Tree {
    RankTree tree;
    [[nodiscard]] std::size_t height_of_root() const { return tree.height[tree.root]; }
  };
  [[nodiscard]] static Tree tree_of(std::size_t n, std::size_t chunk) {
    return {double_tree(static_cast<std::uint32_t>(n))[chunk % 2 == 0 ? 1 : 0]};
  }
  template <typename Body>
  static void tree_step(const Tree& of, std::size_t step, const Body& body) {
    const RankTree& tree = of.tree;
    const std::size_t n = tree.parent.size(), height = of.height_of_root();
    for (std::uint32_t v = 0; v < n; ++v) {
      if (v == tree.root) continue;
      const bool is_up = step < height;
      if (is_up ? tree.height[v] != step : tree.depth[v] != step - height + 1) continue;
      const std::size_t parent = tree.parent[v];
      for (std::size_t owner = 0; owner < n; ++owner)
        body(is_up ? AstraMessage{v, parent, v, owner, Op::reduce}
                   : AstraMessage{parent, v, parent, owner, Op::copy});
    }
  }

  // The sends.

  void send_step(const Progress& progress) {
    const AstraPhase& phase = progress.phase();
    for (std::size_t line = 0; line < grid_.size(); ++line) {
      if (grid_.coordinate(line, phase.axis) != 0) continue;
      each_message(phase, progress.chunk, progress.step, [&](const AstraMessage& message) {
        send_blocks(phase, line, message, progress.chunk);
      });
    }
  }

  /// `line`: its first place.
  void send_blocks(const AstraPhase& phase, std::size_t line, const AstraMessage& message,
                   std::uint32_t chunk) {
    const std::size_t axis = phase.axis, n = grid_.size();
    const Rank from = grid_.rank_at[line + message.from * stride(axis)],
               to = grid_.rank_at[line + message.to * stride(axis)];
    const std::uint32_t chunks = schedule_.part().chunks_per_shard;
    const std::size_t before = line % stride(axis), // all coordinates of lower axes
        after = line - before;                      // and of higher ones
    const std::size_t row = stride(axis) * extent(axis);
    const std::size_t source = message.source * stride(axis),
                      target = message.target * stride(axis);
    if (phase.kind == CollectiveKind::all_to_all) {
      // Where it has been sent along already, data stands by its destination, else by its source.
      for (std::size_t low = 0; low < stride(axis); ++low)
        for (std::size_t high = 0; high < n; high += row) {
          const Rank first = grid_.rank_at[low + source + after],
                     last = grid_.rank_at[before + target + high];
          schedule_.send(from, to, first * static_cast<Rank>(n) + last, message.op, chunk, chunks);
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
  const auto file = options.settings.find("system");
  if (file == options.settings.end() || file->second.empty())
    return infeasible("it does what a system file of ASTRA-sim says: --set system=FILE");
  const auto queues = options.settings.find("queues");
  const std::int64_t queue_count =
      queues == options.settings.end() ? 1 : parse_integer(queues->second, "queues", 1, 64);

  const AstraSystem system = read_astra_system(file->second, collective.parts.front().kind);
  MemberGridSearch search = find_member_grid(topology, collective.parts.front().group);
  if (!search.obstacle.empty()) return infeasible(std::move(search.obstacle));
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
    return infeasible(std::move(obstacle));
  made.send();
  Outcome outcome = std::move(schedule).outcome();
  outcome.parts_per_chunk = splits;
  outcome.facts = system.left_out;
  return outcome;
}

} // namespace tutti
