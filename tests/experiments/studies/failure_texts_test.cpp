// When events divide a network, and into whom.
#include "experiments/driver/studies/failures/failure_texts.hpp"

#include "tests/catch.hpp"
#include "tests/samples.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace failure_texts_test {

using namespace tutti;

namespace {

NetworkEvent on_link(std::int64_t us, NetworkEvent::Kind kind, const Topology& topology,
                     std::uint32_t from, std::uint32_t to) {
  for (const LinkId id : topology.out_links(NodeId{from}))
    if (topology.link(id).to == NodeId{to}) return {Time{us * 1'000'000}, kind, id, {}, {}, {}};
  return {};
}

} // namespace

TEST_CASE("a line is cut by one direction, divided otherwise by the next, and whole again") {
  using Kind = NetworkEvent::Kind;
  TopologyParts parts = samples::npus("line", 4);
  for (const std::uint32_t n : {0U, 1U, 2U}) parts.add_duplex(samples::link(n, n + 1));
  const Topology line(std::move(parts));
  const std::vector<NetworkEvent> events{on_link(1, Kind::link_down, line, 0, 1),
                                         on_link(2, Kind::link_down, line, 2, 3),
                                         on_link(3, Kind::link_up, line, 0, 1),
                                         {Time{4'000'000}, Kind::npu_down, {}, NodeId{3}, {}, {}}};
  CHECK(network_cuts(line, events) ==
        std::vector<std::string>{"1.000 us: the network is cut: npu0 | npu1, npu2, npu3",
                                 "2.000 us: the network is cut: npu0 | npu1, npu2 | npu3",
                                 "3.000 us: the network is cut: npu0, npu1, npu2 | npu3"});
  CHECK(network_cuts(line, {}).empty());
}

TEST_CASE("a dead NPU on a ring cuts nothing") {
  const std::vector<NetworkEvent> events{
      {Time{1}, NetworkEvent::Kind::npu_down, {}, NodeId{2}, {}, {}}};
  CHECK(network_cuts(samples::ring(5), events).empty());
}

} // namespace failure_texts_test
