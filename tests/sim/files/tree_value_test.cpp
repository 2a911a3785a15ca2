// Values of JSON: what they are, and what is said of those that are something else.
#include "sim/files/tree_value.hpp"

#include "tests/catch.hpp"
#include "tests/refusals.hpp"

namespace tree_value_test {

using namespace tutti;

TEST_CASE("values of JSON know what they are") {
  const TreeValue root =
      parse_json("{\"b\": [1, -2.5, true, null, \"x\"], // a remark\n\"a\": {}}", "f");
  const std::vector<TreeValue> list = root.at("b").list();
  CHECK(list[0].integer() == 1);
  CHECK(list[0].number() == 1);
  CHECK(list[1].number() == -2.5);
  CHECK(list[2].boolean());
  CHECK(list[3].is_null());
  CHECK(list[4].word() == "x");
  CHECK(parse_json("\"x\"", "f").place() == "f:1:1: ");
  CHECK(parse_json(R"(["a\\", "\"b"])", "f").list()[1].tree_place().column == 9);
  CHECK(list[4].place() == "f:1:29: b[4]: ");
  CHECK(root.members()[1].first == "a");
  CHECK(root.members()[1].second.tree_place().error("").what() == std::string("f:2:6: "));
  CHECK(list[1].tree_place().column == 11);
  CHECK(list[4].tree_place().column == 29);
  CHECK(root.at("a").members().empty());
  CHECK_FALSE(root.find("c"));
  CHECK_FALSE(parse_json("{\"n\": null}", "f").given("n"));
  CHECK(root.list("c").empty());
}

TEST_CASE("what is wrong with JSON is named by its place") {
  const auto read = [](const std::string& text) {
    const TreeValue root = parse_json(text, "f");
    root.allow_only({"i", "n", "s"});
    if (root.has("i")) (void)root.at("i").integer(0, 9);
    if (root.has("n")) (void)root.at("n").list().at(0).number(0, 9);
    if (root.has("s")) (void)root.at("s").at("t").word();
  };
  check_whole_refusals(read, {{"{\"i\": 10}", "f:1:7: i: 10 is out of range (0 .. 9)"},
                              {"{\"i\": 18446744073709551615}",
                               "f:1:7: i: 18446744073709551615 is out of range (0 .. 9)"},
                              {"{\"i\": 1.5}", "f:1:7: i: expected a whole number, found number"},
                              {"{\"n\": [\"1\"]}", "f:1:8: n[0]: expected a number, found string"},
                              {"{\"n\": [9.5]}", "f:1:8: n[0]: 9.5 is out of range (0 .. 9)"},
                              {"{\"n\": {}}", "f:1:7: n: expected a list, found object"},
                              {"{\"s\": {}}", "f:1:7: s: a key \"t\" is missing"},
                              {"{\"s\": {\"t\": \"\"}}", "f:1:13: s.t: expected a word"},
                              {"{\"j\": 1}", "f:1:2: unknown key \"j\" (known: i, n, s)"},
                              {"{\"i\": 1, \"i\": 2}", "f:1:10: the key \"i\" stands twice"},
                              {"[]", "f:1:1: expected an object, found array"},
                              {"{\n  \"i\" 1}", "f:2:7: malformed JSON: ..."},
                              {"{\"n\": [1e999]}", "f: malformed JSON: a number is out of range"},
                              {std::string(500'000, '[') + std::string(500'000, ']'),
                               "f:1:33: lists and keys within 32 others"}});
}

} // namespace tree_value_test
