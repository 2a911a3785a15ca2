#include "experiments/driver/sweep/space/experiment_template.hpp"

#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/temporary_folder.hpp"

#include <fmt/format.h>

#include <map>

namespace experiment_template_test {

using namespace tutti;
using namespace tutti::sweep;
using Catch::Matchers::Contains;

namespace {

ExperimentTemplate template_of(const std::string& toml, const std::string& source = "sweep.toml") {
  return ExperimentTemplate(parse_config(toml, source), source);
}

ValueOf values(std::map<std::string, Value> known) {
  return [known = std::move(known)](const std::string& name) { return known.at(name); };
}

const std::string run = R"(topologies = {net = "mesh2d:${k}x${k}"}
[[runs]]
collectives = ["${what}"]
sizes = ["${size}"]
algorithms = ["ring"]
chunks = "${chunks}"
)";

} // namespace

TEST_CASE("names in a text are listed once, and filled in") {
  CHECK(names_in("a ${x} b ${y} ${x}") == std::vector<std::string>{"x", "y"});
  CHECK(names_in("no $x {y}").empty());
  CHECK_THROWS_AS(names_in("${x"), InputError);
  CHECK_THROWS_AS(names_in("${}"), InputError);
  CHECK(filled_in("${x}x${x},b=${y}",
                  values({{"x", number_value(8)},
                          {"y", number_value(12.5e9, Unit::bytes_per_second)}})) ==
        "8x8,b=12.5GB/s");
  // Two dollars before a brace are one, in pairs.
  const ValueOf x = values({{"x", number_value(8)}});
  CHECK(filled_in("$${x} ${x} $$${x} $$$${x} $ $$ $x}", x) == "${x} 8 $8 $${x} $ $$ $x}");
  CHECK(names_in("$${x").empty());
  CHECK(filled_value("${x}", x) == number_value(8));
  CHECK(filled_value("${x}KiB", x) == number_value(8192, Unit::bytes));
  CHECK_THROWS_AS(names_in("${${x}}"), InputError);
}

TEST_CASE("names are filled in at any depth, in keys, and where a text has to be") {
  const std::string training = R"(topologies = {"net${k}" = "ring:4"}
[[training]]
label = "${k}"
model = "resnet50"
npu = "v100"
algorithms = ["ring"]
by_collective = {"${what}" = "${algorithm}"}
stragglers = {"npu${k}" = "${share}", npu3 = 0.5}
)";
  const auto made = [&training](const Value& k) {
    return template_of(training).experiment(values({{"k", k},
                                                    {"what", text_value("all_reduce")},
                                                    {"algorithm", text_value("direct")},
                                                    {"share", number_value(0.25)}}),
                                            1);
  };
  const TrainingStudy study = *made(number_value(2)).all<TrainingStudy>().at(0);
  CHECK(study.label == "2");
  CHECK(study.planning.by_collective.at("all_reduce").name == "direct");
  CHECK(message_of([&] { (void)made(number_value(3)); }) ==
        "sweep.toml:8:27: the key \"npu3\" is there twice: once as \"npu${k}\"");
  CHECK(template_of(training).names() ==
        std::vector<std::string>{"algorithm", "k", "share", "what"});
}

TEST_CASE("values make a template into an experiment") {
  const ExperimentTemplate made = template_of(run);
  CHECK(made.kind() == "runs");
  CHECK(made.names() == std::vector<std::string>{"chunks", "k", "size", "what"});
  CHECK(made.topology_text() == "mesh2d:${k}x${k}");
  const Experiment experiment = made.experiment(values({{"k", number_value(3)},
                                                        {"what", text_value("all_gather")},
                                                        {"size", text_value("9MB")},
                                                        {"chunks", number_value(4)}}),
                                                7);
  const std::vector<Case> cases = experiment.all<RunStudy>().at(0)->cases(experiment.topologies);
  REQUIRE(cases.size() == 1);
  CHECK(cases.front().topology->npu_count() == 9);
  CHECK(cases.front().collective.size.count == 9'000'000);
  CHECK(cases.front().chunks == 4U);
  CHECK(cases.front().options.seed == 7);
}

TEST_CASE("what is wrong with a point's experiment is found at its place in the sweep") {
  const ExperimentTemplate made = template_of(run);
  const auto with = [&made](const std::string& what, const Value& chunks) {
    return message_of([&] {
      (void)made.experiment(values({{"k", number_value(3)},
                                    {"what", text_value(what)},
                                    {"size", text_value("9MB")},
                                    {"chunks", chunks}}),
                            1);
    });
  };
  CHECK_THAT(with("all_gather", number_value(0)), Contains("sweep.toml:6:10: 0 is out of range"));
  CHECK_THAT(with("all_gather", number_value(0.5)),
             Contains("sweep.toml:6:10: ") && Contains("0.5"));
  CHECK_THAT(message_of([] { (void)template_of("topologies = {a = \"ring:4\", b = \"ring:5\"}"); }),
             Contains("sweep.toml:1:14: a point has one topology, not 2"));
  CHECK_THAT(message_of([] { (void)template_of("topologies = {a = \"ring:4\"}"); }),
             Contains("these are 0"));
  CHECK_THAT(message_of([] { (void)template_of("topologies = {a = \"${\"}\n[[runs]]\n"); }),
             Contains("a name stands in ${...}"));
  CHECK_THAT(message_of([] { (void)template_of("topologies = {a = \"ring:4\"}\n[[figures]]\n"); }),
             Contains("figures"));
}

TEST_CASE("a template's fingerprint follows its content, not its looks") {
  const std::string text = template_of(run).fingerprint_text();
  CHECK(template_of("# a comment\n" + run).fingerprint_text() == text);
  std::string other = run;
  other.replace(other.find("ring"), 4, "dbt");
  CHECK(template_of(other).fingerprint_text() != text);
}

TEST_CASE("files that a point's experiment names are part of its key") {
  const TemporaryFolder folder;
  const std::string file = folder.file("net.toml"), source = folder.file("sweep.toml");
  const std::string toml = "topologies = {net = \"${net}\"}\n[[runs]]\ncollectives = "
                           "[\"all_gather\"]\nalgorithms = [\"ring\"]\n";
  const std::string text = GENERATE("net.toml", "net.toml,fail-links=1", "net.toml:nodes=8");
  const auto fingerprints = [&] {
    return template_of(toml, source).file_fingerprints(values({{"net", text_value(text)}}));
  };
  CHECK(fingerprints().empty());
  write_file(file, "a");
  const std::string first = fingerprints();
  CHECK_FALSE(first.empty());
  CHECK(fingerprints() == first);
  write_file(file, "b");
  CHECK(fingerprints() != first);
}

TEST_CASE("start times in a file are part of a point's key") {
  const TemporaryFolder folder;
  const auto fingerprints = [&](const char* start) {
    write_file(folder.file("starts.toml"), fmt::format("npu1 = \"{}\"\n", start));
    return template_of("topologies = {net = \"ring:4\"}\n[[runs]]\ncollectives = "
                       "[\"all_gather\"]\nalgorithms = [\"ring\"]\nstart_file = \"starts.toml\"\n",
                       folder.file("sweep.toml"))
        .file_fingerprints(values({}));
  };
  CHECK_FALSE(fingerprints("2us").empty());
  CHECK(fingerprints("2us") != fingerprints("900us"));
}

TEST_CASE("files of algorithms and networks are part of a point's key") {
  const TemporaryFolder folder;
  write_file(folder.file("plan_4.json"), "a");
  write_file(folder.file("net.py"), "b");
  write_file(folder.file("tool.py"), "c");
  write_file(folder.file("of_4_1KiB.json"), "d");
  const ExperimentTemplate made =
      template_of("topologies = {net = \"net.py:${n}\"}\n[[runs]]\ncollectives = [\"all_gather\"]\n"
                  "algorithms = [\"file:plan_${n}.json\", \"program:python3 tool.py\", "
                  "\"file:of_${n}_{size}.json\"]\n",
                  folder.file("sweep.toml"));
  CHECK_THAT(made.file_fingerprints(values({{"n", number_value(4)}})),
             Contains("plan_4.json ") && Contains("net.py ") && Contains("tool.py ") &&
                 Contains("of_4_1KiB.json "));
}

TEST_CASE("files of settings are part of a point's key") {
  const TemporaryFolder folder;
  const auto fingerprints = [&](const char* sketch) {
    write_file(folder.file("taccl_1.toml"), sketch);
    return template_of("topologies = {net = \"ring:4\"}\n[[runs]]\ncollectives = "
                       "[\"all_gather\"]\nalgorithms = [\"taccl\"]\nsettings = {sketch = "
                       "\"taccl_${n}.toml\"}\n",
                       folder.file("sweep.toml"))
        .file_fingerprints(values({{"n", number_value(1)}}));
  };
  CHECK_FALSE(fingerprints("a").empty());
  CHECK(fingerprints("a") != fingerprints("b"));
}

TEST_CASE("machines, models and NPUs that come with Tutti are part of a point's key") {
  const ExperimentTemplate made =
      template_of("topologies = {net = \"${net}\"}\n[[training]]\nlabel = \"a\"\nmodel = "
                  "\"${model}\"\nnpu = \"${npu}\"\nalgorithms = [\"ring\"]\n");
  const auto fingerprints = [&made](const char* net, const char* model, const char* npu) {
    return made.file_fingerprints(
        values({{"net", text_value(net)}, {"model", text_value(model)}, {"npu", text_value(npu)}}));
  };
  CHECK_THAT(fingerprints("dgx1", "resnet50", "v100"),
             Contains("dgx1.toml ") && Contains("resnet50.toml ") && Contains("v100.toml "));
  CHECK(fingerprints("ring:4", "nothing", "nothing").empty());
}

} // namespace experiment_template_test
