// Which machines have a prediction: those of the list under the library of their NPUs, held to the
// table in the manual, and RCCL's own dumps where they lie beside the repository (or in the folder
// that TUTTI_RCCL_MODELS names).
#include "algorithms/nccl/hardware.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"
#include "experiments/driver/studies/runs/over_nccl.hpp"
#include "sim/transport/constants.hpp"
#include "tests/catch.hpp"
#include "tests/paths.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace predictions_test {

using namespace tutti;

namespace {

/// A row of the table: library, interval, and what stands in; checks that there is a time.
std::string prediction(const std::string& name, const Topology& topology) {
  CAPTURE(name);
  const std::string library = nccl_of(topology);
  Case c;
  c.topology_label = name;
  c.topology = &topology;
  c.collective = {{"all_reduce"}, Bytes{std::int64_t{1} << 20}};
  c.algorithm = find_algorithm(library);
  c.chunks = std::nullopt;
  c.engine = &find_engine("native");
  c.transport = parse_transport(library);
  const Evaluation e = evaluate(c);
  CHECK(e.problem.empty());
  REQUIRE(e.replays.size() == 1);
  REQUIRE(e.replays[0].interval.has_value());
  CHECK(e.replays[0].interval->high > e.replays[0].report.completion);
  const std::string stand = stand_ins(*c.transport, topology);
  return fmt::format("| `{}` | {} | {} | {} |", name, topology.parts().npu_model, library,
                     stand.empty() ? "none" : stand);
}

std::vector<std::string> machine_rows() {
  std::vector<std::string> rows;
  for (const TopologyRow& row : topology_families()) {
    const std::string name(row.name);
    try {
      // As few nodes as have a network, and of a rack as many GPUs as a tray has.
      const std::string some = name.ends_with("nvl72") ? ":2,npus=4" : ":2";
      const Topology topology = make_topology(name + some);
      if (!topology.parts().npu_model.empty()) rows.push_back(prediction(name, topology));
    } catch (const InputError&) {
      continue; // a family of more numbers
    }
  }
  for (const Machine& machine : machines())
    if (const Topology topology = make_topology(machine.name); !topology.parts().npu_model.empty())
      rows.push_back(prediction(machine.name, topology));
  return rows;
}

} // namespace

TEST_CASE("every machine of the list with GPUs has a prediction, as the manual's table says") {
  std::ifstream file(std::string(TUTTI_SOURCE_DIR) + "/docs/formats/transport.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const std::vector<std::string> rows = machine_rows();
  std::string table;
  for (const std::string& row : rows) table += row + "\n";
  INFO(table);
  const std::size_t at = page.find("|---|---|---|---|\n" + table);
  REQUIRE(at != std::string::npos);
  CHECK(page.find("\n|", at + table.size()) == std::string::npos); // no row more
}

TEST_CASE("what people have and clouds ship has a prediction", "[slow]") {
  const std::filesystem::path cases =
      std::filesystem::path(TUTTI_SOURCE_DIR).parent_path() / "shared/cases";
  if (!std::filesystem::exists(cases)) {
    WARN("no shared/cases beside the repository: skipped");
    return;
  }
  for (const char* folder :
       {"cloud_topology_files_without_gpus", "rocm_smi_showtopo", "mlopart_two_gpus_one_device",
        "spark_ring_without_switch", "gb300_gpu_without_nvlink", "h100_vm_dump_width0"})
    for (const auto& entry : std::filesystem::directory_iterator(cases / folder))
      if (entry.path().extension() != ".md")
        (void)prediction(entry.path().filename().string(), make_topology(entry.path().string()));
  const std::string users = (cases / "users/").string();
  for (const std::string& name :
       {users + "16_a100_matrix_no_nics.txt", users + "17_pcie4_two_sockets.txt",
        users + "19b_p2p_matrix.csv", users + "21_a100_and_h100.toml", users + "25_mig.toml",
        users + "01_h100_node.xml+" + users + "01_h100_topo_m.txt:2,without=npu3"})
    (void)prediction(name, make_topology(name));
}

TEST_CASE("RCCL's own dumps all have a prediction", "[slow]") {
  namespace fs = std::filesystem;
  const char* named = std::getenv("TUTTI_RCCL_MODELS");
  const fs::path folder =
      named != nullptr ? fs::path(named)
                       : fs::path(TUTTI_SOURCE_DIR).parent_path() / "shared/data/rccl_models";
  if (!fs::exists(folder)) {
    WARN("no dumps of RCCL's (TUTTI_RCCL_MODELS): skipped");
    return;
  }
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".xml")
      (void)prediction(entry.path().filename().string(), make_topology(entry.path().string()));
}

} // namespace predictions_test
