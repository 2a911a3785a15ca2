// What logs say of the run itself: lines as versions of NCCL and RCCL print them, made up.
#include "experiments/driver/studies/measurements/log_facts.hpp"
#include "experiments/driver/studies/measurements/measured_row.hpp"
#include "sim/files/files.hpp"
#include "tests/catch.hpp"

#include <string>
#include <vector>

namespace log_facts_test {

using namespace tutti;

namespace {

LogFacts facts_of(const std::vector<std::string>& lines) {
  LogFacts facts;
  for (std::size_t i = 0; i < lines.size(); ++i) facts.take(lines[i], i + 1);
  return facts;
}

const std::string of_rank = "nodea:10:20 [0] NCCL INFO ";

} // namespace

TEST_CASE("facts of a run on two nodes, each with its line") {
  const LogFacts facts = facts_of(
      {"# nccl-tests version 2.17.1 nccl-headers=22707 nccl-library=22707",
       "#  Rank  3 Group  0 Pid  40112 on    nodea device  3 [0000:1b:00] NVIDIA H100 80GB HBM3",
       of_rank + "NCCL_IB_HCA set by environment to mlx5.",
       of_rank + "NCCL_ALGO set by environment to Ring",
       of_rank + "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB eth0:10.0.0.1<0>",
       of_rank + "Using network IB",
       of_rank + "NVLS multicast support is available on dev 0 (NVLS_NCHANNELS 16)",
       of_rank + "comm 0x55 rank 0 nRanks 16 nNodes 2 localRanks 8 localRank 0 MNNVL 0",
       of_rank + "Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0/GDRDMA",
       of_rank + "Channel 00/0 : 1[1] -> 0[0] via P2P/CUMEM",
       of_rank + "24 coll channels, 20 collnet channels, 16 nvls channels, 32 p2p channels, 2 p2p "
                 "channels per peer",
       of_rank + "AllReduce: 524288 Bytes -> Algo Ring proto LL channel{Lo..Hi}={0..7}",
       of_rank + "AllReduce: 8388608 Bytes -> Algo 0 proto 2 time 93.6",
       "nodea:10:20 [0] NCCL WARN Call to ibv_poll_cq failed"});
  CHECK(facts.nccl_version->value == "2.27.7");
  CHECK(facts.nccl_version->line == 1);
  REQUIRE(facts.devices.size() == 1);
  CHECK(facts.devices[0].rank == 3);
  CHECK(facts.devices[0].host == "nodea");
  CHECK(facts.devices[0].address == "0000:1b:00");
  CHECK(facts.devices[0].model == "NVIDIA H100 80GB HBM3");
  CHECK(facts.environment.at("NCCL_IB_HCA").value == "mlx5");
  CHECK(facts.environment.at("NCCL_ALGO").line == 4);
  REQUIRE(facts.nics.size() == 2);
  CHECK(facts.nics[1].value == "mlx5_1:1/RoCE");
  REQUIRE(facts.networks.size() == 1);
  CHECK(facts.networks[0].value == "IB");
  CHECK(facts.networks[0].line == 6);
  CHECK(facts.nvls_supported->value);
  CHECK(facts.nvls_used->value);
  CHECK(facts.ranks->value == 16);
  CHECK(facts.nodes->value == 2);
  CHECK(facts.local_ranks->value == 8);
  CHECK(facts.gdrdma->value);
  CHECK(facts.gdrdma->line == 9);
  CHECK(facts.collective_channels->value == 24);
  CHECK(facts.collnet_channels->value == 20);
  CHECK(facts.nvls_channels->value == 16);
  CHECK(facts.p2p_channels->value == 32);
  CHECK(facts.p2p_channels_per_peer->value == 2);
  REQUIRE(facts.choices.size() == 2);
  CHECK(facts.choices[0].algorithm == "Ring");
  CHECK(facts.choices[0].protocol == "LL");
  CHECK(facts.choices[0].channels == 8);
  CHECK(facts.choices[1].algorithm == "Tree");
  CHECK(facts.choices[1].protocol == "Simple");
  CHECK(facts.choices[1].size == Bytes{8388608});
  REQUIRE(facts.warnings.size() == 1);
  CHECK(facts.warnings[0].value == "Call to ibv_poll_cq failed");
}

TEST_CASE("one channel without GPUDirect, or one device without multicast, is what counts") {
  const LogFacts facts =
      facts_of({of_rank + "Channel 00/0 : 0[0] -> 8[0] [send] via NET/Socket/0/GDRDMA",
                of_rank + "Channel 01/0 : 0[0] -> 8[0] [send] via NET/Socket/1",
                of_rank + "NVLS multicast support is available on dev 0",
                of_rank + "NVLS multicast support is not available on dev 1",
                of_rank + "24 coll channels, 0 nvls channels, 32 p2p channels",
                of_rank + "Using network AWS Libfabric", "NCCL version 2.12.7+cuda11.4",
                of_rank + "NCCL_SOCKET_IFNAME set to eth0"});
  CHECK_FALSE(facts.gdrdma->value);
  CHECK(facts.gdrdma->line == 2);
  CHECK_FALSE(facts.nvls_supported->value);
  CHECK(facts.nvls_supported->line == 4);
  CHECK_FALSE(facts.nvls_used->value);
  CHECK(facts.nccl_version->value == "2.12.7+cuda11.4");
  REQUIRE(facts.networks.size() == 2);
  CHECK(facts.networks[1].value == "Libfabric");
  CHECK(facts.environment.at("NCCL_SOCKET_IFNAME").value == "eth0");
  CHECK(nccl_version_text(2604) == "2.6.4");
  CHECK(nccl_version_text(23007) == "2.30.7");
}

TEST_CASE("a log's facts come with its rows") {
  const ScratchFolder folder;
  const std::string file = folder.path() + "/log";
  write_file(file, "# Collective test starting: all_reduce_perf\n" + of_rank +
                       "NCCL_ALGO set by environment to Ring\n"
                       "#  size count type redop root time algbw busbw #wrong\n"
                       " 1048576  262144  float  sum  -1  100.0  10.49  15.73  0\n");
  const Measurements made = read_measurements(file, {});
  CHECK(made.rows.size() == 1);
  CHECK(made.facts.environment.at("NCCL_ALGO").line == 2);
}

} // namespace log_facts_test
