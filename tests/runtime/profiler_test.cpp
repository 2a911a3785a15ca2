// The fit finds alpha and beta again, and measured networks are never faster than those that were
// emulated.

#include "runtime/profiling/profiler.hpp"

#include "sim/random.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/runtime/hand_programs.hpp"
#include "topologies/export/list.hpp"
#include "topologies/list.hpp"

#include <cmath>
#include <map>
#include <utility>

namespace profiler_test {

using namespace tutti;
using namespace tutti::runtime;

namespace {

constexpr std::uint32_t chunks = 8;

std::vector<LinkTiming> timings_of(double alpha, double beta, double noise) {
  Random random(7);
  const auto disturbed = [&] {
    return 1 + noise * (static_cast<double>(random.below(2001)) / 1000 - 1);
  };
  std::vector<LinkTiming> timings;
  for (const Bytes size : ProfileOptions{}.sizes) {
    const double bytes = static_cast<double>(size.count);
    timings.push_back({size, chunks * (alpha + beta * bytes) * disturbed(),
                       (alpha + chunks * beta * bytes) * disturbed()});
  }
  return timings;
}

/// What the seconds of a program are where its links are perfect: the recurrence by hand.
Execution perfect(const Program& program, const ExecutionRequest& request, double joint_rate) {
  const double unit = static_cast<double>(request.size.count) / program.unit_count();
  double longest = 0;
  for (const RankProgram& rank : program.ranks)
    for (const Block& block : rank.blocks) {
      if (!block.sends_to) continue;
      const double messages = static_cast<double>(block.steps.size());
      const double busy = messages * unit * 1e-9, latency = 1e-5;
      longest = std::max(longest, busy + latency * (request.plan.one_by_one ? messages : 1));
    }
  const double all = static_cast<double>(request.size.count) / joint_rate + 1e-5;
  Execution execution;
  execution.seconds = {std::max(longest, all)};
  return execution;
}

} // namespace

TEST_CASE("the fit finds alpha and beta again") {
  for (const auto& [alpha, beta] : {std::pair(0.7e-6, 46e-12), std::pair(1e-3, 1e-8)}) {
    const LinkProfile exact = fit(LinkId{3}, timings_of(alpha, beta, 0), chunks);
    CHECK(exact.link == LinkId{3});
    CHECK(exact.latency_seconds == Approx(alpha).epsilon(1e-9));
    CHECK(exact.seconds_per_byte == Approx(beta).epsilon(1e-9));
    CHECK(exact.fit_error == Approx(0).margin(1e-9));
    const LinkProfile noisy = fit(LinkId{3}, timings_of(alpha, beta, 0.05), chunks);
    CHECK(noisy.latency_seconds == Approx(alpha).epsilon(0.05));
    CHECK(noisy.seconds_per_byte == Approx(beta).epsilon(0.05));
    CHECK(noisy.fit_error > 0);
    CHECK(noisy.fit_error < 0.05);
  }
}

TEST_CASE("alpha and beta are never negative") {
  // At once slower than one by one: a free fit would have a negative latency.
  const LinkProfile no_latency =
      fit(LinkId{0}, {{Bytes{1000}, 8e-6, 9e-6}, {Bytes{2000}, 16e-6, 17e-6}}, chunks);
  CHECK(no_latency.latency_seconds == 0);
  CHECK(no_latency.seconds_per_byte > 0.9e-9);
  // Larger is faster.
  const LinkProfile no_rate =
      fit(LinkId{0}, {{Bytes{1000}, 8e-6, 1e-6}, {Bytes{2000}, 7.9e-6, 0.9e-6}}, chunks);
  CHECK(no_rate.seconds_per_byte == 0);
  CHECK(no_rate.latency_seconds == Approx(1e-6).epsilon(0.1));
}

TEST_CASE("perfect links are measured as they are") {
  const Topology line = line_network(3, Time{1}, Bandwidth{1});
  const Profile all =
      profile(line, [](const Program& p, const ExecutionRequest& r) { return perfect(p, r, 1e12); },
              {}, {});
  REQUIRE(all.links.size() == 4);
  for (const LinkProfile& link : all.links) {
    CHECK(link.latency_seconds == Approx(1e-5).epsilon(1e-6));
    CHECK(link.seconds_per_byte == Approx(1e-9).epsilon(1e-6));
    CHECK(link.timings.size() == 5);
  }
  CHECK(all.joint_bytes_per_second == Approx(4e9).epsilon(1e-6));
  CHECK(all.fit_error() == Approx(0).margin(1e-6));
  const Topology measured = profiled_topology(line, all, "a test");
  CHECK(measured.groups().empty());
  CHECK(measured.link(LinkId{2}).latency == Time{10'000'000});
  CHECK(std::abs(measured.link(LinkId{2}).bandwidth.bytes_per_second - 1'000'000'000) < 1000);
  CHECK_THAT(measured.parts().note, ContainsSubstring("a test") && ContainsSubstring("fit error"));
}

TEST_CASE("links that slow each other down share a group") {
  const Topology line = line_network(3, Time{1}, Bandwidth{1});
  const Profile all = profile(
      line, [](const Program& p, const ExecutionRequest& r) { return perfect(p, r, 2e9); }, {}, {});
  CHECK(all.joint_bytes_per_second == Approx(2e9).epsilon(1e-6));
  const Topology measured = profiled_topology(line, all, "a test");
  REQUIRE(measured.groups().size() == 1);
  CHECK(measured.groups()[0].links.size() == 4);
  CHECK(std::abs(measured.groups()[0].bandwidth.bytes_per_second - 2'000'000'000) < 10'000);
}

// How long threads take beyond the links is the machine's; less they can't.
TEST_CASE("threads with emulated links are never measured as faster") {
  TopologyParts parts;
  parts.add_node({"a", NodeKind::npu, {}, {}});
  parts.add_node({"b", NodeKind::npu, {}, {}});
  parts.add_link({NodeId{0}, NodeId{1}, Time{2'000'000'000}, Bandwidth{20'000'000}, -1});
  parts.add_link({NodeId{0}, NodeId{1}, Time{1'000'000'000}, Bandwidth{40'000'000}, -1});
  const Topology network(std::move(parts));
  ProfileOptions options;
  options.sizes = {Bytes{4'000}, Bytes{100'000}};
  options.repetitions = 3;
  PlanOptions plan;
  plan.emulated = &network;
  const Profile all = profile(network, run_on_cpu, options, plan);
  REQUIRE(all.links.size() == 2);
  for (std::size_t l = 0; l < 2; ++l) {
    const double latency = l == 0 ? 2e-3 : 1e-3, per_byte = l == 0 ? 5e-8 : 2.5e-8;
    REQUIRE(all.links[l].timings.size() == 2);
    for (const LinkTiming& timing : all.links[l].timings) {
      const double busy = per_byte * static_cast<double>(timing.size.count);
      CHECK(timing.one_by_one_seconds > 0.999 * options.chunks * (latency + busy));
      CHECK(timing.at_once_seconds > 0.999 * (latency + options.chunks * busy));
      CHECK(timing.one_by_one_seconds < 100 * options.chunks * (latency + busy));
    }
  }
}

TEST_CASE("profiles that can't be are refused") {
  const Executor none = [](const Program&, const ExecutionRequest&) { return Execution{}; };
  CHECK_THAT(message_of([&] { (void)profile(make_topology("switch:4"), none, {}, {}); }),
             ContainsSubstring("only links between NPUs"));
  const Topology line = line_network(2, Time{1}, Bandwidth{1});
  ProfileOptions options;
  options.sizes = {Bytes{1000}};
  CHECK_THROWS_AS(profile(line, none, options, {}), InputError);
  options.sizes = {Bytes{1000}, Bytes{1001}};
  CHECK_THROWS_AS(profile(line, none, options, {}), InputError);
}

TEST_CASE("topologies are written as files that read back the same") {
  for (const std::string text :
       {"dgx1", "mesh2d:2x4", "switch:8", "dgx_a100_rail:2", "fat_tree:4", "torus2d:3x3"}) {
    const Topology made = make_topology(text);
    INFO(text);
    const Topology back = parse_topology(topology_toml(made), "back.toml");
    CHECK(back.fingerprint() == made.fingerprint());
    CHECK(back.name() == made.name());
    CHECK(back.parts().note == made.parts().note);
    CHECK(back.parts().coordinates == made.parts().coordinates);
    for (std::uint32_t l = 0; l < back.link_count(); ++l)
      CHECK(back.link(LinkId{l}).dimension == made.link(LinkId{l}).dimension);
  }
  TopologyParts parts = line_network(3, Time{7}, Bandwidth{12'345'678'901}).parts();
  parts.name = "a \"name\" with \\ and\ttab";
  parts.groups.push_back({"bus", {LinkId{0}, LinkId{3}}, Bandwidth{1'000'001}});
  const Topology grouped(parts);
  const Topology back = parse_topology(topology_toml(grouped), "back.toml");
  CHECK(back.fingerprint() == grouped.fingerprint());
  CHECK(back.name() == grouped.name());
  parts.add_link(parts.links[0]); // a parallel link, outside the group
  const Topology parallel(parts);
  CHECK(parse_topology(topology_toml(parallel), "back.toml").fingerprint() ==
        parallel.fingerprint());
}

} // namespace profiler_test
