// The XML readers of the runtimes themselves, where somebody has built them
// (tests/runtime/foreign_readers/build.sh), on all that is lowered for them.

#include "runtime/formats/msccl/fit.hpp"
#include "runtime/formats/msccl/xml.hpp"
#include "sim/error.hpp"
#include "tests/baselines.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"
#include "topologies/list.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace foreign_readers_test {

using namespace tutti;
using namespace tutti::runtime;

TEST_CASE("the runtimes' own readers take what is lowered for them", "[slow]") {
  const char* folder = std::getenv("TUTTI_MSCCL_READERS");
  if (folder == nullptr) {
    WARN("left out: TUTTI_MSCCL_READERS names no folder (tests/runtime/foreign_readers/build.sh)");
    return;
  }
  const TemporaryFolder scratch;
  const std::string xml = scratch.file("program.xml");
  std::size_t programs = 0;
  for (const std::string name : {"rccl", "executor", "msccl"}) {
    const std::filesystem::path reader = std::filesystem::path(folder) / name;
    if (!std::filesystem::exists(reader)) {
      WARN("left out: there is no " << reader.string());
      continue;
    }
    const auto runtimes = find_msccl_runtimes(name);
    for (const char* network :
         {"ring:4", "ring:8", "mesh2d:2x3", "torus2d:4x4", "hypercube:3", "fully_connected:6",
          "switch:4", "torus2d:8x8", "fully_connected:64"}) {
      const Topology topology = make_topology(network);
      for (const AlgorithmRow& row : baseline_algorithms())
        for (const CollectiveKind kind : row.collectives)
          for (const std::uint32_t chunks_per_shard : {1U, 12U}) {
            const bool is_large = topology.npu_count() > 16; // read as each rank: seconds a file
            if (is_large && (chunks_per_shard > 1 || kind != CollectiveKind::all_reduce)) continue;
            if (kind == CollectiveKind::custom) continue;
            INFO(name << " " << network << " " << row.name << " " << to_text(kind) << " "
                      << chunks_per_shard);
            Collective collective;
            Outcome outcome;
            try {
              collective =
                  make_collective(topology, {kind,
                                             Bytes{1 << 22},
                                             {},
                                             0,
                                             chunks_per_shard * std::max(1U, row.chunk_multiple)});
              outcome = synthesize(row, topology, collective, {});
            } catch (const InputError&) {
              continue; // not for this topology
            }
            if (!outcome.schedule) continue;
            const FittedProgram made =
                lower_for(runtimes, topology, collective, *outcome.schedule, {});
            if (!made.refusals.empty()) continue;
            MscclOptions options;
            options.limits = common_limits(runtimes);
            options.collective = common_msccl_word(kind, runtimes);
            std::ofstream(xml) << msccl_xml(made.program, options);
            const std::string command = "'" + reader.string() + "' '" + xml + "' > /dev/null";
            CHECK(std::system(command.c_str()) == 0); // NOLINT(concurrency-mt-unsafe)
            ++programs;
          }
    }
  }
  CHECK(programs > 0);
}

} // namespace foreign_readers_test
