// Runs under a transport: what a report says of them, and that bounds stay those of the hardware.
#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"
#include "sim/error.hpp"
#include "tests/catch.hpp"
#include "topologies/list.hpp"

#include <optional>
#include <string>

namespace transport_test {

using namespace tutti;

namespace {

Case case_of(const Topology& topology, const std::string& algorithm, const std::string& collective,
             const std::string& transport) {
  Case c;
  c.topology_label = topology.name();
  c.topology = &topology;
  c.collective = {{collective}, Bytes{std::int64_t{1} << 24}};
  c.algorithm = find_algorithm(algorithm);
  c.chunks = std::nullopt;
  c.engine = &find_engine("native");
  c.transport = parse_transport(transport);
  return c;
}

} // namespace

TEST_CASE("a transport costs time, and neither bytes nor bounds change") {
  const Topology topology = make_topology("dgx_h100");
  for (const char* algorithm : {"nccl", "ring", "tacos"}) {
    CAPTURE(algorithm);
    const Evaluation ideal = evaluate(case_of(topology, algorithm, "all_gather", "ideal"));
    const Evaluation slow = evaluate(case_of(topology, algorithm, "all_gather", "nccl"));
    REQUIRE(ideal.problem.empty());
    REQUIRE(slow.problem.empty());
    const Replay &before = ideal.replays.at(0), &after = slow.replays.at(0);
    CHECK(before.transport.empty());
    CHECK(after.transport.starts_with("nccl, "));
    CHECK(after.report.completion > before.report.completion);
    CHECK(after.bound.time == before.bound.time);
    std::int64_t ideal_bytes = 0, slow_bytes = 0;
    REQUIRE(after.report.links.size() == before.report.links.size());
    for (std::size_t l = 0; l < before.report.links.size(); ++l) {
      ideal_bytes += before.report.links[l].bytes.count;
      slow_bytes += after.report.links[l].bytes.count;
    }
    CHECK(slow_bytes == ideal_bytes);
    CHECK(after.max_utilisation() <= 1);
  }
}

TEST_CASE("transports know all parts of the machines that their library runs on") {
  for (const char* machine : {"dgx_a100", "dgx_h100:2", "dgx_h200:2", "dgx_b200:2,nic=efa",
                              "hgx_b300:2", "gb200_nvl72:2,npus=4", "gb300_nvl72:1,npus=8",
                              "dgx_spark:2", "dgx1_nvlinks", "mi300x:2", "mi325x", "mi355x:2"}) {
    CAPTURE(machine);
    const Topology topology = make_topology(machine);
    const std::string library = topology.parts().npu_model.starts_with("mi") ? "rccl" : "nccl";
    for (const char* collective : {"all_reduce", "all_gather", "all_to_all", "broadcast"}) {
      CAPTURE(collective);
      const Evaluation e = evaluate(case_of(topology, library, collective, library));
      CHECK(e.problem.empty());
      CHECK(e.replays.size() == 1);
    }
  }
}

TEST_CASE("both engines agree under a transport, and launches are in its time") {
  const Topology topology = make_topology("dgx_h100:2,npus=4");
  Case c = case_of(topology, "nccl", "all_gather", "nccl");
  c.engine = &find_engine("both");
  const Evaluation e = evaluate(c);
  CHECK(e.problem.empty());
  CHECK(e.replays.at(0).report.completion > c.transport->launch_of("h100"));
}

TEST_CASE("on links of no known part a transport has no answer") {
  const Topology topology = make_topology("ring:4");
  CHECK_THROWS_WITH(evaluate(case_of(topology, "ring", "all_gather", "nccl")),
                    ContainsSubstring("has to know what links are made of"));
}

TEST_CASE("bounds hold under a transport whose steps are shorter than the links'") {
  const Topology topology = make_topology("dgx_h100:1,latency=20us");
  for (const char* algorithm : {"direct", "ring", "nccl"}) {
    CAPTURE(algorithm);
    Case c = case_of(topology, algorithm, "all_gather", "nccl");
    c.collective.size = Bytes{8192};
    const Evaluation e = evaluate(c);
    CHECK(e.problem.empty());
    CHECK(e.replays.at(0).gap() >= 1);
  }
}

TEST_CASE("what has no meaning on lanes is refused") {
  const Topology topology = make_topology("dgx_h100");
  Case busy = case_of(topology, "ring", "all_gather", "nccl");
  busy.options.model.link_busy = LinkBusy::latency_and_serialization;
  CHECK_THROWS_WITH(evaluate(busy),
                    "transport nccl: links are busy for serialization only, not for "
                    "latency+serialization");
  Case drawn = case_of(topology, "ring", "all_gather", "nccl");
  drawn.noise.jitter.bandwidth = 0.1;
  drawn.noise.names_noise = true;
  REQUIRE(drawn.noise.is_drawn());
  CHECK_THROWS_WITH(evaluate(drawn),
                    "transport nccl: skews and jitter are drawn on ideal links only");
}

TEST_CASE("on DGX A100 every algorithm has an answer, over PCIe too") {
  const Topology topology = make_topology("dgx_a100");
  for (const char* algorithm : {"ring", "direct", "tacos", "multitree", "rhd", "nccl"}) {
    CAPTURE(algorithm);
    Case c = case_of(topology, algorithm, "all_reduce", "nccl");
    c.collective.size = Bytes{1024};
    CHECK(evaluate(c).replays.size() == 1);
  }
}

} // namespace transport_test
