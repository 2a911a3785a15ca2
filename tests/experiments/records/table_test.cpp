// Text tables: alignment, widths in terminal cells, what is left out or wrapped where they are too
// wide.
#include "experiments/driver/records/table.hpp"

#include "tests/catch.hpp"
#include "tests/message_of.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <set>
#include <sstream>
#include <string>

namespace table_test {

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

TEST_CASE("Bytes that aren't UTF-8 count one each, and are written out in tables") {
  CHECK(display_width("\xff\xfe") == 2);
  CHECK(display_width("a\xc2") == 2);     // a sequence cut off at the end
  CHECK(display_width("\xe2\x28z") == 3); // a lead byte without its continuation
  CHECK(to_text(Table{.columns = {{"x"}}, .rows = {{"\xff"}}}) == "x\n----\n\\xff\n");
}

namespace {

Table wide_table() {
  return {.columns = {{"algorithm"},
                      {"time", Align::right},
                      {"busbw", Align::right, 2},
                      {"max link", Align::right, 1},
                      {"note", Align::left, 3, true}},
          .rows = {{"ring", "39.38 ms", "1 GB/s", "100 %",
                    "goes round the ring in both directions at once"},
                   {"tacos", "500 us", "2 GB/s", "75 %", ""}}};
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, display_width(line));
  return widest;
}

} // namespace

TEST_CASE("a table that is too wide wraps its long texts, and loses nothing") {
  const std::string whole = to_text(wide_table());
  CHECK(to_text(wide_table(), {.width = 200}) == whole);
  const std::string text = to_text(wide_table(), {.width = 70});
  CHECK(widest_line(text) <= 70);
  CHECK(text == "algorithm      time   busbw  max link  note\n"
                "---------  --------  ------  --------  -------------------------------\n"
                "ring       39.38 ms  1 GB/s     100 %  goes round the ring in both\n"
                "                                       directions at once\n"
                "tacos        500 us  2 GB/s      75 %\n");
}

TEST_CASE("what can be spared is left out, and named") {
  const std::string text = to_text(wide_table(), {.width = 40});
  CHECK_THAT(text, ContainsSubstring("algorithm      time   busbw  max link\n") &&
                       ContainsSubstring("(without note: --wide shows all)\n"));
  const std::string narrow = to_text(wide_table(), {.width = 20});
  CHECK_THAT(narrow, ContainsSubstring("algorithm      time\n") &&
                         ContainsSubstring("(without note,\n  busbw, max link:\n"));
  // What can't be spared stays.
  CHECK_THAT(to_text(wide_table(), {.width = 5}), ContainsSubstring("algorithm      time\n"));
}

TEST_CASE("words that are longer than their column are cut, and wide characters counted") {
  const Table table{
      {{"note", Align::left, 0, true}},
      {{std::string(60, 'x')},
       {"\u4e2d\u6587 \u4e2d\u6587\u4e2d\u6587\u4e2d\u6587 \u4e2d\u6587\u4e2d\u6587"}}};
  const std::string text = to_text(table, {.width = 24});
  CHECK(widest_line(text) <= 24);
  CHECK_THAT(text, ContainsSubstring(std::string(24, 'x') + "\n" + std::string(24, 'x') + "\n" +
                                     std::string(12, 'x') + "\n"));
}

TEST_CASE("columns are chosen by name, in the order given; unknown ones are errors") {
  TableForm form{.columns = {"max_link", "Algorithm"},
                 .titles = std::make_shared<std::set<std::string>>()};
  CHECK(to_text(wide_table(), form) == "max link  algorithm\n"
                                       "--------  ---------\n"
                                       "   100 %  ring\n"
                                       "    75 %  tacos\n");
  CHECK_NOTHROW(require_known_columns(form));
  form.columns = {"gap"};
  CHECK(to_text(wide_table(), form).empty());
  CHECK_THAT(message_of([&] { require_known_columns(form); }),
             ContainsSubstring("--columns: unknown column \"gap\"") &&
                 ContainsSubstring("max_link"));
}

TEST_CASE("columns have names beside their titles, with or without unit") {
  Table table = wide_table();
  table.columns[1].names = {"collective_time"};
  table.columns[3].title = "= link";
  table.columns[3].names = {"", "link"};
  TableForm form{.columns = {"collective_time_ps", "link"},
                 .titles = std::make_shared<std::set<std::string>>()};
  CHECK_THAT(to_text(table, form), ContainsSubstring("    time  = link\n"));
  CHECK_NOTHROW(require_known_columns(form));
  form.columns = {"time_ns"};
  CHECK(to_text(table, form).empty());
  CHECK_THAT(message_of([&] { require_known_columns(form); }),
             ContainsSubstring("algorithm, busbw, collective_time, link, note, time)"));
}

TEST_CASE("of columns that are alike without their units the one that is called so is meant") {
  const Table table{{{.title = "memory", .names = {"memory_bytes", "memory"}},
                     {.title = "bandwidth", .names = {"memory_bytes_per_s", "memory"}}},
                    {{"80 GiB", "2 TB/s"}}};
  const auto shown = [&](const std::string& column) {
    return to_text(table, {.columns = {column}});
  };
  CHECK(shown("memory") == "memory\n------\n80 GiB\n");
  CHECK(shown("memory_bytes") == shown("memory"));
  CHECK(shown("memory_bytes_per_s") == "bandwidth\n---------\n2 TB/s\n");
}

TEST_CASE("a table that has only labels of what is asked for is left out") {
  Table table = two_runs();
  table.columns[0].is_label = true;
  TableForm form{.columns = {"algorithm", "gap"}};
  CHECK(to_text(table, form).empty());
  form.columns = {"algorithm"};
  CHECK_THAT(to_text(table, form), ContainsSubstring("tacos"));
  form.columns = {"algorithm", "time", "gap"};
  CHECK_THAT(to_text(table, form), ContainsSubstring("algorithm      time\n"));
}

TEST_CASE("columns that are empty in all rows may go") {
  const Table table{{{"a"}, {"b"}, {"c"}, {"d"}}, {{"", "1", "", ""}, {"", "", "", "2"}}};
  CHECK(to_text(without_empty_columns(table)) == "b  d\n-  -\n1\n   2\n");
}

TEST_CASE("colours mark titles and verdicts, and don't move anything") {
  const Table table{{{"what"}, {"verdict"}, {"n", Align::right}},
                    {{"a", "match", "1"}, {"b", "unexpected", "2"}}};
  const auto as_it_is = [](std::string_view rest) { return std::string(rest); };
  const std::string text = with_colours(to_text(table, {.colour = true}), as_it_is);
  CHECK(text == "\x1b[1mwhat\x1b[0m  \x1b[1mverdict\x1b[0m     \x1b[1mn\x1b[0m\n"
                "----  ----------  -\n"
                "a     \x1b[32mmatch\x1b[0m       1\n"
                "b     \x1b[31munexpected\x1b[0m  2\n");
}

TEST_CASE("a cell can't colour anything, and is as wide as what is shown of it") {
  const Table table{{{"what"}, {"n", Align::right}}, {{"a\u202eb\uFDD3c", "1"}}};
  CHECK(to_text(table) == "what             n\n"
                          "---------------  -\n"
                          "a\\u202eb\\ufdd3c  1\n");
}

TEST_CASE("columns that are asked for are not left out, and lines around tables wrap") {
  const TableForm form{.width = 24, .columns = {"max_link", "algorithm"}};
  CHECK_THAT(to_text(wide_table(), form), ContainsSubstring("max link") &&
                                              ContainsSubstring("algorithm") &&
                                              !ContainsSubstring("without"));
  CHECK(wrapped("short\none two three four five six seven\n", {.width = 24}) ==
        "short\none two three four five\n  six seven\n");
  CHECK(wrapped("one two three four five six seven\n", {}) ==
        "one two three four five six seven\n");
}

} // namespace table_test
