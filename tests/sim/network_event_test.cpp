// Which events make sense, in what order, and what they leave of a network.

#include "sim/network_event.hpp"

#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"

namespace network_event_test {

using namespace tutti;
using Kind = NetworkEvent::Kind;

namespace {

NetworkEvent on_link(std::int64_t at, Kind kind, std::uint32_t link, std::uint32_t millionths = 1) {
  return {Time{at}, kind, LinkId{link}, {}, {millionths}, {}};
}
NetworkEvent on_npu(std::int64_t at, Kind kind, std::uint32_t npu) {
  return {Time{at}, kind, {}, NodeId{npu}, {}, {}};
}

std::string refusal(const Topology& topology, const std::vector<NetworkEvent>& events) {
  return message_of([&] { (void)sorted_events(topology, events); });
}

} // namespace

TEST_CASE("events in words") {
  const Topology topology = samples::ring(4);
  CHECK(to_text(Kind::link_latency) == "link_latency");
  CHECK(to_text(on_link(0, Kind::link_down, 0), topology) == "npu0>npu1 down");
  CHECK(to_text(on_link(0, Kind::link_up, 1), topology) == "npu1>npu2 up");
  CHECK(to_text(on_link(0, Kind::link_rate, 0, 500'000), topology) ==
        "npu0>npu1 at 50 % of its rate");
  CHECK(to_text(on_link(0, Kind::link_rate, 0, 333'300), topology) ==
        "npu0>npu1 at 33.33 % of its rate");
  CHECK(to_text(on_npu(0, Kind::npu_rate, 3), topology) == "npu3 at 100 % of its rate");
  NetworkEvent slower = on_link(0, Kind::link_latency, 0);
  slower.latency = Time{2'000'000};
  CHECK(to_text(slower, topology) == "npu0>npu1 takes 2us");
}

TEST_CASE("events are sorted by time, those of one instant stay in order") {
  const Topology topology = samples::ring(4);
  const std::vector<NetworkEvent> events{
      on_link(5, Kind::link_down, 2), on_link(3, Kind::link_down, 1), on_link(5, Kind::link_up, 2),
      on_link(5, Kind::link_up, 1)};
  const auto sorted = sorted_events(topology, events);
  REQUIRE(sorted.size() == 4);
  CHECK(sorted[0].link == LinkId{1});
  CHECK(sorted[1].kind == Kind::link_down);
  CHECK(sorted[2].link == LinkId{2});
  CHECK(sorted[3].link == LinkId{1});
}

TEST_CASE("events on what isn't there, or out of range") {
  const Topology topology = samples::star(3); // node 3 is the hub
  CHECK(refusal(topology, {on_link(0, Kind::link_down, 6)}) ==
        "network event 0 (link_down): link 6 isn't there; star3 has 6");
  CHECK(refusal(topology, {on_npu(0, Kind::npu_down, 4)}) ==
        "network event 0 (npu_down): node 4 isn't there; star3 has 4");
  CHECK(refusal(topology, {on_npu(0, Kind::npu_rate, 3)}) ==
        "network event 0 (npu_rate): hub is no NPU");
  CHECK(refusal(topology, {on_link(-1, Kind::link_down, 0)}) ==
        "network event 0 (link_down): it happens before time 0");
  CHECK(refusal(topology, {on_link(0, Kind::link_rate, 0, 0)}) ==
        "network event 0 (link_rate): a share of 0 % is out of range (0.0001 % to 100 %)");
  CHECK(refusal(topology, {on_link(0, Kind::link_rate, 0, 1'000'001)}) ==
        "network event 0 (link_rate): a share of 100.0001 % is out of range (0.0001 % to 100 %)");
  NetworkEvent early = on_link(0, Kind::link_latency, 0);
  early.latency = Time{-1};
  CHECK(refusal(topology, {early}) == "network event 0 (link_latency): a latency below 0");
}

TEST_CASE("events that contradict each other") {
  const Topology topology = samples::ring(3);
  CHECK(refusal(topology, {on_link(7, Kind::link_down, 0), on_link(2, Kind::link_down, 0)}) ==
        "npu0>npu1 down at 7ps: it is down since 2ps");
  CHECK(refusal(topology, {on_link(7, Kind::link_up, 0)}) ==
        "npu0>npu1 up at 7ps: it is up already");
  CHECK(refusal(topology, {on_npu(1, Kind::npu_down, 1), on_link(7, Kind::link_down, 0)}) ==
        "npu0>npu1 down at 7ps: npu1 is down since 1ps");
  CHECK(refusal(topology, {on_npu(1, Kind::npu_down, 1), on_npu(3, Kind::npu_rate, 1)}) ==
        "npu1 at 100 % of its rate at 3ps: npu1 is down since 1ps");
  CHECK(refusal(topology, {on_npu(1, Kind::npu_down, 1), on_npu(3, Kind::npu_down, 1)}) ==
        "npu1 down at 3ps: npu1 is down since 1ps");
  CHECK(refusal(topology, {on_link(4, Kind::link_rate, 0), on_link(4, Kind::link_rate, 0)}) ==
        "npu0>npu1 at 0.0001 % of its rate at 4ps: there is another of its kind at this instant");
  CHECK_NOTHROW(sorted_events(
      topology, std::vector{on_link(4, Kind::link_down, 0), on_link(4, Kind::link_up, 0),
                            on_link(5, Kind::link_down, 0), on_link(4, Kind::link_rate, 0)}));
}

TEST_CASE("what events make of a network") {
  TopologyParts parts = samples::npus("bus", 3);
  parts.add_link(samples::link(0, 1));
  parts.add_link(samples::link(1, 2));
  parts.add_link(samples::link(2, 0));
  parts.groups.push_back({"bus", {LinkId{0}, LinkId{1}}, samples::bandwidth});
  parts.groups.push_back({"lane", {LinkId{0}}, samples::bandwidth});
  const Topology topology(std::move(parts));
  NetworkState state(topology);
  CHECK(state.is_up(LinkId{0}));
  CHECK(state.bandwidth(LinkId{0}) == samples::bandwidth);

  state.apply(on_link(1, Kind::link_rate, 1, 500'000));
  NetworkEvent straggler = on_npu(1, Kind::npu_rate, 1);
  straggler.share = {333'333};
  state.apply(straggler);
  CHECK(state.bandwidth(LinkId{1}) == Bandwidth{8'333'325'000}); // 50e9 * 0.5 * 0.333333
  CHECK(state.bandwidth(LinkId{0}) == samples::bandwidth);       // npu1 only receives on it
  NetworkEvent farther = on_link(1, Kind::link_latency, 1);
  farther.latency = Time{7};
  state.apply(farther);
  state.apply(on_link(2, Kind::link_down, 0));

  const PresentNetwork present = present_network(topology, state);
  CHECK(present.original == std::vector<LinkId>{LinkId{1}, LinkId{2}});
  CHECK(present.topology.node_count() == 3);
  CHECK(present.topology.link(LinkId{0}).bandwidth == Bandwidth{8'333'325'000});
  CHECK(present.topology.link(LinkId{0}).latency == Time{7});
  REQUIRE(present.topology.groups().size() == 1); // the lane is gone with its link
  CHECK(present.topology.groups()[0].links == std::vector<LinkId>{LinkId{0}});

  state.apply(on_link(3, Kind::link_up, 0));
  CHECK(state.is_up(LinkId{0}));
  state.apply(on_npu(3, Kind::npu_down, 0));
  CHECK(!state.is_up(LinkId{0}));
  CHECK(!state.is_up(LinkId{2}));
  CHECK(state.is_up(LinkId{1}));
  CHECK(!state.is_up(NodeId{0}));
}

TEST_CASE("a rate never falls to nothing") {
  TopologyParts parts = samples::npus("modem", 2);
  parts.add_link({NodeId{0}, NodeId{1}, {}, {300}});
  const Topology topology(std::move(parts));
  NetworkState state(topology);
  state.apply(on_link(0, Kind::link_rate, 0, 1));
  CHECK(state.bandwidth(LinkId{0}) == Bandwidth{1});
}

} // namespace network_event_test
