// Orbits of (flow, lane), (carrier, lane) and (flow, node) under the automorphisms come first, as
// joined points; columns and rows are then made for the first member of each. Where only a bound is
// asked for, rounds are columns too and the objective.
#include "synth/sccl/program.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tutti {

namespace {

/// How pairs (a, b), numbered a * |b| + b, go where both parts do.
Permutation product(const Permutation& a, const Permutation& b) {
  Permutation pairs;
  pairs.reserve(a.size() * b.size());
  const auto width = static_cast<std::uint32_t>(b.size());
  for (const std::uint32_t first : a)
    for (const std::uint32_t second : b) pairs.push_back(first * width + second);
  return pairs;
}

/// Least members become consecutive numbers; returns how many, and marks the least.
std::uint32_t number(std::vector<std::uint32_t>& orbit_of, std::vector<bool>& first) {
  first.resize(orbit_of.size());
  std::uint32_t next = 0;
  for (std::uint32_t i = 0; i < orbit_of.size(); ++i) {
    first[i] = orbit_of[i] == i;
    orbit_of[i] = first[i] ? next++ : orbit_of[orbit_of[i]]; // which has its number already
  }
  return next;
}

} // namespace

StepProgram::StepProgram(const StepProblem& problem,
                         std::span<const StepAutomorphism> automorphisms,
                         const StepProgramForm& form)
    : problem_(problem), network_(problem.network), form_(form), layers_(std::max(form.steps, 1U)),
      chunks_per_shard_(form.whole ? form.whole->chunks_per_shard : 1),
      flows_(step_flows(problem)) {
  find_orbits(automorphisms);
  if (too_large()) return;
  for (const StepFlow& flow : flows_.flows) {
    problem.require_time();
    windows_.emplace_back(problem, flow);
  }
  add_rounds();
  const auto flows = static_cast<std::uint32_t>(flows_.flows.size());
  for (std::uint32_t f = 0; f < flows; ++f) add_sends(f);
  for (std::uint32_t f = 0; f < flows; ++f) add_balances(f);
  for (std::uint32_t i = 0; i < network_.limits.size(); ++i)
    if (limit_orbit_[i] == i) add_limit(network_.limits[i]);
}

void StepProgram::find_orbits(std::span<const StepAutomorphism> automorphisms) {
  std::vector<Permutation> by_lane, by_node, by_carrier, limits;
  for (const StepAutomorphism& automorphism : automorphisms) {
    const Permutation flows = flows_.image(automorphism);
    Permutation carriers(flows_.carriers.size());
    for (std::uint32_t f = 0; f < flows.size(); ++f)
      carriers[flows_.flows[f].carrier] = flows_.flows[flows[f]].carrier;
    by_lane.push_back(product(flows, automorphism.lanes));
    by_node.push_back(product(flows, automorphism.nodes));
    by_carrier.push_back(product(carriers, automorphism.lanes));
    limits.push_back(automorphism.limits);
  }
  lane_orbit_ = orbits(by_lane, flows_.flows.size() * network_.lanes.size());
  node_orbit_ = orbits(by_node, flows_.flows.size() * network_.node_count());
  carrier_orbit_ = orbits(by_carrier, flows_.carriers.size() * network_.lanes.size());
  limit_orbit_ = orbits(limits, network_.limits.size());
  std::vector<bool> carrier_first;
  const std::size_t sends = std::size_t{number(lane_orbit_, lane_first_)} * layers_;
  is_too_large_ = sends > form_.most_sends;
  if (is_too_large_) return;
  sent_.resize(sends, none);
  carried_.resize(std::size_t{number(carrier_orbit_, carrier_first)} * layers_, none);
  given_.resize(number(node_orbit_, node_first_), none);
}

void StepProgram::add_rounds() {
  if (form_.whole) {
    std::vector<Term> terms;
    for (std::uint32_t s = 0; s < layers_; ++s) {
      rounds_.push_back(program_.add_column(0, 1, form_.whole->rounds - form_.steps + 1, true));
      terms.push_back({rounds_.back(), 1});
    }
    program_.add_row(0, form_.whole->rounds, terms);
    return;
  }
  // More than everything to everywhere, one after another, is never needed.
  double most = 0;
  for (const StepFlow& flow : flows_.flows) most += flow.amount;
  most *= static_cast<double>(network_.node_count());
  for (std::uint32_t s = 0; s < layers_; ++s) rounds_.push_back(program_.add_column(1, 0, most));
}

bool StepProgram::open(std::uint32_t flow, std::uint32_t lane, std::uint32_t step) const {
  return form_.steps == 0 ? windows_[flow].usable(network_.lanes[lane])
                          : windows_[flow].open(network_.lanes[lane], step, form_.steps);
}

// Where a carrier has several flows, a lane carries as much as each of them sends.
void StepProgram::add_sends(std::uint32_t f) {
  const StepFlow& flow = flows_.flows[f];
  const bool shared = flows_.carriers[flow.carrier].size() > 1;
  for (std::uint32_t l = 0; l < network_.lanes.size(); ++l) {
    const std::size_t pair = lane_pair(f, l);
    if (!lane_first_[pair]) continue;
    problem_.require_time();
    for (std::uint32_t s = 0; s < layers_; ++s) {
      if (!open(f, l, s)) continue;
      const std::uint32_t sent = program_.add_column(0, 0, amount(flow), form_.whole.has_value());
      sent_[std::size_t{lane_orbit_[pair]} * layers_ + s] = sent;
      std::uint32_t& carried =
          carried_[std::size_t{carrier_orbit_[lane_pair(flow.carrier, l)]} * layers_ + s];
      if (!shared) {
        carried = sent;
        continue;
      }
      if (carried == none)
        carried = program_.add_column(0, 0, amount(flow), form_.whole.has_value());
      program_.add_row(0, unlimited, std::vector<Term>{{carried, 1}, {sent, -1}});
    }
  }
}

void StepProgram::add_balances(std::uint32_t f) {
  for (std::uint32_t v = 0; v < network_.node_count(); ++v) {
    if (!node_first_[node_pair(f, v)]) continue;
    problem_.require_time();
    std::vector<Term> balance;
    if (std::ranges::binary_search(flows_.flows[f].sources, v)) balance.push_back({give(f, v), 1});
    if (form_.steps == 0)
      add_static_balance(f, v, std::move(balance));
    else
      add_balance_in_time(f, v, std::move(balance));
  }
  add_supply(f);
}

// Given and received = sent on and wanted.
void StepProgram::add_static_balance(std::uint32_t f, std::uint32_t v, std::vector<Term> balance) {
  add_lanes(balance, f, network_.in_lanes[v], 0, 1);
  add_lanes(balance, f, network_.out_lanes[v], 0, -1);
  const double needed = wanted(f, v);
  if (!balance.empty() || needed > 0) program_.add_row(needed, needed, balance);
}

// What there is before a step = sent in it and kept; what there is after it = kept and received; in
// the end, what is wanted.
void StepProgram::add_balance_in_time(std::uint32_t f, std::uint32_t v, std::vector<Term> balance) {
  for (std::uint32_t s = 0; s < form_.steps; ++s) {
    add_lanes(balance, f, network_.out_lanes[v], s, -1);
    if (balance.empty() && !receives(f, v, s)) continue;
    const std::uint32_t kept = program_.add_column(0, 0, amount(flows_.flows[f]));
    balance.push_back({kept, -1});
    program_.add_row(0, 0, balance);
    balance.assign({{kept, 1}});
    add_lanes(balance, f, network_.in_lanes[v], s, 1);
  }
  const double needed = wanted(f, v);
  if (!balance.empty() || needed > 0) program_.add_row(needed, needed, balance);
}

double StepProgram::wanted(std::uint32_t f, std::uint32_t v) const {
  const std::vector<Sink>& sinks = flows_.flows[f].sinks;
  const auto sink = std::ranges::find(sinks, v, &Sink::node);
  return sink == sinks.end() ? 0 : static_cast<double>(sink->amount) * chunks_per_shard_;
}

bool StepProgram::receives(std::uint32_t f, std::uint32_t v, std::uint32_t s) const {
  return std::ranges::any_of(network_.in_lanes[v],
                             [&](LaneId l) { return sent_column(f, l.value, s) != none; });
}

void StepProgram::add_lanes(std::vector<Term>& terms, std::uint32_t f,
                            std::span<const LaneId> lanes, std::uint32_t s, double factor) const {
  for (const auto [l] : lanes)
    if (const std::uint32_t column = sent_column(f, l, s); column != none)
      terms.push_back({column, factor});
}

std::uint32_t StepProgram::give(std::uint32_t f, std::uint32_t v) {
  std::uint32_t& column = given_[node_orbit_[node_pair(f, v)]];
  if (column == none)
    column = program_.add_column(0, 0, amount(flows_.flows[f]), form_.whole.has_value());
  return column;
}

// All that is wanted comes from the sources. One row for flows that are exchanged: that of the flow
// whose sources are first in their orbits.
void StepProgram::add_supply(std::uint32_t f) {
  const StepFlow& flow = flows_.flows[f];
  if (!std::ranges::any_of(flow.sources,
                           [&](std::uint32_t v) { return node_first_[node_pair(f, v)]; }))
    return;
  std::vector<Term> terms;
  for (const std::uint32_t v : flow.sources) terms.push_back({give(f, v), 1});
  program_.add_row(amount(flow), amount(flow), terms);
}

// Scaled by a power of two, so that the fraction becomes two exact numbers of moderate size.
void StepProgram::add_limit(const StepLimit& limit) {
  const auto numerator = static_cast<double>(limit.per_round.numerator());
  const auto denominator = static_cast<double>(limit.per_round.denominator());
  const double scale = std::exp2(std::ilogb(denominator));
  for (std::uint32_t s = 0; s < layers_; ++s) {
    problem_.require_time();
    std::vector<Term> terms{{rounds_[s], -numerator / scale}};
    for (std::uint32_t c = 0; c < flows_.carriers.size(); ++c)
      for (const LaneId l : limit.lanes)
        if (const std::uint32_t column =
                carried_[std::size_t{carrier_orbit_[lane_pair(c, l.value)]} * layers_ + s];
            column != none)
          terms.push_back({column, denominator / scale});
    if (terms.size() > 1) program_.add_row(-unlimited, 0, terms);
  }
}

} // namespace tutti
