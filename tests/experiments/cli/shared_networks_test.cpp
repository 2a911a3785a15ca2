// Networks as people have them, in all files that lie beside the repository: each is read, or
// refused in words, and a machine takes the same time in whichever form it comes. Where no such
// files lie, there is nothing to ask.
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/topology.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/cli/run_tutti.hpp"
#include "tests/message_of.hpp"
#include "tests/paths.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace shared_networks_test {

using namespace tutti;

namespace {

std::filesystem::path shared() {
  return std::filesystem::path(TUTTI_SOURCE_DIR).parent_path() / "shared";
}

/// Whether they lie here; says so in one line where not.
bool are_here() {
  if (std::filesystem::exists(shared() / "cases") && std::filesystem::exists(shared() / "data"))
    return true;
  WARN("no shared/cases and shared/data beside the repository: skipped");
  return false;
}

std::string user_file(const std::string& name) {
  return (shared() / "cases/users" / name).string();
}

class Machines {
public:
  /// How long an All-Gather of 1 GiB takes in the simulation, in seconds.
  [[nodiscard]] double time(const std::string& network, const std::string& how) const {
    const std::string command =
        fmt::format("synth -t {} -c all_gather --size 1GiB {} --json", network, how);
    const CommandResult result = run_tutti(command, folder_);
    INFO(command << '\n' << result.err);
    REQUIRE(result.code == 0);
    return nlohmann::json::parse(result.out)
               .at("runs")
               .at(0)
               .at("collective_time_ps")
               .get<double>() /
           1e12;
  }
  /// The network, written in another form; where that lies.
  [[nodiscard]] std::string converted(const std::string& network, const std::string& file) const {
    const CommandResult result = run_tutti("convert " + network + " " + file, folder_);
    INFO(network << " as " << file << '\n' << result.err);
    REQUIRE(result.code == 0);
    return folder_.file(file);
  }
  /// A row for each link, in that order or backwards.
  [[nodiscard]] std::string as_list(const std::string& network, const std::string& file,
                                    bool backwards) const {
    const Topology topology = make_topology(network);
    std::vector<std::string> rows;
    const auto kind = [&](NodeId node) {
      return topology.node(node).kind == NodeKind::npu ? "npu" : "switch";
    };
    for (const Link& link : topology.links())
      rows.push_back(fmt::format("{},{},{},{},{},{}\n", topology.node(link.from).name,
                                 topology.node(link.to).name, link.bandwidth.bytes_per_second,
                                 link.latency.ps, kind(link.from), kind(link.to)));
    if (backwards) std::ranges::reverse(rows);
    std::string text = "from,to,bandwidth [B/s],latency [ps],from_kind,to_kind\n";
    for (const std::string& row : rows) text += row;
    write_file(folder_.file(file), [&](std::ostream& out) { out << text; });
    return folder_.file(file);
  }

private:
  TemporaryFolder folder_;
};

} // namespace

TEST_CASE("every file that others have is a network or is refused in words", "[slow]") {
  if (!are_here()) return;
  std::size_t networks = 0, refused = 0;
  for (const char* part : {"cases", "data"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(shared() / part)) {
      if (!entry.is_regular_file()) continue;
      const std::string file = entry.path().string();
      CAPTURE(file);
      try {
        const Topology read = make_topology(file);
        CHECK(read.node_count() > 0);
        ++networks;
      } catch (const InputError& e) { // anything else is a defect
        CHECK_THAT(e.what(), Catch::Contains(entry.path().filename().string()));
        CHECK(std::string_view(e.what()).size() > file.size() + 20);
        ++refused;
      }
    }
  CHECK(networks > 40);
  CHECK(refused > 20);
}

TEST_CASE("eight H100 take the same time as a dump, a matrix, by name and converted", "[slow]") {
  if (!are_here()) return;
  const Machines machines;
  for (const int nodes : {2, 3, 4, 5}) {
    const std::string dump = fmt::format("{}:{}", user_file("01_h100_node.xml"), nodes),
                      matrix = fmt::format("{}:{}", user_file("01_h100_topo_m.txt"), nodes),
                      name = fmt::format("dgx_h100:{}", nodes);
    std::vector<std::string> forms{dump, matrix, name};
    for (const std::string& network : {dump, name})
      for (const char* ending : {"toml", "graphml", "dot"})
        forms.push_back(machines.converted(network, fmt::format("{}.{}", forms.size(), ending)));
    forms.push_back(machines.as_list(name, "in_order.csv", false));
    forms.push_back(machines.as_list(name, "backwards.csv", true));
    for (const char* how : {"-a nccl --set gpu=h100 --set node_size=8", "-a ring"}) {
      const double expected = machines.time(name, how);
      for (const std::string& form : forms) {
        CAPTURE(form, how);
        CHECK(machines.time(form, how) == Approx(expected).epsilon(0.02));
      }
    }
    // What says what its NPUs are needs no help.
    for (const std::string& form : {dump, matrix, name, forms[3], forms[6]}) {
      CAPTURE(form);
      CHECK(machines.time(form, "-a nccl --transport nccl") ==
            Approx(machines.time(name, "-a nccl --transport nccl")).epsilon(0.02));
    }
  }
}

TEST_CASE("a network takes the same time in whatever order its rows come", "[slow]") {
  if (!are_here()) return;
  const Machines machines;
  for (const char* how :
       {"-a nccl --set node_size=8", "-a nccl", "-a ring", "-a direct", "-a tacos"}) {
    CAPTURE(how);
    CHECK(machines.time(user_file("rail256.csv"), how) ==
          Approx(machines.time(user_file("rail256_sorted.csv"), how)).epsilon(0.02));
  }
  for (const char* how :
       {"-a ring --chunks 8", "-a direct --chunks 8", "-a nccl --set node_size=8"}) {
    CAPTURE(how);
    CHECK(
        machines.time(machines.as_list(user_file("rails4_spine.toml"), "a.csv", false), how) ==
        Approx(machines.time(machines.as_list(user_file("rails4_spine.toml"), "b.csv", true), how))
            .epsilon(0.02));
  }
}

TEST_CASE("several spines carry what the NICs do, and CPUs don't hold cards back", "[slow]") {
  if (!are_here()) return;
  const Machines machines;
  constexpr double gib = 0x1p30;
  // All-Gather by two rings a NIC: each byte but a 32nd leaves a node once.
  CHECK(machines.time(user_file("02_leafspine.toml"), "-a nccl --set algo=ring") ==
        Approx(gib * 31 / 32 / 400e9).epsilon(0.02));
  CHECK(machines.time(user_file("16_a100_matrix_no_nics.txt") + ":2,nics=8x25GB/s,npu=a100",
                      "-a nccl --set algo=ring") == Approx(gib * 15 / 16 / 200e9).epsilon(0.02));
}

} // namespace shared_networks_test
