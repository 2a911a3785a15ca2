// [[failures]] in an experiment's file.
#include "experiments/driver/studies/experiment.hpp"

#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/studies/experiment_error.hpp"
#include "tests/message_of.hpp"
#include "tests/refusals.hpp"
#include "tests/temporary_folder.hpp"

#include <string>

namespace failure_reader_test {

using namespace tutti;

namespace {

const std::string head = R"(name = "e"
seed = 5
[topologies]
R = "ring:6"
L = "torus2d:4x4"
)";
const std::string minimal = R"([[failures]]
label = "Torus"
topology = "L"
collective = "all_reduce"
algorithms = ["tacos", "ring"]
)"; // lines 6 to 10
const std::string swept = "failed_links = [0, 2]\n";

FailureStudy study_of(const std::string& rest) {
  return *parse_experiment(head + minimal + rest, "e.toml").all<FailureStudy>().at(0);
}

std::string error_in(const std::string& rest) { return experiment_error(head + minimal + rest); }

} // namespace

TEST_CASE("an experiment of one study of failures, with every default") {
  const Experiment e = parse_experiment(head + minimal + swept, "e.toml");
  REQUIRE(e.studies.size() == 1);
  const auto cases = std::get<FailureStudy>(e.studies[0]).cases(e.topologies);
  REQUIRE(cases.size() == 2);
  const FailureCase& c = cases[1];
  CHECK(c.label == "Torus");
  CHECK(c.topology_label == "L");
  CHECK(c.topology == &e.topologies[1].topology);
  CHECK(c.collective.texts == std::vector<std::string>{"all_reduce"});
  CHECK(c.collective.size == Bytes{1 << 30});
  CHECK_FALSE(c.chunks); // auto
  CHECK(c.algorithm.name == "ring");
  CHECK(c.planner.name == "tacos"); // ring plans no custom collectives
  CHECK(cases[0].planner.name == "tacos");
  CHECK(c.options.seed == 5);
  REQUIRE(c.engines.size() == 1);
  CHECK(c.engines[0]->name == "native");
  CHECK(c.policies.size() == all_policies.size());
  CHECK(c.detection == Time{100'000'000});
  CHECK(c.decision == Time{50'000'000});
  CHECK(c.events.failed_links == std::vector<std::size_t>{0, 2});
  CHECK(c.events.failed_at.millionths == 500'000U);
  CHECK(scenarios_of(c.events, c.options.seed).at(0).seed == 5);
}

TEST_CASE("everything that a study can say") {
  const FailureStudy study = study_of(R"(size = "1MiB"
chunks = 2
policies = ["restart", "report"]
planner = "direct"
detection = "1us"
decision = "2us"
engine = "both"
link_busy = "latency+serialization"
settings = {starts = "3"}
seeds = [1, 2]
[[failures.events]]
at = "10%"
straggler = "npu3"
share = 0.5
[failures.generated]
npus_per_week = "0.5%"
[[failures.expect]]
label = "slower"
of = {policy = "restart", algorithm = "ring"}
value = 1.5
tolerance = "10%"
explanation = "chance"
[[failures.expect]]
label = "mine"
of = {policy = "restart", algorithm = "tacos"}
over = {policy = "report"}
at_most = 1
)");
  CHECK(study.common.collective.size == Bytes{1 << 20});
  CHECK(study.common.chunks == 2);
  CHECK(study.common.policies == std::vector<Policy>{Policy::restart, Policy::report});
  CHECK(study.planner->name == "direct");
  CHECK(study.common.detection == Time{1'000'000});
  CHECK(study.common.decision == Time{2'000'000});
  CHECK(study.common.engines.size() == 2);
  CHECK(study.common.options.model.link_busy == LinkBusy::latency_and_serialization);
  CHECK(study.common.options.settings.at("starts") == "3");
  CHECK(study.common.events.events.size() == 1);
  CHECK(study.common.events.generated);
  CHECK(study.common.events.seeds.size() == 2);
  REQUIRE(study.expectations.size() == 2);
  const Expectation& first = study.expectations[0];
  CHECK(first.metric.name == "slowdown");
  // rows by algorithm, seed and policy: those of a seed each go together
  CHECK(first.values == std::vector<Quotient>{{{4, 6}, {}}});
  CHECK(first.value == 1.5);
  CHECK(first.tolerance == 0.1);
  CHECK(first.limit == Limit::equal);
  CHECK(first.explanation == "chance");
  CHECK(study.expectations[1].label == "mine");
  CHECK(study.expectations[1].values == std::vector<Quotient>{{{0, 2}, {1, 3}}});
  CHECK(study.expectations[1].limit == Limit::at_most);
}

TEST_CASE("events from a file, which lies beside the experiment") {
  const TemporaryFolder folder;
  write_file(folder.file("events.toml"), "failed_links = 3\nat = \"1us\"\n");
  write_file(folder.file("e.toml"), head + minimal + "events = \"events.toml\"\n");
  const Experiment e = read_experiment(folder.file("e.toml"));
  CHECK(e.all<FailureStudy>().at(0)->common.events.failed_links == std::vector<std::size_t>{3});
  write_file(folder.file("e.toml"), head + minimal + "events = \"events.toml\"\n" + swept);
  CHECK_THAT(message_of([&] { (void)read_experiment(folder.file("e.toml")); }),
             ContainsSubstring("e.toml:12:16: the events are in a file: \"failed_links\" belongs "
                               "there"));
  write_file(folder.file("events.toml"), "[[events]]\nat = \"0s\"\nnpu_down = \"npu16\"\n");
  CHECK_THAT(message_of([&] { (void)read_experiment(folder.file("e.toml")); }),
             ContainsSubstring("e.toml:12:16"));
  write_file(folder.file("e.toml"), head + minimal + "events = \"events.toml\"\n");
  CHECK_THAT(message_of([&] { (void)read_experiment(folder.file("e.toml")); }),
             ContainsSubstring("events.toml:3:12: unknown node \"npu16\""));
  CHECK_THAT(error_in("events = \"none.toml\"\n"), ContainsSubstring("none.toml"));
}

TEST_CASE("bad failures are errors with their place") {
  const RefusalRows rows = {
      {"", R"(e.toml:6:1: no event: give "events", "failed_links" or "generated")"},
      {swept + "sizes = '1GiB'\n", R"(e.toml:12:1: unknown key "sizes" ... did you mean "size"?)"},
      {swept + "policies = ['repair']\n", "e.toml:12:13: ... \"repair\""},
      {swept + "engine = 'neither'\n", "e.toml:12:10: "},
      {swept + "planner = 'nobody'\n", "e.toml:12:11: "},
      {swept + "detection = '1'\n", "e.toml:12:13: "},
      {swept + "settings = {colour = 'red'}\n", "e.toml:12:12: unknown setting \"colour\""},
      {swept + "[[failures.events]]\nat = '0s'\nnpu_down = 'npu16'\n",
       "e.toml:14:12: unknown node \"npu16\""},
  };
  check_refusals(error_in, rows);
  CHECK_THAT(experiment_error(head + minimal + swept + "[[failures]]\nlabel = \"torus!\"\n"),
             ContainsSubstring("e.toml:13:9: \"torus!\" would have the same files as \"Torus\""));
  CHECK_THAT(experiment_error(head + "[[failures]]\nlabel = \"?\"\n"),
             ContainsSubstring("e.toml:7:9: a label needs letters or digits"));
  const auto expected = [](const std::string& rest) {
    return error_in(swept + "policies = [\"report\", \"restart\"]\n[[failures.expect]]\n" +
                    "label = \"x\"\n" + rest);
  };
  CHECK_THAT(expected("of.policy = \"reroute\"\nvalue = 1\n"),
             ContainsSubstring("e.toml:15:13: unknown policy \"reroute\" (known: report, restart"));
  CHECK_THAT(expected("of.policy = \"report\"\nvalue = 1\ntolerance = \"1%\"\n"),
             ContainsSubstring("values are as asked for"));
  CHECK_THAT(expected("of.algorithm = \"dbt\"\nvalue = 1\n"),
             ContainsSubstring("e.toml:15:16: unknown algorithm \"dbt\""));
  CHECK_THAT(expected("of = {algorithm = \"ring\", failed_links = 1}\nvalue = 1\n"),
             ContainsSubstring("no row of the study is as asked for"));
  CHECK_THAT(expected("policy = \"report\"\nvalue = 1\n"),
             ContainsSubstring("e.toml:15:10: \"policy\" is now a key of \"of\" and \"over\""));
}

} // namespace failure_reader_test
