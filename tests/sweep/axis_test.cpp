#include "experiments/driver/sweep/space/axis.hpp"

#include "tests/catch.hpp"
#include "tests/message_of.hpp"

#include <cmath>

namespace axis_test {

using namespace tutti;
using namespace tutti::sweep;

namespace {

Axis axis_of(std::size_t rows) {
  return {{"a"}, std::vector<std::vector<Value>>(rows, {number_value(1)})};
}

SampledRange range(const std::string& name, Value from, Value to, bool logarithmic = false,
                   bool whole = false) {
  return {name, {}, std::move(from), std::move(to), logarithmic, whole};
}

std::vector<double> column(const Axis& axis, std::size_t i) {
  std::vector<double> numbers;
  for (const auto& row : axis.rows) numbers.push_back(row.at(i).number);
  return numbers;
}

} // namespace

TEST_CASE("a product has as many points as its axes' rows multiply to") {
  CHECK(point_count({}, 10) == 1);
  const std::vector axes{axis_of(3), axis_of(4), axis_of(5)};
  CHECK(point_count(axes, 60) == 60);
  CHECK(message_of([&] { (void)point_count(axes, 59); }) == "more than 59 points");
  const std::vector<Axis> vast(30, axis_of(1000)); // 10^90
  CHECK_THROWS_AS(point_count(vast, 10'000'000), InputError);
}

TEST_CASE("numbers lose what binary fractions add") {
  CHECK(tidied_number(0.1 + 2 * 0.1, Unit::none) == number_value(0.3));
  CHECK(tidied_number(1e-7 * 10, Unit::seconds) == number_value(1e-6, Unit::seconds));
  CHECK(tidied_number(1024.4, Unit::bytes) == number_value(1024, Unit::bytes));
}

TEST_CASE("a Latin hypercube takes each part of each range exactly once") {
  constexpr std::size_t count = 97;
  const std::vector ranges{
      range("linear", number_value(-3), number_value(5.5)),
      range("log", number_value(1e-7, Unit::seconds), number_value(1e-3, Unit::seconds), true),
      SampledRange{"listed", {text_value("x"), text_value("y")}, {}, {}, false, false}};
  const Axis axis = sampled_axis(SampleMethod::latin_hypercube, ranges, count, 11);
  CHECK(axis.names == std::vector<std::string>{"linear", "log", "listed"});
  REQUIRE(axis.rows.size() == count);
  const auto parts_taken = [](const std::vector<double>& numbers, const auto& part_of) {
    std::set<std::size_t> parts;
    for (const double number : numbers)
      parts.insert(static_cast<std::size_t>(part_of(number) * static_cast<double>(count)));
    return parts.size();
  };
  CHECK(parts_taken(column(axis, 0), [](double x) { return (x + 3) / 8.5; }) == count);
  CHECK(parts_taken(column(axis, 1), [](double x) { return std::log10(x / 1e-7) / 4; }) == count);
  std::size_t x = 0;
  for (const auto& row : axis.rows) x += row[2].text == "x";
  CHECK((x == 48 || x == 49)); // half of 97 parts, the middle one either way
  for (const auto& row : axis.rows) CHECK(row[1].unit == Unit::seconds);
}

TEST_CASE("independent draws don't take each part once, and stay in their range") {
  const std::vector ranges{range("a", number_value(2), number_value(9), false, true),
                           range("b", number_value(1), number_value(1000), true, true)};
  const Axis axis = sampled_axis(SampleMethod::random, ranges, 10'000, 3);
  std::map<double, int> counts;
  for (const double a : column(axis, 0)) ++counts[a];
  REQUIRE(counts.size() == 8); // 2 .. 9, both ends as often as the rest: 1250 each, sigma 33
  for (const auto& [number, count] : counts) CHECK(std::abs(count - 1250) < 5 * 33);
  std::size_t below_10 = 0;
  for (const double b : column(axis, 1)) {
    CHECK((b >= 1 && b <= 1000 && b == std::floor(b)));
    below_10 += b < 10;
  }
  // log(10) / log(1001) of 10,000: 3333, sigma 47
  CHECK(std::abs(static_cast<double>(below_10) - 3333) < 5 * 47);
}

TEST_CASE("a seed decides a sample") {
  const std::vector ranges{range("a", number_value(0), number_value(1))};
  for (const SampleMethod method : {SampleMethod::random, SampleMethod::latin_hypercube}) {
    const Axis once = sampled_axis(method, ranges, 20, 5);
    CHECK(once.rows == sampled_axis(method, ranges, 20, 5).rows);
    CHECK(once.rows != sampled_axis(method, ranges, 20, 6).rows);
  }
}

} // namespace axis_test
