// Emulated links on a GPU hold a run for as long as the simulator says, though waits, fences and
// atomic operations take microseconds: the kernel's interpreter in virtual time, against replays.
#include "algorithms/list.hpp"
#include "runtime/lowering/lowering.hpp"
#include "sim/engines/engine.hpp"
#include "synth/bounds/bounds.hpp"
#include "tests/catch.hpp"
#include "tests/runtime/virtual_machine.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace emulated_time_test {

using namespace tutti;
using namespace tutti::runtime;

namespace {

/// As on a GPU: some 2 us for what goes through the L2, and 1 TB/s a block.
constexpr Costs usual{2'000, 1'000, 1'000, 1e-3};

/// Emulated over predicted.
struct Ratios {
  double least = 1e9, most = 0;
  double late = 0; ///< ns, at most
  std::size_t count = 0;
  std::string worst;
};

/// Whether only one connection crosses each link: among several the simulator has an order, blocks
/// have none.
bool is_ordered(const Plan& plan) {
  std::vector<std::uint32_t> uses(plan.links.size());
  for (const std::uint32_t link : plan.path_links) ++uses[link];
  return std::ranges::all_of(uses, [](std::uint32_t n) { return n <= 1; });
}

/// Of all baselines' ordered programs; no other beats a lower bound either.
Ratios ratios_of(const std::vector<std::string>& networks, Bytes size, const Costs& costs) {
  Ratios ratios;
  for (const std::string& name : networks) {
    const Topology topology = make_topology(name);
    for (const CollectiveKind kind :
         {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce,
          CollectiveKind::all_to_all, CollectiveKind::broadcast})
      for (const AlgorithmRow& row : baseline_algorithms()) {
        if (std::ranges::find(row.collectives, kind) == row.collectives.end()) continue;
        const Collective collective =
            make_collective(topology, {kind, size, {}, 0, row.chunk_multiple});
        const Outcome outcome = synthesize(row, topology, collective, {});
        if (!outcome.schedule) continue;
        const Program program = lower(topology, collective, *outcome.schedule);
        PlanOptions options;
        options.emulated = &topology;
        const Plan plan =
            make_plan(program, unit_bytes_for(program, size, ElementType::float32), options);
        HostMemory memory(program, plan, ElementType::float32);
        const auto took = static_cast<double>(
            interpret_in_virtual_time<float, Combine::sum>(plan, memory, costs));
        CHECK(memory.check(Combine::sum).wrong == 0);
        CHECK(took >=
              static_cast<double>(lower_bound(topology, collective, {}, Chunking::given).time.ps) *
                  1e-3);
        if (!is_ordered(plan)) continue;
        const Report report = run_native(topology, collective, *outcome.schedule, {});
        const double predicted = static_cast<double>(report.completion.ps) * 1e-3;
        const double ratio = took / predicted;
        ratios.late = std::max(ratios.late, took - predicted);
        if (ratio > ratios.most)
          ratios.worst = fmt::format("{} {} on {}", row.name, to_text(kind), name);
        ratios.least = std::min(ratios.least, ratio);
        ratios.most = std::max(ratios.most, ratio);
        ++ratios.count;
      }
  }
  return ratios;
}

} // namespace

TEST_CASE("emulated links take what the simulator says, where operations take no time", "[heavy]") {
  const Ratios ratios =
      ratios_of({"ring:4", "dgx1", "switch:4", "mesh2d:2x3", "torus2d:3x3", "hypercube:3"},
                Bytes{72 << 13}, {});
  INFO(ratios.worst);
  CHECK(ratios.count > 60);
  CHECK(ratios.least > 0.9999);
  CHECK(ratios.most < 1.002); // each link rounds up to nanoseconds
}

TEST_CASE("emulated links take what the simulator says, where operations take microseconds",
          "[heavy]") {
  // A message occupies its link for longer than its operations take.
  const Ratios ratios = ratios_of(
      {"ring:4,bandwidth=5GB/s", "hypercube:3,bandwidth=5GB/s", "mesh2d:2x3,bandwidth=5GB/s"},
      Bytes{72 << 14}, usual);
  INFO(ratios.worst);
  CHECK(ratios.count > 40);
  CHECK(ratios.least > 0.9999);
  CHECK(ratios.most < 1.03);
}

TEST_CASE("one by one, a message sets out when the one before has crossed its emulated link") {
  const Topology topology = make_topology("ring:2,bandwidth=1GB/s,latency=100us");
  const Bytes size{16 << 16}; // 8 chunks of 64 KiB each way, 65.536 us each
  const Collective collective =
      make_collective(topology, {CollectiveKind::all_gather, size, {}, 0, 8});
  const AlgorithmRow& ring =
      *std::ranges::find(baseline_algorithms(), "ring1", &AlgorithmRow::name);
  const Program program =
      lower(topology, collective, *synthesize(ring, topology, collective, {}).schedule);
  const auto microseconds = [&](bool one_by_one) {
    PlanOptions options;
    options.emulated = &topology;
    options.one_by_one = one_by_one;
    const Plan plan =
        make_plan(program, unit_bytes_for(program, size, ElementType::float32), options);
    HostMemory memory(program, plan, ElementType::float32);
    const auto took = interpret_in_virtual_time<float, Combine::sum>(plan, memory, {});
    CHECK(memory.check(Combine::sum).wrong == 0);
    return static_cast<double>(took) * 1e-3;
  };
  CHECK(microseconds(true) == Approx(8 * (100 + 65.536)).epsilon(0.002));
  CHECK(microseconds(false) == Approx(100 + 8 * 65.536).epsilon(0.002));
}

TEST_CASE("what all members send for the same moment is reduced by then, or one after another") {
  // Nothing hides what these operations take: two waits, a fence and a copy for each other member.
  const std::uint32_t members = 6;
  const Bytes size{72 << 14};
  const Ratios ratios = ratios_of({"fully_connected:6,bandwidth=5GB/s"}, size, usual);
  const double copy = usual.byte * static_cast<double>(size.count) / members;
  INFO(ratios.worst);
  CHECK(ratios.least > 0.9999);
  CHECK(ratios.late <= (members - 1) * (2.0 * static_cast<double>(usual.wait) +
                                        static_cast<double>(usual.publish) + copy));
}

TEST_CASE("a GPU that is too slow for its links shows") {
  const Ratios ratios = ratios_of({"ring:4"}, Bytes{72 << 13}, {50'000, 1'000, 1'000, 1e-3});
  CHECK(ratios.least > 2);
}

} // namespace emulated_time_test
