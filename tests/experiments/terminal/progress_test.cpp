// The progress bar, by a clock that the test moves.
#include "experiments/driver/terminal/progress.hpp"

#include "tests/catch.hpp"

#include <sstream>

namespace progress_test {

using namespace tutti;

namespace {

const std::string erase = "\r\x1b[K";

struct Bench {
  std::ostringstream out;
  double now = 100;

  /// What an update at this time after the start writes.
  std::string update(ProgressBar& progress, double seconds, std::uint64_t done,
                     std::uint64_t total) {
    out.str("");
    now = 100 + seconds;
    progress.update(done, total);
    return out.str();
  }
};

} // namespace

TEST_CASE("Nothing is shown in the first two seconds, nor where it isn't a terminal") {
  Bench bench;
  {
    ProgressBar progress("quick", bench.out, true, [&] { return bench.now; });
    CHECK(bench.update(progress, 0.5, 1, 3).empty());
    CHECK(bench.update(progress, 1.99, 3, 3).empty());
  }
  CHECK(bench.out.str().empty());
  {
    bench.now = 100;
    ProgressBar progress("piped", bench.out, false, [&] { return bench.now; });
    CHECK(bench.update(progress, 60, 1, 2).empty());
  }
  CHECK(bench.out.str().empty());
}

TEST_CASE("The bar shows count, share and the time left at the pace so far") {
  Bench bench;
  ProgressBar progress("fig02", bench.out, true, [&] { return bench.now; });
  // A quarter in 10 s: 40 s in all, 30 s left; a quarter of 24 characters is 6.
  CHECK(bench.update(progress, 10, 4, 16) ==
        erase + "fig02  [======>                 ]  4/16  25 %  10 s so far, about 30 s left");
  // Nothing done: no pace to go by.
  CHECK(bench.update(progress, 20, 0, 16) ==
        erase + "fig02  [>                       ]  0/16  0 %  20 s so far");
  CHECK(bench.update(progress, 30, 16, 16) ==
        erase + "fig02  [========================]  16/16  100 %  30 s so far");
}

TEST_CASE("Long times are in minutes and hours") {
  Bench bench;
  ProgressBar progress("x", bench.out, true, [&] { return bench.now; });
  // 1 of 100 in 90 s: 9000 s in all, 8910 s = 2 h 28 min 30 s left.
  CHECK_THAT(bench.update(progress, 90, 1, 100),
             ContainsSubstring("1 min 30 s so far, about 2 h 28 min left"));
}

TEST_CASE("The bar is drawn at most ten times a second") {
  Bench bench;
  ProgressBar progress("x", bench.out, true, [&] { return bench.now; });
  CHECK_FALSE(bench.update(progress, 3.00, 1, 9).empty());
  CHECK(bench.update(progress, 3.05, 2, 9).empty());
  CHECK_FALSE(bench.update(progress, 3.11, 2, 9).empty());
}

TEST_CASE("Odd counts don't break the bar") {
  Bench bench;
  ProgressBar progress("x", bench.out, true, [&] { return bench.now; });
  CHECK(bench.update(progress, 5, 0, 0).empty());
  CHECK_THAT(bench.update(progress, 6, 7, 5), ContainsSubstring("5/5  100 %"));
}

TEST_CASE("The line is erased once at the end, and only if there was one") {
  Bench bench;
  {
    ProgressBar progress("x", bench.out, true, [&] { return bench.now; });
    CHECK_FALSE(bench.update(progress, 3, 1, 2).empty());
    bench.out.str("");
    progress.finish();
    CHECK(bench.out.str() == erase);
  }
  CHECK(bench.out.str() == erase);
}

} // namespace progress_test
