// `tutti sweep` as a user calls it.
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/cli/run_tutti.hpp"
#include "tests/explored_page.hpp"
#include "tests/paths.hpp"
#include "tests/temporary_folder.hpp"

#include <filesystem>
#include <string>

namespace sweep_cli_test {

using namespace tutti;

namespace {

namespace fs = std::filesystem;

const std::string rings = R"(name = "rings"
title = "Rings <of> NPUs"
constraints = ["n != 5"]
[parameters]
n = {from = 4, to = 8, step = 1}
size = ["1MiB", "1KiB"]
algorithm = ["ring", "direct", "rhd"]
[experiment]
topologies = {net = "ring:${n}"}
[[experiment.runs]]
collectives = ["all_gather"]
sizes = ["${size}"]
algorithms = ["${algorithm}"]
engine = "native"
[objectives]
time = "collective_time_s"
count = "n"
[[pareto]]
label = "front"
x = "count"
y = "time"
[[best]]
label = "best"
objective = "time"
of = "algorithm"
x = "n"
y = "size"
)";

/// A folder with the sweep in rings.toml.
struct Workplace {
  Workplace() { write_file(folder.file("rings.toml"), rings); }
  CommandResult sweep(const std::string& arguments) const {
    return run_tutti("sweep rings.toml " + arguments, folder);
  }
  std::string read(const std::string& file) const { return read_file(folder.file(file)); }
  bool has(const std::string& file) const { return fs::exists(folder.file(file)); }
  TemporaryFolder folder;
};

} // namespace

TEST_CASE("a sweep leaves a store, tables, figures, a page and where they come from") {
  const Workplace place;
  const CommandResult first = place.sweep("--jobs 2");
  INFO(first.err);
  CHECK(first.code == 0);
  // 4 rings (5 is left out) x 2 sizes x 3 algorithms; rhd needs a power of 2: not 6, 7.
  CHECK_THAT(
      first.out,
      ContainsSubstring("24 points (6 left out by constraints, or drawn twice): 20 done, 4 uns"));
  CHECK_THAT(first.out, ContainsSubstring("24 simulated now"));
  for (const char* file : {"sweep.sqlite", "points.csv", "pareto_front.csv", "best_best.csv",
                           "index.html", "rings.toml", "versions.json"})
    CHECK(place.has(std::string("out/rings/") + file));
  CHECK(place.read("out/rings/rings.toml") == rings);
  const nlohmann::json page = explored_page::data_of(place.read("out/rings/index.html"));
  CHECK(page["title"] == "Rings <of> NPUs");
  CHECK(page["runs"].size() == 4); // a network for each ring that was tried
  CHECK(explored_page::results_of(page)["tables"][1]["runs"].size() == 24);
  const std::string points = place.read("out/rings/points.csv");

  const CommandResult again = place.sweep("--jobs 2");
  CHECK_THAT(again.out, ContainsSubstring("all were there already"));
  CHECK(place.read("out/rings/points.csv") == points);

  // Another number of jobs, with no remembered schedules: the same bytes.
  CHECK(place.sweep("--jobs 1 --cache none --out other").code == 0);
  CHECK(place.read("other/points.csv") == points);
  CHECK(place.read("other/index.html") == place.read("out/rings/index.html"));
}

TEST_CASE("a sweep that has grown computes what is new") {
  const Workplace place;
  CHECK(place.sweep("").code == 0);
  std::string grown = rings;
  grown.replace(grown.find("to = 8"), 6, "to = 9");
  write_file(place.folder.file("rings.toml"), grown);
  CHECK_THAT(place.sweep("").out,
             ContainsSubstring("30 points") && ContainsSubstring("6 simulated"));
}

TEST_CASE("shards are merged to what one sweep gives") {
  const Workplace place;
  CHECK(place.sweep("--out one").code == 0);
  for (const char* shard : {"0/3", "1/3", "2/3"}) {
    const CommandResult part = place.sweep(std::string("--out parts --shard ") + shard);
    CHECK(part.code == 0);
    CHECK_THAT(part.out,
               ContainsSubstring("8 points") && ContainsSubstring("--merge parts/shard-"));
  }
  const CommandResult merged = place.sweep("--out parts --merge parts/shard-*.sqlite");
  INFO(merged.err);
  CHECK(merged.code == 0);
  CHECK_THAT(merged.out, ContainsSubstring("24 points taken over from 3 stores"));
  CHECK(place.read("parts/points.csv") == place.read("one/points.csv"));
}

TEST_CASE("a report simulates nothing, and may be of one analysis") {
  const Workplace place;
  CHECK(place.sweep("--report").code == 2);
  CHECK(place.sweep("").code == 0);
  fs::remove(place.folder.file("out/rings/points.csv"));
  fs::remove(place.folder.file("out/rings/best_best.csv"));
  const CommandResult one = place.sweep("--report --only best");
  CHECK(one.code == 0);
  CHECK(place.has("out/rings/best_best.csv"));
  CHECK_FALSE(place.has("out/rings/points.csv"));
  CHECK(place.sweep("--report").code == 0);
  CHECK(place.has("out/rings/points.csv"));
  CHECK_THAT(place.sweep("--report --only bset").err,
             ContainsSubstring("unknown analysis \"bset\"") && ContainsSubstring("front"));
}

TEST_CASE("a batch script calls the sweep by shards, or by MPI") {
  const Workplace place;
  CHECK(place.sweep("--emit-slurm a.sbatch --slurm-shards 5").code == 0);
  CHECK_THAT(place.read("a.sbatch"), ContainsSubstring("#SBATCH --array=0-4") &&
                                         ContainsSubstring("--shard") &&
                                         ContainsSubstring("--merge"));
  CHECK(place.sweep("--emit-slurm b.sbatch --slurm-tasks 7").code == 0);
  CHECK_THAT(place.read("b.sbatch"),
             ContainsSubstring("#SBATCH --ntasks=7") && ContainsSubstring("--engine mpi"));
  CHECK_FALSE(place.has("out"));
}

TEST_CASE("bad sweeps are refused in words") {
  const Workplace place;
  const auto refused = [&place](const std::string& arguments, const std::string& words) {
    const CommandResult result = place.sweep(arguments);
    INFO(result.err);
    CHECK(result.code == 2);
    CHECK_THAT(result.err, ContainsSubstring(words));
  };
  refused("--engine gpu", "unknown engine \"gpu\"");
  refused("--shard 3/3", "--shard");
  refused("--shard 0/2 --report", "exclude each other");
  refused("--only front", "--only goes with --report");
  refused("--slurm-shards 3", "there is no --emit-slurm");
  refused("--merge nowhere.sqlite", "nowhere.sqlite");
  write_file(place.folder.file("file"), "");
  refused("--out file/x", "file/x: cannot write");
  write_file(place.folder.file("no.sqlite"), "this is no database, but long enough to be one");
  refused("--store no.sqlite", "no.sqlite");
  CHECK(place.read("no.sqlite").starts_with("this is"));

  const CommandResult unknown = run_tutti("sweep sweeps/quik", place.folder);
  CHECK(unknown.code == 2);
  CHECK_THAT(unknown.err, ContainsSubstring("did you mean \"sweeps/quick\""));
  std::string none = rings;
  none.replace(none.find("n != 5"), 6, "n == 3");
  write_file(place.folder.file("none.toml"), none);
  CHECK_THAT(run_tutti("sweep none.toml", place.folder).err,
             ContainsSubstring("none.toml:3:") && ContainsSubstring("n == 3"));
  CHECK_THAT(run_tutti("run sweeps/quick", place.folder).err, ContainsSubstring("tutti sweep"));
}

TEST_CASE("refused points are told with the first message; if all are, the sweep is refused") {
  const Workplace place;
  const auto with_sizes = [&place](const std::string& sizes) {
    std::string changed = rings;
    changed.replace(changed.find("[\"1MiB\", \"1KiB\"]"), 16, sizes);
    write_file(place.folder.file("rings.toml"), changed);
    return place.sweep("--out " + std::to_string(sizes.size()));
  };
  const CommandResult some = with_sizes("[\"1MiB\", \"1B\"]");
  CHECK(some.code == 0);
  CHECK_THAT(some.err, ContainsSubstring("tutti: 12 refused, first: ") && ContainsSubstring("1B"));
  const CommandResult all = with_sizes("[\"1B\"]");
  CHECK(all.code == 2);
  CHECK_THAT(all.err, ContainsSubstring("tutti: all 12 refused, first: "));
  CHECK_THAT(all.out, ContainsSubstring("12 points"));
}

TEST_CASE("points without a value of `largest` are no constraint's") {
  const Workplace place;
  std::string bought = rings;
  bought.replace(bought.find("[experiment]"), 12,
                 "[derived]\nk = {largest = \"k * n <= 40\", from = 6, to = 9}\n[experiment]");
  write_file(place.folder.file("rings.toml"), bought);
  CHECK_THAT(place.sweep("").out,
             ContainsSubstring("12 points (6 left out by constraints, or drawn "
                               "twice; 12 left out as no value fulfils "
                               "`largest`): "));
}

TEST_CASE("without the program for MPI, what to install is said") {
  const Workplace place;
  const std::string alone = place.folder.file("tutti");
  fs::copy_file(TUTTI_COMMAND, alone); // without tutti_mpi beside it
  const std::string err = place.folder.file("err");
  const int status = std::system(("cd '" + place.folder.file("") + "' && '" + alone +
                                  "' sweep rings.toml --engine mpi 2>'" + err + "'")
                                     .c_str());
  CHECK(WEXITSTATUS(status) == 2);
  CHECK_THAT(read_file(err), ContainsSubstring("libboost-mpi-dev"));
}

} // namespace sweep_cli_test
