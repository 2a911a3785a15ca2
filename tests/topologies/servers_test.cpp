// Servers as NCCL, RCCL and nvidia-smi see them: what their files say, counted by hand; what is
// assumed; several of a kind; and what is wrong, with its place. Published files are read where
// they are, and counted by a look at their text alone.
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/paths.hpp"
#include "tests/topologies/damaged.hpp"
#include "topologies/import/list.hpp"
#include "topologies/list.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace servers_test {

using namespace tutti;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

using Options = std::map<std::string, std::string, std::less<>>;

Topology server(const std::string& text, std::string_view format, std::int64_t nodes = 1,
                const Options& options = {}) {
  const topologies::ForeignFormat* found = topologies::foreign_format(text);
  REQUIRE(found != nullptr);
  CHECK(found->name == format);
  topologies::ForeignFile file{text, "f", nodes};
  file.options = options;
  return topologies::read_foreign(*found, file);
}

std::string refused_server(const std::string& text, std::string_view format, std::int64_t nodes = 1,
                           const Options& options = {}) {
  return message_of([&] { (void)server(text, format, nodes, options); });
}

// Two CPUs; at each a switch of PCIe with two GPUs and a card, whose GPUs have six NVLinks each.
const std::string dump = R"(<system version="1">
  <cpu numaid="0" arch="x86_64" vendor="AuthenticAMD" familyid="143" modelid="49">
    <pci busid="0000:01:00.0" class="0x060400" vendor="0x1000" device="0xc010"
        link_speed="16.0 GT/s PCIe" link_width="16">
      <pci busid="0000:02:00.0" class="0x060400" vendor="0x1000" device="0xc010"
          link_speed="16.0 GT/s PCIe" link_width="16">
        <pci busid="0000:07:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="16">
          <gpu dev="0" sm="80" rank="1" gdr="1">
            <nvlink target="0000:c7:00.0" count="4" tclass="0x068000"/>
            <nvlink target="0000:C6:00.0" count="2" tclass="0x068000"/>
          </gpu>
        </pci>
        <pci busid="0000:08:00.0" class="0x030200" link_speed="16.0 GT/s PCIe" link_width="8">
          <gpu dev="1" sm="80" rank="0" gdr="1">
            <nvlink target="0000:c7:00.0" count="6" tclass="0x068000"/>
          </gpu>
        </pci>
      </pci>
      <pci busid="0000:0c:00.0" class="0x020700" link_speed="8.0 GT/s PCIe" link_width="16">
        <nic>
          <net name="mlx5_0" dev="0" speed="200000" port="1" latency="0.000000" gdr="1"/>
          <net name="mlx5_1" dev="1" speed="100000" port="2" latency="2.5" gdr="1"/>
        </nic>
      </pci>
    </pci>
  </cpu>
  <cpu numaid="1" arch="x86_64" vendor="AuthenticAMD" familyid="143" modelid="49">
    <pci busid="0000:41:00.0" class="0x060400" link_speed="16.0 GT/s PCIe" link_width="16">
      <pci busid="0000:43:00.0" class="0x030200" link_speed="" link_width="0">
        <gpu dev="2" sm="80" rank="2" gdr="1">
          <nvlink target="0000:c7:00.0" count="6" tclass="0x068000"/>
        </gpu>
      </pci>
      <pci busid="0000:44:00.0" class="0x020700" link_speed="16.0 GT/s PCIe" link_width="16">
        <nic><net name="mlx5_2" dev="2" speed="200000" port="1" gdr="1"/></nic>
      </pci>
    </pci>
  </cpu>
</system>
)";

const std::string mesh = R"(<system version="2">
  <cpu numaid="0" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="0000:0c:00.0" class="0x120000" device="0x74a1"
        link_speed="32.0 GT/s PCIe" link_width="16">
      <gpu dev="0" sm="304" gcn="gfx942" rank="0" gdr="1">
        <xgmi target="0000:0d:00.0" count="1" tclass="0x120000"/>
        <xgmi target="0000:0e:00.0" count="2" tclass="0x120000"/>
      </gpu>
    </pci>
    <pci busid="0000:0d:00.0" class="0x120000" device="0x74a1"
        link_speed="32.0 GT/s PCIe" link_width="16">
      <gpu dev="1" sm="304" gcn="gfx942" rank="1" gdr="1">
        <xgmi target="0000:0c:00.0" count="1" tclass="0x120000"/>
      </gpu>
    </pci>
  </cpu>
</system>
)";

const std::string matrix = "\t\x1b[4mGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tNIC1\tCPU Affinity\tNUMA "
                           "Affinity\tGPU NUMA ID\x1b[0m\n"
                           "GPU0\t X \tNV12\tNV12\tNV12\tPXB\tSYS\t0-31\t0\t\tN/A\n"
                           "GPU1\tNV12\t X \tNV12\tNV12\tPXB\tSYS\t0-31\t0\t\tN/A\n"
                           "GPU2\tNV12\tNV12\t X \tNV12\tSYS\tPXB\t32-63\t1\t\tN/A\n"
                           "GPU3\tNV12\tNV12\tNV12\t X \tSYS\tPIX\t32-63\t1\t\tN/A\n"
                           "NIC0\tPXB\tPXB\tSYS\tSYS\t X \tSYS\t\t\t\t\n"
                           "NIC1\tSYS\tSYS\tPXB\tPIX\tSYS\t X \t\t\t\t\n"
                           "\nLegend:\n\n  X    = Self\n  NV#  = a bonded set of # NVLinks\n\n"
                           "NIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_3\n";

struct Sum {
  std::size_t links = 0;
  std::int64_t total = 0; ///< bytes/s
  bool operator==(const Sum&) const = default;
};

/// Of the links between nodes whose names begin so, both ways.
Sum between_kinds(const Topology& network, std::string_view a, std::string_view b) {
  Sum sum;
  for (const Link& link : network.links()) {
    const std::string &from = network.node(link.from).name, &to = network.node(link.to).name;
    if (!(from.starts_with(a) && to.starts_with(b)) && !(from.starts_with(b) && to.starts_with(a)))
      continue;
    ++sum.links;
    sum.total += link.bandwidth.bytes_per_second;
  }
  return sum;
}

bool is_assumed(const Topology& network, std::string_view begin) {
  return std::ranges::any_of(network.parts().assumed,
                             [&](const std::string& line) { return line.starts_with(begin); });
}

std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

constexpr std::int64_t giga = 1'000'000'000;
// 128 of 130 bits carry data: 16 and 8 lanes of 16 GT/s, 16 lanes of 8 GT/s.
constexpr std::int64_t gen4 = 31'507'692'308, gen4_half = 15'753'846'154, gen3 = 15'753'846'154;

} // namespace

TEST_CASE("a dump of NCCL's: GPUs by rank, NVSwitch, the tree of PCIe, cards with their ports") {
  const Topology one = server(dump, "nccl");
  CHECK(one.npu_count() == 3);
  CHECK(one.parts().npu_model == "a100");
  // One of Broadcom's switches, though it looks like two; the other CPU's; no wires.
  CHECK(between_kinds(one, "cpu", "pcie") == Sum{4, 2 * gen4 + 2 * gen4});
  CHECK(between_kinds(one, "pcie0", "pcie1") == Sum{});
  // Rank 0 has 8 lanes; the last GPU says nothing of its lanes.
  CHECK(between_kinds(one, "npu0", "pcie") == Sum{2, 2 * gen4_half});
  CHECK(between_kinds(one, "npu1", "pcie0") == Sum{2, 2 * gen4});
  CHECK(between_kinds(one, "npu2", "pcie1") == Sum{2, 2 * gen3});
  CHECK(is_assumed(one, "PCIe without a speed"));
  CHECK(between_kinds(one, "pcie", "nic-mlx5_0") == Sum{2, 2 * gen3});
  CHECK(between_kinds(one, "npu", "nvswitch") == Sum{6, 6 * 6 * 25 * giga});
  CHECK(is_assumed(one, "one NVLink 3: 25GB/s"));
  CHECK(between_kinds(one, "cpu0", "cpu1") == Sum{2, 2 * 16 * giga});
  CHECK(one.groups().empty()); // from device to device no CPU's memory is passed
  CHECK(one.part_of(one.out_links(NodeId{0})[0]) == "rdma"); // PCIe beside NVLink
}

TEST_CASE("several servers are cabled by rails, or as they are told") {
  const Topology two = server(dump, "nccl", 2);
  CHECK(two.npu_count() == 6);
  CHECK(two.shape()[0] == 3);
  CHECK(two.coordinate(NodeId{4})[0] == 1);
  CHECK(two.coordinate(NodeId{4})[1] == 1);
  // Three ports each: two of a card, which share its PCIe.
  CHECK(between_kinds(two, "nic", "rail") == Sum{12, 2 * 2 * (25 + 25) * giga + 4 * 25 * giga / 2});
  CHECK(between_kinds(two, "npu", "nvswitch") == Sum{12, 12 * 150 * giga});
  for (const Link& link : two.links())
    if (link.dimension == 1 && link.bandwidth.bytes_per_second == 25 * giga / 2)
      CHECK(link.latency == Time{2'500'000}); // as the file has it
  const Topology one_switch = server(dump, "nccl", 2, {{"fabric", "switch"}});
  CHECK(between_kinds(one_switch, "nic", "fabric").links == 12);
  const Topology others = server(dump, "nccl", 4, {{"nics", "3x50GB/s"}, {"nic", "efa"}});
  CHECK(between_kinds(others, "nic", "rail") == Sum{24, 24 * 50 * giga});
  CHECK(between_kinds(others, "nic-mlx5", "pcie") == Sum{});
  CHECK(others.part_of(others.out_links(others.find_node("nic0.1"))[1]) == "efa");

  CHECK_THAT(refused_server(mesh, "nccl", 2), Contains("f:2,nics=2x50GB/s"));
  CHECK(refused_server(dump, "nccl", 2, {{"nics", "2"}}) ==
        "f: 2 NICs for 3 GPUs: neither divides the other");
  CHECK_THAT(refused_server(dump, "nccl", 1, {{"fabric", "rial"}}),
             StartsWith("f: unknown fabric \"rial\" (known: rails, switch"));
  CHECK_THAT(refused_server(dump, "nccl", 5000), StartsWith("f:5000: at most 4096 servers"));
}

TEST_CASE("RCCL's dump: xGMI as each GPU says it, links to GPUs outside the file left out") {
  const Topology one = server(mesh, "nccl");
  CHECK(one.parts().npu_model == "mi300x");
  CHECK(between_kinds(one, "npu0", "npu1") == Sum{2, 2 * 64 * giga});
  CHECK(one.link_count() == 2 + 4);
  CHECK(is_assumed(one, "links to what isn't in the file"));
  CHECK(one.part_of(LinkId{4}) == "xgmi3");
}

TEST_CASE("a dump that says more links than there are, or one end of one, is told") {
  CHECK(is_assumed(server(replaced(mesh, "count=\"1\"", "count=\"99\""), "nccl"),
                   "links of GPUs: as many as the file has"));
  const std::string one_end =
      "<system><cpu numaid=\"0\"><pci busid=\"a\"><gpu sm=\"80\" rank=\"0\">"
      "<nvlink target=\"b\" count=\"4\"/></gpu></pci>"
      "<pci busid=\"b\" link_speed=\"16.0 GT/s PCIe\" link_width=\"63\">"
      "<gpu sm=\"80\" rank=\"1\"/></pci></cpu></system>";
  const Topology told = server(one_end, "nccl");
  CHECK(between_kinds(told, "npu0", "npu1").links == 1);
  CHECK(is_assumed(told, "links that only one of two GPUs lists: they lead one way"));
  CHECK(is_assumed(told, "PCIe without a width")); // nothing is 63 wide, and the generation stays
  CHECK(between_kinds(told, "npu1", "cpu").total == 2 * gen4);
  CHECK_THAT(refused_server(mesh, "nccl", 1, {{"nvls", "maybe"}}),
             StartsWith("f: unknown nvls \"maybe\""));
}

TEST_CASE("what a dump can't be is refused with its place") {
  CHECK(refused_server(replaced(dump, "rank=\"0\"", "rank=\"2\""), "nccl") ==
        "f:30:9: a second GPU of rank 2");
  CHECK(refused_server(replaced(dump, "8.0 GT/s", "9.0 GT/s"), "nccl") ==
        "f:19:7: link_speed \"9.0 gt/s pcie\" is none of PCIe (known: 2.5, 5, 8, 16, 32, 64 GT/s)");
  CHECK_THAT(refused_server(replaced(dump, "count=\"4\"", "count=\"4.5\""), "nccl"),
             StartsWith("f:9:13: count: expected a whole number"));
  CHECK_THAT(refused_server(replaced(dump, "speed=\"200000\"", "speed=\"fast\""), "nccl"),
             StartsWith("f:21:11: "));
  CHECK_THAT(refused_server(replaced(dump, "</gpu>", "</gpv>"), "nccl"), StartsWith("f:11:"));
  CHECK(refused_server(dump.substr(0, dump.find("<nic>") + 1), "nccl") ==
        "f:20:9: the XML is broken, or breaks off: Could not determine tag type");
  // NCCL reads whole Mbit/s.
  CHECK(between_kinds(server(replaced(dump, "speed=\"100000\"", "speed=\"0.000001\""), "nccl", 2),
                      "nic",
                      "rail") == Sum{12, 2 * 2 * 25 * giga + 4 * 10 * giga / 8 + 4 * 25 * giga});
  CHECK_THAT(refused_server("<!DOCTYPE system [<!ENTITY a \"b\">]>\n" + dump, "nccl"),
             StartsWith("f:1:1: a document type"));
  CHECK_THAT(refused_server("<system version=\"1\">\n<cpu numaid=\"0\"/>\n</system>\n", "nccl"),
             StartsWith("f: no <gpu>"));
  CHECK_THAT(refused_server("<system>\n<cpu><gpu dev=\"0\" sm=\"80\" rank=\"0\"/></cpu>\n</system>",
                            "nccl"),
             StartsWith("f:2:6: a <gpu> is in a <pci>"));
  std::string deep = "<system><cpu>";
  for (int i = 0; i < 100'000; ++i) deep += "<pci>";
  CHECK_THAT(refused_server(deep, "nccl"), StartsWith("f:1:"));
  std::string closed = deep + "<gpu/>";
  for (int i = 0; i < 100'000; ++i) closed += "</pci>";
  CHECK_THAT(refused_server(closed + "</cpu></system>", "nccl"), Contains("deep"));
}

TEST_CASE("nvidia-smi's matrix: NVSwitch by the number of NVLinks, PCIe by what is near") {
  const Topology one = server(matrix, "nvidia-smi");
  CHECK(one.npu_count() == 4);
  CHECK(one.parts().npu_model == "a100");
  CHECK(between_kinds(one, "npu", "nvswitch") == Sum{8, 8 * 12 * 25 * giga}); // 36 > 12
  CHECK(between_kinds(one, "cpu0", "cpu1").links == 2);
  // A switch for GPUs 0, 1 and NIC 0; one for the others, with one below it for GPU 3 and NIC 1.
  CHECK(between_kinds(one, "npu0", "pcie0").links == 2);
  CHECK(between_kinds(one, "nic-mlx5_0", "pcie0").links == 2);
  CHECK(between_kinds(one, "npu2", "pcie1").links == 2);
  CHECK(between_kinds(one, "pcie1", "pcie2").links == 2);
  CHECK(between_kinds(one, "npu3", "pcie2").links == 2);
  CHECK(between_kinds(one, "nic-mlx5_3", "pcie2") == Sum{2, 2 * gen4});
  CHECK(is_assumed(one, "GPUs: a100, by their NVLinks, 36 of one and up to 12"));
  CHECK(server(matrix, "nvidia-smi", 2).npu_count() == 8);

  std::string few = matrix; // as many as two GPUs can have between them
  for (std::size_t at = few.find("NV12"); at != std::string::npos; at = few.find("NV12"))
    few.replace(at, 4, "NV4");
  const Topology direct = server(few, "nvidia-smi");
  CHECK(between_kinds(direct, "npu", "npu") == Sum{12, 12 * 4 * 25 * giga});
  const Topology b200 = server(few, "nvidia-smi", 1, {{"npu", "b200"}});
  CHECK(between_kinds(b200, "npu0", "npu1") == Sum{2, 2 * 4 * 50 * giga});

  CHECK_THAT(refused_server(replaced(matrix, "GPU1\tNV12", "GPU1\tNV6"), "nvidia-smi"),
             StartsWith("f:3:6: GPU0 and GPU1 say different things of each other"));
  CHECK_THAT(refused_server(replaced(matrix, "PXB\tSYS\t0-31", "PXC\tSYS\t0-31"), "nvidia-smi"),
             StartsWith("f:2:25: unknown \"PXC\""));
  CHECK_THAT(refused_server(replaced(matrix, "NIC1\tSYS", "NIC2\tSYS"), "nvidia-smi"),
             StartsWith("f:1:27: no row NIC1"));
  CHECK(refused_server(replaced(matrix, "NV12", "NV0"), "nvidia-smi") ==
        "f:2:12: 0 is out of range (1 .. 1024)");
  CHECK(refused_server(matrix, "nvidia-smi", 1, {{"npu", "v100"}}) ==
        "f:2:10: 12 NVLinks from GPU0 to one other GPU, and v100 has 6");
  CHECK_THAT(refused_server(matrix, "nvidia-smi", 1, {{"npu", "a10"}}),
             StartsWith("f: unknown npu \"a10\""));
}

TEST_CASE(
    "what nvidia-smi prints counts as itself, however old, and GPUs go by all their NVLinks") {
  const std::string old = "\tGPU0\tGPU1\tmlx5_0\tCPU Affinity\tNUMA Affinity\r\n"
                          "GPU0\t X \tNV4\tPHB\t0-15\t0\r\n"
                          "GPU1\tNV4\t X \tPHB\t0-15\t0\r\n"
                          "mlx5_0\tPHB\tPHB\t X \t\t\r\n";
  const Topology pair = server(old, "nvidia-smi");
  CHECK(pair.parts().npu_model == "a6000");
  CHECK(between_kinds(pair, "npu0", "npu1") == Sum{2, 2 * 4 * 14'062'500'000});
  CHECK(between_kinds(pair, "nic-mlx5_0", "cpu0").links == 2);
  const std::string four = "        GPU0    GPU1    GPU2    GPU3\n"
                           "GPU0     X      NV6     NV6     NV6\n"
                           "GPU1    NV6      X      NV6     NV6\n"
                           "GPU2    NV6     NV6      X      NV6\n"
                           "GPU3    NV6     NV6     NV6      X\n";
  for (const std::string& text : {four, "$ nvidia-smi topo -m\n    " + four}) {
    const Topology mesh_of_four = server(text, "nvidia-smi");
    CHECK(mesh_of_four.parts().npu_model == "h100"); // 3 times 6 is 18
    CHECK(between_kinds(mesh_of_four, "npu", "npu") == Sum{12, 12 * 6 * 25 * giga});
    CHECK(between_kinds(mesh_of_four, "cpu", "cpu").links == 0); // one for all
  }
  const std::string nowhere = "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\n"
                              "GPU0\t X \tNV4\tN/A\tN/A\nGPU1\tNV4\t X \tN/A\tN/A\n";
  CHECK(between_kinds(server(nowhere, "nvidia-smi"), "cpu", "cpu").links == 0);
  const std::string apart = "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\n"
                            "GPU0\t X \tSYS\t0-127\tN/A\nGPU1\tSYS\t X \t0-127\tN/A\n";
  CHECK(between_kinds(server(apart, "nvidia-smi"), "cpu0", "cpu1").links == 2); // SYS says it
}

TEST_CASE("a bus is one of its host, and of one GPU where links lead to it") {
  std::string two = mesh; // the same buses at another host
  const auto replace_all = [](std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
    return text;
  };
  std::string other = replace_all(mesh, "rank=\"0\"", "rank=\"2\"");
  other = replace_all(other, "rank=\"1\"", "rank=\"3\"");
  other = replace_all(other, "<cpu ", "<cpu host_hash=\"0x2\" ");
  two.replace(two.find("</system>"), 10, other.substr(other.find("  <cpu")));
  const Topology hosts = server(two, "nccl");
  CHECK(hosts.npu_count() == 4);
  CHECK(between_kinds(hosts, "npu0", "npu1").links == 2);
  CHECK(between_kinds(hosts, "npu2", "npu3").links == 2);
  CHECK(between_kinds(hosts, "npu2", "npu1").links == 0);
  CHECK(is_assumed(hosts, "hosts: 2 of them"));
  CHECK_THAT(refused_server(replaced(mesh, "0000:0d:00.0\" class", "0000:0c:00.0\" class"), "nccl"),
             StartsWith("f:10:5: a second <pci> of bus 0000:0c:00.0 with a GPU, as at f:3: "));
  // What isn't known has the links of its like, and no name.
  const Topology unknown = server(replaced(dump, "sm=\"80\"", "sm=\"75\""), "nccl");
  CHECK(is_assumed(unknown, "GPUs: all are"));
  CHECK_THAT(refused_server(replace_all(dump, "sm=\"80\"", ""), "nccl"),
             StartsWith("f:14:11: no GPU has an sm (or gcn)"));
  const Topology turing = server(replace_all(dump, "sm=\"80\"", "sm=\"75\""), "nccl");
  CHECK(turing.parts().npu_model.empty());
  CHECK(is_assumed(turing, "links of GPUs: as those of v100"));
}

TEST_CASE("damaged files of servers give a network or an error with its place") {
  std::size_t refused = 0;
  for (const std::string* text : {&dump, &mesh, &matrix})
    refused += refused_when_damaged(*text, " \n\t<>/=\"'&;x0189NV\x1b\x7F", 400, read_if_known);
  CHECK(refused > 100);
}

TEST_CASE("published dumps have as many GPUs, links and cards as their text says") {
  const std::filesystem::path folder =
      std::filesystem::path(TUTTI_SOURCE_DIR) / "../shared/data/topologies/nccl";
  if (!std::filesystem::is_directory(folder)) {
    WARN("left out: published topology files aren't beside the repository");
    return;
  }
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string text = content_of(entry.path());
    INFO(entry.path().filename().string());
    const auto count_of = [&](const char* pattern) {
      const std::regex words(pattern);
      return static_cast<std::size_t>(
          std::distance(std::sregex_iterator(text.begin(), text.end(), words), {}));
    };
    // The sum of all counts, of GPUs' own links, one way.
    std::int64_t own_links = 0;
    const std::regex links("<(nvlink|xgmi) [^>]*count=\"([0-9]+)\"");
    for (auto at = std::sregex_iterator(text.begin(), text.end(), links);
         at != std::sregex_iterator(); ++at)
      own_links += std::stoll((*at)[2]);

    const Topology one = server(text, "nccl");
    CHECK(one.npu_count() == count_of("<gpu "));
    std::size_t cards = 0, cpus = 0;
    for (const Node& node : one.nodes()) {
      cards += node.name.starts_with("nic");
      cpus += node.name.starts_with("cpu");
    }
    CHECK(cards == count_of("<nic>"));
    CHECK(cpus == count_of("<cpu "));
    std::int64_t rate = 0;
    for (const Link& link : one.links())
      if (link.dimension == 0 && one.node(link.from).kind == NodeKind::npu)
        rate += link.bandwidth.bytes_per_second;
    const std::map<std::string, std::int64_t> each{
        {"a100", 25}, {"mi50", 46}, {"mi100", 46}, {"mi250x", 50}, {"mi300x", 64}};
    CHECK(rate == own_links * each.at(one.parts().npu_model) * giga);
    ++files;
  }
  CHECK(files >= 6);
}

} // namespace servers_test
