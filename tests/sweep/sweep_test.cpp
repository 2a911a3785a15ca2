#include "experiments/driver/sweep/space/sweep.hpp"

#include "experiments/driver/sweep/space/value_reader.hpp"
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/refusals.hpp"
#include "tests/temporary_folder.hpp"

namespace sweep_test {

using namespace tutti;
using namespace tutti::sweep;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

namespace {

// Its first line is the first of `head`.
std::string sweep_with(const std::string& head, const std::string& tail = "") {
  return head + R"(
[parameters]
k = [2, 4]
algorithm = ["ring", "direct"]
[experiment]
topologies = {net = "mesh2d:${k}x${k}"}
[[experiment.runs]]
collectives = ["all_reduce"]
algorithms = ["${algorithm}"]
[objectives]
time = "collective_time_s"
gap = "gap"
)" + tail;
}

Sweep sweep_of(const std::string& toml) { return parse_sweep(toml, "sweep.toml"); }
std::string refusal(const std::string& toml) {
  return message_of([&] { (void)sweep_of(toml); });
}
// With these lines first, so that they have the places 2:...
std::string refusal_of_head(const std::string& head) {
  return refusal(sweep_with("name = \"s\"\n" + head));
}
// As a definition in line 3.
std::string refusal_of_derived(const std::string& line) {
  return refusal_of_head("[derived]\n" + line);
}

std::vector<Value> values(const std::string& text) {
  return values_of(parse_config("x = " + text, "v.toml").at("x"));
}
std::vector<double> numbers(const std::string& text) {
  std::vector<double> found;
  for (const Value& value : values(text)) found.push_back(value.number);
  return found;
}
std::string refusal_of_values(const std::string& text) {
  return message_of([&] { (void)values(text); });
}

} // namespace

TEST_CASE("a parameter's values are one, a list, sizes that double, or a range") {
  CHECK(values("8") == std::vector{number_value(8)});
  CHECK(values("[true, 0.5, \"ring\", \"../x.toml\"]") ==
        std::vector{boolean_value(true), number_value(0.5), text_value("ring"),
                    text_value("../x.toml")});
  CHECK(values("\"1KiB..4KiB\"") == std::vector{number_value(1024, Unit::bytes),
                                                number_value(2048, Unit::bytes),
                                                number_value(4096, Unit::bytes)});
  CHECK(numbers("[\"1MB\", \"1KiB..3KiB\"]") == std::vector<double>{1e6, 1024, 2048, 3072});
  CHECK(numbers("{from = 2, to = 8, step = 2}") == std::vector<double>{2, 4, 6, 8});
  CHECK(numbers("{from = 0.1, to = 0.5, step = 0.1}") ==
        std::vector<double>{0.1, 0.2, 0.3, 0.4, 0.5});
  CHECK(numbers("{from = 1, to = 64, factor = 4}") == std::vector<double>{1, 4, 16, 64});
  CHECK(values("{from = \"0.1us\", to = \"10us\", factor = 10}") ==
        std::vector{text_value("100ns"), text_value("1us"), text_value("10us")});
  CHECK(values("{from = \"50GB/s\", to = \"100GB/s\", step = \"25GB/s\"}").size() == 3);
}

TEST_CASE("values are refused with their place") {
  CHECK(refusal_of_values("[]") == "v.toml:1:5: a parameter needs values");
  CHECK(refusal_of_values("[\"1KiB\", \"1us\"]") ==
        "v.toml:1:5: values of different units: \"1us\" isn't in bytes");
  CHECK(refusal_of_values("[1, \"1us\"]") ==
        "v.toml:1:5: values of different units: \"1us\" isn't in numbers");
  CHECK(refusal_of_values("\"4KiB..1KiB\"") ==
        "v.toml:1:5: sizes \"4KiB..1KiB\" fall: put the smaller first");
  CHECK_THAT(refusal_of_values("{from = 2, to = 9, step = 2}"),
             Contains("the range ends at 8, not at 9"));
  CHECK_THAT(refusal_of_values("{from = \"1us\", to = \"7us\", factor = 2}"),
             Contains("the range ends at 4us, not at 7us"));
  CHECK_THAT(refusal_of_values("[\"0.5us\", 1, \"500ns\"]"), Contains("different units"));
  const RefusalRows rows = {
      {"{from = 1, to = 2}", R"(1:5: a range needs a "step" or a "factor")"},
      {"{from = 1, to = 2, step = 1, factor = 2}", R"(1:5: a range needs a "step" or a "factor")"},
      {"{from = 2, to = 2, step = 1}", R"(1:21: "to" must be above "from")"},
      {"{from = 2, to = '3us', step = 1}", R"(1:21: "from" and "to" have different units)"},
      {"{from = 'a', to = 3, step = 1}",
       R"(1:13: expected a number or a quantity such as "1GiB", "0.5us" or "50GB/s")"},
      {"{from = 1, to = 2, step = 0}", "1:31: a step is more than 0, in the unit of the range"},
      {"{from = 1, to = 2, step = 1e-9}", "1:31: more than 1000000 values"},
      {"{from = 0, to = 2, factor = 2}",
       "1:33: a factor is more than 1, and its range begins above 0"},
      {"{from = 1, to = 2, facto = 2}",
       R"(1:24: unknown key "facto" (known: from, to, step, factor; did you mean "factor"?))"},
  };
  check_whole_refusals(refusal_of_values, rows, "v.toml:");
  CHECK_THAT(refusal_of_values("1979-05-27"), StartsWith("v.toml:1:5: expected a number"));
}

TEST_CASE("a sweep says what it has") {
  const Sweep sweep = sweep_of(sweep_with(
      R"(name = "all"
title = "Everything"
seed = 4
constraints = ["npus == 16 * replica", "cost <= 250000"]
[[zip]]
label = ["a", "b", "c"]
rate = ["25GB/s", "50GB/s", "100GB/s"]
[[sample]]
method = "latin_hypercube"
count = 5
parameters = {alpha = {from = "0.1us", to = "10us", scale = "log"}, replica = {from = 1, to = 3}}
[derived]
text = "${label} at ${local}"
local = {expression = "2 * rate", unit = "bytes_per_second"}
most = {largest = "cost * most <= 5", from = 1, to = 9}
[limits]
time = "90s"
memory = "2GiB"
[cost]
[[cost.cables]]
name = "any"
)",
      R"(speed = {expression = "algbw_bytes_per_s", maximise = true, unit = "bytes_per_second"}
[[pareto]]
label = "Front"
x = "gap"
y = "time"
by = ["k"]
name = "algorithm"
[[best]]
label = "Best"
title = "The best"
objective = "time"
of = "algorithm"
x = "k"
[[sensitivity]]
label = "Sensitivity"
objective = "speed"
[[curves]]
label = "Curves"
objective = "time"
x = "alpha"
series = "k"
replicates = "replica"
logarithmic = true
relative_to = 4
[[selection]]
label = "Selection"
objective = "time"
of = ["algorithm", "label"]
over = "k"
)"));
  CHECK(sweep.name == "all");
  CHECK(sweep.title == "Everything");
  CHECK(sweep.seed == 4);
  CHECK_THAT(sweep.toml, StartsWith("name = \"all\""));
  CHECK(parameter_names(sweep) ==
        std::vector<std::string>{"k", "algorithm", "label", "rate", "alpha", "replica"});
  CHECK(fact_names(sweep) == std::vector<std::string>{"npus", "links", "switches", "cost",
                                                      "cost_cables", "cost_switches", "cost_nics",
                                                      "cost_npus", "cost_energy", "power_watts",
                                                      "cables", "cable_metres"});
  REQUIRE(sweep.axes.size() == 4);
  CHECK(sweep.axes[2].rows[1] == std::vector{text_value("b"), text_value("50GB/s")});
  CHECK(sweep.axes[3].rows.size() == 5);
  for (const auto& row : sweep.axes[3].rows) {
    CHECK((row[0].number >= 1e-7 && row[0].number <= 1e-5 && row[0].unit == Unit::seconds));
    CHECK((row[1] == number_value(1) || row[1] == number_value(2) || row[1] == number_value(3)));
  }
  REQUIRE(sweep.constraints.size() == 2);
  CHECK(sweep.constraints[1].place == "sweep.toml:4:40");
  REQUIRE(sweep.definitions.size() == 3);
  CHECK(std::get<TextDefinition>(sweep.definitions[0].what).text == "${label} at ${local}");
  CHECK(std::get<NumberDefinition>(sweep.definitions[1].what).unit == Unit::bytes_per_second);
  CHECK(std::get<LargestDefinition>(sweep.definitions[2].what).to == number_value(9));
  CHECK(sweep.definitions[2].place == "sweep.toml:15:8");
  CHECK(sweep.limits.seconds == 90);
  CHECK(sweep.limits.bytes == std::int64_t{2} << 30);
  REQUIRE(sweep.objectives.size() == 3);
  CHECK(sweep.objectives[2].maximise);
  CHECK(sweep.objectives[2].unit == Unit::bytes_per_second);
  CHECK(sweep.objectives[0].expression == "collective_time_s");
  CHECK(sweep.objectives[0].unit == Unit::seconds); // of the result
  REQUIRE(sweep.paretos.size() == 1);
  CHECK(sweep.paretos[0].head.by == std::vector<std::string>{"k"});
  CHECK(sweep.paretos[0].name == "algorithm");
  CHECK(sweep.bests.at(0).head.title == "The best");
  CHECK(sweep.bests.at(0).y.empty());
  CHECK(sweep.sensitivities.at(0).of.empty());
  CHECK(sweep.sensitivities.at(0).head.title == "Sensitivity");
  CHECK(sweep.curves.at(0).relative_to == "4");
  CHECK(sweep.curves.at(0).logarithmic);
  CHECK(sweep.selections.at(0).of == std::vector<std::string>{"algorithm", "label"});
}

TEST_CASE("a sweep without more takes what is usual") {
  const Sweep sweep = sweep_of(sweep_with("name = \"s\""));
  CHECK(sweep.title == "s");
  CHECK(sweep.seed == 1);
  CHECK(sweep.limits.seconds == 600);
  CHECK(sweep.limits.bytes == 0);
  CHECK_FALSE(sweep.cost.has_value());
  CHECK(fact_names(sweep) == std::vector<std::string>{"npus", "links", "switches"});
}

TEST_CASE("a sample is drawn by its seed, else the sweep's") {
  const auto rows = [](const std::string& sweep_seed, const std::string& seed) {
    return sweep_of(sweep_with("name = \"s\"\nseed = " + sweep_seed + R"(
constraints = "a > 0"
[[sample]]
method = "random"
count = 9
parameters = {a = {from = 0.5, to = 2.5}}
)" + seed))
        .axes[2]
        .rows;
  };
  CHECK(rows("1", "") == rows("1", ""));
  CHECK(rows("1", "") != rows("2", ""));
  CHECK(rows("1", "") == rows("2", "seed = 1"));
}

TEST_CASE("files are looked for beside the sweep") {
  const TemporaryFolder folder;
  write_file(folder.file("costs.toml"), "[[cables]]\nname = \"any\"\nprice = 3.0\n");
  write_file(folder.file("sweep.toml"), sweep_with("name = \"s\"\ncost = \"costs.toml\""));
  CHECK(read_sweep(folder.file("sweep.toml")).cost->cables.front().price.each == 3);
  CHECK_THAT(refusal_of_head("cost = \"nowhere.toml\""),
             StartsWith("sweep.toml:2:8: ") && Contains("nowhere.toml"));
}

TEST_CASE("keys and heads of a sweep are checked") {
  CHECK_THAT(refusal_of_head("parametrs = 1"),
             StartsWith("sweep.toml:2:1: unknown key \"parametrs\"") &&
                 EndsWith("did you mean \"parameters\"?)"));
  CHECK(refusal(sweep_with("name = \"a b\"")) ==
        "sweep.toml:1:8: \"a b\" must consist of letters, digits, - and _");
  CHECK_THAT(refusal(sweep_with("")), Contains("this table needs a key \"name\""));
  CHECK(refusal_of_head("seed = -1") ==
        "sweep.toml:2:8: -1 is out of range (0 .. 9223372036854775807)");
  CHECK(refusal_of_head("[limits]\ntime = \"0s\"") == "sweep.toml:3:8: a limit is more than 0s");
  CHECK(refusal_of_head("[limits]\nmemory = \"0B\"") == "sweep.toml:3:10: a limit is more than 0B");
  CHECK(refusal_of_head("[limits]\ntimes = \"1s\"") ==
        "sweep.toml:3:1: unknown key \"times\" (known: time, memory; did you mean \"time\"?)");
}

TEST_CASE("names of parameters are checked") {
  const auto refusal_of_parameter = [](const std::string& line) {
    return refusal_of_head("[[zip]]\n" + line);
  };
  CHECK(refusal_of_parameter("\"a-b\" = [1]") ==
        "sweep.toml:3:9: \"a-b\" is no name: letters, digits and _, a letter or _ first");
  CHECK(refusal_of_parameter("1st = [1]") ==
        "sweep.toml:3:7: \"1st\" is no name: letters, digits and _, a letter or _ first");
  for (const char* name : {"status", "key", "ID", "npus", "cost", "collective_time_s", "results"})
    CHECK(refusal_of_parameter(std::string(name) + " = 1") ==
          "sweep.toml:3:" + std::to_string(std::string(name).size() + 4) + ": the name \"" + name +
              "\" is reserved: every point has one");
  for (const char* name : {"case", "end", "true", "Not", "between", "like", "IN"})
    CHECK(refusal_of_parameter(std::string(name) + " = 1") ==
          "sweep.toml:3:" + std::to_string(std::string(name).size() + 4) + ": \"" + name +
              "\" is a word of expressions, not a name");
  CHECK(refusal_of_parameter("K = 1") ==
        "sweep.toml:3:5: the name \"K\" is taken (small and large letters are the same)");
  CHECK(refusal_of_parameter("unused = [1, 2]") ==
        "sweep.toml:3:10: nothing uses the parameter \"unused\"");
  CHECK(refusal_of_derived("k = {expression = \"1\"}") ==
        "sweep.toml:3:5: the name \"k\" is taken (small and large letters are the same)");
  CHECK(refusal_of_derived("seed = {expression = \"1\"}") ==
        "sweep.toml:3:8: \"seed\" is the experiment's: it can be a parameter, not derived");
  CHECK(refusal_of_parameter("seed = [1, 2]").empty()); // is always used
  CHECK(refusal_of_parameter("seed = [1, 0.5]") ==
        "sweep.toml:3:8: \"0.5\" is no seed: whole numbers from 0 on");
  CHECK(refusal_of_parameter("seed = [\"a\"]") ==
        "sweep.toml:3:8: \"a\" is no seed: whole numbers from 0 on");
}

TEST_CASE("a list has each value once") {
  CHECK(message_of([] {
          (void)parse_sweep("name = \"s\"\n[parameters]\nl = [\"0.5us\", \"1us\", \"500ns\"]\n"
                            "[experiment]\ntopologies = {a = \"ring:4,latency=${l}\"}\n"
                            "[[experiment.runs]]\ncollectives = [\"all_gather\"]\n"
                            "algorithms = [\"ring\"]\n",
                            "sweep.toml");
        }) == "sweep.toml:3:5: 500ns is there twice");
}

TEST_CASE("zips and samples are checked") {
  CHECK(refusal_of_head("[[zip]]\na = [1, 2, 3]\nb = [1, 2]") ==
        "sweep.toml:4:5: \"b\" has 2 values, but \"a\" has 3");
  CHECK(refusal_of_head("[[zip]]\na = []") == "sweep.toml:3:5: a parameter needs values");
  CHECK(refusal_of_head("[[zip]]") == "sweep.toml:2:1: a zip needs parameters");
  const auto refusal_of_sample = [](const std::string& method, const std::string& count,
                                    const std::string& parameters) {
    return refusal_of_head("[[sample]]\nmethod = \"" + method + "\"\ncount = " + count +
                           "\nparameters = {" + parameters + "}");
  };
  CHECK(refusal_of_sample("randm", "1", "a = [1]") ==
        "sweep.toml:3:10: unknown method \"randm\" (known: random, latin_hypercube; did you mean "
        "\"random\"?)");
  CHECK(refusal_of_sample("random", "0", "a = [1]") ==
        "sweep.toml:4:9: 0 is out of range (1 .. 1000000)");
  CHECK(refusal_of_sample("random", "1", "") == "sweep.toml:5:14: a sample needs parameters");
  CHECK(refusal_of_sample("random", "1", "a = {from = 0, to = 3, scale = \"log\"}") ==
        "sweep.toml:5:19: \"from\" must be above 0");
  CHECK(refusal_of_sample("random", "1", "a = {from = 1, to = 3, scale = \"lig\"}") ==
        "sweep.toml:5:46: unknown scale \"lig\" (known: linear, log; did you mean \"log\"?)");
}

TEST_CASE("a zip has each row once, and its texts the values of their row") {
  const auto rows_of = [](const std::string& zip) {
    const Sweep sweep =
        sweep_of(sweep_with("name = \"s\"\nconstraints = \"a = b\"\n[[zip]]\n" + zip));
    return sweep.axes.back().rows;
  };
  CHECK(
      rows_of("a = [2, 4]\nb = [\"${a}\", \"${c}:${a}x${a}, $${a}\"]\nc = [\"x\", \"torus2d\"]") ==
      std::vector<std::vector<Value>>{
          {number_value(2), number_value(2), text_value("x")},
          {number_value(4), text_value("torus2d:4x4, ${a}"), text_value("torus2d")}});
  CHECK(rows_of("b = \"${a}iB\"\na = \"8K\"") ==
        std::vector<std::vector<Value>>{{text_value("8KiB"), text_value("8K")}});
  const auto refusal_of_zip = [](const std::string& zip) {
    return refusal_of_head("[[zip]]\n" + zip);
  };
  CHECK(refusal_of_zip("a = [1, 1]\nb = [\"x\", \"x\"]") ==
        "sweep.toml:3:5: 1 with x is there twice");
  CHECK(refusal_of_zip("a = [1, 1]\nb = [\"x\", \"y\"]") ==
        "sweep.toml:3:5: nothing uses the parameter \"a\"");
  CHECK(refusal_of_zip("a = [\"1\", \"${b}\"]\nb = [\"2\", \"-${a}\"]") ==
        "sweep.toml:3:5: \"a\" follows from itself");
  CHECK(refusal_of_zip("a = [\"1\", \"${a}\"]") == "sweep.toml:3:5: \"a\" follows from itself");
  CHECK(refusal_of_zip("a = [\"1\", \"x${k}\"]") ==
        "sweep.toml:3:11: \"k\" isn't one value for all points: what follows from it stands in "
        "[derived] or in [experiment]");
  CHECK(refusal_of_zip("a = [1]\nb = [\"1\", \"${bb}\"]") ==
        "sweep.toml:4:5: \"b\" has 2 values, but \"a\" has 1");
  CHECK_THAT(refusal_of_zip("b = [\"1\", \"${aa}\"]"),
             StartsWith("sweep.toml:3:11: unknown name \"aa\" (known: k, algorithm, b, npus"));
  CHECK_THAT(refusal_of_zip("b = [1]\n[[zip]]\nb = [1]"), Contains("the name \"b\" is taken"));
}

TEST_CASE("a parameter with one value is filled in wherever texts are") {
  const std::string head = R"(name = "net_${one}"
title = "$${one} is ${one}, ${text}"
seed = "${one}"
constraints = ["${k} < '${one}'", "'${algorithm}:${k}' <> 'ring:2'", "v < ${top} + z"]
cost = {cables = [{name = "any", price = "${k}", price_per_metre = "${zipped}"}]}
[limits]
time = "${longest}"
[derived]
most = {largest = "most < 5", from = "${one}", to = "${top}"}
[[zip]]
zipped = "${one}0"
longest = "90s"
[[zip]]
u = {from = 1, to = "${two}", step = "${one}"}
v = {from = 1, to = 2, step = 1}
[[sample]]
method = "${method}"
count = "${two}"
parameters = {z = {from = 0, to = "${two}"}}
)";
  std::string toml = sweep_with(head, R"([[curves]]
label = "One ${one}"
title = "${u} of ${one}"
by = "${by}"
objective = "${objective}"
x = "k"
series = "algorithm"
relative_to = "${k_of}"
)");
  toml.insert(toml.find("k = [2, 4]"), R"(one = 1
two = ["${one_more}"]
one_more = 2
text = "${longest} or ${zipped}"
top = 9
method = "random"
by = "u"
objective = "time"
k_of = "ring"
)");
  const Sweep sweep = sweep_of(toml);
  CHECK(sweep.name == "net_1");
  CHECK(sweep.title == "${one} is 1, 90s or 10");
  CHECK(sweep.seed == 1);
  CHECK(sweep.limits.seconds == 90);
  CHECK(std::get<LargestDefinition>(sweep.definitions.at(0).what).to == number_value(9));
  CHECK_FALSE(sweep.cost.has_value());
  CHECK(sweep.cost_names == std::vector<std::string>{"k", "zipped"});
  CHECK(cost_model_of(*sweep.cost_template, "",
                      [](const std::string& name) { return number_value(name == "k" ? 4 : 10); })
            .cables.at(0)
            .price_per_metre == 10);
  REQUIRE(sweep.axes.size() == 14);
  CHECK(sweep.axes[12].rows[1] == std::vector{number_value(2), number_value(2)});
  CHECK(sweep.axes[13].rows.size() == 2);
  CHECK(sweep.curves.at(0).head.label == "One 1");
  CHECK(sweep.curves.at(0).head.by == std::vector<std::string>{"u"});
  CHECK(sweep.curves.at(0).relative_to == "ring");
}

TEST_CASE("where a name has no value it is refused") {
  const std::string many = " isn't one value for all points: what follows from it stands in "
                           "[derived] or in [experiment]";
  const RefusalRows rows = {
      {"title = 'of ${k}'", "2:9: \"k\"" + many},
      {"title = 'of ${npus}'", "2:9: \"npus\"" + many},
      {"[limits]\ntime = '${x}s'\n[derived]\nx = '1'", "3:8: \"x\"" + many},
      {"[[zip]]\na = '${b}'\nb = '${a}'", "3:5: \"a\" follows from itself"},
      {"[[curves]]\nlabel = 'a'\ntitle = 'b ${k}'\nobjective = 'time'\nx = 'k'\n"
       "series = 'algorithm'",
       "4:9: \"k\" is neither in \"by\" nor one value for all points"},
      {"[[curves]]\nlabel = '$${k}'\nobjective = 'time'\nx = 'k'\nseries = 'algorithm'",
       "3:9: a label names files: it has no ${...} but those that are filled in"},
      {"title = '${${k}}'", "2:9: \"${${k}}\": a name stands in ${...} ($${ is ${ itself)"},
      {"title = '${k + 1}'",
       "2:9: unknown name \"k + 1\" (known: k, algorithm, npus, links, switches)"},
      {"cost = {cables = [{name = 'any', price = '${npus}'}]}",
       "7:21: \"npus\" follows from the network and its cost, which can't follow from it"},
  };
  check_whole_refusals(refusal_of_head, rows, "sweep.toml:");
  std::string own = sweep_with("name = \"s\"");
  own.replace(own.find("${k}"), 4, "${npus}");
  CHECK(refusal(own) == "sweep.toml:6:21: \"npus\" follows from the network and its cost, which "
                        "can't follow from it");
  std::string open = sweep_with("name = \"s\"");
  open.replace(open.find("${algorithm}"), 12, "${algorithm");
  CHECK(refusal(open) ==
        "sweep.toml:9:15: \"${algorithm\": a name stands in ${...} ($${ is ${ itself)");
}

TEST_CASE("what expressions and texts name must be known") {
  CHECK(refusal_of_head("constraints = [\"npus = 4\", \"kk > 2\"]") ==
        "sweep.toml:2:28: column 1 of \"kk > 2\": unknown name \"kk\" (known: k, algorithm, npus, "
        "links, switches)");
  CHECK_THAT(refusal_of_head("constraints = \"k >\""),
             StartsWith("sweep.toml:2:15: column 4 of \"k >\": found the end, expected a value"));
  CHECK_THAT(
      refusal_of_head("constraints = \"collective_time_s < 1\""), // is known when a point is done
      StartsWith("sweep.toml:2:15: column 1 of ") &&
          Contains(": unknown name \"collective_time_s\""));
  CHECK_THAT(refusal_of_head("constraints = \"cost < 1\""), // without a cost model
             StartsWith("sweep.toml:2:15: column 1 of ") && Contains(": unknown name \"cost\""));
  CHECK(refusal_of_derived("text = \"${kk}\"") ==
        "sweep.toml:3:8: unknown name \"kk\" (known: k, algorithm, text, npus, links, switches)");
  CHECK(refusal_of_derived("text = \"${k\"") ==
        "sweep.toml:3:8: \"${k\": a name stands in ${...} ($${ is ${ itself)");
  CHECK_THAT(refusal_of_derived("x = {expression = \"kk\"}"),
             StartsWith("sweep.toml:3:5: column 1 of ") && Contains(": unknown name \"kk\""));
  CHECK_THAT(refusal_of_derived("x = {largest = \"kk < 3\", from = 1, to = 2}"),
             StartsWith("sweep.toml:3:5: column 1 of ") && Contains(": unknown name \"kk\""));
  CHECK(refusal_of_derived("x = {largest = \"x < 3\", from = 0, to = 2}") ==
        "sweep.toml:3:5: \"from\" must be above 0");
  CHECK_THAT(refusal_of_derived("x = {expression = \"k\", unit = \"byte\"}"),
             StartsWith("sweep.toml:3:31: unknown unit \"byte\"") &&
                 EndsWith("did you mean \"bytes\"?)"));
  CHECK(refusal_of_derived("x = 4") == "sweep.toml:3:5: expected a table, found the integer 4");
  const std::string sweep = sweep_with("name = \"s\"");
  std::string unknown = sweep;
  unknown.replace(unknown.find("${algorithm}"), 12, "${algoritm}");
  CHECK(refusal(unknown) ==
        "sweep.toml:9:15: unknown name \"algoritm\" (known: k, algorithm, npus, links, switches; "
        "did you mean \"algorithm\"?)");
  CHECK_THAT(refusal(sweep + "bad = \"collective_tim_s\""),
             StartsWith("sweep.toml:13:7: column 1 of \"collective_tim_s\": unknown name") &&
                 EndsWith("did you mean \"collective_time_s\"?)"));
  CHECK_THAT(refusal(sweep + "Gap = \"gap * 100\""), ContainsSubstring("\"Gap\" is taken"));
  CHECK_THAT(refusal(sweep + "status = \"gap\""), ContainsSubstring("\"status\" is taken"));
  CHECK_THAT(refusal(sweep + "bad = {expression = \"collective_time_s\", minimise = true}"),
             StartsWith("sweep.toml:13:42: unknown key \"minimise\""));
}

TEST_CASE("cycles of definitions are refused, but what `largest` seeks may decide its condition") {
  CHECK(refusal_of_derived("a = {expression = \"b\"}\nb = {expression = \"c + 1\"}\n"
                           "c = \"${a}\"") == "sweep.toml:3:5: \"a\" follows from itself");
  CHECK(refusal_of_derived("a = {expression = \"a\"}") ==
        "sweep.toml:3:5: \"a\" follows from itself");
  CHECK(refusal_of_derived("a = {largest = \"b < 5\", from = 1, to = 9}\n"
                           "b = {expression = \"2 * a\"}") == "");
  CHECK(refusal_of_derived("a = {largest = \"a + b < 5\", from = 1, to = 9}\n"
                           "b = {largest = \"a + b < 6\", from = 1, to = 9}") ==
        "sweep.toml:4:5: \"b\" and \"a\" depend on each other");
  CHECK(refusal_of_derived("a = {largest = \"a < 5\", from = 1, to = 9}\n"
                           "b = {largest = \"a + b < 6\", from = 1, to = 9}") == "");
  // Through the network.
  std::string sweep = sweep_with("name = \"s\"\n[derived]\nwidth = {expression = \"npus\"}");
  sweep.replace(sweep.find("mesh2d:${k}"), 11, "mesh2d:${width}");
  CHECK_THAT(refusal(sweep), StartsWith("sweep.toml:3:9: \"width\" follows from itself"));
}

TEST_CASE("analyses are checked") {
  const auto refusal_of_analysis = [](const std::string& tail) {
    return refusal(sweep_with("name = \"s\"", tail)); // from line 13 on
  };
  const std::string best = "[[best]]\nlabel = \"B\"\nobjective = \"time\"\n";
  CHECK(refusal_of_analysis(best + "of = \"algorithm\"\nx = \"k\"") == "");
  const RefusalRows rows = {
      {best + "of = 'algoritm'\nx = 'k'",
       R"(16:6: unknown parameter "algoritm" (known: k, algorithm; did you mean "algorithm"?))"},
      {best + "of = []\nx = 'k'", "16:6: \"of\" is empty"},
      {best + "of = 'k'\nx = 'k'", "17:5: \"k\" is named twice"},
      {"[[sensitivity]]\nlabel = 'B'\nobjective = 'tim'",
       R"(15:13: unknown objective "tim" (known: time, gap; did you mean "time"?))"},
      {"[[sensitivity]]\nlabel = '-'\nobjective = 'time'", "14:9: a label needs letters or digits"},
      {"[[sensitivity]]\nlabel = 'Points'\nobjective = 'time'",
       "14:9: \"Points\" would have the same files as another"},
      {best + "of = 'algorithm'\nx = 'k'\n[[sensitivity]]\nlabel = 'b'\nobjective = 'time'",
       "19:9: \"b\" would have the same files as another"},
  };
  check_whole_refusals(refusal_of_analysis, rows, "sweep.toml:");
  CHECK_THAT(refusal_of_analysis(best + "of = \"k\""), Contains("needs a key \"x\""));
  CHECK_THAT(refusal_of_analysis("[[pareto]]\nlabel = \"P\"\nx = \"time\"\ny = \"time\""),
             EndsWith("\"x\" and \"y\" are the same objective"));
  CHECK(refusal_of_analysis("[[curves]]\nlabel = \"C\"\nobjective = \"time\"\nx = \"k\"\nseries = "
                            "\"algorithm\"\nrelative_to = \"rng\"") ==
        "sweep.toml:18:15: unknown value of \"algorithm\" \"rng\" (known: ring, direct; did you "
        "mean \"ring\"?)");
  CHECK(refusal_of_analysis("[[selection]]\nlabel = \"S\"\nobjective = \"time\"\nover = \"k\"\n"
                            "of = \"algorithm\"\nlogarithmic = true") ==
        "sweep.toml:18:1: unknown key \"logarithmic\" (known: objective, of, over, label, title, "
        "by)");
}

TEST_CASE("what a sweep's experiment lacks is said at its place") {
  CHECK_THAT(refusal("name = \"s\"\n[experiment]\n"), Contains("sweep.toml:2:1"));
  CHECK_THAT(refusal("name = \"s\"\n"), Contains("needs a key \"experiment\""));
}

} // namespace sweep_test
