// The three ways to reach a limit: time, memory, and by request; and what may follow it.

#include "sim/work_limit.hpp"
#include "tests/catch.hpp"

#include <limits>
#include <string>
#include <string_view>

namespace work_limit_test {

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

TEST_CASE("what is done with a schedule ends a tenth after the limit of its search, or 5 s") {
  for (const double limit : {0.5, 20.0, 600.0}) {
    double now = 1000;
    SynthesisOptions options;
    options.limit_seconds = limit;
    options.clock = [&] { return now; };
    bool is_ended = false;
    std::string heard;
    options.stage = [&](std::string_view stage, const WorkProgress&) {
      heard = stage;
      return is_ended;
    };
    const StageWatch stages = stages_within_limit(options);
    const double end = now + limit + (limit < 50 ? 5 : limit / 10);
    CHECK_FALSE(stages("replay", {}));
    CHECK(heard == "replay");
    now = end - 0.01;
    CHECK_FALSE(stages("replay", {}));
    is_ended = true; // by somebody else
    CHECK(stages("replay", {}));
    is_ended = false;
    now = end + 0.01;
    CHECK(stages("replay", {}));
    CHECK(ended_text(options, "its replay") == "the limit leaves no time for its replay");
    options.cancelled = [] { return true; };
    CHECK(ended_text(options, "its replay") == "interrupted in its replay");
  }
  const SynthesisOptions none;
  CHECK_FALSE(stages_within_limit(none));
  CHECK(ended_text(none, "its replay") == "interrupted in its replay");
}

TEST_CASE("a replay within a synthesis ends with its limit") {
  double now = 0;
  SynthesisOptions options;
  options.limit_seconds = 1;
  options.clock = [&] { return now; };
  const WorkLimit limit(options);
  CHECK(limit.is_counted());
  const Watch watch = limit.watch();
  CHECK_FALSE(watch({}));
  now = 2;
  CHECK_THROWS_AS(watch({}), LimitReached);
  CHECK_FALSE(WorkLimit().watch());
  CHECK_FALSE(WorkLimit().is_counted());
}

} // namespace work_limit_test
