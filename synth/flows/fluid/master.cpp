// Rows are orbits of resources, traffic, and one per representative demand, whose shares add up to
// 1; columns are trees. Seconds and bytes are scaled so that the coefficients are about 1. Later
// aims keep the value of the earlier ones as a limit on their column, with a slack for rounding.

#include "synth/flows/fluid/master.hpp"

#include "synth/flows/fluid/demand_pricing.hpp"

#include <algorithm>
#include <map>

namespace tutti {

namespace {

constexpr double least_share = 1e-13; // less is noise
constexpr double slack = 1e-11;       // of what was reached, when the next aim comes

} // namespace

FluidMaster::FluidMaster(const FlowProblem& problem, const FlowOrbits& orbits,
                         std::span<const double> weights, double unit_seconds)
    : problem_(problem), orbits_(orbits), weights_(weights), unit_seconds_(unit_seconds),
      rows_of_orbits_(static_cast<std::uint32_t>(orbits.size.size())),
      traffic_row_(rows_of_orbits_) {
  std::vector<LinearProgram::Range> rows(rows_of_orbits_ + 1, {-unlimited, 0});
  for (std::uint32_t i = 0; i < orbits.representatives.size(); ++i) {
    rows.push_back({1, 1});
    unit_traffic_ += sent(i);
  }
  program_.emplace(rows);
  std::vector<RowTerm> time;
  for (std::uint32_t row = 0; row < rows_of_orbits_; ++row) time.push_back({row, -1});
  time_ = program_->add_column(1, 0, unlimited, time);
  traffic_ = program_->add_column(0, 0, unlimited, std::vector<RowTerm>{{traffic_row_, -1}});
}

double FluidMaster::sent(std::uint32_t representative) const {
  const Representative& one = orbits_.representatives[representative];
  return static_cast<double>(problem_.demands[one.demand].bytes) * one.images;
}

std::vector<RowTerm> FluidMaster::load(std::uint32_t representative, const FlowTree& tree) const {
  std::map<std::uint32_t, double> times; // [orbit]: how often it is used
  for (const std::uint32_t link : tree.links)
    for (const std::uint32_t resource : problem_.network.resources_of[link])
      times[orbits_.of_resource[resource]] += 1;
  std::vector<RowTerm> terms;
  for (const auto& [orbit, count] : times)
    terms.push_back({orbit, count * sent(representative) /
                                (orbits_.size[orbit] * orbits_.bandwidth[orbit] * unit_seconds_)});
  return terms;
}

double FluidMaster::traffic_of(std::uint32_t representative, const FlowTree& tree) const {
  if (weights_.empty()) return 0;
  double sum = 0;
  for (const std::uint32_t link : tree.links) sum += weights_[link];
  return sum * sent(representative) / unit_traffic_;
}

bool FluidMaster::add(std::uint32_t representative, FlowTree tree) {
  std::vector<std::uint32_t> key = tree.links;
  key.push_back(tree.root);
  if (!known_.emplace(representative, std::move(key)).second) return false;
  Column column{std::move(tree), representative, 0, {}, 0};
  column.load = load(representative, column.tree);
  column.traffic = traffic_of(representative, column.tree);
  std::vector<RowTerm> terms = column.load;
  if (column.traffic > 0) terms.push_back({traffic_row_, column.traffic});
  terms.push_back({traffic_row_ + 1 + representative, 1});
  column.number = program_->add_column(0, 0, unlimited, terms);
  columns_.push_back(std::move(column));
  return true;
}

void FluidMaster::aim_at(Aim aim) {
  if (aim_ == Aim::hops)
    for (const Column& column : columns_) program_->set_cost(column.number, 0);
  else {
    const std::uint32_t reached = aim_ == Aim::time ? time_ : traffic_;
    program_->set_cost(reached, 0);
    program_->set_limits(reached, 0, value_ * (1 + slack));
  }
  aim_ = aim;
  if (aim == Aim::traffic) program_->set_cost(traffic_, 1);
  if (aim == Aim::hops)
    for (const Column& column : columns_)
      program_->set_cost(column.number, depth_of(problem_.network, column.tree));
}

bool FluidMaster::solve(const WorkLimit& limit, std::uint64_t most_work) {
  const std::uint64_t left = most_work - std::min(most_work, work());
  const LinearSolution solved = program_->solve(limit, left / program_->pivot_work());
  if (solved.status != SolverStatus::optimal) return false;
  value_ = solved.objective;
  solution_ = solved.columns;
  prices_.orbits.clear();
  prices_.shares.clear();
  for (std::uint32_t row = 0; row < rows_of_orbits_; ++row)
    prices_.orbits.push_back(std::max(0.0, -solved.duals[row]));
  for (std::uint32_t i = 0; i < orbits_.representatives.size(); ++i)
    prices_.shares.push_back(solved.duals[traffic_row_ + 1 + i]);
  if (aim_ == Aim::time) time_prices_ = prices_.orbits;
  return true;
}

std::vector<double> FluidMaster::link_prices(std::span<const double> orbit_prices) const {
  std::vector<double> prices(problem_.network.link_count());
  for (std::uint32_t link = 0; link < prices.size(); ++link) {
    if (aim_ == Aim::traffic) prices[link] = weights_[link] / unit_traffic_;
    for (const std::uint32_t resource : problem_.network.resources_of[link]) {
      const std::uint32_t orbit = orbits_.of_resource[resource];
      prices[link] +=
          orbit_prices[orbit] / (orbits_.size[orbit] * orbits_.bandwidth[orbit] * unit_seconds_);
    }
  }
  return prices;
}

double FluidMaster::paid(std::uint32_t representative, const FlowTree& tree) const {
  double sum = aim_ == Aim::traffic ? traffic_of(representative, tree) : 0;
  for (const auto& [orbit, time] : load(representative, tree)) sum += time * prices_.orbits[orbit];
  return sum;
}

void FluidMaster::read_off(FluidSolution& solution) const {
  if (solution_.empty()) return;
  std::vector<double> total(orbits_.representatives.size());
  const auto share_of = [&](const Column& column) {
    if (column.number >= solution_.size()) return 0.0; // added since the last solution
    const double share = solution_[column.number];
    return share > least_share ? share : 0.0;
  };
  for (const Column& column : columns_) total[column.representative] += share_of(column);
  std::vector<double> loads(rows_of_orbits_);
  solution.trees.clear();
  solution.traffic = 0;
  for (const Column& column : columns_) {
    const double share = share_of(column) / total[column.representative];
    if (!(share > 0)) continue;
    FlowTree& tree = solution.trees.emplace_back(column.tree);
    tree.share = share;
    for (const auto& [orbit, time] : column.load) loads[orbit] += share * time;
    solution.traffic += share * column.traffic * unit_traffic_;
  }
  solution.seconds = *std::ranges::max_element(loads) * unit_seconds_;
}

} // namespace tutti
