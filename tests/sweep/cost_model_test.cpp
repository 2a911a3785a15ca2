#include "experiments/driver/sweep/space/cost_model.hpp"

#include "experiments/driver/sweep/space/rack_layout.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "topologies/list.hpp"

namespace cost_model_test {

using namespace tutti;
using namespace tutti::sweep;

namespace {

CostModel model_of(const std::string& toml) {
  return read_cost_model(parse_config(toml, "costs.toml"));
}

// Copper to 3 m: 20 + 2 a GB/s; fibre: 100 + 1 a GB/s + 10 a metre.
const std::string two_cables = R"(
[[cables]]
name = "copper"
reach = 3.0
price = 20.0
price_per_GBps = 2.0
watts = 0.5
[[cables]]
name = "fibre"
price = 100
price_per_GBps = 1.0
price_per_metre = 10.0
watts = 2.0
watts_per_GBps = 0.1
)";

std::vector<RackPlace> places_of(const Topology& topology, const CostModel& model) {
  return rack_places(topology, physical_cables(topology), model);
}

} // namespace

TEST_CASE("a 2x2 mesh in one rack costs four short cables") {
  const CostModel model = model_of(two_cables + R"(
[nic]
price = 7.0
price_per_GBps = 0.5
watts = 3.0
[npu]
price = 1000.0
watts = 100.0
[energy]
price_per_kWh = 0.2
years = 3
)");
  const NetworkCost cost = cost_of(make_topology("mesh2d:2x2,bandwidth=50GB/s"), model);
  CHECK(cost.cable_count == 4);
  CHECK(cost.cable_metres == 8);
  CHECK(cost.cables == 4 * (20 + 2.0 * 50)); // fibre of 2 m: 100 + 50 + 20
  CHECK(cost.nics == 8 * (7 + 0.5 * 50));
  CHECK(cost.switches == 0);
  CHECK(cost.npus == 4000);
  CHECK(cost.watts == 4 * 0.5 + 8 * 3.0 + 400);
  CHECK(cost.energy == Approx(0.426 * 24 * 365.25 * 3 * 0.2));
  CHECK(cost.total() == cost.cables + cost.nics + cost.npus + cost.energy);
}

TEST_CASE("a switch costs for itself, its ports and what it sends") {
  const CostModel model = model_of(two_cables + R"(
[layout]
npus_per_rack = 2
inside_rack = 1.0
rack_pitch = 1.0
overhead = 3.0
[switch]
price = 500.0
price_per_port = 10.0
price_per_GBps = 0.1
watts = 50.0
watts_per_port = 1.0
watts_per_GBps = 0.2
)");
  // Racks 0, 1 of a row; the switch at (0 + 0 + 1 + 1) / 4 = 0.5, the lower of equals.
  const NetworkCost cost = cost_of(make_topology("switch:4,bandwidth=100GB/s"), model);
  CHECK(cost.cable_count == 4);
  CHECK(cost.cable_metres == 2 * 1 + 2 * (1 + 3));
  CHECK(cost.cables == 2 * (100 + 100 + 10) + 2 * (100 + 100 + 10 * 4)); // copper of 1 m: 220
  CHECK(cost.switches == Approx(500 + 4 * 10 + 400 * 0.1));
  CHECK(cost.watts == Approx(4 * (2 + 10) + 50 + 4 + 400 * 0.2));
  CHECK(cost.energy == 0);
  CHECK(cost.nics == 0);
}

TEST_CASE("a torus over several racks has cables as long as its racks are far apart") {
  const CostModel model = model_of(R"(
[layout]
npus_per_rack = 4
racks_per_row = 2
rack_pitch = 0.5
row_pitch = 2.0
inside_rack = 1.0
overhead = 3.0
[[cables]]
name = "any"
price_per_GBps_metre = 1.0
)");
  // torus2d:4x4: x runs fastest, so rack r holds the ring y = r; racks 0 1 / 2 3. 16 cables inside,
  // and in y four each of 0-1 and 2-3 (0.5 m), 1-2 and 3-0 (0.5 m and 2 m; 0.5 m and 2 m).
  const NetworkCost cost = cost_of(make_topology("torus2d:4x4,bandwidth=2GB/s"), model);
  CHECK(cost.cable_count == 32);
  const double metres = 16 * 1 + 8 * (0.5 + 3) + 8 * (2.5 + 3);
  CHECK(cost.cable_metres == Approx(metres));
  CHECK(cost.cables == Approx(2 * metres));
}

TEST_CASE("racks are as square as they can be where nothing is said") {
  CostModel model = model_of(two_cables);
  model.npus_per_rack = 1;
  const std::vector<RackPlace> places = places_of(make_topology("ring:5"), model); // 3 in a row
  CHECK(places == std::vector<RackPlace>{{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}});
}

TEST_CASE("switches stand among their neighbours, level by level") {
  CostModel model = model_of(two_cables);
  model.npus_per_rack = 1;
  model.racks_per_row = 10;
  TopologyParts parts;
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) (void)parts.add_node({name, {}, {}, {}});
  for (const char* name : {"low", "high", "top", "lonely"})
    (void)parts.add_node({name, NodeKind::switching, {}, {}});
  const auto connect = [&parts](std::uint32_t from, std::uint32_t to) {
    parts.add_duplex({NodeId{from}, NodeId{to}, Time{0}, Bandwidth{1'000'000'000}, -1});
  };
  for (const std::uint32_t npu : {0U, 1U, 2U}) connect(npu, 6); // 1
  for (const std::uint32_t npu : {3U, 5U, 5U}) connect(npu, 7); // 13/3, and by cables: 4
  connect(6, 8);
  connect(7, 8); // (1 + 4) / 2, the lower: 2
  const std::vector<RackPlace> places = places_of(Topology(parts), model);
  CHECK(places[6] == RackPlace{1, 0});
  CHECK(places[7] == RackPlace{4, 0});
  CHECK(places[8] == RackPlace{2, 0});
  CHECK(places[9] == RackPlace{0, 0});
}

TEST_CASE("a place that the last row doesn't have is in the row before") {
  CostModel model = model_of(two_cables);
  model.npus_per_rack = 1;
  model.racks_per_row = 10;
  TopologyParts parts; // the second row has racks 10 and 11
  for (int npu = 0; npu < 12; ++npu) (void)parts.add_node({std::to_string(npu), {}, {}, {}});
  (void)parts.add_node({"s", NodeKind::switching, {}, {}});
  // Columns (9 + 9 + 1 + 1 + 1) / 5 = 4.2, rows 3 / 5: to the second row, at 4.
  for (const std::uint32_t npu : {9U, 9U, 11U, 11U, 11U})
    parts.add_link({NodeId{npu}, NodeId{12}, Time{0}, Bandwidth{1'000'000'000}, -1});
  CHECK(places_of(Topology(parts), model)[12] == RackPlace{4, 0});
}

TEST_CASE("memory and buses are no cables; a shared NIC is one") {
  const auto cables = [](const std::string& text) {
    return physical_cables(make_topology(text)).size();
  };
  // 8 GPUs at NVSwitch and PCIe switch, 4 PCIe switches whose way to memory is none.
  CHECK(cables("dgx_a100") == 8 + 8);
  // z52_pcie: six xGMI links, and two PCIe buses.
  CHECK(cables("z52_pcie") == 6);
  // 4 nodes of 8 GPUs with 2 NICs: 32 cables to NVSwitches, 8 to rails; one NIC for each: 64.
  CHECK(cables("multi_rail:8x4x2") == 32 + 8);
  CHECK(cables("multi_rail:8x4") == 64);
  const Topology rails = make_topology("multi_rail:8x4x2,bandwidth=100GB/s+25GB/s");
  const std::vector<PhysicalCable> all = physical_cables(rails);
  std::size_t of_nics = 0;
  for (const PhysicalCable& cable : all)
    if (cable.bandwidth() == Bandwidth{25'000'000'000}) {
      CHECK(cable.a.value % 4 == 0); // the first GPU of each NIC
      CHECK(cable.a_to_b == cable.b_to_a);
      ++of_nics;
    }
  CHECK(of_nics == 8);
}

TEST_CASE("links of one direction are cables of their own, parallel ones several") {
  TopologyParts parts;
  for (const char* name : {"a", "b"}) (void)parts.add_node({name, {}, {}, {}});
  const auto link = [](std::uint32_t from, std::uint32_t to, std::int64_t rate) {
    return Link{NodeId{from}, NodeId{to}, Time{0}, Bandwidth{rate}, -1};
  };
  parts.add_link(link(1, 0, 5));
  parts.add_link(link(0, 1, 3));
  parts.add_link(link(1, 0, 4));
  const std::vector<PhysicalCable> cables = physical_cables(Topology(parts));
  REQUIRE(cables.size() == 2);
  CHECK(cables[0].bandwidth() == Bandwidth{5});
  CHECK(cables[0].a_to_b == Bandwidth{3});
  CHECK(cables[1].bandwidth() == Bandwidth{4});
  CHECK(cables[1].a_to_b == Bandwidth{0});
}

TEST_CASE("cost models are refused with the place of what is wrong") {
  const auto refusal = [](const std::string& toml) {
    return message_of([&] { (void)model_of(toml); });
  };
  CHECK(refusal("") == "costs.toml:1:1: needs [[cables]], one of them without a \"reach\"");
  CHECK(refusal("[[cables]]\nname = \"a\"\nreach = 3.0") ==
        "costs.toml:1:1: needs [[cables]], one of them without a \"reach\"");
  CHECK(refusal("[[cables]]\nname = \"a\"\nprice = -1.0") ==
        "costs.toml:3:9: \"price\" is negative");
  CHECK(refusal("[[cables]]\nname = \"a\"\nwats = 1.0") ==
        "costs.toml:3:1: unknown key \"wats\" (known: name, reach, price, price_per_GBps, "
        "price_per_metre, price_per_GBps_metre, watts, watts_per_GBps; did you mean \"watts\"?)");
  CHECK(refusal("[layout]\nnpus_per_rack = 0") ==
        "costs.toml:2:17: 0 is out of range (1 .. 1000000000)");
  CHECK(refusal("[switsch]\nprice = 1") ==
        "costs.toml:1:2: unknown key \"switsch\" (known: layout, cables, switch, nic, npu, energy; "
        "did you mean \"switch\"?)");
  CostModel short_ones = model_of(two_cables);
  short_ones.cables.pop_back();
  short_ones.npus_per_rack = 1;
  CHECK(message_of([&] { (void)cost_of(make_topology("ring:4"), short_ones); }) ==
        "no cable of the cost model reaches 4.6 m");
}

} // namespace cost_model_test
