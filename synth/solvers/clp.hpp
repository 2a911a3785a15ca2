// How Clp gets a linear program. Not to be included but by what calls Clp or Cbc.
#pragma once

#include "synth/solvers/linear_program.hpp"

class ClpSimplex;

namespace tutti {

/// With the columns' integrality, and without output. Without costs only feasibility is asked.
void load(const LinearProgram& program, bool with_costs, ClpSimplex& model);

} // namespace tutti
