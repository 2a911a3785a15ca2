// The totalizer adds unary counts in a balanced tree, cut off at `most`: larger sums are never
// distinguished apart. Sums of at most one have smaller encodings: pairwise clauses for few
// literals, commanders for groups of three, recursively, for more.

#include "synth/solvers/cardinality.hpp"

#include <algorithm>

namespace tutti {

namespace {

// Each literal implies its group's commander, and at most one commander is true (Klieber and Kwon
// 2007, "Efficient CNF encoding for selecting 1 from N objects").
constexpr std::size_t group_size = 3, most_pairwise = 6;

void pairwise(SatSolver& solver, std::span<const Literal> inputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (std::size_t j = i + 1; j < inputs.size(); ++j) solver.add({-inputs[i], -inputs[j]});
}

// Two sorted counts as one: i of the one and j of the other are i + j. Larger sums than can be
// told follow from smaller ones.
std::vector<Literal> added(SatSolver& solver, const std::vector<Literal>& a,
                           const std::vector<Literal>& b, std::uint32_t most) {
  std::vector<Literal> sum(std::min<std::size_t>(a.size() + b.size(), most));
  for (Literal& literal : sum) literal = solver.new_variable();
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = i == 0 ? 1 : 0; j <= b.size() && i + j <= sum.size(); ++j) {
      std::vector<Literal> clause{sum[i + j - 1]};
      if (i > 0) clause.push_back(-a[i - 1]);
      if (j > 0) clause.push_back(-b[j - 1]);
      solver.add(clause);
    }
  }
  return sum;
}

} // namespace

std::vector<Literal> totalized(SatSolver& solver, std::span<const Literal> inputs,
                               std::uint32_t most) {
  if (inputs.empty() || most == 0) return {};
  if (inputs.size() == 1) return {inputs.front()};
  const std::size_t half = inputs.size() / 2;
  const std::vector<Literal> left = totalized(solver, inputs.first(half), most);
  const std::vector<Literal> right = totalized(solver, inputs.subspan(half), most);
  return added(solver, left, right, most);
}

void at_most(SatSolver& solver, std::span<const Literal> inputs, std::uint32_t bound) {
  if (inputs.size() <= bound) return;
  if (bound == 0) {
    for (const Literal literal : inputs) solver.add({-literal});
  } else if (bound + 1 == inputs.size()) {
    std::vector<Literal> one_false;
    for (const Literal literal : inputs) one_false.push_back(-literal);
    solver.add(one_false);
  } else if (bound == 1) {
    at_most_one(solver, inputs);
  } else {
    solver.add({-totalized(solver, inputs, bound + 1).back()});
  }
}

void at_most_one(SatSolver& solver, std::span<const Literal> inputs) {
  if (inputs.size() <= most_pairwise) {
    pairwise(solver, inputs);
    return;
  }
  std::vector<Literal> commanders;
  for (std::size_t first = 0; first < inputs.size(); first += group_size) {
    const auto group = inputs.subspan(first, std::min(group_size, inputs.size() - first));
    pairwise(solver, group);
    commanders.push_back(solver.new_variable());
    for (const Literal literal : group) solver.add({-literal, commanders.back()});
  }
  at_most_one(solver, commanders);
}

} // namespace tutti
