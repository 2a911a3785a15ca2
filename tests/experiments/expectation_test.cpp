#include "experiments/expectation.hpp"
#include "tests/catch.hpp"

#include <cmath>

using namespace tutti;

namespace {

// One replay that took `ps` for 1,000 bytes.
Evaluation evaluation_of(std::int64_t ps) {
  Replay replay;
  replay.report.completion = {ps};
  replay.bound = {ps / 2};
  replay.algbw = 1000.0 / (static_cast<double>(ps) * 1e-12);
  replay.busbw = 2 * replay.algbw;
  Evaluation e;
  e.replays = {replay};
  return e;
}

Comparison compared(const Expectation& expectation, const std::vector<Evaluation>& evaluations) {
  return compare(std::vector{expectation}, evaluations).at(0);
}

} // namespace

TEST_CASE("a ratio within the tolerance matches, with or without an explanation") {
  // times 2 us and 3 us: algbw ratio 1.5; the paper says 1.48, 1.35 % less
  const std::vector evaluations{evaluation_of(2'000'000), evaluation_of(3'000'000)};
  Expectation expectation{"a / b", Metric::algbw, 0, 1, 0, 1.48, 0.02, ""};
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

TEST_CASE("outside of the tolerance only an explanation keeps the run from failing") {
  const std::vector evaluations{evaluation_of(2'000'000), evaluation_of(3'000'000)};
  Expectation expectation{"a / b", Metric::algbw, 0, 1, 0, 1.6, 0.02, ""};
  const Comparison plain = compared(expectation, evaluations);
  CHECK(plain.agreement == Agreement::differs);
  CHECK_FALSE(all_agree({&plain, 1}));
  expectation.explanation = "another router";
  const Comparison explained = compared(expectation, evaluations);
  CHECK(explained.agreement == Agreement::differs_explained);
  CHECK(explained.explanation == "another router");
  CHECK(all_agree({&explained, 1}));
}

TEST_CASE("the tolerance is a part of the paper's value, its end included") {
  // 0.5 is exact in binary: 4 us against 3 us deviates by a third, 3 us against 2 us by a half
  const std::vector evaluations{evaluation_of(3), evaluation_of(2)};
  Expectation expectation{"time", Metric::time, 0, 1, 0, 1, 0.5, ""};
  CHECK(compared(expectation, evaluations).agreement == Agreement::match);
  expectation.tolerance = 0.49;
  CHECK(compared(expectation, evaluations).agreement == Agreement::differs);
}

TEST_CASE("a value of its own is compared in its unit") {
  const std::vector evaluations{evaluation_of(2'000'000)};
  const auto text_of = [&](Metric metric, double paper) {
    const Comparison c = compared({"x", metric, 0, std::nullopt, 0, paper, 0.01, ""}, evaluations);
    return c.ours + " " + std::string(to_text(c.agreement));
  };
  CHECK(text_of(Metric::time, 2e6) == "2.000 us match");
  CHECK(text_of(Metric::algbw, 5e8) == "500.0 MB/s match"); // 1,000 B / 2 us
  CHECK(text_of(Metric::busbw, 5e8) == "1.000 GB/s differs");
  CHECK(text_of(Metric::gap, 2) == "2 match");
}

TEST_CASE("without a schedule there is no value, and no explanation helps") {
  std::vector evaluations{evaluation_of(2'000'000), Evaluation{}};
  const Comparison c =
      compared({"a / b", Metric::algbw, 0, 1, 0, 1, 0.02, "should differ"}, evaluations);
  CHECK(c.agreement == Agreement::differs);
  CHECK(c.ours == "-");
  CHECK(std::isnan(c.value));
  CHECK(c.explanation == "there is no value: no correct schedule");
}

TEST_CASE("verdicts as Markdown") {
  const std::vector evaluations{evaluation_of(2'000'000), evaluation_of(3'000'000)};
  const std::vector<Expectation> expectations{
      {"a | b", Metric::algbw, 0, 1, 0, 1.5, 0.02, ""},
      {"b / a", Metric::algbw, 1, 0, 0, 0.5, 0.02, "two\nlines"}};
  CHECK(comparison_markdown("Fig. 0", compare(expectations, evaluations)) ==
        "# Fig. 0\n\n"
        "| what | paper | ours | difference | verdict | explanation |\n"
        "| --- | ---: | ---: | ---: | --- | --- |\n"
        "| a \\| b | 1.50 | 1.50 | +0.00 % | match |  |\n"
        "| b / a | 0.50 | 0.67 | +33.33 % | differs, explained | two lines |\n");
}
