// TE-CCL that is stopped anywhere: once TACOS has a schedule, there is an answer. A counter of
// questions stands for the clock, so that every place where it may stop is tried.
#include "sim/verify.hpp"
#include "synth/inversion.hpp"
#include "synth/list.hpp"
#include "tests/catch.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace teccl_limit_test {

using namespace tutti;

namespace {

const AlgorithmRow& row_of(std::string_view name) {
  return *std::ranges::find(synthesizers(), name, &AlgorithmRow::name);
}

/// Stopped at the question of this number and at every later one, with how many were asked.
struct Stopped {
  Outcome outcome;
  std::uint64_t questions = 0;
};

Stopped stopped_at(std::uint64_t question, std::string_view algorithm, const Topology& topology,
                   const Collective& collective, std::map<std::string, std::string> settings = {}) {
  Stopped made;
  SynthesisOptions options;
  options.settings = std::move(settings);
  options.cancelled = [&] { return made.questions++ >= question; };
  made.outcome = synthesize(row_of(algorithm), topology, collective, options);
  return made;
}

constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

/// What teccl asks TACOS for, before anything else.
std::uint64_t questions_of_tacos(const Topology& topology, const Collective& collective) {
  const CollectivePart& part = collective.parts.front();
  const auto ask = [](const Topology& network, const Collective& copied) {
    return stopped_at(never, "tacos", network, copied).questions;
  };
  if (part.kind == CollectiveKind::all_reduce) {
    const Collective gather = make_collective(
        topology, {CollectiveKind::all_gather, part.size, part.group, 0, part.chunks_per_shard});
    return ask(reversed_with_copies(topology), gather) + ask(topology, gather);
  }
  if (reduces(collective)) return ask(reversed_with_copies(topology), inverted(collective));
  return ask(topology, collective);
}

/// Moments over the whole synthesis: all of the first, then ever fewer.
std::vector<std::uint64_t> moments(std::uint64_t from, std::uint64_t end) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t at = from; at < end; at += 1 + (at - from) / 4) all.push_back(at);
  return all;
}

void check_stops(const char* name, CollectiveKind kind) {
  const Topology topology = make_topology(name);
  const Collective collective = make_collective(topology, {kind, Bytes{60'000}, {}, 0, 1});
  const std::uint64_t tacos = questions_of_tacos(topology, collective);
  const std::uint64_t whole = stopped_at(never, "teccl", topology, collective).questions;
  for (const std::uint64_t at : moments(tacos, whole)) {
    INFO(name << ' ' << collective.name() << " stopped at question " << at << " of " << whole);
    const auto [outcome, questions] = stopped_at(at, "teccl", topology, collective);
    // Solvers ask every few milliseconds: one that is quicker this time may end unasked.
    CHECK((outcome.status == Status::timed_out) == (questions > at));
    REQUIRE(outcome.schedule);
    const Verdict verdict = verify(topology, collective, *outcome.schedule);
    CHECK((verdict.fault ? verdict.fault->text : "") == "");
    CHECK(verdict.redundant == 0);
    CHECK(outcome.planned.has_value() == outcome.note.empty());
  }
}

} // namespace

TEST_CASE("teccl: there is an answer wherever it is stopped after TACOS") {
  for (const char* name : {"mesh2d:2x3,bandwidth=50GB/s,latency=0.5us", "random:7,degree=3,seed=2"})
    for (const CollectiveKind kind : basic_collectives()) check_stops(name, kind);
  for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::reduce})
    check_stops("two_level_switch:2x3", kind);
}

TEST_CASE("teccl: there is an answer wherever it is stopped on more networks", "[slow]") {
  for (const char* name : {"ring:9", "dgx1", "z52", "switch:5", "two_level_switch:3x3",
                           "torus2d:4x4", "random:12,degree=3,seed=5", "hypercube:3",
                           "fully_connected:6", "random:9,degree=4,seed=8"})
    for (const CollectiveKind kind : basic_collectives()) check_stops(name, kind);
}

TEST_CASE("teccl: TACOS's schedule is no answer where plans are restricted and it isn't one") {
  const Topology mesh = make_topology("mesh2d:4x4");
  const Collective gather =
      make_collective(mesh, {CollectiveKind::all_gather, Bytes{160'000}, {}, 0, 1});
  const std::uint64_t tacos = questions_of_tacos(mesh, gather);
  using Settings = std::map<std::string, std::string>;
  for (const Settings& settings :
       {Settings{{"epochs", "40"}}, Settings{{"epochs", "bound"}}, Settings{{"buffer", "3"}}}) {
    const Outcome outcome = stopped_at(tacos, "teccl", mesh, gather, settings).outcome;
    CHECK(outcome.status == Status::timed_out);
    CHECK_FALSE(outcome.schedule);
    CHECK_FALSE(outcome.note.empty());
  }
  CHECK(stopped_at(tacos, "teccl", mesh, gather).outcome.schedule);
}

} // namespace teccl_limit_test
