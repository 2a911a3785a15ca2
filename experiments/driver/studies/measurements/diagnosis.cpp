// A log that is 20 % off may be a fault or a machine whose links carry a little less than those
// that the constants were fitted to. What tells is the shape of the curve against what the
// constants can do to it. Both are Gaussian in logarithms: a curve's covariance is the noise of
// each row, plus for each constant the outer product of what it moves in each row. The evidence of
// an explanation is then that of a multivariate normal, with its determinant as the price of
// vagueness. Source: MacKay, Information Theory, Inference, and Learning Algorithms (2003), ch. 28
// (evidence).
#include "experiments/driver/studies/measurements/diagnosis.hpp"

#include <boost/math/distributions/chi_squared.hpp>
#include <eigen3/Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>

namespace tutti {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

VectorXd mean_of(std::span<const Expected> rows) {
  VectorXd mean(static_cast<Index>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) mean[static_cast<Index>(i)] = rows[i].log_seconds;
  return mean;
}

MatrixXd covariance_of(std::span<const Measured> measured, std::span<const Expected> rows) {
  const auto count = static_cast<Index>(rows.size());
  MatrixXd covariance = MatrixXd::Zero(count, count);
  for (Index i = 0; i < count; ++i)
    covariance(i, i) = std::pow(measured[static_cast<std::size_t>(i)].noise, 2);
  std::map<std::string, VectorXd> moves;
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (const ConstantEffect& each : rows[i].moves)
      moves.try_emplace(each.to, VectorXd::Zero(count)).first->second[static_cast<Index>(i)] +=
          each.moves;
  for (const auto& [name, of] : moves) covariance += of * of.transpose();
  return covariance;
}

struct Judged {
  double evidence = 0, misfit = 0; ///< misfit: squared, in standard deviations
};

Judged judge(std::span<const Measured> measured, std::span<const Expected> rows) {
  VectorXd off = -mean_of(rows);
  for (std::size_t i = 0; i < rows.size(); ++i)
    off[static_cast<Index>(i)] += measured[i].log_seconds;
  const Eigen::LLT<MatrixXd> factor(covariance_of(measured, rows));
  const double misfit = off.dot(factor.solve(off));
  const MatrixXd lower = factor.matrixL();
  return {-misfit / 2 - lower.diagonal().array().log().sum() -
              static_cast<double>(rows.size()) / 2 * std::log(2 * std::numbers::pi),
          misfit};
}

Fit fit_of(std::span<const Measured> measured, const Explanation& explanation) {
  Fit fit;
  std::vector<Judged> all;
  for (const std::vector<Expected>& rows : explanation.variants)
    all.push_back(judge(measured, rows));
  const auto best = std::ranges::max_element(all, {}, &Judged::evidence);
  fit.variant = static_cast<std::size_t>(best - all.begin());
  double sum = 0;
  for (const Judged& each : all) sum += std::exp(each.evidence - best->evidence);
  fit.evidence = best->evidence + std::log(sum / static_cast<double>(all.size()));
  fit.chance = cdf(complement(boost::math::chi_squared(static_cast<double>(measured.size())),
                              std::max(best->misfit, 0.0)));
  return fit;
}

} // namespace

double distance(std::span<const Measured> rows, std::span<const Expected> one,
                std::span<const Expected> other) {
  const VectorXd apart = mean_of(one) - mean_of(other);
  const MatrixXd covariance = (covariance_of(rows, one) + covariance_of(rows, other)) / 2;
  return std::sqrt(std::max(apart.dot(covariance.llt().solve(apart)), 0.0));
}

Diagnosis diagnose(std::span<const Measured> rows, std::span<const Explanation> explanations) {
  Diagnosis made;
  for (std::size_t e = 0; e < explanations.size(); ++e) {
    Fit& fit = made.fits.emplace_back(fit_of(rows, explanations[e]));
    fit.explanation = e;
  }
  std::ranges::stable_sort(made.fits, std::greater(), [&](const Fit& fit) {
    return fit.evidence + explanations[fit.explanation].prior;
  });
  std::vector<bool> is_placed(made.fits.size());
  for (std::size_t f = 0; f < made.fits.size(); ++f) {
    if (is_placed[f]) continue;
    std::vector<std::size_t>& alike = made.classes.emplace_back();
    for (std::size_t other = f; other < made.fits.size(); ++other) {
      if (is_placed[other]) continue;
      const auto curve = [&](std::size_t fit) -> const std::vector<Expected>& {
        return explanations[made.fits[fit].explanation].variants[made.fits[fit].variant];
      };
      if (other != f && (explanations[made.fits[other].explanation].is_usual ||
                         distance(rows, curve(f), curve(other)) >= least_distance))
        continue;
      is_placed[other] = true;
      alike.push_back(other);
    }
  }
  return made;
}

} // namespace tutti
