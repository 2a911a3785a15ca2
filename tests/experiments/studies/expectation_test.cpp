// Verdicts on the records of runs.
#include "experiments/driver/studies/expectation.hpp"
#include "experiments/driver/studies/expectation_reader.hpp"
#include "experiments/driver/studies/runs/records.hpp"
#include "experiments/driver/studies/runs/study.hpp"
#include "tests/catch.hpp"

#include <cmath>

namespace expectation_test {

using namespace tutti;

namespace {

// One replay that took `ps` for 1,000 bytes.
Evaluation evaluation_of(std::int64_t ps) {
  Replay replay;
  replay.report.completion = {ps};
  replay.bound = {Time{ps / 2}, "in-cut", ""};
  replay.algbw = 1000.0 / (static_cast<double>(ps) * 1e-12);
  replay.busbw = 2 * replay.algbw;
  Evaluation e;
  e.replays = {replay};
  return e;
}

// Of case `of` over case `over`.
Expectation ratio(std::string label, const std::string& metric, std::size_t of, std::size_t over,
                  double paper, double tolerance, std::string explanation = {}) {
  Expectation e;
  e.label = std::move(label);
  e.metric = metric_column(metric, columns_of<RunStudy>());
  e.values = {{{of}, {over}}};
  e.value = paper;
  e.tolerance = tolerance;
  e.explanation = std::move(explanation);
  return e;
}

Comparison compared(const Expectation& expectation, const std::vector<Evaluation>& evaluations) {
  return compare(std::vector{expectation}, run_records(evaluations)).at(0);
}

} // namespace

TEST_CASE("a ratio within the tolerance matches, with or without an explanation") {
  // times 2 us and 3 us: algbw ratio 1.5; the paper says 1.48, 1.35 % less
  const std::vector evaluations{evaluation_of(2'000'000), evaluation_of(3'000'000)};
  Expectation expectation = ratio("a / b", "algbw", 0, 1, 1.48, 0.02, "");
  const Comparison plain = compared(expectation, evaluations);
  CHECK(plain.agreement == Agreement::match);
  CHECK(plain.value == Approx(1.5));
  CHECK(plain.deviation == Approx(1.5 / 1.48 - 1));
  CHECK(plain.paper == "1.48");
  CHECK(plain.ours == "1.50");
  expectation.explanation = "rounding";
  CHECK(compared(expectation, evaluations).agreement == Agreement::match);
  CHECK(compared(expectation, evaluations).explanation == "rounding");
}

TEST_CASE("outside of the tolerance only what ours is known to be keeps the run from failing") {
  const std::vector evaluations{evaluation_of(2'000'000), evaluation_of(3'000'000)};
  Expectation expectation = ratio("a / b", "algbw", 0, 1, 1.6, 0.02, "another router");
  const Comparison plain = compared(expectation, evaluations); // 1.5
  CHECK(plain.agreement == Agreement::unexpected);
  CHECK(plain.explanation == "no match, and the experiment doesn't say what \"ours\" comes to");
  CHECK_FALSE(all_agree({&plain, 1}));
  expectation.ours = {1.51, 0.01};
  const Comparison known = compared(expectation, evaluations);
  CHECK(known.agreement == Agreement::differs);
  CHECK(known.explanation == "another router");
  CHECK(all_agree({&known, 1}));
}

TEST_CASE("what drifts from what ours is known to be fails the run, towards the paper, too") {
  const std::vector evaluations{evaluation_of(2'000'000), evaluation_of(3'000'000)};
  Expectation expectation = ratio("a / b", "algbw", 0, 1, 2, 0.02);
  expectation.ours = {1.4, 0.05}; // 1.5 is 7 % more
  CHECK(compared(expectation, evaluations).agreement == Agreement::unexpected);
  CHECK(compared(expectation, evaluations).explanation ==
        "ours is known to be 1.40, within 5 %; what has changed?");
  expectation.value = 1.5;
  CHECK(compared(expectation, evaluations).agreement == Agreement::unexpected);
  CHECK_THAT(compared(expectation, evaluations).explanation,
             ContainsSubstring("it matches now: remove \"ours\""));
  expectation.ours = {1.49, 0.05}; // known, and within the paper's tolerance
  CHECK(compared(expectation, evaluations).agreement == Agreement::match);
}

TEST_CASE(
    "the direction holds of what is stated loosely: the same winner, within a factor of 1.25") {
  const std::vector evaluations{evaluation_of(2'000'000), evaluation_of(3'000'000)};
  const auto verdict = [&](double paper, Stated stated) {
    Expectation expectation = ratio("a / b", "algbw", 0, 1, paper, 0.02);
    expectation.ours = {1.5, 0.001};
    expectation.stated = stated;
    return compared(expectation, evaluations).agreement;
  };
  for (const Stated loosely : {Stated::up_to, Stated::about, Stated::mean}) {
    CHECK(verdict(1.5, loosely) == Agreement::match);
    CHECK(verdict(1.87, loosely) == Agreement::direction_holds);
    CHECK(verdict(1.88, loosely) == Agreement::differs); // 1.5 x 1.25 = 1.875
    CHECK(verdict(1.21, loosely) == Agreement::direction_holds);
    CHECK(verdict(1.19, loosely) == Agreement::differs);
  }
  CHECK(verdict(1.7, Stated::exactly) == Agreement::differs);
  Expectation lost = ratio("b / a", "algbw", 1, 0, 0.8, 0.02); // ours 2/3, not 1.2 times less
  lost.ours = {0.667, 0.01};
  lost.stated = Stated::about;
  CHECK(compared(lost, evaluations).agreement == Agreement::direction_holds);
  CHECK(compared(lost, evaluations).paper == "about 0.80");
  const std::vector near{evaluation_of(100), evaluation_of(105)}; // 1.05
  Expectation other = ratio("a / b", "algbw", 0, 1, 0.95, 0.02);
  other.ours = {1.05, 0.01};
  other.stated = Stated::about;
  CHECK(compared(other, near).agreement == Agreement::differs); // the other one wins
}

TEST_CASE("what a paper leaves open must be the same in all rows that it explains") {
  // Over case 0: 2, 3 and 4 by what isn't stated; 4, 6 and 12 in another row.
  std::vector<Evaluation> evaluations;
  for (const std::int64_t ps : {120, 60, 40, 30, 30, 20, 10})
    evaluations.push_back(evaluation_of(ps));
  const auto row = [](double paper, double ours, std::size_t first) {
    Expectation expectation = ratio("row", "algbw", first, 0, paper, 0.02, "unstated");
    expectation.ours = {ours, 0.01};
    expectation.left_open = {"size", {}};
    for (std::size_t i = 0; i < 3; ++i)
      expectation.left_open->choices.push_back({std::string(1, "abc"[i]), {{{first + i}, {0}}}});
    return expectation;
  };
  const auto verdicts = [&](const std::vector<Expectation>& expectations) {
    return compare(expectations, run_records(evaluations));
  };
  const auto same = verdicts({row(3, 2, 1), row(6, 4, 4)}); // both at b
  for (const Comparison& comparison : same) CHECK(comparison.agreement == Agreement::left_open);
  CHECK(all_agree(same));
  CHECK(same[0].explanation == "unstated; by size: 2.00 at a, 3.00 at b, 4.00 at c; b gives what "
                               "the paper has in all rows that leave it open");
  const auto apart = verdicts({row(3, 2, 1), row(12, 4, 4)}); // at b and at c
  for (const Comparison& comparison : apart) CHECK(comparison.agreement == Agreement::differs);
  CHECK(apart[0].explanation == "unstated; by size: 2.00 at a, 3.00 at b, 4.00 at c");
  CHECK(verdicts({row(3, 2, 1)})[0].agreement == Agreement::left_open);
  CHECK(verdicts({row(3, 2.5, 1)})[0].agreement == Agreement::unexpected); // ours has changed
}

TEST_CASE("the tolerance is a part of the paper's value, its end included") {
  // 0.5 is exact in binary: 4 us against 3 us deviates by a third, 3 us against 2 us by a half
  const std::vector evaluations{evaluation_of(3), evaluation_of(2)};
  Expectation expectation = ratio("time", "collective_time", 0, 1, 1, 0.5, "");
  CHECK(compared(expectation, evaluations).agreement == Agreement::match);
  expectation.tolerance = 0.49;
  CHECK(compared(expectation, evaluations).agreement == Agreement::unexpected);
}

TEST_CASE("a value of its own is compared in its unit") {
  std::vector evaluations{evaluation_of(2'000'000)};
  evaluations[0].synthesis_seconds = 0.25;
  const auto text_of = [&](const std::string& metric, double paper) {
    Expectation expectation = ratio("x", metric, 0, 0, paper, 0.01);
    expectation.values = {{{0}, {}}};
    const Comparison c = compared(expectation, evaluations);
    return c.ours + " " + std::string(to_text(c.agreement));
  };
  CHECK(text_of("collective_time", 2e6) == "2.000 us match");
  CHECK(text_of("algbw", 5e8) == "500.0 MB/s match"); // 1,000 B / 2 us
  CHECK(text_of("busbw", 5e8) == "1.000 GB/s unexpected");
  CHECK(text_of("gap", 2) == "2 match");
  CHECK(text_of("synthesis_seconds", 0.2) == "0.25 s unexpected");
}

TEST_CASE("what an algorithm expects is a time, and a part of what the replay takes") {
  std::vector evaluations{evaluation_of(4'000'000), evaluation_of(3'000'000)};
  evaluations[0].planned = Time{1'000'000};
  const auto text_of = [&](const std::string& metric, double paper, std::size_t of) {
    Expectation expectation = ratio("x", metric, 0, 0, paper, 0.01);
    expectation.values = {{{of}, {}}};
    const Comparison c = compared(expectation, evaluations);
    return c.ours + " " + std::string(to_text(c.agreement));
  };
  CHECK(text_of("planned_time", 1e6, 0) == "1.000 us match");
  CHECK(text_of("planned_time", 4e6, 0) == "1.000 us unexpected");
  CHECK(text_of("planned_ratio", 0.25, 0) == "0.25 match");
  CHECK(text_of("planned_time", 1e6, 1) == "- unexpected"); // expects nothing
  CHECK(text_of("planned_ratio", 1, 1) == "- unexpected");
  evaluations[1].algorithm = "ring";
  evaluations[1].topology = "Mesh";
  CHECK(compared(ratio("x", "planned_time", 0, 1, 1, 0.01), evaluations).explanation ==
        "there is no value: planned_time_ps isn't known of ring on Mesh");
}

TEST_CASE("without a schedule there is no value, and no explanation helps") {
  std::vector evaluations{evaluation_of(2'000'000), Evaluation{}};
  evaluations[1].algorithm = "tacos";
  evaluations[1].topology = "Mesh";
  evaluations[1].synthesis_seconds = 1; // what it took to fail is no figure
  CHECK(compared(ratio("s", "synthesis_seconds", 1, 0, 1, 0.02), evaluations).ours == "-");
  const Comparison c =
      compared(ratio("a / b", "algbw", 0, 1, 1, 0.02, "should differ"), evaluations);
  CHECK(c.agreement == Agreement::unexpected);
  CHECK(c.ours == "-");
  CHECK(std::isnan(c.value));
  CHECK(c.explanation == "there is no value: nothing came of tacos on Mesh");
}

TEST_CASE("facts of an algorithm are values without a unit; an unknown one is said in words") {
  std::vector evaluations{evaluation_of(2'000'000), evaluation_of(3'000'000)};
  evaluations[0].facts = {{"fluid_seconds", 0.0233}, {"traffic_gb", 112}};
  for (Evaluation& e : evaluations) {
    e.algorithm = "flows";
    e.topology = "A100";
  }
  Expectation expectation = ratio("x", "fact:fluid_seconds", 0, 0, 0.0234, 0.006);
  expectation.values = {{{0}, {}}};
  const Comparison found = compared(expectation, evaluations);
  CHECK(found.agreement == Agreement::match); // 0.43 % off
  CHECK(found.ours == "0.0233");
  CHECK(found.paper == "0.0234");

  expectation.metric.name = "fact:fluid_second";
  const Comparison unknown = compared(expectation, evaluations);
  CHECK(unknown.agreement == Agreement::unexpected);
  CHECK(unknown.explanation ==
        "there is no value: flows on A100: unknown fact \"fact:fluid_second\" "
        "(known: fact:fluid_seconds, fact:traffic_gb; did you mean "
        "\"fact:fluid_seconds\"?)");
  expectation.values = {{{1}, {}}};
  CHECK(compared(expectation, evaluations).explanation ==
        "there is no value: flows on A100 states no facts");
}

TEST_CASE("means of several ratios, with the range of what they are of") {
  // 8/2 = 4 and 4/4 = 1
  const std::vector evaluations{evaluation_of(8), evaluation_of(2), evaluation_of(4)};
  Expectation expectation = ratio("mean", "collective_time", 0, 1, 2, 0.01);
  expectation.values = {{{0}, {1}}, {{2}, {2}}};
  expectation.summary = Summary::geometric_mean;
  CHECK(compared(expectation, evaluations).value == Approx(2));
  CHECK(compared(expectation, evaluations).ours == "2.00 (1.00 to 4.00)");
  CHECK(compared(expectation, evaluations).agreement == Agreement::match);
  expectation.summary = Summary::arithmetic_mean;
  CHECK(compared(expectation, evaluations).value == Approx(2.5));
  CHECK(compared(expectation, evaluations).agreement == Agreement::unexpected);
}

TEST_CASE("a mean of which one value is missing is none") {
  const std::vector evaluations{evaluation_of(8), evaluation_of(2), Evaluation{}};
  Expectation expectation = ratio("mean", "collective_time", 0, 1, 4, 0.01);
  expectation.values = {{{0}, {1}}, {{2}, {1}}};
  expectation.summary = Summary::geometric_mean;
  CHECK(compared(expectation, evaluations).ours == "-");
  CHECK(compared(expectation, evaluations).agreement == Agreement::unexpected);
}

TEST_CASE("the exponent by which values grow with the problem") {
  std::vector<Evaluation> evaluations;
  for (const std::uint32_t npus : {4U, 8U, 32U}) {
    evaluations.push_back(evaluation_of(1));
    evaluations.back().npus = npus;
    evaluations.back().transfers = std::uint64_t{npus} * npus;
    evaluations.back().synthesis_seconds = 1e-6 * npus * npus * npus;
  }
  Expectation expectation = ratio("exponent", "synthesis_seconds", 0, 0, 3, 0.01);
  expectation.values = {{{0}, {}}, {{1}, {}}, {{2}, {}}};
  expectation.summary = Summary::exponent;
  expectation.size = "npus";
  CHECK(compared(expectation, evaluations).value == Approx(3));
  CHECK(compared(expectation, evaluations).ours == "3.00");
  expectation.size = "transfers";
  CHECK(compared(expectation, evaluations).value == Approx(1.5));
  evaluations[1].npus = evaluations[2].npus = evaluations[0].npus;
  expectation.size = "npus";
  CHECK(compared(expectation, evaluations).ours == "-"); // all of one size
}

TEST_CASE("an upper limit is kept by anything below it") {
  const std::vector evaluations{evaluation_of(2), evaluation_of(4)};
  Expectation expectation = ratio("a / b", "collective_time", 0, 1, 1, 0.02);
  CHECK(compared(expectation, evaluations).agreement == Agreement::unexpected);
  expectation.limit = Limit::at_most;
  CHECK(compared(expectation, evaluations).agreement == Agreement::match);
  CHECK(compared(expectation, evaluations).paper == "at most 1.00");
  expectation.values = {{{1}, {0}}};
  CHECK(compared(expectation, evaluations).agreement == Agreement::unexpected);
}

TEST_CASE("a lower limit is kept by anything above it") {
  const std::vector evaluations{evaluation_of(2), evaluation_of(4)};
  Expectation expectation = ratio("a / b", "collective_time", 1, 0, 1, 0.02);
  expectation.limit = Limit::at_least;
  CHECK(compared(expectation, evaluations).agreement == Agreement::match);
  CHECK(compared(expectation, evaluations).paper == "at least 1.00");
  expectation.values = {{{0}, {1}}};
  CHECK(compared(expectation, evaluations).agreement == Agreement::unexpected);
}

TEST_CASE("of several ratios the largest, or how far all are from 1") {
  const std::vector evaluations{evaluation_of(8), evaluation_of(2), evaluation_of(4)};
  Expectation expectation = ratio("x", "collective_time", 0, 1, 4, 0);
  expectation.values = {{{0}, {1}}, {{1}, {0}}}; // 4 and 1/4
  expectation.summary = Summary::largest;
  CHECK(compared(expectation, evaluations).value == 4);
  expectation.summary = Summary::smallest;
  CHECK(compared(expectation, evaluations).value == 0.25);
  expectation.summary = Summary::error;
  expectation.value = 3; // exp(log 4) - 1
  expectation.tolerance = 1e-9;
  CHECK(compared(expectation, evaluations).value == Approx(3));
  CHECK(compared(expectation, evaluations).agreement == Agreement::match);
}

TEST_CASE(
    "of alternatives the best counts, each by its median, and one without an answer doesn't") {
  std::vector<Evaluation> evaluations{evaluation_of(8), evaluation_of(2), evaluation_of(4),
                                      Evaluation{}, evaluation_of(6)};
  Expectation expectation = ratio("x", "collective_time", 0, 4, 0.5, 1e-9);
  expectation.values = {{{0}, {4}, {{1, 2}, {3}}}};
  CHECK(compared(expectation, evaluations).value == Approx(3. / 6)); // the shortest
  expectation.metric = metric_column("algbw", columns_of<RunStudy>());
  CHECK(compared(expectation, evaluations).value == Approx(6. * (1. / 2 + 1. / 4) / 2)); // fastest
  expectation.metric = metric_column("gap", columns_of<RunStudy>());
  evaluations[1].replays[0].bound.time = evaluations[2].replays[0].bound.time = Time{1};
  CHECK(compared(expectation, evaluations).value < 1.6); // the smallest gap
  expectation.values = {{{3}, {4}, {{3}}}};
  CHECK(compared(expectation, evaluations).ours == "-");
}

TEST_CASE("an exponent of what is left open is of its own rows") {
  std::vector<Evaluation> evaluations;
  for (const std::uint32_t npus : {2U, 4U, 8U}) {
    evaluations.push_back(evaluation_of(1));
    evaluations.back().npus = npus;
    evaluations.back().synthesis_seconds = 1e-6 * npus * npus;
  }
  Expectation expectation = ratio("exponent", "synthesis_seconds", 0, 0, 1, 0.01);
  expectation.values = {{{0}, {}}, {{1}, {}}};
  expectation.summary = Summary::exponent;
  expectation.size = "npus";
  expectation.ours = {2, 0.01};
  expectation.left_open = {
      "label", {{"a", {{{1}, {}}, {{2}, {}}}}, {"b", {{{0}, {}}, {{1}, {}}, {{2}, {}}}}}};
  CHECK(compared(expectation, evaluations).explanation == "by label: 2.00 at a, 2.00 at b");
}

TEST_CASE("rows that differ in their seed only count by their median") {
  const std::vector evaluations{evaluation_of(8), evaluation_of(1), evaluation_of(4),
                                evaluation_of(2)};
  Expectation expectation = ratio("x", "collective_time", 0, 3, 2, 0);
  expectation.values = {{{0, 1, 2}, {3}}};
  CHECK(compared(expectation, evaluations).value == 2); // 4 / 2
  expectation.values = {{{0, 1, 2, 3}, {1}}};
  CHECK(compared(expectation, evaluations).value == 3); // the mean of 2 and 4
}

TEST_CASE("what doesn't repeat itself isn't judged") {
  Records records{{{"ratio", Quantity::ratio}, {std::string(spread_column), Quantity::ratio}},
                  {{Cell(2.0), Cell(0.05)}, {Cell(3.0), Cell(0.2)}}};
  Expectation expectation;
  expectation.metric = records.columns[0];
  expectation.values = {{{0}, {}}, {{1}, {}}};
  expectation.summary = Summary::largest;
  expectation.value = 1;
  const auto verdict = [&](double within) {
    expectation.repeats_within = within;
    return compare({&expectation, 1}, records).at(0).agreement;
  };
  CHECK(verdict(0.2) == Agreement::unexpected);
  CHECK(verdict(0.19) == Agreement::not_judged);
  records.rows[0][1] = Cell(); // a single pass
  CHECK(verdict(1) == Agreement::not_judged);
}

TEST_CASE("verdicts as Markdown, and as text of any width: each explanation once below the table") {
  const std::vector evaluations{evaluation_of(2'000'000), evaluation_of(3'000'000)};
  std::vector<Expectation> expectations{ratio("a | b", "algbw", 0, 1, 1.5, 0.02, ""),
                                        ratio("b / a", "algbw", 1, 0, 0.5, 0.02, "two\nlines"),
                                        ratio("a / b", "algbw", 0, 1, 2, 0.02, "two\nlines")};
  expectations[1].ours = {0.667, 0.01};
  expectations[2].ours = {1.5, 0.01};
  expectations[2].apart = "ideal links";
  const std::vector<Comparison> comparisons = compare(expectations, run_records(evaluations));
  CHECK(comparison_markdown("Fig. 0", comparisons) ==
        "# Fig. 0\n\n"
        "| what | paper | ours | difference | verdict | note |\n"
        "| --- | ---: | ---: | ---: | --- | ---: |\n"
        "| a \\| b | 1.50 | 1.50 | +0.00 % | match |  |\n"
        "| b / a | 0.50 | 0.67 | +33.33 % | differs | 1 |\n"
        "| a / b | 2.00 | 1.50 | -25.00 % | differs | 1 |\n\n"
        "2 rows: 1 match, 1 differ; apart, ideal links, 1 row: 1 differ\n\n"
        "1. two lines\n");
  for (const std::size_t width : {40U, 200U})
    CHECK_THAT(comparison_text(comparisons, {.width = width}),
               ContainsSubstring("\n1. two lines\n"));
}

TEST_CASE("upper limits on seconds are counted apart") {
  std::vector evaluations{evaluation_of(2'000'000)};
  evaluations[0].synthesis_seconds = 0.25;
  Expectation quick = ratio("x", "synthesis_seconds", 0, 0, 1, 0);
  quick.values = {{{0}, {}}};
  quick.limit = Limit::at_most;
  const Comparison comparison = compared(quick, evaluations);
  CHECK(comparison.agreement == Agreement::match);
  CHECK(comparison_tally({&comparison, 1}) == "apart, seconds, 1 row: 1 match\n");
  quick.limit = Limit::equal;
  CHECK(compared(quick, evaluations).apart.empty());
}

} // namespace expectation_test
