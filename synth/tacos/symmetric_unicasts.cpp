// Why: an All-to-All of n NPUs has n^2 chunks, and planned one by one they take seconds for 1,000
// NPUs and too much memory for 4,000. Idea: where a group takes each NPU to any other of its orbit,
// and fixes none, a plan for the chunks of one NPU of each orbit is a plan for all: every element
// of the group does it elsewhere at the same time. What is routed over a link then loads all links
// of its orbit alike (LinkLoads), and when each chunk goes is a job shop whose machines are these
// orbits: a link carries one image of each job that crosses its orbit, at the same time as all
// others of the orbit carry another. List scheduling decides it, the job with the longest path
// still to go first (Hu 1961), and other orders with some precedence of whole jobs at random
// (Leighton, Maggs, Rao 1994); so small a problem is solved dozens of times in some 0.1 s. A replay
// on the network keeps each link's order, and takes as long as the job shop says.

#include "synth/tacos/symmetric_unicasts.hpp"

#include "sim/engines/in_order.hpp"
#include "sim/random.hpp"
#include "sim/units.hpp"
#include "synth/symmetry/network_symmetry.hpp"
#include "synth/tacos/route_balancing.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <queue>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace tutti {

namespace {

/// What the first NPUs of all orbits send.
struct Representatives {
  Collective collective;            ///< chunk j: job j
  std::vector<ChunkId> chunks;      ///< [job]: of the whole
  std::vector<std::uint32_t> ranks; ///< [node]: in the group, or no_index
};

Representatives representatives(const Topology& topology, const Collective& whole,
                                const NetworkSymmetry& symmetry) {
  const CollectivePart& part = whole.parts.front();
  const auto members = static_cast<std::uint32_t>(part.group.size());
  Representatives made;
  made.ranks.assign(topology.node_count(), no_index);
  for (std::uint32_t r = 0; r < members; ++r) made.ranks[part.group[r].value] = r;
  for (std::uint32_t n = 0; n < topology.node_count(); ++n)
    made.collective.sets.push_back({NodeId{n}});
  const Bytes size = whole.largest_chunk();
  for (const NodeId from : part.group) {
    if (symmetry.first[from.value] != from) continue;
    // Those for the next ranks first: ties of urgency are broken so.
    const std::uint32_t rank = made.ranks[from.value];
    for (std::uint32_t turn = 1; turn < members; ++turn) {
      const std::uint32_t to = (rank + turn) % members;
      for (std::uint32_t k = 0; k < part.chunks_per_shard; ++k) {
        made.chunks.emplace_back(
            static_cast<std::uint32_t>((std::size_t{rank} * members + to) * part.chunks_per_shard) +
            k);
        made.collective.chunks.push_back({size, from.value, part.group[to].value, false});
      }
    }
  }
  CollectivePart& all = made.collective.parts.emplace_back();
  all.group = part.group;
  all.chunk_count = static_cast<std::uint32_t>(made.chunks.size());
  return made;
}

/// Hops of all jobs, job by job, each on the machine that is its link's orbit.
struct Shop {
  struct Machine {
    std::int64_t busy = 0, arrival = 0; ///< after a start: until it is free; until it is delivered
  };
  std::vector<Machine> machines;
  std::vector<std::uint32_t> job_begin; ///< [job]: its first hop
  std::vector<LinkId> links;            ///< [hop]
  std::vector<std::uint32_t> on;        ///< [hop]: machine

  [[nodiscard]] std::size_t jobs() const { return job_begin.size() - 1; }
};

Shop shop_of(const Topology& topology, const NetworkSymmetry& symmetry, const ChunkRoutes& routes,
             Bytes size, std::size_t jobs, const TimeModel& model) {
  Shop shop;
  for (std::uint32_t l = 0; l < topology.link_count(); ++l) {
    const Link& link = topology.link(LinkId{l});
    const std::int64_t sent = serialization(size, link.bandwidth).ps;
    const bool occupies = model.link_busy == LinkBusy::latency_and_serialization;
    shop.machines.push_back({sent + (occupies ? link.latency.ps : 0), sent + link.latency.ps});
  }
  for (std::uint32_t j = 0; j < jobs; ++j) {
    shop.job_begin.push_back(static_cast<std::uint32_t>(shop.links.size()));
    for (const LinkId link : routes.links(ChunkId{j})) {
      shop.links.push_back(link);
      shop.on.push_back(symmetry.orbit[link.value]);
    }
  }
  shop.job_begin.push_back(static_cast<std::uint32_t>(shop.links.size()));
  return shop;
}

/// When each hop starts.
struct Order {
  std::vector<std::int64_t> starts; ///< [hop], ps
  std::int64_t makespan = 0;
};

/// How long each hop and those after it take, if they never wait.
std::vector<std::int64_t> tails_of(const Shop& shop) {
  std::vector<std::int64_t> tails(shop.links.size());
  for (std::size_t j = 0; j < shop.jobs(); ++j)
    for (std::uint32_t hop = shop.job_begin[j + 1], after = hop; hop-- > shop.job_begin[j];
         after = hop)
      tails[hop] =
          shop.machines[shop.on[hop]].arrival + (after < shop.job_begin[j + 1] ? tails[after] : 0);
  return tails;
}

/// Each machine takes what is most urgent of what waits for it.
Order list_scheduled_shop(const Shop& shop, const std::vector<std::int64_t>& urgency) {
  using Waiting = std::pair<std::int64_t, std::uint32_t>; // less urgent last, then hop
  std::vector<std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>>> queues(
      shop.machines.size());
  constexpr std::uint32_t idle = no_index;
  std::vector<std::int64_t> free_at(shop.machines.size());
  // Time; machine, idle where the hop comes; hop that comes.
  using Event = std::tuple<std::int64_t, std::uint32_t, std::uint32_t>;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  Order order{std::vector<std::int64_t>(shop.links.size()), 0};
  std::vector<bool> is_last(shop.links.size());
  std::vector<std::uint32_t> touched;
  const auto wait = [&](std::uint32_t hop) {
    queues[shop.on[hop]].emplace(-urgency[hop], hop);
    touched.push_back(shop.on[hop]);
  };
  for (std::size_t j = 0; j < shop.jobs(); ++j) {
    if (shop.job_begin[j] == shop.job_begin[j + 1]) continue;
    is_last[shop.job_begin[j + 1] - 1] = true;
    wait(shop.job_begin[j]);
  }
  for (std::int64_t now = 0;;) {
    for (const std::uint32_t machine : touched) {
      if (queues[machine].empty() || free_at[machine] > now) continue;
      const std::uint32_t hop = queues[machine].top().second;
      queues[machine].pop();
      order.starts[hop] = now;
      free_at[machine] = now + shop.machines[machine].busy;
      const std::int64_t there = now + shop.machines[machine].arrival;
      events.emplace(free_at[machine], machine, 0);
      if (is_last[hop])
        order.makespan = std::max(order.makespan, there);
      else
        events.emplace(there, idle, hop + 1);
    }
    touched.clear();
    if (events.empty()) return order;
    for (now = std::get<0>(events.top()); !events.empty() && std::get<0>(events.top()) == now;
         events.pop()) {
      const auto [ignored, machine, hop] = events.top();
      if (machine == idle)
        wait(hop);
      else
        touched.push_back(machine);
    }
  }
}

class SymmetricPlanner {
public:
  SymmetricPlanner(const Topology& topology, const Collective& collective,
                   const SynthesisOptions& options, const WorkLimit& limit,
                   const NetworkSymmetry& symmetry)
      : topology_(topology), collective_(collective), options_(options), limit_(limit),
        symmetry_(symmetry), jobs_(representatives(topology, collective, symmetry)) {}

  /// Errors: LimitReached before there is a plan.
  std::optional<SymmetricPlan> best() {
    constexpr std::uint64_t enough = 12'000'000; // links looked at, about a second
    constexpr std::array paths{0.3, 1.0, 0.05};
    std::uint64_t work = 0, last = 0;
    for (unsigned attempt = 0; attempt < paths.size() && !is_at_load_; ++attempt) {
      if (attempt > 0 && (work + last > enough || limit_.reached())) break;
      RouteBalancing balancing;
      balancing.seed = options_.seed + attempt;
      balancing.path = paths[attempt];
      const std::optional<BalancedRoutes> balanced = balanced_routes(
          topology_, jobs_.collective, options_.model, balancing, limit_, symmetry_.orbit);
      if (!balanced) break;
      last = balanced->work + ordered(balanced->routes);
      work += last;
    }
    if (!best_) return std::nullopt;
    return made();
  }

private:
  /// Tries orders; what that cost, in links looked at.
  std::uint64_t ordered(const ChunkRoutes& routes) {
    constexpr std::uint64_t most_hops = 600'000, links_per_hop = 8;
    constexpr unsigned most_orders = 16;
    Shop shop = shop_of(topology_, symmetry_, routes, collective_.largest_chunk(),
                        jobs_.chunks.size(), options_.model);
    const std::vector<std::int64_t> tails = tails_of(shop);
    std::vector<std::int64_t> load(shop.machines.size());
    std::int64_t most = 0, longest = 0;
    for (std::size_t hop = 0; hop < shop.on.size(); ++hop) {
      std::int64_t& its = load[shop.on[hop]] += shop.machines[shop.on[hop]].busy;
      most = std::max(most, its);
      longest = std::max(longest, tails[hop]);
    }
    Random random(shop.on.size());
    std::uint64_t hops = 0;
    for (unsigned o = 0; o < most_orders && (o == 0 || hops + shop.on.size() <= most_hops); ++o) {
      if (o > 0 && limit_.reached()) break;
      std::vector<std::int64_t> urgency = tails;
      for (std::size_t j = 0; o > 0 && j < shop.jobs(); ++j) {
        const auto extra = static_cast<std::int64_t>(
            random.below(static_cast<std::uint64_t>(longest) / 10 * 7 + 1));
        for (std::uint32_t hop = shop.job_begin[j]; hop < shop.job_begin[j + 1]; ++hop)
          urgency[hop] += extra;
      }
      Order order = list_scheduled_shop(shop, urgency);
      hops += shop.on.size();
      ++orders_;
      if (best_ && order.makespan >= best_->makespan) continue;
      best_ = std::move(order);
      best_shop_ = shop;
      // No order of these routes is faster by 0.2 %.
      is_at_load_ = best_->makespan <= most + most / 500;
      if (is_at_load_) break;
    }
    return hops * links_per_hop;
  }

  [[nodiscard]] SymmetricPlan made() const {
    SymmetricPlan plan;
    plan.makespan = Time{best_->makespan};
    plan.symmetry = symmetry_.elements.size();
    plan.transfers = best_shop_.links.size() * symmetry_.elements.size();
    plan.orders = orders_;
    if (plan.transfers < SymmetricPlan::compact_from)
      plan.schedule = listed();
    else
      plan.compact = by_links();
    return plan;
  }

  /// Hops by start, those of one time by hop.
  [[nodiscard]] std::vector<std::uint32_t> hops_in_order() const {
    std::vector<std::uint32_t> hops(best_shop_.links.size());
    for (std::uint32_t hop = 0; hop < hops.size(); ++hop) hops[hop] = hop;
    std::ranges::stable_sort(hops, {}, [&](std::uint32_t hop) { return best_->starts[hop]; });
    return hops;
  }
  [[nodiscard]] std::vector<std::uint32_t> job_of_hop() const {
    std::vector<std::uint32_t> job(best_shop_.links.size());
    for (std::uint32_t j = 0; j < best_shop_.jobs(); ++j)
      for (std::uint32_t hop = best_shop_.job_begin[j]; hop < best_shop_.job_begin[j + 1]; ++hop)
        job[hop] = j;
    return job;
  }

  /// The job's chunk under an element.
  [[nodiscard]] ChunkId image(std::uint32_t job, const Permutation& element) const {
    const CollectivePart& part = collective_.parts.front();
    const Chunk& chunk = jobs_.collective.chunks[job];
    const std::size_t from = jobs_.ranks[element[chunk.sources]],
                      to = jobs_.ranks[element[chunk.destinations]];
    return ChunkId{
        static_cast<std::uint32_t>((from * part.group.size() + to) * part.chunks_per_shard) +
        jobs_.chunks[job].value % part.chunks_per_shard};
  }

  [[nodiscard]] Schedule listed() const {
    Schedule schedule(topology_.link_count());
    schedule.reserve(best_shop_.links.size() * symmetry_.elements.size());
    const std::vector<std::uint32_t> job = job_of_hop();
    for (const std::uint32_t hop : hops_in_order())
      for (const Permutation& element : symmetry_.elements)
        schedule.push(image(job[hop], element),
                      symmetry_.image(topology_, best_shop_.links[hop], element), Op::copy);
    return schedule;
  }

  [[nodiscard]] CompactSchedule by_links() const {
    CompactSchedule compact(topology_.link_count(), collective_.chunks.size());
    ChunkLists& lists = compact.copies;
    std::vector<std::size_t> count(topology_.link_count()); // [orbit]
    for (const std::uint32_t machine : best_shop_.on) ++count[machine];
    std::size_t end = 0;
    for (std::uint32_t l = 0; l < topology_.link_count(); ++l) {
      lists.begin[l] = end;
      lists.end[l] = end += count[symmetry_.orbit[l]];
    }
    const std::vector<std::uint32_t> job = job_of_hop(), hops = hops_in_order();
    std::visit(
        [&](auto& chunks) {
          using Number = std::remove_reference_t<decltype(chunks[0])>;
          chunks.resize(end);
          for (const Permutation& element : symmetry_.elements) {
            std::ranges::fill(count, 0);
            for (const std::uint32_t hop : hops) {
              const LinkId link = symmetry_.image(topology_, best_shop_.links[hop], element);
              chunks[lists.begin[link.value] + count[best_shop_.on[hop]]++] =
                  static_cast<Number>(image(job[hop], element).value);
            }
          }
        },
        lists.chunks);
    return compact;
  }

  const Topology& topology_;
  const Collective& collective_;
  const SynthesisOptions& options_;
  const WorkLimit& limit_;
  const NetworkSymmetry& symmetry_;
  Representatives jobs_;
  std::optional<Order> best_;
  Shop best_shop_;
  std::uint64_t orders_ = 0;
  bool is_at_load_ = false;
};

} // namespace

std::optional<SymmetricPlan> symmetric_unicasts(const Topology& topology,
                                                const Collective& collective,
                                                const SynthesisOptions& options,
                                                const WorkLimit& limit) {
  if (collective.parts.size() != 1 || collective.parts.front().kind != CollectiveKind::all_to_all ||
      !links_are_independent(topology) ||
      !std::ranges::all_of(topology.nodes(), [](const Node& node) { return node.can.copy; }))
    return std::nullopt;
  std::vector<std::uint32_t> marks(topology.node_count());
  for (const NodeId member : collective.parts.front().group) marks[member.value] = 1;
  try {
    const NetworkSymmetry symmetry = network_symmetry(topology, marks, limit);
    if (symmetry.elements.size() < 2) return std::nullopt;
    return SymmetricPlanner(topology, collective, options, limit, symmetry).best();
  } catch (const LimitReached&) {
    return std::nullopt;
  }
}

} // namespace tutti
