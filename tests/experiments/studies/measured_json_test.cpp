// Measurements in JSON: reports of nccl-tests, records of rccl-tests, and files that end too early.
#include "experiments/driver/studies/measurements/measured_row.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "tests/catch.hpp"

#include <string>

namespace measured_json_test {

using namespace tutti;

namespace {

Measurements read(const std::string& text, const MeasurementRequest& request = {}) {
  const ScratchFolder folder;
  const std::string file = folder.path() + "/file";
  write_file(file, text);
  return read_measurements(file, request);
}

std::string result(const std::string& out, const std::string& in, const std::string& more = "") {
  return R"({"size": 1048576, "count": 262144, "type": "float", "redop": "sum", "root": "    -1",)"
         "\n"
         R"( "out_of_place": )" +
         out + R"(, "in_place": )" + in + more + "}";
}

const std::string good = R"({"time": 50.0, "alg_bw": 20.97, "bus_bw": 20.97, "nwrong": 0.0})";

std::string report(const std::string& results) {
  return R"({"version": 2, "args": ["/x/all_reduce_perf", "-b", "1M"], "env": ["NCCL_ALGO=Ring", )"
         R"("A=B"], "nccl_version": 22707, "config": {"ngpus": 2, "devices": [)"
         R"({"rank": 0, "group": 0, "hostname": "a", "device_hex": "00", "device_info": "H100"}, )"
         R"({"rank": 1, "group": 0, "hostname": "b", "device_hex": "01", "device_info": "H100"}]},)"
         "\n\"results\": [" +
         results + "]}";
}

} // namespace

TEST_CASE("a report of nccl-tests: places, what is missing, iterations, facts") {
  const std::string per_iteration =
      R"(, "out_of_place_per_iter": {"min_us": 49, "times_us": [60.0, 49.0, 41.0]})";
  const Measurements made = read(
      report(result(good, R"({"time": 52.0, "alg_bw": 20.16, "bus_bw": 20.16, "nwrong": null})",
                    per_iteration) +
             ",\n" + result("null", good)));
  REQUIRE(made.rows.size() == 3);
  CHECK(made.rows[0].kind == CollectiveKind::all_reduce);
  CHECK(made.rows[0].npus == 2);
  CHECK(made.rows[0].seconds == Approx(50e-6));
  CHECK(made.rows[0].line == 2);
  REQUIRE(made.rows[0].iteration_seconds.size() == 3);
  CHECK(made.rows[0].iteration_seconds[0] == Approx(60e-6));
  CHECK(made.rows[1].is_in_place);
  CHECK(made.rows[2].is_in_place);
  CHECK(made.rows[2].line == 4);
  CHECK(made.facts.nccl_version->value == "2.27.7");
  CHECK(made.facts.environment.at("NCCL_ALGO").value == "Ring");
  REQUIRE(made.facts.devices.size() == 2);
  CHECK(made.facts.devices[1].host == "b");
}

TEST_CASE("of a report that ends too early, complete rows count") {
  const std::string whole = report(result(good, good) + "," + result(good, "null"));
  const std::size_t second = whole.rfind("{\"size\"");
  for (const std::size_t cut : {second - 1, second + 20, whole.rfind("20.97")}) {
    CAPTURE(whole.substr(cut));
    const Measurements made = read(whole.substr(0, cut));
    CHECK(made.rows.size() == 2);
    CHECK_FALSE(made.notes.empty());
  }
}

TEST_CASE("wrong rows of a report are left out, another collective is refused") {
  const Measurements made = read(report(
      result(good, R"({"time": 50.0, "alg_bw": 40.0, "bus_bw": 40.0, "nwrong": 0.0})") + "," +
      result(R"({"time": 50.0, "alg_bw": 20.97, "bus_bw": 20.97, "nwrong": 7.0})", "null")));
  CHECK(made.rows.size() == 1);
  REQUIRE(made.left_out.size() == 2);
  CHECK_THAT(made.left_out[1], ContainsSubstring("7 elements are wrong"));
  CHECK_THROWS_WITH(read(report(result(good, good)), {CollectiveKind::broadcast, {}}),
                    ContainsSubstring("all_reduce, and broadcast was asked for"));
}

TEST_CASE("records of rccl-tests: on lines, in a list, of ranks or GPUs") {
  const std::string one =
      R"({"#wrong":"0","algBw":20.97,"busBw":31.46,"gpus":4,"inPlace":0,"name":"AllReduce",)"
      R"("redop":"sum","size":1048576,"time":50.0,"type":"float"})";
  const std::string other =
      R"({"numCycle":0, "name":"SendRecv", "nodes":2, "ranks":8, "ranksPerNode":4, )"
      R"("gpusPerRank":2, "size":1048576, "type":"float", "redop":"none", "inPlace":1, )"
      R"("time":50.0, "algBw":20.97, "busBw":20.97, "wrong":"N/A"})";
  for (const std::string& text : {one + "\n" + other + "\n", "[\n" + one + ",\n" + other + "\n]\n",
                                  "[1,0]<stdout>:" + one + "\n[1,0]<stdout>:" + other + "\n"}) {
    CAPTURE(text);
    const Measurements made = read(text);
    REQUIRE(made.rows.size() == 2);
    CHECK(made.rows[0].npus == 4);
    CHECK_FALSE(made.rows[0].is_in_place);
    CHECK(made.rows[1].kind == CollectiveKind::sendrecv);
    CHECK(made.rows[1].npus == 16);
    CHECK(made.rows[1].is_in_place);
    CHECK(made.rows[1].line == made.rows[0].line + 1);
  }
  const Measurements bad = read(one + "\nnot JSON\n" + one + "\n");
  CHECK(bad.rows.size() == 2);
  CHECK_THAT(bad.left_out.at(0), ContainsSubstring(":2: no JSON record on one line"));
}

TEST_CASE("tables that rccl-tests writes") {
  const Measurements made = read(
      "numCycle,collective,nodes,ranks,ranksPerNode,gpusPerRank,size,type,redop,inplace,time,algbw,"
      "busbw,#wrong\n0,AllReduce,1,4,4,1,1048576,float,sum,1,50.0,20.97,31.46,0\n");
  REQUIRE(made.rows.size() == 1);
  CHECK(made.rows[0].npus == 4);
  CHECK(made.rows[0].is_in_place);
  CHECK(made.rows[0].seconds == Approx(50e-6));
}

} // namespace measured_json_test
