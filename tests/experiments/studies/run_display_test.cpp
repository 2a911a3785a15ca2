// What is shown while cases run, by a clock that the test moves.
#include "experiments/driver/studies/runs/display.hpp"

#include "experiments/driver/studies/registry.hpp"
#include "tests/catch.hpp"
#include "tests/samples.hpp"

#include <sstream>

namespace run_display_test {

using namespace tutti;

namespace {

struct Bench {
  double now = 100;
  std::ostringstream out;
  Case c;
  Bench() {
    c.algorithm = find_algorithm("tacos");
    c.collective = {{"all_gather"}, {4000}};
  }
  RunDisplay display(std::size_t cases, RunDisplay::Form form) {
    return {"synth", cases, form, out, [this] { return now; }};
  }
  std::string shown() {
    std::string text = out.str();
    out.str("");
    return text;
  }
};

} // namespace

TEST_CASE("elsewhere than on a terminal there is a line every second, if asked for") {
  Bench bench;
  RunDisplay display = bench.display(1, RunDisplay::Form::lines);
  display.progress(bench.c, {0, 4000, Time{0}});
  CHECK(bench.shown() == "tutti: tacos all_gather: 0/4000 deliveries, 0 %, 0.000 ps, 0 /s\n");
  bench.now = 100.9;
  display.progress(bench.c, {900, 4000, Time{1'000'000}});
  CHECK(bench.shown().empty());
  bench.now = 101;
  display.progress(bench.c, {1000, 4000, Time{2'100'000'000}});
  CHECK(bench.shown() ==
        "tutti: tacos all_gather: 1000/4000 deliveries, 25 %, 2.100 ms, 1 k/s, about 3 s left\n");
  // Another attempt begins: its pace counts from here.
  bench.now = 104;
  display.progress(bench.c, {0, 4000, Time{0}});
  bench.now = 105;
  display.progress(bench.c, {2000, 4000, Time{5}});
  CHECK_THAT(bench.shown(), ContainsSubstring("2 k/s, about 1 s left\n"));

  // Then what is done with the schedule: rate, time left and memory of its process.
  bench.now = 107;
  display.stage(bench.c, "replay on native", {0, 4'000'000, 12'800'000'000});
  CHECK(bench.shown() == "tutti: tacos all_gather: replay on native: 0/4000000, 0 %, 0 /s, at most "
                         "13 GB\n");
  bench.now = 109;
  display.stage(bench.c, "replay on native", {1'000'000, 4'000'000, 12'800'000'000});
  CHECK(bench.shown() == "tutti: tacos all_gather: replay on native: 1000000/4000000, 25 %, 500 "
                         "k/s, about 6 s left, at most 13 GB\n");
  bench.now = 110;
  display.stage(bench.c, "bound", {0, 0, 1});
  CHECK(bench.shown() == "tutti: tacos all_gather: bound\n");

  RunDisplay silent = bench.display(1, RunDisplay::Form::none);
  silent.progress(bench.c, {1000, 4000, Time{1}});
  CHECK(bench.shown().empty());
}

TEST_CASE("the bar of one case shows deliveries, that of several shows cases") {
  Bench bench;
  {
    RunDisplay display = bench.display(1, RunDisplay::Form::bar);
    bench.now = 102;
    display.progress(bench.c, {1000, 4000, Time{2'100'000'000}});
    CHECK_THAT(bench.shown(), ContainsSubstring("1000/4000  25 %") &&
                                  ContainsSubstring("about 6 s left  2.100 ms, "));
  }
  bench.now = 100;
  RunDisplay display = bench.display(4, RunDisplay::Form::bar);
  bench.now = 103;
  display.finished(1, 4);
  CHECK_THAT(bench.shown(), ContainsSubstring("1/4  25 %"));
  bench.now = 104;
  display.progress(bench.c, {1000, 4000, Time{2'100'000'000}});
  CHECK_THAT(bench.shown(), ContainsSubstring("1/4  25 %") && ContainsSubstring("tacos: 2.100 ms"));
}

} // namespace run_display_test
