// Fluid sharing by SimGrid's own models, held to what their parameters say of a few transfers.
#include "sim/engines/engine.hpp"
#include "tests/catch.hpp"
#include "tests/samples.hpp"
#include "tests/sim/small_cases.hpp"

#include <string>

namespace network_models_test {

using namespace tutti;
using namespace tutti::testing;

namespace {

constexpr double us = 1e-6, a = 0.5 * us, D = 20 * us; // s

Report replayed(NetworkModel network, const Topology& topology, const Collective& collective,
                const Schedule& schedule) {
  TimeModel model;
  model.discipline = Discipline::fluid;
  model.network = network;
  return run_simgrid(topology, collective, schedule, model);
}

double one_transfer(NetworkModel network) {
  const Topology topology = line(2);
  return replayed(network, topology, chunks({{{0}, {1}}}), steps(topology, {{0, {0}}}))
      .completion.seconds();
}

} // namespace

TEST_CASE("one transfer takes what each of SimGrid's models says by its factors") {
  CHECK(one_transfer(NetworkModel::ideal) == Approx(a + D).epsilon(1e-9));
  CHECK(one_transfer(NetworkModel::cm02) == Approx(a + D).epsilon(1e-6));
  CHECK(one_transfer(NetworkModel::lv08) == Approx(13.01 * a + D / 0.97).epsilon(1e-6));
  CHECK(one_transfer(NetworkModel::smpi) == Approx(11.6436 * a + D / 0.940694).epsilon(1e-6));
  CHECK(one_transfer(NetworkModel::ib) == Approx(11.6436 * a + D / 0.940694).epsilon(1e-6));
}

TEST_CASE("what comes back takes 5 % of the bandwidth, over the opposite links") {
  const Topology ring = samples::ring(2);
  const Collective both = chunks({{{0}, {1}}, {{1}, {0}}});
  const Schedule schedule = steps(ring, {{0, {0}}, {1, {1}}});
  CHECK(replayed(NetworkModel::ideal, ring, both, schedule).completion.seconds() ==
        Approx(a + D).epsilon(1e-9));
  CHECK(replayed(NetworkModel::cm02, ring, both, schedule).completion.seconds() ==
        Approx(a + 1.05 * D).epsilon(1e-6));
}

TEST_CASE("flows with a longer round trip get less of a link that they share") {
  // 0 > 2 over one link and 1 > 0 > 2 over two share 0 > 2; by CM02 2 : 1, by latency.
  TopologyParts parts = samples::npus("shared", 3);
  parts.add_link(samples::link(0, 2));
  parts.add_link(samples::link(1, 0));
  const Topology topology(std::move(parts));
  const Collective collective = chunks({{{0}, {2}}, {{1}, {2}}});
  const Schedule schedule = steps(topology, {{0, {0}}, {1, {1, 0}}});
  const Report fair = replayed(NetworkModel::ideal, topology, collective, schedule);
  CHECK(fair.chunk_done[0].seconds() == Approx(a + 2 * D).epsilon(1e-6));
  const Report weighed = replayed(NetworkModel::cm02, topology, collective, schedule);
  // The second begins a latency later; then the first has 2/3 of the link.
  CHECK(weighed.chunk_done[0].seconds() == Approx(2 * a + (D - a) * 1.5).epsilon(1e-6));
}

TEST_CASE("smpi lets some messages be faster than their links") {
  TopologyParts parts = samples::npus("no latency", 2);
  parts.add_link(samples::link(0, 1));
  parts.links.front().latency = Time{};
  const Topology topology(std::move(parts));
  Collective collective = chunks({{{0}, {1}}});
  collective.chunks.front().size = collective.parts.front().size = Bytes{6000};
  const Report report =
      replayed(NetworkModel::smpi, topology, collective, steps(topology, {{0, {0}}}));
  CHECK(report.completion <
        serialization(Bytes{6000}, topology.link(LinkId{0}).bandwidth)); // by 1.08739
  TimeModel model;
  model.network = NetworkModel::smpi;
  CHECK_FALSE(can_beat_links(model)); // fifo
  model.discipline = Discipline::fluid;
  CHECK(can_beat_links(model));
  model.network = NetworkModel::lv08;
  CHECK_FALSE(can_beat_links(model));
}

TEST_CASE("a report names the model and its parameters") {
  const Topology topology = line(2);
  const auto of = [&](NetworkModel network) {
    return replayed(network, topology, chunks({{{0}, {1}}}), steps(topology, {{0, {0}}}))
        .network_parameters;
  };
  CHECK(of(NetworkModel::ideal).empty());
  CHECK_THAT(of(NetworkModel::lv08),
             ContainsSubstring("network/model:LV08") && ContainsSubstring("latency-factor:13.01"));
  CHECK_THAT(of(NetworkModel::ib), ContainsSubstring("smpi/IB-penalty-factors:0.965;0.925;1.35"));
  CHECK(network_model_words.parse("ib") == NetworkModel::ib);
  TimeModel model;
  model.discipline = Discipline::fluid;
  model.network = NetworkModel::cm02;
  CHECK(discipline_text(model) == "fluid cm02");
}

} // namespace network_models_test
