#include "sim/engines/engine.hpp"
#include "sim/files/files.hpp"
#include "sim/verify.hpp"
#include "synth/bounds/bounds.hpp"
#include "synth/list.hpp"
#include "synth/sccl/frontier.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"
#include "tests/temporary_folder.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace sccl_test {

using namespace tutti;

namespace {

const AlgorithmRow& row() {
  return *std::ranges::find(synthesizers(), std::string_view("sccl"), &AlgorithmRow::name);
}

CollectiveSpec spec_of(CollectiveKind kind, std::uint32_t chunks_per_shard = 1) {
  CollectiveSpec spec;
  spec.kind = kind;
  spec.size = Bytes{12'000'000};
  spec.chunks_per_shard = chunks_per_shard;
  return spec;
}

Collective collective_of(const Topology& topology, CollectiveKind kind,
                         std::uint32_t chunks_per_shard = 1) {
  return make_collective(topology, spec_of(kind, chunks_per_shard));
}

SynthesisOptions with(std::map<std::string, std::string> settings) {
  SynthesisOptions options;
  options.settings = std::move(settings);
  return options;
}

/// Checks what every schedule of ours must keep to.
void check(const Topology& topology, const Collective& collective, const Outcome& outcome) {
  INFO(topology.name() << ' ' << collective.name() << ' ' << outcome.note);
  REQUIRE(outcome.status == Status::feasible);
  REQUIRE(outcome.schedule);
  CHECK(outcome.parts_per_chunk == 1);
  const Verdict verdict = verify(topology, collective, *outcome.schedule);
  CHECK((verdict.fault ? verdict.fault->text : "") == "");
  CHECK(verdict.redundant == 0);
  const Report report = run_native(topology, collective, *outcome.schedule, {});
  CHECK(report.completion >= lower_bound(topology, collective, {}, Chunking::given).time);
}

void check(const Topology& topology, const Collective& collective) {
  check(topology, collective, synthesize(row(), topology, collective, with({{"max_steps", "8"}})));
}

void check_all(const std::vector<Topology>& networks) {
  std::uint32_t turn = 0;
  for (const Topology& topology : networks)
    for (const CollectiveKind kind : basic_collectives())
      check(topology, collective_of(topology, kind, ++turn % 3 == 0 ? 2 : 1));
}

std::string error_with(std::map<std::string, std::string> settings,
                       std::uint32_t chunks_per_shard = 1) {
  const Topology topology = samples::ring(4);
  return message_of([&] {
    (void)synthesize(row(), topology,
                     collective_of(topology, CollectiveKind::all_gather, chunks_per_shard),
                     with(settings));
  });
}

/// (C, S, R) of all points.
std::vector<std::array<std::uint32_t, 3>> points(const Frontier& frontier) {
  std::vector<std::array<std::uint32_t, 3>> all;
  for (const FrontierPoint& point : frontier.points)
    all.push_back({point.chunks, point.steps, point.rounds});
  return all;
}

using Points = std::vector<std::array<std::uint32_t, 3>>;

Points frontier_of(const Topology& topology, CollectiveKind kind, std::uint32_t most_steps) {
  FrontierRequest request;
  request.most_steps = most_steps;
  return points(synthesize_frontier(topology, collective_of(topology, kind), request, {}));
}

Topology one_way_line(std::uint32_t npus) {
  TopologyParts parts = samples::npus("one-way line", npus);
  for (std::uint32_t n = 0; n + 1 < npus; ++n) parts.add_link(samples::link(n, n + 1));
  return Topology(std::move(parts));
}

/// NPUs 0 and 1, and a memory between them.
Topology over_memory() {
  TopologyParts parts = samples::npus("over memory", 2);
  const NodeId memory = parts.add_node({"dram", NodeKind::memory, {true, true, false}, {}});
  parts.add_duplex(samples::link(0, memory.value));
  parts.add_duplex(samples::link(1, memory.value));
  return Topology(std::move(parts));
}

} // namespace

TEST_CASE("sccl makes correct schedules of every collective on links between NPUs") {
  check_all({samples::ring(2), samples::ring(5, true), samples::full(4), samples::mesh(2, 3),
             samples::mesh_without_a_link(2, 3), samples::uneven_mesh(2, 2),
             make_topology("hypercube:3")});
}

TEST_CASE("sccl makes correct schedules of every collective through switches", "[heavy]") {
  std::vector<Topology> networks;
  for (const char* text : {"switch:4", "switch:8", "switch:5,without=npu2", "multi_rail:2x2",
                           "rfs:2x2x2", "two_level_switch:2x2"})
    networks.push_back(make_topology(text));
  check_all(networks);
}

TEST_CASE("sccl serves groups, and relays outside them") {
  const Topology mesh = samples::mesh(2, 4);
  for (const CollectiveKind kind : basic_collectives()) {
    CollectiveSpec spec = spec_of(kind);
    spec.group = {NodeId{0}, NodeId{1}, NodeId{4}, NodeId{5}}; // a square
    check(mesh, make_collective(mesh, spec));
    spec.group = {NodeId{7}, NodeId{0}, NodeId{3}}; // three corners, in another order
    spec.root = has_root(kind) ? 2 : 0;
    check(mesh, make_collective(mesh, spec));
  }
}

TEST_CASE("sccl serves several collectives one by one") {
  const Topology mesh = samples::mesh(2, 3);
  CollectiveSpec left = spec_of(CollectiveKind::all_reduce);
  left.group = {NodeId{0}, NodeId{3}, NodeId{4}};
  const std::array parts{collective_of(mesh, CollectiveKind::all_gather, 2),
                         make_collective(mesh, left), collective_of(mesh, CollectiveKind::gather)};
  check(mesh, merge(parts));
  // A frontier is of one.
  CHECK(message_of([&] { (void)synthesize_frontier(mesh, merge(parts), {}, {}); }) ==
        "sccl makes one collective at a time, not several at once");
}

TEST_CASE("sccl passes chunks through a memory, but reduces nothing there") {
  const Topology topology = over_memory();
  for (const CollectiveKind kind : basic_collectives())
    if (!is_reducing(kind)) check(topology, collective_of(topology, kind));
  for (const CollectiveKind kind :
       {CollectiveKind::reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce}) {
    INFO(to_text(kind));
    const Outcome none = synthesize(row(), topology, collective_of(topology, kind), {});
    CHECK(none.status == Status::unsupported); // which is no proof that nobody can
    CHECK_THAT(none.note, ContainsSubstring("can't be reached"));
  }
}

TEST_CASE("frontiers that theory knows") {
  // Ring of four: two steps are needed, and three chunks come in over two lanes.
  CHECK(frontier_of(samples::ring(4), CollectiveKind::all_gather, 4) == Points{{2, 2, 3}});
  CHECK(frontier_of(samples::ring(4), CollectiveKind::reduce_scatter, 4) == Points{{2, 2, 3}});
  CHECK(frontier_of(samples::ring(4, true), CollectiveKind::all_gather, 5) == Points{{1, 3, 3}});
  CHECK(frontier_of(samples::full(4), CollectiveKind::all_gather, 3) == Points{{1, 1, 1}});
  // One link in and out of each NPU; across the switch it is one step.
  CHECK(frontier_of(samples::star(4), CollectiveKind::all_gather, 3) == Points{{1, 1, 3}});
  CHECK(frontier_of(samples::star(4), CollectiveKind::gather, 3) == Points{{1, 1, 3}});
  // A pipeline along a line of three: C chunks cross two lanes, the second a step later.
  CHECK(frontier_of(samples::mesh(1, 3), CollectiveKind::broadcast, 5) ==
        Points{{1, 2, 2}, {2, 3, 3}, {3, 4, 4}, {4, 5, 5}});
  CHECK(frontier_of(samples::mesh(1, 3), CollectiveKind::reduce, 4) ==
        Points{{1, 2, 2}, {2, 3, 3}, {3, 4, 4}});
  // Both halves; C counts the pieces of all four shards.
  CHECK(frontier_of(samples::ring(4), CollectiveKind::all_reduce, 6) == Points{{8, 4, 6}});
  // All-to-All: 4 * (1 + 1 + 2) crossings of 8 lanes; C counts one for each destination.
  CHECK(frontier_of(samples::ring(4), CollectiveKind::all_to_all, 4) == Points{{4, 2, 2}});
}

TEST_CASE("a frontier says what is proven of its points") {
  const Topology line = samples::mesh(1, 3);
  FrontierRequest request;
  request.most_steps = 4;
  const Collective broadcast = collective_of(line, CollectiveKind::broadcast);
  const Frontier part = synthesize_frontier(line, broadcast, request, {});
  CHECK(part.bandwidth_bound == Ratio(1)); // reached by no number of steps
  CHECK_FALSE(part.complete);
  CHECK_FALSE(part.timed_out);
  REQUIRE(part.points.size() == 3);
  for (const FrontierPoint& point : part.points) {
    CHECK(point.proof == PointProof::lp_tight);
    CHECK_FALSE(point.bandwidth_optimal);
    CHECK(point.latency_optimal == (point.steps == 2));
  }
  CHECK(part.step_latency == samples::alpha);
  CHECK(part.round == samples::bandwidth);
  // 12 MB / 50 GB/s = 240 us; in three parts 80 us each.
  CHECK(part.model_time(part.points[2], Bytes{4'000'000}) == Time{4 * 500'000 + 4 * 80'000'000});

  const Topology ring = samples::ring(4);
  const Frontier whole =
      synthesize_frontier(ring, collective_of(ring, CollectiveKind::all_gather), {}, {});
  CHECK(whole.bandwidth_bound == Ratio(3, 2));
  CHECK(whole.complete);
  REQUIRE(whole.points.size() == 1);
  CHECK(whole.points[0].bandwidth_optimal);
  CHECK(whole.points[0].latency_optimal);
  CHECK(whole.in_class.empty());
  const Frontier composed =
      synthesize_frontier(ring, collective_of(ring, CollectiveKind::all_reduce), {}, {});
  CHECK(composed.in_class == "Reduce-Scatter, then All-Gather");
  CHECK(composed.bandwidth_bound == Ratio(3, 4));
}

TEST_CASE("a frontier of given chunks ends where there are as many steps as rounds") {
  const Topology ring = samples::ring(4);
  FrontierRequest request;
  request.chunks_per_shard = 1;
  request.most_steps = 1'000'000;
  const Frontier frontier =
      synthesize_frontier(ring, collective_of(ring, CollectiveKind::all_gather), request, {});
  CHECK(points(frontier) == Points{{1, 2, 2}}); // with three steps, three rounds at least
  CHECK(frontier.complete);
}

TEST_CASE("links that differ, and what they share, count in rounds of the slowest") {
  // 0 > 1 is 3/2 as fast as 1 > 0: three chunks in two rounds, but one in one.
  TopologyParts parts = samples::npus("uneven", 2);
  parts.add_link(samples::link(0, 1));
  parts.add_link(samples::link(1, 0));
  parts.links[0].bandwidth = {3 * samples::bandwidth.bytes_per_second / 2};
  const Topology uneven(parts);
  CHECK(frontier_of(uneven, CollectiveKind::broadcast, 1) == Points{{3, 1, 2}});
  CHECK(frontier_of(uneven, CollectiveKind::all_gather, 1) == Points{{1, 1, 1}});
  // Half duplex: both directions together carry as much as one.
  parts.links[0].bandwidth = samples::bandwidth;
  parts.groups.push_back({"bus", {LinkId{0}, LinkId{1}}, samples::bandwidth});
  const Topology bus(parts);
  CHECK(frontier_of(bus, CollectiveKind::all_gather, 1) == Points{{1, 1, 2}});
  CHECK(frontier_of(bus, CollectiveKind::broadcast, 1) == Points{{1, 1, 1}});
}

TEST_CASE("one instance is asked by chunks, steps and rounds") {
  const Topology ring = samples::ring(4);
  const Collective halves = collective_of(ring, CollectiveKind::all_gather, 2);
  const Outcome made = synthesize(row(), ring, halves, with({{"steps", "2"}, {"rounds", "3"}}));
  check(ring, halves, made);
  // 3 MB shards, cut in two: 30 us a round.
  CHECK(made.planned == Time{2 * 500'000 + 3 * 30'000'000});
  for (const auto& [chunks_per_shard, steps, rounds] :
       {std::tuple{1U, "1", "4"}, {2U, "2", "2"}, {3U, "3", "4"}}) {
    INFO(chunks_per_shard << ' ' << steps << ' ' << rounds);
    const Outcome none =
        synthesize(row(), ring, collective_of(ring, CollectiveKind::all_gather, chunks_per_shard),
                   with({{"steps", steps}, {"rounds", rounds}}));
    CHECK(none.status == Status::infeasible);
    CHECK_FALSE(none.schedule);
    CHECK_THAT(none.note, ContainsSubstring("exists: proven by"));
  }
}

TEST_CASE("settings of sccl that mean nothing are bad input") {
  CHECK(error_with({{"steps", "3"}, {"rounds", "2"}}) ==
        "2 rounds for 3 steps: every step takes at least one");
  CHECK(error_with({{"rounds", "3"}}) == "the setting rounds needs steps");
  CHECK_THAT(error_with({{"step", "2"}}), ContainsSubstring("unknown setting of sccl \"step\""));
  CHECK_THAT(error_with({{"step", "2"}}), ContainsSubstring("did you mean \"steps\"?"));
  CHECK_THAT(error_with({{"symmetric", "maybe"}}),
             ContainsSubstring("unknown value of symmetric \"maybe\" (known: yes, no"));
  for (const char* key : {"steps", "rounds", "max_steps", "effort"})
    for (const char* value : {"0", "-1", "two", "2.5", "", "99999999999999999999"}) {
      INFO(key << '=' << value);
      CHECK_THAT(error_with({{key, value}}), ContainsSubstring(key));
    }
  CHECK_THAT(error_with({{"k", "-1"}}), ContainsSubstring("k"));
  CHECK_THAT(error_with({{"k", "1001"}}), ContainsSubstring("k 1001 is out of range (0 .. 1000)"));
  CHECK(error_with({{"k", "0"}}) == "");
  CHECK(error_with({{"proof", "proof.drat"}}) ==
        "a proof is of one instance: it needs steps, rounds and chunks");
  const TemporaryFolder folder;
  write_file(folder.file("no_folder"), "");
  const std::string nowhere = folder.file("no_folder") + "/proof.drat";
  CHECK_THAT(error_with({{"steps", "2"}, {"rounds", "2"}, {"proof", nowhere}}, 2),
             ContainsSubstring(nowhere + ": cannot write"));
}

TEST_CASE("who can't be reached is named") {
  const Topology line = one_way_line(3);
  const auto refusal = [&](const Collective& collective) {
    const Outcome none = synthesize(row(), line, collective, {});
    CHECK(none.status == Status::infeasible);
    return none.note;
  };
  CHECK_THAT(refusal(collective_of(line, CollectiveKind::all_gather)),
             ContainsSubstring("can't get from npu1 to npu0"));
  // Down the line is a way, for sums up to its end too.
  check(line, collective_of(line, CollectiveKind::broadcast));
  CollectiveSpec reduce = spec_of(CollectiveKind::reduce);
  reduce.root = 2;
  check(line, make_collective(line, reduce));
  reduce.root = 0;
  CHECK_THAT(refusal(make_collective(line, reduce)),
             ContainsSubstring("can't get from npu1 to npu0"));
}

TEST_CASE("a limit leaves no half result") {
  const Topology topology = make_topology("dgx1");
  const Collective gather = collective_of(topology, CollectiveKind::all_gather, 6);
  SynthesisOptions instance = with({{"steps", "3"}, {"rounds", "7"}});
  SynthesisOptions whole;
  for (SynthesisOptions* options : {&instance, &whole}) {
    options->limit_seconds = 1e-9;
    const Outcome late = synthesize(row(), topology, gather, *options);
    CHECK(late.status == Status::timed_out);
    CHECK_FALSE(late.schedule);
    CHECK(late.note == "no schedule within the limit");
    options->limit_seconds = 0;
    options->cancelled = [] { return true; };
    const Outcome cancelled = synthesize(row(), topology, gather, *options);
    CHECK(cancelled.status == Status::timed_out);
    CHECK_FALSE(cancelled.schedule);
  }
  // Nor is an undecided instance called impossible: this one exists.
  SynthesisOptions effort =
      with({{"steps", "3"}, {"rounds", "7"}, {"effort", "1"}, {"symmetric", "no"}});
  const Outcome undecided = synthesize(row(), topology, gather, effort);
  CHECK(undecided.status != Status::infeasible);
}

TEST_CASE("whenever sccl is stopped, it calls nothing impossible that isn't") {
  const Topology ring = samples::ring(4);
  for (const CollectiveKind kind :
       {CollectiveKind::all_to_all, CollectiveKind::all_gather, CollectiveKind::all_reduce}) {
    const bool both = kind == CollectiveKind::all_reduce;
    const Collective collective = collective_of(ring, kind);
    for (const char* symmetric : {"yes", "no"}) {
      SynthesisOptions options = with(
          {{"steps", both ? "4" : "2"}, {"rounds", both ? "5" : "2"}, {"symmetric", symmetric}});
      bool ended = false; // without being stopped
      for (int patience = 0; !ended; ++patience) {
        int asked = 0;
        options.cancelled = [&] { return ++asked > patience; };
        const Outcome outcome = synthesize(row(), ring, collective, options);
        ended = asked <= patience;
        INFO(to_text(kind) << ", symmetric " << symmetric << ", patience " << patience);
        CHECK(outcome.status != Status::infeasible);
        CHECK(outcome.schedule.has_value() == (outcome.status == Status::feasible));
        REQUIRE(patience < 10'000);
      }
    }
  }
}

TEST_CASE("custom collectives of sccl") {
  const Topology ring = samples::ring(4);
  Collective custom;
  custom.sets = {{NodeId{0}, NodeId{2}}, {NodeId{1}, NodeId{3}}, {NodeId{0}}, {NodeId{0}}};
  custom.chunks = {{Bytes{1'000'000}, 0, 1, false}, {Bytes{1'000'000}, 2, 3, false}};
  CollectivePart part;
  part.size = Bytes{2'000'000};
  part.group = {NodeId{0}, NodeId{1}, NodeId{2}, NodeId{3}};
  part.chunk_count = 2;
  custom.parts = {part};
  check(ring, custom); // the second chunk stays where it is

  custom.chunks[0].destinations = 2; // who wants it has it: nothing is to be done
  check(ring, custom);

  // A sum that two want comes together at one of those who contribute, and is copied from there.
  custom.chunks = {{Bytes{1'000'000}, 1, 0, true}};
  custom.parts[0].chunk_count = 1;
  check(ring, custom);
  custom.chunks[0].destinations = 2;
  check(ring, custom); // npu1's and npu3's sum for npu0
}

TEST_CASE("left to choose, sccl cuts no shard below a byte") {
  const Topology ring = samples::ring(4);
  CollectiveSpec spec = spec_of(CollectiveKind::all_gather);
  spec.size = Bytes{4}; // a byte each
  SynthesisOptions options;
  options.choose_chunks = true;
  const Outcome made = synthesize(row(), ring, make_collective(ring, spec), options);
  REQUIRE(made.schedule);
  CHECK(made.parts_per_chunk == 1);
  CHECK(verify(ring, make_collective(ring, spec), *made.schedule).correct());
  spec.size = Bytes{4'000'000'000};
  const Outcome large = synthesize(row(), ring, make_collective(ring, spec), options);
  REQUIRE(large.schedule);
  CHECK(large.parts_per_chunk % 2 == 0); // 3/2 rounds per chunk
  spec.chunks_per_shard = large.parts_per_chunk;
  CHECK(verify(ring, make_collective(ring, spec), *large.schedule).correct());
}

TEST_CASE("told how many chunks, sccl takes the rounds that these need") {
  const Topology star = samples::star(8);
  for (const std::uint32_t chunks_per_shard :
       {1U, 2U, 5U}) // seven chunks for each come in over one link
    check(star, collective_of(star, CollectiveKind::all_gather, chunks_per_shard));
}

TEST_CASE("large symmetric networks are served at both optima", "[heavy]") {
  // As many steps as the farthest are away, and as many rounds as a node's four lanes need for the
  // 63 other chunks, or the lanes across the middle for what crosses it.
  const Topology torus = make_topology("torus2d:8x8");
  const auto optimum = [&](CollectiveKind kind) {
    const Frontier frontier = synthesize_frontier(torus, collective_of(torus, kind), {}, {});
    REQUIRE(frontier.points.size() == 1);
    CHECK(frontier.complete);
    return std::pair(frontier.points[0].steps, frontier.points[0].cost());
  };
  CHECK(optimum(CollectiveKind::all_gather) == std::pair(8U, Ratio(63, 4)));
  CHECK(optimum(CollectiveKind::all_to_all) == std::pair(8U, Ratio(1)));
}

TEST_CASE("what is too large for sccl is refused in words", "[heavy]") {
  const auto note = [](const char* network, std::uint32_t chunks_per_shard) {
    const Topology topology = make_topology(network);
    const Outcome none = synthesize(
        row(), topology, collective_of(topology, CollectiveKind::all_gather, chunks_per_shard), {});
    CHECK(none.status == Status::unsupported);
    CHECK_FALSE(none.schedule);
    return none.note;
  };
  CHECK(note("mesh2d:30x30", 1) ==
        "too large for sccl: 810000 deliveries by 3480 paths between nodes");
  CHECK(note("switch:600", 1) ==
        "too large for sccl: 360000 deliveries by 359400 paths between nodes");
  CHECK(note("mesh2d:8x8", 4) == "too large for sccl; --set largest=N allows more");
}

TEST_CASE("an All-Reduce keeps to the steps that were asked for") {
  // Its halves could be 2 + 2, 2 + 3 and 3 + 3 steps.
  const Topology dgx1 = make_topology("dgx1");
  FrontierRequest request;
  request.most_steps = 5;
  const Frontier frontier =
      synthesize_frontier(dgx1, collective_of(dgx1, CollectiveKind::all_reduce), request, {});
  REQUIRE(frontier.points.size() == 2);
  CHECK(frontier.points[0].steps == 4);
  CHECK(frontier.points[1].steps == 5);
  request.most_steps = 3;
  CHECK(synthesize_frontier(dgx1, collective_of(dgx1, CollectiveKind::all_reduce), request, {})
            .points.empty());
}

TEST_CASE("a frontier with undecided instances isn't called complete", "[heavy]") {
  const Topology dgx1 = make_topology("dgx1");
  FrontierRequest request;
  request.effort = 1;
  const Frontier hasty =
      synthesize_frontier(dgx1, collective_of(dgx1, CollectiveKind::all_gather), request, {});
  const auto is_open = [](const FrontierTrial& trial) { return trial.answer == "timed_out"; };
  REQUIRE(std::ranges::any_of(hasty.trials, is_open));
  CHECK_FALSE(hasty.complete);
}

} // namespace sccl_test
