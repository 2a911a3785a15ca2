// Logs and tables of measurements: all versions of nccl-tests' columns, the Inspector's records,
// CSV, and what is wrong in each, by its line.
#include "experiments/driver/studies/measurements/comparison.hpp"
#include "experiments/driver/studies/measurements/measured_row.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "topologies/list.hpp"

#include <cmath>
#include <span>
#include <string>
#include <vector>

namespace measured_row_test {

using namespace tutti;

namespace {

/// A file of its own for each text.
class Files {
public:
  std::string written(const std::string& text) {
    const std::string file = folder_.path() + "/log" + std::to_string(count_++);
    write_file(file, text);
    return file;
  }

private:
  ScratchFolder folder_;
  int count_ = 0;
};

std::string ranks(int count) {
  std::string text = "# Using devices\n";
  for (int r = 0; r < count; ++r)
    text += "#  Rank " + std::string(r < 10 ? " " : "") + std::to_string(r) +
            " Group  0 Pid 1 on host device  0 [0000:18:00] NVIDIA H100 80GB HBM3\n";
  return text;
}

const std::string names_with_root = "#       size         count      type   redop    root     time "
                                    "  algbw   busbw  #wrong     time   "
                                    "algbw   busbw  #wrong\n"
                                    "#        (B)    (elements)                               (us) "
                                    " (GB/s)  (GB/s)             (us)  "
                                    "(GB/s)  (GB/s)\n";
const std::string end = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 1\n";

std::string refused(const std::string& text, const MeasurementRequest& request = {}) {
  Files files;
  const std::string file = files.written(text);
  try {
    (void)read_measurements(file, request);
  } catch (const InputError& error) {
    const std::string what = error.what();
    REQUIRE(what.starts_with(file + ":"));
    return what.substr(file.size() + 1);
  }
  return "";
}

MeasurementComparison compared(const Case& of, std::span<const MeasuredRow> rows) {
  return compare_measurements(of, "", rows, [](std::span<const Case> cases) {
    std::vector<Evaluation> evaluations;
    for (const Case& c : cases) evaluations.push_back(evaluate(c));
    return evaluations;
  });
}

} // namespace

TEST_CASE("a log of today's nccl-tests: both places, N/A, other lines between") {
  Files files;
  const Measurements made = read_measurements(
      files.written(
          "+ mpirun -np 8 all_gather_perf -b 1M\n"
          "# nccl-tests version 2.17.6 nccl-headers=22907 nccl-library=22907\n"
          "# Collective test starting: all_reduce_perf\n# nThread 1 nGpus 1\n" +
          ranks(8) + "#\n#            out-of-place      in-place\n" + names_with_root +
          "host:1:1 [0] NCCL INFO Connected all rings\n"
          "     1048576        262144     float     sum      -1    34.07   30.78   53.86  "
          "     0    34.05   30.79   53.89       0\n"
          "      524288        131072     float     sum      -1    30.00   17.48   30.58  "
          "     0      N/A     N/A     N/A     N/A\n" +
          end),
      {});
  REQUIRE(made.rows.size() == 3);
  CHECK(made.notes.empty());
  CHECK(made.rows[0].kind == CollectiveKind::all_reduce);
  CHECK(made.rows[0].npus == 8);
  CHECK(made.rows[0].size == Bytes{1048576});
  CHECK(made.rows[0].seconds == Approx(34.07e-6));
  CHECK_FALSE(made.rows[0].is_in_place);
  CHECK(made.rows[1].is_in_place);
  CHECK(made.rows[1].seconds == Approx(34.05e-6));
  CHECK(made.rows[2].size == Bytes{524288}); // out of order, as it stands
  CHECK(made.rows[2].line == 20);
}

TEST_CASE(
    "an old log without root, with error, and prefixes of a launcher; its test by its command") {
  Files files;
  const std::string names = "#       size         count      type   redop     time   algbw   busbw "
                            " error     time   algbw "
                            "  busbw  error\n";
  const Measurements made = read_measurements(
      files.written(
          "$ ./build/alltoall_perf -g 2\n[1,0]<stdout>:# nThread 1 nGpus 2\n"
          "[1,0]<stdout>:#   Rank  0 Pid 1 on a device 0 [0x00] V100\n"
          "[1,0]<stdout>:#   Rank  1 Pid 1 on a device 1 [0x00] V100\n[1,0]<stdout>:" +
          names +
          "[1,0]<stdout>:  1048576  262144  float  none  100.0  10.49  5.24  0e+00  100.0  "
          "10.49  5.24  N/A\n"),
      {});
  REQUIRE(made.rows.size() == 2);
  CHECK(made.rows[0].kind == CollectiveKind::all_to_all);
  CHECK(made.rows[0].npus == 2);
  REQUIRE(made.notes.size() == 1); // without its last lines
  CHECK_THAT(made.notes[0], ContainsSubstring(":6: the test ends after this row"));
}

TEST_CASE("figures per iteration and time stamps stand in columns of their own") {
  Files files;
  const Measurements made = read_measurements(
      files.written(
          "# Collective test starting: broadcast_perf\n" + ranks(4) +
          "# size count type redop root time algbw busbw #wrong i_min i_max i_p99 i_cv "
          "time algbw busbw #wrong i_min i_max i_p99 i_cv timestamp\n"
          "8388608 2097152 float none 0 100.0 83.89 83.89 0 1 2 3 4 200.0 41.94 41.94 0 1 "
          "2 3 4 12:00:01\n" +
          end),
      {});
  REQUIRE(made.rows.size() == 2);
  CHECK(made.rows[0].seconds == Approx(100e-6));
  CHECK(made.rows[1].seconds == Approx(200e-6));
}

TEST_CASE("several tests in one log each have their collective and ranks") {
  Files files;
  const std::string row = "1048576 262144 float sum -1 34.07 30.78 ";
  const Measurements made = read_measurements(
      files.written("# Collective test starting: all_reduce_perf\n" + ranks(8) + names_with_root +
                    row + "53.86 0 N/A N/A N/A N/A\n" + end +
                    "# Collective test starting: reduce_scatter_perf\n" + ranks(4) +
                    names_with_root + row + "23.09 0 N/A N/A N/A N/A\n" + end),
      {});
  REQUIRE(made.rows.size() == 2);
  CHECK(made.rows[1].kind == CollectiveKind::reduce_scatter);
  CHECK(made.rows[1].npus == 4);
}

TEST_CASE("what is wrong in a log is told by its line, and nothing is guessed") {
  const std::string before = "# Collective test starting: all_reduce_perf\n" +
                             ranks(2) +       // to line 4
                             names_with_root; // to line 6
  const std::string row = "8388608 2097152 float sum -1 100.0 83.89 ";
  CHECK(refused("8388608 2097152 float sum -1 100.0 83.89 83.89 0 N/A N/A\n") ==
        "1: a row before the line that names its columns (# size count type ...)");
  CHECK(refused(before + "8388608 2097152 float sum -1 100") ==
        "7: 6 values in 13 columns: cut short");
  CHECK(refused(before + row + "83.89 3 N/A N/A N/A N/A\n") == "7: 3 elements are wrong");
  CHECK(refused(before + row + "146.8 0 N/A N/A N/A N/A\n") ==
        "7: busbw is 1.750 times algbw, of 2 ranks and all_reduce it is 1.000 times");
  CHECK(refused(before + "8388608 2097152 float sum -1 100.0 40.0 40.0 0 N/A N/A N/A N/A\n") ==
        "7: algbw 40 isn't size over time, 83.89 GB/s");
  CHECK(refused(before + "8388608 2097152 float sum -1 x 83.89 83.89 0 N/A N/A N/A N/A\n") ==
        "7: time \"x\" is no number");
  CHECK(refused(before + "8388608 2097152 float sum -1 0 83.89 83.89 0 N/A N/A N/A N/A\n") ==
        "7: a time that isn't above 0");
  CHECK(refused("# Collective test starting: gossip_perf\n") == "1: unknown test \"gossip_perf\"");
  CHECK(refused(ranks(2) + names_with_root + row + "83.89 0 N/A N/A N/A N/A\n") ==
        "6: the log doesn't say of which collective: give it with -c");
  CHECK(refused(before + row + "83.89 0 N/A N/A N/A N/A\n", {CollectiveKind::broadcast, {}}) ==
        "1: all_reduce, and broadcast was asked for");
  CHECK_THAT(refused("#  Rank  0 Pid 1 on a\n#  Rank  0 Pid 2 on b\n"),
             ContainsSubstring("2: rank 0 a second time"));
  CHECK(refused("nothing\n") == " no row of nccl-tests (\"size count type ...\")");
  CHECK(refused("") == " no row of nccl-tests (\"size count type ...\")");
}

TEST_CASE("a table in CSV, quotes and a choice of rows") {
  Files files;
  const std::string file =
      files.written("source,hardware,npus,collective,bytes,time_us,algbw_GBps,busbw_GBps\n"
                    "a,\"8x H100, NVLS\",8,AllReduce,8388608,79.0,106.18,185.82\n"
                    "b,8x A100,8,AllGather,8388608,,,100\n");
  const Measurements made = read_measurements(file, {std::nullopt, {{"hardware", "H100"}}});
  REQUIRE(made.rows.size() == 1);
  CHECK(made.rows[0].seconds == Approx(79e-6));
  const Measurements all = read_measurements(file, {});
  REQUIRE(all.rows.size() == 2);
  CHECK(all.rows[1].kind == CollectiveKind::all_gather);
  CHECK(all.rows[1].seconds == Approx(8388608 / (100e9 * 8 / 7)));
  CHECK_THROWS_WITH(read_measurements(file, {std::nullopt, {{"hardware", "TPU"}}}),
                    file + ": no row of those that were asked for");
  const std::string header = "npus,collective,bytes,time_us\n";
  CHECK_THAT(refused("npus,collective,size\n"), ContainsSubstring("1:17: unknown column \"size\""));
  const Measurements one_bad =
      read_measurements(files.written(header + "8,AllReduce,1024,1\n8,AllReduce,1024,fast\n"), {});
  CHECK(one_bad.rows.size() == 1);
  REQUIRE(one_bad.left_out.size() == 1);
  CHECK_THAT(one_bad.left_out[0], ContainsSubstring(":3:18: time_us \"fast\" is no positive"));
  CHECK(refused("npus,collective,time_us\n") == "1:1: no column bytes");
  CHECK(refused(header + "8,AllReduce,1024\n") == "2:1: 3 values in 4 columns");
  CHECK(refused(header + "8,Gossip,1024,1\n") == "2:3: unknown collective \"Gossip\"");
  CHECK_THAT(refused(header + "8,AllReduce,-1,1\n"), ContainsSubstring("2:13: bytes -1"));
  CHECK(refused(header + "8,AllReduce,1024,fast\n") ==
        "2:18: time_us \"fast\" is no positive number");
  CHECK(refused(header + "8,AllReduce,1024,\n") ==
        "2:1: neither time_us nor algbw_GBps, nor busbw_GBps with npus");
}

TEST_CASE("records of the Inspector: the median of one size") {
  Files files;
  const auto record = [](int us) {
    return R"({"header":{"n_ranks":8},"coll_perf":{"coll":"AllReduce",)"
           R"("coll_msg_size_bytes":1048576,)"
           R"("coll_exec_time_us":)" +
           std::to_string(us) + "}}\n";
  };
  const Measurements made =
      read_measurements(files.written(record(50) + record(30) + record(40)), {});
  REQUIRE(made.rows.size() == 1);
  CHECK(made.rows[0].seconds == Approx(40e-6));
  CHECK(made.rows[0].line == 3);
  CHECK(refused("{\"header\":\n") == "1: no JSON record on one line");
  CHECK_THAT(refused("{\"coll_perf\":{\"coll\":\"AllReduce\"}}\n"), ContainsSubstring("1: "));
}

TEST_CASE("a row without a prediction keeps its bus bandwidth") {
  const Topology topology = make_topology("ring:6");
  Case of;
  of.topology_label = topology.name();
  of.topology = &topology;
  of.algorithm = find_algorithm("rhd"); // needs a power of two
  of.chunks = std::nullopt;
  of.engine = &find_engine("native");
  const std::vector<MeasuredRow> rows{
      {"log", 3, CollectiveKind::all_reduce, Bytes{1 << 20}, 6, false, 1e-4}};
  const MeasurementComparison made = compared(of, rows);
  REQUIRE(made.rows.size() == 1);
  CHECK_FALSE(made.rows[0].predicted.time);
  CHECK(made.rows[0].factor == Approx(2 * 5.0 / 6));
  CHECK(error_of(made.rows).rows == 0);
}

TEST_CASE("rows beside predictions, and what no such network can have measured") {
  const Topology topology = make_topology("dgx_h100");
  Case of;
  of.topology_label = topology.name();
  of.topology = &topology;
  of.algorithm = find_algorithm("nccl");
  of.chunks = std::nullopt;
  of.engine = &find_engine("native");
  MeasuredRow row{"log", 7, CollectiveKind::all_reduce, Bytes{1 << 30}, 8, false, 4e-3};
  MeasuredRow fast = row;
  fast.seconds = 1e-3; // 450 GB/s carry 1 GiB in 2.4 ms
  const std::vector<MeasuredRow> rows{row, fast};
  const MeasurementComparison made = compared(of, rows);
  REQUIRE(made.rows.size() == 2);
  CHECK(made.problems.empty());
  // Of S with k heads NVLS takes S(1 + 1/k) through each GPU's port of 450 GB/s.
  const double by_nvls = double(1 << 30) * (1 + 1 / 8.0) / 450e9;
  CHECK(made.rows[0].predicted.time->seconds() == Approx(by_nvls).epsilon(0.01));
  CHECK(made.rows[0].predicted.picked == "NCCL: nvls, simple, 16 channels");
  CHECK(made.rows[0].normality() == Normality::unknown); // ideal links have no interval
  CHECK(made.rows[1].normality() == Normality::impossible);
  const ComparisonError error = error_of(std::span(made.rows).first(1));
  CHECK(error.rows == 1);
  CHECK(error.mean == Approx(4e-3 / by_nvls - 1).epsilon(0.01));
  const std::vector<MeasuredRow> of_16{
      {"log", 9, CollectiveKind::all_reduce, Bytes{1024}, 16, false, 1e-3}};
  CHECK_THROWS_WITH(compared(of, of_16), "log:9: measured on 16 ranks, dgx_h100 has 8 NPUs");
  // A log without its list of ranks: of 16 the bus factor is 1.875, of 8 it is 1.75.
  MeasuredRow unsaid{"log", 11, CollectiveKind::all_reduce, Bytes{1 << 30}, 0, false, 4e-3};
  unsaid.bus_factor = 1.875;
  CHECK_THROWS_WITH(compared(of, std::vector{unsaid}),
                    "log:11: busbw is 1.875 times algbw, of 8 ranks and all_reduce it is 1.750 "
                    "times; dgx_h100 has 8 NPUs");
  unsaid.bus_factor = 1.75;
  CHECK(compared(of, std::vector{unsaid}).rows.size() == 1);
}

TEST_CASE("rows that are broken, wrong data and another clock are refused by their line") {
  const std::string head = "# Collective test starting: all_reduce_perf\n" + names_with_root;
  const std::string row = " 1048576  262144  float  sum  -1  34.07  30.78  53.86  0  34.05  30.79  "
                          "53.89  0\n";
  CHECK(refused(head + " 2097152  524288\n") == "4: 2 values in 13 columns: cut short");
  CHECK(refused(head + " 1M  262144  float  sum  -1  34.07  30.78  53.86  0  34.05  30.79  53.89  "
                       "0\n") == "4: size \"1M\" is not a whole number");
  CHECK(refused(head +
                " 1048576  262144  float  sum  -1  0x22  30.78  53.86  0  N/A N/A N/A N/A\n") ==
        "4: time \"0x22\" is no number");
  CHECK(refused(head + "# Out of bounds values : 12 FAILED\n") ==
        "4: wrong data: # Out of bounds values : 12 FAILED");
  {
    Files files;
    const Measurements made =
        read_measurements(files.written(head + row + " 2097152  524288\n" + row +
                                        "# Out of bounds values : 3 FAILED\n"),
                          {});
    CHECK(made.rows.size() == 4);
    CHECK(made.left_out.size() == 2); // the row that is cut, and what the test says of its data
    CHECK_THAT(made.notes.back(), ContainsSubstring("2 problems were measured more than once"));
  }
  CHECK(refused("#  size  count  type  redop  root  cputime  algbw  busbw  #wrong\n") ==
        "1: cputime is the processor's (-C 1), not the collective's");
  CHECK(refused("collective,bytes,bytes,time_us\n") == "1:18: column bytes twice");
  CHECK(refused("collective,bytes,time_us\nall_reduce,1024,\"10\n") ==
        "2:17: a quote that isn't closed");
  CHECK(refused(R"({"header": {"n_ranks": 8.9}, "coll_perf": {"coll": "AllReduce",
)") == "1: no JSON record on one line");
  CHECK(refused(R"({"header": {"n_ranks": 8.9}, "coll_perf": {"coll": "AllReduce", )"
                R"("coll_msg_size_bytes": 1024, "coll_exec_time_us": 10}})") ==
        "1: n_ranks 8.9 isn't a whole number from 0");
}

TEST_CASE("tests one after another by their command lines, time stamps, roots, groups of ranks") {
  Files files;
  const std::string head = "# nThread 1 nGpus 4\n";
  const Measurements made = read_measurements(
      files.written("./all_gather_perf -g 4\n" + head + names_with_root +
                    " 1048576  262144  float  none  -1  100.0  10.49  7.87  0  N/A N/A N/A N/A\n"
                    "./broadcast_perf -g 4 -S 1 -r 3\n" +
                    head +
                    "#  size count type redop root time algbw busbw #wrong time algbw busbw #wrong "
                    "timestamp\n"
                    " 1048576  262144  float  none  3  100.0  10.49  10.49  0  N/A N/A N/A N/A "
                    "2026-08-11 10:00:00\n" +
                    end),
      {});
  REQUIRE(made.rows.size() == 2);
  CHECK(made.rows[0].kind == CollectiveKind::all_gather);
  CHECK(made.rows[1].kind == CollectiveKind::broadcast);
  CHECK(made.rows[1].root == 3);
  REQUIRE(made.notes.size() == 1); // the first has no end
  std::string split = "# Collective test starting: all_reduce_perf\n";
  for (int r = 0; r < 8; ++r)
    split += "#  Rank " + std::to_string(r) + " Group " + std::to_string(r / 4) +
             " Pid 1 on host device 0 [0] X\n";
  split += names_with_root +
           " 1048576  262144  float  sum  -1  100.0  10.49  15.73  0  N/A N/A N/A N/A\n" + end;
  CHECK(read_measurements(files.written(split), {}).rows.at(0).npus == 4);
}

TEST_CASE("the Inspector counts a rank's share of All-Gather and Reduce-Scatter") {
  Files files;
  // 64 KiB of each of 8 ranks are 512 KiB; algobw as it prints it.
  const Measurements made = read_measurements(
      files.written(R"({"header": {"n_ranks": 8}, "coll_perf": {"coll": "ReduceScatter", )"
                    R"("coll_msg_size_bytes": 65536, "coll_exec_time_us": 20, )"
                    R"("coll_algobw_gbs": 26.2144, "coll_busbw_gbs": 22.9376}})"),
      {});
  CHECK(made.rows.at(0).size == Bytes{524288});
  CHECK(made.rows.at(0).bus_factor == Approx(7 / 8.0));
}

TEST_CASE("a row in the line of a message is read or told, and never vanishes") {
  const std::string row = "1048576 262144 float sum -1 31.99 32.78 57.37 0 32.16 32.60 57.05 0";
  const std::string other = "2097152 524288 float sum -1 36.81 56.97 99.7 0 36.49 57.47 100.6 0\n";
  const std::string message = "hgx01:40120:40399 [0] NCCL WARN Call to ibv_poll_cq failed";
  const auto rows_and_notes = [&](const std::string& line) {
    Files files;
    const Measurements made =
        read_measurements(files.written("# Collective test starting: all_reduce_perf\n" + ranks(8) +
                                        names_with_root + line + "\n" + other + end),
                          {});
    return std::pair(made.rows.size(), made.notes.size());
  };
  CHECK(rows_and_notes(row) == std::pair<std::size_t, std::size_t>(4, 0));
  CHECK(rows_and_notes(message + " " + row) == std::pair<std::size_t, std::size_t>(4, 0));
  CHECK(rows_and_notes(row + " " + message) == std::pair<std::size_t, std::size_t>(4, 0));
  CHECK(rows_and_notes(message) == std::pair<std::size_t, std::size_t>(2, 0));
  // Wherever the message runs into the row, behind what says that it is one: figures before it
  // count where they are complete, that is once a blank is behind them.
  const std::size_t has_out = row.find("31.99 ") + 6, has_in = row.find("32.16 ") + 6;
  for (std::size_t at = std::string("1048576 262144 float ").size(); at < row.size(); ++at) {
    INFO(row.substr(0, at));
    const std::size_t kept = at >= has_in ? 2 : at >= has_out ? 1 : 0;
    CHECK(rows_and_notes(row.substr(0, at) + message) == std::pair(2 + kept, std::size_t{1}));
    // And whole where the rest comes behind the message.
    CHECK(rows_and_notes(row.substr(0, at) + message + "\n" + row.substr(at)).first == 4);
  }
}

} // namespace measured_row_test
