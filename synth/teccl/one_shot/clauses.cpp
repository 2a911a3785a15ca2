// The question of K epochs for all chunks: clauses of each chosen chunk, limits over the orbits,
// and an order of chunks that are alike. It stays apart from SCCL's encoding (sccl/multicast),
// whose variables are arrivals in steps with unknown numbers of rounds; these are sends in epochs,
// with delays and windows.
#include "synth/teccl/one_shot/clauses.hpp"

#include "synth/solvers/cardinality.hpp"
#include "synth/teccl/one_shot/chunk_clauses.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace tutti {

namespace {

std::vector<bool> wanted_chunks(const EpochProblem& problem) {
  std::vector<bool> wanted;
  for (const TimedChunk& chunk : problem.chunks) wanted.push_back(!chunk.destinations.empty());
  return wanted;
}

class EpochClauses {
public:
  EpochClauses(const EpochProblem& problem, std::uint32_t epochs, const ChunkSymmetry& symmetry)
      : problem_(problem), network_(problem.network), epochs_(epochs),
        symmetry_(symmetry.empty() ? no_symmetry(network_.node_count(), network_.lanes.size(),
                                                 network_.limits.size(), problem.chunks.size())
                                   : symmetry),
        orbits_(symmetry_, wanted_chunks(problem)), always_(solver_.new_variable()),
        chunk_clauses_(solver_, network_, epochs, always_) {
    solver_.add({always_});
    for (const std::uint32_t chunk : orbits_.chosen())
      literals_.push_back(chunk_clauses_.add(problem_.chunks[chunk]));
    for (std::uint32_t i = 0; i < network_.limits.size(); ++i)
      if (std::ranges::all_of(symmetry_, [&](const auto& one) { return one.limits[i] >= i; }))
        add_limit(network_.limits[i]);
    if (problem_.buffer_limit) add_buffers(*problem_.buffer_limit);
    order_alike();
  }

  SatisfiedEpochs solve(std::int64_t conflicts, const WorkLimit& limit) {
    SatisfiedEpochs result;
    result.answer = solver_.solve(limit, {conflicts});
    if (result.answer == SatAnswer::sat) result.plan = decoded();
    return result;
  }

private:
  using Slots = std::vector<std::vector<Literal>>; // by the epoch in which a limit is needed

  void add_limit(const EpochLimit& limit) {
    const Slots slots = slots_of(limit);
    if (limit.most == 1)
      add_single(slots, limit.window);
    else
      add_windows(slots, limit.window, limit.most);
  }

  [[nodiscard]] Slots slots_of(const EpochLimit& limit) const {
    std::uint32_t latest = 0;
    for (const LaneUse& use : limit.uses) latest = std::max(latest, use.offset);
    Slots slots(std::size_t{epochs_} + latest + 1);
    for (const ChunkOrbits::Role& role : orbits_.roles()) {
      if (role.by == nullptr) continue;
      for (const LaneUse& use : limit.uses) {
        const EpochLiterals& sends = literals_[role.chosen].sends[role.by->lanes[use.lane.value]];
        for (std::uint32_t k = 0; k < sends.size(); ++k)
          if (sends[k] != 0) slots[k + use.offset].push_back(sends[k]);
      }
    }
    return slots;
  }

  /// One use in each window: one in an epoch, and none in the others.
  void add_single(const Slots& slots, std::uint32_t window) {
    for (const std::vector<Literal>& slot : slots) at_most_one(solver_, slot);
    if (window == 1) return;
    EpochLiterals used;
    for (const std::vector<Literal>& slot : slots) used.push_back(any_of(slot));
    for (std::size_t k = 0; k < used.size(); ++k)
      for (std::size_t next = k + 1; next < std::min(used.size(), k + window); ++next)
        if (used[k] != 0 && used[next] != 0) solver_.add({-used[k], -used[next]});
  }

  Literal any_of(const std::vector<Literal>& literals) {
    if (literals.size() <= 1) return literals.empty() ? 0 : literals.front();
    const Literal any = solver_.new_variable();
    for (const Literal literal : literals) solver_.add({-literal, any});
    return any;
  }

  void add_windows(const Slots& slots, std::uint32_t window, std::uint32_t most) {
    Slots counted = slots;
    if (window > 1)
      for (std::vector<Literal>& slot : counted) slot = totalized(solver_, slot, most + 1);
    for (std::size_t begin = 0; begin == 0 || begin + window <= counted.size(); ++begin) {
      std::vector<Literal> inputs;
      for (std::size_t k = begin; k < std::min(counted.size(), begin + window); ++k)
        inputs.insert(inputs.end(), counted[k].begin(), counted[k].end());
      at_most(solver_, inputs, most);
    }
  }

  /// Limits how many chunks a node keeps for others; one node of each orbit is enough.
  void add_buffers(std::uint32_t most) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, EpochLiterals> kept; // by chosen, node
    for (std::uint32_t n = 0; n < network_.node_count(); ++n) {
      if (!network_.stores[n] ||
          !std::ranges::all_of(symmetry_, [&](const auto& one) { return one.nodes[n] >= n; }))
        continue;
      Slots slots(std::size_t{epochs_} + 1);
      for (std::uint32_t c = 0; c < problem_.chunks.size(); ++c) {
        const ChunkOrbits::Role& role = orbits_.roles()[c];
        if (role.by == nullptr || is_end(problem_.chunks[c], n)) continue;
        const std::uint32_t node = role.by->nodes[n];
        const auto [at, is_new] = kept.try_emplace({role.chosen, node});
        if (is_new) at->second = chunk_clauses_.add_kept(literals_[role.chosen], node);
        for (std::uint32_t k = 0; k < at->second.size(); ++k)
          if (at->second[k] != 0) slots[k].push_back(at->second[k]);
      }
      for (const std::vector<Literal>& slot : slots) at_most(solver_, slot, most);
    }
  }

  [[nodiscard]] static bool is_end(const TimedChunk& chunk, std::uint32_t node) {
    return std::ranges::binary_search(chunk.sources, node) ||
           std::ranges::binary_search(chunk.destinations, node);
  }

  /// Orders chosen chunks with the same sources and destinations: none comes to the first
  /// destination before those that precede it. Exchanging whole orbits of theirs leaves a symmetry
  /// as it is.
  void order_alike() {
    std::map<TimedChunk, std::uint32_t> last;
    for (std::uint32_t i = 0; i < orbits_.chosen().size(); ++i) {
      const TimedChunk& chunk = problem_.chunks[orbits_.chosen()[i]];
      const auto [at, is_first] = last.try_emplace(chunk, i);
      if (is_first) continue;
      const EpochLiterals& before = literals_[at->second].has[chunk.destinations.front()];
      const EpochLiterals& after = literals_[i].has[chunk.destinations.front()];
      for (std::uint32_t k = 0; k <= epochs_; ++k)
        if (after[k] != 0) solver_.add({-after[k], before[k]});
      at->second = i;
    }
  }

  [[nodiscard]] EpochPlan decoded() const {
    EpochPlan plan;
    for (std::uint32_t i = 0; i < literals_.size(); ++i)
      for (std::uint32_t l = 0; l < network_.lanes.size(); ++l)
        for (std::uint32_t k = 0; k < literals_[i].sends[l].size(); ++k) {
          const Literal sent = literals_[i].sends[l][k];
          if (sent == 0 || !solver_.value(sent)) continue;
          for (const ChunkAutomorphism& one : symmetry_)
            plan.push_back(
                {Epoch{k}, LaneId{one.lanes[l]}, ChunkId{one.chunks[orbits_.chosen()[i]]}});
        }
    std::ranges::sort(plan);
    return plan;
  }

  const EpochProblem& problem_;
  const EpochNetwork& network_;
  std::uint32_t epochs_;
  ChunkSymmetry symmetry_;
  ChunkOrbits orbits_;
  SatSolver solver_;
  Literal always_;
  ChunkClauses chunk_clauses_;
  std::vector<ChunkLiterals> literals_; // of the chosen chunks
};

} // namespace

SatisfiedEpochs satisfied_epochs(const EpochProblem& problem, std::uint32_t epochs,
                                 const ChunkSymmetry& symmetry, std::int64_t conflicts,
                                 const WorkLimit& limit) {
  return EpochClauses(problem, epochs, symmetry).solve(conflicts, limit);
}

} // namespace tutti
