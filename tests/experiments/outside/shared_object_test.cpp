// Shared objects as algorithms: sample/chain.c does what its setting says.
#include "experiments/driver/outside/shared_object.hpp"

#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/runs/attempt.hpp"
#include "tests/catch.hpp"
#include "tests/paths.hpp"
#include "topologies/list.hpp"

#include <string>
#include <utility>
#include <vector>

namespace shared_object_test {

using namespace tutti;
using Catch::Matchers::Contains;

namespace {

Attempt attempt_in_mode(const std::string& mode, std::optional<std::uint32_t> chunks = 2) {
  static const Topology ring = make_topology("ring:4");
  SynthesisOptions options;
  options.settings["mode"] = mode;
  options.cancelled = [asked = 0]() mutable { return ++asked > 3; }; // what never ends
  ScheduleCache none("");
  const auto make = [&](std::uint32_t cut) {
    return make_collective(ring, {CollectiveKind::all_gather, Bytes{4096}, {}, 0, cut});
  };
  if (mode != "endless") options.cancelled = nullptr;
  return attempt_in_chunks(find_algorithm(TUTTI_SAMPLE_ALGORITHM), ring, make, chunks, options,
                           none, Wanted::everything);
}

} // namespace

TEST_CASE("A shared object's transfers are the schedule, between ranks or over links") {
  for (const std::string mode : {"ranks", "links"}) {
    INFO(mode);
    const Attempt made = attempt_in_mode(mode);
    CHECK(made.usable());
    CHECK(verdict_problem(made).empty());
  }
  CHECK(attempt_in_mode("waits").outcome.schedule->dependencies(1).size() == 1);
  CHECK(attempt_in_mode("ranks", std::nullopt).chunks % 2 == 0); // its multiple
}

TEST_CASE("Whatever goes wrong in a shared object is told in words, and is its row's defect") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"crash", "died of signal 11"},       {"exit", "ended with status 5"},
      {"rank", "there is no rank 400"},     {"link", "there is no link 4294967295"},
      {"forward", "which isn't before it"}, {"nothing", "fault: "}};
  for (const auto& [mode, problem] : cases) {
    INFO(mode);
    CHECK_THAT(verdict_problem(attempt_in_mode(mode)), Contains(problem));
  }
  CHECK(attempt_in_mode("refuse").outcome.note == "not today");
  CHECK(attempt_in_mode("refuse").outcome.status == Status::unsupported);
  CHECK(attempt_in_mode("endless").outcome.status == Status::timed_out);
}

TEST_CASE("What isn't a shared object, or has no such function, is told") {
  const Topology ring = make_topology("ring:4");
  const auto note_of = [&](const std::string& file) {
    return run_shared_object(file, ring, make_collective(ring, {}), {}).note;
  };
  CHECK_THAT(note_of("/no/such.so"), Contains("/no/such.so"));
  CHECK_THAT(note_of("libm.so.6"), Contains("no function tutti_algorithm"));
}

} // namespace shared_object_test
