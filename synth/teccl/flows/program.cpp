// Rows of conservation are per source, node and epoch: what enters lanes, is kept or taken is no
// more than what was kept or arrives. It may be less, as what nobody needs is dropped.
#include "synth/teccl/flows/program.hpp"

#include "synth/teccl/flows/orbits.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace tutti {

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

} // namespace tutti
