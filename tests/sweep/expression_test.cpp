#include "sim/expressions/expression.hpp"

#include "experiments/driver/records/renames.hpp"
#include "experiments/driver/sweep/store/database.hpp"
#include "sim/random.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/temporary_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

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
  const Expression expression(text, known);
  std::vector<const Value*> arguments;
  for (const std::string& name : expression.names()) arguments.push_back(&values.at(name));
  const std::optional<Value> result = expression.evaluate(arguments); // may throw
  REQUIRE(result);
  return *result;
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
  CHECK(number_of("enabled = true and not false") == 1);
  CHECK(number_of(".5 + 1e-1 + 2.") == Approx(2.6));
  CHECK(number_of("2 - 3 - 4") == -5);
  CHECK(number_of("-2 * -3 - - 1") == 7);
  CHECK(number_of("NOT NOT npus") == 1);
  CHECK(number_of("not npus = 64") == 0);
  CHECK(number_of("1 or 0 and 0") == 1);
  CHECK(number_of("2 < 3 = 1") == 1); // "<" is bound more closely
  CHECK(number_of("npus NOT IN (1, 2) and npus not between 1 and 2") == 1);
}

TEST_CASE("functions of expressions") {
  CHECK(number_of("ceil(1.2) + floor(1.8) + abs(-3) + sign(-7) + sign(0)") == 5);
  CHECK(number_of("exp(0) + ln(1) + log10(1000) + sqrt(16)") == 8);
  CHECK(number_of("round(2.5) + round(-2.5)") == 0);
  CHECK(number_of("round(1.2345, 2)") == 1.23);
  CHECK(number_of("round(1250, -2)") == 1250); // as without
  CHECK(number_of("min(3, 1, 2) * 10 + max(3, 1, 2)") == 13);
  CHECK(value_of("max('a', 7, 'b')") == text_value("b"));
  CHECK(number_of("length('f\u00fcnf') + length(npus)") == 6);
  CHECK(number_of("ifnull(1 / 0, 7)") == 7);
  CHECK(number_of("mod(-7, 3)") == -1);
}

TEST_CASE("like takes % for any letters and _ for one") {
  const auto is_like = [](const std::string& text, const std::string& pattern) {
    return number_of("'" + text + "' like '" + pattern + "'") == 1;
  };
  for (const auto& [text, pattern] : std::map<std::string, std::string>{{"torus", "TORUS"},
                                                                        {"mesh2d", "%2d"},
                                                                        {"abcabc", "%abc"},
                                                                        {"", "%%"},
                                                                        {"f\u00fcnf", "f_nf"},
                                                                        {"aab", "%ab"},
                                                                        {"a%b", "a%b"},
                                                                        {"axbxc", "a%x_"}}) {
    CAPTURE(text, pattern);
    CHECK(is_like(text, pattern));
  }
  for (const auto& [text, pattern] : std::map<std::string, std::string>{
           {"torus", "toru"}, {"toru", "torus"}, {"", "_"}, {"abcab", "%abc"}, {"ab", "a_b"}}) {
    CAPTURE(text, pattern);
    CHECK_FALSE(is_like(text, pattern));
  }
  CHECK(number_of("npus like '6_'") == 1);
  const std::string many(200, '%'); // at most as many steps as text times pattern
  CHECK_FALSE(is_like(std::string(2000, 'a'), many + "b"));
}

TEST_CASE("quantities in quotes are numbers, as those of parameters are") {
  CHECK(number_of("'2KiB'") == 2048);
  CHECK(number_of("npus * 1024 <= '2KiB'") == 0);
  CHECK(number_of("npus < '1KiB'") == 1);
  CHECK(number_of("'0.5us' * 4") == Approx(2e-6));
  CHECK(number_of("'it''s 2KiB' = 'it''s 2KiB'") == 1);
  CHECK(number_of("network LIKE '%' AND '50GB/s' / 2 = 25e9") == 1);
}

TEST_CASE("what could be meant otherwise is refused") {
  CHECK(refusal_of("npus / max(npus)") ==
        "column 8 of \"npus / max(npus)\": max() of 1: it takes 2 or more");
  CHECK(refusal_of("7.5 % 2") ==
        "column 5 of \"7.5 % 2\": found \"%\", which is no operator (known: + - * / || = <> < <= "
        "> >=; the rest of a division is mod(x, y))");
  CHECK(refusal_of("max(npus, 3)").empty());
  CHECK_THROWS_WITH(value_of("2 * network"), "column 5 of \"2 * network\": \"torus\" is a text, "
                                             "and a number is needed here");
  CHECK_THROWS_WITH(value_of("not network"), Contains("a number is needed"));
}

TEST_CASE("texts are values too") {
  CHECK(value_of("'a/b;--' || network") == text_value("a/b;--torus"));
  CHECK(value_of("'it''s ' || npus") == text_value("it's 64"));
  CHECK(value_of("8 / 2 || '0'") == number_value(0.4)); // 2 and 0 are joined first
  CHECK(value_of("'x' || (1 / 2)") == text_value("x0.5"));
  CHECK(number_of("'8' + ' 1.5 '") == 9.5);
  CHECK(number_of("8 = '8'") == 0);
  CHECK(number_of("1e300 < ''") == 1);
  CHECK(value_of("iif(npus > 32, 'large', 'small')") == text_value("large"));
}

TEST_CASE("names may stand in ${...}, and in texts") {
  CHECK(number_of("${npus} * 2 + ${group_size}") == 131);
  CHECK(number_of("'${npus}' + 1") == 65); // a number, as it is
  CHECK(number_of("'${npus}iB'= 0 or '${npus}KiB' = 65536") == 1);
  CHECK(value_of("'${network}:${npus}x2,bandwidth=${bandwidth}, ${enabled}$${npus}'") ==
        text_value("torus:64x2,bandwidth=12.5GB/s, true${npus}"));
  CHECK(number_of("network like '${network}%'") == 1);
  CHECK(Expression("'${NPUS}x' || ${network}", known).names() ==
        std::vector<std::string>{"npus", "network"});
  CHECK_THAT(refusal_of("1 + '${npu}x'"),
             StartsWith("column 5 of \"1 + '${npu}x'\": unknown name \"npu\""));
  CHECK(refusal_of("1 + '${npus'") == "column 5 of \"1 + '${npus'\": \"${npus\": a name stands in "
                                      "${...} ($${ is ${ itself)");
  CHECK(refusal_of("1 + ${npus") == "column 5 of \"1 + ${npus\": a name stands in ${...}");
  CHECK_THAT(refusal_of("$npus"), Contains("column 1") && Contains("\"$\", which is no operator"));
}

TEST_CASE("an expression says what it uses") {
  CHECK(Expression("group_size * NPUS + npus", known).names() ==
        std::vector<std::string>{"group_size", "npus"});
  CHECK(Expression("1 + 1", known).names().empty());
}

TEST_CASE("what isn't known makes the result unknown, but for what doesn't need it") {
  const Value npus = number_value(64);
  const Expression sum("npus + group_size", known);
  CHECK_FALSE(sum.evaluate(std::vector<const Value*>{&npus, nullptr}));
  CHECK_FALSE(sum.holds(std::vector<const Value*>{&npus, nullptr}));
  for (const char* text :
       {"npus = 64 or group_size = 1", "not (npus = 1 and group_size = 1)",
        "not npus between 65 and group_size", "npus in (64, group_size)",
        "ifnull(npus * group_size, npus) = 64", "case when group_size = npus then 0 else npus end",
        "iif(npus = 64, npus, group_size)"}) {
    CAPTURE(text);
    const Expression expression(text, known);
    std::vector<const Value*> values;
    for (const std::string& name : expression.names())
      values.push_back(name == "npus" ? &npus : nullptr);
    CHECK(expression.holds(values));
  }
}

TEST_CASE("evaluations follow each other without memory of the last") {
  Expression expression("npus * 2", known);
  for (int i = 0; i < 5; ++i) {
    const Value npus = number_value(i);
    CHECK(expression.evaluate(std::vector<const Value*>{&npus}) == number_value(2 * i));
  }
  const Expression moved = std::move(expression);
  const Value npus = text_value("8");
  CHECK(moved.evaluate(std::vector<const Value*>{&npus}) == number_value(16));
}

TEST_CASE("what has no value is refused when it is evaluated") {
  CHECK_THROWS_WITH(value_of("1 / (npus - 64)"),
                    "\"1 / (npus - 64)\" has no value: a division by 0, or a function of what it "
                    "isn't defined for");
  CHECK_THROWS_WITH(value_of("sqrt(-npus)"), Contains("has no value"));
  CHECK_THROWS_WITH(value_of("1e308 * npus"), "\"1e308 * npus\" is infinite");
  CHECK_THROWS_WITH(value_of("ln(0)"), Contains("has no value"));
  CHECK_THROWS_WITH(value_of("case npus when 1 then 2 end"), Contains("has no value"));
  Expression text("network", known);
  const Value torus = text_value("torus");
  CHECK(message_of([&] { (void)text.holds(std::vector<const Value*>{&torus}); }) ==
        "\"network\" is the text \"torus\", neither true nor false");
}

TEST_CASE("unknown names are answered with what is known") {
  CHECK(refusal_of("npu = 64") ==
        "column 1 of \"npu = 64\": unknown name \"npu\" (known: npus, bandwidth, network, enabled, "
        "group_size; did you mean \"npus\"?)");
  CHECK(refusal_of("network = \"torus\"") ==
        "column 11 of \"network = \"torus\"\": unknown name \"torus\" (known: npus, bandwidth, "
        "network, enabled, group_size)");
  CHECK_THAT(refusal_of("rowid"), Contains("unknown name \"rowid\""));
  CHECK_THAT(refusal_of("1 + poww(2, 3)"),
             StartsWith("column 5 of ") && Contains("unknown function \"poww\" (known: abs, ") &&
                 Contains("did you mean \"pow\"?"));
}

TEST_CASE("names of earlier versions are answered with the new ones") {
  const std::vector<std::string> results{"iteration_time_s", "max_link_utilisation"};
  const auto refusal = [&](const char* text) {
    return message_of([&] { (void)Expression(text, results, unknown_column); });
  };
  CHECK(refusal("2 * time_s") ==
        "column 5 of \"2 * time_s\": name \"time_s\" is called \"iteration_time_s\" now");
  CHECK(refusal("max_utilisation") == "column 1 of \"max_utilisation\": name \"max_utilisation\" "
                                      "is called \"max_link_utilisation\" now");
  CHECK_THAT(refusal("bound_s"), Contains("unknown name \"bound_s\"")); // no new one is known
}

TEST_CASE("bad syntax is answered with the column, what is there and what may be") {
  const std::string value =
      "expected a value: a name, a number, a text in single quotes, a function, \"(\", not or case";
  CHECK(refusal_of("npus = = 3") == "column 8 of \"npus = = 3\": found \"=\", " + value);
  CHECK(refusal_of("") == "column 1 of \"\": found the end, " + value);
  CHECK(refusal_of("npus + and") == "column 8 of \"npus + and\": found \"and\", " + value);
  const std::map<std::string, std::string> refusals{
      {"(npus", "column 6 of \"(npus\": found the end, expected an operator or \")\""},
      {"npus)", "column 5 of \"npus)\": found \")\", expected an operator or the end"},
      {"npus 3", "column 6 of \"npus 3\": found \"3\", expected an operator or the end"},
      {"1 + 'npus", "column 5 of \"1 + 'npus\": a quote without an end"},
      {"pow(1)", "column 1 of \"pow(1)\": pow() of 1: it takes 2"},
      {"round(1, 2, 3)", "column 1 of \"round(1, 2, 3)\": round() of 3: it takes 1 or 2"},
      {"npus not = 3",
       "column 10 of \"npus not = 3\": found \"=\", expected in, between or like after not"},
      {"npus between 3",
       "column 15 of \"npus between 3\": found the end, expected \"and\" and the upper end"},
      {"case 1 else 2 end",
       "column 8 of \"case 1 else 2 end\": found \"else\", expected \"when\" and a value"},
      {"npus in 3", "column 9 of \"npus in 3\": found \"3\", expected \"(\""},
      {"1e999", "number 1e999 is out of range (-1.7976931348623157e+308 .. "
                "1.7976931348623157e+308)"},
  };
  for (const auto& [text, refusal] : refusals) CHECK(refusal_of(text) == refusal);
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

TEST_CASE("expressions can't grow or nest without end") {
  const auto chain = [](const std::string& link) {
    std::string text = "1";
    for (int i = 0; i < 500; ++i) text += link;
    return text;
  };
  for (const std::string& text :
       {std::string(5000, '('), std::string(5000, '-') + "1", chain(" + 1"), chain(" and 1"),
        std::string("not ") + chain(" not in (1)")})
    CHECK_THAT(refusal_of(text), Contains("more than 200 values within each other"));
  CHECK(refusal_of(std::string(10'001, ' ')) == "an expression of more than 10000 letters");
  CHECK(number_of("1" + std::string(9000, ' ')) == 1);
  std::string listed = "npus in (0";
  for (int i = 1; i < 2000; ++i) listed += fmt::format(",{}", i);
  CHECK(number_of(listed + ")") == 1);
}

namespace {

// Random texts of the grammar, with as few parentheses as it needs, or more.
class RandomText {
public:
  explicit RandomText(std::uint64_t seed) : random_(seed) {}

  std::string either(int depth) { return chain(depth, {" or "}, &RandomText::both); }

  // Not of numbers that are made: SQL writes some of them 2.0.
  std::string text(int depth) {
    static const std::vector<std::string> all{"'to%'", "'_o%s'", "network", "'MESH'", "'it''s'",
                                              "npus",  "half",   "gone",    "'%'",    "''"};
    const std::string one = all[random_.below(all.size())];
    return depth > 0 && random_.below(3) == 0 ? one + " || " + text(depth - 1) : one;
  }

private:
  using Part = std::string (RandomText::*)(int);

  std::string chain(int depth, const std::vector<std::string>& operators, Part part) {
    std::string text = (this->*part)(depth);
    while (depth > 0 && random_.below(4) == 0)
      text += operators[random_.below(operators.size())] + (this->*part)(--depth);
    return text;
  }

  std::string both(int depth) { return chain(depth, {" and ", " AND "}, &RandomText::negated); }
  std::string negated(int depth) { return (random_.below(6) == 0 ? "not " : "") + equal(depth); }

  std::string equal(int depth) {
    const std::string is_not = random_.below(2) == 0 ? " not" : "";
    switch (depth > 0 ? random_.below(9) : 8) {
    case 0: return order(depth) + is_not + " in (" + listed(depth - 1) + ")";
    case 1:
      return order(depth) + is_not + " between " + order(depth - 1) + " and " + order(depth - 1);
    case 2: return text(depth) + is_not + " like " + text(depth - 1);
    case 3: return text(depth) + " <> " + order(depth - 1);
    case 4: return text(depth) + " <= " + text(depth - 1);
    default: return chain(depth, {" = ", " == ", " <> ", " != "}, &RandomText::order);
    }
  }

  std::string order(int depth) {
    return chain(depth, {" < ", "<=", " > ", ">="}, &RandomText::sum);
  }
  std::string sum(int depth) { return chain(depth, {" + ", "-"}, &RandomText::product); }
  std::string product(int depth) { return chain(depth, {"*", " / "}, &RandomText::signed_value); }
  std::string signed_value(int depth) { // a space, for "--" begins a comment to SQL
    return (random_.below(6) == 0 ? " -" : random_.below(20) == 0 ? " +" : "") + value(depth);
  }

  std::string value(int depth) {
    static const std::vector<std::string> leaves{"0",    "1",    "2",   "3.5",  "64",    "1e3",
                                                 ".25",  "npus", "k2",  "NPUS", "half",  "gone",
                                                 "true", "gone", "'8'", "zero", "false", "'2KiB'"};
    if (depth <= 0) return leaves[random_.below(leaves.size())];
    const std::string inner = either(depth - 1);
    switch (random_.below(14)) {
    case 0: return "(" + inner + ")";
    case 1: return "abs(" + inner + ")";
    case 2: return "max(" + listed(depth - 1) + ", " + inner + ")";
    case 3: return "MIN(" + inner + ", " + listed(depth - 1) + ")";
    case 4: return "mod(" + inner + ", " + either(depth - 1) + ")";
    case 5: return "ifnull(" + inner + ", " + either(depth - 1) + ")";
    case 6: return "iif(" + inner + ", " + listed(0) + ", 7)";
    case 7: return "case when " + inner + " then " + either(0) + " else " + either(0) + " end";
    case 8: return "case " + inner + " when " + either(0) + " then " + either(0) + " end";
    case 9: return function() + "(" + inner + ")";
    case 10: return "length(" + text(depth - 1) + ")";
    case 11: return "pow(" + inner + ", 2)";
    default: return leaves[random_.below(leaves.size())];
    }
  }

  std::string function() {
    static const std::vector<std::string> all{"ceil",  "exp",  "floor", "ln",
                                              "round", "sign", "sqrt"};
    return all[random_.below(all.size())];
  }

  std::string listed(int depth) {
    std::string text = either(depth);
    return depth > 0 && random_.below(2) == 0 ? text + ", " + either(0) : text;
  }

  Random random_;
};

// By SQL: every division is one of real numbers, quantities are numbers.
std::string in_sql(std::string text) {
  const auto replace = [&text](const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  };
  replace("/", "* 1.0 /");
  replace("'2KiB'", "2048.0");
  return text;
}

} // namespace

TEST_CASE("random expressions have the values that SQLite gives them") {
  const TemporaryFolder folder;
  Database database(folder.file("empty"), Database::Mode::create);
  const std::vector<std::string> names{"npus", "k2", "half", "zero", "gone", "network"};
  const Value npus = number_value(64), k2 = number_value(2), half = number_value(0.5),
              zero = number_value(0), network = text_value("torus");
  const std::vector<const Value*> values{&npus, &k2, &half, &zero, nullptr, &network};
  RandomText random(1);
  std::map<std::string, int> seen;
  for (int i = 0; i < 3000; ++i) {
    const std::string text = i % 8 == 0 ? random.text(2) : random.either(4);
    CAPTURE(i, text);
    Statement statement(database, "SELECT (" + in_sql(text) +
                                      ") FROM (SELECT 64 AS npus, 2 AS k2, 0.5 AS half, 0 AS zero, "
                                      "NULL AS gone, 'torus' AS network)");
    REQUIRE(statement.step());
    const Expression expression(text, names);
    std::vector<const Value*> given;
    for (const std::string& name : expression.names())
      given.push_back(values[static_cast<std::size_t>(std::find(names.begin(), names.end(), name) -
                                                      names.begin())]);
    std::optional<Value> result;
    const std::string refusal = message_of([&] { result = expression.evaluate(given); });
    if (statement.is_nothing(0)) {
      CHECK_FALSE(result);
      ++seen["nothing"];
    } else if (statement.is_text(0)) {
      CHECK(result == Value{Value::Kind::text, Unit::none, 0, std::string(statement.text(0))});
      ++seen["text"];
    } else if (std::isinf(statement.number(0))) {
      CHECK_THAT(refusal, Contains("is infinite"));
    } else {
      REQUIRE(result);
      CHECK(result->number == Approx(statement.number(0)).epsilon(1e-12));
      ++seen[statement.number(0) == 0 ? "zero" : "other"];
    }
  }
  CHECK(seen["nothing"] > 500);
  CHECK(seen["text"] > 100);
  CHECK(seen["zero"] > 300);
  CHECK(seen["other"] > 500);
}

} // namespace expression_test
