#include "experiments/driver/studies/experiment.hpp"

#include "experiments/driver/cli/catalogue.hpp"
#include "experiments/driver/studies/expectation_reader.hpp"
#include "sim/files/config.hpp"
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/studies/experiment_error.hpp"
#include "tests/message_of.hpp"
#include "tests/refusals.hpp"
#include "tests/temporary_folder.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace experiment_test {

using namespace tutti;

namespace {

const std::string head = R"(name = "e"
[topologies]
A = "ring:4"
B = "ring:5"
)";
const std::string run = R"([[runs]]
collectives = ["all_gather"]
algorithms = ["ring", "direct"]
)";

// `key` (and what follows it) as an expectation on both topologies' ring.
std::string expectation(const std::string& rest) {
  return head + run + "[[expect]]\nlabel = \"x\"\n" + rest;
}

RunStudy runs_of(const Experiment& experiment) { return *experiment.all<RunStudy>().at(0); }

} // namespace

TEST_CASE("a small experiment, with every default") {
  const Experiment e = parse_experiment(head + run, "e.toml");
  CHECK(e.name == "e");
  CHECK(e.title == "e");
  CHECK(e.seed == 1);
  REQUIRE(e.topologies.size() == 2);
  CHECK(e.topologies[0].label == "A");
  CHECK(e.topologies[1].topology.npu_count() == 5);
  const auto cases = runs_of(e).cases(e.topologies);
  REQUIRE(cases.size() == 4); // 2 topologies x 2 algorithms
  CHECK(cases[1].topology_label == "A");
  CHECK(cases[1].algorithm.name == "direct");
  CHECK(cases[2].topology_label == "B");
  CHECK(cases[2].topology == &e.topologies[1].topology);
  CHECK(cases[0].collective.size == Bytes{1 << 30});
  CHECK_FALSE(cases[0].chunks); // auto
  CHECK(cases[0].engine->name == "simgrid");
  CHECK(cases[0].disciplines == std::vector{Discipline::fifo});
  CHECK(cases[0].options.model == TimeModel{});
  CHECK(cases[0].options.routing == Routing::automatic);
}

TEST_CASE("of several sizes those are left out that can't be cut, network by network") {
  const auto cases_of = [](const std::string& sizes, std::string* left_out) {
    const Experiment e = parse_experiment(
        head + run + "sizes = " + sizes + "\ntopologies = [\"A\", \"B\"]\n", "e.toml");
    std::vector<std::int64_t> made;
    for (const Case& c : runs_of(e).cases(e.topologies, left_out))
      if (c.algorithm.name == "ring") made.push_back(c.collective.size.count);
    return made;
  };
  std::string left_out;
  CHECK(cases_of("\"1B..8B\"", &left_out) == std::vector<std::int64_t>{4, 8, 8});
  CHECK(left_out == "without 1B, 2B, 4B: 1B can't be cut into 4 chunks of at least one byte");
  left_out.clear();
  CHECK(cases_of("[\"1B\", \"2B\"]", &left_out).size() == 4); // none would be left
  CHECK(cases_of("\"1B\"", &left_out).size() == 2);
  CHECK(left_out.empty());
}

TEST_CASE("every key of an experiment") {
  const Experiment e = parse_experiment(R"(
name = "all-keys"
title = "All keys"
seed = 7
[topologies]
Z = "ring:4"
A = "mesh2d:2x3"
[[runs]]
label = "first"
topologies = ["A"]
collectives = ["all_gather", ["broadcast,root=1", "all_reduce,group=0-2"]]
sizes = ["1kB", "1MiB..4MiB"]
algorithms = "direct"
chunks = [2, "auto"]
engine = "simgrid"
disciplines = ["fluid", "fifo"]
link_busy = "latency+serialization"
forwarding = "cut-through"
routing = "shortest"
limit = "1.5s"
[[runs]]
collectives = "all_to_all"
algorithms = ["ring"]
[[figures]]
kind = "bars"
file = "bars"
metric = "collective_time"
normalized = true
[[figures]]
kind = "heatmap"
file = "heat"
title = "Hot"
quantity = "bytes"
topologies = ["A"]
algorithms = ["direct"]
[[expect]]
label = "ratio"
of.topology = "A"
of.algorithm = "direct"
of.label = "first"
of.collective = "all_gather"
of.size = "2MiB"
of.chunks = "auto"
over = {topology = "Z", algorithm = "ring"}
metric = "collective_time"
value = 2
tolerance = "2.5%"
explanation = "why"
[[expect]]
label = "value"
of = {topology = "Z", algorithm = "ring", discipline = "fifo"}
metric = "collective_time_ps"
value = "3us"
tolerance = "1%"
)",
                                        "e.toml");
  CHECK(e.topologies[0].label == "Z"); // in the order of the file
  REQUIRE(runs_of(e).matrices.size() == 2);
  const RunStudy runs = runs_of(e);
  const RunMatrix& first = runs.matrices[0];
  CHECK(first.topologies == std::vector<std::size_t>{1});
  CHECK(first.collectives[1] ==
        std::vector<std::string>{"broadcast,root=1", "all_reduce,group=0-2"});
  CHECK(first.sizes == std::vector{Bytes{1000}, Bytes{1 << 20}, Bytes{1 << 21}, Bytes{1 << 22}});
  CHECK(first.chunks == std::vector<std::optional<std::uint32_t>>{2U, std::nullopt});
  CHECK(first.disciplines == std::vector{Discipline::fluid, Discipline::fifo});
  CHECK(first.options.model.link_busy == LinkBusy::latency_and_serialization);
  CHECK(first.options.model.forwarding == Forwarding::cut_through);
  CHECK(first.options.routing == Routing::shortest);
  CHECK(first.options.limit_seconds == 1.5);
  CHECK(first.options.seed == 7);
  const auto cases = runs_of(e).cases(e.topologies);
  REQUIRE(cases.size() == 2 * 4 * 2 + 2); // collectives x sizes x chunks, and two topologies
  REQUIRE(runs_of(e).expectations.size() == 2);
  // by case and discipline: collective 0, size 2 of 4, chunks 1 of 2; then the last run's first
  // topology
  CHECK(runs_of(e).expectations[0].values == std::vector<Quotient>{{{2 * (2 * 2 + 1)}, {2 * 16}}});
  CHECK(runs_of(e).expectations[0].tolerance == 0.025);
  CHECK(runs_of(e).expectations[0].explanation == "why");
  CHECK(runs_of(e).expectations[1].value == 3e6); // 3 us in ps
  CHECK(runs_of(e).figures[0].kind == FigureKind::bars);
  CHECK(runs_of(e).figures[0].title == "All keys");
  CHECK(runs_of(e).figures[0].metric.name == "collective_time_ps");
  CHECK(runs_of(e).figures[0].normalized);
  CHECK(runs_of(e).figures[1].quantity == LinkQuantity::bytes);
  CHECK(runs_of(e).figures[1].topologies == std::vector<std::string>{"A"});
}

TEST_CASE("a topology file stands beside the experiment") {
  const TemporaryFolder folder;
  write_file(folder.file("pair.toml"), "npus = 2\n[[links]]\nfrom = \"npu0\"\nto = \"npu1\"\n"
                                       "bandwidth = \"1GB/s\"\nlatency = \"1us\"\n");
  write_file(folder.file("e.toml"), "name = \"e\"\n[topologies]\nP = \"pair.toml\"\n[[runs]]\n"
                                    "collectives = [\"broadcast\"]\nalgorithms = [\"direct\"]\n");
  CHECK(read_experiment(folder.file("e.toml")).topologies[0].topology.npu_count() == 2);
}

TEST_CASE("a collective's file stands beside the experiment") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("to"));
  write_file(folder.file("to/swap.toml"),
             "[[collective]]\nname = \"broadcast,root=1\"\nsize = \"1MiB\"\n");
  const std::string network = "name = \"e\"\n[topologies]\nR = \"ring:4\"\n";
  const std::string file = folder.file("to/e.toml");
  for (const std::string study :
       {"[[runs]]\ncollectives = [\"swap.toml\"]\nalgorithms = [\"direct\"]\n",
        "[[bounds]]\ncollectives = [\"swap.toml\"]\n",
        "[[failures]]\ncollective = \"swap.toml\"\nalgorithms = [\"direct\"]\nfailed_links = 1\n",
        "[[jobs]]\nalgorithms = [\"direct\"]\n[[jobs.job]]\nname = \"j\"\ncollective = "
        "\"swap.toml\"\n"}) {
    INFO(study);
    write_file(file, network + study);
    CHECK_NOTHROW(
        require_sound(read_experiment(file).studies.at(0), read_experiment(file).topologies));
  }
}

TEST_CASE("every experiment that comes with Tutti can be read") {
  const auto entries = catalogue();
  REQUIRE(entries.size() >= 3);
  for (const CatalogueEntry& entry : entries) {
    INFO(entry.name);
    CHECK_NOTHROW(read_experiment(entry.file));
    CHECK_FALSE(entry.title.empty());
    CHECK(find_experiment(entry.name) == entry.file);
  }
}

TEST_CASE("unknown keys and names are errors with their place") {
  const RefusalRows rows = {
      {head + run + "enigne = 'native'\n",
       R"(e.toml:8:1: unknown key "enigne" ... did you mean "engine"?)"},
      {"sede = 1\n" + head + run, R"(e.toml:1:1: unknown key "sede" ... did you mean "seed"?)"},
      {head + run + "topologies = ['C']\n",
       "e.toml:8:15: unknown topology label \"C\" (known: A, B"},
      {head + "[[runs]]\ncollectives = ['all_gater']\nalgorithms = ['ring']\n",
       R"(e.toml:6:16: unknown collective "all_gater" ... did you mean "all_gather"?)"},
      {head + "[[runs]]\ncollectives = ['all_gather']\nalgorithms = ['rign']\n",
       "e.toml:7:14: unknown algorithm \"rign\" (known: ring,"},
      {"name = 'e'\n[topologies]\nA = 'rign:4'\n" + run, "e.toml:3:5: unknown topology \"rign\""},
      {head + run + "engine = 'simgird'\n", "e.toml:8:10: unknown engine \"simgird\""},
      {head + run + "[[figures]]\nkind = 'heat'\nfile = 'f'\n",
       "e.toml:9:8: unknown kind of figure \"heat\" (known: heatmap,"},
      {head + run + "[[figures]]\nkind = 'bars'\nfile = 'f'\n" +
           "[[figures]]\nkind = 'heatmap'\nfile = 'f'\n",
       "e.toml:13:8: a figure before has the file \"f\""},
      {head + run + "[[figures]]\nkind = 'bars'\nfile = 'f'\nquantity = 'bytes'\n",
       "unknown key \"quantity\""},
      {head + run + "[[figures]]\nkind = 'heatmap'\nfile = 'f'\nquantity = 'bits'\n",
       "unknown quantity \"bits\" (known: utilisation, bytes"},
      {head + run + "[[figures]]\nkind = 'bars'\nfile = 'f'\nmetric = 'speed'\n",
       "unknown metric \"speed\" (known: chunks_per_shard, transfers, redundant, collective_time, "
       "lower_bound, gap, "},
  };
  check_refusals(experiment_error, rows);
}

TEST_CASE("expectations that everything would meet are refused") {
  const std::string of = "of = {topology = \"A\", algorithm = \"ring\"}\n";
  CHECK_THAT(experiment_error(expectation(of + "over = {topology = \"A\", algorithm = \"ring\"}\n"
                                               "value = 1\ntolerance = \"1%\"\n")),
             ContainsSubstring("e.toml:11:8: it selects the rows of \"of\""));
  for (const char* limit : {"value = \"9GB/s\"\n", "at_least = \"9GB/s\"\n"})
    CHECK_THAT(experiment_error(expectation(of + limit + "tolerance = \"100%\"\n")),
               ContainsSubstring("e.toml:12:13: within 100% everything is as expected"));
  CHECK_THAT(experiment_error(expectation("summary = \"error\"\nmetric = \"collective_time\"\n"
                                          "at_most = 10\n")),
             ContainsSubstring("an error is of ratios"));
  CHECK(experiment_error(expectation("summary = \"error\"\nmetric = \"gap\"\nat_most = 10\n"))
            .empty());
}

TEST_CASE("bad values are errors with their place") {
  const RefusalRows rows = {
      {head + run + "sizes = ['12']\n", "e.toml:8:10: size \"12\" has no unit"},
      {head + run + "sizes = ['0B']\n", "e.toml:8:10: size \"0B\" must be at least 1B"},
      {head + run + "sizes = ['2B..1B']\n", "e.toml:8:10: sizes \"2B..1B\" fall"},
      {head + run + "sizes = []\n", "e.toml:8:9: \"sizes\" is empty"},
      {head + run + "chunks = [0]\n", "e.toml:8:11: "},
      {head + run + "engine = 'native'\ndisciplines = ['fluid']\n",
       "e.toml:9:16: engine native knows no fluid sharing"},
      {"name = 'a/b'\n" + head.substr(11) + run,
       "e.toml:1:8: \"a/b\" must consist of letters, digits, - and _"},
      {head, "needs a study: [[runs]], [[frontiers]], [[jobs]], [[failures]]"},
      {head.substr(0, 11) + run, "\"topologies\""},
      {head + run + "algorithms = ['ring']\n", "e.toml:8:1"},
      {head + "[[runs]]\ncollectives = ['all_gather']\nalgorithms = ['ring', 'all']\n",
       "e.toml:7:14: algorithm \"ring\" is named twice"},
  };
  check_refusals(experiment_error, rows);
}

TEST_CASE("an experiment may include others and nothing else, each once") {
  const TemporaryFolder folder;
  const std::string execution = "topology = \"A\"\ncollective = \"all_gather\"\nsizes = "
                                "[\"4KiB\"]\nalgorithms = [\"ring\"]\n";
  const auto part = [&](const std::string& label) {
    return "[[executions]]\nlabel = \"" + label + "\"\n" + execution;
  };
  write_file(folder.file("one.toml"), head + part("x"));
  write_file(folder.file("two.toml"), head + part("y"));
  const std::string file = folder.file("e.toml");
  const auto read = [&](const std::string& toml) { return parse_experiment(toml, file); };
  const auto error = [&](const std::string& toml) { return message_of([&] { (void)read(toml); }); };
  const std::string name = "name = \"e\"\n";
  const Experiment both = read(name + "include = [\"one\", \"two\"]\n");
  const std::vector<const ExecutionStudy*> executions = both.all<ExecutionStudy>();
  REQUIRE(executions.size() == 2);
  CHECK(executions[1]->label == "two: y");
  CHECK(executions[1]->complete(both.topologies).topology->npu_count() == 4);
  CHECK(error(name + "include = \"one\"\n").starts_with(file + ":2:11: "));
  CHECK(error(name + "include = [\"one\", \"two\", \"one\"]\n") ==
        file + ":2:26: \"one\" is included twice");
  CHECK(error(name + "include = []\n") == file + ":2:11: \"include\" is empty");
  CHECK(error(name + "include = [\"one\", 3]\n").starts_with(file + ":2:19: "));
  CHECK(error(name + "include = [\"one\"]\n" + part("z")).find("topologies") != std::string::npos);
  CHECK(error(head.substr(0, 11) + "include = [\"one\"]\n" + head.substr(11) + part("One x"))
            .find(":2:12: \"one: x\" would have the same files as \"One x\"") != std::string::npos);
}

TEST_CASE("a label is one line that can be shown, wherever there is one") {
  for (const std::string bad : {"a\\nb", "\\tb", "a\\r", "\\u001b[2J"}) {
    INFO(bad);
    const auto check_refused = [&](const std::string& before, const std::string& after) {
      std::string words = experiment_error(before + "\"" + bad + "\"" + after);
      const auto line = std::to_string(1 + std::count(before.begin(), before.end(), '\n'));
      const auto column = std::to_string(before.size() - before.rfind('\n'));
      INFO(words);
      CHECK(words.starts_with("e.toml:" + line + ":" + column + ": "));
      CHECK(words.find("a label is one line") != std::string::npos);
      CHECK(words.find('\n') == std::string::npos);
    };
    check_refused(head + "[[runs]]\nlabel = ", "\n" + run.substr(9));
    check_refused(head + run + "[[expect]]\nlabel = ", "\n");
    for (const char* study : {"frontiers", "failures", "jobs", "training", "executions"})
      check_refused(head + "[[" + study + "]]\nlabel = ", "\n");
    const std::string words =
        experiment_error("name = \"e\"\n[topologies]\n\"" + bad + "\" = \"ring:4\"\n");
    CHECK(words.starts_with("e.toml:3:"));
    CHECK(words.find("a label is one line") != std::string::npos);
  }
}

TEST_CASE("a product of lists that is a slip is refused") {
  std::string many = "sizes = [";
  for (int i = 0; i < 30'000; ++i) many += "\"1kB\",";
  CHECK_THAT(experiment_error(head + run + many + "]\n"),
             ContainsSubstring("120000 cases, more than 100000")); // x 2 topologies x 2 algorithms
}

TEST_CASE("an expectation must speak of one case") {
  const std::string rest = "value = 1\ntolerance = \"2%\"\n";
  const std::string over = "over = {topology = \"A\", algorithm = \"direct\"}\n";
  CHECK(experiment_error(
            expectation("of = {topology = \"A\", algorithm = \"ring\"}\n" + over + rest)) == "");
  const RefusalRows rows = {
      {"{topology = 'X', algorithm = 'ring'}", "10:18: unknown topology \"X\" (known: A, B"},
      {"{topology = 'A', algorithm = 'x'}", "10:35: unknown algorithm \"x\""},
      {"{topology = 'A', algorithm = 'tacos'}",
       "10:35: unknown algorithm \"tacos\" (known: ring, direct"},
      {"{topology = 'A'}",
       "10:6: 2 values are as asked for (ring on A, direct on A): say which by label, topology, "
       "collective, size, algorithm, chunks, discipline, skew, jitter, or set \"summary\""},
      {"{topology = 'A', algorithm = 'ring', size = '1B'}",
       "10:6: no row of the study is as asked for"},
      {"{topolgy = 'A'}", "10:7: unknown key \"topolgy\""},
  };
  const auto refused = [&](const std::string& of) {
    return experiment_error(expectation("of = " + of + "\n" + over + rest));
  };
  check_refusals(refused, rows, "e.toml:");
}

TEST_CASE("a mean is of all pairs of one problem") {
  const std::string rest = "value = 1\ntolerance = \"2%\"\nsummary = \"geometric_mean\"\n";
  const auto values = [&](const std::string& text) {
    return runs_of(parse_experiment(expectation(text + rest), "e.toml")).expectations.at(0).values;
  };
  // cases: ring, direct on A; ring, direct on B
  CHECK(values("of = {algorithm = \"ring\"}\nover = {algorithm = \"direct\"}\n") ==
        std::vector<Quotient>{{{0}, {1}}, {{2}, {3}}});
  CHECK(values("of = {algorithm = \"ring\"}\nover = {algorithm = [\"direct\", \"ring\"]}\n") ==
        std::vector<Quotient>{{{0}, {0}}, {{0}, {1}}, {{2}, {2}}, {{2}, {3}}});
  CHECK(values("of = {topology = [\"B\"]}\nmetric = \"gap\"\n") ==
        std::vector<Quotient>{{{2}, {}}, {{3}, {}}});
  CHECK_THAT(experiment_error(expectation("of = {algorithm = \"ring\"}\n"
                                          "over = {algorithm = \"direct\", chunks = 3}\n" +
                                          rest)),
             ContainsSubstring("e.toml:11:40: unknown chunks \"3\" (known: auto"));
  // B's ring over A's direct: the networks are compared
  CHECK(
      values("of = {algorithm = \"ring\"}\nover = {topology = \"A\", algorithm = \"direct\"}\n") ==
      std::vector<Quotient>{{{0}, {1}}, {{2}, {1}}});
  CHECK_THAT(
      experiment_error(expectation("of = {algorithm = \"ring\"}\nover = {algorithm = \"direct\"}\n"
                                   "value = 1\ntolerance = \"2%\"\nsummary = \"harmonic\"\n")),
      ContainsSubstring("e.toml:14:11: unknown summary \"harmonic\" (known: geometric_mean, "
                        "arithmetic_mean, largest, smallest, error"));
}

TEST_CASE("pairs of one problem have the same chunks, unless they are named") {
  const std::string both = head + run +
                           "chunks = [1, 2]\n[[expect]]\nlabel = \"x\"\nvalue = 1\n"
                           "tolerance = \"2%\"\nsummary = \"arithmetic_mean\"\n";
  const auto values = [&](const std::string& text) {
    return runs_of(parse_experiment(both + text, "e.toml")).expectations.at(0).values;
  };
  // cases on A: ring, direct with 1 chunk; ring, direct with 2
  CHECK(
      values("of = {topology = \"A\", algorithm = \"ring\"}\nover = {algorithm = \"direct\"}\n") ==
      std::vector<Quotient>{{{0}, {1}}, {{2}, {3}}});
  CHECK(values("of = {topology = \"A\", algorithm = \"ring\"}\n"
               "over = {algorithm = \"direct\", chunks = 1}\n") ==
        std::vector<Quotient>{{{0}, {1}}, {{2}, {1}}});
}

TEST_CASE("an algorithm that chooses its chunks meets any") {
  const Experiment e = parse_experiment(head + run, "e.toml");
  std::vector<Case> cases(3, runs_of(e).cases(e.topologies).front());
  cases[0].run = "chosen";
  cases[0].chunks.reset();
  cases[0].algorithm.chooses_chunks = true;
  cases[1].run = "told";
  cases[1].chunks = 1;
  cases[2].run = "told";
  cases[2].chunks = 2;
  const auto values = [&] {
    return read_expectation(parse_config("label = \"x\"\nof.label = \"chosen\"\n"
                                         "over.label = \"told\"\nsummary = \"geometric_mean\"\n"
                                         "value = 1\ntolerance = \"2%\"\n",
                                         "x.toml"),
                            planned_runs(cases))
        .at(0)
        .values;
  };
  CHECK(values() == std::vector<Quotient>{{{0}, {1}}, {{0}, {2}}});
  cases[0].algorithm.chooses_chunks = false; // "auto" is another number of chunks than 1
  CHECK_THAT(message_of([&] { (void)values(); }),
             ContainsSubstring("\"over\" has no row of the same"));
}

TEST_CASE("an exponent is of several values") {
  const std::string rest = "tolerance = \"5%\"\nat_most = 2\n"
                           "metric = \"synthesis_seconds\"\n";
  const std::string of = "of = {algorithm = \"ring\"}\n", over_npus = "exponent_over = \"npus\"\n";
  const Expectation e =
      runs_of(parse_experiment(expectation(of + rest + over_npus), "e.toml")).expectations.at(0);
  CHECK(e.summary == Summary::exponent);
  CHECK(e.size == "npus");
  CHECK(e.limit == Limit::at_most);
  CHECK(e.value == 2);
  CHECK(e.values == std::vector<Quotient>{{{0}, {}}, {{2}, {}}});
  CHECK_THAT(
      experiment_error(expectation(of + "over = {algorithm = \"direct\"}\n" + rest + over_npus)),
      ContainsSubstring("e.toml:11:8: an exponent is of values, not of ratios"));
  CHECK_THAT(experiment_error(
                 expectation("of = {topology = \"A\", algorithm = \"ring\"}\n" + rest + over_npus)),
             ContainsSubstring("an exponent needs at least two values"));
  CHECK_THAT(experiment_error(expectation(of + rest + "exponent_over = \"links\"\n")),
             ContainsSubstring("unknown problem size \"links\" (known: npus, size, "));
  CHECK_THAT(experiment_error(expectation(of + rest + over_npus + "summary = \"largest\"\n")),
             ContainsSubstring("\"summary\" and \"exponent_over\" exclude each other"));
}

TEST_CASE("sizes may grow with the chunks") {
  const Experiment e = parse_experiment(
      head + run + "topologies = \"A\"\nchunks = [1, 4]\nsizes_per_chunk = \"1MiB\"\n", "e.toml");
  const auto cases = runs_of(e).cases(e.topologies);
  REQUIRE(cases.size() == 4);
  CHECK(cases[0].collective.size == Bytes{1 << 20});
  CHECK(cases[2].chunks == 4U);
  CHECK(cases[2].collective.size == Bytes{4 << 20});
  CHECK_THAT(experiment_error(head + run + "chunks = \"auto\"\nsizes_per_chunk = \"1MiB\"\n"),
             ContainsSubstring("e.toml:9:19: \"sizes_per_chunk\" needs numbers of chunks"));
  CHECK_THAT(experiment_error(head + run + "sizes = \"1MiB\"\nsizes_per_chunk = \"1MiB\"\n"),
             ContainsSubstring("e.toml:8:1: unknown key \"sizes\""));
  CHECK_THAT(experiment_error(head + run + "chunks = 2000\nsizes_per_chunk = \"9000TB\"\n"),
             ContainsSubstring("overflows"));
}

TEST_CASE("what each kind of figure can be told") {
  const auto figure = [](const std::string& kind, const std::string& rest) {
    return head + run + "[[figures]]\nkind = \"" + kind + "\"\nfile = \"f\"\n" + rest;
  };
  const auto read = [&](const std::string& kind, const std::string& rest) {
    return runs_of(parse_experiment(figure(kind, rest), "e.toml")).figures.at(0);
  };
  CHECK(read("chunks", "normalized = \"ring\"\n").reference == "ring");
  CHECK(read("bars", "normalized = \"ring\"\nlogarithmic = true\n").logarithmic);
  CHECK(read("scaling", "metric = \"synthesis_seconds\"\n").metric.name == "synthesis_seconds");
  CHECK(read("sizes", "metric = \"fact:hops\"\n").metric.name == "fact:hops");
  CHECK(read("sizes", "metric = \"planned_ratio\"\n").metric.name == "planned_ratio");
  CHECK_THAT(experiment_error(figure("sizes", "metric = \"fact:\"\n")),
             ContainsSubstring("unknown metric \"fact:\" (known: chunks_per_shard, transfers, "));
  CHECK(read("scaling", "over = \"transfers\"\n").over.name == "transfers");
  CHECK(read("schedule", "width = \"84mm\"\n").inches == Approx(84 / 25.4));
  CHECK(read("sizes", "logarithmic = true\nbound = true\n").shows_bound);
  const FigureRequest given =
      read("sizes", "points = [{name = \"paper\", x = [\"1MiB\"], y = [12.5]}]\ntitles = false\n");
  CHECK(given.given.at(0).points.at(0).x == 1 << 20);
  CHECK_FALSE(given.has_titles);
  const RefusalRows rows = {
      {figure("chunks", "normalized = true\n"),
       "e.toml:11:14: \"normalized\" of curves is the name"},
      {figure("bars", "normalized = \"rign\"\n"), "e.toml:11:14: unknown algorithm \"rign\""},
      {figure("scaling", "normalized = \"ring\"\n"), "unknown key \"normalized\""},
      {figure("schedule", "metric = \"gap\"\n"), "unknown key \"metric\""},
      {figure("scaling", "logarithmic = true\n"), "unknown key \"logarithmic\""},
      {figure("bars", "y_ends = [0, 1]\n"), "unknown key \"y_ends\""},
      {figure("sizes", "y_ends = [1, 0]\n"), "e.toml:11:10: an axis goes up"},
      {figure("sizes", "logarithmic = true\ny_ends = [0, 5]\n"),
       "e.toml:12:10: a logarithmic axis is above 0"},
      {figure("sizes", "points = [{name = \"paper\", x = [\"0B\"], y = [1]}]\n"),
       "e.toml:11:33: a logarithmic axis is above 0"},
      {figure("sizes", "points = [{name = \"paper\", x = [\"1kB\"], y = [-1]}]\n"),
       "e.toml:11:46: the axis begins at 0"},
      {figure("sizes", "width = \"3.3feet\"\n"),
       "e.toml:11:9: \"3.3feet\" is no width of a picture"},
      {figure("sizes", "font = \"<b>\"\n"), "e.toml:11:8: \"<b>\" is no family of a font"},
      {figure("sizes", "font = \"a\\nb\"\n"), "is no family of a font"},
      {figure("sizes", "metric = \"gap\"\nbound = true\n"), "e.toml:12:9: a bound is one of times"},
      {figure("sizes", "points = [{name = \"p\", x = [\"1MiB\"], y = []}]\n"),
       "points have as many x as y"},
  };
  check_refusals(experiment_error, rows);
}

TEST_CASE("an expected value has a sign, a unit and a tolerance") {
  const std::string of = "of = {topology = \"A\", algorithm = \"ring\"}\n";
  const Experiment fact = parse_experiment(
      expectation(of + "metric = \"fact:hops\"\nvalue = 12\ntolerance = \"2%\"\n"), "e.toml");
  CHECK(runs_of(fact).expectations.at(0).metric.name == "fact:hops");
  CHECK(runs_of(fact).expectations.at(0).value == 12);
  const Experiment planned = parse_experiment(
      expectation(of + "metric = \"planned_time\"\nvalue = \"4us\"\ntolerance = \"2%\"\n"),
      "e.toml");
  CHECK(runs_of(planned).expectations.at(0).value == 4e6);
  const Experiment ratio = parse_experiment(
      expectation(of + "metric = \"planned_ratio\"\nvalue = 0.5\ntolerance = \"2%\"\n"), "e.toml");
  CHECK(runs_of(ratio).expectations.at(0).value == 0.5);
  const std::string over = "over = {topology = \"B\", algorithm = \"ring\"}\n";
  const RefusalRows rows = {
      {over + "value = 0\ntolerance = '2%'", "e.toml:12:9: the expected value must be above 0"},
      {"value = 12\ntolerance = '2%'", "e.toml:11:9: "}, // bandwidth as text with a unit is wanted
      {over + "value = 1\ntolerance = '2'", "e.toml:13:13: \"2\" is no percentage from 0% to 100%"},
      {over + "value = 1\ntolerance = '-2%'", "is no percentage from 0% to 100%"},
      {over + "value = 1\ntolerance = 'nan%'", "is no percentage from 0% to 100%"},
      {"value = '1GB/s'", "needs a key \"tolerance\""},
      {"at_most = '1GB/s'\nat_least = '1GB/s'", "e.toml:12:12: only one of"},
      {"tolerance = '1%'", R"(needs a key "value", "at_most" or "at_least")"},
      {"at_most = '1GB/s'\nrepeats_within = 0.1",
       "e.toml:12:18: only what is measured repeats itself"},
      {over + "at_most = 1\nours = 0", "e.toml:13:8: the known value must be above 0"},
      {over + "at_most = 1\nours = 2\nours_tolerance = '100%'", "e.toml:14:18: within 100%"},
      {over + "at_most = 1\nstated = 'up to'", "e.toml:13:10: only the \"value\" of a ratio"},
      {"value = '1GB/s'\ntolerance = '1%'\nstated = 'about'", "e.toml:13:10: only the \"value\""},
      {over + "value = 1\ntolerance = '1%'\nstated = 'roughly'",
       "unknown way of stating a value \"roughly\" (known: up to, about, mean)"},
      {"at_most = '1GB/s'\nleft_open = {sizes = ['1MB', '2MB']}",
       "e.toml:12:13: unknown column \"sizes\" (known: "},
      {"at_most = '1GB/s'\nleft_open = {topology = ['A']}",
       "e.toml:12:13: one choice leaves nothing open"},
      {"at_most = '1GB/s'\nleft_open = {topology = ['A', 'C']}", "unknown topology \"C\""},
      {"at_most = '1GB/s'\nleft_open = {topology = ['A', 'A']}",
       "e.toml:12:13: \"A\" stands twice"},
      {"at_most = '1GB/s'\nours_tolerance = '2%'", "e.toml:12:18: it is of \"ours\""},
  };
  check_refusals(
      [&](const std::string& more) { return experiment_error(expectation(of + more + "\n")); },
      rows);
  CHECK_THAT(experiment_error(
                 expectation("of.discipline = \"fluid\"\nvalue = \"1GB/s\"\ntolerance = \"2%\"\n")),
             ContainsSubstring("e.toml:10:17: unknown discipline \"fluid\" (known: fifo"));
}

TEST_CASE("what ours is known to be, and what a paper leaves open") {
  const Experiment e = parse_experiment(
      expectation("of = {topology = \"A\", algorithm = \"ring\"}\n"
                  "over = {topology = \"A\", algorithm = \"direct\"}\n"
                  "value = 2.5\ntolerance = \"1%\"\nours = 2\nours_tolerance = \"3%\"\n"
                  "stated = \"up to\"\napart = \"by hand\"\n"
                  "left_open = {topology = [\"A\", \"B\"]}\n"),
      "e.toml");
  const Expectation expected = runs_of(e).expectations.at(0);
  REQUIRE(expected.ours);
  CHECK(expected.ours->value == 2);
  CHECK(expected.ours->tolerance == 0.03);
  CHECK(expected.stated == Stated::up_to);
  CHECK(expected.apart == "by hand");
  REQUIRE(expected.left_open);
  CHECK(expected.left_open->column == "topology");
  REQUIRE(expected.left_open->choices.size() == 2);
  CHECK(expected.left_open->choices[0].text == "A");
  CHECK(expected.left_open->choices[0].values == expected.values); // cases 0 over 1
  CHECK(expected.left_open->choices[1].values == std::vector<Quotient>{{{2}, {3}}});
  const Experiment time = parse_experiment(
      expectation("of = {topology = \"A\", algorithm = \"ring\"}\nmetric = \"collective_time\"\n"
                  "value = \"2us\"\ntolerance = \"1%\"\nours = \"3us\"\n"),
      "e.toml");
  CHECK(runs_of(time).expectations.at(0).ours->value == 3e6);
  CHECK(runs_of(time).expectations.at(0).ours->tolerance == 0.01);
}

TEST_CASE("rows that differ in one column may be alternatives") {
  const std::string both = head + run + "label = \"one\"\n" + run + "label = \"other\"\n" +
                           "[[expect]]\nlabel = \"x\"\nof = {topology = \"A\", algorithm = "
                           "\"ring\"}\nover = {topology = \"A\", algorithm = \"direct\", "
                           "label = \"one\"}\nvalue = 1\ntolerance = \"1%\"\n";
  const Expectation best =
      runs_of(parse_experiment(both + "best_of = \"label\"\n", "e.toml")).expectations.at(0);
  CHECK(best.values == std::vector<Quotient>{{{0}, {1}, {{4}}}});
  CHECK_THAT(experiment_error(both), ContainsSubstring("2 values are as asked for"));
  CHECK_THAT(experiment_error(both + "best_of = \"lable\"\n"),
             ContainsSubstring("unknown column \"lable\""));
}

TEST_CASE("another algorithm stands beside, also beside one that a row names") {
  const std::string of = "of = {topology = \"A\"}\nmetric = \"gap\"\ntolerance = \"1%\"\n"
                         "rows = [{algorithm = \"ring\", value = 2}]\nbeside = ";
  const Experiment e = parse_experiment(expectation(of + "{ring = \"direct\"}\n"), "e.toml");
  const Expectation one = runs_of(e).expectations.at(0);
  REQUIRE(one.beside);
  CHECK(one.values == std::vector<Quotient>{{{0}, {}}});
  CHECK(one.beside->values == std::vector<Quotient>{{{1}, {}}});
  const RefusalRows rows = {
      {"{ring = \"dirct\"}", "e.toml:14:18: unknown algorithm \"dirct\""},
      {"{A = \"direct\"}", "e.toml:14:10: neither \"of\" nor \"over\" names A"},
      {"{}", "e.toml:14:10: one algorithm in the place of another"},
  };
  check_refusals(
      [&](const std::string& more) { return experiment_error(expectation(of + more + "\n")); },
      rows);
}

TEST_CASE("rows of a paper's table stand over what they share") {
  const std::string shared = "of = {algorithm = \"ring\"}\nover = {algorithm = \"direct\"}\n"
                             "tolerance = \"5%\"\nours = 1\n";
  const Experiment e = parse_experiment(
      expectation(shared + "rows = [\n{topology = \"A\", value = 2},\n"
                           "{topology = \"B\", value = 3, ours = 4, tolerance = \"1%\"},\n"
                           "{label = \"mean\", summary = \"geometric_mean\", value = 2.5}]\n"),
      "e.toml");
  const std::vector<Expectation> rows = runs_of(e).expectations;
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].label == "x, A");
  CHECK(rows[1].label == "x, B");
  CHECK(rows[2].label == "x, mean");
  CHECK(rows[0].values == std::vector<Quotient>{{{0}, {1}}});
  CHECK(rows[1].values == std::vector<Quotient>{{{2}, {3}}});
  CHECK(rows[2].values.size() == 2);
  CHECK(rows[0].value == 2);
  CHECK(rows[1].value == 3);
  CHECK(rows[0].tolerance == 0.05);
  CHECK(rows[1].tolerance == 0.01);
  CHECK(rows[0].ours->value == 1);
  CHECK(rows[1].ours->value == 4);
  const RefusalRows refused = {
      {"rows = []", "e.toml:14:8: no rows: nothing is expected"},
      {"rows = [{topology = \"A\", valu = 2}]", "e.toml:14:26: unknown key \"valu\""},
      {"rows = [{topology = \"C\", value = 2}]", "e.toml:14:21: unknown topology \"C\""},
      {"rows = [{topology = \"A\"}]", "e.toml:14:9: needs a key \"value\""},
      {"rows = [{value = 2}]", "e.toml:14:9: a row needs a column, or a \"label\""},
      {"rows = [{topology = \"A\", rows = [], value = 2}]", "unknown key \"rows\""},
      {"rows = [{topology = \"A\", value = 0}]", "e.toml:14:34: the expected value"},
  };
  check_refusals(
      [&](const std::string& more) { return experiment_error(expectation(shared + more + "\n")); },
      refused);
}

TEST_CASE("names of earlier versions are refused with the new ones") {
  const std::string of = "of = {topology = \"A\", algorithm = \"ring\"}\n";
  CHECK_THAT(experiment_error(expectation(of + "paper = 1\ntolerance = \"2%\"\n")),
             ContainsSubstring("e.toml:11:9: \"paper\" is now \"value\""));
  CHECK_THAT(experiment_error(expectation(of + "metric = \"time\"\nvalue = \"1us\"\n")),
             ContainsSubstring("e.toml:11:10: metric \"time\" is called \"collective_time\" now"));
  CHECK_THAT(experiment_error(expectation(of + "value = 1\nat_most = true\n")),
             ContainsSubstring("e.toml:12:11: \"at_most\" is now the limit itself"));
}

} // namespace experiment_test
