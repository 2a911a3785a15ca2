#include "synth/tacos/matching.hpp"

#include "sim/engines/engine.hpp"
#include "sim/random.hpp"
#include "sim/verify.hpp"
#include "sim/verify_compact.hpp"
#include "synth/bounds/bounds.hpp"
#include "synth/tacos/events.hpp"
#include "synth/tacos/rounds.hpp"
#include "tests/catch.hpp"
#include "tests/samples.hpp"
#include "topologies/list.hpp"

#include <numeric>
#include <vector>

namespace matching_test {

using namespace tutti;

namespace {

/// What a matching needs around it.
struct Setup {
  Setup(Topology network, CollectiveKind kind, std::uint32_t chunks_per_shard, LinkBusy busy)
      : topology(std::move(network)) {
    options.model.link_busy = busy;
    CollectiveSpec spec;
    spec.kind = kind;
    spec.chunks_per_shard = chunks_per_shard;
    spec.size = Bytes{100'000 * std::int64_t{topology.npu_count()} * chunks_per_shard};
    collective = make_collective(topology, spec);
    for (std::uint32_t n = 0; n < topology.npu_count(); ++n) participants.emplace_back(n);
  }
  [[nodiscard]] MatchingProblem problem() const {
    return {.topology = topology,
            .collective = collective,
            .participants = participants,
            .link_busy = options.model.link_busy,
            .limit = limit};
  }

  Topology topology;
  Collective collective;
  std::vector<NodeId> participants;
  SynthesisOptions options;
  WorkLimit limit{options};
};

/// Strongly connected: a ring both ways, and some chords; all links different.
Topology random_network(std::uint64_t seed) {
  Random random(seed);
  const auto count = static_cast<std::uint32_t>(3 + random.below(8));
  TopologyParts parts = samples::npus("random " + std::to_string(seed), count);
  const auto add = [&](std::uint32_t from, std::uint32_t to) {
    Link link = samples::link(from, to);
    link.latency = Time{static_cast<std::int64_t>(random.below(3'000'000))};
    link.bandwidth.bytes_per_second =
        static_cast<std::int64_t>(1 + random.below(40)) * 2'500'000'000;
    parts.add_link(link);
  };
  for (std::uint32_t n = 0; n < count; ++n) {
    add(n, (n + 1) % count);
    add((n + 1) % count, n);
  }
  for (std::uint64_t chords = random.below(2 * count); chords > 0; --chords) {
    const auto from = static_cast<std::uint32_t>(random.below(count));
    const auto to = static_cast<std::uint32_t>(random.below(count));
    if (from != to) add(from, to);
  }
  return Topology(std::move(parts));
}

/// Correct, without waste, and replayed no later than planned. Returns the replayed time.
Time checked(const Setup& setup, const Matches& matches) {
  const TimeModel& model = setup.options.model;
  INFO(setup.topology.name());
  REQUIRE(matches.schedule);
  const Verdict verdict = verify(setup.topology, setup.collective, *matches.schedule);
  CHECK((verdict.fault ? verdict.fault->text : "") == "");
  CHECK(verdict.redundant == 0);
  const Time time =
      run_native(setup.topology, setup.collective, *matches.schedule, model).completion;
  CHECK(time <= matches.makespan);
  CHECK(time >= lower_bound(setup.topology, setup.collective, model, Chunking::given).time);
  return time;
}

constexpr LinkBusy models[]{LinkBusy::serialization, LinkBusy::latency_and_serialization};

} // namespace

TEST_CASE("matching by events never sends what isn't there, however links differ") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed)
    for (const LinkBusy busy : models)
      for (const CollectiveKind kind : {CollectiveKind::all_gather, CollectiveKind::broadcast}) {
        const Setup setup(random_network(seed), kind, 1 + static_cast<std::uint32_t>(seed % 3),
                          busy);
        const std::optional<Matches> matches = match_links_and_chunks(setup.problem());
        REQUIRE(matches);
        (void)checked(setup, *matches);
        CHECK(matches->least <= matches->makespan);
      }
}

TEST_CASE("rounds and events agree on equal links") {
  for (const char* text : {"mesh2d:5x7", "torus2d:6x6", "hypercube:4", "fully_connected:8"}) {
    const Setup setup(make_topology(text), CollectiveKind::all_gather, 2,
                      LinkBusy::latency_and_serialization);
    const MatchingNetwork network(setup.problem());
    REQUIRE(network.uniform());
    for (const std::uint32_t candidates : {1U, 8U}) {
      const std::optional<Matches> rounds = match_in_rounds(setup.problem(), network, candidates);
      const std::optional<Matches> events = match_by_events(setup.problem(), network, candidates);
      INFO(text << " " << candidates);
      REQUIRE(rounds);
      REQUIRE(events);
      CHECK(checked(setup, *rounds) == rounds->makespan);
      CHECK(checked(setup, *events) == events->makespan);
      CHECK(events->makespan == network.least_makespan());
    }
    CHECK(match_links_and_chunks(setup.problem())->makespan == network.least_makespan());
  }
}

TEST_CASE("a matching is the same for any number of threads", "[heavy]") {
  const Setup setup(make_topology("mesh2d:40x40"), CollectiveKind::all_gather, 1,
                    LinkBusy::latency_and_serialization);
  MatchingProblem problem = setup.problem();
  const std::optional<Matches> alone = match_links_and_chunks(problem);
  REQUIRE(alone);
  for (const unsigned threads : {2U, 3U}) {
    problem.threads = threads;
    CHECK(*match_links_and_chunks(problem)->schedule == *alone->schedule);
  }
}

TEST_CASE("a compact matching is the same as a listed one") {
  for (const LinkBusy busy : models)
    for (const char* text : {"mesh2d:6x5", "mesh2d:4x4,bandwidth=50GB/s+75GB/s"}) {
      const Setup setup(make_topology(text), CollectiveKind::all_gather, 2, busy);
      MatchingProblem problem = setup.problem();
      const std::optional<Matches> listed = match_links_and_chunks(problem);
      problem.compact_from = 1;
      const std::optional<Matches> compact = match_links_and_chunks(problem);
      REQUIRE(compact);
      REQUIRE(compact->compact);
      const Verdict verdict = verify(setup.topology, setup.collective, *compact->compact);
      CHECK((verdict.fault ? verdict.fault->text : "") == "");
      CHECK(compact->compact->size() == listed->schedule->size());
      CHECK(run_native_compact(setup.topology, setup.collective, *compact->compact,
                               setup.options.model)
                .completion == checked(setup, *listed));
    }
}

TEST_CASE("a slow link takes what a fast one would bring later, and nothing else") {
  // Two NPUs, a link and a second one four times slower, 10 chunks that take 4 us and 16 us: both
  // together bring 8 + 2 in 32 us.
  TopologyParts parts = samples::npus("two links", 2);
  parts.add_duplex(samples::link(0, 1));
  Link slow = samples::link(0, 1);
  slow.bandwidth.bytes_per_second /= 4;
  parts.add_link(slow);
  const Setup setup(Topology(std::move(parts)), CollectiveKind::broadcast, 10,
                    LinkBusy::serialization);
  REQUIRE(setup.collective.chunks.front().size == Bytes{200'000});
  CHECK(checked(setup, *match_links_and_chunks(setup.problem())) == Time{8 * 4'000'000 + 500'000});
}

TEST_CASE("a limit ends a matching without a result") {
  Setup setup(make_topology("mesh2d:12x12"), CollectiveKind::all_gather, 1,
              LinkBusy::latency_and_serialization);
  setup.options.cancelled = [] { return true; };
  CHECK_FALSE(match_links_and_chunks(setup.problem()));
  setup.options.model.link_busy = LinkBusy::serialization;
  CHECK_FALSE(match_links_and_chunks(setup.problem()));
}

TEST_CASE("a matching tells how far it is") {
  Setup setup(make_topology("mesh2d:12x12"), CollectiveKind::all_gather, 1,
              LinkBusy::latency_and_serialization);
  std::vector<SynthesisProgress> seen;
  setup.options.progress = [&](const SynthesisProgress& progress) { seen.push_back(progress); };
  REQUIRE(match_links_and_chunks(setup.problem()));
  REQUIRE(seen.size() > 2);
  for (std::size_t i = 1; i < seen.size(); ++i) {
    CHECK(seen[i - 1].done <= seen[i].done);
    CHECK(seen[i - 1].reached < seen[i].reached);
    CHECK(seen[i].total == 144 * 143);
  }
}

} // namespace matching_test
