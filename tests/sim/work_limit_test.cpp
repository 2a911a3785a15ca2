// The three ways to reach a limit: time, memory, and by request.

#include "sim/work_limit.hpp"
#include "tests/catch.hpp"

#include <limits>

using namespace tutti;

TEST_CASE("a work limit tells the seconds that remain") {
  SynthesisOptions options;
  CHECK(WorkLimit(options).remaining_seconds() == std::numeric_limits<double>::infinity());
  options.limit_seconds = 1000;
  const WorkLimit limit(options);
  const double before = limit.remaining_seconds();
  CHECK(before <= 1000);
  CHECK(before > 900);
  CHECK(limit.remaining_seconds() <= before);
  CHECK_FALSE(limit.reached());
}

TEST_CASE("a work limit is reached when the time is used up, or the memory, or by request") {
  SynthesisOptions options;
  CHECK_FALSE(WorkLimit(options).reached());
  options.limit_seconds = 1e-9;
  const WorkLimit limit(options);
  while (limit.remaining_seconds() > 0) {
  }
  CHECK(limit.reached());
  CHECK(limit.remaining_seconds() == 0);
  SynthesisOptions little_memory;
  little_memory.limit_bytes = 1;
  CHECK(WorkLimit(little_memory).reached());
  SynthesisOptions cancelled;
  cancelled.cancelled = [] { return true; };
  CHECK(WorkLimit(cancelled).reached());
}
