#include "experiments/driver/sweep/space/point_table.hpp"

#include "experiments/driver/sweep/analysis/analysed_points.hpp"
#include "experiments/driver/sweep/analysis/levels.hpp"
#include "sim/error.hpp"
#include "sim/ids.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/sweep/tables.hpp"

#include <fmt/format.h>

#include <set>

namespace point_table_test {

using namespace tutti;
using namespace tutti::sweep;

TEST_CASE("A column gives back what was added: numbers, texts, booleans, nothing") {
  TableColumn column;
  const Value size = number_value(1024, Unit::bytes), name = text_value("torus");
  column.add(size);
  column.add(name);
  column.add_nothing();
  column.add(boolean_value(true));
  column.add(boolean_value(false));
  column.add(name);
  CHECK(column.unit == Unit::bytes);
  CHECK(column.value(0) == size);
  CHECK(column.value(1) == name);
  CHECK_FALSE(column.has(2));
  CHECK(column.value(3) == boolean_value(true));
  CHECK(column.value(4) == boolean_value(false));
  CHECK(column.value(5) == name);
  CHECK(column.dictionary == std::vector<std::string>{"torus", "true", "false"});
}

TEST_CASE("A table's column is found by name, or the names are said") {
  const PointTable table =
      table_of({{"size", Role::parameter}, {"status", Role::record}}, {{"1KiB", "done"}});
  CHECK(&table.column("size") == &table.columns[0]);
  CHECK(table.find("cost") == nullptr);
  CHECK_THAT(message_of([&] { static_cast<void>(table.column("sise")); }),
             ContainsSubstring("sise") && ContainsSubstring("size, status"));
}

TEST_CASE("Levels: numbers ascend, texts stand as they are listed, then by the alphabet") {
  const PointTable table =
      table_of({{"k", Role::parameter}},
               {{"torus"}, {"8"}, {"zeta"}, {"mesh"}, {""}, {"2"}, {"alpha"}, {"8"}});
  const std::vector<std::string> listed{"torus", "mesh"};
  const Levels levels = levels_of(table.columns[0], listed);
  std::vector<std::string> texts;
  for (const Value& value : levels.values) texts.push_back(to_text(value));
  CHECK(texts == std::vector<std::string>{"2", "8", "torus", "mesh", "alpha", "zeta"});
  CHECK(levels.of_row == std::vector<std::uint32_t>{2, 1, 5, 3, no_index, 0, 4, 1});
  CHECK_FALSE(levels.numeric());
}

TEST_CASE("Groups are ordered by the first column, then the second") {
  const PointTable table = table_of({{"a", Role::parameter}, {"b", Role::parameter}},
                                    {{"2", "x"}, {"1", "y"}, {"2", "x"}, {"1", "x"}, {"", "x"}});
  const Levels a = levels_of(table.columns[0], {}), b = levels_of(table.columns[1], {});
  const Levels* const both[] = {&a, &b};
  const Grouping groups = grouped(both, table.rows);
  CHECK(groups.of_row == std::vector<std::uint32_t>{2, 1, 2, 0, no_index});
  CHECK(groups.first_row == std::vector<std::uint32_t>{3, 1, 0});
  CHECK(grouped({}, 3).first_row == std::vector<std::uint32_t>{0});
  CHECK(grouped({}, 0).size() == 0);
}

TEST_CASE("Many columns with many values: groups by sorting are those by hand") {
  // 40 x 40 x 40 x 40 combinations, 300 rows: beyond what is counted.
  Random random(3);
  std::vector<std::vector<std::string>> rows;
  for (int i = 0; i < 300; ++i) {
    std::vector<std::string> row;
    for (int c = 0; c < 4; ++c) row.push_back(fmt::to_string(100 + random.below(40)));
    rows.push_back(i % 3 == 2 ? rows[random.below(rows.size())] : row);
  }
  const std::vector<TestColumn> columns{{"a", Role::parameter},
                                        {"b", Role::parameter},
                                        {"c", Role::parameter},
                                        {"d", Role::parameter}};
  const PointTable table = table_of(columns, rows);
  std::vector<Levels> levels;
  for (const TableColumn& column : table.columns) levels.push_back(levels_of(column, {}));
  const Levels* const all[] = {&levels[0], &levels[1], &levels[2], &levels[3]};
  const Grouping groups = grouped(all, table.rows);
  // Three digits each: the order of texts is that of numbers.
  const std::set<std::vector<std::string>> distinct(rows.begin(), rows.end());
  REQUIRE(groups.size() == distinct.size());
  for (std::size_t row = 0; row < rows.size(); ++row)
    CHECK(groups.of_row[row] ==
          static_cast<std::uint32_t>(std::distance(distinct.begin(), distinct.find(rows[row]))));
}

TEST_CASE("Rows return to the sweep's order, whatever order they had") {
  const Sweep sweep = sweep_of({{"network", {"torus", "mesh"}}, {"k", {"2", "10"}}}, {});
  const std::vector<TestColumn> columns{{"network", Role::parameter}, {"k", Role::parameter}};
  const std::vector<std::vector<std::string>> rows{
      {"torus", "2"}, {"torus", "10"}, {"mesh", "2"}, {"mesh", "10"}};
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
    const PointTable sorted = in_sweep_order(sweep, table_of(columns, shuffled(rows, seed)));
    for (std::size_t row = 0; row < rows.size(); ++row) {
      CHECK(to_text(sorted.columns[0].value(row)) == rows[row][0]);
      CHECK(to_text(sorted.columns[1].value(row)) == rows[row][1]);
    }
  }
}

TEST_CASE("An objective has values where points are done and the column has a number") {
  const PointTable table =
      table_of({{"collective_time_s", Role::result, Unit::seconds}, {"status", Role::record}},
               {{"2", "done"}, {"3", "infeasible"}, {"", "done"}, {"0.5", "done"}});
  const ObjectiveValues time =
      objective_values(table, {"time", " collective_time_s ", false, Unit::none});
  CHECK(time.unit == Unit::seconds);
  CHECK(time.values[0] == 2);
  CHECK_FALSE(time.has(1));
  CHECK_FALSE(time.has(2));
  CHECK(time.values[3] == 0.5);
}

TEST_CASE("An expression is evaluated for each row; where it has no result there is no value") {
  const PointTable table = table_of({{"cost", Role::fact},
                                     {"collective_time_s", Role::result, Unit::seconds},
                                     {"status", Role::record}},
                                    {{"10", "2", "done"},
                                     {"0", "2", "done"},
                                     {"10", "", "done"},
                                     {"10", "4", "crashed"},
                                     {"4", "0.5", "done"}});
  const ObjectiveValues value =
      objective_values(table, {"value", "collective_time_s / cost", true, Unit::seconds});
  CHECK(value.maximise);
  CHECK(value.unit == Unit::seconds);
  CHECK(value.values[0] == 0.2);
  CHECK_FALSE(value.has(1)); // a division by zero
  CHECK_FALSE(value.has(2));
  CHECK_FALSE(value.has(3));
  CHECK(value.values[4] == 0.125);
  CHECK_THROWS_AS(
      objective_values(table, {"value", "collective_time_s / price", false, Unit::none}),
      InputError);
}

} // namespace point_table_test
