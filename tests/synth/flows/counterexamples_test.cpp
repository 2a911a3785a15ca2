// The small networks of Shapley 2025, sec. 2.5.1 (Figures 2.1-2.7), where steps, memories and
// shared bandwidth lead other methods astray. Optima are derived by hand: what every schedule must
// move, and one that moves no more.

#include "sim/work_limit.hpp"
#include "synth/flows/fluid/optimum.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace counterexamples_test {

namespace {

using namespace tutti;

constexpr std::int64_t x = 1'000'000'000; // of a link, bytes/s
constexpr std::int64_t size = 12'000'000'000;
constexpr double link_seconds = 12; // size / x
constexpr Abilities none{false, false, false}, copies{true, true, false};

/// `gpus` NPUs, of which the i-th is number i + 1 in the figures.
TopologyParts gpus(std::uint32_t count) {
  TopologyParts parts;
  parts.name = "figure";
  for (std::uint32_t n = 1; n <= count; ++n)
    parts.add_node({"gpu" + std::to_string(n), NodeKind::npu, {}, {}});
  return parts;
}

void join(TopologyParts& parts, NodeId a, NodeId b, std::int64_t bandwidth = x) {
  parts.add_duplex({a, b, Time{0}, Bandwidth{bandwidth}});
}

/// Joined to all GPUs; all that enters and leaves it shares `bandwidth` (0: it is without limit).
void add_hub(TopologyParts& parts, Abilities can, std::int64_t bandwidth,
             std::int64_t link_bandwidth = x) {
  const auto count = static_cast<std::uint32_t>(parts.nodes.size());
  const NodeId hub = parts.add_node({"memory", NodeKind::memory, can, {}});
  std::vector<LinkId> links;
  for (std::uint32_t n = 0; n < count; ++n) {
    const auto first = static_cast<std::uint32_t>(parts.links.size());
    join(parts, NodeId{n}, hub, link_bandwidth);
    links.insert(links.end(), {LinkId{first}, LinkId{first + 1}});
  }
  if (bandwidth > 0) parts.groups.push_back({"memory", std::move(links), Bandwidth{bandwidth}});
}

/// Of a Broadcast from the first GPU, in bytes that take link_seconds over a link.
FluidSolution broadcast(TopologyParts parts, const std::vector<double>& weights = {}) {
  const Topology topology(std::move(parts));
  CollectiveSpec spec;
  spec.kind = CollectiveKind::broadcast;
  spec.size = Bytes{size};
  FluidOptions options;
  options.weights = weights;
  const SynthesisOptions no_limit;
  return fluid_optimum(flow_problem(topology, make_collective(topology, spec)), options,
                       WorkLimit(no_limit));
}

void check_seconds(const FluidSolution& solution, double expected) {
  REQUIRE(solution.status == Status::optimal);
  CHECK(solution.seconds == Approx(expected).epsilon(1e-8));
  CHECK(solution.bound_seconds == Approx(expected).epsilon(1e-8));
}

/// Figure 2.4: 1 and 2 have a link of their own beside the memory that joins all four.
TopologyParts shortcut(Abilities memory, std::int64_t bandwidth, std::int64_t link_bandwidth = x) {
  TopologyParts parts = gpus(4);
  add_hub(parts, memory, bandwidth, link_bandwidth);
  join(parts, NodeId{0}, NodeId{1});
  return parts;
}

} // namespace

TEST_CASE("Figure 2.1: data that is divided at will keeps both links of a line busy") {
  TopologyParts parts = gpus(3);
  join(parts, NodeId{0}, NodeId{1});
  join(parts, NodeId{1}, NodeId{2});
  check_seconds(broadcast(std::move(parts)), link_seconds); // k chunks need (k + 1) / k of it
}

TEST_CASE("Figure 2.2: a memory is written once and read by all") {
  for (const auto& [can, crossings] : {std::pair(copies, 3), std::pair(none, 4)}) {
    TopologyParts parts = gpus(3);
    add_hub(parts, can, 0);
    // As quick without copying, 1 - memory - 2 - memory - 3, but over one link more.
    const FluidSolution free = broadcast(parts, std::vector<double>(6, 1.0));
    check_seconds(free, link_seconds);
    CHECK(free.traffic == Approx(crossings * static_cast<double>(size)));
    TopologyParts limited = gpus(3);
    add_hub(limited, can, 2 * x);
    check_seconds(broadcast(std::move(limited)), crossings * link_seconds / 2);
  }
}

TEST_CASE("Figure 2.3: a memory that joins four GPUs is crossed in and out for each of three") {
  for (const std::int64_t y : {3 * x, 6 * x, 9 * x}) {
    const double memory_seconds = static_cast<double>(size) / static_cast<double>(y);
    TopologyParts passing = gpus(4), copying = gpus(4);
    add_hub(passing, none, y);
    add_hub(copying, copies, y);
    check_seconds(broadcast(std::move(passing)), std::max(link_seconds, 6 * memory_seconds));
    check_seconds(broadcast(std::move(copying)), std::max(link_seconds, 4 * memory_seconds));
  }
}

TEST_CASE("Figure 2.4: a path around the memory leaves four crossings of six") {
  // 3 and 4 are at the memory only, so that what they get goes in and out; 2 needs none of it.
  for (const std::int64_t y : {2 * x, 4 * x, 6 * x}) {
    const double memory_seconds = static_cast<double>(size) / static_cast<double>(y);
    check_seconds(broadcast(shortcut(none, y)), std::max(link_seconds, 4 * memory_seconds));
    // Written once, it is read by 3 and 4: three crossings.
    check_seconds(broadcast(shortcut(copies, y)), std::max(link_seconds, 3 * memory_seconds));
  }
}

TEST_CASE(
    "Figures 2.5 and 2.6: narrower links instead of shared bandwidth give the wrong optimum") {
  constexpr std::int64_t y = 3 * x;
  // Links of y / 6 are right for the first network ...
  TopologyParts shared = gpus(4), narrowed = gpus(4);
  add_hub(shared, none, y);
  add_hub(narrowed, none, 0, y / 6);
  check_seconds(broadcast(std::move(shared)), 2 * link_seconds);
  check_seconds(broadcast(std::move(narrowed)), 2 * link_seconds);
  // ... but not for the second, where 3 and 4 could get more than that.
  check_seconds(broadcast(shortcut(none, y)), 4 * link_seconds / 3);
  check_seconds(broadcast(shortcut(none, 0, y / 6)), 2 * link_seconds);
}

TEST_CASE("Figure 2.7: nothing needs to be brought to a memory") {
  TopologyParts parts = gpus(2);
  const NodeId memory = parts.add_node({"memory", NodeKind::memory, copies, {}});
  join(parts, NodeId{0}, NodeId{1});
  join(parts, NodeId{0}, memory, x / 2);
  check_seconds(broadcast(parts), link_seconds);
  parts.nodes[memory.value].kind = NodeKind::npu; // one that wants the data too
  check_seconds(broadcast(parts), 2 * link_seconds);
}

} // namespace counterexamples_test
