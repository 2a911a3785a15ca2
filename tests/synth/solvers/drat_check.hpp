// Is this a proof that clauses can't be satisfied? What a solver claims is checked by other means
// than the solver's.
#pragma once

#include <string>

namespace tutti::testing {

/// What is wrong with a proof in DRAT as text (Wetzler, Heule, Hunt 2014, "DRAT-trim: Efficient
/// checking and trimming using expressive clausal proofs") of the clauses in DIMACS; empty where it
/// proves them unsatisfiable. Checked forwards: each added clause must follow by unit propagation
/// (RUP), or all of its resolvents on its first literal must (RAT); deleted clauses must be there,
/// and are gone for good, units too; the empty clause must be derived. What comes after that isn't
/// looked at. For small proofs: every check propagates anew, O(literals of all clauses), for RAT
/// once for each clause with the negated literal.
[[nodiscard]] std::string drat_fault(const std::string& dimacs, const std::string& proof);

} // namespace tutti::testing
