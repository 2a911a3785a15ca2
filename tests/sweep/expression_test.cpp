#include "experiments/driver/sweep/space/expression.hpp"

#include "tests/catch.hpp"
#include "tests/message_of.hpp"

#include <map>

namespace expression_test {

using namespace tutti;
using namespace tutti::sweep;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

const std::vector<std::string> known{"npus", "bandwidth", "network", "enabled", "group_size"};

Value value_of(const std::string& text) {
  const std::map<std::string, Value> values{
      {"npus", number_value(64)},
      {"bandwidth", number_value(12.5e9, Unit::bytes_per_second)},
      {"network", text_value("torus")},
      {"enabled", boolean_value(true)},
      {"group_size", number_value(3)}};
  Expression expression(text, known);
  std::vector<const Value*> arguments;
  for (const std::string& name : expression.names()) arguments.push_back(&values.at(name));
  Value result;
  const bool is_known = expression.evaluate(arguments, result); // may throw, unlike a REQUIRE
  REQUIRE(is_known);
  return result;
}

double number_of(const std::string& text) {
  const Value value = value_of(text);
  REQUIRE(value.kind == Value::Kind::number);
  return value.number;
}

std::string refusal_of(const std::string& text) {
  return message_of([&] { Expression expression(text, known); });
}

} // namespace

TEST_CASE("expressions are numbers, as SQL has them, and divisions real") {
  CHECK(number_of("1/2") == 0.5);
  CHECK(number_of("7 / 2 / 2") == 1.75);
  CHECK(number_of("group_size / 2") == 1.5);
  CHECK(number_of("(npus = 64) / 2") == 0.5);
  CHECK(number_of("length(network) / 2") == 2.5);
  CHECK(number_of("2 + 3 * 4 - 1") == 13);
  CHECK(number_of("pow(2, 10)") == 1024);
  CHECK(number_of("log2(npus)") == 6);
  CHECK(number_of("max(npus, 100) + min(1, 2)") == 101);
  CHECK(number_of("mod(npus, 10)") == 4);
  CHECK(number_of("bandwidth * 8") == 100e9);
  CHECK(number_of("NPUS + \"npus\"") == 128); // names are SQL's: quotes, small and large letters
  CHECK(number_of("9000000000000000000 * 10") == 9e19);
  CHECK(number_of("case network when 'torus' then 1 else 2 end") == 1);
  CHECK(number_of("npus BETWEEN 60 AND 70 AND network IN ('mesh', 'torus')") == 1);
  CHECK(number_of("network LIKE 'to%' AND NOT npus <> 64") == 1);
  CHECK(number_of("enabled AND npus") == 1);
  CHECK(number_of("npus = 'x'") == 0);
}

TEST_CASE("quantities in quotes are numbers, as those of parameters are") {
  CHECK(number_of("'2KiB'") == 2048);
  CHECK(number_of("npus * 1024 <= '2KiB'") == 0);
  CHECK(number_of("npus < '1KiB'") == 1);
  CHECK(number_of("'0.5us' * 4") == Approx(2e-6));
  CHECK(number_of("'it''s 2KiB' = 'it''s 2KiB'") == 1);
  CHECK(number_of("network LIKE '%' AND '50GB/s' / 2 = 25e9") == 1);
}

TEST_CASE("what SQL would silently make something else of is refused") {
  const auto refusal = [](const char* text) {
    return message_of([&] { (void)Expression(text, std::vector<std::string>{"npus"}); });
  };
  CHECK_THAT(refusal("npus / max(npus)"), Contains("misuse of aggregate"));
  CHECK_THAT(refusal("7.5 % 2"), Contains("mod(x, y)"));
  CHECK(refusal("max(npus, 3)").empty());
}

TEST_CASE("texts are values too") {
  CHECK(value_of("'a/b;--' || network") == text_value("a/b;--torus"));
  CHECK(value_of("'it''s ' || npus") == text_value("it's 64"));
  CHECK(value_of("iif(npus > 32, 'large', 'small')") == text_value("large"));
}

TEST_CASE("an expression says what it uses") {
  CHECK(Expression("group_size * NPUS + npus", known).names() ==
        std::vector<std::string>{"npus", "group_size"});
  CHECK(Expression("1 + 1", known).names().empty());
}

TEST_CASE("what isn't known makes the result unknown, but for what doesn't need it") {
  const Value npus = number_value(64);
  Value result;
  Expression sum("npus + group_size", known);
  CHECK_FALSE(sum.evaluate(std::vector<const Value*>{&npus, nullptr}, result));
  CHECK_FALSE(sum.holds(std::vector<const Value*>{&npus, nullptr}));
  CHECK(Expression("npus = 64 OR group_size = 1", known)
            .holds(std::vector<const Value*>{&npus, nullptr}));
}

TEST_CASE("evaluations follow each other without memory of the last") {
  Expression expression("npus * 2", known);
  for (int i = 0; i < 5; ++i) {
    const Value npus = number_value(i);
    Value result;
    REQUIRE(expression.evaluate(std::vector<const Value*>{&npus}, result));
    CHECK(result == number_value(2 * i));
  }
  Expression moved = std::move(expression);
  const Value npus = text_value("8");
  Value result = text_value("old");
  REQUIRE(moved.evaluate(std::vector<const Value*>{&npus}, result));
  CHECK(result == number_value(16));
}

TEST_CASE("what has no value is refused when it is evaluated") {
  CHECK_THROWS_WITH(value_of("1 / (npus - 64)"),
                    "\"1 / (npus - 64)\" has no value: a division by 0, or a function of what it "
                    "isn't defined for");
  CHECK_THROWS_WITH(value_of("sqrt(-npus)"), Contains("has no value"));
  CHECK_THROWS_WITH(value_of("1e308 * npus"), "\"1e308 * npus\" is infinite");
  CHECK_THROWS_WITH(value_of("x'00'"), "\"x'00'\" is no number or text");
  Expression text("network", known);
  const Value torus = text_value("torus");
  CHECK(message_of([&] { (void)text.holds(std::vector<const Value*>{&torus}); }) ==
        "\"network\" is the text \"torus\", neither true nor false");
}

TEST_CASE("unknown names are answered with what is known") {
  CHECK(refusal_of("npu = 64") == "unknown name \"npu\" (known: npus, bandwidth, network, enabled, "
                                  "group_size; did you mean \"npus\"?)");
  CHECK(refusal_of("\"torus\" = network") ==
        "unknown name \"torus\" (known: npus, bandwidth, network, enabled, group_size)");
  CHECK_THAT(refusal_of("rowid"), StartsWith("unknown name \"ROWID\""));
  CHECK_THAT(refusal_of("poww(2, 3)"), Contains("did you mean \"pow\"?"));
}

TEST_CASE("names of earlier versions are answered with the new ones") {
  const std::vector<std::string> results{"iteration_time_s", "max_link_utilisation"};
  const auto refusal = [&](const char* text) {
    return message_of([&] { (void)Expression(text, results); });
  };
  CHECK(refusal("2 * time_s") == "name \"time_s\" is called \"iteration_time_s\" now");
  CHECK(refusal("max_utilisation") ==
        "name \"max_utilisation\" is called \"max_link_utilisation\" now");
  CHECK_THAT(refusal("bound_s"), StartsWith("unknown name \"bound_s\"")); // no new one is known
}

TEST_CASE("bad syntax is answered in SQLite's words") {
  CHECK(refusal_of("npus = = 3") == "near \"=\": syntax error");
  CHECK(refusal_of("") == "near \")\": syntax error");
  CHECK(refusal_of("(npus") == "a parenthesis isn't closed");
  CHECK(refusal_of("npus)") == "a parenthesis closes that none opens");
  CHECK(refusal_of("'npus") == "a quote without an end");
  CHECK_THAT(refusal_of("pow(1)"), Contains("wrong number of arguments"));
}

TEST_CASE("only expressions of values are let through") {
  const char* const attempts[] = {
      "(SELECT 1)",
      "npus IN (SELECT 1)",
      "npus IN known",
      "EXISTS (SELECT * FROM sqlite_master)",
      "(SELECT count(*) FROM sqlite_master)",
      "1) FROM known UNION SELECT (2",
      "1) UNION ALL SELECT (2",
      "1), (2",
      "1); DROP TABLE known; SELECT (1",
      "1 -- comment",
      "1 /* comment",
      "1 /* comment */",
      "random()",
      "abs(random())",
      "randomblob(100000000)",
      "zeroblob(1000000000)",
      "printf('%1000000000d', 1)",
      "datetime('now')",
      "date()",
      "strftime('%s', 'now')",
      "julianday('now')",
      "current_timestamp",
      "current_time",
      "load_extension('x')",
      "readfile('/etc/passwd')",
      "sqlite_version()",
      "changes()",
      "last_insert_rowid()",
      "count(*)",
      "sum(npus)",
      "json_extract('[1]', '$[0]')",
      "?1",
      ":a",
      "@a",
      "$a",
      "PRAGMA user_version",
      "ATTACH 'x' AS y",
      "npus; ATTACH 'x' AS y",
      "raise(abort, 'x')",
      "sqlite_master.name",
      "*",
      "known.*",
      "(npus, enabled)",
      "npus AS a",
      "npus COLLATE nosuch",
      "npus collate \"nosuch\"",
      "(npus COLLATE)",
      "cast(npus AS nosuch)",
      "CAST(npus as 'real')",
      "cast(npus as)",
  };
  for (const char* const attempt : attempts) {
    INFO(attempt);
    CHECK_FALSE(refusal_of(attempt).empty());
  }
}

TEST_CASE("texts can't grow without end") {
  std::string bomb = "'aaaaaaaaaa'";
  for (int i = 0; i < 8; ++i) bomb = "replace(" + bomb + ", 'a', 'aaaaaaaaaa')"; // 10^9 letters
  CHECK_THROWS_AS(value_of(bomb), InputError);
  CHECK_THROWS_AS(Expression(std::string(5000, '('), known), InputError);
  CHECK_THROWS_AS(Expression(std::string(5000, '-') + "1", known), InputError);
}

} // namespace expression_test
