// Inputs on which answers were once wrong, missing or misleading, as commands and what is right of
// their answers. They lie beside the repository, and where they don't, there is nothing to ask.
#include "tests/catch.hpp"
#include "tests/experiments/cli/run_tutti.hpp"
#include "tests/paths.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace shared_cases_test {

using namespace tutti;

namespace {

using Json = nlohmann::json;

class Cases {
public:
  /// Whether they lie here; says so in one line where not.
  [[nodiscard]] static bool are_here() {
    if (std::filesystem::exists(folder())) return true;
    WARN("no shared/cases beside the repository: skipped");
    return false;
  }
  [[nodiscard]] static std::string folder() {
    return (std::filesystem::path(TUTTI_SOURCE_DIR).parent_path() / "shared/cases").string();
  }
  /// `@` stands for the folder of cases.
  [[nodiscard]] CommandResult run(std::string arguments) const {
    for (std::size_t at = arguments.find('@'); at != std::string::npos;
         at = arguments.find('@', at))
      if (arguments.compare(at, 2, "@/") == 0)
        arguments.replace(at, 1, folder());
      else
        ++at; // 50%,...
    return run_tutti(arguments, folder_);
  }
  [[nodiscard]] Json rows(const std::string& arguments) const {
    const CommandResult result = run(arguments + " --json");
    INFO(arguments << '\n' << result.err);
    REQUIRE(result.code == 0);
    return Json::parse(result.out).at("runs");
  }
  [[nodiscard]] double time(const std::string& arguments) const {
    return rows(arguments).at(0).at("collective_time_ps").get<double>();
  }

private:
  TemporaryFolder folder_;
};

} // namespace

TEST_CASE("cases: a planner that isn't made for what is left hands over", "[slow]") {
  if (!Cases::are_here()) return;
  const Cases cases;
  for (const char* planner : {"flows", "taccl", "sccl", "teccl", "tacos"})
    for (const char* network : {"ring:4", "mesh2d:3x3", "torus2d:3x3", "hypercube:3",
                                "fully_connected:5", "switch:5", "dgx1", "dgx_h100"}) {
      const CommandResult result = cases.run(
          std::string("failures -t ") + network + " -c all_reduce -a " + planner +
          " --size 1MB --event at=50%,npu_down=npu2 --policy resynthesize,restart --json");
      INFO(network << ' ' << planner << '\n' << result.err);
      REQUIRE(result.code == 0);
      for (const Json& row : Json::parse(result.out).at("runs")) {
        CHECK(row.at("complete") == true);
        CHECK(row.at("missing") == 0);
      }
    }
}

TEST_CASE("cases: All-Reduce among those that can be reached, and sums at those that can't reduce",
          "[slow]") {
  if (!Cases::are_here()) return;
  const Cases cases;
  for (const std::string files :
       {"-t @/P1_flows_npu_down/iso.toml -c @/P1_flows_npu_down/iso.c.toml",
        "-t @/F1_flows_defect/f.toml -c @/F1_flows_defect/f.c.toml"})
    for (const char* algorithm : {"tacos", "flows", "taccl", "teccl"}) {
      INFO(files << ' ' << algorithm);
      CHECK(cases.rows("synth " + files + " -a " + algorithm).at(0).at("verified") == true);
    }
  const CommandResult all =
      cases.run("synth -t @/F1_flows_defect/f.toml -c @/F1_flows_defect/f.c.toml "
                "-a flows,taccl,tacos,direct,sccl,teccl --json");
  CHECK(all.code == 0);
  for (const Json& row : Json::parse(all.out).at("runs"))
    CHECK((row.at("verified") == true || row.at("status") == "unsupported"));
  // Nothing leads out of n2, which can't reduce: its part and the sum never meet.
  const CommandResult none =
      cases.run("synth -t @/F1_flows_defect/mf.toml -c @/F1_flows_defect/mf.c.toml "
                "-a flows,taccl,tacos,direct,sccl,teccl --json");
  CHECK(none.code == 1);
  for (const Json& row : Json::parse(none.out).at("runs")) CHECK(row.at("status") == "infeasible");
}

TEST_CASE("cases: bandwidths that differ a millionfold", "[slow]") {
  if (!Cases::are_here()) return;
  const Cases cases;
  for (const char* chunks : {"1", "4", "8"})
    CHECK(cases
              .rows(std::string("synth -t @/T1_taccl_defect/t.toml -c scatter -a taccl --size "
                                "4904387B --chunks ") +
                    chunks)
              .at(0)
              .at("verified") == true);
}

TEST_CASE("cases: an order that depends on less than a picosecond is no defect", "[slow]") {
  if (!Cases::are_here()) return;
  const Cases cases;
  CHECK(cases.run("synth -t @/E1_engines/t.toml -c @/E1_engines/c.toml -a direct --engine both")
            .code == 0);
  CHECK(cases
            .run("failures -t @/E2_failures_both/t.toml -c @/E2_failures_both/c.toml -a direct "
                 "--engine both --policy report --event 'at=99%,link_down=npu0>npu1'")
            .code == 0);
}

TEST_CASE("cases: chunks that are chosen", "[slow]") {
  if (!Cases::are_here()) return;
  const Cases cases;
  for (const std::string run : {"synth -t dgx1 -c broadcast --size 16MiB -a taccl",
                                "synth -t mesh2d:4x4 -c reduce --size 1MiB -a taccl",
                                "synth -t mi300x -c broadcast --size 16MiB -a taccl"})
    CHECK(cases.time(run) <= 1.15 * cases.time(run + " --chunks 64"));
}

TEST_CASE("cases: other names and more links cost no time", "[slow]") {
  if (!Cases::are_here()) return;
  const Cases cases;
  for (const char* algorithm : {"flows", "tacos", "taccl"}) {
    INFO(algorithm);
    const auto gather = [&](const char* network) {
      return cases.time(std::string("synth -t @/Q2_flows_parallel_links/") + network +
                        " -c gather,group=0+1,root=0 --size 65536B -a " + algorithm);
    };
    CHECK(gather("f1.toml") == Approx(gather("f1.r.toml")).epsilon(0.02));
  }
  const auto rails = [&](const char* network) {
    return cases.time(std::string("synth -t @/users/") + network + " -c all_reduce -a tacos");
  };
  CHECK(rails("rails4_spine.toml") <= 1.02 * rails("rails4_nopart.toml"));
  CHECK(rails("rail256.csv") == Approx(rails("rail256_sorted.csv")).epsilon(0.02));
}

TEST_CASE("cases: files and rows", "[slow]") {
  if (!Cases::are_here()) return;
  const Cases cases;
  const auto fingerprint = [&](const std::string& network) {
    return Json::parse(cases.run("show -t " + network + " --json").out)
        .at("runs")
        .at(0)
        .at("fingerprint");
  };
  for (const char* network : {"o1.toml", "min.toml"}) {
    const std::string given = std::string("@/L1_convert_group_order/") + network;
    REQUIRE(cases.run("convert " + given + " again.toml").code == 0);
    CHECK(fingerprint(given) == fingerprint("again.toml"));
  }
  CHECK_THAT(cases.run("convert @/L2_simgrid_stoi/m.xml x.toml").err,
             ContainsSubstring("m.xml:11:6: topo_parameters") &&
                 ContainsSubstring("4294967295 is more than 2147483647"));
  const Json row = cases
                       .rows("synth -t ring:3,bandwidth=3GB/s,latency=0s -c all_gather --size "
                             "1000B -a ring --chunks 1 --engine simgrid")
                       .at(0);
  CHECK(row.at("gap_at_chunks").get<double>() >= 1);
  CHECK_THAT(cases.run("compare -t dgx_h100:2 @/users/05_glued_row.log").err,
             ContainsSubstring("05_glued_row.log:34: a row is left out"));
  CHECK_THAT(cases.run("show -t @/users/jellyfish4096.csv.gz").out,
             ContainsSubstring("4096 NPUs, 1024 switches"));
}

} // namespace shared_cases_test
