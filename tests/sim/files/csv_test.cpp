// RFC 4180, rule by rule (sec. 2).
#include "sim/files/csv.hpp"

#include "tests/catch.hpp"

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

} // namespace csv_test
