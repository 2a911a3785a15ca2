// Programs go out in a pack, a machine without Tutti executes them, and its rows are judged: here
// the machine is tutti-gpu over the fake CUDA runtime.
#include "experiments/driver/studies/executions/pack_backend.hpp"
#include "runtime/pack/pack.hpp"
#include "runtime/pack/rows.hpp"
#include "runtime/profiling/profiler.hpp"
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/cli/run_tutti.hpp"
#include "tests/paths.hpp"
#include "tests/temporary_folder.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace pack_cli_test {

using namespace tutti;
using runtime::Pack;
using runtime::Rows;

namespace {

const std::string included = R"(
name = "other"
[topologies]
Net = "ring:2,bandwidth=10MB/s,latency=2ms"
[[executions]]
label = "one"
topology = "Net"
collective = "all_gather"
sizes = ["16KiB"]
algorithms = ["ring1"]
chunks = 1
backend = "cuda"
links = "real"
predicted_by = "nothing"
repetitions = 2
[[executions.expect]]
label = "share of the copy rate"
metric = "copy_rate_fraction"
summary = "largest"
at_least = 1e-9
)";

const std::string experiment = R"(
name = "day"
include = ["other"]
[topologies]
Net = "ring:3,bandwidth=2MB/s,latency=2ms"
[[executions]]
label = "by its links"
topology = "Net"
collective = "all_gather"
sizes = ["12KiB", "48KiB"]
algorithms = ["ring1"]
chunks = 1
backend = "cuda"
predicted_by = "topology"
repetitions = 1
warmups = 0
expect = [{label = "error by its links", summary = "error", at_most = 1000}]
[[executions]]
label = "profiled"
topology = "Net"
collective = "all_gather"
sizes = ["12KiB"]
algorithms = ["ring1"]
chunks = 1
backend = "cuda"
profile_sizes = ["4KiB", "8KiB"]
repetitions = 1
warmups = 0
expect = [{label = "error by the profile", summary = "error", at_most = 1000}]
)";

struct Day {
  TemporaryFolder folder;
  explicit Day(const std::string& toml = experiment) {
    write_file(folder.file("day.toml"), toml);
    write_file(folder.file("other.toml"), included);
  }
  [[nodiscard]] CommandResult tutti(const std::string& arguments) const {
    return run_tutti(arguments, folder);
  }
  [[nodiscard]] int gpu(const std::string& arguments) const {
    const std::string command = "cd '" + folder.file("") +
                                "' && TUTTI_FAKE_GPU=memory=2000000000 '" TUTTI_GPU_FAKE "' " +
                                arguments + " >gpu.out 2>&1";
    return WEXITSTATUS(std::system(command.c_str()));
  }
};

} // namespace

TEST_CASE("what tutti-gpu measures of a pack is judged as if it had run here") {
  const Day day;
  const CommandResult packed = day.tutti("run day.toml --pack day");
  INFO(packed.err);
  REQUIRE(packed.code == 0);
  const Pack pack = runtime::load_pack(day.folder.file("day"));
  // The program of 12 KiB is there once; 6 links of 2 sizes, one by one and at once; and all links.
  CHECK(pack.lines().size() == 2 + (6 * 2 * 2 + 1 + 1) + 1);
  CHECK(pack.files().size() == pack.lines().size() - 1);
  std::size_t predicted = 0;
  for (const runtime::PackLine& line : pack.lines()) predicted += line.predicted ? 1 : 0;
  CHECK(predicted == 3);
  // 2 steps of 4 KiB, each 2.048 ms and 2 ms.
  CHECK(pack.lines()[0].predicted == Time{8'096'000'000});
  CHECK(pack.lines().back().case_label == "other: one");
  CHECK(day.tutti("run day.toml --pack again").code == 0);
  for (const std::string& file : pack.files()) // the same bytes
    CHECK(read_file(day.folder.file("day/" + file)) == read_file(day.folder.file("again/" + file)));
  CHECK(read_file(day.folder.file("day/pack.csv")) == read_file(day.folder.file("again/pack.csv")));

  REQUIRE(day.gpu("run day --out rows.csv") == 0);
  REQUIRE(day.gpu("ticks copy_rate --pack day --out rows.csv") == 0);
  const CommandResult judged = day.tutti("run day.toml --measured rows.csv --json");
  INFO(judged.err);
  CHECK(judged.code == 0);
  const auto json = nlohmann::json::parse(judged.out);
  REQUIRE(json["studies"].size() == 3);
  const auto& run = json["runs"][0];
  CHECK(run["wrong"] == 0);
  CHECK(run["details"]["predicted_ps"][0] == 8'096'000'000);
  CHECK(json["studies"][0]["device"] == "fake GPU");
  const Rows rows = runtime::load_rows(day.folder.file("rows.csv"));
  CHECK(run["details"]["seconds"][0] ==
        rows.run(pack.checksum(pack.lines()[0].file))->execution.seconds.front());
  CHECK(json["studies"][1]["profile"]["links"].size() == 6);
  // What noise can't take away: each timing is of its row, and no link is faster than its emulation
  // (within 1 %, since blocks don't begin at once): 8 chunks of 4 KiB, each sent when the one
  // before has arrived, or all at once.
  const auto& link = json["studies"][1]["profile"]["links"][0];
  const auto& timing = link["timings"][0];
  const auto row_seconds = [&](std::size_t line) {
    return rows.run(pack.checksum(pack.lines()[line].file))->execution.median_seconds();
  };
  CHECK(timing["one_by_one_seconds"] == row_seconds(2));
  CHECK(timing["at_once_seconds"] == row_seconds(3));
  CHECK(timing["one_by_one_seconds"] >= 0.99 * 8 * (0.002048 + 0.002));
  CHECK(timing["at_once_seconds"] >= 0.99 * (8 * 0.002048 + 0.002));
  std::vector<runtime::LinkTiming> timings;
  for (const auto& each : link["timings"])
    timings.push_back({Bytes{each["size_bytes"].get<std::int64_t>()},
                       each["one_by_one_seconds"].get<double>(),
                       each["at_once_seconds"].get<double>()});
  const runtime::LinkProfile fitted = runtime::fit(LinkId{0}, timings, 8);
  CHECK(link["latency_seconds"] == fitted.latency_seconds);
  CHECK(link["seconds_per_byte"] == fitted.seconds_per_byte);
}

TEST_CASE("figures that come with rows are shown as tables show theirs") {
  runtime::Rows rows;
  const auto add = [&](const std::string& name, double value, const std::string& unit) {
    rows.figures.push_back({name, value, unit, "a GPU"});
  };
  add("copy_rate", 1.5e9, "bytes/s");
  add("copy_rate", 1.234567e12, "bytes/s"); // the last counts
  add("tick", 3.2e-8, "s");
  add("signal_peers", 9.52265e-07, "s");
  add("memory", 85'899'345'920.0, "bytes");
  add("driver", 12.4, "");
  add("processors", 132, "");
  add("nccl all_gather, 4 GPUs, 8192 B", 1.23456789e-5, "s");
  CHECK(figures_text(rows) == "copy rate: 1.235 TB/s (a GPU)\n"
                              "driver: 12.4 (a GPU)\n"
                              "memory: 80.00 GiB (a GPU)\n"
                              "nccl all gather, 4 GPUs, 8192 B: 12.35 us (a GPU)\n"
                              "processors: 132 (a GPU)\n"
                              "signal peers: 952.3 ns (a GPU)\n"
                              "tick: 32.00 ns (a GPU)\n");
  rows.figures.clear();
  for (const char* unit : {"s", "bytes", "bytes/s", "", "W"})
    for (const double value : {0.0, 1e-300, 1e300}) add(std::string("x") + unit, value, unit);
  CHECK_FALSE(figures_text(rows).empty()); // whatever a file says
}

TEST_CASE("a label of peers that a GPU day couldn't read is refused when it is packed") {
  const auto packed = [](const std::string& label) {
    const Day day("name = \"day\"\n[topologies]\nNet = \"ring:3\"\n[[executions]]\nlabel = \"" +
                  label +
                  "\"\ntopology = \"Net\"\ncollective = \"all_gather\"\nsizes = [\"12KiB\"]\n"
                  "algorithms = [\"ring1\"]\nchunks = 1\nbackend = \"cuda\"\nlinks = \"real\"\n"
                  "predicted_by = \"nothing\"\n");
    return day.tutti("run day.toml --pack day");
  };
  CHECK(packed("peers: all_gather, 3 GPUs").code == 0);
  CHECK(packed("all_gather of peers, 2 GPUs").code == 0);
  for (const std::string label :
       {"peers: nonsense, 2 GPUs", "peers: all_gather, 2 GPUs", "peers: all_reduce, 3 GPUs",
        "peers: all_gather, 3 GPU", "peers: all_gather"}) {
    const CommandResult refused = packed(label);
    INFO(label << ": " << refused.err);
    CHECK(refused.code == 2);
    CHECK_THAT(refused.err, ContainsSubstring("\"" + label +
                                              "\": the label of these peers is "
                                              "\"peers: all_gather, 3 GPUs\""));
  }
}

TEST_CASE("rows of another pack, damaged ones, missing and failed ones are no measurements") {
  const Day day;
  REQUIRE(day.tutti("run day.toml --pack day").code == 0);
  const Pack pack = runtime::load_pack(day.folder.file("day"));
  const std::string head = runtime::rows_head(pack.name());
  const auto judged = [&](const std::string& rows) {
    write_file(day.folder.file("rows.csv"), rows);
    return day.tutti("run day.toml --measured rows.csv");
  };
  const CommandResult foreign = judged(runtime::rows_head({"other", 1}));
  CHECK(foreign.code == 2);
  CHECK_THAT(foreign.err,
             ContainsSubstring("rows.csv:1:1: rows of the pack other (0000000000000001), "
                               "but this experiment makes " +
                               to_text(pack.name())));
  const CommandResult damaged = judged(head + "test,a,passed,,00000000\n");
  CHECK(damaged.code == 2);
  CHECK_THAT(damaged.err, ContainsSubstring("rows.csv:2:15: the line was changed"));
  const CommandResult empty = judged(head);
  CHECK(empty.code == 1);
  CHECK_THAT(empty.out, ContainsSubstring("rows.csv has no row of"));
  CHECK_THAT(empty.err, ContainsSubstring("an expected value differs"));
  CHECK_THAT(empty.err, ContainsSubstring("profiled: nothing ran"));
  const CommandResult left_out =
      judged(head + runtime::line_of(runtime::NoteRow{"prof", "left out: a reason"}));
  CHECK(left_out.code == 1); // an expectation is of it
  CHECK_THAT(left_out.out, ContainsSubstring("left out: a reason"));
  CHECK(left_out.err.find("profiled: nothing ran") == std::string::npos);
  CHECK_THAT(left_out.err, ContainsSubstring("by its links: nothing ran"));
  runtime::RunRow hung;
  hung.file = pack.lines()[0].file;
  hung.checksum = pack.checksum(hung.file);
  hung.outcome = runtime::RunOutcome::hung;
  hung.words = "rank 1 waits";
  const CommandResult stuck =
      judged(head + runtime::line_of(hung) +
             runtime::line_of(runtime::TestRow{"hang", runtime::TestOutcome::failed, "it didn't"}));
  CHECK(stuck.code == 1);
  CHECK_THAT(stuck.err, ContainsSubstring("ring1, all_gather 12KiB: rank 1 waits"));
  CHECK_THAT(stuck.err, ContainsSubstring("GPU test hang failed: it didn't"));
}

TEST_CASE("what can't be packed or included is refused in words") {
  const auto refusal = [](std::string from, const std::string& to,
                          const std::string& options = "--pack day") {
    std::string toml = experiment;
    const std::size_t at = toml.find(from);
    REQUIRE(at != std::string::npos);
    const Day day(toml.replace(at, from.size(), to));
    const CommandResult result = day.tutti("run day.toml " + options);
    CHECK(result.code == 2);
    return result.err;
  };
  CHECK_THAT(refusal("backend = \"cuda\"", "backend = \"cpu\""), ContainsSubstring("on cpu"));
  CHECK_THAT(refusal("repetitions = 1", "passes = 2"), ContainsSubstring("2 passes"));
  CHECK_THAT(refusal("profile_sizes", "links = \"real\"\nprofile_sizes"),
             ContainsSubstring("profile of real links"));
  CHECK_THAT(refusal("[\"other\"]", "[\"nowhere\"]"), ContainsSubstring("day.toml:3:12"));
  CHECK_THAT(refusal("[\"other\"]", "[\"day\"]"), ContainsSubstring("day.toml:3:12"));
  CHECK_THAT(refusal("day", "day", "--pack a --measured b.csv"), ContainsSubstring("--pack"));
  CHECK_THAT(refusal("day", "day", "--pack a.tar"), ContainsSubstring("`tar cf a.tar a`"));
  CHECK_THAT(refusal("day", "day", "--pack ."), ContainsSubstring("what is there is no pack"));
  CHECK_THAT(refusal("day", "day", "--measured nothing.csv"), ContainsSubstring("nothing.csv"));
}

} // namespace pack_cli_test
