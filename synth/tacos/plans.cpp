// Why: how many neighbours a switch should be unwound into depends on chunk size and latency, and
// no formula is right for all networks. Idea: a formula orders the degrees, a matching is tried on
// as many of these networks as a fixed amount of work allows, and the replay on the topology itself
// compares them; the remaining attempts, with shuffled ties, go to the best one.

#include "synth/tacos/plans.hpp"

#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/random.hpp"
#include "sim/side_by_side.hpp"
#include "sim/unwinding.hpp"
#include "synth/tacos/matching.hpp"
#include "synth/tacos/ports.hpp"
#include "synth/tacos/relays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tutti {

namespace {

/// What to match on: the links alone (degree 0), or with what is between them unwound, or as it is.
struct Network {
  std::uint32_t degree = 0;
  bool ports = false;                ///< switches as they are; `unwound` gives the paths only
  std::optional<Unwound> unwound;    ///< none where the topology's links serve as they are
  std::optional<Collective> relayed; ///< with relays among those who want chunks, if it needs any
  [[nodiscard]] std::string name() const {
    if (ports) return "switch ports";
    return degree == 0 ? "" : fmt::format("switches unwound with degree {}", degree);
  }
};

class Planner {
public:
  Planner(const Topology& topology, const Collective& collective,
          std::span<const NodeId> participants, const SynthesisOptions& options,
          const PlanSettings& settings, const WorkLimit& limit)
      : topology_(topology), collective_(collective), participants_(participants),
        options_(options), settings_(settings), limit_(limit) {
    for (const Chunk& chunk : collective.chunks) size_ = std::max(size_, chunk.size);
    all_want_all_ = std::ranges::all_of(
        collective.parts, [](const auto& part) { return part.kind != CollectiveKind::custom; });
  }

  Planning run() {
    Planning planning;
    std::optional<Network> best;
    std::vector<Network> networks = networks_to_try();
    compares_ = networks.size() > 1 || settings_.starts > 1;
    for (Network& network : networks) {
      if (network.degree > 0 || !topology_.groups().empty())
        network.unwound = unwound(topology_, participants_, {network.degree}, size_, limit_);
      if (!join_participants(network)) continue;
      planning.connected = true;
      const std::string name = network.name();
      if (!attempts_on(network, 0, 1, planning)) return planning;
      if (!best || planning.plan->planned_on == name) best = std::move(network);
    }
    if (best && !planning.plan->at_bound) (void)attempts_on(*best, 1, settings_.starts, planning);
    return planning;
  }

private:
  [[nodiscard]] const Topology& graph(const Network& network) const {
    return network.unwound ? network.unwound->network : topology_;
  }

  /// Whether chunks can get to all who want them, with relays if need be.
  [[nodiscard]] bool join_participants(Network& network) const {
    if (all_want_all_) return strongly_connected(graph(network), participants_);
    const std::optional<Relays> relays = find_relays(graph(network), collective_, participants_);
    if (!relays) return false;
    if (!std::ranges::all_of(*relays, &std::vector<NodeId>::empty))
      network.relayed = with_relays(collective_, *relays);
    return true;
  }

  [[nodiscard]] const Collective& taken_on(const Network& network) const {
    return network.relayed ? *network.relayed : collective_;
  }

  [[nodiscard]] std::vector<Network> networks_to_try() const {
    const std::uint32_t highest = highest_degree(topology_, participants_);
    const bool asked = settings_.degree || settings_.ports;
    if (asked && highest == 0)
      throw InputError("degree is of switches, and none joins the participants");
    if (settings_.ports) return {{highest, true, {}, {}}};
    if (settings_.degree) {
      if (*settings_.degree > highest)
        throw InputError(
            fmt::format("degree {} is out of range (1 .. {})", *settings_.degree, highest));
      return {{*settings_.degree, false, {}, {}}};
    }
    if (highest == 0) return std::vector<Network>(1);
    std::vector<Network> networks;
    for (const std::uint32_t degree : degrees_by_promise(highest))
      networks.push_back({degree, false, {}, {}});
    networks.insert(ports_disjoint() ? networks.begin() : networks.begin() + 1,
                    Network{highest, true, {}, {}});
    networks.resize(affordable(networks));
    if (topology_.npu_count() > participants_.size()) // others may be no help to a process group
      networks.insert(networks.begin(), Network{});
    return networks;
  }

  /// What promises most first. For P ports on a switch and a chunk that takes D there, (P - 1) / d
  /// hops of latency alpha, and d * D for the last one to enter and again to leave a switch: best
  /// at d = sqrt((P - 1) * alpha / 2 D).
  [[nodiscard]] std::vector<std::uint32_t> degrees_by_promise(std::uint32_t highest) const {
    std::vector<std::uint32_t> degrees;
    for (std::uint32_t d = 1; d < highest; d *= 2) degrees.push_back(d);
    degrees.push_back(highest);
    const double ideal = ideal_degree(highest);
    std::ranges::stable_sort(degrees, {},
                             [&](std::uint32_t d) { return std::abs(std::log(d / ideal)); });
    return degrees;
  }

  /// Whether any two participants on a fabric are two links apart: nothing is shared but their own.
  [[nodiscard]] bool ports_disjoint() const {
    return topology_.groups().empty() &&
           std::ranges::none_of(topology_.links(), [&](const Link& link) {
             return link.from.value >= topology_.npu_count() &&
                    link.to.value >= topology_.npu_count();
           });
  }

  /// As many of them as a moment allows, at least one. Work grows with chunks * channels.
  [[nodiscard]] std::size_t affordable(const std::vector<Network>& networks) const {
    constexpr double moment = 5e6;
    const auto chunks = static_cast<double>(collective_.chunks.size());
    double work = 0;
    for (std::size_t i = 0; i < networks.size(); ++i) {
      const double neighbours = networks[i].ports ? networks[i].degree / 8.0 : networks[i].degree;
      work += chunks *
              (topology_.link_count() + static_cast<double>(participants_.size()) * neighbours);
      if (work > moment && i > 0) return i;
    }
    return networks.size();
  }

  [[nodiscard]] double ideal_degree(std::uint32_t highest) const {
    double latency = 0, sent = 1;
    for (const Link& link : topology_.links())
      if (link.to.value >= topology_.npu_count()) {
        latency = std::max(latency, 2.0 * static_cast<double>(link.latency.ps));
        sent = std::max(sent, static_cast<double>(serialization(size_, link.bandwidth).ps));
      }
    return std::clamp(std::sqrt(highest * latency / (2 * sent)), 1.0, static_cast<double>(highest));
  }

  /// Attempts first .. last-1, as many at once as there are threads; what is better replaces the
  /// plan so far. Ends early where one can't be beaten. False if the limit ended it.
  bool attempts_on(const Network& network, std::uint32_t first, std::uint32_t last,
                   Planning& planning) const {
    const unsigned threads = std::max(1U, options_.threads);
    for (std::uint32_t i = first; i < last;) {
      const std::uint32_t at_once = std::min(threads, last - i);
      std::vector<std::optional<TacosPlan>> plans(at_once);
      run_side_by_side(at_once, [&](unsigned k) {
        plans[k] = attempt(network, i + k, at_once == 1 ? threads : 1,
                           k == 0 ? limit_ : limit_.silent(), !planning.plan && k == 0);
      });
      i += at_once;
      for (std::optional<TacosPlan>& plan : plans) {
        if (!plan) {
          planning.timed_out = true;
          return false;
        }
        keep_better(planning.plan, std::move(*plan));
        if (planning.plan->at_bound) return true;
      }
    }
    return true;
  }

  /// Keeps the better plan, with the times of all attempts on its network.
  static void keep_better(std::optional<TacosPlan>& best, TacosPlan plan) {
    std::vector<Time> attempts;
    if (best && best->planned_on == plan.planned_on) attempts = best->attempts;
    attempts.push_back(plan.time);
    const bool same_network = !best || best->planned_on == plan.planned_on;
    const bool better = !best || plan.time < best->time;
    if (better) best = std::move(plan);
    if (better || same_network) best->attempts = std::move(attempts);
  }

  /// Nothing where the limit is reached first, but for the first plan of all, which needs no
  /// replay.
  [[nodiscard]] std::optional<TacosPlan> attempt(const Network& network, std::uint32_t start,
                                                 unsigned threads, const WorkLimit& limit,
                                                 bool is_first) const {
    const std::uint64_t seed = start == 0 ? 0 : Random(options_.seed + start).next() | 1;
    std::optional<TacosPlan> plan = network.ports ? match_ports(network, seed, limit)
                                                  : match_links(network, seed, threads, limit);
    if (plan) plan->planned_on = network.name();
    if (plan && network.relayed) drop_idle_relays(*plan);
    try {
      if (plan && network.unwound && compares_)
        plan->time =
            run_native(topology_, collective_, *plan->schedule, fifo(), {.watch = limit.watch()})
                .completion;
    } catch (const LimitReached&) { // which of several is fastest isn't known
      if (!is_first) plan.reset();
    }
    return plan;
  }

  void drop_idle_relays(TacosPlan& plan) const {
    plan.schedule = without_idle_relays(topology_, collective_, *plan.schedule);
    plan.at_bound = false; // relays might have done with less
  }

  [[nodiscard]] std::optional<TacosPlan> match_links(const Network& network, std::uint64_t seed,
                                                     unsigned threads,
                                                     const WorkLimit& limit) const {
    std::optional<Matches> matches = match_links_and_chunks(
        {.topology = graph(network),
         .collective = taken_on(network),
         .participants = participants_,
         .link_busy = options_.model.link_busy,
         .busy_latency = network.unwound ? network.unwound->busy_latency : std::span<const Time>{},
         .seed = seed,
         .candidates = settings_.candidates,
         .hurried = !all_want_all_,
         .threads = threads,
         .limit = limit,
         .compact_from = settings_.listed || network.unwound || network.relayed
                             ? MatchingProblem::never
                             : MatchingProblem::many});
    if (!matches) return std::nullopt;
    TacosPlan plan;
    plan.planned = plan.time = matches->makespan;
    plan.at_bound = !network.unwound && matches->makespan == matches->least;
    plan.schedule = std::move(matches->schedule);
    plan.compact = std::move(matches->compact);
    if (!network.unwound) return plan;
    plan.schedule = through_switches(*plan.schedule, *network.unwound, topology_);
    return plan;
  }

  [[nodiscard]] std::optional<TacosPlan> match_ports(const Network& network, std::uint64_t seed,
                                                     const WorkLimit& limit) const {
    std::optional<PortMatches> matches =
        match_at_ports({.topology = topology_,
                        .collective = taken_on(network),
                        .participants = participants_,
                        .link_busy = options_.model.link_busy,
                        .seed = seed,
                        .candidates = settings_.candidates.value_or(usual_candidates),
                        .limit = limit},
                       network.unwound->paths);
    if (!matches) return std::nullopt;
    TacosPlan plan;
    plan.planned = plan.time = matches->makespan;
    plan.schedule = std::move(matches->schedule);
    return plan;
  }

  [[nodiscard]] TimeModel fifo() const {
    TimeModel model = options_.model;
    model.discipline = Discipline::fifo;
    return model;
  }

  const Topology& topology_;
  const Collective& collective_;
  std::span<const NodeId> participants_;
  const SynthesisOptions& options_;
  const PlanSettings& settings_;
  const WorkLimit& limit_;
  Bytes size_;
  bool all_want_all_ = false;
  bool compares_ = false; // attempts on several networks, by replay
};

} // namespace

Planning plan(const Topology& topology, const Collective& collective,
              std::span<const NodeId> participants, const SynthesisOptions& options,
              const PlanSettings& settings, const WorkLimit& limit) {
  return Planner(topology, collective, participants, options, settings, limit).run();
}

} // namespace tutti
