#include "sim/random.hpp"
#include "sim/work_limit.hpp"
#include "synth/solvers/column_program.hpp"
#include "tests/catch.hpp"

#include <cstdint>
#include <vector>

namespace column_program_test {

namespace {

using namespace tutti;

/// Covering: rows of sum >= 1 with slack columns, so that it can always be solved.
struct Covering {
  std::vector<std::vector<RowTerm>> columns;
  std::vector<double> costs;
  std::uint32_t rows;

  explicit Covering(Random& random) : rows(static_cast<std::uint32_t>(2 + random.below(6))) {
    for (std::uint32_t r = 0; r < rows; ++r) add({{r, 1}}, 10);
    const std::uint64_t more = 1 + random.below(12);
    for (std::uint64_t c = 0; c < more; ++c) {
      std::vector<RowTerm> terms;
      for (std::uint32_t r = 0; r < rows; ++r)
        if (random.below(2) == 0) terms.push_back({r, 1.0 + static_cast<double>(random.below(4))});
      add(terms, 1.0 + static_cast<double>(random.below(9)));
    }
  }
  void add(std::vector<RowTerm> terms, double cost) {
    columns.push_back(std::move(terms));
    costs.push_back(cost);
  }
  /// The least cost with the first so many columns, by the solver for whole programs.
  [[nodiscard]] double least(std::size_t count, const WorkLimit& limit) const {
    LinearProgram program;
    std::vector<std::vector<Term>> terms(rows);
    for (std::size_t c = 0; c < count; ++c) {
      const std::uint32_t column = program.add_column(costs[c], 0, unlimited);
      for (const RowTerm& term : columns[c]) terms[term.row].push_back({column, term.factor});
    }
    for (const std::vector<Term>& row : terms) program.add_row(1, unlimited, row);
    return solve_relaxed(program, limit).objective;
  }
};

} // namespace

TEST_CASE("ColumnProgram: every column added leads to the optimum of the whole program") {
  Random random(3);
  const SynthesisOptions options;
  const WorkLimit limit(options);
  for (int i = 0; i < 100; ++i) {
    const Covering covering(random);
    ColumnProgram program(std::vector<LinearProgram::Range>(covering.rows, {1, unlimited}));
    for (std::size_t c = 0; c < covering.columns.size(); ++c) {
      CHECK(program.add_column(covering.costs[c], 0, unlimited, covering.columns[c]) == c);
      if (c + 1 < covering.rows) continue;
      const LinearSolution solution = program.solve(limit);
      INFO("case " << i << ", column " << c);
      REQUIRE(solution.status == SolverStatus::optimal);
      CHECK(solution.objective == Approx(covering.least(c + 1, limit)).epsilon(1e-9));
      double dual_value = 0; // strong duality: all right sides are 1
      for (const double dual : solution.duals) dual_value += dual;
      CHECK(dual_value == Approx(solution.objective).epsilon(1e-9));
    }
  }
}

TEST_CASE("ColumnProgram: costs and limits can change") {
  ColumnProgram program(std::vector<LinearProgram::Range>{{1, 1}});
  const std::uint32_t a = program.add_column(1, 0, unlimited, std::vector<RowTerm>{{0, 1}});
  const std::uint32_t b = program.add_column(2, 0, unlimited, std::vector<RowTerm>{{0, 1}});
  const SynthesisOptions options;
  const WorkLimit limit(options);
  CHECK(program.solve(limit).objective == Approx(1));
  program.set_limits(a, 0, 0.25);
  CHECK(program.solve(limit).objective == Approx(0.25 + 0.75 * 2));
  program.set_cost(b, 4);
  CHECK(program.solve(limit).objective == Approx(0.25 + 0.75 * 4));
  program.set_limits(b, 0, 0.5);
  CHECK(program.solve(limit).status == SolverStatus::infeasible);
  CHECK(program.column_count() == 2);
}

TEST_CASE("ColumnProgram: a limit that is used up stops it") {
  SynthesisOptions options;
  options.cancelled = [] { return true; };
  ColumnProgram program(std::vector<LinearProgram::Range>{{1, 1}});
  program.add_column(1, 0, unlimited, std::vector<RowTerm>{{0, 1}});
  CHECK(program.solve(WorkLimit(options)).status == SolverStatus::stopped);
}

} // namespace column_program_test
