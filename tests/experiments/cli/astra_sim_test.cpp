// Tutti's times against those of the real ASTRA-sim (its analytical backends), on what
// `--export-chakra` writes: README.md of workloads has the settings side by side. Runs where
// TUTTI_ASTRA_SIM names the folder with its programs, which build_astra_sim.sh beside this file
// builds from public sources.
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/cli/run_tutti.hpp"
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

namespace astra_sim_test {

using namespace tutti;

namespace {

using Json = nlohmann::json;

/// The folder with ASTRA-sim's programs.
std::optional<std::string> astra_sim() {
  const char* folder = std::getenv("TUTTI_ASTRA_SIM"); // NOLINT(concurrency-mt-unsafe)
  if (folder == nullptr) {
    WARN("skipped: TUTTI_ASTRA_SIM isn't set; see build_astra_sim.sh");
    return std::nullopt;
  }
  return folder;
}

/// The same network for both, in one dimension: links of 50 GiB/s and 500 ns. There the endpoints
/// take 10 ns of every message, which are added to the latencies here.
struct Network {
  std::string family;   ///< "ring", of Tutti
  std::string topology; ///< "Ring", of ASTRA-sim
  int latency = 0;      ///< of a link here, in ns
  int npus = 8;
};
const Network ring{"ring", "Ring", 510}, star{"switch", "Switch", 505},
    full{"fully_connected", "FullyConnected", 510};

/// A backend of ASTRA-sim, and the forwarding that does the same here.
struct Backend {
  std::string program, forwarding;
};
const Backend aware{"AstraSim_Analytical_Congestion_Aware", "store-and-forward"},
    unaware{"AstraSim_Analytical_Congestion_Unaware", "cut-through"};

struct Case {
  Network network;
  std::string work;                 ///< options of `tutti train`
  std::string algorithm = "ring1";  ///< of Tutti
  std::string astra = "ring";       ///< the same of ASTRA-sim
  std::int64_t local_mem_bw = 1600; ///< GB/s
  Backend backend = aware;
};

std::int64_t tutti_ns(const Case& each, const TemporaryFolder& folder) {
  const CommandResult result = run_tutti(
      fmt::format("train -t {}:{},bandwidth=50GiB/s,latency={}ns {} -a {} "
                  "--by-collective all_to_all=direct --chunks 1 --forwarding {} --one-at-a-time "
                  "--local-mem-bw {}GB/s --cache none --export-chakra run --json",
                  each.network.family, each.network.npus, each.network.latency, each.work,
                  each.algorithm, each.backend.forwarding, each.local_mem_bw),
      folder);
  INFO(result.err);
  REQUIRE(result.code == 0);
  const auto ps = Json::parse(result.out)["runs"][0]["duration_ps"].get<std::int64_t>();
  return ps / 1000;
}

/// Until the last NPU has finished; all of them have to.
std::int64_t astra_ns(const std::string& programs, const Case& each,
                      const TemporaryFolder& folder) {
  write_file(folder.file("network.yml"),
             fmt::format("topology: [ {} ]\nnpus_count: [ {} ]\nbandwidth: [ 50.0 ]\n"
                         "latency: [ 500.0 ]\n",
                         each.network.topology, each.network.npus));
  const Json algorithm = Json::array({each.astra});
  write_file(folder.file("system.json"),
             Json{{"scheduling-policy", "FIFO"},
                  {"endpoint-delay", 10},
                  {"active-chunks-per-dimension", 1},
                  {"preferred-dataset-splits", 1},
                  {"all-reduce-implementation", algorithm},
                  {"all-gather-implementation", algorithm},
                  {"reduce-scatter-implementation", algorithm},
                  {"all-to-all-implementation", Json::array({"direct"})},
                  {"collective-optimization", "baseline"},
                  {"local-mem-bw", each.local_mem_bw}}
                 .dump());
  write_file(folder.file("memory.json"), R"({"memory-type": "NO_MEMORY_EXPANSION"})");
  const std::string command =
      fmt::format("cd '{}' && '{}/{}' --workload-configuration=run "
                  "--comm-group-configuration=run.groups.json --system-configuration=system.json "
                  "--network-configuration=network.yml --remote-memory-configuration=memory.json "
                  "--logging-folder=log >out 2>&1",
                  folder.file(""), programs, each.backend.program);
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

/// Within 0.1 %.
void compare(const std::string& programs, const Case& each, const TemporaryFolder& folder) {
  INFO(each.network.topology << ", " << each.work << ", " << each.algorithm);
  const std::int64_t ours = tutti_ns(each, folder), theirs = astra_ns(programs, each, folder);
  INFO(ours << " ns, ASTRA-sim " << theirs << " ns");
  CHECK(std::abs(static_cast<double>(ours - theirs)) <= 1e-3 * static_cast<double>(theirs));
}

const std::string micro = "--workload micro.txt --unit us";

void compare_collective(const std::string& programs, const std::string& collective,
                        std::int64_t size, const Case& each) {
  const TemporaryFolder folder;
  write_micro(folder, collective, size);
  INFO(collective << " of " << size << " bytes");
  compare(programs, each, folder);
}

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

} // namespace

TEST_CASE("collectives take as long in ASTRA-sim", "[slow][astra-sim]") {
  const auto programs = astra_sim();
  if (!programs) return;
  for (const char* collective : {"ALLREDUCE", "ALLGATHER", "REDUCESCATTER"})
    for (const Network& network : {ring, star})
      for (const std::int64_t size : {mebibyte, 64 * mebibyte})
        compare_collective(*programs, collective, size, {network, micro});
  compare_collective(*programs, "ALLREDUCE", 64 * mebibyte,
                     {.network = star, .work = micro, .backend = unaware});
  for (const char* collective : {"ALLREDUCE", "ALLGATHER", "REDUCESCATTER", "ALLTOALL"}) {
    for (const Network& network : {ring, star})
      compare_collective(*programs, collective, 64 * mebibyte,
                         {network, micro, "direct", "direct"});
    // There all that arrives at once is reduced at once: so fast that it doesn't matter.
    constexpr std::int64_t fast = 1'000'000;
    compare_collective(*programs, collective, 64 * mebibyte,
                       {full, micro, "direct", "direct", fast});
  }
}

TEST_CASE("workload texts take as long in ASTRA-sim", "[slow][astra-sim]") {
  const auto programs = astra_sim();
  if (!programs) return;
  for (const Network& network : {ring, star})
    for (const char* parallelism : {"DATA", "MODEL", "HYBRID_DATA_MODEL", "HYBRID_MODEL_DATA",
                                    "HYBRID_DLRM 1", "HYBRID_TRANSFORMER"}) {
      const TemporaryFolder folder;
      const std::string word(parallelism);
      const bool is_data = word == "DATA" || word == "HYBRID_DLRM 1";
      const char* activations = is_data ? "NONE 0" : "ALLREDUCE 4194304";
      const char* gradients = word == "MODEL" ? "NONE 0" : "ALLREDUCE 16777216";
      std::string text = word + "\n3\n";
      for (int layer = 0; layer < 3; ++layer) {
        const char* own = word == "HYBRID_DLRM 1" && layer == 0 ? "ALLTOALL 1048576" : activations;
        text += fmt::format("l{} -1 {} {} {} {} 90 {} 0\n", layer, 100 + 10 * layer, own,
                            80 + layer, own, gradients);
      }
      write_file(folder.file("three.txt"), text);
      compare(*programs, {network, "--workload three.txt --unit us --model-group 4 --passes 2"},
              folder);
    }
}

TEST_CASE("whole models take as long in ASTRA-sim", "[slow][astra-sim]") {
  const auto programs = astra_sim();
  if (!programs) return;
  const std::string gpt3 = "--model gpt3_small --npu a100 --micro-batches 4 ",
                    bert = "--model bert_large --npu a100 --micro-batches 2 ";
  for (const Network& network : {ring, star})
    for (const std::string& work :
         {std::string("--model resnet50 --npu v100 --precision fp16"), gpt3 + "--tensor 4",
          gpt3 + "--tensor 4 --sequence", gpt3 + "--tensor 2 --recompute full", gpt3 + "--zero 1",
          bert + "--zero 2 --tensor 2", gpt3 + "--zero 3", gpt3 + "--pipeline 4",
          gpt3 + "--pipeline 4 --schedule gpipe --bucket 25MB", gpt3 + "--pipeline 2 --tensor 2",
          gpt3 + "--pipeline 2 --schedule interleaved --model-parts 2 --zero 2",
          std::string("--model switch_base --npu a100 --expert 4 --tensor 2")}) {
      const TemporaryFolder folder;
      compare(*programs, {network, work}, folder);
    }
}

} // namespace astra_sim_test
