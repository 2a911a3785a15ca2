// The errors that readers of TOML files get for free: wrong types, missing and unknown keys,
// quantities without units.

#include "sim/files/config.hpp"

#include "tests/catch.hpp"

#include <cstdio>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace config_test {

using namespace tutti;

namespace {

ConfigTable parsed(const std::string& text) { return parse_config(text, "t.toml"); }

/// Parses `text` and reads its key "x" with `read`.
template <typename Read> auto with_x(const std::string& text, const Read& read) {
  return read(parsed(text).at("x"));
}

std::string nested(const std::string& piece, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += piece;
  return text;
}

} // namespace

TEST_CASE("a config value has the type and value that the file gives it") {
  CHECK(with_x("x = \"a\"", [](auto v) { return v.string(); }) == "a");
  CHECK(with_x("x = -3", [](auto v) { return v.integer(); }) == -3);
  CHECK(with_x("x = 3", [](auto v) { return v.number(); }) == 3.0);
  CHECK(with_x("x = 0.25", [](auto v) { return v.number(); }) == 0.25);
  CHECK(with_x("x = true", [](auto v) { return v.boolean(); }));
  CHECK(with_x("x = \"1KiB\"", [](auto v) { return v.bytes(); }) == Bytes{1024});
  CHECK(with_x("x = \"0.5us\"", [](auto v) { return v.time(); }) == Time{500'000});
  CHECK(with_x("x = \"8Gb/s\"", [](auto v) { return v.bandwidth(); }) == Bandwidth{1'000'000'000});
  CHECK(with_x("x = [1, 2, 3]", [](auto v) { return v.array().size(); }) == 3);
  CHECK(with_x("x = {a = 1}", [](auto v) { return v.table().at("a").integer(); }) == 1);
  CHECK(with_x("x = \"a\"", [](auto v) { return v.is_string() && !v.is_integer(); }));
  CHECK(with_x("x = 1", [](auto v) { return v.is_integer() && !v.is_array(); }));
  CHECK(with_x("x = [1]", [](auto v) { return v.is_array() && !v.is_table(); }));
  CHECK(with_x("[x]\na = 1", [](auto v) { return v.is_table() && !v.is_string(); }));
}

TEST_CASE("a value outlives the table that it came from") {
  std::optional<ConfigValue> value;
  {
    ConfigTable table = parsed("x = [\"kept\"]");
    value = table.at("x").array().front();
  }
  CHECK(value->string() == "kept");
}

TEST_CASE("keys come in the order of the file") {
  CHECK(parsed("b = 1\na = 2\n[d]\n[c]\n").keys() == std::vector<std::string>{"b", "a", "d", "c"});
}

TEST_CASE("tables() takes one table, many or none") {
  CHECK(parsed("[[x]]\na = 1\n[[x]]\na = 2").tables("x").size() == 2);
  CHECK(parsed("[x]\na = 1").tables("x").size() == 1);
  CHECK(parsed("y = 1").tables("x").empty());
  CHECK_THROWS_WITH(parsed("x = 5").tables("x"),
                    "t.toml:1:5: expected a table or an array of tables, found the integer 5");
  CHECK_THROWS_WITH(parsed("x = [\n 1 ]").tables("x"),
                    "t.toml:2:2: expected a table, found the integer 1");
}

TEST_CASE("a wrong type is an error that says what stands where") {
  CHECK_THROWS_WITH(with_x("\nx = 5", [](auto v) { return v.string(); }),
                    "t.toml:2:5: expected a string, found the integer 5");
  CHECK_THROWS_WITH(with_x("x = \"five\"", [](auto v) { return v.integer(); }),
                    "t.toml:1:5: expected an integer, found the string \"five\"");
  CHECK_THROWS_WITH(with_x("x = 0.5", [](auto v) { return v.integer(); }),
                    "t.toml:1:5: expected an integer, found the number 0.5");
  CHECK_THROWS_WITH(with_x("x = true", [](auto v) { return v.number(); }),
                    "t.toml:1:5: expected a number, found true");
  CHECK_THROWS_WITH(with_x("x = 1979-05-27", [](auto v) { return v.boolean(); }),
                    "t.toml:1:5: expected true or false, found a date or time");
  CHECK_THROWS_WITH(with_x("x = {a = 1}", [](auto v) { return v.array(); }),
                    "t.toml:1:5: expected an array, found a table");
  CHECK_THROWS_WITH(with_x("x = [1]", [](auto v) { return v.table(); }),
                    "t.toml:1:5: expected a table, found an array");
}

TEST_CASE("numbers out of range and not finite are errors") {
  CHECK(with_x("x = 7", [](auto v) { return v.integer(1, 7); }) == 7);
  CHECK_THROWS_WITH(with_x("x = 8", [](auto v) { return v.integer(1, 7); }),
                    "t.toml:1:5: 8 is out of range (1 .. 7)");
  CHECK_THROWS_WITH(with_x("x = 0", [](auto v) { return v.integer(1, 7); }),
                    "t.toml:1:5: 0 is out of range (1 .. 7)");
  CHECK_THROWS_WITH(with_x("x = nan", [](auto v) { return v.number(); }),
                    "t.toml:1:5: expected a finite number, found the number nan");
  CHECK_THROWS_WITH(with_x("x = -inf", [](auto v) { return v.number(); }),
                    "t.toml:1:5: expected a finite number, found the number -inf");
  CHECK_THROWS_WITH(parsed("x = 99999999999999999999"),
                    ContainsSubstring("t.toml:1:") &&
                        ContainsSubstring("'99999999999999999999' is not representable"));
}

TEST_CASE("quantities need text with a unit") {
  CHECK_THROWS_WITH(with_x("x = 5", [](auto v) { return v.bytes(); }),
                    "t.toml:1:5: expected a size such as \"1GiB\", found the integer 5");
  CHECK_THROWS_WITH(with_x("x = 5", [](auto v) { return v.time(); }),
                    "t.toml:1:5: expected a time such as \"0.5us\", found the integer 5");
  CHECK_THROWS_WITH(with_x("x = 5", [](auto v) { return v.bandwidth(); }),
                    "t.toml:1:5: expected a bandwidth such as \"50GB/s\", found the integer 5");
  CHECK_THROWS_WITH(with_x("x = \"5\"", [](auto v) { return v.time(); }),
                    ContainsSubstring("t.toml:1:5: ") && ContainsSubstring("no unit"));
  CHECK_THROWS_WITH(with_x("\n\n x = \"0B/s\"", [](auto v) { return v.bandwidth(); }),
                    ContainsSubstring("t.toml:3:6: ") && ContainsSubstring("must be positive"));
}

TEST_CASE("a key that nobody asked for is an error with what is known") {
  ConfigTable table = parsed("latency = 1\n  bandwith = 2\n");
  CHECK(table.has("bandwith"));
  CHECK_FALSE(table.find("bandwidth"));
  CHECK(table.find("latency"));
  CHECK_THROWS_WITH(table.finish(), "t.toml:2:3: unknown key \"bandwith\" (known: bandwidth, "
                                    "latency; did you mean \"bandwidth\"?)");
  ConfigTable copy = table;
  CHECK(copy.find("bandwith"));
  CHECK_NOTHROW(table.finish()); // asking a copy is asking
}

TEST_CASE("a key that is missing is an error at its table") {
  CHECK_THROWS_WITH(parsed("\n[x]\na = 1\nb = 2").at("x").table().at("c"),
                    "t.toml:2:1: this table needs a key \"c\" (it has: a, b)");
  CHECK_THROWS_WITH(parsed("").at("c"), "t.toml:1:1: this table needs a key \"c\" (it has: )");
}

TEST_CASE("located() puts a place in front of what its body throws") {
  const ConfigValue value = parsed("\n  x = 1").at("x");
  CHECK(value.located([] { return 7; }) == 7);
  CHECK_THROWS_WITH(value.located([]() -> int { throw InputError("no such thing"); }),
                    "t.toml:2:7: no such thing");
}

TEST_CASE("malformed TOML is an error with its place") {
  CHECK_THROWS_WITH(parsed("a = 1\n\t[=="), ContainsSubstring("t.toml:2:"));
  CHECK_THROWS_WITH(parsed("x = 1\u00e9"), ContainsSubstring("t.toml:1:"));
  CHECK_THROWS_WITH(parsed("a = 1\na = 2"), ContainsSubstring("t.toml:2:"));
  CHECK_THROWS_WITH(parsed("a = \"open"), ContainsSubstring("t.toml:1:"));
  CHECK_THROWS_WITH(parsed(std::string("a = \"\0\"", 7)), ContainsSubstring("control characters"));
  CHECK_THROWS_WITH(parsed("a = \"\xff\""), ContainsSubstring("utf-8"));
}

TEST_CASE("text of any depth is refused, not followed into a stack overflow") {
  CHECK_THROWS_WITH(parsed("x = " + nested("[", 100'000)), ContainsSubstring("t.toml:1:"));
  CHECK_THROWS_WITH(parsed("x = " + nested("{a=", 100'000)), ContainsSubstring("t.toml:1:"));
  const std::string deep = nested("a.", 100'000) + "a";
  // The 16th dot, after 16 parts of one letter, is at column 32.
  const std::string column_32 = "t.toml:1:32: a key of more than 16 parts";
  CHECK_THROWS_WITH(parsed(deep + " = 1"), column_32);
  CHECK_THROWS_WITH(parsed("[" + deep + "]"), "t.toml:1:33: a key of more than 16 parts");
  CHECK_THROWS_WITH(parsed("s = \"it's\" # '\n" + deep + " = 1"),
                    "t.toml:2:32: a key of more than 16 parts");
  CHECK_THROWS_WITH(parsed("s = [\"\"\"a\"\"\"\"\", {" + deep + " = 1}]"),
                    ContainsSubstring("a key of more than 16 parts"));
  CHECK_THROWS_WITH(parsed("s = '\\'\n" + deep + " = 1"), ContainsSubstring("t.toml:2:32"));
  CHECK_NOTHROW(parsed("a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p = 1")); // 16 parts
}

TEST_CASE("dots in strings, comments and numbers are no keys") {
  const std::string dots(100, '.');
  CHECK(with_x("x = \"" + dots + "\"", [](auto v) { return v.string(); }) == dots);
  CHECK(with_x("x = '" + dots + "\\'", [](auto v) { return v.string(); }) == dots + "\\");
  CHECK(with_x("x = \"\"\"\n\\\"" + dots + "\n\"\"\"", [](auto v) { return v.string(); }) ==
        "\"" + dots + "\n");
  CHECK(with_x("# " + dots + "\nx = 1", [](auto v) { return v.integer(); }) == 1);
  CHECK(with_x("x = [" + nested("1.5, ", 40) + "]", [](auto v) { return v.array().size(); }) == 40);
}

TEST_CASE("no damage to a file does worse than an InputError") {
  const std::string good = "name = \"a.b\"\nlist = [1, 2.5, \"\"\"x\"\"\", 'y']\n[t.u]\nk = {a = "
                           "1979-05-27, b.c = true}\n[[z]]\nn = 0x1F\n[[z]]\nn = -inf # c\n";
  std::mt19937 random(1); // NOLINT: the same cases every time
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = good;
    for (int change = 0; change < 1 + round % 4; ++change) {
      const std::size_t at = random() % text.size();
      if (random() % 3 == 0)
        text.erase(at, 1 + random() % 5);
      else if (random() % 2 == 0)
        text[at] = static_cast<char>(random() % 256);
      else
        text.insert(at, 1, "[]{}=\"'.,\n\t#\\"[random() % 13]);
      if (text.empty()) text = "=";
    }
    try {
      (void)parsed(text).keys();
    } catch (const InputError& e) {
      ++refused;
      REQUIRE_THAT(e.what(), ContainsSubstring("t.toml:"));
    }
  }
  CHECK(refused > 1000);
  CHECK(refused < 3000);
}

TEST_CASE("read_config reads a file and names one that isn't there") {
  const std::string file = "config_test.toml";
  std::ofstream(file) << "x = 5\ny = 6\n";
  ConfigTable table = read_config(file);
  CHECK(table.at("x").integer() == 5);
  CHECK_THROWS_WITH(table.finish(), "config_test.toml:2:1: unknown key \"y\" (known: x)");
  std::remove(file.c_str());
  CHECK_THROWS_WITH(read_config("no/such.toml"), ContainsSubstring("no/such.toml: cannot read"));
}

TEST_CASE("texts are replaced in a copy, which keeps their places") {
  const ConfigTable table = parse_config("a = \"x\"\n[b]\nc = [1, \"y\", \"x\"]\n", "f.toml");
  std::vector<std::string> paths;
  ConfigTable copy =
      table.replaced([&](const std::string& text, const auto& path) -> std::optional<ConfigScalar> {
        paths.push_back(path + "=" + text);
        if (text == "x") return std::int64_t{5};
        return std::nullopt;
      });
  CHECK(paths == std::vector<std::string>{"a=a", "a=x", "b=b", "b.c=c", "b.c=y", "b.c=x"});
  CHECK(copy.at("a").integer() == 5);
  const std::vector<ConfigValue> items = copy.at("b").table().at("c").array();
  REQUIRE(items.size() == 3);
  CHECK(items[0].integer() == 1);
  CHECK(items[1].string() == "y");
  CHECK(items[2].integer() == 5);
  CHECK(std::string(items[2].error("e").what()) == "f.toml:3:14: e");
  CHECK(std::string(copy.at("a").error("e").what()) == "f.toml:1:5: e");
  CHECK(items[2].string() == "5"); // where a text stood one may be needed
  CHECK(copy.overlaid(parse_config("", "g.toml")).at("a").string() == "5");
  CHECK_THROWS_AS(items[0].string(), InputError);
  ConfigTable original = table;
  CHECK(original.at("a").string() == "x");
  CHECK(copy.canonical_text() != table.canonical_text());
  CHECK(parse_config("b = {c=[1,'y','x']}\na='x' # first\n", "g.toml").canonical_text() ==
        table.canonical_text());
}

TEST_CASE("keys are replaced, too, but never by one that is there") {
  const auto replaced = [](const std::string& text) {
    return parse_config(text, "f.toml")
        .replaced([](const std::string& each, const auto&) -> std::optional<ConfigScalar> {
          if (each == "x") return std::int64_t{5};
          if (each == "bad") throw InputError("why");
          return std::nullopt;
        });
  };
  ConfigTable table = replaced("a = 1\n[x]\nx = 2\n");
  CHECK(table.keys() == std::vector<std::string>{"a", "5"});
  CHECK(table.at("5").table().at("5").integer() == 2);
  CHECK_THROWS_WITH(table.finish(), ContainsSubstring("f.toml:1:1: unknown key \"a\""));
  for (const char* text : {"x = 1\n5 = 2\n", "5 = 2\nx = 1\n"})
    CHECK_THROWS_WITH(replaced(text),
                      ContainsSubstring("the key \"5\" is there twice: once as \"x\""));
  CHECK_THROWS_WITH(replaced("a = [1, 'bad']"), "f.toml:1:9: why");
  CHECK_THROWS_WITH(replaced("bad = 1"), "f.toml:1:7: why");
}

TEST_CASE("a table over another has its values, table by table, each at its own place") {
  const ConfigTable under = parse_config("a = 1\nb = {c = 2, d = [3]}\n", "f.toml");
  ConfigTable both =
      under.overlaid(parse_config("\nb = {d = [4, 5], e = 6}\na = {x = 7}\n", "g.toml"));
  CHECK(both.keys() == std::vector<std::string>{"a", "b"});
  ConfigTable b = both.at("b").table();
  CHECK(b.at("c").integer() == 2);
  CHECK(b.at("d").array().size() == 2);
  CHECK(b.at("e").integer() == 6);
  CHECK(both.at("a").table().at("x").integer() == 7);
  CHECK(std::string(b.at("c").error("m").what()) == "f.toml:2:10: m");
  CHECK(std::string(b.at("e").error("m").what()) == "g.toml:2:22: m");
  CHECK(ConfigTable(under).at("a").integer() == 1);
}

TEST_CASE("a table over each of an array, without a key of the root") {
  const ConfigTable under =
      parse_config("a = 1\nb = 2\n[[r]]\nx = 3\ny = {z = 4}\n[[r]]\nx = 5\n", "f.toml");
  const std::vector<GivenOption> options{{"--x", "x", GivenValue{std::int64_t{7}}},
                                         {"--set", "y.w", GivenValue{std::string("8")}}};
  ConfigTable changed = under.overlaid_in("r", config_of(options), "b");
  CHECK(changed.keys() == std::vector<std::string>{"a", "r"});
  std::vector<ConfigTable> tables = changed.tables("r");
  REQUIRE(tables.size() == 2);
  for (ConfigTable& table : tables) {
    CHECK(table.at("x").integer() == 7);
    CHECK(table.at("y").table().at("w").string() == "8");
    CHECK(std::string(table.at("x").error("m").what()) == "--x: m");
  }
  CHECK(tables[0].at("y").table().at("z").integer() == 4);
  CHECK(std::string(tables[1].error("m").what()) == "f.toml:6:1: m");
}

TEST_CASE("what options say is a tree in which each value stands at its option") {
  const std::vector<GivenOption> options{{"--zero", "work.zero", GivenValue{std::int64_t{7}}},
                                         {"--tensor", "work.parallel.tensor", GivenValue{2.5}},
                                         {"--npu", "work.npu", {}}};
  ConfigTable work = config_of(options).at("work").table();
  CHECK_THROWS_WITH(work.at("zero").integer(0, 3), "--zero: 7 is out of range (0 .. 3)");
  CHECK_THROWS_WITH(work.at("parallel").table().at("tensor").integer(),
                    "--tensor: expected an integer, found the number 2.5");
  CHECK_THROWS_WITH(work.at("npu"), "--npu is required");
  CHECK(work.name_of("npu") == "--npu");
  CHECK(work.name_of("parallel") == "--tensor");
  CHECK(work.name_of("other") == "\"other\"");
  CHECK(work.at("zero").error("--zero is odd").what() == std::string("--zero is odd"));
  CHECK(parsed("x = 1").wanted("y") == "a key \"y\"");
}

} // namespace config_test
