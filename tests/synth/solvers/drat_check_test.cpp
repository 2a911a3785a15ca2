#include "tests/synth/solvers/drat_check.hpp"

#include "tests/catch.hpp"

#include <string>

namespace drat_check_test {

using namespace tutti::testing;

namespace {

// Any two of a and b, and both of their negations: unsatisfiable, but not by propagation.
const char* const square = "c all four\np cnf 2 4\n1 2 0\n1 -2 0\n-1 2 0\n-1 -2 0\n";

/// Three pigeons, two holes: variable 2 * pigeon + hole + 1.
const char* const pigeons = "p cnf 6 9\n1 2 0\n3 4 0\n5 6 0\n"
                            "-1 -3 0\n-1 -5 0\n-3 -5 0\n-2 -4 0\n-2 -6 0\n-4 -6 0\n";

} // namespace

TEST_CASE("a proof by propagation is accepted") {
  CHECK(drat_fault(square, "1 0\n0\n") == "");
  CHECK(drat_fault(square, "-2 0\nd 1 -2 0\n0\n") == "");
  CHECK(drat_fault(pigeons, "-1 0\n0\n") == "");
  CHECK(drat_fault(pigeons, "c pigeon 0 is in no hole\n-1 0\nd -1 -3 0\nd -5 -1 0\n0\n") == "");
  CHECK(drat_fault("p cnf 1 2\n1 0\n-1 0\n", "0\n") == "");
  CHECK(drat_fault("p cnf 1 1\n0\n", "") == "");
}

TEST_CASE("a proof with a new variable is accepted") {
  // 3 <-> 1 and 2: no clause but those of the definition speaks of 3.
  CHECK(drat_fault("p cnf 3 4\n1 2 0\n1 -2 0\n-1 2 0\n-1 -2 0\n",
                   "3 -1 -2 0\n-3 1 0\n-3 2 0\n-3 0\n1 0\n0\n") == "");
  // The definition's first literal is what the resolvents are on.
  CHECK(drat_fault("p cnf 3 4\n1 2 0\n1 -2 0\n-1 2 0\n-1 -2 0\n",
                   "3 -1 -2 0\n1 -3 0\n-3 2 0\n-3 0\n1 0\n0\n") == "");
  const char* const satisfiable = "p cnf 3 2\n1 2 0\n-1 2 0\n";
  CHECK(drat_fault(satisfiable, "3 -1 -2 0\n-3 -2 0\n") == "line 2: doesn't follow: -3 -2 0");
  CHECK(drat_fault(satisfiable, "3 -1 -2 0\n-3 1 0\n-2 0\n") == "line 3: doesn't follow: -2 0");
}

TEST_CASE("a wrong proof is refused") {
  CHECK(drat_fault(square, "0\n") == "line 1: doesn't follow: 0");
  CHECK(drat_fault(square, "") == "the empty clause isn't derived");
  CHECK(drat_fault(square, "1 0\n") == "the empty clause isn't derived");
  // A satisfiable set has none; each step from it is refused.
  const char* const satisfiable = "p cnf 2 3\n1 2 0\n1 -2 0\n-1 2 0\n";
  CHECK(drat_fault(satisfiable, "1 0\n0\n") == "line 2: doesn't follow: 0");
  CHECK(drat_fault(satisfiable, "-1 0\n0\n") == "line 1: doesn't follow: -1 0");
  CHECK(drat_fault(satisfiable, "-1 -2 0\n0\n") == "line 1: doesn't follow: -1 -2 0");
  // What was deleted can't be used, even a unit.
  CHECK(drat_fault(square, "d 2 1 0\n1 0\n0\n") == "line 2: doesn't follow: 1 0");
  CHECK(drat_fault(square, "1 0\nd 1 0\n0\n") == "line 3: doesn't follow: 0");
  CHECK(drat_fault(square, "d 1 2 0\nd 1 2 0\n1 0\n0\n") == "line 2: there is no clause 1 2 0");
  CHECK(drat_fault(square, "d 1 0\n1 0\n0\n") == "line 1: there is no clause 1 0");
}

TEST_CASE("a clause that is there twice can be deleted twice") {
  const char* const twice = "p cnf 2 5\n1 2 0\n2 1 0\n1 -2 0\n-1 2 0\n-1 -2 0\n";
  CHECK(drat_fault(twice, "d 1 2 0\n1 0\n0\n") == "");
  CHECK(drat_fault(twice, "d 1 2 0\nd 1 2 0\n1 0\n0\n") == "line 3: doesn't follow: 1 0");
}

TEST_CASE("what isn't DIMACS or DRAT is refused") {
  CHECK(drat_fault("1 0\n-1 0\n", "0\n") == "no clause: 1 0");
  CHECK(drat_fault("", "0\n") == "there is no header");
  CHECK(drat_fault("p cnf 1\n1 0\n", "0\n") == "the header isn't `p cnf VARIABLES CLAUSES`");
  CHECK(drat_fault("p cnf 1 3\n1 0\n-1 0\n", "0\n") ==
        "the header announces another number of clauses");
  CHECK(drat_fault("p cnf 1 2\n2 0\n-1 0\n", "0\n") == "no such variable: 2 0");
  CHECK(drat_fault("p cnf 1 2\n1\n-1 0\n", "0\n") == "no clause: 1");
  CHECK(drat_fault(square, "1\n0\n") == "line 1: no clause: 1");
  CHECK(drat_fault(square, "a\x03\x01") == "line 1: no clause: a\x03\x01"); // the binary form
}

} // namespace drat_check_test
