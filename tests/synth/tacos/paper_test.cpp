// `tacos_paper` against what the paper says of a matching, told apart from how it is made: the
// steps of a schedule are read from a replay in which a link is busy for alpha + beta n.
#include "sim/engines/engine.hpp"
#include "sim/synthesizer.hpp"
#include "sim/verify.hpp"
#include "synth/bounds/bounds.hpp"
#include "synth/list.hpp"
#include "tests/catch.hpp"
#include "tests/samples.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace paper_test {

using namespace tutti;

namespace {

const AlgorithmRow& paper_row() {
  return *std::ranges::find(synthesizers(), "tacos_paper", &AlgorithmRow::name);
}

constexpr Bytes size{672'000}; // of which shards of 7, 12 and 16 NPUs are whole, in two chunks, too

struct Made {
  Topology topology;
  Collective collective;
  Outcome outcome;
  Time replayed;
};

Made make(const Topology& topology, CollectiveKind kind, std::uint32_t chunks,
          SynthesisOptions options = {}) {
  CollectiveSpec spec;
  spec.kind = kind;
  spec.size = size;
  spec.chunks_per_shard = chunks;
  const Collective collective = make_collective(topology, spec);
  options.model.link_busy = LinkBusy::latency_and_serialization;
  Outcome outcome = synthesize(paper_row(), topology, collective, options);
  INFO(topology.name() << " " << collective.name() << " " << outcome.note);
  REQUIRE(outcome.schedule);
  const Verdict verdict = verify(topology, collective, *outcome.schedule);
  CHECK((verdict.fault ? verdict.fault->text : "") == "");
  CHECK(verdict.redundant == 0);
  const Time replayed =
      run_native(topology, collective, *outcome.schedule, options.model).completion;
  return {topology, collective, std::move(outcome), replayed};
}

/// When each copy of a schedule of single links starts, where all links cost the same and every
/// NPU sends what it has got as the list says: step by step, from the definition of a schedule.
std::vector<std::uint32_t> steps_of(const Made& made) {
  const Schedule& schedule = *made.outcome.schedule;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> has; // chunk, NPU -> step
  for (std::uint32_t c = 0; c < made.collective.chunks.size(); ++c)
    for (const NodeId npu : made.collective.sources(ChunkId{c})) has[{c, npu.value}] = 0;
  std::vector<std::uint32_t> free(made.topology.link_count()), steps;
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    const LinkId link = schedule.paths().first(schedule[i].path);
    const std::uint32_t chunk = schedule[i].chunk.value;
    const std::uint32_t step =
        std::max(free[link.value], has.at({chunk, made.topology.link(link).from.value}));
    free[link.value] = step + 1;
    has[{chunk, made.topology.link(link).to.value}] = step + 1;
    steps.push_back(step);
  }
  return steps;
}

} // namespace

TEST_CASE("tacos_paper leaves no link idle that could bring its NPU something new") {
  for (const char* text : {"mesh2d:3x4", "torus2d:4x4", "ring:7", "hypercube:3", "dgx1_nvlinks"}) {
    const Made made = make(make_topology(text), CollectiveKind::all_gather, 2);
    INFO(text);
    const std::vector<std::uint32_t> steps = steps_of(made);
    const Schedule& schedule = *made.outcome.schedule;
    // Who has what before each step, and what its matches bring.
    const std::uint32_t last = std::ranges::max(steps);
    std::set<std::pair<std::uint32_t, std::uint32_t>> has;
    for (std::uint32_t c = 0; c < made.collective.chunks.size(); ++c)
      for (const NodeId npu : made.collective.sources(ChunkId{c})) has.emplace(c, npu.value);
    for (std::uint32_t step = 0; step <= last; ++step) {
      auto after = has;
      std::set<std::uint32_t> busy;
      for (std::size_t i = 0; i < schedule.size(); ++i) {
        if (steps[i] != step) continue;
        const LinkId link = schedule.paths().first(schedule[i].path);
        CHECK(busy.insert(link.value).second);
        after.emplace(schedule[i].chunk.value, made.topology.link(link).to.value);
      }
      for (std::uint32_t l = 0; l < made.topology.link_count(); ++l) {
        if (busy.contains(l)) continue;
        const Link& link = made.topology.link(LinkId{l});
        for (std::uint32_t c = 0; c < made.collective.chunks.size(); ++c)
          CHECK((!has.contains({c, link.from.value}) || after.contains({c, link.to.value})));
      }
      has = after;
    }
    CHECK(*made.outcome.planned == made.replayed);
  }
}

TEST_CASE("tacos_paper needs the four steps of Fig. 15 on a 3x3 mesh") {
  const Made made = make(make_topology("mesh2d:3x3"), CollectiveKind::all_gather, 1);
  CHECK(std::ranges::max(steps_of(made)) == 3);
}

TEST_CASE("of several attempts of tacos_paper the best is kept, and a seed decides it") {
  const Topology topology = make_topology("random:16,degree=3");
  SynthesisOptions options;
  const Made made = make(topology, CollectiveKind::all_gather, 1, options);
  CHECK(made.outcome.attempts.size() == 10);
  CHECK(*made.outcome.planned == std::ranges::min(made.outcome.attempts));
  CHECK(std::ranges::max(made.outcome.attempts) > *made.outcome.planned); // they do differ
  CHECK(*make(topology, CollectiveKind::all_gather, 1, options).outcome.schedule ==
        *made.outcome.schedule);
  const auto worst = std::ranges::max_element(made.outcome.attempts);
  options.seed += static_cast<std::uint64_t>(worst - made.outcome.attempts.begin());
  options.settings["starts"] = "1";
  const Made other = make(topology, CollectiveKind::all_gather, 1, options);
  CHECK(*other.outcome.planned == *worst); // each attempt has the next seed
  CHECK_FALSE(*other.outcome.schedule == *made.outcome.schedule);
}

TEST_CASE("tacos_paper prefers cheap links, and replaces what a faster link brings first") {
  // npu0 -> npu2 directly costs five times the two links by npu1: chunk 0, which is all there is to
  // send at first, enters the slow link, too, and comes by the fast ones before.
  TopologyParts parts;
  for (const char* name : {"npu0", "npu1", "npu2"})
    parts.add_node({.name = name, .kind = NodeKind::npu, .can = {}, .reduce_rate = {}});
  const auto link = [&](std::uint32_t from, std::uint32_t to, std::int64_t bandwidth) {
    parts.add_link({.from = NodeId{from},
                    .to = NodeId{to},
                    .latency = Time{0},
                    .bandwidth = Bandwidth{bandwidth}});
  };
  link(0, 1, 10'000'000'000);
  link(1, 2, 10'000'000'000);
  link(0, 2, 1'000'000'000);
  const Topology topology(std::move(parts));
  const Made one = make(topology, CollectiveKind::broadcast, 1);
  CHECK(one.outcome.schedule->size() == 2); // nothing by the slow link in the end
  CHECK(one.replayed == serialization(Bytes{2 * size.count}, Bandwidth{10'000'000'000}));
  // Of 24 chunks the slow link brings the two that it has time for.
  const Made many = make(topology, CollectiveKind::broadcast, 24);
  const Schedule& schedule = *many.outcome.schedule;
  std::size_t slow = 0;
  for (std::size_t i = 0; i < schedule.size(); ++i)
    slow += schedule.paths().first(schedule[i].path) == LinkId{2} ? 1 : 0;
  CHECK(slow == 2);
}

TEST_CASE("tacos_paper is never faster than what no schedule can beat") {
  for (const char* text :
       {"mesh2d:4x4", "torus2d:4x4", "rfs:2x2x4,bandwidth=200GB/s+100GB/s+50GB/s", "switch:6",
        "dragonfly:3x3", "random:12,degree=4,seed=2"})
    for (const CollectiveKind kind : paper_row().collectives) {
      const Topology topology = make_topology(text);
      const Made made = make(topology, kind, 2);
      INFO(text << " " << to_text(kind));
      TimeModel model;
      model.link_busy = LinkBusy::latency_and_serialization;
      CHECK(made.replayed >= lower_bound(topology, made.collective, model, Chunking::given).time);
    }
}

TEST_CASE("tacos_paper takes what lies between the members of a group as a switch") {
  const Topology mesh = make_topology("mesh2d:2x4");
  const Collective collective = make_collective(
      mesh,
      {.kind = CollectiveKind::all_gather, .size = Bytes{8'000}, .group = {NodeId{0}, NodeId{6}}});
  const Outcome outcome = synthesize(paper_row(), mesh, collective, SynthesisOptions{});
  REQUIRE(outcome.schedule);
  CHECK(verify(mesh, collective, *outcome.schedule).correct());
}

TEST_CASE("tacos_paper ends when nobody waits any longer") {
  const Topology mesh = make_topology("mesh2d:8x8");
  SynthesisOptions options;
  int asked = 0;
  options.cancelled = [&asked] { return ++asked > 40; };
  CollectiveSpec spec;
  spec.kind = CollectiveKind::all_gather;
  const Outcome cut = synthesize(paper_row(), mesh, make_collective(mesh, spec), options);
  CHECK(cut.status == Status::timed_out);
  REQUIRE(cut.schedule); // one attempt takes some 33 steps
  CHECK(cut.attempts.size() == 1);
}

} // namespace paper_test
