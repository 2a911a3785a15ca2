// How Clp gets a linear program, and what it answers. Only to be included by what calls Clp or
// Cbc.
#pragma once

#include "synth/solvers/linear_program.hpp"

class ClpSimplex;

namespace tutti {

/// With the columns' integrality, and without output. Without costs only feasibility is asked.
void load(const LinearProgram& program, bool with_costs, ClpSimplex& model);

/// What Clp says of what it did last; `stopped` for all failures.
[[nodiscard]] SolverStatus status_of(const ClpSimplex& model);
/// Objective, columns and duals. Pre: optimal.
void read_off(const ClpSimplex& model, LinearSolution& solution);

} // namespace tutti
