// What people have of their machines: files for NCCL_TOPO_FILE, lists and tables of tools, names,
// and servers that differ side by side. Links are counted by hand.
#include "sim/error.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/temporary_folder.hpp"
#include "topologies/import/list.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <string_view>

namespace owned_servers_test {

using namespace tutti;
using Catch::Matchers::Contains;

namespace {

using Options = std::map<std::string, std::string, std::less<>>;

Topology server(const std::string& text, std::string_view format, const Options& options = {},
                std::int64_t nodes = 1) {
  const topologies::ForeignFormat* found = topologies::foreign_format(text);
  REQUIRE(found != nullptr);
  CHECK(found->name == format);
  topologies::ForeignFile file{text, "f", nodes};
  file.options = options;
  return topologies::read_foreign(*found, file);
}

bool assumes(const Topology& topology, const std::string& words) {
  return std::ranges::any_of(topology.parts().assumed, [&](const std::string& line) {
    return line.find(words) != std::string::npos;
  });
}

/// What links from one node to another carry together, in GB/s.
double rate(const Topology& topology, const std::string& from, const std::string& to) {
  double sum = 0;
  for (const Link& link : topology.links())
    if (topology.node(link.from).name == from && topology.node(link.to).name == to)
      sum += static_cast<double>(link.bandwidth.bytes_per_second) / 1e9;
  return sum;
}

std::size_t count_of(const Topology& topology, std::string_view beginning) {
  return static_cast<std::size_t>(std::ranges::count_if(
      topology.nodes(), [&](const Node& node) { return node.name.starts_with(beginning); }));
}

/// What clouds ship: two GPUs and a card at each of two CPUs.
std::string bare(const std::string& attributes, const std::string& cpu = "AuthenticAMD") {
  std::string text = "<system version=\"1\">\n";
  for (int c = 0; c < 2; ++c) {
    text += "<cpu numaid=\"" + std::to_string(c) + "\" arch=\"x86_64\" vendor=\"" + cpu +
            "\" familyid=\"6\" modelid=\"85\">\n";
    for (const auto& [bus, kind] :
         {std::pair("0:1", "0x030200"), std::pair("0:2", "0x030200"), std::pair("0:3", "0x020700")})
      text += "<pci busid=\"" + std::to_string(c) + bus + "\" class=\"" + kind + "\" " +
              attributes + "/>\n";
    text += "</cpu>\n";
  }
  return text + "</system>\n";
}

} // namespace

TEST_CASE(
    "files for NCCL_TOPO_FILE have GPUs and cards by their classes, and what goes with them") {
  const std::string pcie4 = "link_speed=\"16 GT/s\" link_width=\"16\"";
  const Topology a100 = server(bare(pcie4), "nccl");
  CHECK(a100.npu_count() == 4);
  CHECK(a100.parts().npu_model == "a100");
  CHECK(rate(a100, "npu3", "nvswitch") == Approx(300));
  CHECK(count_of(a100, "nic") == 2);
  CHECK(assumes(a100, "GPUs: a100, by their PCIe (npu=... says another)"));
  CHECK(assumes(a100, "links of GPUs: 12 of each to NVSwitches"));
  // A CPU that has the third generation only, whatever the virtual machine says.
  CHECK(server(bare(pcie4, "GenuineIntel"), "nccl").parts().npu_model == "v100");
  // The device's number says more, and what is asked for the most.
  const std::string with_device = pcie4 + " vendor=\"0x10de\" device=\"0x2330\"";
  CHECK(server(bare(with_device), "nccl").parts().npu_model == "h100");
  const Topology asked = server(bare(with_device), "nccl", {{"npu", "l40s"}});
  CHECK(asked.parts().npu_model == "l40s");
  CHECK(count_of(asked, "nvswitch") == 0);
  CHECK(server(bare(pcie4), "nccl", {{"gpus", "2"}}).npu_count() == 2);
  const Topology mesh = server(bare(pcie4), "nccl", {{"npu", "mi300x"}});
  CHECK(rate(mesh, "npu0", "npu3") == Approx(64));
  CHECK(server(bare(pcie4), "nccl", {}, 2).npu_count() == 8);
  CHECK_THAT(message_of([&] {
               (void)server(bare(pcie4), "nccl", {{"gpus", "5"}});
             }),
             Contains("gpus"));
  CHECK_THAT(message_of([&] {
               (void)server(bare(pcie4), "nccl", {{"npu", "a1000"}});
             }),
             Contains("unknown npu \"a1000\""));
}

TEST_CASE("devices without a class are GPUs but for the last ones") {
  std::string text = "<system><cpu numaid=\"0\">";
  for (int d = 0; d < 5; ++d) text += "<pci busid=\"0:" + std::to_string(d) + "\"/>\n";
  text += "</cpu></system>";
  const Topology four = server(text, "nccl", {{"npu", "a10g"}});
  CHECK(four.npu_count() == 4);
  CHECK(count_of(four, "nic") == 1);
  CHECK(assumes(four, "devices without a class: GPUs, but for the last 1"));
  CHECK(server(text, "nccl", {{"gpus", "3"}}).npu_count() == 3);
}

TEST_CASE("links of a GPU to itself lead nowhere") {
  const Topology topology = server("<system><cpu numaid=\"0\">"
                                   "<pci busid=\"a\" class=\"0x030200\"><gpu dev=\"0\" sm=\"80\">"
                                   "<nvlink target=\"a\" count=\"12\"/></gpu></pci>"
                                   "<pci busid=\"b\" class=\"0x030200\"><gpu dev=\"1\" sm=\"80\"/>"
                                   "</pci></cpu></system>",
                                   "nccl");
  CHECK(topology.npu_count() == 2);
  CHECK(assumes(topology, "links of GPUs to themselves"));
}

TEST_CASE("AMD's GPUs are known by their numbers") {
  for (const auto& [gcn, model] :
       {std::pair("gfx900", "mi50"), std::pair("gfx906", "mi50"), std::pair("gfx908", "mi100"),
        std::pair("gfx90a:sramecc+", "mi250x"), std::pair("gfx942", "mi300x"),
        std::pair("gfx950", "mi355x"), std::pair("gfx1100", "radeon")}) {
    std::string text = "<system><cpu numaid=\"0\">";
    for (const char* bus : {"a", "b"})
      text += std::string("<pci busid=\"") + bus + "\"><gpu dev=\"" + (bus[0] == 'a' ? "0" : "1") +
              "\" gcn=\"" + gcn + "\"/></pci>";
    CHECK(server(text + "</cpu></system>", "nccl").parts().npu_model == model);
  }
}

namespace {

const std::string rocm =
    R"(======================= ROCm System Management Interface =======================
=========================== Weight between two GPUs ============================
       GPU0         GPU1         GPU2
GPU0   0            15           40
GPU1   15           0            52
GPU2   40           52           0

============================ Hops between two GPUs =============================
       GPU0         GPU1         GPU2
GPU0   0            1            2
GPU1   1            0            3
GPU2   2            3            0

========================== Link Type between two GPUs ==========================
       GPU0         GPU1         GPU2
GPU0   0            XGMI         PCIE
GPU1   XGMI         0            PCIE
GPU2   PCIE         PCIE         0
)";

} // namespace

TEST_CASE("rocm-smi's tables: links of one hop, and CPUs by hops or NUMA nodes") {
  const Topology topology = server(rocm, "rocm-smi");
  CHECK(topology.npu_count() == 3);
  CHECK(topology.parts().npu_model == "mi250x");
  CHECK(rate(topology, "npu0", "npu1") == Approx(50));
  CHECK(rate(topology, "npu0", "npu2") == 0);
  CHECK(count_of(topology, "cpu") == 2); // npu0 and npu2 are two hops apart
  const Topology numa = server(rocm + "=== Numa Nodes ===\nGPU[0]\t: (Topology) Numa Node: 0\n"
                                      "GPU[0]\t: (Topology) Numa Affinity: 0\n"
                                      "GPU[1]\t: (Topology) Numa Node: 1\n"
                                      "GPU[2]\t: (Topology) Numa Node: 1\n",
                               "rocm-smi", {{"npu", "mi100"}});
  CHECK(rate(numa, "cpu0", "npu1") == 0);
  CHECK(rate(numa, "cpu1", "npu1") > 30);
  CHECK(rate(numa, "npu0", "npu1") == Approx(46));
  CHECK_THAT(message_of([] { (void)server(rocm.substr(0, rocm.rfind("GPU2")), "rocm-smi"); }),
             Contains("link types of 2 GPUs, of 3"));
  // amd-smi says the same by addresses.
  std::string amd = "LINK TYPE TABLE:\n 0000:0c:00.0 0000:22:00.0\n0000:0c:00.0 SELF XGMI\n"
                    "0000:22:00.0 XGMI SELF\nNUMA BW TABLE:\n 0000:0c:00.0 0000:22:00.0\n"
                    "0000:0c:00.0 N/A 50000-50000\n0000:22:00.0 50000-50000 N/A\n";
  CHECK(rate(server(amd, "rocm-smi"), "npu1", "npu0") == Approx(50));
}

TEST_CASE("nvidia-smi -L: slices have their GPU's PCIe in common, and nothing else") {
  const std::string list = "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-1)\n"
                           "  MIG 3g.20gb     Device  0: (UUID: MIG-1)\n"
                           "  MIG 3g.20gb     Device  1: (UUID: MIG-2)\n"
                           "GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-2)\n";
  const Topology cut = server(list, "nvidia-list");
  CHECK(cut.npu_count() == 3);
  CHECK(cut.parts().npu_model == "a100");
  CHECK(rate(cut, "npu0", "npu1") == 0);
  CHECK(rate(cut, "npu0", "cpu0") == Approx(31.5).epsilon(0.01));
  REQUIRE(cut.groups().size() == 2);
  CHECK(cut.groups()[0].links.size() == 2);
  CHECK(static_cast<double>(cut.groups()[0].bandwidth.bytes_per_second) ==
        Approx(31.5e9).epsilon(0.01));
  std::string whole = "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\n"
                      "GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-2)\n";
  CHECK(rate(server(whole, "nvidia-list"), "npu0", "nvswitch") == Approx(450));
  const Topology cards = server("GPU 0: NVIDIA H100 PCIe (UUID: GPU-1)\n"
                                "GPU 1: NVIDIA H100 PCIe (UUID: GPU-2)\n",
                                "nvidia-list");
  CHECK(count_of(cards, "nvswitch") == 0);
  CHECK(
      server("GPU 0: NVIDIA L40S (UUID: GPU-1)\nGPU 1: NVIDIA L40S (UUID: GPU-2)\n", "nvidia-list")
          .parts()
          .npu_model == "l40s");
  CHECK_THAT(message_of([&] { (void)server(whole + "what\n", "nvidia-list"); }),
             Contains("f:3:1: neither"));
}

TEST_CASE("hwloc's tree is that of NCCL, and errors have its lines") {
  const std::string text = R"(<?xml version="1.0"?>
<topology version="2.0">
 <object type="Machine" os_index="0"><info name="Architecture" value="x86_64"/>
  <object type="Package"><info name="CPUVendor" value="AuthenticAMD"/>
   <object type="NUMANode"/>
   <object type="Bridge" bridge_type="0-1">
    <object type="Bridge" bridge_type="1-1" pci_busid="0000:00:01.1"
        pci_type="0604 [1022:1483] [0:0] 00" pci_link_speed="31.5">
     <object type="PCIDev" pci_busid="0000:01:00.0" pci_type="0302 [10de:20b0] [10de:1450] a1"
         pci_link_speed="31.5"/>
    </object>
    <object type="PCIDev" pci_busid="0000:02:00.0" pci_type="0302 [10de:20b0] [10de:1450] a1"
        pci_link_speed="15.75"/>
    <object type="PCIDev" pci_busid="0000:03:00.0" pci_type="0207 [15b3:101b] [0:0] 00"
        pci_link_speed="31.5"/>
    <object type="PCIDev" pci_busid="0000:04:00.0" pci_type="0200 [8086:1521] [0:0] 00"
        pci_link_speed="2.0"/>
    <object type="PCIDev" pci_busid="0000:05:00.0" pci_type="0300 [1a03:2000] [0:0] 00"
        pci_link_speed="0"/>
   </object>
  </object>
  <object type="Package"><object type="NUMANode"/></object>
 </object>
</topology>
)";
  const Topology topology = server(text, "hwloc");
  CHECK(topology.npu_count() == 2);
  CHECK(topology.parts().npu_model == "a100");
  CHECK(count_of(topology, "cpu") == 1);
  CHECK(count_of(topology, "nic") == 1); // Intel's Ethernet is the host's
  CHECK(rate(topology, "cpu0", "npu0") == Approx(31.5));
  CHECK(rate(topology, "cpu0", "npu1") == Approx(15.75));
  CHECK(rate(topology, "npu1", "nvswitch") == Approx(300));
  CHECK_THAT(message_of([&] { (void)server(text.substr(0, text.size() / 2), "hwloc"); }),
             Contains("breaks off"));
}

namespace {

std::string p2p(const std::string& rows) {
  return "[P2P (Peer-to-Peer) GPU Bandwidth Latency Test]\n"
         "Device: 0, NVIDIA A100-SXM4-40GB, pciBusID: 7, pciDeviceID: 0, pciDomainID:0\n"
         "P2P Connectivity Matrix\n     D\\D     0     1     2\n"
         "     0\t     1     1     1\n     1\t     1     1     1\n     2\t     1     1     1\n"
         "Unidirectional P2P=Disabled Bandwidth Matrix (GB/s)\n   D\\D     0      1      2\n"
         "     0 1290.0 9.5 9.5\n     1 9.5 1290.0 9.5\n     2 9.5 9.5 1290.0\n"
         "Unidirectional P2P=Enabled Bandwidth (P2P Writes) Matrix (GB/s)\n"
         "   D\\D     0      1      2\n" +
         rows + "P2P=Disabled Latency Matrix (us)\n";
}

} // namespace

TEST_CASE("measured between pairs: a diagonal is no link, and pairs share ways") {
  const Topology switched = server(p2p("     0 1290.0 263.1 262.0\n     1 264.0 1290.0 263.0\n"
                                       "     2 263.0 263.0 1290.0\n"),
                                   "p2p");
  CHECK(switched.npu_count() == 3);
  CHECK(switched.parts().npu_model == "a100");
  CHECK(rate(switched, "npu0", "nvswitch") == Approx(300));
  // NVLink joins two of the three.
  const Topology bridged = server(p2p("     0 1290.0 240.0 20.0\n     1 240.0 1290.0 20.0\n"
                                      "     2 20.0 20.0 1290.0\n"),
                                  "p2p");
  CHECK(rate(bridged, "npu0", "npu1") == Approx(275)); // eleven of 25 GB/s make 240
  CHECK(rate(bridged, "npu0", "npu2") == 0);
  const Topology pairs = server(",gpu0,gpu1,gpu2,gpu3\ngpu0,0,26.4,20.8,20.8\n"
                                "gpu1,26.4,1500,20.7,20.8\ngpu2,20.8,20.8,0,26.4\n"
                                "gpu3,20.8,20.8,26.4,0\n",
                                "p2p");
  CHECK(count_of(pairs, "pcie") == 2); // a switch of PCIe for each pair, below a CPU
  CHECK(pairs.parts().link_parts.front() == "pcie4");
  const double wire = rate(pairs, "npu0", "pcie0") + rate(pairs, "npu0", "pcie1");
  CHECK(wire == Approx(31.5).epsilon(0.01));
  CHECK(rate(pairs, "pcie0", "cpu0") == Approx(wire * 20.8 / 26.4).epsilon(0.01));
  CHECK_THAT(message_of([] { (void)server(p2p("     0 1290.0 1\n"), "p2p"); }),
             Contains("f:15:6: a row of 3 numbers belongs here"));
}

TEST_CASE("files that break off, or have bytes changed, are read or refused") {
  for (const std::string& text :
       {bare("link_speed=\"16 GT/s\""), rocm, p2p("     0 9 8 8\n     1 8 9 8\n     2 8 8 9\n")})
    for (std::size_t end = 0; end < text.size(); end += 7) {
      const std::string part = text.substr(0, end);
      const topologies::ForeignFormat* format = topologies::foreign_format(part);
      if (format == nullptr) continue;
      try {
        (void)topologies::read_foreign(*format, {part, "f"});
      } catch (const InputError& e) {
        CHECK_THAT(e.what(), Contains("f"));
      }
    }
}

TEST_CASE("what people call machines") {
  for (const auto& [asked, name] :
       {std::pair("h100", "dgx_h100"), std::pair("H100:2", "dgx_h100:2"),
        std::pair("dgx-h100", "dgx_h100"), std::pair("b200", "dgx_b200"),
        std::pair("nvl72", "gb200_nvl72"), std::pair("a100:3", "hgx_a100:3"),
        std::pair("p5:2", "dgx_h100:2,nic=efa"),
        std::pair("p4d:2", "hgx_a100:2,nics=4x12.5GB/s,nic=efa"),
        std::pair("p4d:2,nic=rdma", "hgx_a100:2,nics=4x12.5GB/s,nic=rdma"),
        std::pair("dgx_a100:4", "dgx_a100_rail:4"), std::pair("dgx_a100", "dgx_a100"),
        std::pair("dgx1:2", "dgx1x2"), std::pair("mi250x:2", "mi250x_x2"),
        std::pair("v100", "dgx1")}) {
    CAPTURE(asked);
    CHECK(make_topology(asked).name() == name);
  }
  CHECK_THAT(message_of([] { (void)make_topology("hl00"); }), Contains("did you mean \"h100\""));
  CHECK_THAT(message_of([] { (void)make_topology("dgx1:9"); }), Contains("takes no numbers"));
}

TEST_CASE("every other name stands for something") {
  for (const TopologyAlias& alias : topology_aliases()) {
    CAPTURE(alias.name);
    const Topology topology = make_topology(std::string(alias.name) + ":2");
    CHECK(topology.npu_count() >= 2);
    CHECK_FALSE(topology.parts().npu_model.empty());
  }
}

TEST_CASE("servers that differ stand side by side on one fabric") {
  const Topology both = make_topology("a100:2+h100:1");
  CHECK(both.name() == "a100:2+h100:1");
  CHECK(both.npu_count() == 24);
  CHECK(both.parts().npu_model == "a100"); // the oldest, by which NCCL goes
  CHECK(rate(both, "npu0", "nvswitch0") == Approx(300));
  CHECK(rate(both, "npu16", "nvswitch0_1") == Approx(450));
  CHECK(rate(both, "npu8", "fabric") == Approx(25));
  CHECK(rate(both, "npu23", "fabric") == Approx(50));
  CHECK(both.node_count() == 24 + 3 + 1);
  CHECK(both.coordinate(NodeId{17})[0] == 1);
  CHECK(both.coordinate(NodeId{17})[1] == 2);
  const TemporaryFolder folder;
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder.file(name)) << text;
    return folder.file(name);
  };
  const std::string four = write("four.xml", bare("link_speed=\"16 GT/s\"")),
                    rows = write("two.txt", "\tGPU0\tGPU1\tNIC0\nGPU0\tX\tNV12\tPIX\n"
                                            "GPU1\tNV12\tX\tPIX\nNIC0\tPIX\tPIX\tX\n");
  const Topology files = make_topology(four + "+" + rows + ":2");
  CHECK(files.npu_count() == 8);
  CHECK(files.parts().shape == std::vector<int>{4, 3});
  CHECK(count_of(files, "fabric") == 1);
  CHECK(make_topology(four + "+" + rows + ",without=npu0").npu_count() == 5);
  CHECK_THAT(message_of([] { (void)make_topology("h100+dgx1"); }), Contains("takes no numbers"));
  CHECK_THAT(message_of([] { (void)make_topology("h100+ring:4"); }), Contains("fabric"));
}

} // namespace owned_servers_test
