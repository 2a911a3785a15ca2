// What is odd in networks: each rule on a server or network with one fault, in words with its place
// and silent on the same without it; what healthy networks of all kinds have is no fault.
#include "tests/catch.hpp"
#include "topologies/import/list.hpp"
#include "topologies/lint/lint.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace lint_test {

using namespace tutti;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

namespace {

/// What is to be changed of an element of the dump below.
struct Fault {
  std::string before, after;
};

/// Two CPUs, at each a card and two GPUs of 18 NVLinks, one element a line.
std::string dump(const std::vector<Fault>& faults = {}) {
  std::string text = "<system version=\"1\">\n";
  for (int cpu = 0; cpu < 2; ++cpu) {
    text += fmt::format(
        "<cpu numaid=\"{}\" arch=\"x86_64\" vendor=\"GenuineIntel\" modelid=\"207\">\n", cpu);
    for (int g = 2 * cpu; g < 2 * cpu + 2; ++g)
      text += fmt::format("<pci busid=\"0000:{0}1:00.0\" link_speed=\"32.0 GT/s PCIe\" "
                          "link_width=\"16\">\n"
                          "<gpu dev=\"{0}\" sm=\"90\" rank=\"{0}\" gdr=\"1\">\n"
                          "<nvlink target=\"s{0}\" count=\"18\" tclass=\"0x068000\"/>\n"
                          "</gpu></pci>\n",
                          g);
    text += fmt::format("<pci busid=\"0000:{0}8:00.0\" link_speed=\"32.0 GT/s PCIe\" "
                        "link_width=\"16\">\n"
                        "<nic><net name=\"mlx5_{0}\" dev=\"{0}\" speed=\"200000\" port=\"1\" "
                        "guid=\"0x{0}1\" gdr=\"1\"/></nic></pci></cpu>\n",
                        cpu);
  }
  text += "</system>\n";
  for (const auto& [before, after] : faults) {
    const std::size_t at = text.find(before);
    REQUIRE(at != std::string::npos);
    text.replace(at, before.size(), after);
  }
  return text;
}

Topology read(const std::string& text, std::int64_t servers = 1) {
  const topologies::ForeignFormat* format = topologies::foreign_format(text);
  REQUIRE(format != nullptr);
  return topologies::read_foreign(*format, {text, "f", servers});
}

std::vector<Finding> odd(const std::vector<Fault>& faults) {
  return read(dump(faults)).parts().odd;
}

using Findings = std::vector<Finding>;

/// `ring:8` or another network, with one thing changed.
Findings of_changed(const std::string& network, const std::function<void(TopologyParts&)>& change) {
  TopologyParts parts = make_topology(network).parts();
  change(parts);
  return lint(Topology(parts));
}

} // namespace

TEST_CASE("a healthy server has nothing odd, nor has it as one of several") {
  CHECK(odd({}).empty());
  CHECK(lint(read(dump())).empty());
  CHECK(lint(read(dump(), 2)).empty());
}

TEST_CASE("a GPU that differs from its siblings is named with its line") {
  const std::string gpu = "f:8: GPU 1 (dev 1, rank 1, busid 0000:11:00.0)";
  const std::string nvlink = "<nvlink target=\"s1\" count=\"18\" tclass=\"0x068000\"/>";
  const Findings none{{"unequal-links", gpu + " has no NVLink; the 3 others have 18"}};
  CHECK(odd({{nvlink, ""}}) == none);
  CHECK(odd({{nvlink, "<nvlink target=\"s1\" count=\"0\" tclass=\"0x068000\"/>"}}) == none);
  // What the file has broken is told once, and of several servers, too.
  CHECK(lint(read(dump({{nvlink, ""}}), 2)) == none);
  CHECK(odd({{nvlink, "<nvlink target=\"s1\" count=\"17\" tclass=\"0x068000\"/>"}}) ==
        Findings{{"unequal-links", gpu + " has 17 NVLinks; the 3 others have 18"}});
  CHECK(odd({{nvlink, ""}, {"<nvlink target=\"s0\" count=\"18\" tclass=\"0x068000\"/>", ""}})
            .front()
            .words == "f:4: GPU 0 (dev 0, rank 0, busid 0000:01:00.0) has no NVLink; 2 of the 3 "
                      "others have 18");
  CHECK(odd({{"dev=\"1\" sm=\"90\"", "dev=\"1\" sm=\"80\""}}) ==
        Findings{{"unequal-gpus", gpu + " is sm 80; the 3 others are sm 90"}});
  // 8 lanes of 32 GT/s, 128 of 130 bits, make 31.5 GB/s.
  const Findings slow = odd({{"11:00.0\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\"",
                              "11:00.0\" link_speed=\"32.0 GT/s PCIe\" link_width=\"8\""}});
  REQUIRE(slow.size() == 1);
  CHECK(slow.front().rule == "unequal-pcie");
  CHECK_THAT(slow.front().words, ContainsSubstring(gpu + " has 31.51 GB/s of PCIe; the 3 others"));
}

TEST_CASE("links that lead nowhere are none of a GPU's, those to GPUs without a rank are") {
  const Fault to_nothing{"count=\"18\" tclass=\"0x068000\"/>\n</gpu></pci>\n<pci busid=\"0000:11",
                         "count=\"13\" tclass=\"0x068000\"/><nvlink target=\"s9\" count=\"5\""
                         "/>\n</gpu></pci>\n<pci busid=\"0000:11"};
  const std::string gpu = "f:4: GPU 0 (dev 0, rank 0, busid 0000:01:00.0)";
  const Findings fewer{{"unequal-links", gpu + " has 13 NVLinks; the 3 others have 18"}};
  CHECK(odd({to_nothing}) == fewer);
  const auto of_class = [&](const std::string& tclass) {
    return odd({to_nothing, {"count=\"5\"/>", "count=\"5\" tclass=\"" + tclass + "\"/>"}});
  };
  CHECK(of_class("0x068009") == fewer);
  CHECK(of_class("0x030200").empty());
}

TEST_CASE("PCIe is narrow wherever it is between a GPU and its CPU") {
  const auto above = [](int cpu, const std::string& width) { // a switch, of which a GPU is below
    const std::string pci = fmt::format("<pci busid=\"0000:{}1:00.0\"", 2 * cpu);
    const std::string card = fmt::format("guid=\"0x{}1\" gdr=\"1\"/></nic></pci>", cpu);
    return std::vector<Fault>{{pci, fmt::format("<pci busid=\"0000:{}0:00.0\" link_speed=\"32.0 "
                                                "GT/s PCIe\" link_width=\"{}\">{}",
                                                2 * cpu, width, pci)},
                              {card, card + "</pci>"}};
  };
  std::vector<Fault> faults = above(0, "16");
  for (const Fault& fault : above(1, "16")) faults.push_back(fault);
  CHECK(odd(faults).empty());
  faults[2] = above(1, "1")[0];
  const Findings narrow = odd(faults);
  REQUIRE(narrow.size() == 2); // both GPUs below
  CHECK(narrow[0] == Finding{"unequal-pcie", "f:15: GPU 2 (dev 2, rank 2, busid 0000:21:00.0) has "
                                             "3.938 GB/s of PCIe; 2 of the 3 others have 63.02 "
                                             "GB/s"});
}

TEST_CASE("a GPU that doesn't say what it is is told, and is what its siblings are") {
  const Topology server = read(dump({{"dev=\"0\" sm=\"90\"", "dev=\"0\""}}));
  CHECK(server.parts().odd ==
        Findings{{"unequal-gpus", "f:4: GPU 0 (dev 0, rank 0, busid 0000:01:00.0) is of unknown "
                                  "kind; the 3 others are sm 90"}});
  CHECK(server.parts().npu_model == "h100");
  CHECK(std::ranges::none_of(server.parts().assumed, [](const std::string& line) {
    return line.find("sm 0") != std::string::npos;
  }));
}

TEST_CASE("a width that no link has is told once, with how often; width and speed may be unknown") {
  const Fault zero{"link_width=\"16\"", "link_width=\"0\""};
  CHECK(odd({zero, zero}) ==
        Findings{{"unknown-values",
                  "f:3: link_width \"0\" of <pci> 0000:01:00.0 and 1 more: taken for 16 lanes"}});
  CHECK(odd({{"speed=\"200000\"", "speed=\"-1\""}}).front().words ==
        "f:12: speed \"-1\" of <net> mlx5_0: taken for 10 Gb/s");
  Findings unknown = odd({{"32.0 GT/s PCIe\" link_width=\"16\"", "\" link_width=\"0\""}});
  std::erase_if(unknown, [](const Finding& each) { return each.rule == "unequal-pcie"; });
  CHECK(unknown.empty());
}

TEST_CASE("cards are told where they are far, and once where they are listed twice") {
  const Fault as_first{"name=\"mlx5_1\" dev=\"1\" speed=\"200000\" port=\"1\" guid=\"0x11\"",
                       "name=\"mlx5_0\" dev=\"0\" speed=\"200000\" port=\"1\" guid=\"0x01\""};
  CHECK(odd({as_first}) ==
        Findings{{"listed-twice", "f:23: card mlx5_0 (dev 0) is listed again, first at f:12: it "
                                  "counts once"}});
  // Both cards at the first CPU.
  const std::string second = "</nic></pci></cpu>\n<cpu numaid=\"1\"";
  Findings far = odd({{second, "<net name=\"mlx5_2\" dev=\"2\" speed=\"200000\"/>" + second},
                      {"<net name=\"mlx5_1\" dev=\"1\" speed=\"200000\" port=\"1\" guid=\"0x11\" "
                       "gdr=\"1\"/>",
                       ""}});
  REQUIRE(far.size() == 1);
  CHECK(far.front() == Finding{"far-cards",
                               "f:15: GPU 2 (dev 2, rank 2, busid 0000:21:00.0) and 1 more have no "
                               "network card at their CPU: the nearest one is across sockets"});
}

TEST_CASE("links that one side lists, and ranks on one GPU") {
  const auto lists = [](int from, const std::string& to) {
    return Fault{fmt::format("<nvlink target=\"s{}\" count=\"18\" tclass=\"0x068000\"/>", from),
                 to};
  };
  const std::string from0 = "<nvlink target=\"0000:11:00.0\" count=\"2\" tclass=\"0x030200\"/>"
                            "<nvlink target=\"s0\" count=\"16\" tclass=\"0x068000\"/>";
  const std::string from1 = "<nvlink target=\"0000:01:00.0\" count=\"1\" tclass=\"0x030200\"/>"
                            "<nvlink target=\"s1\" count=\"17\" tclass=\"0x068000\"/>";
  const std::string gpu0 = "f:4: GPU 0 (dev 0, rank 0, busid 0000:01:00.0)";
  const std::string gpu1 = "GPU 1 (dev 1, rank 1, busid 0000:11:00.0)";
  CHECK(odd({lists(0, from0)}) == Findings{{"one-way-links", gpu0 + " lists 2 NVLinks to " + gpu1 +
                                                                 ", which lists none back"}});
  CHECK(odd({lists(0, from0), lists(1, from1)}) ==
        Findings{
            {"unequal-directions", gpu0 + " lists 2 NVLinks to " + gpu1 + ", which lists 1 back"}});
}

TEST_CASE("partitions of a GPU have each a part of its NVLinks, and one PCIe together") {
  const auto two = [](const std::string& part, int rank) {
    return fmt::format("<gpu dev=\"0\" sm=\"100\" {} rank=\"{}\"><nvlink target=\"s\" count=\"18\" "
                       "tclass=\"0x068000\"/></gpu>",
                       part, rank);
  };
  const auto server = [&](const std::string& a, const std::string& b) {
    return read("<system version=\"1\">\n<cpu numaid=\"0\" arch=\"x86_64\">\n<pci "
                "busid=\"0000:1b:00.0\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\">\n" +
                two(a, 0) + "\n" + two(b, 1) + "\n</pci></cpu></system>\n");
  };
  const auto rate = [](const Topology& network, const std::string& from, const std::string& to) {
    for (const Link& link : network.links())
      if (network.node(link.from).name == from && network.node(link.to).name == to)
        return link.bandwidth.bytes_per_second / 1'000'000'000;
    return std::int64_t{0};
  };
  const auto groups = [](const Topology& network) {
    std::vector<std::pair<std::size_t, std::int64_t>> found;
    for (const SharedGroup& group : network.groups())
      if (!group.name.starts_with("memory"))
        found.emplace_back(group.links.size(), group.bandwidth.bytes_per_second / 1'000'000'000);
    return found;
  };
  const Topology split = server("mlopart=\"0\"", "mlopart=\"1\"");
  CHECK(rate(split, "npu0", "nvswitch") == 450); // 18 * 50 GB/s / 2
  CHECK(rate(split, "nvswitch", "npu1") == 450);
  CHECK(rate(split, "npu0", "npu1") == 2618);
  CHECK(rate(split, "npu1", "npu0") == 2618);
  CHECK(groups(split) == std::vector<std::pair<std::size_t, std::int64_t>>{{2, 63}, {2, 63}});
  CHECK(
      split.parts().odd ==
      Findings{{"shared-gpus",
                "f:4: GPU 0 (dev 0, rank 0, busid 0000:1b:00.0) is one GPU with GPU 1 (dev 0, rank "
                "1, busid 0000:1b:00.0): they share its links"}});
  // Ranks of one GPU that isn't split have all of its NVLinks, and have them in common.
  const Topology whole = server("", "");
  CHECK(rate(whole, "npu0", "nvswitch") == 900);
  CHECK(rate(whole, "npu0", "npu1") == 5000);
  CHECK(groups(whole) ==
        std::vector<std::pair<std::size_t, std::int64_t>>{{2, 63}, {2, 63}, {2, 900}, {2, 900}});
}

TEST_CASE("nvidia-smi's matrix: a GPU without NVLink") {
  const std::string matrix = "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\n"
                             "GPU0\t X \tNV12\tNV12\tSYS\t0-31\n"
                             "GPU1\tNV12\t X \tNV12\tSYS\t0-31\n"
                             "GPU2\tNV12\tNV12\t X \tPHB\t32-63\n"
                             "GPU3\tSYS\tSYS\tPHB\t X \t32-63\n";
  CHECK(read(matrix).parts().odd ==
        Findings{{"unequal-links", "f:5: GPU3 has no NVLink; the 3 others have 12"}});
}

TEST_CASE("networks: one NPU with fewer links, a lost direction, a slow one") {
  const auto drop_last = [](TopologyParts& parts) { parts.links.pop_back(); };
  // The last link of a switch is its way to the last NPU, whose way up stays.
  CHECK(of_changed("switch:8", drop_last) ==
        Findings{{"unequal-links", "npu7 has 1 link out and 0 in of dimension 0; the 7 others have "
                                   "1"},
                 {"one-way-links", "npu7>switch0 has no link back"},
                 {"parts-apart", "2 parts with no way there and back between them: npu0 and 6 "
                                 "more; npu7"}});
  const Findings lost = of_changed("switch:8", [](TopologyParts& parts) {
    std::erase_if(parts.links, [](const Link& link) {
      return std::max(link.from, link.to) == NodeId{8} && std::min(link.from, link.to) == NodeId{7};
    });
  });
  REQUIRE(lost.size() == 2);
  CHECK(lost.front().rule == "unequal-links");
  CHECK(lost.back().rule == "parts-apart");
  CHECK_THAT(lost.front().words, StartsWith("npu7 has no links"));
  CHECK_THAT(lost.front().words, EndsWith("; the 7 others have 1"));
  const Findings slow = of_changed("ring:8", [](TopologyParts& parts) {
    parts.links.front().bandwidth = Bandwidth{25'000'000'000};
  });
  REQUIRE(slow.size() == 1);
  CHECK(slow.front().rule == "unequal-directions");
  CHECK_THAT(slow.front().words, ContainsSubstring("between npu0 and npu1: 25GB/s and"));
}

TEST_CASE("directions differ by more than 1 %, times by more than 1 ns, too") {
  const auto rules = [](std::int64_t rate, std::int64_t ps) { // of 100 GB/s and 500 ns
    return of_changed("ring:8,bandwidth=100GB/s,latency=500ns",
                      [&](TopologyParts& parts) {
                        parts.links.front().bandwidth.bytes_per_second -= rate;
                        parts.links.front().latency.ps += ps;
                      })
        .size();
  };
  CHECK(rules(1, 0) == 0);
  CHECK(rules(1'000'000'000, 5'000) == 0); // 5 ns of 505
  CHECK(rules(1'000'000'001, 0) == 1);
  CHECK(rules(0, 6'000) == 1);
  const auto short_links = [](std::int64_t ps) {
    return of_changed("ring:8,latency=10ns",
                      [&](TopologyParts& parts) { parts.links.front().latency.ps += ps; })
        .size();
  };
  CHECK(short_links(1'000) == 0);
  CHECK(short_links(1'001) == 1);
}

TEST_CASE("a network in parts: each is named by its first NPU") {
  const std::string head = "from,to,bandwidth,latency\n";
  const auto row = [](int from) { return fmt::format("npu{},npu{},50GB/s,1us\n", from, from + 1); };
  const auto apart = [](const std::string& csv) {
    Findings found = lint(read(csv));
    return found.empty() ? std::string() : found.front().rule + ": " + found.front().words;
  };
  CHECK(apart(head + row(0) + row(1)).empty());
  const std::string words = " parts with no way there and back between them: ";
  CHECK(apart(head + row(0) + row(1) + row(3)) ==
        "parts-apart: 2" + words + "npu0 and 2 more; npu3 and 1 more");
  CHECK(apart(head + row(0) + row(2) + row(4) + row(6) + row(8)) ==
        "parts-apart: 5" + words +
            "npu0 and 1 more; npu2 and 1 more; npu4 and 1 more; npu6 and 1 more; ...");
}

TEST_CASE("nothing is odd in machines and families, whatever their shape") {
  for (const Machine& machine : machines()) {
    CAPTURE(machine.name);
    CHECK(lint(make_topology(machine.name)).empty());
  }
  for (const char* network :
       {"ring:8", "ring:8,directions=1", "ring:3", "mesh2d:2x2", "mesh2d:3x3", "mesh2d:4x5",
        "torus2d:3x4", "switch:5", "fully_connected:6", "hypercube:3", "fat_tree:4",
        "dragonfly:4x5", "random:12,degree=3,seed=2", "k_ary_tree:2x3"}) {
    CAPTURE(network);
    try {
      CHECK(lint(make_topology(network)).empty());
    } catch (const std::exception& e) {
      FAIL(e.what());
    }
  }
}

TEST_CASE("what crosses rails, and what goes around NVLink, is named with its channels") {
  const auto way = [](const Topology& t, std::optional<std::uint32_t> channel,
                      const std::vector<std::string>& nodes) {
    SentWay made{channel, {}};
    for (std::size_t i = 0; i + 1 < nodes.size(); ++i)
      for (const LinkId l : t.out_links(t.find_node(nodes[i])))
        if (t.node(t.link(l).to).name == nodes[i + 1]) made.links.push_back(l);
    REQUIRE(made.links.size() + 1 == nodes.size());
    return made;
  };
  const Topology one = make_topology("dgx_h100:2,fabric=switch");
  const std::vector<SentWay> kept{way(one, 0, {"npu3", "fabric", "npu11"}),
                                  way(one, 1, {"npu3", "nvswitch0", "npu4"})};
  CHECK(audit(one, kept, "x").empty());
  const std::vector<SentWay> crossed{way(one, 2, {"npu3", "fabric", "npu12"}),
                                     way(one, 5, {"npu3", "fabric", "npu12"})};
  const std::vector<Finding> found = audit(one, crossed, "rings");
  REQUIRE(found.size() == 1);
  CHECK(found[0] == Finding{"crossed-rails",
                            "rings, channels 2, 5: npu3>npu12 leaves by card 3 (to "
                            "fabric) and comes in by card 4 (from fabric)"});
  const Topology a100 = make_topology("dgx_a100_rail:2");
  const std::vector<SentWay> around{way(a100, {}, {"npu0", "pcie0_0", "npu1"})};
  REQUIRE(audit(a100, around, "f.xml").size() == 1);
  CHECK(audit(a100, around, "f.xml")[0] ==
        Finding{"around-nvlink", "f.xml: npu0>npu1 goes by npu0>pcie0_0, though both have NVLink"});
}

TEST_CASE("each rule has a name of its own, and something to check") {
  for (const LintRule& rule : lint_rules()) {
    CAPTURE(rule.name);
    CHECK(std::ranges::count(lint_rules(), rule.name, &LintRule::name) == 1);
    CHECK((rule.check_server != nullptr || rule.check_network != nullptr ||
           rule.name == "crossed-rails" || rule.name == "around-nvlink"));
  }
}

} // namespace lint_test
