// Tutti's times against those of the real ASTRA-sim (its congestion-aware analytical backend), on
// what `--export-chakra` writes. Runs where TUTTI_ASTRA_SIM names that program, which
// build_astra_sim.sh beside this file builds from public sources.
#include "sim/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/run_tutti.hpp"
#include "tests/temporary_folder.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <regex>
#include <string>

using namespace tutti;

namespace {

using Json = nlohmann::json;

std::optional<std::string> astra_sim() {
  const char* program = std::getenv("TUTTI_ASTRA_SIM"); // NOLINT(concurrency-mt-unsafe)
  if (program == nullptr) {
    WARN("skipped: TUTTI_ASTRA_SIM names no AstraSim_Analytical_Congestion_Aware");
    return std::nullopt;
  }
  REQUIRE(std::filesystem::exists(program));
  return program;
}

/// The same network for both, in one dimension: links of 50 GiB/s and 500 ns.
struct Network {
  std::string family;   ///< "ring", of Tutti
  std::string topology; ///< "Ring", of ASTRA-sim
  int npus = 8;
};
const Network ring{"ring", "Ring"}, star{"switch", "Switch"},
    full{"fully_connected", "FullyConnected"};

struct Case {
  Network network;
  std::string work;      ///< options of `tutti train`
  std::string algorithm; ///< options of `tutti train`
  std::string astra;     ///< the same of ASTRA-sim
};

std::int64_t tutti_ns(const Case& each, const TemporaryFolder& folder) {
  const CommandResult result = run_tutti(
      fmt::format("train -t {}:{},bandwidth=50GiB/s,latency=500ns {} {} --chunks 1 "
                  "--forwarding store-and-forward --one-at-a-time --local-mem-bw 1600GB/s "
                  "--cache none --export-chakra run --json",
                  each.network.family, each.network.npus, each.work, each.algorithm),
      folder);
  INFO(result.err);
  REQUIRE(result.code == 0);
  const auto ps = Json::parse(result.out)["runs"][0]["report"]["duration_ps"].get<std::int64_t>();
  return ps / 1000;
}

std::int64_t astra_ns(const std::string& program, const Case& each, const TemporaryFolder& folder) {
  write_file(folder.file("network.yml"),
             fmt::format("topology: [ {} ]\nnpus_count: [ {} ]\nbandwidth: [ 50.0 ]\n"
                         "latency: [ 500.0 ]\n",
                         each.network.topology, each.network.npus));
  const Json algorithm = Json::array({each.astra});
  write_file(folder.file("system.json"),
             Json{{"scheduling-policy", "FIFO"},
                  {"endpoint-delay", 0},
                  {"active-chunks-per-dimension", 1},
                  {"preferred-dataset-splits", 1},
                  {"all-reduce-implementation", algorithm},
                  {"all-gather-implementation", algorithm},
                  {"reduce-scatter-implementation", algorithm},
                  {"all-to-all-implementation", Json::array({"direct"})},
                  {"collective-optimization", "baseline"},
                  {"local-mem-bw", 1600}}
                 .dump());
  write_file(folder.file("memory.json"), R"({"memory-type": "NO_MEMORY_EXPANSION"})");
  const std::string command = fmt::format(
      "cd '{}' && '{}' --workload-configuration=run --comm-group-configuration=run.groups.json "
      "--system-configuration=system.json --network-configuration=network.yml "
      "--remote-memory-configuration=memory.json --logging-folder=log >out 2>&1",
      folder.file(""), program);
  const int status = std::system(command.c_str()); // NOLINT(concurrency-mt-unsafe)
  const std::string out = read_file(folder.file("out"));
  INFO(out);
  REQUIRE(status == 0);
  std::int64_t latest = 0, finished = 0;
  const std::regex line(R"(sys\[\d+\] finished, (\d+) cycles)");
  for (std::sregex_iterator at(out.begin(), out.end(), line), end; at != end; ++at, ++finished)
    latest = std::max<std::int64_t>(latest, std::stoll((*at)[1]));
  REQUIRE(finished == each.network.npus);
  return latest;
}

/// A workload of one collective of so many bytes, a text.
void write_micro(const TemporaryFolder& folder, const std::string& collective, std::int64_t size) {
  write_file(folder.file("micro.txt"),
             fmt::format("MICRO\n1\nlayer -1 0 NONE 0 0 NONE 0 0 {} {} 0\n", collective, size));
}

void compare(const std::string& program, const Case& each, const TemporaryFolder& folder,
             double tolerance) {
  INFO(each.network.topology << " " << each.work << " " << each.algorithm);
  const std::int64_t ours = tutti_ns(each, folder), theirs = astra_ns(program, each, folder);
  UNSCOPED_INFO(ours << " ns, ASTRA-sim " << theirs << " ns");
  CHECK(std::abs(static_cast<double>(ours - theirs)) <= tolerance * static_cast<double>(theirs));
}

} // namespace

TEST_CASE("collectives take as long in ASTRA-sim", "[slow][astra-sim]") {
  const auto program = astra_sim();
  if (!program) return;
  const std::string text = "--workload micro.txt --unit us";
  for (const char* collective : {"ALLREDUCE", "ALLGATHER", "REDUCESCATTER"})
    for (const Network& network : {ring, star})
      for (const std::int64_t size : {std::int64_t{1} << 20, std::int64_t{1} << 26}) {
        const TemporaryFolder folder;
        write_micro(folder, collective, size);
        compare(*program, {network, text, "-a ring1", "ring"}, folder, 1e-3);
      }
  for (const char* collective : {"ALLREDUCE", "ALLGATHER", "REDUCESCATTER", "ALLTOALL"}) {
    const TemporaryFolder folder;
    write_micro(folder, collective, std::int64_t{1} << 26);
    compare(*program, {full, text, "-a direct", "direct"}, folder, 1e-3);
  }
}
