// `tutti import` under a transport: protocols, channels and ranges of programs decide which one is
// best for which size, and NCCL stands beside them.
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/cli/run_tutti.hpp"
#include "tests/temporary_folder.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <utility>

namespace import_cli_test {

using namespace tutti;
using Catch::Matchers::Contains;
using Json = nlohmann::json;

TEST_CASE("which program is best for which size is a row for each, beside NCCL") {
  const TemporaryFolder folder;
  run_tutti("synth -t dgx_a100 -c all_gather --size 1MiB -a direct --chunks 1 -o direct.json",
            folder);
  const auto lower = [&](const std::string& how, const std::string& file) {
    REQUIRE(run_tutti("lower -t dgx_a100 direct.json " + how + " -o " + file, folder).code == 0);
  };
  lower("--protocol LL --max-bytes 512KiB", "ll.xml");
  lower("--protocol Simple --min-bytes 512KiB", "simple.xml");
  lower("--protocol Simple --instances 4", "wide.xml");
  const CommandResult run = run_tutti("import -t dgx_a100 --size 1KiB,64MiB --transport nccl "
                                      "--discipline fifo --json ll.xml simple.xml wide.xml",
                                      folder);
  REQUIRE(run.code == 0);
  CHECK_THAT(run.err, Contains("ll: 64MiB outside its range of 0B to 512KiB"));
  CHECK_THAT(run.err, Contains("simple: 1KiB outside its range of 512KiB to "));
  CHECK_THAT(run.err, !Contains("wide: "));
  std::map<std::pair<std::string, std::int64_t>, Json> rows;
  const Json answer = Json::parse(run.out);
  for (const Json& row : answer["runs"]) rows[{row["algorithm"], row["size_bytes"]}] = row;
  REQUIRE(rows.size() == 2 * 4);
  constexpr std::int64_t small = 1 << 10, large = 64 << 20;
  const auto time = [&](const std::string& algorithm, std::int64_t size) {
    return (rows[{algorithm, size}]["collective_time_ps"].get<std::int64_t>());
  };
  CHECK(rows[{"ll", small}]["transport"] == "nccl, ll");
  CHECK(rows[{"wide", small}]["transport"] == "nccl, simple");
  CHECK(time("ll", small) < time("simple", small));
  CHECK(time("simple", large) < time("ll", large));
  CHECK(time("wide", large) < time("simple", large)); // four thread blocks for each peer
  CHECK(
      rows[{"wide", large}]["over_nccl"].get<double>() ==
      Approx(static_cast<double>(time("nccl", large)) / static_cast<double>(time("wide", large))));
  // One schedule can be written, not eight.
  CHECK(run_tutti("import -t dgx_a100 --size 1KiB ll.xml simple.xml -o x.json", folder).code == 2);
}

TEST_CASE("a schedule is replayed under a transport, too") {
  const TemporaryFolder folder;
  run_tutti("synth -t dgx_h100 -c all_gather --size 1MiB -a direct --chunks 1 -o direct.json",
            folder);
  const std::string how = " --transport nccl --json";
  const Json made = Json::parse(
      run_tutti("synth -t dgx_h100 -c all_gather --size 1MiB -a direct --chunks 1" + how, folder)
          .out)["runs"][0];
  const Json again = Json::parse(
      run_tutti("replay -t dgx_h100 direct.json --engine native" + how, folder).out)["runs"][0];
  CHECK(again["transport"] == made["transport"]);
  CHECK(again["collective_time_ps"] == made["collective_time_ps"]);
  CHECK(run_tutti("replay -t ring:4 direct.json --transport ncll", folder).code == 2);
}

} // namespace import_cli_test
