// The queue against a sorted map, whatever mixture of delays goes in; and the order of a link's
// queue.

#include "sim/engines/event_queue.hpp"
#include "sim/engines/fifo_core.hpp"
#include "sim/random.hpp"
#include "tests/catch.hpp"

#include <map>

namespace event_queue_test {

using namespace tutti;

TEST_CASE("events come out by time, whatever mixture of delays went in") {
  Random random(1);
  EventQueue queue;
  std::multimap<std::int64_t, std::uint32_t> expected;
  std::int64_t now = 0;
  std::uint32_t pushed = 0;
  for (int round = 0; round < 20'000; ++round) {
    if (expected.empty() || random.below(5) < 3) {
      const std::int64_t delay = random.below(2) == 0 // a few delays recur, others don't
                                     ? static_cast<std::int64_t>(100 * random.below(4))
                                     : static_cast<std::int64_t>(random.below(1000));
      queue.push(now, {now + delay, pushed, 0});
      expected.emplace(now + delay, pushed++);
      continue;
    }
    REQUIRE(queue.next_time() == expected.begin()->first);
    const Event event = queue.pop();
    now = event.at;
    const auto [first, last] = expected.equal_range(event.at);
    const auto found =
        std::find_if(first, last, [&](const auto& entry) { return entry.second == event.subject; });
    REQUIRE(found != last); // this very event, once
    expected.erase(found);
  }
}

TEST_CASE("a link's queue is ordered by entry, then list position") {
  LinkQueue queue;
  queue.push({10, 7, 0});
  queue.push({10, 3, 0});
  queue.push({20, 1, 0});
  queue.push({20, 0, 0});
  std::vector<std::uint32_t> order;
  for (; !queue.empty(); queue.pop()) order.push_back(queue.front().transfer);
  CHECK(order == std::vector<std::uint32_t>{3, 7, 0, 1});
}

} // namespace event_queue_test
