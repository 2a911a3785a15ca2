#include "experiments/driver/pool/interrupts.hpp"
#include "experiments/driver/sweep/coordinator.hpp"
#include "sim/error.hpp"
#include "sim/random.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/sweep/sweep_samples.hpp"
#include "tests/temporary_folder.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

namespace sweep_run_test {

using namespace tutti;
using namespace tutti::sweep;

namespace {

using std::chrono::milliseconds;

double k_of(const Point& point) { return point.values.front().number; }

PointResults simulate(const Point& point) { return samples::results(k_of(point)); }

PointResults simulate_slowly(const Point& point) {
  std::this_thread::sleep_for(milliseconds(20));
  return simulate(point);
}

SweepParts parts(const PointFunction& evaluate, std::size_t points) {
  return {evaluate, [points] { return samples::space(points); }};
}

SweepOptions options(const TemporaryFolder& folder, std::size_t jobs = 2) {
  SweepOptions options;
  options.store = folder.file("s.sqlite");
  options.jobs = jobs;
  return options;
}

std::string undisturbed(std::size_t points) {
  const TemporaryFolder folder;
  const SweepOptions once = options(folder);
  (void)sweep_locally(samples::sweep(), once, parts(simulate, points));
  return samples::content(Store::open_to_read(once.store).table());
}

pid_t forked_sweep(const SweepOptions& options, const SweepParts& parts) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  int code = 1;
  try {
    code = sweep_locally(samples::sweep(), options, parts).interrupted ? 130 : 0;
  } catch (const Interrupted&) {
    code = 131;
  } catch (const InputError&) {
    code = 2;
  }
  ::_exit(code);
}

int exit_code_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

bool has_ended(pid_t child) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == child;
}

// Kills a sweep so many times at random instants, then lets it finish.
void kill_again_and_again(int kills, std::size_t points) {
  const TemporaryFolder folder;
  const SweepOptions again = options(folder);
  Random random(static_cast<std::uint64_t>(kills));
  std::size_t finished_before = 0;
  for (int i = 0; i < kills; ++i) {
    const pid_t child = forked_sweep(again, parts(simulate_slowly, points));
    std::this_thread::sleep_for(milliseconds(random.below(120)));
    ::kill(child, SIGKILL);
    (void)exit_code_of(child);
    if (!std::filesystem::exists(again.store)) continue;
    try { // whatever was finished stays so
      const auto counts = Store::open_to_read(again.store).counts();
      const auto done = counts.find(PointStatus::done);
      const std::size_t finished = done == counts.end() ? 0 : done->second;
      CHECK(finished >= finished_before);
      finished_before = finished;
    } catch (const InputError&) { // killed before there was a table
      CHECK(finished_before == 0);
    }
  }
  const SweepOutcome outcome = sweep_locally(samples::sweep(), again, parts(simulate, points));
  CHECK(outcome.points == points);
  CHECK(outcome.evaluated == points - finished_before);
  CHECK(outcome.counts == std::map<PointStatus, std::size_t>{{PointStatus::done, points}});
  CHECK(samples::content(Store::open_to_read(again.store).table()) == undisturbed(points));
}

} // namespace

TEST_CASE("a sweep simulates what is missing, and nothing twice") {
  const TemporaryFolder folder;
  SweepOptions some = options(folder);
  const SweepOutcome first = sweep_locally(samples::sweep(), some, parts(simulate, 30));
  CHECK(first.points == 30);
  CHECK(first.evaluated == 30);
  CHECK(first.counts == std::map<PointStatus, std::size_t>{{PointStatus::done, 30}});
  CHECK_FALSE(first.interrupted);
  CHECK(first.point_seconds > 0);
  const SweepOutcome none = sweep_locally(samples::sweep(), some, parts(simulate, 30));
  CHECK(none.evaluated == 0);
  const SweepOutcome more = sweep_locally(samples::sweep(), some, parts(simulate, 35));
  CHECK(more.evaluated == 5);
  const PointTable table = Store::open_to_read(some.store).table();
  REQUIRE(table.rows == 35);
  for (std::size_t k = 0; k < 35; ++k)
    CHECK(samples::column(table, "collective_time_s").numbers[k] ==
          std::sqrt(static_cast<double>(k)));
}

TEST_CASE("a shard simulates its points only") {
  const TemporaryFolder folder;
  SweepOptions third = options(folder);
  third.shard = Shard{1, 3};
  const SweepOutcome outcome = sweep_locally(samples::sweep(), third, parts(simulate, 10));
  CHECK(outcome.points == 3);
  CHECK(outcome.evaluated == 3);
}

TEST_CASE("points that crash, run out of time or memory, or throw are rows of the sweep") {
  const TemporaryFolder folder;
  const auto evaluate = [](const Point& point) {
    const double k = k_of(point);
    if (k == 3) ::abort();
    if (k == 4)
      while (true) ::pause();
    if (k == 5) throw InputError("not five");
    if (k == 6) ::kill(::getppid(), SIGKILL); // its server, which others use too
    return simulate(point);
  };
  Sweep sweep = samples::sweep();
  sweep.limits.seconds = 0.4;
  SweepOptions again = options(folder);
  const SweepOutcome outcome = sweep_locally(sweep, again, parts(evaluate, 20));
  CHECK(outcome.counts.at(PointStatus::crashed) == 2);
  CHECK(outcome.counts.at(PointStatus::timed_out) == 1);
  CHECK(outcome.counts.at(PointStatus::refused) == 1);
  CHECK(outcome.counts.at(PointStatus::done) == 16);
  const std::vector<std::string> names{"message"};
  CHECK(samples::text(Store::open_to_read(again.store).table(names), "message", 5) == "not five");
  again.retry = true;
  const SweepOutcome retried = sweep_locally(sweep, again, parts(simulate, 20));
  CHECK(retried.evaluated == 3);
  CHECK(retried.counts.at(PointStatus::done) == 19);
}

TEST_CASE("Ctrl-C finishes what runs, and the same call goes on; a second one stops at once") {
  const TemporaryFolder folder;
  const SweepOptions twice = options(folder);
  const auto evaluate = [](const Point& point) {
    std::this_thread::sleep_for(milliseconds(400));
    return simulate(point);
  };
  pid_t child = forked_sweep(twice, parts(evaluate, 20));
  const auto count = [&](PointStatus status) {
    const auto counts = Store::open_to_read(twice.store).counts();
    const auto found = counts.find(status);
    return found == counts.end() ? std::size_t{0} : found->second;
  };
  const auto wait_for_running = [&] {
    for (int i = 0; i < 1000; ++i) {
      try {
        if (count(PointStatus::running) > 0) return;
      } catch (const InputError&) { // not there yet
      }
      std::this_thread::sleep_for(milliseconds(10));
    }
  };
  wait_for_running();
  std::this_thread::sleep_for(milliseconds(150)); // until its points run
  ::kill(child, SIGINT);
  CHECK(exit_code_of(child) == 130);
  const std::size_t done = count(PointStatus::done);
  CHECK(done > 0);
  CHECK(done < 20);
  CHECK(count(PointStatus::running) == 0);
  CHECK(count(PointStatus::pending) == 20 - done);

  child = forked_sweep(twice, parts(
                                  [](const Point&) -> PointResults {
                                    while (true) ::pause();
                                  },
                                  20));
  wait_for_running();
  std::this_thread::sleep_for(milliseconds(50));
  for (int i = 0; i < 100 && !has_ended(child); ++i) { // two at once count as one
    ::kill(child, SIGINT);
    std::this_thread::sleep_for(milliseconds(200));
  }
  CHECK(exit_code_of(child) == 131);
  CHECK(count(PointStatus::pending) == 20 - done);
  CHECK(sweep_locally(samples::sweep(), twice, parts(simulate, 20)).evaluated == 20 - done);
}

TEST_CASE("two sweeps at once share the points") {
  const TemporaryFolder folder;
  const SweepOptions both = options(folder);
  const pid_t other = forked_sweep(both, parts(simulate_slowly, 60));
  const SweepOutcome ours = sweep_locally(samples::sweep(), both, parts(simulate_slowly, 60));
  CHECK(exit_code_of(other) == 0);
  CHECK(ours.evaluated < 60);
  CHECK(samples::content(Store::open_to_read(both.store).table()) == undisturbed(60));
}

TEST_CASE("a sweep survives its death at any instant") { kill_again_and_again(10, 60); }

TEST_CASE("a sweep survives fifty deaths", "[slow]") { kill_again_and_again(50, 300); }

} // namespace sweep_run_test
