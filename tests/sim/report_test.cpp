// Algorithm and bus bandwidth against nccl-tests' definitions, by hand.

#include "sim/report.hpp"

#include "tests/catch.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace tutti::report_test {
namespace {

constexpr std::int64_t second = 1'000'000'000'000; // ps

Collective one_part(CollectiveKind kind, std::uint32_t members, Bytes size) {
  CollectivePart part;
  part.kind = kind;
  part.size = size;
  for (std::uint32_t n = 0; n < members; ++n) part.group.emplace_back(n);
  Collective collective;
  collective.parts.push_back(std::move(part));
  return collective;
}

TEST_CASE("algbw is size over time", "[report]") {
  // 1 GB in 20 ms = 50 GB/s
  const Collective collective = one_part(CollectiveKind::all_reduce, 4, Bytes{1'000'000'000});
  CHECK(algbw(collective, Time{second / 50}) == Approx(50e9));
  CHECK(algbw(collective, Time{0}) == 0);
}

TEST_CASE("busbw follows nccl-tests", "[report]") {
  // nccl-tests, doc/PERFORMANCE.md: AllReduce 2(n-1)/n; ReduceScatter, AllGather, AlltoAll (and, in
  // its sources, Gather and Scatter) (n-1)/n; Broadcast and Reduce 1. Here n = 4, algbw = 1 GB/s.
  const std::vector<std::pair<CollectiveKind, double>> factors{
      {CollectiveKind::all_reduce, 1.5},
      {CollectiveKind::all_gather, 0.75},
      {CollectiveKind::reduce_scatter, 0.75},
      {CollectiveKind::all_to_all, 0.75},
      {CollectiveKind::gather, 0.75},
      {CollectiveKind::scatter, 0.75},
      {CollectiveKind::broadcast, 1},
      {CollectiveKind::reduce, 1},
      {CollectiveKind::sendrecv, 1},        // sendrecv.cu
      {CollectiveKind::hypercube, 0.75},    // hypercube.cu: what a rank receives over the time
      {CollectiveKind::all_to_all_v, 0.75}, // rccl-tests, alltoallv.cu
      {CollectiveKind::custom, 1}};
  for (const auto& [kind, factor] : factors) {
    CAPTURE(to_text(kind));
    CHECK(busbw(one_part(kind, 4, Bytes{1'000'000'000}), Time{second}) == Approx(factor * 1e9));
  }
}

TEST_CASE("busbw counts the members of the group", "[report]") {
  // 2(n-1)/n: 1 for two members, 63/32 for 64
  CHECK(busbw(one_part(CollectiveKind::all_reduce, 2, Bytes{1000}), Time{second}) == Approx(1000));
  CHECK(busbw(one_part(CollectiveKind::all_reduce, 64, Bytes{1000}), Time{second}) ==
        Approx(1000 * 63.0 / 32));
}

TEST_CASE("several collectives at once have no bus factor", "[report]") {
  Collective both = one_part(CollectiveKind::all_reduce, 4, Bytes{1000});
  both.parts.push_back(both.parts.front());
  CHECK(algbw(both, Time{second}) == Approx(2000));
  CHECK(busbw(both, Time{second}) == Approx(2000));
}

TEST_CASE("utilisation is busy time over completion time", "[report]") {
  Report report;
  report.completion = Time{400};
  report.links = {{Bytes{10}, Time{100}, 1}, {Bytes{0}, Time{0}, 0}, {Bytes{40}, Time{400}, 4}};
  CHECK(utilisation(report) == std::vector<double>{0.25, 0, 1});
  report.completion = Time{0};
  CHECK(utilisation(report) == std::vector<double>{0, 0, 0});
}

} // namespace
} // namespace tutti::report_test
