// What may stand behind any file's name, whatever its format: the same as behind a family's.
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/paths.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/topologies/same_links.hpp"
#include "topologies/import/list.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace file_parameters_test {

using namespace tutti;
namespace fs = std::filesystem;

namespace {

/// Files of each format, from the seeds of the fuzzer, which have two bytes before them.
std::vector<std::string> samples_of(std::size_t format, const TemporaryFolder& folder) {
  std::vector<std::string> files;
  for (const auto& entry :
       fs::directory_iterator(TUTTI_SOURCE_DIR "/tests/fuzz/corpus/fuzz_network")) {
    const std::string seed = read_file(entry.path().string());
    const std::string name = folder.file(entry.path().filename().string() + ".txt");
    if (static_cast<std::size_t>(seed[0]) != format) continue;
    write_file(name, seed.substr(2));
    files.push_back(name);
  }
  return files;
}

void check_parameters(const std::string& file) {
  INFO(file);
  const Topology whole = make_topology(file);
  const std::string npu = whole.node(NodeId{0}).name;

  const Topology changed = make_topology(file + ":bandwidth=3GB/s,latency=7us");
  CHECK(changed.name() == whole.name() + ",bandwidth=3GB/s,latency=7us");
  REQUIRE(changed.link_count() == whole.link_count());
  for (const Link& link : changed.links()) {
    CHECK(link.bandwidth == Bandwidth{3'000'000'000});
    CHECK(link.latency == Time{7'000'000});
  }
  CHECK(changed.groups().size() == whole.groups().size());
  for (std::size_t g = 0; g < whole.groups().size(); ++g)
    CHECK(changed.groups()[g].bandwidth == whole.groups()[g].bandwidth);
  for (const std::string& line : changed.parts().assumed)
    CHECK(line.find("h of a link:") == std::string::npos);

  const Topology fast = make_topology(file + ",bandwidth=3GB/s");
  for (std::uint32_t l = 0; l < whole.link_count(); ++l)
    CHECK(fast.link(LinkId{l}).latency == whole.link(LinkId{l}).latency);

  CHECK(make_topology(file + ":without=" + npu).npu_count() == whole.npu_count() - 1);
  CHECK(make_topology(file + ",fail-links=0").link_count() == whole.link_count());
  CHECK(message_of([&] {
          (void)make_topology(file + ":bandwith=3GB/s");
        }).find("unknown key \"bandwith\" (known: ") != std::string::npos);
  CHECK(message_of([&] { (void)make_topology(file + ":bandwidth=3"); }).find("\"3\"") !=
        std::string::npos);
}

} // namespace

TEST_CASE("files of every format take the parameters that families take") {
  const auto formats = topologies::foreign_formats();
  for (std::size_t f = 0; f < formats.size(); ++f) {
    const TemporaryFolder folder;
    const std::vector<std::string> files = samples_of(f, folder);
    INFO(formats[f].name);
    REQUIRE_FALSE(files.empty());
    for (const std::string& file : files) {
      REQUIRE(topologies::foreign_format(read_file(file)) == &formats[f]);
      check_parameters(file);
    }
  }
  check_parameters("dgx1");
  check_parameters(TUTTI_SOURCE_DIR "/topologies/machines/ndv2x2.toml");
}

TEST_CASE("several values are for the links of as many dimensions") {
  const TemporaryFolder folder;
  const std::string file = folder.file("f.toml");
  write_file(file,
             "npus = 4\nshape = [2, 2]\n[defaults]\nbandwidth = \"1GB/s\"\nlatency = \"1us\"\n"
             "[[links]]\ndimension = 0\nbetween = [[0, 1], [2, 3]]\n"
             "[[links]]\ndimension = 1\nbetween = [[0, 2], [1, 3]]\n");
  const Topology grid = make_topology(file + ":bandwidth=2GB/s+3GB/s,latency=4us");
  CHECK(have_same_links(grid, make_topology("mesh2d:2x2,bandwidth=2GB/s+3GB/s,latency=4us")));
  CHECK(message_of([&] {
          (void)make_topology("dgx1:bandwidth=2GB/s+3GB/s");
        }).ends_with("is of no dimension: give one for all links, or one for each dimension"));
}

TEST_CASE("a file's name may have colons, and a name of a node, too") {
  const TemporaryFolder folder;
  const std::string plain = folder.file("a.csv"), colons = folder.file("a.csv:2:x=3");
  write_file(plain, "from,to\nn:0,n:1\n");
  write_file(colons, "from,to\nn:0,n:1\nn:1,n:2\n");
  CHECK(make_topology(plain).npu_count() == 2);
  CHECK(make_topology(colons).npu_count() == 3);
  CHECK(make_topology(colons + ":bandwidth=1GB/s").npu_count() == 3);
  CHECK(make_topology(plain + ":without=n:1").npu_count() == 1);
  CHECK(topology_file(plain + ":without=n:1,fail-links=1") == plain);
  CHECK(topology_file("a.csv:x=1", fs::path(plain).parent_path().string()) == "a.csv");
  CHECK(topology_file("gone.csv:4") == "gone.csv");
  CHECK(topology_file("gone.csv:x=4") == "gone.csv");
  CHECK(topology_file("./gone:x") == "./gone:x");
  CHECK(topology_file("ring:8,bandwidth=1GB/s").empty());
  CHECK(topology_file("dgx1:without=npu0").empty());
  CHECK(message_of([&] { (void)make_topology(plain + ":2"); }).ends_with("network (csv)"));
}

} // namespace file_parameters_test
