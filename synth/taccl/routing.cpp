// TACCL's routing (Shah et al. 2023, sec. 5.1 step 1, appendix B.1) without a solver of integer
// programs in the way of large networks.
//
// A routing's time is the longest of its paths or the occupation of its busiest part, whichever is
// more (eq. 2 to 8). Idea: chunks are routed one after another at prices that grow steeply with
// what the others occupy (Aspnes et al. 1997, "On-line routing of virtual circuits"), each along a
// tree that grows from its source like Prim's and Dijkstra's at once, in no path longer than the
// best time so far. Among equally fast routings the policies decide (eq. 9 to 11): NPUs of a
// chunk's tree are attached to other ones, one at a time, while that opens connections (uc-max),
// closes them (uc-min), or levels links (minmax, maxmin), and costs less than a hundredth of the
// time: the small constant by which the paper weighs connections.
//
// Symmetric chunks have one tree between them; what is laid for one counts for all.
#include "synth/taccl/routing.hpp"

#include "sim/limit_watch.hpp"
#include "sim/random.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>

namespace tutti {

namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
constexpr unsigned most_passes = 60;
/// The steep rise of a price. A power of what a slow part would be occupied, in peaks of fast
/// ones, is no longer finite beyond some ten thousand; infinite prices compare as equal, and what
/// only they lead to would count as out of reach.
constexpr double dearest = 1e200;

/// How a chunk gets to NPUs.
struct Tree {
  std::vector<LinkId> into; ///< [NPU]: the link that brings the chunk; invalid where none does
};

class RoutingSearch {
public:
  RoutingSearch(const RoutingProblem& problem, const RoutingSymmetry& symmetry, UsableLinks& usable,
                std::uint64_t seed, const WorkLimit& limit)
      : logical_(*problem.logical), topology_(logical_.topology), collective_(*problem.collective),
        symmetry_(symmetry), costs_(problem), random_(seed), limit_(limit), watch_(limit),
        loads_(logical_.parts.size()), users_(topology_.link_count()) {
    for (const ChunkId chunk : symmetry.chosen) {
      watch_.require();
      usable_.push_back(usable.of(chunk));
    }
    trees_.resize(symmetry.chosen.size());
    for (Tree& tree : trees_) tree.into.resize(topology_.npu_count());
  }

  /// Until `at_least` is met, or passes no longer help, both within a thousandth. Only what is cut
  /// short by the limit may have no trees: false.
  bool run(std::int64_t at_least, unsigned passes) {
    const std::int64_t enough = at_least + at_least / thousand;
    std::vector<std::uint32_t> order;
    for (std::uint32_t k = 0; k < trees_.size(); ++k)
      if (!targets(k).empty()) order.push_back(k);
    // Rare ones first: what has few paths is placed before what can go around it.
    for (unsigned pass = 0; pass < passes && best_time_ > enough; ++pass) {
      doublings_ = std::min(6U, 1 + pass / 4);
      path_weight_ = path_weights[pass % path_weights.size()];
      depth_weight_ = pass % 2 == 0 ? 1.0 : 0.25;
      longest_ = pass < 2 || best_time_ == never ? never : best_time_;
      if (pass > 0) random_.shuffle(order);
      for (std::size_t i = 0; i < order.size(); ++i) {
        if (watch_.reached()) {
          restore_best();
          return best_time_ != never;
        }
        reroute(order[i]);
        if (i % 64 == 0) limit_.report(pass * order.size() + i, passes * order.size(), {});
      }
      keep_best();
      if (pass > best_pass_ + patience) break;
      if (best_time_ > last_best_ - last_best_ / thousand) continue;
      best_pass_ = pass;
      last_best_ = best_time_;
    }
    restore_best();
    return true;
  }

  /// What the policies prefer, for a hundredth of the time at most: routings at prices for
  /// opening, or for not opening, a connection, and of the best one single trees hung otherwise.
  void apply_policies() {
    if (!has_policy()) return;
    best_time_ += best_time_ / 100;
    longest_ = best_time_;
    best_preference_ = preference();
    doublings_ = 6;
    path_weight_ = 0.02;
    std::vector<std::uint32_t> order(trees_.size());
    std::iota(order.begin(), order.end(), 0U);
    for (unsigned pass = 0; pass < policy_passes && !watch_.reached(); ++pass) {
      connection_weight_ = pass % 2 == 0 ? 1 : 100;
      // Every other time from nothing, in chains: few connections that all share.
      makes_chains_ = pass % 4 < 2;
      depth_weight_ = makes_chains_ ? 0 : 1;
      if (makes_chains_) take_up_all();
      for (const std::uint32_t k : order)
        if (!targets(k).empty()) reroute(k);
      keep_preferred();
      random_.shuffle(order);
    }
    makes_chains_ = false;
    restore_best();
    for (bool again = true; again && !watch_.reached();) {
      again = close_connections();
      for (std::uint32_t k = 0; k < trees_.size(); ++k)
        for (std::uint32_t npu = 0; npu < topology_.npu_count(); ++npu)
          if (trees_[k].into[npu].valid()) again |= rehang(k, NodeId{npu});
    }
  }

  [[nodiscard]] std::vector<std::vector<LinkId>> trees() const {
    std::vector<std::vector<LinkId>> all(collective_.chunks.size());
    for (std::uint32_t k = 0; k < trees_.size(); ++k) {
      const std::vector<LinkId> links = in_order(k);
      for (std::size_t e = 0; e < symmetry_.links.size(); ++e)
        for (const LinkId link : links)
          all[symmetry_.images[k][e].value].push_back(symmetry_.links[e][link.value]);
    }
    return all;
  }

private:
  static constexpr unsigned patience = 16;
  static constexpr std::int64_t thousand = 1000;
  static constexpr std::array path_weights{0.02, 0.3, 0.002, 1.0};

  [[nodiscard]] Bytes size(std::uint32_t k) const { return costs_.size(symmetry_.chosen[k]); }
  [[nodiscard]] std::span<const NodeId> sources(std::uint32_t k) const {
    return collective_.sources(symmetry_.chosen[k]);
  }
  [[nodiscard]] std::vector<NodeId> targets(std::uint32_t k) const {
    std::vector<NodeId> missing;
    for (const NodeId npu : collective_.destinations(symmetry_.chosen[k]))
      if (!std::ranges::binary_search(sources(k), npu)) missing.push_back(npu);
    return missing;
  }

  /// Lays the link for all chunks of the orbit, or takes it up.
  void lay(LinkId link, Bytes size, std::int64_t sign) {
    for (const auto& images : symmetry_.links) {
      const LinkId image = images[link.value];
      std::int32_t& users = users_[image.value];
      if (users == 0) preference_ += logical_.connections[image.value].preference();
      users += static_cast<std::int32_t>(sign);
      if (users == 0) preference_ -= logical_.connections[image.value].preference();
      for (const std::uint32_t part : logical_.parts_of[image.value])
        loads_[part] += sign * costs_.busy(part, size);
    }
  }

  [[nodiscard]] std::int64_t peak() const { return *std::ranges::max_element(loads_); }

  /// In the order of arrival: links out of sources first.
  [[nodiscard]] std::vector<LinkId> in_order(std::uint32_t k) const {
    std::vector<std::vector<LinkId>> out(topology_.npu_count());
    for (const LinkId link : trees_[k].into)
      if (link.valid()) out[topology_.link(link).from.value].push_back(link);
    std::vector<LinkId> links;
    std::vector<NodeId> nodes(sources(k).begin(), sources(k).end());
    for (std::size_t i = 0; i < nodes.size(); ++i)
      for (const LinkId link : out[nodes[i].value]) {
        links.push_back(link);
        nodes.push_back(topology_.link(link).to);
      }
    return links;
  }

  [[nodiscard]] std::vector<std::int64_t> arrivals(std::uint32_t k) const {
    std::vector<std::int64_t> at(topology_.npu_count());
    for (const LinkId link : in_order(k))
      at[topology_.link(link).to.value] =
          at[topology_.link(link).from.value] + costs_.transfer(link, size(k));
    return at;
  }

  [[nodiscard]] double price(LinkId link, Bytes size) const {
    double price = 0;
    for (const std::uint32_t part : logical_.parts_of[link.value]) {
      const auto busy = static_cast<double>(costs_.busy(part, size));
      double load = (static_cast<double>(loads_[part]) + busy) * per_peak_;
      for (unsigned i = 0; i < doublings_; ++i) load = std::min(load * load, dearest);
      price += busy * load;
    }
    const auto transfer = static_cast<double>(costs_.transfer(link, size));
    return price + (path_weight_ + connection_weight_ * opening(link)) * transfer + 1;
  }

  /// 1 where the policy has something against the connection: a new one, or one in use.
  [[nodiscard]] double opening(LinkId link) const {
    switch (logical_.connections[link.value].policy) {
    case ConnectionPolicy::uc_min: return users_[link.value] == 0 ? 1 : 0;
    case ConnectionPolicy::uc_max: return users_[link.value] > 0 ? 1 : 0;
    case ConnectionPolicy::freeconn: break;
    }
    return 0;
  }

  /// Takes up the chunk's tree and lays the one that is cheapest now.
  void reroute(std::uint32_t k) {
    Tree& tree = trees_[k];
    const Tree before = tree;
    for (const LinkId link : tree.into)
      if (link.valid()) lay(link, size(k), -1);
    // Prices rise towards the present peak, or where the time is known, towards that.
    per_peak_ = 1.0 / static_cast<double>(
                          std::max<std::int64_t>(1, connection_weight_ > 0 ? best_time_ : peak()));
    if (grow(k)) return;
    // No tree within the longest path: that of before, or one of any length.
    for (const LinkId link : tree.into)
      if (link.valid()) lay(link, size(k), -1);
    tree = before;
    if (std::ranges::any_of(tree.into, [](LinkId link) { return link.valid(); })) {
      for (const LinkId link : tree.into)
        if (link.valid()) lay(link, size(k), 1);
    } else {
      const std::int64_t longest = std::exchange(longest_, never);
      const bool grown = grow(k);
      assert(grown); // all targets can be reached
      (void)grown;
      longest_ = longest;
    }
  }

  struct Label {
    double cost = std::numeric_limits<double>::infinity();
    std::int64_t arrival = 0;
    LinkId by;
    bool in_tree = false;
  };

  /// False where a target is out of reach; what was laid then stays for the caller to take up.
  bool grow(std::uint32_t k) {
    using Entry = std::pair<double, std::uint32_t>;
    Tree& tree = trees_[k];
    tree.into.assign(topology_.npu_count(), LinkId{});
    std::vector<Label> labels(topology_.npu_count());
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    std::vector<bool> is_target(topology_.npu_count());
    std::size_t left = 0;
    for (const NodeId target : targets(k)) is_target[target.value] = true, ++left;
    const auto enter = [&](std::uint32_t npu, double cost) {
      labels[npu].cost = cost;
      labels[npu].in_tree = true;
      queue.emplace(cost, npu);
    };
    for (const NodeId source : sources(k)) enter(source.value, 0);
    std::vector<LinkId> branch;
    while (left > 0 && !queue.empty()) {
      const auto [cost, npu] = queue.top();
      queue.pop();
      if (cost > labels[npu].cost) continue;
      if (is_target[npu] && !labels[npu].in_tree) {
        branch.clear();
        for (std::uint32_t at = npu; !labels[at].in_tree;) {
          branch.push_back(labels[at].by);
          at = topology_.link(labels[at].by).from.value;
        }
        for (std::size_t i = branch.size(); i-- > 0;) {
          const std::uint32_t at = topology_.link(branch[i]).to.value;
          tree.into[at] = branch[i];
          lay(branch[i], size(k), 1);
          if (is_target[at]) --left;
          is_target[at] = false;
          enter(at, depth_weight_ * path_weight_ * static_cast<double>(labels[at].arrival));
        }
        continue;
      }
      for (const LinkId link : topology_.out_links(NodeId{npu})) {
        const std::uint32_t to = topology_.link(link).to.value;
        if (!usable_[k][link.value] || labels[to].in_tree) continue;
        const std::int64_t arrival = labels[npu].arrival + costs_.transfer(link, size(k));
        const double there = labels[npu].cost + price(link, size(k));
        if (arrival > longest_ || there > labels[to].cost ||
            (there == labels[to].cost && (!makes_chains_ || there == labels[npu].cost)))
          continue;
        labels[to] = {there, arrival, link, false};
        queue.emplace(there, to);
      }
    }
    prune(k);
    return left == 0;
  }

  /// Takes up branches on which no target is left.
  void prune(std::uint32_t k) {
    Tree& tree = trees_[k];
    std::vector<bool> is_used(topology_.npu_count());
    for (const NodeId target : targets(k)) is_used[target.value] = true;
    const std::vector<LinkId> links = in_order(k);
    for (std::size_t i = links.size(); i-- > 0;) {
      const Link& link = topology_.link(links[i]);
      if (is_used[link.to.value]) {
        is_used[link.from.value] = true;
      } else {
        lay(links[i], size(k), -1);
        tree.into[link.to.value] = LinkId{};
      }
    }
  }

  [[nodiscard]] std::int64_t longest_path() const {
    std::int64_t longest = 0;
    for (std::uint32_t k = 0; k < trees_.size(); ++k)
      longest = std::max(longest, std::ranges::max(arrivals(k)));
    return longest;
  }

  void keep_best() {
    const std::int64_t time = std::max(peak(), longest_path());
    if (time > best_time_ || (time == best_time_ && total() >= best_total_)) return;
    best_time_ = time;
    best_total_ = total();
    best_ = trees_;
  }
  [[nodiscard]] double total() const {
    double sum = preference_weight * static_cast<double>(-preference());
    for (const std::int64_t load : loads_) sum += static_cast<double>(load);
    return sum;
  }
  void take_up_all() {
    for (std::uint32_t k = 0; k < trees_.size(); ++k)
      for (LinkId& link : trees_[k].into)
        if (link.valid()) lay(std::exchange(link, LinkId{}), size(k), -1);
  }
  void restore_best() {
    if (best_time_ == never) return;
    take_up_all();
    trees_ = best_;
    for (std::uint32_t k = 0; k < trees_.size(); ++k)
      for (const LinkId link : trees_[k].into)
        if (link.valid()) lay(link, size(k), 1);
  }

  // ---- policies ----

  static constexpr unsigned policy_passes = 8;

  [[nodiscard]] bool has_policy() const {
    return logical_.balance != LinkBalance::none ||
           std::ranges::any_of(logical_.connections, [](const Connection& connection) {
             return connection.policy != ConnectionPolicy::freeconn;
           });
  }

  void keep_preferred() {
    if (preference() <= best_preference_ || std::max(peak(), longest_path()) > best_time_) return;
    best_preference_ = preference();
    best_ = trees_;
  }

  static constexpr double preference_weight = 1e15;

  /// What the policies and the balance like: more is better. Cost: O(links) with a balance.
  [[nodiscard]] std::int64_t preference() const {
    if (logical_.balance == LinkBalance::none) return preference_;
    std::int64_t most = 0, least = never;
    for (std::uint32_t l = 0; l < users_.size(); ++l) {
      if (logical_.connections[l].between_machines) continue;
      std::int64_t load = 0;
      for (const std::uint32_t part : logical_.parts_of[l]) load = std::max(load, loads_[part]);
      most = std::max(most, load);
      least = std::min(least, load);
    }
    return preference_ + (logical_.balance == LinkBalance::minmax ? -most
                          : least == never                        ? 0
                                                                  : least) /
                             1000;
  }

  /// Whether some other link into the NPU suits the policies better, at no cost of time.
  bool rehang(std::uint32_t k, NodeId npu) {
    const LinkId old = trees_[k].into[npu.value];
    if (logical_.balance == LinkBalance::none && !is_preferred(old) &&
        std::ranges::none_of(topology_.in_links(npu),
                             [&](LinkId link) { return is_preferred(link); }))
      return false;
    const std::int64_t before = preference();
    const std::vector<std::int64_t> at = arrivals(k);
    const auto [below, last] = subtree(k, npu, at);
    for (const LinkId link : topology_.in_links(npu)) {
      const NodeId from = topology_.link(link).from;
      if (link == old || !usable_[k][link.value] || !has_chunk(k, from) || below[from.value])
        continue;
      const std::int64_t arrival = at[from.value] + costs_.transfer(link, size(k));
      if (arrival + last - at[npu.value] > best_time_) continue;
      hang(k, npu, link);
      if (preference() > before && fits(link)) return true;
      hang(k, npu, old);
    }
    return false;
  }
  /// For uc-min: hangs all that comes over a connection on others in use, one connection after
  /// another, those with the fewest users first. Whether some could be closed.
  bool close_connections() {
    std::vector<LinkId> used;
    for (std::uint32_t l = 0; l < users_.size(); ++l)
      if (users_[l] > 0 && logical_.connections[l].switched &&
          logical_.connections[l].policy == ConnectionPolicy::uc_min)
        used.push_back(LinkId{l});
    std::ranges::stable_sort(used, {}, [&](LinkId link) { return users_[link.value]; });
    bool closed = false;
    for (const LinkId link : used)
      if (users_[link.value] > 0 && !watch_.reached()) closed |= close(link);
    return closed;
  }

  bool close(LinkId link) {
    std::vector<bool> is_closing(topology_.link_count());
    for (const auto& images : symmetry_.links) is_closing[images[link.value].value] = true;
    struct Move {
      std::uint32_t k;
      NodeId npu;
      LinkId from;
    };
    std::vector<Move> moves;
    const std::int64_t before = preference();
    bool is_closed = true;
    for (std::uint32_t k = 0; is_closed && k < trees_.size(); ++k)
      for (std::uint32_t npu = 0; is_closed && npu < topology_.npu_count(); ++npu) {
        const LinkId old = trees_[k].into[npu];
        if (!old.valid() || !is_closing[old.value]) continue;
        const LinkId other = other_link(k, NodeId{npu}, is_closing);
        is_closed = other.valid();
        if (!is_closed) continue;
        hang(k, NodeId{npu}, other);
        moves.push_back({k, NodeId{npu}, old});
      }
    // Levelling links may want what closing connections doesn't: only what suits both stays.
    if (is_closed && preference() > before) return true;
    for (std::size_t i = moves.size(); i-- > 0;) hang(moves[i].k, moves[i].npu, moves[i].from);
    return false;
  }

  /// Whether nothing that the link and its images cross is occupied for longer than may be.
  [[nodiscard]] bool fits(LinkId link) const {
    return std::ranges::all_of(symmetry_.links, [&](const std::vector<LinkId>& images) {
      return std::ranges::all_of(logical_.parts_of[images[link.value].value],
                                 [&](std::uint32_t part) { return loads_[part] <= best_time_; });
    });
  }

  void hang(std::uint32_t k, NodeId npu, LinkId link) {
    lay(trees_[k].into[npu.value], size(k), -1);
    lay(link, size(k), 1);
    trees_[k].into[npu.value] = link;
  }

  /// Another link in use that can bring the chunk in time; of several that of the earliest arrival.
  [[nodiscard]] LinkId other_link(std::uint32_t k, NodeId npu,
                                  const std::vector<bool>& is_closing) {
    const std::vector<std::int64_t> at = arrivals(k);
    const auto [below, last] = subtree(k, npu, at);
    const LinkId old = trees_[k].into[npu.value];
    LinkId best;
    std::int64_t earliest = best_time_ - (last - at[npu.value]);
    for (const LinkId link : topology_.in_links(npu)) {
      const NodeId from = topology_.link(link).from;
      if (is_closing[link.value] || users_[link.value] == 0 || !usable_[k][link.value] ||
          !has_chunk(k, from) || below[from.value])
        continue;
      const std::int64_t arrival = at[from.value] + costs_.transfer(link, size(k));
      if (arrival > earliest || (best.valid() && arrival == earliest)) continue;
      hang(k, npu, link);
      if (fits(link)) best = link, earliest = arrival;
      hang(k, npu, old);
    }
    return best;
  }

  [[nodiscard]] bool has_chunk(std::uint32_t k, NodeId npu) const {
    return trees_[k].into[npu.value].valid() || std::ranges::binary_search(sources(k), npu);
  }

  /// The NPU and those that it brings the chunk to, and when the last of them has it.
  [[nodiscard]] std::pair<std::vector<bool>, std::int64_t>
  subtree(std::uint32_t k, NodeId npu, const std::vector<std::int64_t>& at) const {
    std::vector<bool> below(topology_.npu_count());
    below[npu.value] = true;
    std::int64_t last = at[npu.value];
    for (const LinkId link : in_order(k))
      if (below[topology_.link(link).from.value]) {
        below[topology_.link(link).to.value] = true;
        last = std::max(last, at[topology_.link(link).to.value]);
      }
    return {std::move(below), last};
  }

  [[nodiscard]] bool is_preferred(LinkId link) const {
    return logical_.connections[link.value].preference() != 0;
  }

  const LogicalTopology& logical_;
  const Topology& topology_;
  const Collective& collective_;
  const RoutingSymmetry& symmetry_;
  RoutingCosts costs_;
  Random random_;
  const WorkLimit& limit_;
  LimitWatch watch_;
  std::vector<std::vector<bool>> usable_; ///< [index into chosen][link]
  std::vector<std::int64_t> loads_;       ///< [part]: ps
  std::vector<std::int32_t> users_;       ///< [link]: chunks
  std::vector<Tree> trees_, best_;        ///< [index into chosen]
  std::int64_t best_time_ = never, last_best_ = never, longest_ = never;
  double best_total_ = 0, connection_weight_ = 0;
  std::int64_t best_preference_ = 0;
  std::int64_t preference_ = 0; ///< connections in use: wanted ones less unwanted ones
  bool makes_chains_ = false;   ///< of equally cheap links the one from the NPU that joined last
  unsigned best_pass_ = 0, doublings_ = 1;
  double path_weight_ = 0, depth_weight_ = 1, per_peak_ = 1;
};

/// What the first chunk that can't get everywhere doesn't reach, in words; empty where all can.
std::string unreachable_text(const RoutingProblem& problem, UsableLinks& usable,
                             const WorkLimit& limit) {
  LimitWatch watch(limit);
  for (std::uint32_t c = 0; c < problem.collective->chunks.size(); ++c) {
    watch.require();
    const std::vector<NodeId> missing = usable.unreachable(ChunkId{c});
    if (missing.empty()) continue;
    const Topology& topology = problem.logical->topology;
    std::vector<std::string> names;
    for (const NodeId npu : missing) names.push_back(topology.node(npu).name);
    return fmt::format("under the sketch nothing gets from {} to {}",
                       topology.node(problem.collective->sources(ChunkId{c}).front()).name,
                       few_of(names));
  }
  return {};
}

} // namespace

Routes evaluated(const RoutingProblem& problem, std::vector<std::vector<LinkId>> trees) {
  const LogicalTopology& logical = *problem.logical;
  const RoutingCosts costs(problem);
  std::vector<std::int64_t> loads(logical.parts.size());
  std::vector<std::int64_t> arrivals(logical.topology.npu_count());
  std::vector<bool> is_used(logical.topology.link_count());
  std::int64_t longest = 0;
  for (std::uint32_t c = 0; c < trees.size(); ++c) {
    const Bytes size = costs.size(ChunkId{c});
    for (const NodeId source : problem.collective->sources(ChunkId{c})) arrivals[source.value] = 0;
    for (const LinkId link : trees[c]) {
      const Link& on = logical.topology.link(link);
      arrivals[on.to.value] = arrivals[on.from.value] + costs.transfer(link, size);
      longest = std::max(longest, arrivals[on.to.value]);
      for (const std::uint32_t part : logical.parts_of[link.value])
        longest = std::max(longest, loads[part] += costs.busy(part, size));
      is_used[link.value] = true;
    }
  }
  Routes routes{.trees = std::move(trees), .time = Time{longest}, .at_least = {}, .method = {}};
  for (std::uint32_t l = 0; l < is_used.size(); ++l)
    if (is_used[l] && logical.connections[l].switched) ++routes.connections;
  return routes;
}

RoutingOutcome route(const RoutingProblem& problem, const RoutingSymmetry& symmetry,
                     std::uint64_t seed, const WorkLimit& limit) {
  UsableLinks usable(problem);
  if (std::string why_not = unreachable_text(problem, usable, limit); !why_not.empty())
    return {{}, std::move(why_not)};
  const Time at_least = routing_bound(problem, usable);
  limit.require();
  RoutingSearch search(problem, symmetry, usable, seed, limit);
  if (!search.run(at_least.ps, most_passes)) return {};
  search.apply_policies();
  Routes routes = evaluated(problem, search.trees());
  routes.at_least = std::min(at_least, routes.time);
  routes.method = "rerouting";
  improve_by_program(problem, symmetry, usable, routes, limit);
  return {std::move(routes), {}};
}

RoutingOutcome route_hastily(const RoutingProblem& problem, const RoutingSymmetry& symmetry) {
  const WorkLimit none;
  UsableLinks usable(problem);
  if (std::string why_not = unreachable_text(problem, usable, none); !why_not.empty())
    return {{}, std::move(why_not)};
  RoutingSearch search(problem, symmetry, usable, 0, none);
  search.run(0, 1);
  Routes routes = evaluated(problem, search.trees());
  routes.at_least = std::min(routing_bound(problem, usable), routes.time);
  routes.method = "first paths";
  return {std::move(routes), {}};
}

} // namespace tutti
