#include "experiments/driver/sweep/point_server.hpp"

#include "sim/error.hpp"
#include "tests/catch.hpp"
#include "tests/sweep/sweep_samples.hpp"

#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <iostream>
#include <limits>
#include <new>
#include <stdexcept>
#include <thread>

namespace point_server_test {

using namespace tutti;
using namespace tutti::sweep;

namespace {

Point point(std::size_t position, const std::string& what = "") {
  return {position,
          {number_value(static_cast<double>(position)), {Value::Kind::text, Unit::none, 0, what}},
          "key",
          3,
          0.5};
}

// Does what the point says.
PointResults obey(const Point& point) {
  const std::string& what = point.values[1].text;
  if (what == "crash") ::abort();
  if (what == "exit") ::_exit(7);
  if (what == "refuse") throw InputError("no such thing");
  if (what == "throw") throw std::runtime_error("a bug");
  if (what == "noise") {
    std::cout << "noise" << std::flush;
    std::cerr << "noise" << std::flush;
  }
  if (what == "endless")
    while (true) ::pause();
  if (what == "interrupted") {
    ::raise(SIGINT);
    ::raise(SIGTERM);
  }
  if (what == "memory") {
    std::vector<std::vector<char>> eaten;
    while (true) eaten.emplace_back(16 << 20, 'x');
  }
  if (what == "slow") std::this_thread::sleep_for(std::chrono::milliseconds(300));
  if (what == "kill server") {
    ::kill(::getppid(), SIGKILL);
    ::pause();
  }
  PointResults results = samples::results(point.values[0].number);
  results.numbers["nothing"] = std::nan("");
  return results;
}

// Waits for so many answers, by position.
std::map<std::size_t, PointResults> answers(PointServer& server, std::size_t count) {
  std::map<std::size_t, PointResults> found;
  while (found.size() < count) {
    pollfd wait{server.file(), POLLIN, 0};
    REQUIRE(::poll(&wait, 1, 20'000) > 0);
    for (const FinishedPoint& each : server.answers().finished) {
      CHECK_FALSE(found.contains(each.position));
      found[each.position] = each.results;
    }
  }
  return found;
}

} // namespace

TEST_CASE("points, results and answers survive as bytes") {
  Point asked = point(17, "text \"quoted\"\n");
  asked.values.push_back(number_value(0.1, Unit::seconds));
  asked.values.push_back(boolean_value(true));
  const Point read = parse_point(message_of(asked));
  CHECK(read.position == 17);
  CHECK(read.values == asked.values);
  CHECK(read.key == "key");
  CHECK(read.seed == 3);
  CHECK(read.expected_work == 0.5);

  PointResults made = samples::results(2);
  made.numbers["gap"] = std::numeric_limits<double>::infinity();
  CHECK(parse_results(message_of(made)).numbers.count("gap") == 0);

  PointAnswers sent;
  sent.finished.push_back({5, samples::results(2)});
  sent.finished.front().results.message = "\xff is no UTF-8";
  sent.dropped = {1, 2};
  const PointAnswers got = parse_answers(message_of(sent));
  REQUIRE(got.finished.size() == 1);
  CHECK(got.finished.front().position == 5);
  CHECK(got.finished.front().results.message == "\xff is no UTF-8");
  CHECK(got.finished.front().results.numbers == samples::results(2).numbers);
  CHECK(got.dropped == sent.dropped);
}

TEST_CASE("each point is simulated in a process of its own, and whatever it does is an answer") {
  PointServer server(obey, {.bytes = 256 << 20}, 3);
  CHECK(server.capacity() == 6);
  const std::vector<std::string> whats{"",      "crash", "exit",   "refuse",
                                       "throw", "noise", "memory", "interrupted"};
  std::map<std::size_t, PointResults> found;
  for (std::size_t i = 0; i < whats.size(); ++i) {
    server.start(point(i, whats[i]));
    if (server.load() == server.capacity()) found.merge(answers(server, 1));
  }
  found.merge(answers(server, server.load()));
  REQUIRE(found.size() == whats.size());
  CHECK(server.load() == 0);
  for (const std::size_t fine : {0U, 5U, 7U}) {
    CHECK(found[fine].status == PointStatus::done);
    CHECK(found[fine].numbers == samples::results(static_cast<double>(fine)).numbers);
    CHECK(found[fine].peak_bytes > 1 << 20);
  }
  CHECK(found[1].status == PointStatus::crashed);
  CHECK(found[1].message == "the process was killed by signal 6 (Aborted)");
  CHECK(found[2].message == "the process ended with code 7");
  CHECK(found[3].status == PointStatus::refused);
  CHECK(found[3].message == "no such thing");
  CHECK(found[4].status == PointStatus::defect);
  CHECK(found[4].message == "a bug");
#ifndef TUTTI_ADDRESS_SANITIZER // which has no bad_alloc
  CHECK(found[6].status == PointStatus::out_of_memory);
  CHECK(found[6].message == "took more than 256MiB");
  CHECK(found[6].peak_bytes > 200 << 20);
#endif
}

TEST_CASE("a point that doesn't end is ended at its limit of time") {
  PointServer server(obey, {.seconds = 0.5}, 1);
  server.start(point(0, "endless"));
  const PointResults results = answers(server, 1).at(0);
  CHECK(results.status == PointStatus::timed_out);
  CHECK(results.message == "took longer than 0.5 s");
}

TEST_CASE("what waits can be dropped, what runs is finished") {
  PointServer server(obey, {}, 2);
  for (std::size_t i = 0; i < 4; ++i) server.start(point(i, "slow"));
  server.drop_waiting();
  std::vector<std::size_t> finished, dropped;
  while (server.load() > 0) {
    const PointAnswers arrived = server.answers();
    for (const FinishedPoint& each : arrived.finished) finished.push_back(each.position);
    dropped.insert(dropped.end(), arrived.dropped.begin(), arrived.dropped.end());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  CHECK(finished.size() + dropped.size() == 4);
  CHECK(dropped.size() >= 2); // more where it was told before it began
  for (const std::size_t position : finished) CHECK(position < 2);
}

TEST_CASE("points of a server that died are begun again, unless they are what kills it") {
  PointServer server(obey, {}, 2);
  server.start(point(0, "slow"));
  server.start(point(1, "slow"));
  server.start(point(2));
  ::kill(server.process(), SIGKILL);
  auto found = answers(server, 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(found[i].status == PointStatus::done);

  server.start(point(3, "kill server"));
  CHECK(answers(server, 1)[3].status == PointStatus::crashed);
  server.start(point(4));
  CHECK(answers(server, 1)[4].status == PointStatus::done);
}

TEST_CASE("points die with their server") {
  int process = 0;
  {
    PointServer server(
        [](const Point&) -> PointResults {
          while (true) ::pause();
        },
        {}, 1);
    process = server.process();
    server.start(point(0));
  }
  CHECK(::kill(process, 0) != 0);
}

TEST_CASE("a point costs a few milliseconds", "[slow]") {
  PointServer server(obey, {}, 1);
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < 300; ++i) {
    server.start(point(i));
    (void)answers(server, 1);
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  CHECK(seconds / 300 < 0.03); // 0.001 on a quiet machine
}

} // namespace point_server_test
