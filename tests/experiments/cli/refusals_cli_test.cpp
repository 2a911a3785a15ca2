// What an algorithm, a network or a limit refuses costs its own row and no other, in every command
// and in every kind of study; where nothing is left, that is no success.
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/cli/command_answers.hpp"
#include "tests/experiments/cli/run_tutti.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace refusals_cli_test {

using namespace tutti;
using Json = nlohmann::json;

namespace {

/// Asks TE-CCL for a plan in epochs, which it refuses on `slow_one_way`. Whatever it finds would do
/// otherwise.
const std::string in_epochs = " --set alpha=yes";
const std::string in_epochs_toml = "settings = {alpha = \"yes\"}\n";

} // namespace

TEST_CASE("an algorithm that refuses costs its own row only, in all commands") {
  const TemporaryFolder folder;
  write_file(folder.file("pair.toml"), slow_one_way);
  const std::string on_pair = " -t pair.toml -c all_gather --size 300B -a ";
  const Json rows = json_of("synth" + on_pair + "all" + in_epochs, folder)["runs"];
  std::size_t verified = 0;
  for (const Json& row : rows) {
    INFO(row.dump());
    verified += row["verified"] == true ? 1U : 0U;
    if (row["algorithm"] != "teccl") continue;
    CHECK(row["status"] == "unsupported");
    CHECK_THAT(row["note"].get<std::string>(), ContainsSubstring("a chunk is under way for"));
  }
  CHECK(verified >= 10);
  const CommandResult alone = run_tutti("synth" + on_pair + "teccl" + in_epochs, folder);
  CHECK(alone.code == 2);
  CHECK_THAT(alone.err, ContainsSubstring("a chunk is under way for"));
  const std::string event = " --event 'at=50%,link_rate=npu0>npu1,share=0.5' --policy report";
  const Json failures =
      json_of("failures" + on_pair + "direct,teccl" + in_epochs + event, folder)["runs"];
  CHECK(failures[0]["status"] == "feasible");
  CHECK_THAT(failures[1]["note"].get<std::string>(), ContainsSubstring("a chunk is under way for"));
  CHECK(run_tutti("failures" + on_pair + "teccl" + in_epochs + event, folder).code == 2);
  write_file(folder.file("jobs.toml"), in_epochs_toml + R"(algorithms = ["teccl", "direct"]
[[job]]
name = "one"
collective = "all_gather"
size = "300B"
)");
  const CommandResult jobs = run_tutti("jobs -t pair.toml jobs.toml", folder);
  INFO(jobs.out << jobs.err);
  CHECK(jobs.code == 0);
  CHECK_THAT(jobs.out, ContainsSubstring("a chunk is under way for"));
}

TEST_CASE("a study that refuses costs its own rows only in an experiment") {
  const TemporaryFolder folder;
  write_file(folder.file("pair.toml"), slow_one_way);
  const auto execution = [](const std::string& algorithm) {
    return "[[executions]]\nlabel = \"" + algorithm +
           "\"\ntopology = \"pair\"\ncollective = \"all_gather\"\nsizes = [\"304B\"]\n"
           "algorithms = [\"" +
           algorithm + "\"]\n" + (algorithm == "teccl" ? in_epochs_toml : "") +
           "predicted_by = \"nothing\"\nrepetitions = 1\n";
  };
  const std::string head = "name = \"few\"\ntitle = \"few\"\n[topologies]\npair = \"pair.toml\"\n";
  write_file(folder.file("some.toml"), head + execution("teccl") + execution("direct"));
  const CommandResult some = run_tutti("run some.toml --json", folder);
  INFO(some.out << some.err);
  CHECK(some.code == 1);
  CHECK_THAT(some.err, ContainsSubstring("nothing ran: teccl") &&
                           ContainsSubstring("a chunk is under way for"));
  const Json executions = Json::parse(some.out)["runs"];
  REQUIRE(executions.size() == 2);
  CHECK(executions[0]["note"].is_string());
  CHECK(executions[1]["note"].is_null());
  write_file(folder.file("none.toml"), head + execution("teccl"));
  CHECK(run_tutti("run none.toml", folder).code == 2);
}

namespace {

/// A study of each kind that one algorithm, or one network, refuses.
struct RefusingStudy {
  std::string key;   ///< in the results
  std::string toml;  ///< with a row that is refused and one that isn't
  std::string alone; ///< with nothing but what is refused
};

std::string study_of_kind(const std::string& kind, const std::string& algorithms) {
  const bool has_teccl = algorithms.find("teccl") != std::string::npos;
  const std::string one = " = \"all_gather\"\n",
                    some = " = [" + algorithms + "]\n" + (has_teccl ? in_epochs_toml : "");
  if (kind == "runs")
    return "[[runs]]\ntopologies = [\"pair\"]\ncollectives = [\"all_gather\"]\nsizes = "
           "[\"300B\"]\nalgorithms" +
           some;
  if (kind == "jobs")
    return "[[jobs]]\nlabel = \"J\"\ntopology = \"pair\"\nalgorithms" + some +
           "[[jobs.job]]\nname = \"a\"\nsize = \"300B\"\ncollective" + one;
  if (kind == "failures")
    return "[[failures]]\nlabel = \"F\"\ntopology = \"pair\"\nsize = \"300B\"\nchunks = "
           "1\npolicies = [\"report\"]\ncollective" +
           one + "algorithms" + some +
           "[[failures.events]]\nat = \"50%\"\nlink_rate = \"npu0>npu1\"\nshare = 0.5\n";
  if (kind == "training")
    return "[[training]]\nlabel = \"" + std::string(has_teccl ? "E" : "D") +
           "\"\ntopologies = [\"pair\"]\nworkload = "
           "\"work.txt\"\nunit = \"us\"\nchunks = 1\nalgorithms" +
           some;
  return "[[executions]]\nlabel = \"E\"\ntopology = \"pair\"\nsizes = [\"304B\"]\npredicted_by "
         "= \"nothing\"\nlinks = \"real\"\nrepetitions = 1\ncollective" +
         one + "algorithms" + some;
}

std::string frontier_of(const std::string& topology) {
  return "[[frontiers]]\nlabel = \"" + topology + "\"\ntopology = \"" + topology +
         "\"\ncollective = \"all_gather\"\nsizes = [\"1MiB\"]\nsettings = {max_steps = \"3\"}\n";
}

std::vector<RefusingStudy> refusing_studies() {
  std::vector<RefusingStudy> studies;
  for (const std::string kind : {"runs", "jobs", "failures", "executions"})
    studies.push_back(
        {kind, study_of_kind(kind, "\"teccl\", \"direct\""), study_of_kind(kind, "\"teccl\"")});
  // Settings of a model are of all its algorithms, so that each has a study of its own.
  const std::string alone = study_of_kind("training", "\"teccl\"");
  studies.push_back({"training", alone + study_of_kind("training", "\"direct\""), alone});
  studies.push_back(
      {"frontiers", frontier_of("large") + frontier_of("pair"), frontier_of("large")});
  return studies;
}

} // namespace
TEST_CASE("in every kind of study what refuses is a row, and the others go on") {
  const TemporaryFolder folder;
  write_file(folder.file("pair.toml"), slow_one_way);
  write_file(folder.file("work.txt"), "DATA\n1\na -1 10 NONE 0 0 NONE 0 40 ALLREDUCE 300 0\n");
  const std::string head = "name = \"few\"\ntitle = \"few\"\n[topologies]\npair = \"pair.toml\"\n"
                           "large = \"torus2d:48x48\"\n";
  const std::vector<RefusingStudy> studies = refusing_studies();
  std::string of_all = head;
  for (const RefusingStudy& study : studies) {
    INFO(study.key);
    of_all += study.alone;
    const std::string why =
        study.key == "frontiers" ? "too large for sccl" : "a chunk is under way for";
    write_file(folder.file("some.toml"), head + study.toml);
    const CommandResult some = run_tutti("run some.toml --json", folder);
    INFO(some.out << some.err);
    CHECK_THAT(some.out, ContainsSubstring(why));
    const bool are_two = study.key == "frontiers" || study.key == "training";
    CHECK((some.code == 0) != are_two); // where each is a study of its own
    write_file(folder.file("none.toml"), head + study.alone);
    const CommandResult none = run_tutti("run none.toml", folder);
    INFO(none.out << none.err);
    CHECK(none.code == (study.key == "training" ? 1 : 2));
    CHECK_THAT(none.err, ContainsSubstring(why));
    if (study.key == "jobs") continue;
    // What all of one study refuse doesn't end the others.
    write_file(folder.file("other.toml"), head + study.alone + study_of_kind("jobs", "\"direct\""));
    const CommandResult other = run_tutti("run other.toml --json", folder);
    INFO(other.out << other.err);
    CHECK(other.code == 1);
    CHECK_THAT(other.out, ContainsSubstring(why));
    CHECK_THAT(other.err, ContainsSubstring(why));
    for (const Json& run : Json::parse(other.out)["runs"])
      CHECK((run["kind"] != "jobs" || run["note"].is_null()));
  }
  write_file(folder.file("all.toml"), of_all);
  const CommandResult nothing = run_tutti("run all.toml", folder);
  INFO(nothing.out << nothing.err);
  CHECK(nothing.code != 0);
}

TEST_CASE("what a study asks for in vain is said with its file and its label") {
  const TemporaryFolder folder;
  const std::string job = "name = \"a\"\nsize = \"1MB\"\ncollective = \"all_reduce,group=1\"\n";
  write_file(folder.file("j.toml"), "algorithms = [\"ring\"]\n[[job]]\n" + job);
  CHECK(run_tutti("jobs -t ring:4 j.toml", folder).err.starts_with("tutti: j.toml: job \"a\": "));
  const std::string head = "name = \"e\"\ntitle = \"e\"\n[topologies]\nR = \"ring:4\"\n";
  write_file(folder.file("e.toml"), head +
                                        "[[jobs]]\nlabel = \"J\"\ntopology = \"R\"\n"
                                        "algorithms = [\"ring\"]\n[[jobs.job]]\n" +
                                        job);
  const CommandResult jobs = run_tutti("run e.toml", folder);
  CHECK(jobs.code == 2);
  CHECK(
      jobs.err.starts_with("tutti: e.toml: [[jobs]] \"J\": job \"a\": a collective over one NPU"));
  write_file(folder.file("r.toml"), head + "[[runs]]\ncollectives = [\"all_reduce,group=1\"]\n"
                                           "sizes = [\"1MB\"]\nalgorithms = [\"ring\"]\n");
  const CommandResult runs = run_tutti("run r.toml", folder);
  CHECK(runs.code == 2);
  CHECK(runs.err.starts_with("tutti: r.toml: "));
}

TEST_CASE("where no algorithm makes a schedule, that is no success") {
  const CommandResult one = run_tutti("synth -t ring:6 -c all_reduce -a rhd");
  CHECK(one.code == 1);
  CHECK(one.err == "tutti: no schedule was made: rhd needs a power of two of NPUs, not 6\n");
  CHECK(run_tutti("synth -t ring:6 -c all_reduce -a rhd,ring").code == 0);
}

#ifndef TUTTI_ADDRESS_SANITIZER // which takes far more than the program

TEST_CASE("a command takes no more memory than it is allowed, and says what it asked for") {
  const TemporaryFolder folder;
  const CommandResult rows = run_tutti(
      "synth -t torus2d:32x32 -c all_gather -a direct --size 1GiB..2GiB --limit 48MiB --json",
      folder);
  INFO(rows.out << rows.err);
  CHECK(rows.code == 1);
  for (const Json& row : Json::parse(rows.out)["runs"])
    CHECK_THAT(row["note"].get<std::string>(), ContainsSubstring("out of memory: "));
  write_file(folder.file("large.toml"), R"(name = "large"
title = "all of them run out of memory"
seed = 1
[topologies]
torus = "torus2d:32x32"
[[runs]]
collectives = ["all_gather"]
algorithms = ["direct"]
sizes = ["1GiB", "2GiB"]
limit = "48MiB"
)");
  const CommandResult run = run_tutti("run large.toml", folder);
  INFO(run.out << run.err);
  CHECK(run.code == 1);
  CHECK_THAT(run.err, ContainsSubstring("no schedule was made: out of memory: "));
}
#endif

TEST_CASE("an algorithm that cuts too finely costs its own row only") {
  const Json all = json_of("synth -t ring:4 -c all_gather -a all --size 4B")["runs"];
  std::size_t refused = 0;
  for (const Json& row : all) {
    INFO(row.dump());
    CHECK((row["verified"] == true || row["status"] == "unsupported"));
    if (row["algorithm"] != "ring") continue;
    ++refused;
    CHECK_THAT(row["note"].get<std::string>(), ContainsSubstring("at least one byte"));
  }
  CHECK(refused == 1);
}

} // namespace refusals_cli_test
