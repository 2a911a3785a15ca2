// What nccl-tests prints, and what cases of peers are called.
#include "gpu/nccl.hpp"
#include "gpu/nccl_tests.hpp"
#include "tests/catch.hpp"

#include <string>

namespace nccl_test {

using namespace tutti;
using namespace tutti::gpu;

TEST_CASE("NCCL: what nccl-tests prints is read, with and without a column for the root") {
  const std::string with_root =
      "# nThread 1 nGpus 2 minBytes 1048576 maxBytes 2097152 step: 2(factor) warmup iters: 5\n"
      "#\n# Using devices\n"
      "#  Rank  0 Group  0 Pid  77 on host device  0 [0x07] NVIDIA H100\n#\n"
      "#                                                              out-of-place      in-place\n"
      "#       size         count      type   redop    root     time   algbw   busbw #wrong     "
      "time   algbw   busbw #wrong\n"
      "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            "
      "(us)  (GB/s)  (GB/s)       \n"
      "     1048576        262144     float     sum      -1    31.13   33.69   33.69      0    "
      "30.60   34.27   34.27      0\n"
      "     2097152        524288     float     sum      -1    41.5    50.5    50.5       0    "
      "40.60   51.65   51.65      0\n"
      "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 42.5\n#\n";
  std::vector<runtime::NcclTiming> timings = read_nccl_tests(with_root);
  REQUIRE(timings.size() == 2);
  CHECK(timings[0].size == Bytes{1048576});
  CHECK(timings[0].seconds == Approx(31.13e-6));
  CHECK(timings[1].size == Bytes{2097152});
  CHECK(timings[1].seconds == Approx(41.5e-6));

  timings = read_nccl_tests("#       size         count    type     time   algbw   busbw  error\n"
                            "     1048576        131072   float    25.00   41.94   20.97  0e+00\n");
  REQUIRE(timings.size() == 1);
  CHECK(timings[0].seconds == Approx(25e-6));

  CHECK(read_nccl_tests("").empty());
  CHECK(read_nccl_tests("1048576 1 2 3 4 5 6 7\n").empty()); // no head says what is what
  CHECK(read_nccl_tests("# size time\n12 x\nNCCL failure\n12\n").empty());
}

TEST_CASE("NCCL: a case of peers says its collective and number of GPUs, others don't") {
  const auto shape = peer_case("peers: all_gather, 4 GPUs");
  REQUIRE(shape);
  CHECK(shape->collective == "all_gather");
  CHECK(shape->gpus == 4);
  CHECK(nccl_figure(*shape, Bytes{1024}) == "nccl all_gather, 4 GPUs, 1024 B");
  for (const char* other :
       {"", "peers: ", "peers: all_gather", "peers: all_gather, GPUs", "peers: all_gather,  GPUs",
        "peers: all_gather, 4 GPU", "peers: all_gather, -4 GPUs", "peers: all_gather, 0 GPUs",
        "peers: all_gather, 4x GPUs", "gpu_dgx1: all_gather, 4 GPUs", "peers: , GPUs",
        "peers: all_gather, 99999999999 GPUs", " GPUs", "peers:  GPUs"})
    CHECK_FALSE(peer_case(other));
}

} // namespace nccl_test
