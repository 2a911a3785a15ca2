// Flows in time as a linear program (TE-CCL sec. 4.1), one flow for all that a node sends. Rows of
// conservation are per source, node and epoch: what enters lanes, is kept or taken is no more than
// what was kept or arrives. It may be less, as what nobody needs is dropped.
//
// The program's flows are per source; each is cut into paths, and paths are filled with chunks one
// after another, so that parts of chunks take as few paths as they can.

#include "synth/teccl/flows/flows.hpp"

#include "synth/teccl/bounds/load_bound.hpp"
#include "synth/teccl/flows/orbits.hpp"
#include "synth/teccl/flows/paths.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <span>
#include <utility>

namespace tutti {

namespace {

/// Whole plans are among its solutions. Flows that have one orbit are one column. Columns exist
/// only where they can be of use: nothing is at a node before its distance from the source, and
/// nothing leaves for where it reaches no destination in time; nothing goes back to its source.
class EpochFlowProgram {
public:
  /// All references must outlive the program. `has_reward`: maximizes it, else any solution will
  /// do.
  EpochFlowProgram(const EpochProblem& problem, std::span<const EpochSource> sources,
                   const EpochFlowOrbits& orbits, std::uint32_t epochs, bool has_reward);

  [[nodiscard]] const LinearProgram& program() const { return program_; }
  /// False: someone is too far away for so few epochs, and the program says nothing.
  [[nodiscard]] bool is_in_reach() const { return is_in_reach_; }

  /// What source (index) has enter the lane in this epoch, in chunks.
  [[nodiscard]] double entering(std::span<const double> columns, std::uint32_t source, LaneId lane,
                                Epoch epoch) const;
  /// What `destination` takes of the source's chunks at the beginning of this epoch.
  [[nodiscard]] double taken(std::span<const double> columns, std::uint32_t source,
                             NodeId destination, Epoch epoch) const;

private:
  /// Columns for the epochs begin .. end - 1, one after another.
  struct Span {
    std::uint32_t begin = 0, end = 0, first_column = 0;
  };
  /// A lane orbit's share in a limit.
  struct Share {
    std::uint32_t orbit = 0, offset = 0;
    double factor = 0;
  };

  void add_columns(std::uint32_t source, bool has_reward);
  void add_conservation(std::uint32_t source);
  void add_demands(std::uint32_t source);
  void add_limits();
  void add_buffer_limits();
  [[nodiscard]] std::vector<Share> shares_of(const EpochLimit& limit) const;
  Span add_span(std::uint32_t begin, std::uint32_t end);
  static void add_term(std::vector<Term>& terms, const Span& span, std::int64_t epoch,
                       double factor);
  [[nodiscard]] std::size_t lane_point(std::uint32_t source, std::uint32_t lane) const {
    return std::size_t{source} * problem_.network.lanes.size() + lane;
  }
  [[nodiscard]] std::size_t node_point(std::uint32_t source, std::uint32_t node) const {
    return std::size_t{source} * problem_.network.node_count() + node;
  }

  const EpochProblem& problem_;
  std::span<const EpochSource> sources_;
  const EpochFlowOrbits& orbits_;
  std::uint32_t epochs_;
  bool is_in_reach_ = true;
  std::vector<std::uint32_t> node_orbit_size_; ///< [source and node]
  /// The paper's F: [source and lane], at the least of its orbit.
  std::vector<Span> entering_;
  std::vector<Span> kept_, taken_; ///< the paper's B and R: [source and node], likewise
  LinearProgram program_;
};

/// What it is worth that a unit is there from the beginning of an epoch >= 1 on, of `epochs`: the
/// sum of 1 / (k + 1) over the epochs k at whose end it is there (paper, sec. 3.1 and 4.1).
double arrival_reward(std::uint32_t epoch, std::uint32_t epochs) {
  double reward = 0;
  for (std::uint32_t k = epochs; k >= epoch; --k) reward += 1.0 / k; // small ones first
  return reward;
}

EpochFlowProgram::EpochFlowProgram(const EpochProblem& problem,
                                   std::span<const EpochSource> sources,
                                   const EpochFlowOrbits& orbits, std::uint32_t epochs,
                                   bool has_reward)
    : problem_(problem), sources_(sources), orbits_(orbits), epochs_(epochs),
      node_orbit_size_(orbits.of_node.size()), entering_(orbits.of_lane.size()),
      kept_(orbits.of_node.size()), taken_(orbits.of_node.size()) {
  for (const std::uint32_t orbit : orbits.of_node) ++node_orbit_size_[orbit];
  for (std::uint32_t s = 0; s < sources.size(); ++s) add_columns(s, has_reward);
  if (!is_in_reach_) return;
  for (std::uint32_t s = 0; s < sources.size(); ++s) {
    add_conservation(s);
    add_demands(s);
  }
  add_limits();
  if (problem.buffer_limit) add_buffer_limits();
}

EpochFlowProgram::Span EpochFlowProgram::add_span(std::uint32_t begin, std::uint32_t end) {
  const Span span{begin, std::max(begin, end), program_.column_count()};
  for (std::uint32_t k = span.begin; k < span.end; ++k) program_.add_column(0, 0, unlimited);
  return span;
}

void EpochFlowProgram::add_term(std::vector<Term>& terms, const Span& span, std::int64_t epoch,
                                double factor) {
  if (epoch >= span.begin && epoch < span.end)
    terms.push_back({span.first_column + static_cast<std::uint32_t>(epoch) - span.begin, factor});
}

void EpochFlowProgram::add_columns(std::uint32_t source, bool has_reward) {
  const EpochNetwork& network = problem_.network;
  const EpochSource& own = sources_[source];
  const FlowReach reach = flow_reach(network, own);
  const auto until = [&](std::uint32_t remaining) { // the last epoch to start, and one
    return remaining > epochs_ ? 0 : epochs_ - remaining + 1;
  };
  for (std::uint32_t l = 0; l < network.lanes.size(); ++l) {
    problem_.require_time();
    const Lane& lane = network.lanes[l];
    const std::size_t point = lane_point(source, l);
    if (orbits_.of_lane[point] != point || lane.to == own.node) continue;
    entering_[point] = add_span(reach.from_source[lane.from],
                                until(epochs_plus(reach.to_destination[lane.to], lane.delay)));
  }
  for (std::uint32_t n = 0; n < network.node_count(); ++n) {
    const std::size_t point = node_point(source, n);
    if (orbits_.of_node[point] != point || n == own.node || !network.stores[n]) continue;
    kept_[point] = add_span(reach.from_source[n], until(epochs_plus(reach.onward[n], 1)));
  }
  for (const EpochDemand& demand : own.demands) {
    problem_.require_time();
    const std::size_t point = node_point(source, demand.destination);
    is_in_reach_ = is_in_reach_ && reach.from_source[demand.destination] <= epochs_;
    if (orbits_.of_node[point] != point || !is_in_reach_) continue;
    const std::uint32_t begin = reach.from_source[demand.destination];
    taken_[point] = {begin, epochs_ + 1, program_.column_count()};
    for (std::uint32_t k = begin; k <= epochs_; ++k) {
      const double reward = has_reward ? arrival_reward(k, epochs_) * node_orbit_size_[point] : 0;
      program_.add_column(-reward, 0, static_cast<double>(demand.chunks.size()));
    }
  }
}

// What a source has is not limited: more than is wanted brings nothing.
void EpochFlowProgram::add_conservation(std::uint32_t source) {
  const EpochNetwork& network = problem_.network;
  std::vector<Term> terms;
  for (std::uint32_t n = 0; n < network.node_count(); ++n) {
    problem_.require_time();
    const std::size_t point = node_point(source, n);
    if (orbits_.of_node[point] != point || n == sources_[source].node) continue;
    for (std::int64_t k = 0; k <= epochs_; ++k) {
      terms.clear();
      for (const auto [l] : network.out_lanes[n])
        add_term(terms, entering_[orbits_.of_lane[lane_point(source, l)]], k, -1);
      add_term(terms, kept_[point], k, -1);
      add_term(terms, taken_[point], k, -1);
      if (terms.empty()) continue; // nobody needs what comes: it may be dropped
      add_term(terms, kept_[point], k - 1, 1);
      for (const auto [l] : network.in_lanes[n])
        add_term(terms, entering_[orbits_.of_lane[lane_point(source, l)]],
                 k - network.lanes[l].delay, 1);
      program_.add_row(0, unlimited, terms);
    }
  }
}

void EpochFlowProgram::add_demands(std::uint32_t source) {
  std::vector<Term> terms;
  for (const EpochDemand& demand : sources_[source].demands) {
    const std::size_t point = node_point(source, demand.destination);
    if (orbits_.of_node[point] != point) continue;
    terms.clear();
    for (std::uint32_t k = taken_[point].begin; k < taken_[point].end; ++k)
      add_term(terms, taken_[point], k, 1);
    const auto all = static_cast<double>(demand.chunks.size());
    program_.add_row(all, all, terms);
  }
}

std::vector<EpochFlowProgram::Share> EpochFlowProgram::shares_of(const EpochLimit& limit) const {
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> factors;
  for (const LaneUse& use : limit.uses)
    for (std::uint32_t s = 0; s < sources_.size(); ++s)
      factors[{orbits_.of_lane[lane_point(s, use.lane.value)], use.offset}] += 1;
  std::vector<Share> shares;
  for (const auto& [key, factor] : factors)
    if (entering_[key.first].begin < entering_[key.first].end)
      shares.push_back({key.first, key.second, factor});
  return shares;
}

void EpochFlowProgram::add_limits() {
  const EpochNetwork& network = problem_.network;
  std::vector<Term> terms;
  for (std::uint32_t i = 0; i < network.limits.size(); ++i) {
    problem_.require_time();
    if (orbits_.of_limit[i] != i) continue;
    const EpochLimit& limit = network.limits[i];
    const std::vector<Share> shares = shares_of(limit);
    std::int64_t begin = std::numeric_limits<std::int64_t>::max(), end = 0; // epochs of use
    for (const Share& share : shares) {
      begin = std::min<std::int64_t>(begin, entering_[share.orbit].begin + share.offset);
      end = std::max<std::int64_t>(end, entering_[share.orbit].end + share.offset);
    }
    const std::int64_t last = std::max(begin, end - limit.window); // later ones are parts of it
    for (std::int64_t first = begin; first <= last && !shares.empty(); ++first) {
      terms.clear();
      for (const Share& share : shares)
        for (std::int64_t k = first; k < first + limit.window; ++k)
          add_term(terms, entering_[share.orbit], k - share.offset, share.factor);
      program_.add_row(-unlimited, limit.most, terms);
    }
  }
}

// At a node are chunks that wait there and those that it sends in this epoch; what has come to
// its destination doesn't count.
void EpochFlowProgram::add_buffer_limits() {
  const EpochNetwork& network = problem_.network;
  std::vector<Term> terms;
  for (std::uint32_t n = 0; n < network.node_count(); ++n) {
    if (orbits_.of_node_only[n] != n || !network.stores[n]) continue;
    for (std::int64_t k = 0; k <= epochs_; ++k) {
      terms.clear();
      for (std::uint32_t s = 0; s < sources_.size(); ++s) {
        if (sources_[s].node == n) continue;
        add_term(terms, kept_[orbits_.of_node[node_point(s, n)]], k, 1);
        for (const auto [l] : network.out_lanes[n])
          add_term(terms, entering_[orbits_.of_lane[lane_point(s, l)]], k, 1);
      }
      if (!terms.empty()) program_.add_row(-unlimited, *problem_.buffer_limit, terms);
    }
  }
}

double EpochFlowProgram::entering(std::span<const double> columns, std::uint32_t source,
                                  LaneId lane, Epoch epoch) const {
  const Span& span = entering_[orbits_.of_lane[lane_point(source, lane.value)]];
  if (epoch.value < span.begin || epoch.value >= span.end) return 0;
  return columns[span.first_column + epoch.value - span.begin];
}

double EpochFlowProgram::taken(std::span<const double> columns, std::uint32_t source,
                               NodeId destination, Epoch epoch) const {
  const Span& span = taken_[orbits_.of_node[node_point(source, destination.value)]];
  if (epoch.value < span.begin || epoch.value >= span.end) return 0;
  return columns[span.first_column + epoch.value - span.begin];
}

EpochFlowOrbits epoch_orbits_of(const EpochProblem& problem, std::span<const EpochSource> sources,
                                bool merged, const WorkLimit& limit) {
  const auto moves = merged ? epoch_moves(problem, sources) : std::vector<ChunkAutomorphism>{};
  return epoch_flow_orbits(problem.network, sources, moves, limit);
}

/// The solution's flow of one source.
std::vector<TimedAmount> timed_flow_of(const EpochFlowProgram& program,
                                       std::span<const double> columns, std::uint32_t source,
                                       std::uint32_t lanes, std::uint32_t epochs) {
  std::vector<TimedAmount> flow;
  for (std::uint32_t l = 0; l < lanes; ++l)
    for (std::uint32_t k = 0; k <= epochs; ++k) // the last through switches without delay
      if (const double amount = program.entering(columns, source, LaneId{l}, Epoch{k});
          amount > least_flow)
        flow.push_back({Epoch{k}, LaneId{l}, amount});
  return flow;
}

/// Paths together as long as the chunks, one chunk after another.
class PartCutter {
public:
  explicit PartCutter(const EpochDemand& demand) : demand_(demand) {}

  void add(const TimedPath& path, double factor) {
    for (double left = path.amount * factor; left > 0;) {
      const bool is_last = chunk_ + 1 == demand_.chunks.size();
      const double now = is_last ? left : std::min(left, 1 - filled_);
      for (const TimedStep& step : path.steps)
        amounts_[{step.epoch, step.lane, ChunkId{demand_.chunks[chunk_]}}] += now;
      filled_ += now;
      left -= now;
      if (is_last || filled_ < 1 - least_flow) continue;
      ++chunk_;
      filled_ = 0;
    }
  }

  void append_to(std::vector<EpochFlows::Part>& parts) const {
    for (const auto& [send, amount] : amounts_)
      if (amount > least_flow) parts.push_back({send, amount});
  }

private:
  const EpochDemand& demand_;
  std::size_t chunk_ = 0;
  double filled_ = 0; ///< of that chunk
  std::map<EpochSend, double> amounts_;
};

void add_parts(const EpochProblem& problem, const EpochFlowProgram& program,
               std::span<const double> columns, std::span<const EpochSource> sources,
               std::uint32_t epochs, EpochFlows& flows) {
  const auto lanes = static_cast<std::uint32_t>(problem.network.lanes.size());
  for (std::uint32_t s = 0; s < sources.size(); ++s) {
    FlowTracer tracer(problem.network, NodeId{sources[s].node},
                      timed_flow_of(program, columns, s, lanes, epochs));
    for (const EpochDemand& demand : sources[s].demands) {
      std::vector<TimedPath> paths;
      double found = 0;
      for (std::uint32_t k = 0; k <= epochs; ++k)
        for (double left = program.taken(columns, s, NodeId{demand.destination}, Epoch{k});
             left > least_flow;) {
          std::optional<TimedPath> path = tracer.take(NodeId{demand.destination}, Epoch{k}, left);
          if (!path) break;
          left -= path->amount;
          found += path->amount;
          flows.epochs = std::max(flows.epochs, k);
          paths.push_back(std::move(*path));
        }
      PartCutter cutter(demand);
      for (const TimedPath& path : paths)
        cutter.add(path, static_cast<double>(demand.chunks.size()) / found);
      cutter.append_to(flows.parts);
    }
  }
  std::ranges::sort(flows.parts, {}, &EpochFlows::Part::send);
}

} // namespace

EpochFlows epoch_flows(const EpochProblem& problem, std::uint32_t epochs, const WorkLimit& limit,
                       const EpochFlowSettings& settings) {
  EpochFlows flows;
  const std::vector<EpochSource> sources = epoch_sources(problem);
  const EpochFlowOrbits orbits = epoch_orbits_of(problem, sources, settings.merged, limit);
  const EpochFlowProgram program(problem, sources, orbits, epochs, true);
  if (!program.is_in_reach()) {
    flows.status = SolverStatus::infeasible;
    return flows;
  }
  if (program.program().column_count() > settings.most_columns) return flows;
  const LinearSolution solution = solve_relaxed(program.program(), limit);
  flows.status = solution.status;
  if (solution.status != SolverStatus::optimal) return flows;
  flows.reward = -solution.objective;
  add_parts(problem, program, solution.columns, sources, epochs, flows);
  return flows;
}

std::optional<std::uint32_t> fewest_flow_epochs(const EpochProblem& problem, std::uint32_t at_least,
                                                const WorkLimit& limit) {
  const std::vector<EpochSource> sources = epoch_sources(problem);
  for (const EpochSource& source : sources) {
    const std::vector<std::uint32_t> distance = problem.network.distances_from({source.node});
    for (const EpochDemand& demand : source.demands) {
      if (distance[demand.destination] == unreachable) return std::nullopt;
      at_least = std::max(at_least, distance[demand.destination]);
    }
  }
  const EpochFlowOrbits orbits = epoch_orbits_of(problem, sources, true, limit);
  const auto status_in = [&](std::uint32_t epochs) {
    const EpochFlowProgram program(problem, sources, orbits, epochs, false);
    return solve_relaxed(program.program(), limit).status;
  };
  at_least = epochs_by_load(problem, sources, orbits, at_least, limit);
  std::uint32_t low = at_least, high = at_least; // all below `low` are infeasible
  for (std::uint32_t more = 1;; more *= 2) {
    const SolverStatus status = status_in(high);
    if (status == SolverStatus::optimal) break;
    if (status != SolverStatus::infeasible) return std::nullopt;
    low = high + 1;
    high += more;
  }
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    const SolverStatus status = status_in(middle);
    if (status == SolverStatus::optimal)
      high = middle;
    else if (status == SolverStatus::infeasible)
      low = middle + 1;
    else
      return std::nullopt;
  }
  return low;
}

} // namespace tutti
