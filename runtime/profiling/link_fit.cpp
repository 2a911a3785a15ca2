// Alpha and beta of one link by least squares on relative errors, so that small messages, which
// determine the latency, count as much as large ones. The cost model is TACCL's (Shah et al. 2023,
// NSDI, section 4.1).

#include "runtime/profiling/profiler.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

namespace tutti::runtime {

namespace {

/// seconds = latencies * alpha + bytes * beta
struct FitEquation {
  double latencies = 0, bytes = 0, seconds = 0;
};

std::vector<FitEquation> fit_equations(const std::vector<LinkTiming>& timings,
                                       std::uint32_t chunks) {
  std::vector<FitEquation> equations;
  for (const LinkTiming& timing : timings) {
    const double bytes = static_cast<double>(timing.size.count) * chunks;
    equations.push_back({static_cast<double>(chunks), bytes, timing.one_by_one_seconds});
    equations.push_back({1, bytes, timing.at_once_seconds});
  }
  return equations;
}

/// The least sum of ((fitted - seconds) / seconds)^2 with alpha, beta >= 0: where the free minimum
/// has a negative one, the sum is least with that one 0.
std::pair<double, double> least_squares(const std::vector<FitEquation>& equations) {
  double aa = 0, ab = 0, bb = 0, a1 = 0, b1 = 0;
  for (const FitEquation& e : equations) {
    const double a = e.latencies / e.seconds, b = e.bytes / e.seconds;
    aa += a * a;
    ab += a * b;
    bb += b * b;
    a1 += a;
    b1 += b;
  }
  const double determinant = aa * bb - ab * ab;
  const double alpha = (a1 * bb - b1 * ab) / determinant;
  const double beta = (b1 * aa - a1 * ab) / determinant;
  if (!(alpha >= 0)) return {0, b1 / bb};
  if (!(beta >= 0)) return {a1 / aa, 0};
  return {alpha, beta};
}

} // namespace

LinkProfile fit(LinkId link, std::vector<LinkTiming> timings, std::uint32_t chunks) {
  assert(timings.size() >= 2);
  const std::vector<FitEquation> equations = fit_equations(timings, chunks);
  const auto [alpha, beta] = least_squares(equations);
  double logarithms = 0;
  for (const FitEquation& e : equations)
    logarithms += std::abs(std::log((e.latencies * alpha + e.bytes * beta) / e.seconds));
  return {link, alpha, beta, std::expm1(logarithms / static_cast<double>(equations.size())),
          std::move(timings)};
}

double Profile::fit_error() const {
  double logarithms = 0;
  for (const LinkProfile& link : links) logarithms += std::log1p(link.fit_error);
  return links.empty() ? 0 : std::expm1(logarithms / static_cast<double>(links.size()));
}

} // namespace tutti::runtime
