#include "sim/random.hpp"
#include "synth/solvers/integer_program.hpp"
#include "synth/solvers/linear_program.hpp"
#include "synth/solvers/proven_minimum.hpp"
#include "tests/catch.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace linear_program_test {

using namespace tutti;

namespace {

const SynthesisOptions no_limit;

SynthesisOptions cancelled_after(int questions) {
  SynthesisOptions options;
  options.cancelled = [questions, asked = 0]() mutable { return ++asked > questions; };
  return options;
}

LinearSolution relaxed(const LinearProgram& program) {
  return solve_relaxed(program, WorkLimit(no_limit));
}

IntegerSolution integer(const LinearProgram& program, const IntegerSettings& settings = {}) {
  return solve_integer(program, WorkLimit(no_limit), settings);
}

bool holds(const LinearProgram& program, const std::vector<double>& columns) {
  const auto within = [](double value, LinearProgram::Range range) {
    return value > range.low - 1e-6 && value < range.high + 1e-6;
  };
  for (std::uint32_t c = 0; c < program.column_count(); ++c)
    if (!within(columns[c], program.column(c))) return false;
  for (std::uint32_t r = 0; r < program.row_count(); ++r) {
    double sum = 0;
    for (const Term& term : program.terms(r)) sum += term.factor * columns[term.column];
    if (!within(sum, program.row(r))) return false;
  }
  return true;
}

// Least rounds per chunk of an All-Gather in so many steps, flows divisible at will: column r(t)
// per step; f(s, l, t), what goes of source s's chunk over link l; x(s, v, t), what v has of it.
LinearProgram all_gather(const Topology& topology, std::uint32_t steps, double slowest) {
  LinearProgram program;
  const std::uint32_t nodes = topology.npu_count();
  const auto links = static_cast<std::uint32_t>(topology.links().size());
  for (std::uint32_t t = 0; t < steps; ++t) program.add_column(1, 0, unlimited);
  for (std::uint32_t i = 0; i < nodes * links * steps; ++i) program.add_column(0, 0, unlimited);
  const auto flow = [=](std::uint32_t s, std::uint32_t l, std::uint32_t t) {
    return steps + (s * links + l) * steps + t;
  };
  const auto has = [=](std::uint32_t s, std::uint32_t v, std::uint32_t t) {
    return flow(nodes, 0, 0) + (s * nodes + v) * (steps + 1) + t;
  };
  for (std::uint32_t s = 0; s < nodes; ++s)
    for (std::uint32_t v = 0; v < nodes; ++v)
      for (std::uint32_t t = 0; t <= steps; ++t)
        program.add_column(0, s == v || t == steps ? 1 : 0, s == v || t > 0 ? 1 : 0);
  for (std::uint32_t s = 0; s < nodes; ++s) {
    for (std::uint32_t t = 0; t < steps; ++t) {
      for (std::uint32_t v = 0; v < nodes; ++v) {
        std::vector<Term> gained{{has(s, v, t + 1), 1}, {has(s, v, t), -1}};
        for (std::uint32_t l = 0; l < links; ++l)
          if (topology.links()[l].to.value == v) gained.push_back({flow(s, l, t), -1});
        program.add_row(-unlimited, 0, gained);
      }
      for (std::uint32_t l = 0; l < links; ++l)
        program.add_row(
            -unlimited, 0,
            std::vector<Term>{{flow(s, l, t), 1}, {has(s, topology.links()[l].from.value, t), -1}});
    }
  }
  for (std::uint32_t l = 0; l < links; ++l) {
    const double rate = static_cast<double>(topology.links()[l].bandwidth.bytes_per_second);
    for (std::uint32_t t = 0; t < steps; ++t) {
      std::vector<Term> load{{t, -rate / slowest}};
      for (std::uint32_t s = 0; s < nodes; ++s) load.push_back({flow(s, l, t), 1});
      program.add_row(-unlimited, 0, load);
    }
  }
  return program;
}

// Small whole numbers, always feasible at the point that it is built around, bounded columns.
LinearProgram random_program(Random& random, bool integer) {
  LinearProgram program;
  const auto number = [&] { return static_cast<double>(random.below(9)) - 4; };
  std::vector<double> point;
  for (int c = 0; c < 6; ++c) {
    point.push_back(static_cast<double>(random.below(4)));
    program.add_column(number(), 0, 3, integer);
  }
  for (int r = 0; r < 5; ++r) {
    std::vector<Term> terms;
    double sum = 0;
    for (std::uint32_t c = 0; c < 6; ++c) {
      terms.push_back({c, number()});
      sum += terms.back().factor * point[c];
    }
    const double below = static_cast<double>(random.below(3));
    const double above = static_cast<double>(random.below(3));
    program.add_row(r == 0 ? -unlimited : sum - below, r == 1 ? unlimited : sum + above, terms);
  }
  return program;
}

// The least cost among all 4^6 points.
double brute_force(const LinearProgram& program) {
  double best = unlimited;
  for (unsigned code = 0; code < 4096; ++code) {
    std::vector<double> columns;
    double cost = 0;
    for (std::uint32_t c = 0; c < 6; ++c) {
      columns.push_back(code >> (2 * c) & 3);
      cost += columns.back() * program.cost(c);
    }
    if (cost < best && holds(program, columns)) best = cost;
  }
  return best;
}

// Split in halves that weigh the same in every respect: few have such, and it is hard to find them.
LinearProgram market_split() {
  LinearProgram program;
  Random random(1);
  std::vector<std::vector<Term>> rows(4);
  std::vector<double> weights(4);
  for (int item = 0; item < 30; ++item) {
    const std::uint32_t column = program.add_column(0, 0, 1, true);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      rows[r].push_back({column, static_cast<double>(random.below(100))});
      weights[r] += rows[r].back().factor;
    }
  }
  for (std::size_t r = 0; r < rows.size(); ++r) {
    rows[r].push_back({program.add_column(1, 0, unlimited), 1});
    rows[r].push_back({program.add_column(1, 0, unlimited), -1});
    const double half = std::floor(weights[r] / 2);
    program.add_row(half, half, rows[r]);
  }
  return program;
}

} // namespace

TEST_CASE("a row adds up the terms of a column and leaves out zeros") {
  LinearProgram program;
  const std::uint32_t x = program.add_column(1, 0, 1), y = program.add_column(2, 0, 1, true);
  const std::uint32_t z = program.add_column(0, -unlimited, unlimited);
  CHECK(program.add_row(0, 1, std::vector<Term>{{z, 2}, {x, 1}, {y, 3}, {z, 0.5}, {y, -3}}) == 0);
  CHECK(program.add_row(2, 2, {}) == 1);
  REQUIRE(program.terms(0).size() == 2);
  CHECK(program.terms(0)[0].column == z);
  CHECK(program.terms(0)[0].factor == 2.5);
  CHECK(program.terms(0)[1].column == x);
  CHECK(program.terms(1).empty());
  CHECK((program.is_integer(y) && !program.is_integer(x)));
  CHECK((program.column_count() == 3 && program.row_count() == 2));
}

TEST_CASE("a linear program's optimum and prices are those by hand") {
  LinearProgram program; // both rows are tight at (3, 1), and 3/2 + 1/2 = 2, 3/2 + 3 * 1/2 = 3
  const std::uint32_t x = program.add_column(2, 0, unlimited), y = program.add_column(3, 0, 100);
  program.add_row(4, unlimited, std::vector<Term>{{x, 1}, {y, 1}});
  program.add_row(6, unlimited, std::vector<Term>{{x, 1}, {y, 3}});
  program.add_row(-unlimited, 50, std::vector<Term>{{x, 1}});
  const LinearSolution solution = relaxed(program);
  REQUIRE(solution.status == SolverStatus::optimal);
  CHECK(solution.objective == Approx(9));
  CHECK(solution.columns[x] == Approx(3));
  CHECK(solution.columns[y] == Approx(1));
  CHECK(solution.duals[0] == Approx(1.5));
  CHECK(solution.duals[1] == Approx(0.5));
  CHECK(solution.duals[2] == Approx(0).margin(1e-9));
  CHECK(proven_minimum(program, solution.duals) == Ratio(9));
}

TEST_CASE("many rows through one vertex don't hide the optimum") {
  LinearProgram program; // maximize x + y under k x + y <= 1 for k = 1 .. 20
  const std::uint32_t x = program.add_column(-1, 0, unlimited),
                      y = program.add_column(-1, 0, unlimited);
  for (int k = 1; k <= 20; ++k)
    program.add_row(-unlimited, 1, std::vector<Term>{{x, static_cast<double>(k)}, {y, 1}});
  const LinearSolution solution = relaxed(program);
  REQUIRE(solution.status == SolverStatus::optimal);
  CHECK(solution.objective == Approx(-1));
  CHECK(proven_minimum(program, solution.duals) == Ratio(-1));
}

TEST_CASE("what has no solution, or no least one, is told apart") {
  LinearProgram infeasible;
  infeasible.add_column(1, 0, 1);
  infeasible.add_row(2, unlimited, std::vector<Term>{{0, 1}});
  CHECK(relaxed(infeasible).status == SolverStatus::infeasible);
  CHECK(relaxed(infeasible).columns.empty());
  CHECK(integer(infeasible).status == SolverStatus::infeasible);

  LinearProgram unbounded;
  unbounded.add_column(-1, 0, unlimited, true);
  unbounded.add_column(0, 0, unlimited, true);
  unbounded.add_row(-unlimited, 1, std::vector<Term>{{0, 1}, {1, -1}});
  CHECK(relaxed(unbounded).status == SolverStatus::unbounded);
  CHECK(integer(unbounded).status == SolverStatus::unbounded);

  LinearProgram odd = unbounded; // what is left over is unbounded, but nothing satisfies it
  odd.add_column(0, 0, 5, true);
  odd.add_row(3, 3, std::vector<Term>{{2, 2}});
  CHECK(relaxed(odd).status == SolverStatus::unbounded);
  CHECK(integer(odd).status == SolverStatus::infeasible);

  LinearProgram both = unbounded;
  both.add_row(1, unlimited, std::vector<Term>{{0, 1}, {1, -2}});
  both.add_row(-unlimited, 0, std::vector<Term>{{0, 1}, {1, -2}});
  CHECK(relaxed(both).status == SolverStatus::infeasible);
  CHECK(integer(both).status == SolverStatus::infeasible);
}

TEST_CASE("programs without rows or columns have an optimum") {
  LinearProgram nothing;
  CHECK(relaxed(nothing).status == SolverStatus::optimal);
  CHECK(integer(nothing).status == SolverStatus::optimal);
  CHECK(proven_minimum(nothing, {}) == Ratio(0));
  LinearProgram free;
  free.add_column(-1, 0, 2.5, true);
  CHECK(relaxed(free).objective == Approx(-2.5));
  CHECK(integer(free).objective == -2);
  CHECK(proven_minimum(free, {}) == Ratio(-5, 2));
  LinearProgram empty_row;
  empty_row.add_row(1, 2, {});
  CHECK(relaxed(empty_row).status == SolverStatus::infeasible);
  CHECK(integer(empty_row).status == SolverStatus::infeasible);
}

TEST_CASE("the rounds of All-Gather on DGX-1 are proven as in the SCCL paper") {
  // Seven chunks come in over six NVLinks; within two steps 3/2 (Cai et al. 2021, table 4).
  for (const auto& [steps, expected] : {std::pair{2U, Ratio(3, 2)}, std::pair{3U, Ratio(7, 6)}}) {
    const LinearProgram program = all_gather(make_topology("dgx1"), steps, 25e9);
    const LinearSolution solution = relaxed(program);
    REQUIRE(solution.status == SolverStatus::optimal);
    CHECK(solution.objective == Approx(expected.value()));
    CHECK(holds(program, solution.columns));
    CHECK(proven_minimum(program, solution.duals) == expected);
  }
  CHECK(relaxed(all_gather(make_topology("dgx1"), 1, 25e9)).status == SolverStatus::infeasible);
}

TEST_CASE("large linear programs are solved exactly too", "[heavy]") {
  // 15 chunks come in over four links; a torus that is a hypercube wastes none.
  const Topology torus = make_topology("torus2d:4x4,bandwidth=25GB/s");
  const LinearProgram program = all_gather(torus, 5, 25e9);
  REQUIRE(program.row_count() > 5000);
  const LinearSolution solution = relaxed(program);
  REQUIRE(solution.status == SolverStatus::optimal);
  CHECK(holds(program, solution.columns));
  CHECK(proven_minimum(program, solution.duals) == Ratio(15, 4));
  CHECK(solution.duals == relaxed(program).duals);
  // One step too few for its diameter.
  CHECK(relaxed(all_gather(torus, 3, 25e9)).status == SolverStatus::infeasible);
}

TEST_CASE("a limit stops the solvers of linear programs") {
  const LinearProgram small = all_gather(make_topology("dgx1"), 2, 25e9);
  const LinearProgram large =
      all_gather(make_topology("torus2d:4x4,bandwidth=25GB/s"), 8, 25e9); // half a second
  const SynthesisOptions at_once = cancelled_after(0);
  CHECK(solve_relaxed(small, WorkLimit(at_once)).status == SolverStatus::stopped);
  const SynthesisOptions later = cancelled_after(1);
  const LinearSolution stopped = solve_relaxed(large, WorkLimit(later));
  CHECK(stopped.status == SolverStatus::stopped);
  CHECK(stopped.columns.empty());
}

TEST_CASE("integer programs have the optimum of brute force") {
  Random random(7);
  int fractional = 0;
  for (int i = 0; i < 25; ++i) {
    const LinearProgram program = random_program(random, true);
    const IntegerSolution solution = integer(program);
    REQUIRE(solution.status == SolverStatus::optimal);
    CHECK(solution.objective == brute_force(program));
    CHECK(holds(program, solution.columns));
    CHECK(std::all_of(solution.columns.begin(), solution.columns.end(),
                      [](double x) { return x == std::round(x); }));
    fractional += relaxed(program).objective < solution.objective - 1e-6 ? 1 : 0;
  }
  CHECK(fractional > 5); // it had something to do
}

TEST_CASE("an integer program without an integer solution is infeasible") {
  LinearProgram program;
  program.add_column(1, 0, 10, true);
  program.add_column(1, 0, 10, true);
  program.add_row(3, 3, std::vector<Term>{{0, 2}, {1, 2}});
  CHECK(relaxed(program).status == SolverStatus::optimal);
  CHECK(integer(program).status == SolverStatus::infeasible);
}

TEST_CASE("integer programs end early with the best so far") {
  const LinearProgram program = market_split();
  const IntegerSolution first = integer(program, {.first_feasible = true});
  CHECK(first.status == SolverStatus::stopped);
  REQUIRE_FALSE(first.columns.empty());
  CHECK(holds(program, first.columns));
  const IntegerSolution best = integer(program, {.most_nodes = 200});
  CHECK(best.status == SolverStatus::stopped);
  REQUIRE_FALSE(best.columns.empty());
  CHECK(holds(program, best.columns));
  CHECK(best.objective <= first.objective);
  CHECK(best.columns == integer(program, {.most_nodes = 200}).columns); // the same each time
  const SynthesisOptions soon = cancelled_after(5);
  CHECK(solve_integer(program, WorkLimit(soon)).status == SolverStatus::stopped);
  const SynthesisOptions at_once = cancelled_after(0);
  CHECK(solve_integer(program, WorkLimit(at_once)).status == SolverStatus::stopped);
}

TEST_CASE("integer programs start from what is known, and never end with less") {
  const LinearProgram program = market_split();
  const IntegerSolution best = integer(program, {.most_nodes = 200});
  REQUIRE_FALSE(best.columns.empty());
  const SynthesisOptions at_once = cancelled_after(0);
  const IntegerSolution kept = solve_integer(program, WorkLimit(at_once), {.start = best.columns});
  CHECK(kept.status == SolverStatus::stopped);
  CHECK(kept.columns == best.columns);
  CHECK(kept.objective == best.objective);
  // Without a node of its own, the search has it from the start.
  CHECK(integer(program, {.most_nodes = 0, .start = best.columns}).objective <= best.objective);
  // What is no solution is no start.
  std::vector<double> wrong = best.columns;
  wrong.front() = -1;
  CHECK(solve_integer(program, WorkLimit(at_once), {.start = wrong}).columns.empty());
  wrong.pop_back();
  CHECK(solve_integer(program, WorkLimit(at_once), {.start = wrong}).columns.empty());
}

TEST_CASE("integer programs: bounds hold, gaps and cut-offs are kept to") {
  Random random(4);
  for (int i = 0; i < 25; ++i) {
    CAPTURE(i);
    const LinearProgram program = random_program(random, true);
    const double best = brute_force(program);
    for (const std::int64_t nodes : {0, 1, 5, -1}) {
      const IntegerSolution solution = integer(program, {.most_nodes = nodes});
      CHECK(solution.at_least <= best + 1e-6);
      if (solution.status == SolverStatus::optimal)
        CHECK(solution.at_least == Approx(best).margin(1e-6));
    }
    const IntegerSolution any = integer(program, {.first_feasible = true});
    REQUIRE_FALSE(any.columns.empty());
    const IntegerSolution started = integer(program, {.start = any.columns});
    CHECK(started.status == SolverStatus::optimal);
    CHECK(started.objective == Approx(best).margin(1e-6));
    const IntegerSolution near = integer(program, {.gap = 0.2});
    CHECK(near.status == SolverStatus::optimal);
    CHECK(near.at_least <= best + 1e-6);
    CHECK(near.objective <= near.at_least + 0.2 * std::abs(near.objective) + 1e-6);
    CHECK(integer(program, {.below = best}).status == SolverStatus::infeasible);
    CHECK(integer(program, {.below = best}).columns.empty());
    const IntegerSolution below = integer(program, {.below = best + 0.5});
    CHECK(below.status == SolverStatus::optimal);
    CHECK(below.objective == Approx(best).margin(1e-6));
  }
  // A program that isn't closed by then.
  const LinearProgram hard = market_split();
  const IntegerSolution stopped = integer(hard, {.most_nodes = 50});
  CHECK(stopped.at_least <= stopped.objective);
}

TEST_CASE("optimal duals prove the optimum, and no duals prove more") {
  Random random(3);
  const auto number = [&] { return static_cast<double>(random.below(2001)) / 250 - 4; };
  for (int i = 0; i < 100; ++i) {
    const LinearProgram program = random_program(random, false);
    const LinearSolution solution = relaxed(program);
    REQUIRE(solution.status == SolverStatus::optimal);
    const std::optional<Ratio> proven = proven_minimum(program, solution.duals);
    REQUIRE(proven);
    CHECK(proven->value() == Approx(solution.objective).margin(1e-9));
    std::vector<double> duals(program.row_count());
    std::generate(duals.begin(), duals.end(), number);
    const std::optional<Ratio> other = proven_minimum(program, duals);
    REQUIRE(other);
    CHECK(*other <= *proven);
  }
}

TEST_CASE("duals with rounding errors still prove the exact optimum") {
  LinearProgram program; // 6 x >= 7
  program.add_column(1, 0, unlimited);
  program.add_row(7, unlimited, std::vector<Term>{{0, 6}});
  for (const double error : {0.0, 1e-12, -1e-12, 1e-9, -1e-9})
    CHECK(proven_minimum(program, std::vector{1.0 / 6 + error}) == Ratio(7, 6));
  CHECK(proven_minimum(program, std::vector{0.1}) == Ratio(7, 10)); // worse, but true
}

TEST_CASE("a bound that can't be told is none") {
  LinearProgram program;
  program.add_column(1, 0, unlimited);
  program.add_row(1, unlimited, std::vector<Term>{{0, 1}});
  CHECK_FALSE(proven_minimum(program, std::vector{2.0}));        // 1 - 2 < 0 and no upper limit
  CHECK(proven_minimum(program, std::vector{-1.0}) == Ratio(0)); // of the wrong sign: not used
  CHECK(proven_minimum(program, std::vector{std::nan("")}) == Ratio(0));
  CHECK(proven_minimum(program, std::vector{unlimited}) == Ratio(0));
  LinearProgram huge;
  huge.add_column(1, 1e30, unlimited);
  CHECK_FALSE(proven_minimum(huge, {}));
}

TEST_CASE("a program's doubles are taken as the fractions that they are") {
  LinearProgram program;
  program.add_column(1, 0.1, unlimited);
  CHECK(proven_minimum(program, {}) == Ratio(3'602'879'701'896'397, 36'028'797'018'963'968));
}

} // namespace linear_program_test
