// Variables exist only within the window of times between the nearest source and the nearest
// destination. Lanes without delay may form cycles among switches, in which sends would justify
// each other: where the lanes form a tree it suffices to forbid going back and forth, elsewhere
// nodes get ranks.
#include "synth/teccl/one_shot/chunk_clauses.hpp"

#include "synth/solvers/cardinality.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

namespace tutti {

namespace {

bool is_among(const std::vector<std::uint32_t>& nodes, std::uint32_t node) {
  return std::ranges::binary_search(nodes, node);
}

/// Literals of an epoch that isn't there are 0.
Literal literal_at(const EpochLiterals& literals, std::uint32_t epoch) {
  return epoch < literals.size() ? literals[epoch] : 0;
}

} // namespace

ChunkClauses::ChunkClauses(SatSolver& solver, const EpochNetwork& network, std::uint32_t epochs,
                           Literal always)
    : solver_(solver), network_(network), epochs_(epochs), always_(always) {
  find_cycles();
}

ChunkLiterals ChunkClauses::add(const TimedChunk& chunk) {
  const Windows from = network_.distances_from(chunk.sources),
                to = network_.distances_to(chunk.destinations);
  ChunkLiterals literals;
  for (const std::uint32_t destination : chunk.destinations)
    if (from[destination] == unreachable || from[destination] > epochs_)
      solver_.add({}); // too far away
  add_places(chunk, from, to, literals);
  add_sends(chunk, from, to, literals);
  for (std::uint32_t n = 0; n < network_.node_count(); ++n)
    for (std::uint32_t k = 0; k <= epochs_; ++k)
      if (!network_.stores[n])
        add_passing(literals, n, k);
      else if (!is_among(chunk.sources, n))
        add_receipts(literals, n, k);
  for (const Cycle& cycle : cycles_)
    for (std::uint32_t k = 0; k <= epochs_; ++k) forbid_cycle(literals, cycle, k);
  return literals;
}

EpochLiterals ChunkClauses::add_kept(const ChunkLiterals& literals, std::uint32_t node) {
  const EpochLiterals& has = literals.has[node];
  EpochLiterals kept(has.size());
  for (std::uint32_t k = epochs_; k-- > 0;) {
    const std::vector<Literal> sent = departures(literals, node, k);
    const Literal later = literal_at(kept, k + 1);
    if (has[k] == 0 || (sent.empty() && later == 0)) continue;
    kept[k] = solver_.new_variable();
    for (const Literal send : sent) solver_.add({-send, kept[k]});
    if (later != 0) solver_.add({-later, -has[k], kept[k]});
  }
  return kept;
}

// Makes cycles of the lanes without delay between nodes that reach each other by such lanes.
void ChunkClauses::find_cycles() {
  std::map<std::uint32_t, std::set<std::uint32_t>> reached; // from each node that passes on at once
  for (const Lane& lane : network_.lanes)
    if (lane.delay == 0 && !network_.stores[lane.to]) reached[lane.from];
  for (auto& [start, nodes] : reached) {
    std::vector<std::uint32_t> open{start};
    while (!open.empty()) {
      const std::uint32_t node = open.back();
      open.pop_back();
      for (const auto [l] : network_.out_lanes[node])
        if (const Lane& lane = network_.lanes[l];
            lane.delay == 0 && !network_.stores[lane.to] && nodes.insert(lane.to).second)
          open.push_back(lane.to);
    }
  }
  std::map<std::uint32_t, Cycle> cycles; // by the least of their nodes
  for (std::uint32_t l = 0; l < network_.lanes.size(); ++l) {
    const Lane& lane = network_.lanes[l];
    if (lane.delay > 0 || network_.stores[lane.to]) continue;
    const auto back = reached.find(lane.to);
    if (back == reached.end() || !back->second.contains(lane.from)) continue;
    // Who reaches the one end and is reached from it reaches the other, too.
    std::uint32_t least = lane.to;
    for (const std::uint32_t node : back->second)
      if (const auto from = reached.find(node);
          from != reached.end() && from->second.contains(lane.to))
        least = std::min(least, node);
    cycles[least].lanes.push_back(l);
  }
  for (auto& [least, cycle] : cycles) {
    std::set<std::uint32_t> nodes;
    std::set<std::pair<std::uint32_t, std::uint32_t>> edges;
    for (const std::uint32_t l : cycle.lanes) {
      const Lane& lane = network_.lanes[l];
      nodes.insert({lane.from, lane.to});
      edges.insert(std::minmax(lane.from, lane.to));
    }
    cycle.nodes = nodes.size();
    cycle.is_tree = edges.size() + 1 == nodes.size();
    cycles_.push_back(std::move(cycle));
  }
}

void ChunkClauses::add_places(const TimedChunk& chunk, const Windows& from, const Windows& to,
                              ChunkLiterals& literals) {
  literals.has.assign(network_.node_count(), EpochLiterals(epochs_ + 1));
  for (std::uint32_t n = 0; n < network_.node_count(); ++n) {
    if (!network_.stores[n] || from[n] == unreachable || to[n] == unreachable) continue;
    const bool is_source = is_among(chunk.sources, n);
    const bool is_destination = is_among(chunk.destinations, n);
    EpochLiterals& has = literals.has[n];
    for (std::uint32_t k = from[n]; k <= epochs_ && to[n] <= epochs_ - k; ++k) {
      has[k] = is_source || (is_destination && k == epochs_) ? always_ : solver_.new_variable();
      if (k > from[n]) solver_.add({-has[k - 1], has[k]});
    }
  }
}

void ChunkClauses::add_sends(const TimedChunk& chunk, const Windows& from, const Windows& to,
                             ChunkLiterals& literals) {
  literals.sends.assign(network_.lanes.size(), EpochLiterals(epochs_ + 1));
  for (std::uint32_t l = 0; l < network_.lanes.size(); ++l) {
    const Lane& lane = network_.lanes[l];
    if (from[lane.from] == unreachable || to[lane.to] == unreachable) continue;
    if (is_among(chunk.sources, lane.to)) continue;
    for (std::uint32_t k = from[lane.from]; k <= epochs_; ++k) {
      if (lane.delay > epochs_ - k || to[lane.to] > epochs_ - k - lane.delay) break;
      literals.sends[l][k] = solver_.new_variable();
      if (network_.stores[lane.from])
        solver_.add({-literals.sends[l][k], literals.has[lane.from][k]});
    }
  }
}

std::vector<Literal> ChunkClauses::arrivals(const ChunkLiterals& literals, std::uint32_t node,
                                            std::uint32_t epoch) const {
  std::vector<Literal> found;
  for (const auto [l] : network_.in_lanes[node])
    if (const std::uint32_t delay = network_.lanes[l].delay; delay <= epoch)
      if (const Literal sent = literal_at(literals.sends[l], epoch - delay); sent != 0)
        found.push_back(sent);
  return found;
}

std::vector<Literal> ChunkClauses::departures(const ChunkLiterals& literals, std::uint32_t node,
                                              std::uint32_t epoch) const {
  std::vector<Literal> found;
  for (const auto [l] : network_.out_lanes[node])
    if (const Literal sent = literal_at(literals.sends[l], epoch); sent != 0) found.push_back(sent);
  return found;
}

void ChunkClauses::add_some(std::vector<Literal> clause, const std::vector<Literal>& some) {
  clause.insert(clause.end(), some.begin(), some.end());
  solver_.add(clause);
}

// A node has a chunk from the epoch in which it comes, over one lane.
void ChunkClauses::add_receipts(const ChunkLiterals& literals, std::uint32_t node,
                                std::uint32_t epoch) {
  const Literal now = literals.has[node][epoch];
  if (now == 0) return;
  const Literal before = epoch > 0 ? literals.has[node][epoch - 1] : 0;
  const std::vector<Literal> in = arrivals(literals, node, epoch);
  for (const Literal sent : in) {
    solver_.add({-sent, now});
    if (before != 0) solver_.add({-sent, -before});
  }
  at_most_one(solver_, in);
  if (before != 0)
    add_some({-now, before}, in);
  else
    add_some({-now}, in);
}

void ChunkClauses::add_passing(const ChunkLiterals& literals, std::uint32_t node,
                               std::uint32_t epoch) {
  const std::vector<Literal> in = arrivals(literals, node, epoch);
  const std::vector<Literal> out = departures(literals, node, epoch);
  for (const Literal sent : in) add_some({-sent}, out);
  if (in.empty()) {
    for (const Literal sent : out) solver_.add({-sent});
  } else if (network_.copies[node]) {
    pass_copies(in, out);
  } else {
    pass_each_once(literals, node, epoch);
  }
}

void ChunkClauses::pass_copies(const std::vector<Literal>& in, const std::vector<Literal>& out) {
  at_most_one(solver_, in);
  if (in.size() == 1 || out.size() == 1) {
    for (const Literal sent : out) add_some({-sent}, in);
    return;
  }
  const Literal arrived = solver_.new_variable();
  for (const Literal sent : out) solver_.add({-sent, arrived});
  add_some({-arrived}, in);
}

// A path through the node for each pair of lanes; what goes out took one of them, and what comes in
// takes one.
void ChunkClauses::pass_each_once(const ChunkLiterals& literals, std::uint32_t node,
                                  std::uint32_t epoch) {
  std::map<std::uint32_t, std::vector<Literal>> through; // of each lane in
  for (const auto [o] : network_.out_lanes[node]) {
    const Literal out = literal_at(literals.sends[o], epoch);
    if (out == 0) continue;
    std::vector<Literal> came{-out};
    for (const auto [i] : network_.in_lanes[node]) {
      const Lane& lane = network_.lanes[i];
      const Literal in =
          lane.delay <= epoch ? literal_at(literals.sends[i], epoch - lane.delay) : 0;
      if (in == 0) continue;
      if (lane.from == network_.lanes[o].to && network_.stores[lane.from]) continue; // it has it
      came.push_back(solver_.new_variable());
      solver_.add({-came.back(), in});
      through[i].push_back(came.back());
    }
    solver_.add(came);
  }
  for (const auto& [lane, taken] : through) at_most_one(solver_, taken);
}

// On a tree, every cycle goes back and forth somewhere. Elsewhere nodes get ranks that rise along
// each lane that is used.
void ChunkClauses::forbid_cycle(const ChunkLiterals& literals, const Cycle& cycle,
                                std::uint32_t epoch) {
  if (!cycle.is_tree) {
    add_ranks(literals, cycle, epoch);
    return;
  }
  for (const std::uint32_t there : cycle.lanes)
    for (const auto [back] : network_.out_lanes[network_.lanes[there].to]) {
      const Lane& lane = network_.lanes[back];
      if (there > back || lane.to != network_.lanes[there].from || lane.delay > 0) continue;
      const Literal first = literal_at(literals.sends[there], epoch);
      const Literal second = literal_at(literals.sends[back], epoch);
      if (first != 0 && second != 0) solver_.add({-first, -second});
    }
}

// In unary: literal i says that the rank is at least i + 1.
void ChunkClauses::add_ranks(const ChunkLiterals& literals, const Cycle& cycle,
                             std::uint32_t epoch) {
  std::map<std::uint32_t, std::vector<Literal>> ranks; // [node]
  const auto rank_of = [&](std::uint32_t node) -> const std::vector<Literal>& {
    std::vector<Literal>& rank = ranks[node];
    while (rank.size() + 1 < cycle.nodes) rank.push_back(solver_.new_variable());
    return rank;
  };
  for (const std::uint32_t l : cycle.lanes) {
    const Literal sent = literal_at(literals.sends[l], epoch);
    if (sent == 0) continue;
    const std::vector<Literal>& before = rank_of(network_.lanes[l].from);
    const std::vector<Literal>& after = rank_of(network_.lanes[l].to);
    solver_.add({-sent, after.front()});
    for (std::size_t i = 0; i + 1 < before.size(); ++i)
      solver_.add({-sent, -before[i], after[i + 1]});
    solver_.add({-sent, -before.back()});
  }
}

} // namespace tutti
