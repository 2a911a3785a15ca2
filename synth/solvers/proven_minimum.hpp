// What the duals of a linear program prove in exact arithmetic.
#pragma once

#include "sim/ratio.hpp"
#include "synth/solvers/linear_program.hpp"

#include <optional>
#include <span>

namespace tutti {

/// A lower bound on the minimum that holds in exact arithmetic, whatever the duals are: they are
/// rounded to small fractions y (of the sign that the row's sides allow), and the bound is
/// y * row side + sum over columns of the least of (cost - y * column) * x within its range.
/// Nothing where that is minus infinity (a column without limit has a reduced cost of the wrong
/// sign) or doesn't fit a Ratio. Tight for optimal duals with small denominators. Doubles of the
/// program are taken as the fractions that they are.
[[nodiscard]] std::optional<Ratio> proven_minimum(const LinearProgram& program,
                                                  std::span<const double> duals);

} // namespace tutti
