// Which explanation fits: curves made by hand, whose right answers follow from normal
// distributions.
#include "experiments/driver/studies/measurements/diagnosis.hpp"

#include "tests/catch.hpp"

#include <cmath>
#include <string>
#include <vector>

namespace diagnosis_test {

using namespace tutti;

namespace {

std::vector<Measured> measured(const std::vector<double>& logs, double noise = 0.1) {
  std::vector<Measured> rows;
  for (const double each : logs) rows.push_back({each, noise});
  return rows;
}

/// A curve, all of whose rows one constant moves by `moves`.
std::vector<Expected> curve(const std::vector<double>& logs, double moves = 0,
                            const std::string& constant = "rates") {
  std::vector<Expected> rows;
  for (const double each : logs) {
    rows.push_back({each, {}});
    if (moves != 0) rows.back().moves.push_back({constant, moves});
  }
  return rows;
}

} // namespace

TEST_CASE("The curve that is nearest in units of noise comes first") {
  const Diagnosis made =
      diagnose(measured({0, 1.02, 2}),
               std::vector<Explanation>{{"far", {curve({1, 2, 3})}}, {"near", {curve({0, 1, 2})}}});
  REQUIRE(made.fits.size() == 2);
  CHECK(made.fits[0].explanation == 1);
  // Logarithms of the likelihood of three independent normals.
  const double unit = -1.5 * std::log(2 * 3.14159265358979 * 0.01);
  CHECK(made.fits[0].evidence == Approx(unit - 0.02).epsilon(1e-9));
  CHECK(made.fits[1].evidence == Approx(unit - (1 + 0.9604 + 1) / 0.02).epsilon(1e-9));
  CHECK(made.fits[0].chance > 0.99);
  CHECK(made.fits[1].chance < 1e-6);
  CHECK(made.classes == std::vector<std::vector<std::size_t>>{{0}, {1}});
}

TEST_CASE("What a constant moves in all rows alike is no evidence against a curve") {
  // All rows are 0.5 too large: by five times the noise, or by what one constant may be off.
  const std::vector<Measured> rows = measured({0.5, 0.5, 0.5, 0.5});
  const std::vector<double> zeros(4), halves(4, 0.5);
  const Diagnosis made = diagnose(rows, std::vector<Explanation>{{"stiff", {curve(zeros)}},
                                                                 {"vague", {curve(zeros, 0.5)}},
                                                                 {"right", {curve(halves)}}});
  CHECK(made.fits[0].explanation == 2); // the vague one pays for what it might have been
  CHECK(made.fits[1].explanation == 1);
  CHECK(made.fits[1].chance > 0.1);
  CHECK(made.fits[2].chance < 1e-6);
}

TEST_CASE("Rows that move against each other tell what rows that move together don't") {
  const std::vector<Measured> rows = measured({0.5, -0.5});
  std::vector<Expected> apart = curve({0}, 0.5, "launch");
  apart.push_back(curve({0}, 0.5, "rates").front());
  const Diagnosis made = diagnose(
      rows, std::vector<Explanation>{{"together", {curve({0, 0}, 0.5)}}, {"apart", {apart}}});
  CHECK(made.fits[0].explanation == 1);
  CHECK(made.fits[1].chance < 1e-5);
}

TEST_CASE("Curves within the noise of each other are one class, and the prior orders them") {
  const std::vector<Explanation> three{{"a", {curve({0, 0})}},
                                       {
                                           "b",
                                           {curve({0.05, 0.05})},
                                       },
                                       {"c", {curve({5, 5})}}};
  const Diagnosis made = diagnose(measured({0.04, 0.04}), three);
  CHECK(made.classes == std::vector<std::vector<std::size_t>>{{0, 1}, {2}});
  CHECK(made.fits[0].explanation == 1);
  std::vector<Explanation> biased = three;
  biased[0].prior = 3;
  CHECK(diagnose(measured({0.04, 0.04}), biased).fits[0].explanation == 0);
  std::vector<Explanation> usual = three; // is in no better one's class
  usual[0].is_usual = true;
  CHECK(diagnose(measured({0.04, 0.04}), usual).classes ==
        std::vector<std::vector<std::size_t>>{{0}, {1}, {2}});
  usual[0].prior = 3;
  CHECK(diagnose(measured({0.04, 0.04}), usual).classes ==
        std::vector<std::vector<std::size_t>>{{0, 1}, {2}});
}

TEST_CASE("An explanation that leaves something open counts as the mean of what it may be") {
  const Explanation open{"open", {curve({0}), curve({9})}};
  const Explanation sure{"sure", {curve({0})}};
  const Diagnosis made = diagnose(measured({0}), std::vector<Explanation>{open, sure});
  CHECK(made.fits[0].explanation == 1);
  CHECK(made.fits[1].variant == 0);
  CHECK(made.fits[0].evidence - made.fits[1].evidence == Approx(std::log(2)));
}

TEST_CASE("Distance is in standard deviations of both curves") {
  CHECK(distance(measured({0}), curve({0}), curve({0.3})) == Approx(3));
  CHECK(distance(measured({0, 0}), curve({0, 0}), curve({0.3, 0.4})) == Approx(5));
  // A constant that moves by 0.3 with a probability of two thirds: the variance is 0.01 + 0.09.
  CHECK(distance(measured({0}), curve({0}, 0.3), curve({0.3}, 0.3)) ==
        Approx(0.3 / std::sqrt(0.1)));
}

} // namespace diagnosis_test
