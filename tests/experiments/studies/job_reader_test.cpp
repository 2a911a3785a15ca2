// [[jobs]] in an experiment's file, and files for `tutti jobs`.
#include "experiments/driver/studies/jobs/study.hpp"

#include "experiments/driver/studies/registry.hpp"
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/studies/experiment_error.hpp"
#include "tests/message_of.hpp"
#include "tests/refusals.hpp"
#include "tests/temporary_folder.hpp"

#include <string>

namespace job_reader_test {

using namespace tutti;

namespace {

const std::string head = R"(name = "e"
seed = 5
[topologies]
R = "ring:6"
)";
const std::string study = R"([[jobs]]
label = "Two"
topology = "R"
)";
const std::string plans = R"(algorithms = ["ring", "direct"]
together = ["tacos"]
)";
const std::string job = R"([[jobs.job]]
name = "A"
collective = "all_reduce,group=0-2"
)";

} // namespace

TEST_CASE("jobs of an experiment, with defaults and with everything said") {
  const Experiment e = parse_experiment(head + study + plans + job + R"([[jobs.job]]
name = "B"
collective = "broadcast,root=4"
size = "3MB"
chunks = 2
start = "5us"
priority = 7
algorithm = "dbt"
)",
                                        "e.toml");
  REQUIRE(e.studies.size() == 1);
  const JobStudy& two = std::get<JobStudy>(e.studies[0]);
  CHECK(two.label == "Two");
  CHECK(two.topology == 0);
  CHECK(two.options.seed == 5);
  CHECK(two.engines == all_engines());
  REQUIRE(two.plans.size() == 3);
  CHECK(to_text(two.plans[1]) == "direct");
  CHECK(to_text(two.plans[2]) == "tacos, together");
  REQUIRE(two.jobs.size() == 2);
  CHECK(two.jobs[0].size == Bytes{1 << 30});
  CHECK(two.jobs[0].timing.start == Time{});
  CHECK_FALSE(two.jobs[0].algorithm);
  CHECK(two.jobs[1].size == Bytes{3'000'000});
  CHECK(two.jobs[1].chunks == 2);
  CHECK(two.jobs[1].timing.start == Time{5'000'000});
  CHECK(two.jobs[1].timing.priority == 7);
  CHECK(two.jobs[1].algorithm->name == "dbt");
}

TEST_CASE("bad jobs are refused with their place") {
  CHECK(experiment_error(head + study + plans + job + "priority = 8\n") ==
        "e.toml:13:12: 8 is out of range (0 .. 7)");
  const RefusalRows rows = {
      {plans + job + "prio = 1\n", "e.toml:13:1: unknown key \"prio\""},
      {plans + job + job, "there is a job \"A\" already"},
      {job, R"("algorithms" or "together")"},
      {plans, "needs at least one job"},
      {"together = 'ring'\n" + job, "ring plans one collective at a time, not several together"},
      {plans + job + study + plans + job, "would have the same files as \"Two\""},
      {plans + "settings = {degre = '2'}\n" + job, "unknown setting"},
  };
  check_refusals([&](const std::string& more) { return experiment_error(head + study + more); },
                 rows);
}

TEST_CASE("a file for tutti jobs has the jobs at its top") {
  const TemporaryFolder folder;
  const std::string file = folder.file("jobs.toml");
  write_file(file, "algorithms = \"ring\"\nengine = \"native\"\n[[job]]\nname = \"A\"\n"
                   "collective = \"all_gather\"\n");
  const Experiment e = parse_experiment(head + study + plans + job, "e.toml");
  const JobStudy read = read_job_file(file, e.topologies[0].topology, 3);
  CHECK(read.jobs.at(0).name == "A");
  CHECK(read.engines.size() == 1);
  CHECK(read.options.seed == 3);
  write_file(file, "label = \"x\"\n");
  CHECK_THAT(message_of([&] { (void)read_job_file(file, e.topologies[0].topology, 3); }),
             ContainsSubstring("unknown key \"label\""));
}

} // namespace job_reader_test
