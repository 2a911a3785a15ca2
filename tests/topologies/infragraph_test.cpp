// InfraGraph's YAML: devices and instances of them counted by hand, what is wrong with its place,
// and what is written is read back.
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/paths.hpp"
#include "tests/refusals.hpp"
#include "tests/topologies/damaged.hpp"
#include "topologies/export/list.hpp"
#include "topologies/import/list.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace infragraph_test {

using namespace tutti;
using Catch::Matchers::StartsWith;

namespace {

using Files = std::vector<topologies::CompanionFile>;

Topology read(const std::string& text, const Files& companions = {}, const Files& beside = {}) {
  const topologies::ForeignFormat& format = *std::ranges::find(
      topologies::foreign_formats(), "infragraph", &topologies::ForeignFormat::name);
  return topologies::read_foreign(format, {.content = text,
                                           .source = "f",
                                           .nodes = 1,
                                           .options = {},
                                           .companions = companions,
                                           .beside = [&] { return beside; }});
}

std::string refusal(const std::string& text, const Files& companions = {},
                    const Files& beside = {}) {
  return message_of([&] { (void)read(text, companions, beside); });
}

/// Duplex links with this bandwidth, in GB/s.
std::size_t links_at(const Topology& network, double rate) {
  std::size_t links = 0;
  for (const Link& link : network.links())
    links += static_cast<double>(link.bandwidth.bytes_per_second) == rate * 1e9 ? 1U : 0U;
  CHECK(links % 2 == 0);
  return links / 2;
}

using Ends = std::tuple<std::uint32_t, std::uint32_t, std::int64_t, std::int64_t>;
std::vector<Ends> links_of(const Topology& network) {
  std::vector<Ends> links;
  for (const Link& link : network.links())
    links.emplace_back(link.from.value, link.to.value, link.latency.ps,
                       link.bandwidth.bytes_per_second);
  std::ranges::sort(links);
  return links;
}

bool assumes(const Topology& network, std::string_view words) {
  return std::ranges::any_of(network.parts().assumed, [&](const std::string& line) {
    return line.find(words) != std::string::npos;
  });
}

/// The older form: no counts, connections as words.
const std::string server = "infrastructure:\n"
                           "  devices:\n"
                           "    - name: box\n"
                           "      components:\n"
                           "        - name: gpu\n"
                           "          type: xpu\n"
                           "        - {name: nic, type: nic, external: true}\n"
                           "        - {name: hub, type: custom}\n"
                           "      links:\n"
                           "        - name: bus\n"
                           "          bandwidth:\n"
                           "            choice: gigabytes_per_second\n"
                           "            gigabytes_per_second: 32\n"
                           "        - name: fast\n"
                           "          bandwidth: {gigabits_per_second: 1000}\n"
                           "          latency: {choice: us, us: 0.25}\n"
                           "      connections:\n"
                           "        - gpu.0.bus.nic.0\n"
                           "        - gpu.1.bus.nic.1\n"
                           "        - gpu.0.fast.hub.0\n"
                           "        - gpu.1.fast.hub.0\n";
const std::string leaf = "devices:\n"
                         "- name: leaf\n"
                         "  components:\n"
                         "  - {name: asic, count: 1, type: custom}\n"
                         "  - {name: port, count: 4, type: nic}\n"
                         "  links: [{name: ic}]\n"
                         "  connections: [asic.0.ic.port.0, asic.0.ic.port.1]\n";
const std::string plant = "infrastructure:\n"
                          "  name: plant\n"
                          "  instances:\n"
                          "    - name: host\n"
                          "      device: box\n"
                          "    - name: sw\n"
                          "      device: leaf\n"
                          "      count: 1\n"
                          "  links:\n"
                          "    - name: eth\n"
                          "      bandwidth: {choice: giga_bytes_per_second,\n"
                          "                  giga_bytes_per_second: 12.5}\n"
                          "  connections:\n"
                          "    - host.0.nic.0.eth.sw.0.port.0\n"
                          "    - host.1.nic.0.eth.sw.0.port.1\n"
                          "    - host.2.nic.1.eth.sw.0.port.3\n";

/// The newer form, with a device within a device.
const std::string composed = R"(name: pair
devices:
- components:
  - {choice: xpu, count: 4, name: xpu}
  - {choice: custom, custom: {type: pcie_slot}, count: 2, name: slot}
  - {choice: device, count: 2, name: card1}
  name: node
  edges:
  - {ep1: {component: xpu}, ep2: {component: xpu}, link: xgmi, scheme: many2many}
  - {ep1: {component: "xpu[0:4:2]"}, ep2: {component: "slot[:]"}, link: pcie, scheme: one2one}
  - ep1: {device: "card1[0:2]", component: "pin[0]"}
    ep2: {component: slot}
    link: pcie
    scheme: one2one
  links:
  - name: xgmi
    physical: {bandwidth: {choice: gigabytes_per_second, gigabytes_per_second: 50.000000001},
               latency: {choice: ns, ns: 700.5}}
  - name: pcie
    description: PCIe 4.0 x8
    physical: {bandwidth: {choice: gigatransfers_per_second, gigatransfers_per_second: 16}}
- components:
  - {choice: port, count: 1, name: pin}
  - {choice: port, count: 2, name: port}
  edges:
  - {ep1: {component: pin}, ep2: {component: port}, link: serdes, scheme: many2many}
  links: [{name: serdes}]
  name: card1
instances:
- {count: 3, device: node, name: node}
edges:
- ep1: {instance: node, component: "card1[0].port[0]"}
  ep2: {instance: node, component: "card1[0].port[0]"}
  link: eth
  scheme: ring
links:
- {name: eth, physical: {bandwidth: {choice: gigabits_per_second, gigabits_per_second: 400}}}
)";

} // namespace

TEST_CASE("InfraGraph is told from other files") {
  for (const std::string& text : {server, leaf, plant, composed})
    CHECK(topologies::is_infragraph(text));
  CHECK(topologies::is_infragraph(R"({"devices":[{"name":"a","components":[{"choice":"xpu"}]}]})"));
  CHECK_FALSE(topologies::is_infragraph("topology: [ Ring ]\nnpus_count: [ 8 ]\n"));
  CHECK_FALSE(topologies::is_infragraph("name = \"a\"\n# components: edges: type:\n"));
  CHECK_FALSE(topologies::is_infragraph("<graph edges='directed' components:'' type: ''/>"));
  CHECK_FALSE(topologies::is_infragraph(""));
}

TEST_CASE("a device of InfraGraph alone is a network of its components") {
  const Topology box = read(server);
  CHECK(box.npu_count() == 2);
  CHECK(box.node_count() == 2 + 2 + 1);
  CHECK(box.node(NodeId{1}).name == "gpu1");
  CHECK(box.node(NodeId{4}).name == "hub0");
  CHECK(box.link_count() == 2 * 4);
  CHECK(links_at(box, 32) == 2);
  CHECK(links_at(box, 125) == 2);
  CHECK(box.link(LinkId{0}).latency == Time{500'000});
  CHECK(box.link(LinkId{4}).latency == Time{250'000});
  CHECK(assumes(box, "counts that the file lacks: as its connections count: box.gpu 2, box.nic 2, "
                     "box.hub 1"));
  CHECK(assumes(box, "links that have no latency: \"bus\" of box"));
  CHECK_FALSE(assumes(box, "links that have no bandwidth"));

  const Topology lone = read(leaf);
  CHECK(lone.npu_count() == 0);
  CHECK(lone.node_count() == 5);
  CHECK(links_at(lone, 50) == 2);
  CHECK(assumes(lone, "links that have no bandwidth: \"ic\" of leaf"));
}

TEST_CASE("instances of InfraGraph's devices are put together, wherever the devices are") {
  // 3 hosts of 5 components and 4 links, a switch of 5 and 2, and 3 links between.
  const Files both{{server, "d/server.yaml"}, {leaf, "d/leaf.yaml"}};
  const Files other{{"x = 1\n", "d/note.yaml"}, both[0], {composed, "d/pair.yaml"}, both[1]};
  for (const Topology& network :
       {read(plant, both), read(plant, {}, other), read(plant, {both[1]}, {both[0]})}) {
    CHECK(network.npu_count() == 6);
    CHECK(network.node_count() == 3 * 5 + 5);
    CHECK(network.link_count() == 2 * (3 * 4 + 2 + 3));
    CHECK(links_at(network, 12.5) == 3);
    CHECK(links_at(network, 32) == 6);
    CHECK(network.node(NodeId{5}).name == "host2.gpu1");
    const Link& last = network.link(LinkId{network.link_count() - 2});
    CHECK(network.node(last.from).name == "host2.nic1");
    CHECK(network.node(last.to).name == "sw0.port3");
  }
  CHECK(assumes(read(plant, {}, both),
                "devices from files beside it: box (d/server.yaml), leaf (d/leaf.yaml)"));
  CHECK_FALSE(assumes(read(plant, both), "beside"));
  // Those beside are looked at where one is missing, and only for that one.
  const Files changed{{replaced(server, "type: custom", "type: switch"), "d/other.yaml"}};
  CHECK(read(plant, both, changed).node_count() == 20);
  CHECK(refusal(plant, {both[1]}, {both[0], changed[0]}) ==
        "d/other.yaml:3:7: device \"box\" is another one in d/server.yaml:3");
  CHECK(refusal(plant, {both[0], both[1], changed[0]}) ==
        "d/other.yaml:3:7: device \"box\" is another one in d/server.yaml:3");
  CHECK(refusal(plant, {both[0]}, {{replaced(leaf, "devices", "devises"), "d/bad.yaml"}}) ==
        "f:7:15: device \"leaf\" is defined nowhere (here: box; beside: bad.yaml, which can't be "
        "read)");
  CHECK(refusal(plant) == "f:5:15: device \"box\" is defined nowhere (here is none)");
  CHECK(refusal(plant, {{plant, "g"}}) == "g:2:3: instances, links or connections, as in f");
}

TEST_CASE("InfraGraph's annotations are left out, and that is told") {
  const Files both{{server, "s"}, {leaf, "l"}};
  const std::string more =
      plant + "  annotations:\n    - name: pods\n      data: {a: [b, {c: d}]}\n";
  const Topology with_annotations = read(more, both);
  CHECK(with_annotations.fingerprint() == read(plant, both).fingerprint());
  CHECK(assumes(with_annotations, "annotations: left out"));
}

TEST_CASE("InfraGraph's schemes, slices and devices within devices") {
  // A node: 4 xpus all to all (6 links), 2 to slots, 2 from slots to cards; a card: 2. Three nodes
  // in a ring.
  const Topology network = read(composed);
  CHECK(network.npu_count() == 12);
  CHECK(network.node_count() == 3 * (4 + 2 + 2 * 3));
  CHECK(network.link_count() == 2 * (3 * (6 + 2 + 2 + 2 * 2) + 3));
  CHECK(links_at(network, 50.000000001) == 18);
  CHECK(network.link(LinkId{0}).latency == Time{700'500});
  // 16 GT/s, 8 lanes, 128 of 130 bits: 15.753846... GB/s.
  CHECK(links_at(network, 15.753846154) == 12);
  CHECK(assumes(network, "transfers: \"pcie\" of node: 16 GT/s, 8 lanes, 128b/130b: 15.75 GB/s"));
  CHECK(links_at(network, 50) == 3 + 12);
  const Link& last = network.link(LinkId{network.link_count() - 2});
  CHECK(network.node(last.from).name == "node2.card1-0.port0");
  CHECK(network.node(last.to).name == "node0.card1-0.port0");
  const Topology one = read(replaced(composed, "{count: 3,", "{count: 1,"));
  CHECK(one.node(NodeId{3}).name == "xpu3"); // nothing to tell it from
  CHECK(one.link_count() == 2 * 14);
  // Lanes that nobody gives are 16; before PCIe 3.0 they carry 8 of 10 bits.
  CHECK(links_at(read(replaced(composed, "x8", "")), 31.507692308) == 12);
  CHECK(links_at(
            read(replaced(composed, "gigatransfers_per_second: 16", "gigatransfers_per_second: 5")),
            4) == 12);
  // Two links between two components are two by their names.
  const Topology twice = read(replaced(composed, "  links:\n",
                                       "  - {ep1: {component: \"xpu[0]\"}, ep2: "
                                       "{component: \"xpu[1]\"}, link: pcie}\n"
                                       "  links:\n"));
  CHECK(twice.link_count() == network.link_count() + 2 * 3);
  CHECK(assumes(twice, "several links, by their names"));
}

TEST_CASE("a link of InfraGraph without a bandwidth has that of the generation it names") {
  const auto described = [](const std::string& words) {
    return read(replaced(leaf, "{name: ic}", "{name: ic, description: \"" + words + "\"}"));
  };
  const std::vector<std::pair<std::string, double>> rates{
      {"NVLINK 3.0", 25},
      {"nvlink5 of a GPU", 50},
      {"3rd generation NVLink", 25},
      {"NVLink-v1", 20},
      {"PCIe 3.0", 15.753846154}, // 8 GT/s * 16 lanes * 128/130 / 8 bits
      {"a bus (pcie gen4)", 31.507692308},
      {"PCI Express 5, x4", 15.753846154},
      {"Gen 4 PCIe", 31.507692308},
      {"PCIe Gen4x8", 15.753846154},
      {"PCI-E 1.1 x1", 0.25}, // 2.5 GT/s * 8/10 / 8 bits
      // Nothing that says it.
      {"NvLink", 50},
      {"PCIe x16", 50},
      {"PCIe 5 GT/s", 50},
      {"PCIe, 4 lanes", 50},
      {"PCIe 4 lanes", 50},
      {"NVLink 12", 50},
      {"NVLink 6", 50},
      {"NVLink-C2C", 50},
      {"PCIe 3.0 or PCIe 4.0", 50},
      {"NVLink 3, as of a PCIe 4 card", 50},
      {"Gen 4 of Ethernet", 50},
  };
  for (const auto& [words, rate] : rates) {
    INFO(words);
    const Topology network = described(words);
    CHECK(links_at(network, rate) == 2);
    CHECK(assumes(network, "links that have no bandwidth: \"ic\" of leaf") ==
          assumes(network, "bandwidth of a link: 50GB/s"));
  }
  CHECK(assumes(described("NVLINK 3.0"), "links that have no bandwidth, but words that name their "
                                         "generation: \"ic\" of leaf as one NVLink 3"));
  CHECK(assumes(described("NVLINK 3.0"), "one NVLink 3: 25GB/s (NVIDIA A100 white paper)"));
  CHECK(assumes(described("PCIe 3.0"),
                "\"ic\" of leaf as 16 lanes (it doesn't say how many) of PCIe 3: 15.75 GB/s"));
  CHECK(assumes(described("PCIe Gen4x8"), "\"ic\" of leaf as 8 lanes of PCIe 4: 15.75 GB/s"));
  CHECK_FALSE(assumes(described("NVLINK 3.0"), "bandwidth of a link"));
  // A bandwidth that is given is meant; and links between instances may name theirs, too.
  CHECK(links_at(read(replaced(server, "name: bus", "name: bus\n          description: NVLink 4")),
                 32) == 2);
  const std::string eth = plant.substr(plant.find("      bandwidth"),
                                       plant.find("  connections") - plant.find("      bandwidth"));
  const Topology between = read(replaced(replaced(plant, eth, ""), "name: eth",
                                         "name: eth\n      "
                                         "description: pcie gen5"),
                                {{server, "s"}, {leaf, "l"}});
  CHECK(links_at(between, 63.015384615) == 3);
  CHECK(assumes(between, "\"eth\" as 16 lanes"));
}

TEST_CASE("a connected name that is no instance is the one device without any") {
  const std::string text = replaced(server, "  devices:\n",
                                    "  instances:\n"
                                    "    - {name: net, device: leaf}\n"
                                    "  connections:\n"
                                    "    - it.0.nic.0.bus.net.0.port.0\n"
                                    "    - it.0.nic.1.bus.net.1.port.0\n"
                                    "  devices:\n");
  const Topology network = read(text, {}, {{leaf, "leaf.yaml"}});
  CHECK(network.node_count() == 5 + 2 * 5);
  CHECK(network.link_count() == 2 * (4 + 2 * 2 + 2));
  CHECK(network.node(NodeId{0}).name == "it0.gpu0");
  CHECK(links_at(network, 32) == 2 + 2);
  CHECK(assumes(network, "\"it\", which is no instance: one of device \"box\""));
  CHECK(assumes(network, "links that are only defined within the devices they connect: \"bus\""));
  CHECK(refusal(replaced(text, "it.0.nic.1", "that.0.nic.1"), {}, {{leaf, "leaf.yaml"}}) ==
        "f:5:7: unknown instance \"it\" (known: net; did you mean \"net\"?)");
  CHECK(refusal(replaced(text, "nic.1.bus", "nic.1.wire"), {{leaf, "leaf.yaml"}}) ==
        "f:6:18: unknown link \"wire\" (known: bus, fast, ic)");
}

TEST_CASE("what is wrong in InfraGraph's files is named with its place") {
  const std::vector<SlipRow> rows = {
      {"gpu.0.bus.nic.0", "cpu.0.bus.nic.0",
       R"(18:11: unknown component "cpu" (known: gpu, nic, hub; did you mean "gpu"?))"},
      {"gpu.0.bus.nic.0", "gpu.0.buss.nic.0",
       R"(18:17: unknown link "buss" (known: bus, fast; did you mean "bus"?))"},
      {"gpu.0.bus.nic.0", "gpu.0.bus.nic", "18:21: no index after \"nic\""},
      {"gpu.0.bus.nic.0", "gpu.0.bus",
       R"(18:11: "gpu.0.bus" isn't of the form "nic.0.link.port.0")"},
      {"gpu.0.bus.nic.0", "gpu.0.bus.gpu.0", "18:11: a link from a component to itself"},
      {"gpu.0.bus.nic.0", "gpu.1000001.bus.nic.0", "18:15: 1000001 is out of range (0 .. 1000000)"},
      {"type: nic,", "type: nic, count: 1,", "19:21: index 1 of \"nic\" (its count is 1)"},
      {"{name: hub, type: custom}", "{name: hub}",
       R"(8:11: no "choice" (or "type") of a component)"},
      {"name: hub", "name: nic", "8:11: a second \"nic\""},
      {"name: fast", "name: bus", "14:11: a second link \"bus\""},
      {"type: xpu", "tipe: xpu",
       "6:11: unknown key \"tipe\" (known: name, description, count, choice, type, external, "
       "custom, device, cpu, xpu, nic, memory, port, switch; did you mean \"type\"?)"},
      {"          type: xpu", "          type: xpu\n          type: cpu",
       "7:11: the key \"type\" stands twice"},
      {"gigabytes_per_second: 32", "gigabytes_per_second: 0",
       "13:35: \"0\" is out of range (more than 0, at most 1e9)"},
      {"gigabytes_per_second: 32", "gigabytes_per_second: fast", "13:35: \"fast\" is no number"},
      {"choice: gigabytes_per_second", "choice: furlongs", "12:21: unknown unit \"furlongs\" ..."},
      {"us: 0.25", "us: 0.0000001", "16:37: less than a picosecond"},
      {"us: 0.25", "us: -1", "16:37: \"-1\" is negative"},
      {"name: gpu", "name: &a gpu", "5:17: anchors aren't read ..."},
      {"name: gpu", "name: *a", "5: ..."},
  };
  check_slips([](const std::string& text) { return refusal(text); }, server, rows, "f:");
  const std::vector<SlipRow> rows2 = {
      {"device: node, name: node", "device: node, name: nodes",
       R"(f:32:19: unknown instance "node" (known: nodes; did you mean "nodes"?))"},
      {"\"xpu[0:4:2]\"", "\"xpu[0:5]\"", "f:10:23: index 4 of \"xpu\" (its count is 4)"},
      {"\"xpu[0:4:2]\"", "\"xpu[2:2]\"", "f:10:23: \"xpu[2:2]\" names none"},
      {"\"xpu[0:4:2]\"", "\"xpu[0:4:0]\"", "f:10:23: \"xpu[0:4:0]\" has a step of 0"},
      {"\"xpu[0:4:2]\"", "\"xpu[0:4\"", "f:10:23: \"xpu[0:4\" has no ']' at its end"},
      {", scheme: many2many}", "}",
       "f:9:5: 4 and 4 ends, and no scheme (known: one2one, many2many, ring)"},
      {"many2many", "mesh", "f:9:72: unknown scheme \"mesh\" (known: one2one, many2many, ring)"},
      {"component: \"card1[0].port[0]\"", "component: \"card1[1].port[0]\"",
       "f:32:3: the two ends of a ring differ, and the schema doesn't say what such a ring is"},
      {"component: \"card1[0].port[0]\"", "component: \"card1[0]\"",
       "f:32:36: \"card1\" is a device: which component of it? (known: pin, port)"},
      {"component: \"card1[0].port[0]\"", "component: \"xpu[0].port[0]\"",
       "f:32:43: \"xpu\" is no device that has components"},
      {"{choice: port, count: 1, name: pin}",
       "{choice: port, count: 1, name: pin}\n  - {choice: device, count: 1, name: node}",
       "f:3:3: device \"node\" is a part of itself"},
      {"{count: 3,", "{count: 900000,", "f:30:27: more than 1000000 components"},
      {"count: 4, name: xpu", "count: 3000, name: xpu", "f:9:5: more than 4000000 links"},
  };
  check_slips([](const std::string& text) { return refusal(text); }, composed, rows2);
  CHECK_THAT(refusal(server + "---\na: 1\n"), StartsWith("f:22:1: a second document"));
  CHECK_THAT(refusal(std::string(100, '[')), StartsWith("f:1:17: lists and keys within 32"));
  CHECK(refusal("name: a\n") == "f: neither instances nor devices: there is no network in it");
  CHECK(refusal(server + replaced(leaf, "devices:\n", "")) != "");
  CHECK(refusal(leaf, {{server, "g"}}) ==
        "f:2:3: 2 devices (leaf, box) and no instances of them: which one is the network?");
}

TEST_CASE("what is written for InfraGraph is read back") {
  for (const char* name : {"ring:8", "torus2d:4x3", "switch:4", "fat_tree:4", "hypercube:4"}) {
    const Topology before = make_topology(name);
    const std::string text = topology_infragraph(before);
    CHECK(topologies::is_infragraph(text));
    const Topology after = read(text);
    CHECK(after.npu_count() == before.npu_count());
    CHECK(links_of(after) == links_of(before));
    CHECK(read(topology_infragraph(after)).fingerprint() == after.fingerprint());
    for (std::uint32_t n = 0; n < before.node_count(); ++n)
      CHECK(after.node(NodeId{n}).name == before.node(NodeId{n}).name);
  }
  for (const Topology& before : {read(composed), read(server)}) {
    const Topology after = read(topology_infragraph(before));
    CHECK(after.node_count() == before.node_count());
    CHECK(after.link_count() == before.link_count());
    for (const Node& node : before.nodes()) CHECK(after.find_node(node.name).value < 100);
    CHECK(links_at(after, 50.000000001) == links_at(before, 50.000000001));
    CHECK(links_at(after, 125) == links_at(before, 125));
    CHECK(read(topology_infragraph(after)).fingerprint() == after.fingerprint());
  }

  // Rates to the byte, times to the picosecond; names that aren't counted.
  TopologyParts parts;
  parts.name = "odd \"one\"";
  parts.assumed = {"of\ntwo lines"};
  for (const char* name : {"first:of", "second.of", "gpu7"})
    parts.add_node({name, NodeKind::npu, {}, {}});
  const std::vector<std::pair<std::int64_t, std::int64_t>> values{
      {1, 1}, {123'456'789'012'345'677, 4'000'000'000'001}, {12'500'000'000, 1'500'000}};
  for (std::uint32_t i = 0; i < 3; ++i)
    parts.add_duplex(
        {NodeId{i}, NodeId{(i + 1) % 3}, Time{values[i].second}, Bandwidth{values[i].first}});
  const Topology odd{TopologyParts(parts)};
  const Topology back = read(topology_infragraph(odd));
  CHECK(links_of(back) == links_of(odd));
  CHECK(back.fingerprint() == odd.fingerprint());
  CHECK(back.node(NodeId{0}).name == "first_of0");
  CHECK(back.node(NodeId{2}).name == "gpu7-0");

  const auto refused = [](TopologyParts changed) {
    const Topology network(std::move(changed));
    return message_of([&] { (void)topology_infragraph(network); });
  };
  TopologyParts changed = parts;
  changed.links.pop_back();
  CHECK_THAT(refused(changed), StartsWith("link from \"gpu7\" to \"first:of\": none leads back"));
  changed = parts;
  changed.links[1].latency = Time{2};
  CHECK_THAT(refused(changed),
             StartsWith("link from \"first:of\" to \"second.of\": the one back "));
  changed = parts;
  changed.add_duplex(parts.links[0]);
  CHECK_THAT(refused(changed), ContainsSubstring("here are parallel ones"));
  changed = parts;
  changed.groups.push_back({"bus", {LinkId{0}, LinkId{2}}, Bandwidth{1}});
  CHECK_THAT(refused(changed), StartsWith("group \"bus\": InfraGraph has no"));
  changed = parts;
  changed.nodes[2].can.reduce = false;
  CHECK_THAT(refused(changed), StartsWith("node \"gpu7\": InfraGraph can't tell what a node can"));
  changed = parts;
  changed.nodes[2] = {"ram", NodeKind::memory, {true, true, false}, {}};
  CHECK_THAT(refused(changed),
             StartsWith("node \"ram\": InfraGraph can't tell what a memory does"));
}

TEST_CASE("damaged files of InfraGraph are networks or refused") {
  const Files both{{server, "s"}, {leaf, "l"}};
  std::size_t refused = 0;
  for (const std::string& text : {plant, composed, server})
    refused += refused_when_damaged(text, " \n\t,;[]{}:#\"-x0189&*\xFF", 150,
                                    [&](const std::string& copy) {
                                      (void)topologies::is_infragraph(copy);
                                      return read(copy, text == plant ? both : Files{});
                                    });
  CHECK(refused > 100);
  CHECK(3 * 150 - refused > 20); // and networks
}

TEST_CASE("published files of InfraGraph say what their text says") {
  const std::filesystem::path folder =
      std::filesystem::path(TUTTI_SOURCE_DIR).parent_path() / "shared/data/topologies/infragraph";
  if (!std::filesystem::exists(folder)) {
    WARN("no published networks here: skipped");
    return;
  }
  const auto text_of = [](const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  };
  Files all;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    all.push_back({text_of(entry.path()), entry.path().string()});
  std::ranges::sort(all, {}, &topologies::CompanionFile::source);
  const auto of = [&](const std::string& name) { return read(text_of(folder / name), {}, all); };

  // 4 servers (4 xpus, 4 NICs, a switch; 8 links), 4 + 3 switches (an ASIC, 16 ports; 16 links).
  const Topology clos = of("two-tier-clos-fabric-infrastructure.yaml");
  CHECK(clos.npu_count() == 4 * 4);
  CHECK(clos.node_count() == 4 * 9 + 7 * 17);
  CHECK(clos.link_count() == 2 * (4 * 8 + 7 * 16 + 16 + 12));
  CHECK(links_at(clos, 100) == 16);
  CHECK(links_at(clos, 400) == 12);
  CHECK(links_at(clos, 32) == 16);
  CHECK(links_at(clos, 128) == 16);
  CHECK(links_at(clos, 50) == 7 * 16); // without a bandwidth
  CHECK(clos.node(NodeId{15}).name == "server3.xpu3");
  CHECK(read(topology_infragraph(clos)).link_count() == clos.link_count());

  const Topology server_alone = of("two-tier-clos-fabric-server.yaml");
  CHECK(server_alone.npu_count() == 4);
  CHECK(server_alone.link_count() == 2 * 8);
  CHECK(of("two-tier-clos-fabric-switch.yaml").node_count() == 17);
  CHECK(of("cx5.yaml").node_count() == 3);

  // 2 CPUs, 8 xpus, 4 and 8 switches (77 links); 8 cards (an ASIC, 2 ports; 2 links) at 8 links.
  const Topology dgx = of("dgxa100.yaml");
  CHECK(dgx.npu_count() == 8);
  CHECK(dgx.node_count() == 22 + 8 * 3);
  CHECK(dgx.link_count() == 2 * (1 + 4 + 8 + 64 + 8 * 2 + 8));
  CHECK(dgx.node(NodeId{0}).name == "server0.xpu0");
  // "NVLINK 3.0", "PCIe 3.0" (within the server, and to its cards), and no word of the others.
  CHECK(links_at(dgx, 25) == 64);
  CHECK(links_at(dgx, 15.753846154) == 4 + 8 + 8);
  CHECK(links_at(dgx, 50) == 1 + 8 * 2);
  std::int64_t total = 0;
  for (const Link& link : dgx.links()) total += link.bandwidth.bytes_per_second;
  CHECK(total == 2 * (64 * 25'000'000'000 + 20 * 15'753'846'154 + 17 * 50'000'000'000));
  CHECK(assumes(dgx, "\"nvlink\" of dgx-a100 as one NVLink 3"));
  CHECK(assumes(dgx, "links that have no bandwidth: \"pcie\" of cx5, \"fabric\" of dgx-a100"));

  const std::string missing = message_of([&] { (void)of("scaleup-scaleout.yaml"); });
  CHECK_THAT(missing, StartsWith("f:62:13: device \"VendorC-Router\" is defined nowhere (here: "
                                 "VendorA-Server, VendorB-Switch; beside: cx5.yaml, "));
}

} // namespace infragraph_test
