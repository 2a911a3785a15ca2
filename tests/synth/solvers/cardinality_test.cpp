#include "synth/solvers/cardinality.hpp"
#include "tests/catch.hpp"

#include <bit>

namespace cardinality_test {

using namespace tutti;

namespace {

const SynthesisOptions no_limit;

std::vector<Literal> new_variables(SatSolver& solver, std::size_t count) {
  std::vector<Literal> variables;
  for (std::size_t i = 0; i < count; ++i) variables.push_back(solver.new_variable());
  return variables;
}

// Whether the constraint that `constrain` adds to so many variables allows this assignment (a bit
// per variable).
template <typename Constrain>
bool allows(std::size_t variables, unsigned assignment, Constrain constrain) {
  SatSolver solver;
  const std::vector<Literal> inputs = new_variables(solver, variables);
  constrain(solver, inputs);
  for (std::size_t i = 0; i < variables; ++i)
    solver.add({(assignment >> i & 1) != 0 ? inputs[i] : -inputs[i]});
  return solver.solve(WorkLimit(no_limit)) == SatAnswer::sat;
}

} // namespace

TEST_CASE("at most so many: exactly the assignments with a larger sum are forbidden") {
  for (std::size_t size = 0; size <= 7; ++size) {
    for (std::uint32_t bound = 0; bound <= size + 1; ++bound) {
      for (unsigned assignment = 0; assignment < 1U << size; ++assignment) {
        const bool allowed = allows(size, assignment, [&](SatSolver& solver, auto& inputs) {
          at_most(solver, inputs, bound);
        });
        if (allowed == (std::popcount(assignment) <= static_cast<int>(bound))) continue;
        FAIL_CHECK(size << " inputs, at most " << bound << ", assignment " << assignment);
      }
    }
  }
}

TEST_CASE("at most one: exactly the assignments with a larger sum are forbidden") {
  for (const std::size_t size : {1U, 2U, 6U, 7U, 10U}) {
    for (unsigned assignment = 0; assignment < 1U << size; ++assignment) {
      const bool allowed = allows(
          size, assignment, [](SatSolver& solver, auto& inputs) { at_most_one(solver, inputs); });
      if (allowed == (std::popcount(assignment) <= 1)) continue;
      FAIL_CHECK(size << " inputs, assignment " << assignment);
    }
  }
}

TEST_CASE("an input that occurs several times counts as often") {
  for (unsigned assignment = 0; assignment < 16; ++assignment) { // 3a + b + 2 (not c) + d <= 4
    const auto bit = [&](unsigned i) { return static_cast<int>(assignment >> i & 1); };
    const bool expected = 3 * bit(0) + bit(1) + 2 * (1 - bit(2)) + bit(3) <= 4;
    CHECK(expected == allows(4, assignment, [](SatSolver& solver, auto& inputs) {
            const Literal a = inputs[0], b = inputs[1], c = inputs[2], d = inputs[3];
            at_most(solver, std::vector<Literal>{a, b, a, -c, d, a, -c}, 4);
          }));
  }
}

TEST_CASE("a totalizer's outputs are forced by the sum, the others are free") {
  constexpr std::size_t size = 6;
  for (const std::uint32_t most : {0U, 1U, 3U, 6U, 9U}) {
    for (unsigned assignment = 0; assignment < 1U << size; ++assignment) {
      const auto sum = static_cast<std::uint32_t>(std::popcount(assignment));
      for (std::uint32_t k = 0; k < std::min<std::uint32_t>(most, size); ++k) {
        const bool can_be_false = allows(size, assignment, [&](SatSolver& solver, auto& inputs) {
          const std::vector<Literal> outputs = totalized(solver, inputs, most);
          REQUIRE(outputs.size() == std::min<std::size_t>(most, size));
          solver.add({-outputs[k]});
        });
        if (can_be_false == (sum <= k)) continue;
        FAIL_CHECK("most " << most << ", output " << k << ", assignment " << assignment);
      }
    }
  }
}

} // namespace cardinality_test
