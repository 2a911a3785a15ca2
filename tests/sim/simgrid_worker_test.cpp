// SimGrid in a process that has threads: by a program that is executed anew, which answers the same
// as a forked child, and is found, or isn't, in words.
#include "sim/engines/simgrid/worker.hpp"

#include "sim/engines/engine.hpp"
#include "sim/error.hpp"
#include "sim/iteration.hpp"
#include "sim/processes/child_process.hpp"
#include "sim/processes/isolated.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/sim/random_case.hpp"
#include "tests/sim/random_workload.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace simgrid_worker_test {

using namespace tutti;

namespace {

/// Threads that take and release locks all the time: the allocator's, and those of open files.
class BusyThreads {
public:
  BusyThreads() {
    for (std::thread& each : threads_) each = std::thread([this] { work(); });
  }
  ~BusyThreads() {
    over_ = true;
    for (std::thread& each : threads_) each.join();
  }
  BusyThreads(const BusyThreads&) = delete;
  BusyThreads& operator=(const BusyThreads&) = delete;

private:
  void work() const {
    std::vector<std::unique_ptr<std::string>> kept(64);
    for (std::size_t i = 0; !over_; ++i) {
      kept[i % kept.size()] = std::make_unique<std::string>(1 + i % 5000, 'x');
      if (i % 100 == 0) (void)std::fflush(nullptr);
    }
  }

  std::atomic<bool> over_ = false;
  std::array<std::thread, 4> threads_;
};

struct WorkerNamed {
  explicit WorkerNamed(const std::string& file) {
    setenv("TUTTI_SIMGRID_WORKER", file.c_str(), 1); // NOLINT(concurrency-mt-unsafe)
  }
  ~WorkerNamed() { unsetenv("TUTTI_SIMGRID_WORKER"); } // NOLINT(concurrency-mt-unsafe)
  WorkerNamed(const WorkerNamed&) = delete;
  WorkerNamed& operator=(const WorkerNamed&) = delete;
};

void check_same(const Report& a, const Report& b) {
  CHECK(a.engine == b.engine);
  CHECK(a.completion == b.completion);
  CHECK(a.chunk_done == b.chunk_done);
  CHECK(a.deliveries == b.deliveries);
  CHECK(a.link_transfers == b.link_transfers);
  REQUIRE(a.links.size() == b.links.size());
  for (std::size_t l = 0; l < a.links.size(); ++l) {
    CHECK(a.links[l].bytes == b.links[l].bytes);
    CHECK(a.links[l].busy == b.links[l].busy);
  }
  REQUIRE(a.hops.size() == b.hops.size());
  for (std::size_t h = 0; h < a.hops.size(); ++h) CHECK(a.hops[h].start == b.hops[h].start);
}

} // namespace

TEST_CASE("SimGrid beside four busy threads never hangs, and says the same") {
  RunOptions options;
  options.record_deliveries = options.record_hops = true;
  std::vector<testing::RandomCase> cases;
  std::vector<Report> alone;
  REQUIRE(!has_other_threads());
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    cases.push_back(testing::random_case(seed, false));
    const testing::RandomCase& c = cases.back();
    alone.push_back(run_simgrid(c.topology, c.collective, c.schedule, c.model, options));
  }
  const BusyThreads threads;
  REQUIRE(has_other_threads());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const testing::RandomCase& c = cases[i];
    check_same(run_simgrid(c.topology, c.collective, c.schedule, c.model, options), alone[i]);
  }
}

TEST_CASE("workloads on SimGrid say the same beside busy threads") {
  for (const bool disturbed : {false, true})
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const testing::RandomWorkload random = testing::random_workload(seed, disturbed);
      const auto run = [&]() -> std::optional<IterationReport> {
        try {
          return run_iteration_simgrid(random.topology, random.workload, random.plans,
                                       random.options(false));
        } catch (const InputError&) { // it comes to a halt
          return std::nullopt;
        }
      };
      const std::optional<IterationReport> alone = run();
      const BusyThreads threads;
      const std::optional<IterationReport> beside = run();
      REQUIRE(alone.has_value() == beside.has_value());
      if (!alone) continue;
      CHECK(alone->duration == beside->duration);
      CHECK(alone->accounts == beside->accounts);
      CHECK(alone->spans == beside->spans);
      CHECK(alone->communication == beside->communication);
    }
}

TEST_CASE("options and errors reach the worker and come back") {
  const testing::RandomCase c = testing::random_case(3, false);
  const std::vector<JobTiming> jobs(c.collective.parts.size(), JobTiming{Time{1'000'000}, 1});
  RunOptions options;
  options.jobs = jobs;
  const Report alone = run_simgrid(c.topology, c.collective, c.schedule, {}, options);
  std::vector<NetworkEvent> events;
  for (std::uint32_t l = 0; l < c.topology.link_count(); ++l)
    events.push_back({.at = Time{}, .kind = NetworkEvent::Kind::link_down, .link = LinkId{l}});
  RunOptions broken;
  broken.events = events;
  const auto replay = [&] { (void)run_simgrid(c.topology, c.collective, c.schedule, {}, broken); };
  const std::string error = message_of(replay);
  CHECK(!error.empty());
  const BusyThreads threads;
  check_same(run_simgrid(c.topology, c.collective, c.schedule, {}, options), alone);
  CHECK(message_of(replay) == error);
  RunOptions watched;
  watched.watch = [](const WorkProgress&) { return true; };
  CHECK_THROWS_AS(run_simgrid(c.topology, c.collective, c.schedule, {}, watched), Stopped);
  // A session's program answers again and again, after what went wrong, too.
  SimGridSession session;
  options.simgrid = broken.simgrid = watched.simgrid = &session;
  for (int i = 0; i < 3; ++i) {
    check_same(run_simgrid(c.topology, c.collective, c.schedule, {}, options), alone);
    CHECK(message_of(replay) == error);
    CHECK_THROWS_AS(run_simgrid(c.topology, c.collective, c.schedule, {}, watched), Stopped);
  }
}

TEST_CASE("a worker that isn't there, or is of another version, is an error in words") {
  CHECK(find_simgrid_worker().ends_with("tutti_simgrid_worker"));
  const std::vector<std::string> other{"Tutti 0.0.0, requests 0"};
  CHECK_THROWS_WITH(AnsweringProgram(find_simgrid_worker(), other).ask("anything"),
                    ContainsSubstring("tutti_simgrid_worker is of Tutti ") &&
                        ContainsSubstring(", not of Tutti 0.0.0, requests 0"));
  const WorkerNamed nowhere("/nonexistent/worker");
  CHECK(message_of([] { (void)find_simgrid_worker(); }) ==
        "TUTTI_SIMGRID_WORKER: \"/nonexistent/worker\" is no program");
}

} // namespace simgrid_worker_test
