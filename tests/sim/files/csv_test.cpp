// RFC 4180, rule by rule (sec. 2).
#include "sim/files/csv.hpp"

#include "tests/catch.hpp"
#include "tests/refusals.hpp"

namespace csv_test {

using namespace tutti;

namespace {

std::string csv(const std::vector<std::vector<std::string>>& rows) { return csv_text(rows); }

} // namespace

TEST_CASE("CSV has one line per row, cells between commas") {
  CHECK(csv({}).empty());
  CHECK(csv({{"algorithm", "time_ps"}, {"ring", "39380000000"}}) ==
        "algorithm,time_ps\nring,39380000000\n");
  CHECK(csv({{"a", "", "c"}, {"", ""}}) == "a,,c\n,\n");
}

TEST_CASE("CSV quotes cells with commas, quotes and line breaks, and only those") {
  CHECK(csv({{"mesh2d:8x8,bandwidth=50GB/s", "x"}}) == "\"mesh2d:8x8,bandwidth=50GB/s\",x\n");
  CHECK(csv({{"say \"no\""}}) == "\"say \"\"no\"\"\"\n");
  CHECK(csv({{"two\nlines", "cr\rhere"}}) == "\"two\nlines\",\"cr\rhere\"\n");
  CHECK(csv({{"with blank", "5 µs"}}) == "with blank,5 µs\n");
}

TEST_CASE("A row of one empty cell isn't a blank line") { CHECK(csv({{""}}) == "\"\"\n"); }

TEST_CASE("tables are read as people and their programs write them") {
  const auto rows = csv_rows("\xEF\xBB\xBF a ,\"b, \"\"c\"\"\" \r\n\n# no, \"row\n,d", "f");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].line == 1);
  CHECK(rows[0].fields[0].text == "a");
  CHECK(rows[0].fields[0].column == 2);
  CHECK(rows[0].fields[1].text == "b, \"c\"");
  CHECK(rows[1].line == 4);
  CHECK(rows[1].fields[0].text.empty());
  CHECK(rows[1].fields[1].column == 2);
  CHECK(csv_rows("a\t b ", "f", '\t')[0].fields[1].text == "b");
  CHECK(csv_fields(" a,b ", "f:1")[1].text == "b "); // what programs write to each other
  CHECK(csv_rows("", "f").empty());
}

TEST_CASE("quotes that aren't where they belong are refused by their column") {
  check_whole_refusals([](const std::string& text) { return csv_rows(text, "f"); },
                       {{"a\nb,\"c", "f:2:3: a quote that isn't closed"},
                        {"a, \"b\" c", "f:1:8: a separator is missing behind a quote"},
                        {"a,b \"c\"", "f:1:5: a quote within a field that has none around it"}});
}

} // namespace csv_test
