// Text tables: alignment, widths in terminal cells, the three kinds of lines.
#include "experiments/driver/records/table.hpp"

#include "tests/catch.hpp"

using namespace tutti;

namespace {

Table two_runs() {
  return {.columns = {{"algorithm", Align::left}, {"time", Align::right}},
          .rows = {{"ring", "39.38 ms"}, {"tacos", "500 µs"}}};
}

} // namespace

TEST_CASE("A plain table aligns its columns and has no trailing blanks") {
  CHECK(to_text(two_runs()) == "algorithm      time\n"
                               "---------  --------\n"
                               "ring       39.38 ms\n"
                               "tacos        500 µs\n");
  Table left = two_runs();
  left.columns[1].align = Align::left;
  CHECK_THAT(to_text(left), ContainsSubstring("algorithm  time\n"));
}

TEST_CASE("ASCII and box lines go all around") {
  CHECK(to_text(two_runs(), TableLines::ascii) == "+-----------+----------+\n"
                                                  "| algorithm |     time |\n"
                                                  "+-----------+----------+\n"
                                                  "| ring      | 39.38 ms |\n"
                                                  "| tacos     |   500 µs |\n"
                                                  "+-----------+----------+\n");
  CHECK(to_text(two_runs(), TableLines::box) == "┌───────────┬──────────┐\n"
                                                "│ algorithm │     time │\n"
                                                "├───────────┼──────────┤\n"
                                                "│ ring      │ 39.38 ms │\n"
                                                "│ tacos     │   500 µs │\n"
                                                "└───────────┴──────────┘\n");
}

TEST_CASE("A table without rows is its titles") {
  CHECK(to_text(Table{.columns = {{"a"}, {"b"}}, .rows = {}}) == "a  b\n-  -\n");
}

TEST_CASE("A line break in a cell doesn't break the table") {
  CHECK(to_text(Table{.columns = {{"note"}}, .rows = {{"two\nlines\x1b[1m"}}}) ==
        "note\n-------------\ntwo lines [1m\n");
}

TEST_CASE("Width is counted in terminal cells") {
  CHECK(display_width("") == 0);
  CHECK(display_width("abc") == 3);
  CHECK(display_width("µs → T") == 6);
  CHECK(display_width("e\u0301") == 1); // e and a combining acute accent
  CHECK(display_width("漢字") == 4);
  CHECK(display_width("\U0001F680") == 2); // an emoji, four bytes
}

TEST_CASE("Bytes that aren't UTF-8 count one each and pass through") {
  CHECK(display_width("\xff\xfe") == 2);
  CHECK(display_width("a\xc2") == 2);     // a sequence cut off at the end
  CHECK(display_width("\xe2\x28z") == 3); // a lead byte without its continuation
  CHECK(to_text(Table{.columns = {{"x"}}, .rows = {{"\xff"}}}) == "x\n-\n\xff\n");
}
