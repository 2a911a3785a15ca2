#include "sim/files/files.hpp"
#include "synth/solvers/sat.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/synth/solvers/drat_check.hpp"
#include "tests/temporary_folder.hpp"

#include <string>
#include <vector>

namespace sat_test {

using namespace tutti;

namespace {

const SynthesisOptions no_limit;

// So many pigeons, each in one of the holes, no two in one.
void add_pigeons(SatSolver& solver, int pigeons, int holes) {
  for (int i = 0; i < pigeons * holes; ++i) (void)solver.new_variable();
  const auto in = [&](int pigeon, int hole) { return pigeon * holes + hole + 1; };
  for (int pigeon = 0; pigeon < pigeons; ++pigeon) {
    std::vector<Literal> somewhere;
    for (int hole = 0; hole < holes; ++hole) somewhere.push_back(in(pigeon, hole));
    solver.add(somewhere);
    for (int other = 0; other < pigeon; ++other)
      for (int hole = 0; hole < holes; ++hole) solver.add({-in(pigeon, hole), -in(other, hole)});
  }
}

} // namespace

TEST_CASE("SAT: a solution satisfies every clause") {
  SatSolver solver;
  add_pigeons(solver, 4, 4);
  CHECK(solver.variable_count() == 16);
  REQUIRE(solver.solve(WorkLimit(no_limit)) == SatAnswer::sat);
  for (int pigeon = 0; pigeon < 4; ++pigeon) {
    int holes = 0, pigeons = 0;
    for (int other = 0; other < 4; ++other) {
      holes += solver.value(pigeon * 4 + other + 1) ? 1 : 0;
      pigeons += solver.value(other * 4 + pigeon + 1) ? 1 : 0;
    }
    CHECK(holes >= 1);
    CHECK(pigeons == 1);
    CHECK(solver.value(pigeon + 1) != solver.value(-(pigeon + 1)));
  }
}

TEST_CASE("SAT: five pigeons don't fit in four holes") {
  SatSolver solver;
  add_pigeons(solver, 5, 4);
  CHECK(solver.solve(WorkLimit(no_limit)) == SatAnswer::unsat);
}

TEST_CASE("SAT: clauses may be added after an answer, variables may stand in none") {
  SatSolver solver;
  const Literal a = solver.new_variable(), b = solver.new_variable(), c = solver.new_variable();
  solver.add({a, b});
  REQUIRE(solver.solve(WorkLimit(no_limit)) == SatAnswer::sat);
  CHECK((solver.value(a) || solver.value(b)));
  CHECK(solver.value(c) != solver.value(-c));
  solver.add({-a});
  REQUIRE(solver.solve(WorkLimit(no_limit)) == SatAnswer::sat);
  CHECK(solver.value(b));
  solver.add({-b, c});
  solver.add({-c});
  CHECK(solver.solve(WorkLimit(no_limit)) == SatAnswer::unsat);
}

TEST_CASE("SAT: a limit of conflicts or of the work leaves it undecided") {
  SatSolver solver;
  add_pigeons(solver, 11, 10);
  CHECK(solver.solve(WorkLimit(no_limit), {.most_conflicts = 100}) == SatAnswer::unknown);
  SynthesisOptions cancelled;
  int asked = 0;
  cancelled.cancelled = [&asked] { return ++asked > 3; };
  CHECK(solver.solve(WorkLimit(cancelled)) == SatAnswer::unknown);
  CHECK(asked == 4);
}

TEST_CASE("SAT: the proof follows from the clauses that are written beside it") {
  const TemporaryFolder folder;
  const std::string file = folder.file("proofs/pigeons.drat");
  {
    SatSolver solver(file);
    add_pigeons(solver, 4, 3);
    const Literal extra = solver.new_variable();
    solver.add({extra});
    solver.add({extra, -1});
    REQUIRE(solver.solve(WorkLimit(no_limit)) == SatAnswer::unsat);
  }
  const std::string clauses = read_file(file + ".cnf"), proof = read_file(file);
  // 4 + 3 * 6 + 2 clauses, all as they were added.
  CHECK(clauses.starts_with("p cnf 13 24\n1 2 3 0\n"));
  CHECK(clauses.ends_with("\n13 -1 0\n"));
  CHECK(testing::drat_fault(clauses, proof) == "");
  const std::string without_first = "p cnf 13 23\n" + clauses.substr(clauses.find("0\n") + 2);
  CHECK(testing::drat_fault(without_first, proof) != "");
}

TEST_CASE("SAT: a proof that can't be written is an error") {
  CHECK(message_of([] { SatSolver solver("/dev/null/proof"); }) ==
        "/dev/null/proof: cannot write: Not a directory");
  const TemporaryFolder folder;
  CHECK(message_of([&] { SatSolver solver(folder.file("")); }) ==
        folder.file("") + ": cannot write: Is a directory");
}

} // namespace sat_test
