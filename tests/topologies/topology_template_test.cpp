// Topology files with parameters, and tables in them that stand for many.
#include "topologies/topology_template.hpp"

#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/topologies/same_links.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <string>

namespace topology_template_test {

using namespace tutti;

namespace {

const std::string ring = "npus = \"${nodes}\"\n"
                         "shape = [\"${nodes}\"]\n"
                         "[template]\n"
                         "nodes = 4\n"
                         "bandwidth = \"10GB/s\"\n"
                         "one_way = false\n"
                         "[[links]]\n"
                         "for = { i = \"${nodes}\" }\n"
                         "from = \"npu${i}\"\n"
                         "to = \"npu${mod(i + 1, nodes)}\"\n"
                         "bandwidth = \"${bandwidth}\"\n"
                         "latency = \"${nodes * 100}ns\"\n"
                         "directed = \"${one_way}\"\n"
                         "dimension = 0\n";

Topology made(const std::string& toml, const std::string& parameters = "") {
  const TemporaryFolder folder;
  write_file(folder.file("f.toml"), toml);
  return make_topology(folder.file("f.toml") + parameters);
}

/// Without the path before the file's name.
std::string refusal(const std::string& toml, const std::string& parameters = "") {
  const std::string message = message_of([&] { (void)made(toml, parameters); });
  return message.substr(std::min(message.find("f.toml"), message.size()));
}

/// A file with one loop, whose values it makes into names of switches.
std::string loops(const std::string& loop, const std::string& name, const std::string& head = "") {
  return "npus = 2\n" + head + "[[nodes]]\nfor = " + loop + "\nname = \"" + name +
         "\"\nkind = \"switch\"\n";
}

std::string switch_names(const Topology& topology) {
  std::string names;
  for (const Node& node : topology.nodes())
    if (node.kind == NodeKind::switching) names += (names.empty() ? "" : " ") + node.name;
  return names;
}

} // namespace

TEST_CASE("a parameter has the file's value, or the text's") {
  CHECK(have_same_links(made(ring), make_topology("ring:4,bandwidth=10GB/s,latency=400ns")));
  CHECK(have_same_links(made(ring, ":nodes=7"),
                        make_topology("ring:7,bandwidth=10GB/s,latency=0.7us")));
  CHECK(have_same_links(
      made(ring, ":nodes=5,bandwidth=1GiB/s,one_way=true,without=npu3"),
      make_topology("ring:5,bandwidth=1GiB/s,latency=500ns,directions=1,without=npu3")));
  CHECK(made(ring).name() == "f");
  CHECK(made(ring, ",bandwidth=1GB/s,nodes=3,without=npu0").name() ==
        "f:bandwidth=1GB/s,nodes=3,without=npu0");
  // A parameter of the file goes before Tutti's key of the same name, and the other one stays.
  CHECK(made(ring, ",latency=3us").link(LinkId{0}).latency == Time{3'000'000});
  CHECK(made("name = \"ring of ${n}\"\nnpus = \"${n}\"\n[template]\nn = 2\n", ":n=3").name() ==
        "ring of 3");
}

TEST_CASE("a table with `for` stands for all combinations, which may depend on each other") {
  CHECK(switch_names(made(loops("{ i = 3 }", "s${i}"))) == "s0 s1 s2");
  CHECK(switch_names(made(loops("{ i = 2, j = 2 }", "s${i}_${j}"))) == "s0_0 s0_1 s1_0 s1_1");
  CHECK(switch_names(made(loops("{ i = 3, j = \"${i}\" }", "s${i}_${j}"))) == "s1_0 s2_0 s2_1");
  CHECK(switch_names(made(
            loops("{ i = \"${n - 1}\" }", "s${floor(i / n) + n}", "[template]\nn=2\n"))) == "s2");
  CHECK(switch_names(made(loops("{ i = 0 }", "s${i}"))).empty());
  const Topology all = made("npus = 5\n[defaults]\nbandwidth = \"50GB/s\"\nlatency = \"0.5us\"\n"
                            "[[links]]\nfor = { i = 5, j = \"${i}\" }\nfrom = \"${i}\"\n"
                            "to = \"${j}\"\n[[groups]]\nfor = { i = 2 }\nname = \"g${i}\"\n"
                            "bandwidth = \"1GB/s\"\nlinks = [[\"${i}\", \"${i + 1}\"]]\n");
  CHECK(all.link_count() == 20);
  CHECK(all.groups().size() == 2);
  CHECK(all.link(all.groups()[1].links[0]).to == NodeId{2});
}

TEST_CASE("without parameters and loops texts stay as they are") {
  CHECK(made("name = \"${x}\"\nnpus = 2\n").name() == "${x}");
}

TEST_CASE("mistakes in parameters are told with their place") {
  CHECK(
      refusal(ring, ":node=8") ==
      "f.toml:node=8\": unknown key \"node\" (known: nodes, bandwidth, one_way, latency, without, "
      "without-link, fail-npus, fail-links, fail-seed, unwind, wrap, fabric, "
      "lost-nic, slow-nic, lost-gpu, lost-nvlink, lost-node, slow-link, pcie-lanes, gdr; did you "
      "mean \"nodes\"?)");
  CHECK(refusal(ring, ":8").ends_with("a topology file of Tutti's is a whole network"));
  CHECK(refusal(ring, ":nodes=many").ends_with("nodes=many: expected a number"));
  CHECK(refusal(ring, ":nodes=8GB").ends_with("nodes=8GB: expected a number"));
  CHECK(refusal(ring, ":one_way=1").ends_with("one_way=1: expected true or false"));
  CHECK(refusal(ring, ":bandwidth=1us").ends_with("bandwidth=1us: expected one such as 10GB/s"));
  CHECK(refusal(ring, ":nodes=0") == "f.toml:2:10: 0 is out of range (1 .. 1000000)");
  CHECK(refusal(ring, ":nodes=2.5") == "f.toml:2:10: expected an integer, found the number 2.5");
  CHECK(refusal("npus = \"${n}\"\n[template]\nm = 1\n") ==
        "f.toml:1:8: column 1 of \"n\": unknown name \"n\" (known: m)");
  CHECK(refusal("npus = 2\nname = \"${m\"\n[template]\nm = 1\n") ==
        "f.toml:2:8: \"${m\": a name stands in ${...} ($${ is ${ itself)");
  CHECK(refusal("npus = 2\n[template]\nand = 1\n") ==
        "f.toml:2:1: \"and\" is no name that an expression could have");
  CHECK(refusal("npus = 2\n[template]\nn = [1]\n").starts_with("f.toml:3:5: expected"));
  CHECK(refusal("npus = \"${1 / m}\"\n[template]\nm = 0\n").starts_with("f.toml:1:8: "));
}

TEST_CASE("mistakes in loops are told with their place") {
  CHECK(refusal(loops("{ i = 2 }", "s")) == "f.toml:4:8: node \"s\" is named twice");
  CHECK(refusal(loops("{ i = -1 }", "s")) == "f.toml:3:13: -1 is out of range (0 .. 1000000)");
  CHECK(refusal(loops("{ i = \"${j}\", j = 2 }", "s")) ==
        "f.toml:3:13: expected an integer, found the string \"${j}\"");
  CHECK(refusal(loops("{ i = 2 }", "s${k}")) ==
        "f.toml:4:8: column 1 of \"k\": unknown name \"k\" (known: i)");
  CHECK(refusal(loops("{ n = 2 }", "s", "[template]\nn = 1\n")) ==
        "f.toml:5:7: \"n\" is a parameter");
  CHECK(refusal(loops("{ i = 2 }", "s${i}") + "[[nodes]]\nname = \"t${i}\"\nkind = \"switch\"\n") ==
        "f.toml:7:8: node name \"t${i}\" may only have letters, digits and _ - . :");
  CHECK(refusal(loops("{ i = 1000, j = 1000, k = 1000 }", "s${i}")).starts_with("f.toml:"));
  CHECK(refusal("npus = 2\n[[links]]\nfor = { i = 1000000, j = 1000000 }\nbetween = []\n"
                "bandwidth = \"1GB/s\"\nlatency = \"1us\"\n") ==
        "f.toml:3:7: more than 1000000 repetitions");
}

} // namespace topology_template_test
