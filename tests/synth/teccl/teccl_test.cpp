#include "sim/collective_builder.hpp"
#include "sim/engines/engine.hpp"
#include "sim/verify.hpp"
#include "synth/bounds/bounds.hpp"
#include "synth/list.hpp"
#include "synth/teccl/schedule.hpp"
#include "synth/teccl/synthesis.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace teccl_test {

using namespace tutti;

namespace {

const AlgorithmRow& teccl_row() {
  return *std::ranges::find(synthesizers(), std::string_view("teccl"), &AlgorithmRow::name);
}

SynthesisOptions with(std::map<std::string, std::string> settings) {
  SynthesisOptions options;
  options.settings = std::move(settings);
  return options;
}

Collective collective_of(const Topology& topology, CollectiveKind kind, Bytes size,
                         std::uint32_t chunks_per_shard = 1) {
  return make_collective(topology, {kind, size, {}, 0, chunks_per_shard});
}

Outcome teccl_on(const Topology& topology, const Collective& collective,
                 std::map<std::string, std::string> settings = {}) {
  return synthesize(teccl_row(), topology, collective, with(std::move(settings)));
}

/// Checks what every schedule of ours must keep to; returns what its replay takes.
Time checked(const Topology& topology, const Collective& collective, const Outcome& outcome) {
  INFO(topology.name() << ' ' << collective.name() << ' ' << outcome.note);
  REQUIRE(outcome.status == Status::feasible);
  REQUIRE(outcome.schedule);
  const Verdict verdict = verify(topology, collective, *outcome.schedule);
  CHECK((verdict.fault ? verdict.fault->text : "") == "");
  CHECK(verdict.redundant == 0);
  const Time time = run_native(topology, collective, *outcome.schedule, {}).completion;
  CHECK(time >= lower_bound(topology, collective, {}, Chunking::given).time);
  return time;
}

} // namespace

TEST_CASE("teccl: every collective on rings, meshes, machines and switches") {
  for (const char* name : {"ring:5,bandwidth=50GB/s,latency=0.5us", "mesh2d:2x3", "dgx1", "z52",
                           "switch:4,bandwidth=25GB/s,latency=1us"}) {
    const Topology topology = make_topology(name);
    for (const CollectiveKind kind : basic_collectives()) {
      const Collective collective = collective_of(topology, kind, Bytes{240'000});
      const Outcome outcome = teccl_on(topology, collective);
      const Time time = checked(topology, collective, outcome);
      if (std::string_view(name).starts_with("switch")) continue; // queues that epochs don't know
      CAPTURE(name, to_text(kind), outcome.note);
      if (outcome.planned)
        CHECK(time <= *outcome.planned);
      else
        CHECK(outcome.note.find("TACOS's schedule, faster than") != std::string::npos);
    }
  }
}

TEST_CASE("teccl: never slower than the schedule that it starts from") {
  // Epochs are longer than what they carry; the limits on the search leave any schedule an answer.
  int by_tacos = 0, by_epochs = 0;
  for (const char* name : {"ring:5,bandwidth=50GB/s,latency=0.5us", "mesh2d:2x3",
                           "two_level_switch:2x3,bandwidth=50GB/s+25GB/s,latency=1us"})
    for (const CollectiveKind kind :
         {CollectiveKind::all_gather, CollectiveKind::all_to_all, CollectiveKind::all_reduce})
      for (const std::int64_t size : {2'400, 240'000}) {
        const Topology topology = make_topology(name);
        const Collective collective = collective_of(topology, kind, Bytes{size});
        const Outcome outcome = teccl_on(topology, collective, {{"effort", "10"}});
        CAPTURE(name, to_text(kind), size, outcome.note);
        const Outcome start = tacos(topology, collective, {});
        CHECK(checked(topology, collective, outcome) <= checked(topology, collective, start));
        const bool is_start = outcome.note.find("TACOS's schedule, faster") != std::string::npos;
        ++(is_start ? by_tacos : by_epochs);
        CHECK(is_start != outcome.planned.has_value());
      }
  CHECK(by_tacos > 0);
  CHECK(by_epochs > 0);
}

TEST_CASE("teccl: what stops twice at a switch that can't reduce isn't turned around") {
  TopologyParts parts = samples::npus("star", 4);
  parts.add_node({"switch", NodeKind::switching, {true, true, false}, {}});
  for (std::uint32_t n = 0; n < 4; ++n) {
    Link quick = samples::link(n, 4);
    quick.bandwidth = Bandwidth{1'000'000'000'000};
    parts.add_duplex(quick);
    parts.add_link(samples::link(n, (n + 1) % 4));
  }
  const Topology topology(std::move(parts));
  for (const CollectiveKind kind :
       {CollectiveKind::reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce}) {
    const Collective collective = collective_of(topology, kind, Bytes{6'000'000}, 2);
    (void)checked(topology, collective, teccl_on(topology, collective));
  }
}

TEST_CASE("teccl: an All-Gather on DGX-1 in as many epochs as distances and links allow") {
  const Topology dgx1 = make_topology("dgx1");
  // 25 KB in 0.5 us at 50 GB/s, in two epochs at 25 GB/s; 0.7 us are two more. The NPUs two hops
  // away are reached over a fast and a slow link at best: 3 + 4 epochs.
  const Collective one = collective_of(dgx1, CollectiveKind::all_gather, Bytes{200'000});
  const Outcome outcome = teccl_on(dgx1, one);
  CHECK(outcome.facts.at("epochs") == outcome.facts.at("epochs_at_least"));
  CHECK(outcome.facts.at("epoch_seconds") == Approx(0.5e-6));
  CHECK(outcome.planned == Time{3'500'000});
  CHECK(checked(dgx1, one, outcome) <= Time{3'500'000});
}

TEST_CASE("teccl: all methods, objectives and switch models give correct schedules") {
  const Topology pair = make_topology("two_level_switch:2x3,bandwidth=50GB/s+25GB/s,latency=1us");
  const Topology ring = make_topology("ring:6,bandwidth=50GB/s,latency=0.5us");
  const std::vector<std::map<std::string, std::string>> all{
      {{"method", "program"}},
      {{"method", "rounds"}},
      {{"method", "rounds"}, {"round_epochs", "2"}},
      {{"objective", "public_code"}},
      {{"switches", "no_copy"}},
      {{"switches", "hyper_edges"}},
      {{"switch_exit", "epoch"}},
      {{"epoch", "slowest"}},
      {{"epoch", "3us"}},
      {{"epochs", "bound"}},
      {{"multiplier", "2"}},
      {{"alpha", "no"}},
      {{"buffer", "1"}},
      {{"largest", "1"}}};
  for (const Topology* topology : {&pair, &ring})
    for (const auto& settings : all) {
      INFO(settings.begin()->first << '=' << settings.begin()->second);
      const Collective gather =
          collective_of(*topology, CollectiveKind::all_gather, Bytes{600'000});
      checked(*topology, gather, teccl_on(*topology, gather, settings));
    }
  const Collective exchange = collective_of(ring, CollectiveKind::all_to_all, Bytes{600'000});
  checked(ring, exchange, teccl_on(ring, exchange, {{"method", "flows"}}));
}

TEST_CASE("teccl: more epochs than needed are used no worse") {
  const Topology ring = make_topology("ring:4,bandwidth=10GB/s,latency=1us");
  const Collective gather = collective_of(ring, CollectiveKind::all_gather, Bytes{40'000});
  // A chunk takes 1 us and 1 us of latency: half way round in 4 us. An epoch of 1 us: 4 epochs.
  const Outcome tight = teccl_on(ring, gather, {{"epoch", "1us"}});
  CHECK(tight.facts.at("epochs") == 4);
  const Outcome loose = teccl_on(ring, gather, {{"epoch", "1us"}, {"epochs", "9"}});
  checked(ring, gather, loose);
  CHECK(loose.facts.at("epochs") == 4); // each chunk as early as can be is worth most
}

TEST_CASE("teccl: too few epochs, and what would do") {
  const Topology ring = make_topology("ring:4,bandwidth=10GB/s,latency=1us");
  const Collective gather = collective_of(ring, CollectiveKind::all_gather, Bytes{40'000});
  const Outcome outcome = teccl_on(ring, gather, {{"epoch", "1us"}, {"epochs", "3"}});
  CHECK(outcome.status == Status::infeasible);
  CHECK(outcome.note == "no plan in 3 epochs of 1us: distances and bandwidths need 4; 4 epochs are "
                        "enough (TACOS's plan)");
}

TEST_CASE("teccl: a buffer limit that leaves no way") {
  const Topology ring = make_topology("ring:4,bandwidth=10GB/s,latency=1us");
  const Collective exchange = collective_of(ring, CollectiveKind::all_to_all, Bytes{40'000});
  const Outcome outcome = teccl_on(ring, exchange, {{"buffer", "0"}});
  CHECK(outcome.status == Status::unsupported);
  CHECK_THAT(outcome.note, ContainsSubstring("at most 0 chunks kept for others"));
}

TEST_CASE("teccl: chunks that one NPU wants and several have") {
  const Topology line = make_topology("ring:7,without=npu3");
  CustomCollectiveBuilder builder(line);
  for (const std::uint32_t wants : {2U, 3U}) { // what an All-Gather lacks when most of it is there
    std::vector<NodeId> have;
    for (std::uint32_t n = 0; n < line.npu_count(); ++n)
      if (n != wants) have.emplace_back(n);
    builder.add_chunk(
        {Bytes{40'000}, builder.add_set(have), builder.add_set({NodeId{wants}}), false});
  }
  const Collective rest = builder.build();
  for (const char* method : {"auto", "program", "rounds"})
    checked(line, rest, teccl_on(line, rest, {{"method", method}}));
  CHECK_THAT(teccl_on(line, rest, {{"method", "flows"}}).note, ContainsSubstring("one source"));
}

TEST_CASE("teccl: settings that are refused") {
  const Topology ring = make_topology("ring:4");
  const Collective gather = collective_of(ring, CollectiveKind::all_gather, Bytes{40'000});
  const auto message = [&](const char* key, const char* value) {
    return message_of([&] { (void)teccl_on(ring, gather, {{key, value}}); });
  };
  CHECK(message("method", "simplex") ==
        "unknown value of method \"simplex\" (known: auto, program, rounds, flows)");
  CHECK(message("epoch", "soon") == "epoch \"soon\": fastest or slowest (link), or a time (0.5us)");
  CHECK(message("epochs", "0") == "epochs 0 is out of range (1 .. 1000000)");
  CHECK(message("multiplier", "x") == "multiplier \"x\" is not a number");
  CHECK(message("multiplier", "0") == "multiplier 0 is out of range (0.001 .. 1000000)");
  CHECK_THAT(message("epoch", "1ps"), ContainsSubstring(" would do"));
  CHECK(teccl_on(ring, gather, {{"method", "flows"}}).status == Status::unsupported);
}

TEST_CASE("teccl: the same bytes again") {
  const Topology dgx1 = make_topology("dgx1");
  const Collective gather = collective_of(dgx1, CollectiveKind::all_gather, Bytes{400'000}, 2);
  const Outcome once = teccl_on(dgx1, gather), again = teccl_on(dgx1, gather);
  REQUIRE(once.schedule);
  REQUIRE(again.schedule);
  CHECK(*once.schedule == *again.schedule);
}

} // namespace teccl_test
