// What is drawn has the distribution that it should have, and depends on nothing else.

#include "sim/noise.hpp"

#include "tests/catch.hpp"
#include "tests/samples.hpp"

#include <algorithm>
#include <cmath>

namespace noise_test {

using namespace tutti;

namespace {

std::vector<NodeId> all(const Topology& topology) {
  std::vector<NodeId> npus;
  for (std::uint32_t n = 0; n < topology.npu_count(); ++n) npus.emplace_back(n);
  return npus;
}

struct Moments {
  double mean = 0, deviation = 0, least = 1e300, most = -1e300;
};
Moments moments_of(const std::vector<double>& values) {
  Moments moments;
  for (const double value : values) {
    moments.mean += value / static_cast<double>(values.size());
    moments.least = std::min(moments.least, value);
    moments.most = std::max(moments.most, value);
  }
  for (const double value : values)
    moments.deviation += (value - moments.mean) * (value - moments.mean);
  moments.deviation = std::sqrt(moments.deviation / static_cast<double>(values.size()));
  return moments;
}

/// Starts of all NPUs in many draws, less the mean of each draw, in units of the scale.
std::vector<double> centred_starts(Skew::Kind kind) {
  const Topology ring = samples::ring(400);
  const Noise noise{{kind, Time{1'000'000}}, {}, 7};
  std::vector<double> values;
  for (std::uint32_t draw = 0; draw < 20; ++draw) {
    const std::vector<Time> starts = drawn_starts(ring, all(ring), noise, draw);
    CHECK(*std::ranges::min_element(starts) == Time{});
    double mean = 0;
    for (const Time start : starts) mean += static_cast<double>(start.ps) / 1e6 / 400;
    for (const Time start : starts) values.push_back(static_cast<double>(start.ps) / 1e6 - mean);
  }
  return values;
}

} // namespace

TEST_CASE("start times are drawn as is asked for, the earliest at 0") {
  const Moments uniform = moments_of(centred_starts(Skew::Kind::uniform));
  CHECK(uniform.deviation == Approx(1 / std::sqrt(12.)).epsilon(0.03));
  CHECK(uniform.most - uniform.least < 1.1);
  const Moments normal = moments_of(centred_starts(Skew::Kind::normal));
  CHECK(normal.deviation == Approx(0.9866).epsilon(0.03)); // cut at three sigma
  CHECK(normal.most < 3.2);
  const Moments exponential = moments_of(centred_starts(Skew::Kind::exponential));
  CHECK(exponential.deviation == Approx(1).epsilon(0.05));
  CHECK(exponential.least > -1.2);
}

TEST_CASE("links differ by what is asked for, and none stands still") {
  const Topology ring = samples::ring(2000);
  const Noise noise{{}, {0.05, 0.3}, 3};
  std::vector<double> bandwidths, latencies;
  const Topology drawn = drawn_network(ring, noise, 5);
  for (std::uint32_t l = 0; l < ring.link_count(); ++l) {
    const Link &given = ring.link(LinkId{l}), &made = drawn.link(LinkId{l});
    bandwidths.push_back(static_cast<double>(made.bandwidth.bytes_per_second) /
                         static_cast<double>(given.bandwidth.bytes_per_second));
    latencies.push_back(static_cast<double>(made.latency.ps) /
                        static_cast<double>(given.latency.ps));
  }
  CHECK(moments_of(bandwidths).mean == Approx(1).epsilon(0.005));
  CHECK(moments_of(bandwidths).deviation == Approx(0.05 * 0.9866).epsilon(0.05));
  CHECK(moments_of(bandwidths).least > 0.85 - 1e-9);
  CHECK(moments_of(latencies).deviation == Approx(0.3 * 0.9866).epsilon(0.05));
  CHECK(moments_of(latencies).most < 1.9 + 1e-9);
  CHECK(drawn_network(ring, {}, 5).fingerprint() == ring.fingerprint());
}

TEST_CASE("a draw depends on its seed and number alone") {
  const Topology ring = samples::ring(8);
  const Noise noise{{Skew::Kind::uniform, Time{1'000'000}}, {0.1, 0.1}, 1};
  const std::vector<NodeId> members = all(ring);
  CHECK(drawn_starts(ring, members, noise, 4) == drawn_starts(ring, members, noise, 4));
  CHECK(drawn_starts(ring, members, noise, 4) != drawn_starts(ring, members, noise, 5));
  Noise other = noise;
  other.seed = 2;
  CHECK(drawn_starts(ring, members, noise, 4) != drawn_starts(ring, members, other, 4));
  CHECK(drawn_network(ring, noise, 4).fingerprint() == drawn_network(ring, noise, 4).fingerprint());
  CHECK(drawn_network(ring, noise, 4).fingerprint() != drawn_network(ring, noise, 5).fingerprint());

  // Who else takes part shifts all of them alike.
  const std::vector<NodeId> some{NodeId{1}, NodeId{6}};
  const std::vector<Time> whole = drawn_starts(ring, members, noise, 4);
  const std::vector<Time> part = drawn_starts(ring, some, noise, 4);
  CHECK(std::abs((whole[6].ps - whole[1].ps) - (part[6].ps - part[1].ps)) <= 2);
  CHECK(part[0] == Time{});
  CHECK(drawn_starts(ring, {}, noise, 4) == std::vector<Time>(8));
}

} // namespace noise_test
