#include "experiments/driver/sweep/analysis/replicates.hpp"

#include "sim/random.hpp"
#include "tests/catch.hpp"

namespace replicates_test {

using namespace tutti;
using namespace tutti::sweep;

namespace {

// C(n, k) by Pascal's triangle: exact up to n = 50.
double binomial(std::size_t n, std::size_t k) {
  std::vector<double> row{1};
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<double> next(row.size() + 1, 1);
    for (std::size_t j = 1; j < row.size(); ++j) next[j] = row[j - 1] + row[j];
    row = std::move(next);
  }
  return row[k];
}

// The chance that the median lies between the r-th smallest and the r-th largest.
double coverage(std::size_t n, std::size_t r) {
  double sum = 0;
  for (std::size_t k = r; k <= n - r; ++k) sum += binomial(n, k);
  return sum / std::pow(2.0, static_cast<double>(n));
}

} // namespace

TEST_CASE("The mean's interval is that of the t table") {
  // 1 to 5: mean 3, deviation sqrt(2.5); t(0.975, 4) = 2.776445 in any table.
  const ReplicateSummary summary = summary_of({5, 1, 4, 2, 3});
  CHECK(summary.count == 5);
  CHECK(summary.mean == Approx(3));
  CHECK(summary.median == 3);
  CHECK(summary.least == 1);
  CHECK(summary.largest == 5);
  REQUIRE(summary.mean_interval);
  const double half = 2.776445 * std::sqrt(2.5 / 5);
  CHECK(summary.mean_interval->low == Approx(3 - half).epsilon(1e-6));
  CHECK(summary.mean_interval->high == Approx(3 + half).epsilon(1e-6));
  CHECK_FALSE(summary.median_interval); // 5 values: at most 1 - 2/32 = 93.75 %
}

TEST_CASE("One value has no interval, two have one") {
  CHECK_FALSE(summary_of({7}).mean_interval);
  const ReplicateSummary two = summary_of({1, 3});
  REQUIRE(two.mean_interval); // t(0.975, 1) = 12.7062, deviation sqrt(2), half = 12.7062
  CHECK(two.mean_interval->high == Approx(2 + 12.7062).epsilon(1e-5));
  CHECK(two.median == 2);
}

TEST_CASE("The median's interval is the narrowest pair of ranks that holds 95 %") {
  for (std::size_t n = 1; n <= 50; ++n) {
    const std::size_t rank = median_rank(n);
    INFO("n = " << n << ", rank = " << rank);
    if (rank == 0) {
      CHECK(coverage(n, 1) < 0.95);
    } else {
      CHECK(coverage(n, rank) >= 0.95);
      if (2 * (rank + 1) <= n) CHECK(coverage(n, rank + 1) < 0.95);
    }
  }
  // Hahn and Meeker, and every table of the sign test: 10 values give ranks 2 and 9 (97.9 %).
  CHECK(median_rank(10) == 2);
  CHECK(median_rank(6) == 1);
  CHECK(median_rank(100) == 40);
  const ReplicateSummary ten = summary_of({10, 9, 8, 7, 6, 5, 4, 3, 2, 1});
  REQUIRE(ten.median_interval);
  CHECK(ten.median_interval->low == 2);
  CHECK(ten.median_interval->high == 9);
  CHECK(ten.median == 5.5);
}

TEST_CASE("Of a thousand samples about 95 % of the intervals hold the true mean and median") {
  // Sums of 12 uniform numbers are nearly normal, symmetric around 6.
  Random random(1);
  int mean_inside = 0, median_inside = 0;
  constexpr int samples = 1000;
  for (int s = 0; s < samples; ++s) {
    std::vector<double> values;
    for (int i = 0; i < 20; ++i) {
      double sum = 0;
      for (int u = 0; u < 12; ++u) sum += static_cast<double>(random.next() >> 11) * 0x1p-53;
      values.push_back(sum);
    }
    const ReplicateSummary summary = summary_of(values);
    mean_inside += summary.mean_interval->low <= 6 && 6 <= summary.mean_interval->high;
    median_inside += summary.median_interval->low <= 6 && 6 <= summary.median_interval->high;
  }
  CHECK(mean_inside > 925); // three standard deviations of 6.9
  CHECK(mean_inside < 975);
  CHECK(median_inside > 935); // 95.9 % by the binomial sum for ranks 6 and 15
  CHECK(median_inside < 985);
}

TEST_CASE("The order of repetitions doesn't change a bit") {
  Random random(2);
  std::vector<double> values;
  for (int i = 0; i < 100; ++i) values.push_back(1.0 / static_cast<double>(1 + random.below(1000)));
  const ReplicateSummary before = summary_of(values);
  random.shuffle(values);
  const ReplicateSummary after = summary_of(values);
  CHECK(before.mean == after.mean);
  CHECK(before.mean_interval->low == after.mean_interval->low);
}

} // namespace replicates_test
