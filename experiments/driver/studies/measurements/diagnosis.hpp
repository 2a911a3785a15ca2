// Which of several explanations fits what was measured, where both the measurements and the
// constants that predictions are made of are uncertain.
#pragma once

#include "experiments/driver/studies/runs/evaluation.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tutti {

/// What one measured row should take.
struct Expected {
  double log_seconds = 0;
  std::vector<ConstantEffect> moves; ///< the same `to` in two rows moves both at once
};

/// An explanation: one prediction for each row, or several where it leaves something open (which
/// network card is lost, how slow a first iteration is); each counts as likely as the others.
struct Explanation {
  std::string name;
  std::vector<std::vector<Expected>> variants; ///< [variant][row]; at least one
  double prior = 0;      ///< ln of how likely it is before anything is measured, up to a constant
  bool is_usual = false; ///< that nothing is unusual: where another explains the rows better, it
                         ///< isn't of that one's class, however near
};

/// One row as it was measured, or several of the same together.
struct Measured {
  double log_seconds = 0;
  double noise = 0; ///< standard deviation of that, above 0
};

struct Fit {
  std::size_t explanation = 0, variant = 0; ///< the variant that fits best
  double evidence = 0;                      ///< ln of the likelihood of what was measured
  /// How likely measurements are at least as far off, if this is the explanation (chi-square).
  double chance = 0;
};

struct Diagnosis {
  std::vector<Fit> fits; ///< the best first
  /// Indices of `fits`, the best first; those of one class predict curves that these rows don't
  /// tell apart.
  std::vector<std::vector<std::size_t>> classes;
};

/// Rows are normal in their logarithms: noise of their own, and what the sensitivities say, normal
/// too. That is integrated out exactly, so that an explanation that may be anything pays for it.
/// Two explanations are one class where the distance of their best curves is less than
/// `least_distance`. Pre: every variant has as many rows as were measured. Cost: O((variants +
/// explanations^2) rows^3).
[[nodiscard]] Diagnosis diagnose(std::span<const Measured> rows,
                                 std::span<const Explanation> explanations);

/// At that distance one in six is taken for the other.
constexpr double least_distance = 2;

/// How far apart two predictions of these rows are, in standard deviations; where that is d, a test
/// between them errs with a probability of Phi(-d / 2).
[[nodiscard]] double distance(std::span<const Measured> rows, std::span<const Expected> one,
                              std::span<const Expected> other);

} // namespace tutti
