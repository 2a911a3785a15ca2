#include "experiments/driver/sweep/space/four_digits.hpp"
#include "experiments/driver/sweep/space/points.hpp"
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/temporary_folder.hpp"

#include <chrono>
#include <cmath>

namespace points_test {

using namespace tutti;
using namespace tutti::sweep;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

// Behind "[experiment]", with which all parameters below end.
const std::string experiment = R"(topologies = {net = "${topology}"}
[[experiment.runs]]
collectives = ["all_reduce"]
sizes = ["${size}"]
algorithms = ["${algorithm}"]
)";
const std::string parameters = R"(
[parameters]
size = ["1KiB", "1MiB", "1GiB"]
algorithm = ["ring", "direct"]
[objectives]
time = "collective_time_s"
[[sensitivity]]
label = "Networks"
objective = "time"
of = "network"
[[zip]]
network = ["mesh", "torus"]
topology = ["mesh2d:2x3", "torus2d:4x4"]
[experiment]
)";
// A price of 1 a GB/s for each cable and nothing else.
const std::string price_of_rate = "[cost]\n[[cost.cables]]\nname = \"any\"\nprice_per_GBps = 1.0\n";

std::string sweep(const std::string& head, const std::string& changed_parameters = parameters) {
  return "name = \"s\"\n" + head + changed_parameters + experiment;
}

PointSpace space_of(const std::string& toml, const std::string& source = "sweep.toml") {
  return points_of(parse_sweep(toml, source));
}

Value value(const PointSpace& space, std::size_t point, const std::string& name) {
  const auto found = std::find(space.names.begin(), space.names.end(), name);
  REQUIRE(found != space.names.end());
  return space.points.at(point).values.at(static_cast<std::size_t>(found - space.names.begin()));
}

std::vector<std::string> keys_of(const PointSpace& space) {
  std::vector<std::string> keys;
  for (const Point& point : space.points) keys.push_back(point.key);
  return keys;
}

} // namespace

TEST_CASE("points are the product of axes, the last the fastest") {
  const PointSpace space = space_of(sweep(""));
  CHECK(space.names == std::vector<std::string>{"size", "algorithm", "network", "topology", "npus",
                                                "links", "switches"});
  CHECK(space.parameters == 4);
  CHECK(space.definitions == 0);
  CHECK(space.left_out == 0);
  CHECK(space.units.front() == Unit::bytes);
  REQUIRE(space.points.size() == 12);
  std::size_t i = 0;
  for (const char* size : {"1KiB", "1MiB", "1GiB"})
    for (const char* algorithm : {"ring", "direct"})
      for (const bool torus : {false, true}) {
        CHECK(space.points[i].position == i);
        CHECK(space.points[i].seed == 1);
        CHECK(value(space, i, "size") == text_value(size));
        CHECK(value(space, i, "algorithm") == text_value(algorithm));
        CHECK(value(space, i, "network") == text_value(torus ? "torus" : "mesh"));
        CHECK(value(space, i, "npus") == number_value(torus ? 16 : 6));
        // 2x3 mesh: 3 + 4 cables of two links. 4x4 torus: 32.
        CHECK(value(space, i, "links") == number_value(torus ? 64 : 14));
        CHECK(value(space, i, "switches") == number_value(0));
        CHECK(space.points[i].expected_work == (torus ? 256 : 36));
        ++i;
      }
  CHECK(keys_of(space) == keys_of(space_of(sweep(""))));
}

TEST_CASE("constraints leave points out, and say so where none is left") {
  const PointSpace space = space_of(sweep("constraints = [\"npus = 16\", \"size < 2e6 OR "
                                          "algorithm = 'ring'\"]"));
  CHECK(space.points.size() == 5);
  CHECK(space.left_out == 7);
  CHECK(space.without_value == 0);
  CHECK(space.points.back().position == 4);
  CHECK(value(space, 4, "size") == text_value("1GiB"));
  CHECK(value(space, 4, "algorithm") == text_value("ring"));
  CHECK(message_of([] {
          (void)space_of(sweep("constraints = [\"npus = 64\", \"size < 2000\"]"));
        }) == "sweep.toml:2:16: no point of 12 is left: \"size < 2000\" excludes 8, \"npus = 64\" "
              "excludes 4");
  CHECK(message_of([] { (void)space_of(sweep("constraints = \"1 / (npus - 6) > 0\"")); }) ==
        "sweep.toml:2:15: \"1 / (npus - 6) > 0\" has no value: a division by 0, or a function of "
        "what it isn't defined for (where size = 1KiB, algorithm = ring, network = mesh, topology "
        "= mesh2d:2x3)");
}

TEST_CASE("a network that can't be had is an error, unless a constraint leaves it out before") {
  const std::string changed = "[parameters]\nk = [2, 0]\nalgorithm = \"ring\"\nsize = \"1KiB\"\n"
                              "[derived]\ntopology = \"mesh2d:${k}x${k}\"\n[experiment]\n";
  CHECK_THAT(message_of([&] { (void)space_of(sweep("", changed)); }),
             StartsWith("sweep.toml:9:21: the topology \"mesh2d:0x0\" can't be had: ") &&
                 Contains("(where k = 0, algorithm = ring, size = 1KiB)"));
  CHECK(space_of(sweep("constraints = [\"npus > 0\", \"k > 0\"]\n", changed)).points.size() == 1);
}

TEST_CASE("definitions follow from each other in any order") {
  const std::string changed = R"([parameters]
k = [2, 3]
size = "1KiB"
algorithm = "ring"
rate = ["25GB/s", "50GB/s"]
[derived]
topology = "${shape},bandwidth=${fast}"
fast = {expression = "rate * factor", unit = "bytes_per_second"}
shape = "mesh2d:${k}x${k}"
factor = {expression = "iif(k > 2, 3, 1) / 2"}
kind = {expression = "'k is ' || k"}
per_npu = {expression = "links / npus"}
[experiment]
)";
  const PointSpace space = space_of(sweep("", changed));
  CHECK(space.definitions == 6);
  REQUIRE(space.points.size() == 4);
  CHECK(value(space, 0, "topology") == text_value("mesh2d:2x2,bandwidth=12.5GB/s"));
  CHECK(value(space, 3, "topology") == text_value("mesh2d:3x3,bandwidth=75GB/s"));
  CHECK(value(space, 3, "fast") == number_value(75e9, Unit::bytes_per_second));
  CHECK(value(space, 3, "kind") == text_value("k is 3"));
  CHECK(value(space, 0, "per_npu") == number_value(2));
  CHECK(value(space, 3, "per_npu").number == Approx(24.0 / 9));
  const auto fast = std::find(space.names.begin(), space.names.end(), "fast");
  CHECK(space.units[static_cast<std::size_t>(fast - space.names.begin())] ==
        Unit::bytes_per_second);
}

TEST_CASE("prices are those of the point") {
  const PointSpace space = space_of(sweep(
      "cost = {cables = [{name = \"any\", price = \"${price}\"}]}\nconstraints = \"size = "
      "'1KiB' and algorithm = 'ring'\"\n[derived]\nprice = \"${each}\"\n[[zip]]\neach = [1, 3]\n"));
  REQUIRE(space.points.size() == 4); // a mesh of 2x3 has 7 cables, a torus of 4x4 has 32
  CHECK(value(space, 0, "cost") == number_value(7));
  CHECK(value(space, 1, "cost") == number_value(32));
  CHECK(value(space, 2, "cost") == number_value(21));
  CHECK(value(space, 3, "cost") == number_value(96));
  CHECK(value(space, 3, "price") == number_value(3)); // and not the text "3"
}

TEST_CASE("a derived number must be one of its unit") {
  const auto refusal = [](const std::string& derived) {
    return message_of([&] {
      (void)space_of(sweep("", "[parameters]\ntopology = \"ring:4\"\nsize = \"1KiB\"\nalgorithm = "
                               "\"ring\"\n[derived]\n" +
                                   derived + "\n[experiment]\n"));
    });
  };
  CHECK_THAT(refusal("x = {expression = \"-5\", unit = \"bytes\"}"),
             StartsWith("sweep.toml:7:5: \"x\" is -5, not a number of bytes (where "));
  CHECK_THAT(refusal("x = {expression = \"'a'\", unit = \"seconds\"}"),
             StartsWith("sweep.toml:7:5: \"x\" is a, not a number of seconds"));
  CHECK(refusal("x = {expression = \"5\", unit = \"bytes\"}").empty());
}

TEST_CASE("the largest number of four digits is found for which a condition holds") {
  const auto largest = [](double from, double to, double limit, Unit unit = Unit::none) {
    int calls = 0;
    const auto found =
        largest_of_four_digits(number_value(from, unit), number_value(to, unit),
                               [&](const Value& value) { return ++calls, value.number <= limit; });
    CHECK(calls < 24);
    return found ? found->number : -1;
  };
  CHECK(largest(1, 1000, 123.456) == 123.4);
  CHECK(largest(1, 1000, 123.4) == 123.4);
  CHECK(largest(1, 1000, 99.999) == 99.99);
  CHECK(largest(1, 1000, 1) == 1);
  CHECK(largest(1, 1000, 0.999) == -1);
  CHECK(largest(1, 1000, 1000) == 1000);
  CHECK(largest(1.23456, 1000, 1.2346) == 1.23456); // 1.234 is below, 1.235 above
  CHECK(largest(0.001, 0.002, 0.0015555) == 0.001555);
  CHECK(largest(1e9, 1e12, 31.25e9, Unit::bytes_per_second) == 31.25e9);
  CHECK(largest(1e9, 1e12, 31.2599e9, Unit::bytes_per_second) == 31.25e9);
  CHECK(largest(1e-9, 1, 1.23456e-6, Unit::seconds) == 1.234e-6);
}

TEST_CASE("networks of equal cost have the bandwidth that the cost buys") {
  const std::string changed = R"([parameters]
algorithm = "ring"
size = "1KiB"
shape = ["ring:4", "fully_connected:4", "ring:100"]
[derived]
bandwidth = {largest = "cost <= 1000", from = "20GB/s", to = "200GB/s"}
topology = "${shape},bandwidth=${bandwidth}"
[experiment]
)";
  const PointSpace space = space_of(sweep(price_of_rate, changed));
  // 4 cables: 250, more than 200. 6 cables: 166.66. 100 cables: 10, too little.
  REQUIRE(space.points.size() == 2);
  CHECK(space.left_out == 1);
  CHECK(space.without_value == 1);
  CHECK(value(space, 0, "bandwidth") == text_value("200GB/s"));
  CHECK(value(space, 0, "cost") == number_value(800));
  CHECK(value(space, 1, "bandwidth") == text_value("166.6GB/s"));
  CHECK(value(space, 1, "cost").number == Approx(999.6));
  CHECK(value(space, 1, "topology") == text_value("fully_connected:4,bandwidth=166.6GB/s"));
  CHECK(message_of([&] {
          std::string poor = sweep(price_of_rate, changed);
          poor.replace(poor.find("cost <= 1000"), 12, "cost <= 1.00");
          (void)space_of(poor);
        }) == "sweep.toml: no point of 3 is left: 3 have no value of `largest`");
}

TEST_CASE(
    "points that differ only in what the experiment doesn't use are points; drawn twice: one") {
  const PointSpace space =
      space_of(sweep("constraints = \"repeat > 0\"\n[[zip]]\nrepeat = [1, 2, 3]\n"));
  CHECK(space.points.size() == 36);
  CHECK(space.left_out == 0);
  const PointSpace drawn =
      space_of(sweep("constraints = \"repeat > 0\"\n[[sample]]\nmethod = \"random\"\ncount = 3\n"
                     "parameters = {repeat = [7]}\n"));
  CHECK(drawn.points.size() == 12);
  CHECK(drawn.left_out == 24);
  CHECK(drawn.without_value == 0);
}

TEST_CASE("a parameter `seed` is the experiment's") {
  const PointSpace space = space_of(sweep("seed = 9\n[[zip]]\nseed = [3, 5]\n"));
  REQUIRE(space.points.size() == 24);
  CHECK(space.points[0].seed == 3);
  CHECK(space.points[2].seed == 5);
  CHECK(space_of(sweep("seed = 9")).points[0].seed == 9);
}

TEST_CASE("a key changes when, and only when, what decides the results changes") {
  const std::string one = R"([parameters]
size = "1KiB"
algorithm = "ring"
topology = "ring:4"
[experiment]
)";
  const auto key = [](const std::string& head, const std::string& changed) {
    return space_of(sweep(head, changed)).points.at(0).key;
  };
  const auto with = [&one](const std::string& from, const std::string& to) {
    std::string changed = one;
    changed.replace(changed.find(from), from.size(), to);
    return changed;
  };
  const std::string before = key("", one);
  CHECK(before.size() == 32);
  CHECK(before.find_first_not_of("0123456789abcdef") == std::string::npos);
  CHECK(key("", with("1KiB", "1024B")) == before);
  CHECK(key("", with("size", "# a comment\nsize")) == before);
  CHECK(key("title = \"other\"\nconstraints = \"npus = 4\"\n[limits]\ntime = \"1s\"\n", one) ==
        before);
  CHECK(key(price_of_rate, one) == before);
  CHECK(key("", with("[experiment]", "[derived]\nx = {expression = \"npus\"}\n[experiment]")) ==
        before);
  std::set<std::string> others{before};
  others.insert(key("", with("1KiB", "2KiB")));
  others.insert(key("", with("\"ring\"", "\"direct\"")));
  others.insert(key("", with("ring:4", "ring:5")));
  others.insert(key("seed = 2\n", one));
  const std::string other =
      "name = \"s\"\n" + one + experiment + "link_busy = \"latency+serialization\"";
  others.insert(space_of(other).points.at(0).key);
  CHECK(others.size() == 6);
}

TEST_CASE("the content of a topology's file is part of the key") {
  const TemporaryFolder folder;
  const std::string toml = sweep("", "[parameters]\nsize = \"1KiB\"\nalgorithm = \"ring\"\n"
                                     "topology = \"net.toml\"\n[experiment]\n");
  const auto with_rate = [&](const std::string& rate) {
    write_file(folder.file("net.toml"), "name = \"net\"\nnpus = 2\n[defaults]\nbandwidth = \"" +
                                            rate +
                                            "\"\nlatency = \"1us\"\n[[links]]\nbetween = "
                                            "[[0, 1]]\n");
    return space_of(toml, folder.file("sweep.toml"));
  };
  const PointSpace slow = with_rate("1GB/s"), fast = with_rate("2GB/s");
  CHECK(value(slow, 0, "npus") == number_value(2));
  CHECK(slow.points[0].key != fast.points[0].key);
  CHECK(slow.points[0].key == with_rate("1GB/s").points[0].key);
}

TEST_CASE("work is expected to grow with the square of NPUs and with chunks") {
  const PointSpace space = space_of("name = \"s\"\n[parameters]\nchunks = [1, 8]\n[experiment]\n"
                                    "topologies = {net = \"ring:4\"}\n[[experiment.runs]]\n"
                                    "collectives = [\"all_reduce\"]\nalgorithms = [\"ring\"]\n"
                                    "chunks = \"${chunks}\"\n");
  REQUIRE(space.points.size() == 2);
  CHECK(space.points[0].expected_work == 16);
  CHECK(space.points[1].expected_work == 128);
}

TEST_CASE("too many points are refused before they are made") {
  const std::string many = "{from = 1, to = 4000, step = 1}";
  CHECK(message_of([&] {
          (void)space_of(
              sweep("constraints = \"a = b\"\n[[zip]]\na = " + many + "\n[[zip]]\nb = " + many));
        }) == "sweep.toml: more than 10000000 points");
}

TEST_CASE("a hundred thousand points are made in a few seconds", "[slow]") {
  const auto begin = std::chrono::steady_clock::now();
  const PointSpace space = space_of(sweep("constraints = \"draw * 2 > npus - 1000\"\n[[zip]]\n"
                                          "draw = {from = 1, to = 8334, step = 1}\nseed = {from = "
                                          "1, to = 8334, step = 1}\n"));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  CHECK(space.points.size() == 12 * 8334);
  CHECK(seconds.count() < 20); // 1 in an optimised build on a free machine
}

TEST_CASE("a derived number has the value that is simulated") {
  const PointSpace space =
      space_of(sweep("[derived]\nlatency = {expression = \"1e-6 / 3\", unit = \"seconds\"}\n"));
  CHECK(value(space, 0, "latency") == number_value(3.33333e-7, Unit::seconds));
}

} // namespace points_test
