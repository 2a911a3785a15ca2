// Why: in an All-to-All whose shards differ, the worst cut is around those who send or receive much
// and are badly connected together, which no coordinate tells. Idea: of a set with bytes D to send
// out over bandwidth B, another set is worse where its D' - (D/B) B' is above 0 (Dinkelbach 1967).
// For this difference each node has a gain, by which it changes sides: the best ones one after
// another, also at a loss, each once; the best set on the way counts (Kernighan and Lin 1970,
// Fiduccia and Mattheyses 1982). Groups of links don't count here, as they do for the bound.

#include "synth/bounds/pair_cuts.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

namespace tutti::bounds {

namespace {

constexpr std::size_t most_nodes = 4; ///< of each direction, as starts of their own
constexpr std::size_t most_kept = 8;  ///< sets
constexpr std::uint64_t few_rounds = 8;

struct Weight {
  std::uint32_t node = 0;
  double amount = 0;
};
using Weights = std::vector<std::vector<Weight>>; ///< [node]: to others, or from them

/// What goes from node to node: bytes, or bandwidth.
struct Matrix {
  Weights to, from;

  explicit Matrix(std::size_t nodes) : to(nodes), from(nodes) {}
  void add(NodeId source, NodeId destination, double amount) {
    to[source.value].push_back({destination.value, amount});
    from[destination.value].push_back({source.value, amount});
  }
  [[nodiscard]] static double sum(const std::vector<Weight>& weights) {
    double all = 0;
    for (const Weight& each : weights) all += each.amount;
    return all;
  }
};

/// What leaves a set, and for each node what it has for those outside and from those inside.
class PairCrossing {
public:
  PairCrossing(const Matrix& matrix, const NodeSet& inside)
      : matrix_(matrix), out_(inside.size()), in_(inside.size()) {
    for (std::uint32_t v = 0; v < inside.size(); ++v) {
      for (const Weight& w : matrix.to[v])
        if (!inside[w.node]) out_[v] += w.amount;
      for (const Weight& w : matrix.from[v])
        if (inside[w.node]) in_[v] += w.amount;
      if (inside[v]) total_ += out_[v];
    }
  }

  [[nodiscard]] double total() const { return total_; }
  /// How much more leaves the set with the node on the other side.
  [[nodiscard]] double gain(std::uint32_t node, bool is_inside) const {
    const double joining = out_[node] - in_[node];
    return is_inside ? -joining : joining;
  }
  void move(std::uint32_t node, bool is_inside) {
    total_ += gain(node, is_inside);
    const double sign = is_inside ? -1 : 1;
    for (const Weight& w : matrix_.from[node]) out_[w.node] -= sign * w.amount;
    for (const Weight& w : matrix_.to[node]) in_[w.node] += sign * w.amount;
  }

private:
  const Matrix& matrix_;
  std::vector<double> out_, in_;
  double total_ = 0;
};

class Search {
public:
  Search(const Matrix& bytes, const Matrix& bandwidth, std::uint64_t most_rounds)
      : bytes_(bytes), bandwidth_(bandwidth), rounds_left_(most_rounds) {}

  [[nodiscard]] bool is_over() const { return rounds_left_ == 0; }

  struct Found {
    double seconds = 0;
    NodeSet inside;
  };
  /// The worst set that it came to, as data leaves it.
  Found from(NodeSet inside) {
    double seconds = seconds_of(inside);
    while (seconds > 0 && !is_over() && improve(inside, seconds)) {
    }
    return {seconds, std::move(inside)};
  }

private:
  [[nodiscard]] double seconds_of(const NodeSet& inside) const {
    const double rate = PairCrossing(bandwidth_, inside).total();
    return rate > 0 ? PairCrossing(bytes_, inside).total() / rate : 0;
  }

  bool improve(NodeSet& inside, double& seconds) {
    --rounds_left_;
    PairCrossing bytes(bytes_, inside), rates(bandwidth_, inside);
    NodeSet now = inside, best;
    std::vector<bool> moved(inside.size());
    double longest = seconds * (1 + 1e-9);
    for (std::size_t moves = 0; moves < inside.size(); ++moves) {
      std::uint32_t next = UINT32_MAX;
      double most = 0;
      for (std::uint32_t v = 0; v < now.size(); ++v) {
        if (moved[v]) continue;
        const double gain = bytes.gain(v, now[v]) - seconds * rates.gain(v, now[v]);
        if (next != UINT32_MAX && gain <= most) continue;
        next = v;
        most = gain;
      }
      bytes.move(next, now[next]);
      rates.move(next, now[next]);
      moved[next] = true;
      now[next] = !now[next];
      if (rates.total() <= 0 || bytes.total() <= longest * rates.total()) continue;
      longest = bytes.total() / rates.total();
      best = now;
    }
    if (best.empty()) return false;
    const double found = seconds_of(best); // sums above have rounding errors
    if (found <= seconds) return false;
    seconds = found;
    inside = std::move(best);
    return true;
  }

  const Matrix &bytes_, &bandwidth_;
  std::uint64_t rounds_left_;
};

/// Nothing where some chunk isn't of one pair, or all pairs are alike.
bool differ(const Collective& collective, std::span<const ChunkClass> classes) {
  std::int64_t least = INT64_MAX, most = 0, chunks = 0;
  for (const ChunkClass& c : classes) {
    if (c.by_pairs || collective.sets[c.sources].size() != 1 ||
        collective.sets[c.destinations].size() != 1)
      return false;
    least = std::min(least, c.size.count);
    most = std::max(most, c.size.count);
    chunks = std::max(chunks, c.chunks);
  }
  return most - least > chunks;
}

/// Nodes by how long what they send (receive) takes over their links alone, the longest first.
std::vector<std::uint32_t> slowest(const Weights& bytes, const Weights& bandwidth) {
  std::vector<std::pair<double, std::uint32_t>> ranked;
  for (std::uint32_t v = 0; v < bytes.size(); ++v)
    if (const double rate = Matrix::sum(bandwidth[v]); rate > 0 && !bytes[v].empty())
      ranked.emplace_back(-Matrix::sum(bytes[v]) / rate, v);
  std::ranges::sort(ranked);
  std::vector<std::uint32_t> nodes;
  for (std::size_t i = 0; i < ranked.size() && i < most_nodes; ++i)
    nodes.push_back(ranked[i].second);
  return nodes;
}

} // namespace

std::vector<NodeSet> pair_cuts(const Topology& topology, const Collective& collective,
                               std::span<const ChunkClass> classes, std::span<const NodeSet> starts,
                               std::uint64_t most_work) {
  const std::uint32_t nodes = topology.node_count();
  const std::uint64_t work_of_round =
      std::uint64_t{nodes} * nodes + topology.link_count() + classes.size();
  if (few_rounds * work_of_round > most_work || !differ(collective, classes)) return {};
  Matrix bytes(nodes), bandwidth(nodes);
  for (const ChunkClass& c : classes)
    if (const NodeId from = collective.sets[c.sources].front(),
        to = collective.sets[c.destinations].front();
        from != to)
      bytes.add(from, to, static_cast<double>(c.size.count) * static_cast<double>(c.chunks));
  for (std::uint32_t l = 0; l < topology.link_count(); ++l)
    bandwidth.add(topology.link(LinkId{l}).from, topology.link(LinkId{l}).to,
                  static_cast<double>(topology.effective_bandwidth(LinkId{l}).bytes_per_second));

  Search search(bytes, bandwidth, most_work / work_of_round);
  std::vector<Search::Found> all;
  const auto start = [&](NodeSet leaving) {
    if (!search.is_over()) all.push_back(search.from(std::move(leaving)));
  };
  const std::vector<std::uint32_t> senders = slowest(bytes.to, bandwidth.to),
                                   receivers = slowest(bytes.from, bandwidth.from);
  for (std::size_t i = 0; i < most_nodes; ++i) {
    NodeSet alone(nodes), others(nodes, true);
    if (i < senders.size()) alone[senders[i]] = true;
    if (i < receivers.size()) others[receivers[i]] = false;
    start(std::move(alone));
    start(std::move(others));
  }
  for (NodeSet set : starts) {
    start(set);
    set.flip();
    start(std::move(set));
  }
  std::ranges::stable_sort(all, std::greater<>(), &Search::Found::seconds);
  std::vector<NodeSet> sets;
  for (Search::Found& each : all)
    if (sets.size() < most_kept && std::ranges::find(sets, each.inside) == sets.end())
      sets.push_back(std::move(each.inside));
  return sets;
}

} // namespace tutti::bounds
