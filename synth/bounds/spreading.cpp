// For each cut the targets behind it and their distances from every entry are searched inside the
// set; times by which credits or ports suffice are found by bisection, as in capacity.cpp. Large
// sets use a sample of their targets and give up searches beyond a number of visits: every subset
// is still a bound.

#include "synth/bounds/spreading.hpp"

#include "synth/bounds/capacity.hpp"
#include "synth/bounds/least_times.hpp"
#include "synth/bounds/link_capacity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <utility>

namespace tutti::bounds {

namespace {

constexpr std::size_t most_targets = 64;
constexpr std::size_t visits_per_set = 400'000; ///< of nodes and links, in all searches
constexpr std::size_t visits_in_all = 4'000'000;

/// What spreads inside sets: the problem, or, on the reversed topology, its chunks that reduce.
struct View {
  const Topology& topology;
  const TimeModel& model;
  const std::vector<std::vector<NodeId>>& sets;
  std::vector<ChunkClass> classes; ///< those with two targets (`destinations`) or more
  Margins margins;
  Holding holding;
};

View plain_view(const Problem& problem) {
  View view{problem.topology, problem.model,          problem.collective.sets, {},
            problem.margins,  Holding::before_latency};
  for (const ChunkClass& c : problem.classes)
    if (!c.by_pairs && view.sets[c.destinations].size() > 1) view.classes.push_back(c);
  return view;
}

View inverted_view(const Problem& problem, const Topology& reversed_network) {
  View view{reversed_network,
            problem.model,
            problem.collective.sets,
            {},
            {problem.margins.exit, problem.margins.entry},
            Holding::after_latency};
  for (ChunkClass c : problem.classes) {
    if (!c.reduces || view.sets[c.sources].size() < 2) continue;
    std::swap(c.sources, c.destinations);
    view.classes.push_back(c);
  }
  return view;
}

/// Chunks that must enter a set, by who wants them there.
struct Entering {
  std::vector<std::vector<NodeId>> targets; ///< [set of nodes]: those inside; two or more, or none
  std::vector<Demand> demands;              ///< [set of nodes]: what enters for these

  /// The demand of all chunks that each of these targets wants.
  [[nodiscard]] Demand demand_of(std::span<const NodeId> destinations) const {
    Demand demand;
    for (std::size_t s = 0; s < demands.size(); ++s)
      if (demands[s].chunks > 0 && std::ranges::includes(targets[s], destinations))
        demand.add(demands[s]);
    return demand;
  }
  /// The targets of the set of nodes with the most bytes; none where nothing enters.
  [[nodiscard]] std::vector<NodeId> most_wanted() const {
    const auto most = std::ranges::max_element(demands, {}, &Demand::bytes);
    if (most == demands.end() || most->chunks == 0) return {};
    return targets[static_cast<std::size_t>(most - demands.begin())];
  }
};

Entering entering(const View& view, const NodeSet& inside) {
  const std::size_t n = view.sets.size();
  std::vector<bool> some_inside(n), some_outside(n);
  Entering result{std::vector<std::vector<NodeId>>(n), std::vector<Demand>(n)};
  std::vector<bool> used(n), is_target(n);
  for (const ChunkClass& c : view.classes) {
    used[c.sources] = used[c.destinations] = true;
    is_target[c.destinations] = true;
  }
  for (std::size_t s = 0; s < n; ++s) {
    if (!used[s]) continue;
    for (const NodeId node : view.sets[s]) {
      (inside[node.value] ? some_inside : some_outside)[s] = true;
      if (is_target[s] && inside[node.value]) result.targets[s].push_back(node);
    }
  }
  for (const ChunkClass& c : view.classes)
    if (some_outside[c.sources] && (c.reduces || !some_inside[c.sources]) &&
        result.targets[c.destinations].size() > 1)
      result.demands[c.destinations].add(c);
  return result;
}

/// What a set adds to its cut.
class Spreading {
public:
  /// Pre: something enters.
  Spreading(const View& view, const NodeSet& inside, const Entering& entering)
      : view_(view), entering_(entering), targets_(entering.most_wanted()), inside_(inside),
        away_(view.topology, view.model, Direction::to_sources), is_entry_(inside.size()) {
    for (std::uint32_t l = 0; l < view.topology.link_count(); ++l) {
      const Link& link = view.topology.link(LinkId{l});
      if (inside[link.to.value]) ++visits_;
      if (inside[link.from.value] || !inside[link.to.value]) continue;
      across_.emplace_back(l);
      is_entry_[link.to.value] = true;
    }
    for (std::uint32_t v = 0; v < is_entry_.size(); ++v)
      if (is_entry_[v]) entries_.emplace_back(v);
    away_.stay_inside(inside);
  }

  [[nodiscard]] std::span<const LinkId> across() const { return across_; }
  /// Nodes and links seen so far.
  [[nodiscard]] std::size_t visits() const { return visits_; }

  [[nodiscard]] std::span<const NodeId> targets() const { return targets_; }

  struct Credits {
    std::int64_t time = 0;
    Demand demand;
    std::vector<NodeId> targets;
    std::vector<Certificate::Credit> each;
  };
  [[nodiscard]] Credits by_credits();
  struct Port {
    std::int64_t time = 0;
    Demand demand;
    std::int64_t from = 0;   ///< ps
    std::int64_t chunks = 0; ///< the last ones, which cross no earlier than that
    NodeId node;             ///< to which they must get
  };
  [[nodiscard]] Port by_ports();

private:
  [[nodiscard]] std::int64_t earned(std::span<const Certificate::Credit> credits,
                                    const Demand& demand, std::int64_t needed) const;
  [[nodiscard]] std::vector<UsableLink> crossings(std::size_t rank) const;
  [[nodiscard]] std::int64_t step(LinkId link, Bytes size) const;

  const View& view_;
  const Entering& entering_;
  std::vector<NodeId> targets_;
  const NodeSet& inside_;
  LeastTimes away_;
  std::vector<LinkId> across_;
  std::vector<bool> is_entry_; // [node]
  std::vector<NodeId> entries_;
  std::vector<std::vector<std::int64_t>> reach_; // [entry node]: ps to each target, ascending
  std::size_t visits_ = 1;
};

/// `rank` from 1: those that arrive in time for as many targets; 0: those that arrive.
std::vector<UsableLink> Spreading::crossings(std::size_t rank) const {
  std::vector<UsableLink> links;
  for (const LinkId id : across_) {
    const Link& link = view_.topology.link(id);
    links.push_back({id, view_.margins.entry[link.from.value],
                     rank == 0 ? 0 : reach_[link.to.value][rank - 1]});
  }
  return links;
}

std::int64_t Spreading::earned(std::span<const Certificate::Credit> credits, const Demand& demand,
                               std::int64_t needed) const {
  std::vector<Capacity> capacities;
  for (const Certificate::Credit& credit : credits)
    capacities.emplace_back(view_.topology, view_.model, crossings(credit.targets), demand,
                            view_.holding);
  std::int64_t latest = 0;
  for (const Measure measure : {Measure::chunks, Measure::bytes}) {
    if (measure == Measure::chunks && demand.smallest == Bytes{0}) continue;
    const int128 goal =
        needed * (measure == Measure::chunks ? int128{demand.chunks} : demand.bytes * ps_per_s);
    latest = std::max(latest, first_time([&](std::int64_t time) {
                        int128 sum = 0;
                        for (std::size_t i = 0; i < credits.size() && sum < goal; ++i)
                          sum += credits[i].more * capacities[i].by(time, measure, goal);
                        return sum >= goal;
                      }));
  }
  return latest;
}

Spreading::Credits Spreading::by_credits() {
  std::vector<NodeId> targets; // any of them will do
  const std::size_t count =
      std::min({targets_.size(), most_targets, std::max<std::size_t>(2, visits_per_set / visits_)});
  for (std::size_t i = 0; i < count; ++i)
    targets.push_back(targets_[i * (targets_.size() - 1) / (count - 1)]);
  visits_ *= count;
  const Demand demand = entering_.demand_of(targets);
  away_.set_size(demand.smallest);
  reach_.resize(inside_.size());
  for (const NodeId target : targets) {
    away_.search(std::span(&target, 1));
    for (const NodeId entry : entries_) reach_[entry.value].push_back(away_.pass(entry));
  }
  for (const NodeId entry : entries_)
    std::sort(reach_[entry.value].begin(), reach_[entry.value].end());

  const auto all = static_cast<std::uint32_t>(count);
  std::vector<Certificate::Credit> one_or_two{{1, 1}, {all, 1}}, shares;
  constexpr std::uint32_t parts = 8;
  for (std::uint32_t i = 0, done = 0; i < parts; ++i) {
    const std::uint32_t next = (i + 1) * all / parts;
    if (next > done) shares.push_back({done + 1, next - done});
    done = next;
  }
  const std::int64_t by_two = earned(one_or_two, demand, 2),
                     by_shares = earned(shares, demand, all);
  return by_two >= by_shares ? Credits{by_two, demand, std::move(targets), std::move(one_or_two)}
                             : Credits{by_shares, demand, std::move(targets), std::move(shares)};
}

/// From the start of one chunk of this size to the next on this link, in ps.
std::int64_t Spreading::step(LinkId link, Bytes size) const {
  const std::int64_t sent = serialization(size, view_.topology.effective_bandwidth(link)).ps;
  return view_.model.link_busy == LinkBusy::serialization
             ? sent
             : sent + view_.topology.link(link).latency.ps;
}

Spreading::Port Spreading::by_ports() {
  constexpr int most_times = 8;
  constexpr std::size_t most_nodes = 16, most_links = 4096;
  Port worst;
  const Demand demand = entering_.demand_of(targets_);
  if (demand.smallest == Bytes{0}) return worst; // which counts chunks
  if (!std::all_of(entries_.begin(), entries_.end(),
                   [&](NodeId entry) { return away_.must_be_complete_at(entry); }))
    return worst;

  struct Late {
    std::int64_t from = 0;   ///< ps
    std::int64_t chunks = 0; ///< that can't have arrived before
  };
  std::vector<Late> late;
  const Capacity arrived(view_.topology, view_.model, crossings(0), demand, view_.holding);
  for (std::int64_t k = demand.chunks; k > 0 && late.size() < most_times;) {
    const std::int64_t from =
        first_time([&](std::int64_t time) { return arrived.by(time, Measure::chunks, k) == k; });
    k = static_cast<std::int64_t>(arrived.by(from - 1, Measure::chunks, k));
    late.push_back({from, demand.chunks - k});
  }

  LeastTimes inwards(view_.topology, view_.model, Direction::from_sources);
  inwards.stay_inside(inside_);
  inwards.set_size(demand.smallest);
  inwards.search(entries_);
  std::size_t links = 0;
  for (std::size_t i = 0; i < targets_.size() && i < most_nodes && links < most_links; ++i) {
    const NodeId node = targets_[i];
    std::vector<LinkId> direct;
    std::vector<UsableLink> from_inside;
    for (const LinkId id : view_.topology.in_links(node)) {
      const NodeId from = view_.topology.link(id).from;
      if (inside_[from.value])
        from_inside.push_back({id, inwards.pass(from), 0});
      else
        direct.push_back(id);
      ++links;
    }
    const Capacity port(view_.topology, view_.model, from_inside, demand, view_.holding);
    for (const auto& [from, chunks] : late) {
      const auto enough = [&, chunks = chunks](std::int64_t time) {
        int128 sum = port.by(time, Measure::chunks, chunks);
        for (const LinkId id : direct) sum += time / step(id, demand.smallest) + 1;
        return sum >= chunks;
      };
      const std::int64_t time = from + (enough(0) ? 0 : first_time(enough));
      if (time > worst.time) worst = {time, demand, from, chunks, node};
    }
  }
  return worst;
}

/// The best of one view; keeps it if it is better.
void consider(const Problem& problem, const View& view, const NodeSet& inside, bool gathers,
              std::size_t& visits, std::optional<Bound>& best) {
  if (view.classes.empty()) return;
  const Entering all = entering(view, inside);
  if (all.most_wanted().empty()) return;
  Spreading spreading(view, inside, all);
  Spreading::Credits credits = spreading.by_credits();
  const Spreading::Port port = spreading.by_ports();
  visits += spreading.visits();
  const std::int64_t time = std::max(credits.time, port.time);
  if (best && time <= best->time.ps) return;
  const bool by_credits = port.time <= credits.time;
  const std::string then =
      by_credits ? fmt::format("{} {} nodes", gathers ? "gathered from" : "spread to",
                               spreading.targets().size())
                 : fmt::format("the {} {} of them {} {}", gathers ? "first" : "last", port.chunks,
                               gathers ? "from" : "to", problem.name(port.node));
  NamedCut cut = named(problem, inside, gathers);
  Certificate proof{.inside = inside};
  if (gathers) proof.inside.flip();
  if (by_credits) {
    proof.targets = std::move(credits.targets);
    proof.credits = std::move(credits.each);
  } else {
    proof.targets = {port.node};
    std::ranges::copy_if(spreading.targets(), std::back_inserter(proof.targets),
                         [&](NodeId target) { return target != port.node; });
    (gathers ? proof.until : proof.from) = Time{port.from};
  }
  best = Bound{Time{time}, BoundKind::spreading_cut,
               fmt::format("{}, {}: {}", cut.text, then,
                           describe(view.topology, spreading.across(),
                                    by_credits ? credits.demand : port.demand)),
               std::move(cut.nodes), std::move(proof)};
}

} // namespace

std::optional<Bound> spreading_cut(const Problem& problem, const std::vector<WorstCuts>& worst) {
  std::optional<Bound> best;
  if (problem.model.discipline == Discipline::fluid) return best;
  const Topology reversed_network = reversed(problem.topology);
  const View forth = plain_view(problem), back = inverted_view(problem, reversed_network);
  std::size_t visits = 0;
  for (NodeSet& inside : distinct_sets(worst)) {
    if (visits > problem.within(visits_in_all)) break;
    consider(problem, forth, inside, false, visits, best);
    inside.flip(); // those that the data leaves
    consider(problem, back, inside, true, visits, best);
  }
  return best;
}

} // namespace tutti::bounds
